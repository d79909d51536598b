//! What an implementer has to know beside the rows, for somebody who has this file and nothing else.

use funduq_contract::http_signature::SignatureProblem;
use funduq_contract::{ChainError, SignedPayload};
use std::collections::BTreeMap;

pub(super) fn documentation() -> BTreeMap<String, Vec<String>> {
    let mut topics: BTreeMap<String, Vec<String>> = TOPICS
        .iter()
        .map(|(topic, sentences)| ((*topic).to_owned(), sentences.iter().map(ToString::to_string).collect()))
        .collect();
    let families = SignedPayload::FAMILIES.iter().map(|family| format!("{}: {}", family.kind, family.note));
    topics.entry("payloads".to_owned()).or_default().extend(families);
    let kinds = ChainError::KINDS.iter().map(|(kind, meaning)| format!("{kind}: {meaning}"));
    topics.entry("chain_refusals".to_owned()).or_default().extend(kinds);
    let kinds = SignatureProblem::KINDS.iter().map(|(kind, meaning)| format!("{kind}: {meaning}"));
    topics.entry("http_signature_refusals".to_owned()).or_default().extend(kinds);
    topics
}

const TOPICS: &[(&str, &[&str])] = &[
    (
        "about",
        &[
            "funduq is a neutral relay between callers and agents. This file holds everything that funduq invents: each \
             byte that is signed and each shape that crosses a link. It is written by a program and never by hand.",
            "contract: which contract this is. revision counts its changes; fingerprint is the first 16 hex characters \
             of the SHA-256 of contract.surface as JSON with sorted keys and no spaces.",
            "test_key: the published key pairs that signed every row. Never use them for anything else.",
            "vectors: signed payloads. Build payload_utf8 from inputs; sign its UTF-8 bytes with test_key: the signature \
             is signature_hex, byte for byte, because Ed25519 signatures are deterministic.",
            "wire: texts of crossing shapes, with what a reader must make of each. chains: actor chains, with what a \
             verifier must say of each. schemas: a JSON Schema for each shape. handshake: one whole opening of a link.",
        ],
    ),
    (
        "encoding",
        &[
            "Texts are UTF-8. Bytes are written as lower-case hex without prefix; upper case is refused, so that each \
             value has one spelling.",
            "Keys are Ed25519 public keys (RFC 8032), 32 bytes, 64 hex characters: the canonical encoding of a point of \
             the curve (the y coordinate below 2^255 - 19) that is not of small order.",
            "Signatures are Ed25519, 64 bytes, 128 hex characters. Verification is strict: S below the group order, and \
             neither the key nor R of small order.",
            "A seed_hex is the 32 bytes of an RFC 8032 private key.",
            "A fingerprint is the first 16 hex characters of the SHA-256 of a key's 32 bytes.",
            "A ticket (funduq_nonce) and a provider_nonce are 128 random bits, 32 hex characters.",
        ],
    ),
    (
        "payloads",
        &[
            "contract.surface.payloads holds one template a family. Replace each {name} by the row's input of that name, \
             numbers in decimal; there is no escaping.",
            "Three parts are digests of inputs. body_sha256_hex is the SHA-256 of body_utf8 in hex, body_sha256_base64 the same \
             in base64 with padding. ask_ids_sha256_hex: sort \
             ask_ids by their UTF-8 bytes, join them with one NUL byte, take the SHA-256 in hex.",
            "The verifier of a family with a timestamp also checks that it is within \
             contract.surface.constants.freshness_seconds of its own clock, either way, the limit included.",
        ],
    ),
    (
        "http_signature",
        &[
            "A request to a caller's door may say whose it is by one HTTP Message Signature (RFC 9421), Ed25519, in the fields \
             Signature-Input and Signature, beside Content-Digest (RFC 9530). keyid is the public key, 64 hex characters.",
            "It covers @method; @target-uri, or @authority with @path and @query, or @authority with @request-target; and, \
             where there is a body, content-digest, which has a sha-256. Any other field of the request may be covered too; \
             components with parameters and derived components that are not in this list or @scheme may not. The order is \
             the signer's.",
            "created is there and fresh as a timestamp is; expires, where it is there, has not passed; alg is ed25519 or left \
             out. nonce is any, and makes a signature one of its own: each is taken once, and Ed25519 gives the same request \
             of the same second the same signature.",
            "A signature with a tag is for the application that the tag names. Those with another tag than \
             contract.surface.http_signature.tag are let be; of the rest there is at most one.",
            "Host and scheme are those by which callers reach funduq, a scheme's default port left out; what a proxy in between \
             made of them is no matter.",
            "The base of a signature begins with a quotation mark, every other payload with funduq- and a hop's signing input \
             with base64url, so none of them is ever another.",
        ],
    ),
    (
        "http_signature_refusals",
        &["The words for what is wrong with a request's signature, in the order of the checks."],
    ),
    (
        "chain",
        &[
            "An actor chain is a list of compact JWS tokens (RFC 7515): base64url(header) . base64url(claims) . \
             base64url(signature), base64url without padding and with unused bits zero. The signature is over the ASCII \
             bytes of the first two parts with the dot between.",
            "The header is exactly contract.surface.chain.header_utf8: the encoded first part is compared as text.",
            "The claims are one JSON object without white space, members in the order of contract.surface.chain.claims: \
             actorPublicKey, the signer's key; prevHash, the SHA-256 in hex of the whole text of the token before, null on \
             the first; dispatchedTo, left out but on a witness's hop: an object with the members of \
             contract.surface.chain.dispatched_to in their order, whose name is an agent's name. Text stands as UTF-8, \
             escaped only where JSON demands it. A verifier reads the claims, writes them again and compares the bytes.",
            "An agent's name has 1 to contract.surface.constants.max_agent_name_bytes bytes of UTF-8, no control characters \
             (Unicode category Cc), none of / \\ ? #, and is neither . nor .. .",
            "Checks in this order, the first that fails is the verdict. Whole chain: empty, too_many_hops. Each token: \
             token_too_long. Then hop by hop: malformed_token (parts and encoding; wrong_header comes between, as soon as \
             there are three parts), wrong_header, unknown_claim, malformed_claims, bad_key, bad_name, headless or \
             prev_hash_mismatch, witness_signs_as_party or dispatch_not_followed. Last, hop by hop: bad_signature.",
            "After a hop with dispatchedTo comes a hop of the key that it names, of whatever form, or another dispatch by \
             the key that signed it. A hop of that key that is no dispatch is witness_signs_as_party; a hop of any other \
             key is dispatch_not_followed. A chain may end with a dispatch.",
            "A chain says who took part and in which order. It says nothing about time, and it does not say that whoever \
             presents it is its last hop: that is checked against the presenter's own proof.",
        ],
    ),
    (
        "chain_refusals",
        &[
            "The words of a refusal, in verdict.error; verdict.hop is the hop that is wrong, from 0, where it is one hop.",
        ],
    ),
    (
        "wire",
        &[
            "A shape's fields are camelCase. A field that its schema does not name is refused, everywhere but inside what \
             belongs to others: the AG-UI input, events, messages, metadata, and the OpenAI bodies and chunks.",
            "canonical: the text is taken, and written again it is the same bytes. Canonical means fields in the order of \
             the rows, no white space outside others' parts, an absent optional field left out.",
            "accepted: the text is taken, and written again it is the canonical text of the row with the same kind and \
             name. refused: the text is not taken.",
            "UpFrame, DownFrame, LlmUpFrame and LlmDownFrame are the messages of the WebSocket link, one JSON text each; \
             contract.surface.frames lists the words of type. Another transport may spell the same shapes in its own way.",
        ],
    ),
    (
        "handshake",
        &[
            "steps are said in this order, and the order is the security: each side proves its key before it gives the \
             other anything worth having.",
            "The ticket travels over another channel than the link. It names the key that it admits, is spent by the \
             opening that answers it, and lapses after contract.surface.constants.ticket_seconds.",
            "proof is the provider's signature over the provider-connect payload, answer is funduq's over the \
             funduq-connect payload. A funduq without an identity leaves out funduqPublicKey and answer, and the payload \
             of the proof has nothing where its key would stand.",
            "To drive a transport through the script, give it this ticket and this nonce instead of random ones, and \
             compare every text byte for byte.",
        ],
    ),
];
