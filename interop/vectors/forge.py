"""Makes the chains that must be refused: each is right in everything but one thing.

Rust cannot make them: an identity there signs hops of the contract and nothing else. So they are made here, with
the published test keys, and kept in funduq-vectors/src/generate/refused_chains.json, which goes into the vectors.

    python interop/vectors/forge.py > funduq-vectors/src/generate/refused_chains.json
    python interop/vectors/forge.py --check funduq-vectors/src/generate/refused_chains.json
"""

import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HEADER = '{"alg":"EdDSA","typ":"JWT"}'
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493

HEAD, WITNESS, PARTY = (Ed25519PrivateKey.from_private_bytes(bytes([byte]) * 32) for byte in (0xA5, 0xB6, 0xE1))


def b64(data):
    if isinstance(data, str):
        data = data.encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def name_of(key):
    return key.public_key().public_bytes_raw().hex()


def claims(key, prev=None, to=None, name="translator"):
    """The claims of one hop in their one spelling."""
    members = {"actorPublicKey": key if isinstance(key, str) else name_of(key), "prevHash": prev}
    if to is not None:
        members["dispatchedTo"] = {"providerKey": to if isinstance(to, str) else name_of(to), "name": name}
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False)


def token(signer, claims_text, header=HEADER):
    signing_input = b64(header) + "." + b64(claims_text)
    return signing_input + "." + b64(signer.sign(signing_input.encode()))


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def with_signature(text, signature):
    return text.rsplit(".", 1)[0] + "." + b64(signature)


def signature_of(text):
    encoded = text.rsplit(".", 1)[1]
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))


def with_small_order_r(text, seed):
    """A signature that a lax verifier takes: R is the neutral point, and S makes up for it."""
    signing_input = text.rsplit(".", 1)[0].encode()
    digest = hashlib.sha512(seed).digest()
    secret = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    key = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    r = (1).to_bytes(32, "little")
    k = int.from_bytes(hashlib.sha512(r + key + signing_input).digest(), "little")
    return with_signature(text, r + (k * secret % GROUP_ORDER).to_bytes(32, "little"))


def refused():
    head = token(HEAD, claims(HEAD))
    header, body, encoded_signature = head.split(".")
    second = token(WITNESS, claims(WITNESS, hash_of(head)))
    dispatch = token(WITNESS, claims(WITNESS, hash_of(head), PARTY))
    after_dispatch = hash_of(dispatch)
    other_head = token(PARTY, claims(PARTY))
    head_key = name_of(HEAD)

    def row(name, kind, hop, *chain):
        verdict = {"error": kind} if hop is None else {"error": kind, "hop": hop}
        return {"name": name, "chain": list(chain), "verdict": verdict}

    yield row("empty", "empty", None)

    long = [head]
    while len(long) < 65:
        long.append(token(WITNESS, claims(WITNESS, hash_of(long[-1]))))
    yield row("sixty-five-hops", "too_many_hops", None, *long)
    yield row("long-token", "token_too_long", 1, head, token(WITNESS, claims(WITNESS, hash_of(head), PARTY, "n" * 3000)))

    yield row("two-parts", "malformed_token", 0, header + "." + body)
    yield row("four-parts", "malformed_token", 0, head + "." + encoded_signature)
    yield row("padded", "malformed_token", 0, head + "==")
    unused_bits = head[:-1] + chr(ord(head[-1]) + 1)
    assert signature_of(unused_bits) == signature_of(head)
    yield row("unused-bits-set", "malformed_token", 0, unused_bits)
    yield row("short-signature", "malformed_token", 0, with_signature(head, signature_of(head)[:63]))

    for name, text in (
        ("no-algorithm", '{"alg":"none","typ":"JWT"}'),
        ("another-algorithm", '{"alg":"HS256","typ":"JWT"}'),
        ("header-reordered", '{"typ":"JWT","alg":"EdDSA"}'),
        ("header-spaced", '{"alg": "EdDSA", "typ": "JWT"}'),
        ("header-extended", '{"alg":"EdDSA","typ":"JWT","kid":"1"}'),
    ):
        yield row(name, "wrong_header", 0, token(HEAD, claims(HEAD), text))

    for name, text in (
        ("claims-reordered", '{"prevHash":null,"actorPublicKey":"%s"}' % head_key),
        ("claims-spaced", '{"actorPublicKey": "%s", "prevHash": null}' % head_key),
        ("claims-without-prev-hash", '{"actorPublicKey":"%s"}' % head_key),
        ("claims-with-null-dispatch", '{"actorPublicKey":"%s","prevHash":null,"dispatchedTo":null}' % head_key),
        ("claims-escaped", '{"actorPublicKey":"\\u00%02x%s","prevHash":null}' % (ord(head_key[0]), head_key[1:])),
        ("claims-twice", '{"actorPublicKey":"%s","actorPublicKey":"%s","prevHash":null}' % (head_key, head_key)),
        ("claims-a-list", '["%s",null]' % head_key),
    ):
        yield row(name, "malformed_claims", 0, token(HEAD, text))

    yield row("claim-of-time", "unknown_claim", 0, token(HEAD, claims(HEAD)[:-1] + ',"iat":1755500000}'))
    inner = claims(HEAD, None, PARTY)[:-2] + ',"url":"https://example.org"}}'
    yield row("claim-inside-dispatch", "unknown_claim", 0, token(HEAD, inner))

    for name, key in (
        ("key-no-point", "d0" * 32),
        ("key-of-small-order", "01" + "00" * 31),
        ("key-in-second-encoding", "f0" + "ff" * 30 + "7f"),
        ("key-in-upper-case", head_key.upper()),
        ("key-too-short", head_key[:62]),
    ):
        yield row(name, "bad_key", 0, token(HEAD, claims(key)))
    yield row("dispatch-to-no-key", "bad_key", 1, head, token(WITNESS, claims(WITNESS, hash_of(head), "d0" * 32)))

    yield row("dispatch-to-a-path", "bad_name", 1, head, token(WITNESS, claims(WITNESS, hash_of(head), PARTY, "a/b")))
    yield row("dispatch-to-no-name", "bad_name", 1, head, token(WITNESS, claims(WITNESS, hash_of(head), PARTY, "")))

    yield row("headless", "headless", 0, second)
    yield row("reordered", "headless", 0, second, head)

    yield row("spliced", "prev_hash_mismatch", 1, other_head, second)
    yield row("two-heads", "prev_hash_mismatch", 1, head, other_head)
    third = token(PARTY, claims(PARTY, hash_of(second)))
    yield row("middle-cut-out", "prev_hash_mismatch", 1, head, third)

    skips = token(HEAD, claims(HEAD, after_dispatch))
    yield row("dispatched-party-skipped", "dispatch_not_followed", 2, head, dispatch, skips)
    takes = token(HEAD, claims(HEAD, after_dispatch, PARTY))
    yield row("another-witness-dispatches", "dispatch_not_followed", 2, head, dispatch, takes)
    as_party = token(WITNESS, claims(WITNESS, after_dispatch))
    yield row("witness-signs-as-party", "witness_signs_as_party", 2, head, dispatch, as_party)

    yield row("signed-by-another", "bad_signature", 0, token(WITNESS, claims(HEAD)))
    yield row("second-hop-signed-by-another", "bad_signature", 1, head, token(HEAD, claims(WITNESS, hash_of(head))))
    raw = signature_of(head)
    malleated = (int.from_bytes(raw[32:], "little") + GROUP_ORDER).to_bytes(32, "little")
    yield row("signature-malleated", "bad_signature", 0, with_signature(head, raw[:32] + malleated))
    yield row("signature-with-r-of-small-order", "bad_signature", 0, with_small_order_r(head, b"\xa5" * 32))
    yield row("signature-all-zero", "bad_signature", 0, with_signature(head, bytes(64)))
    yield row("signature-of-another-token", "bad_signature", 0, with_signature(head, signature_of(other_head)))


def main():
    rows = sorted(refused(), key=lambda row: row["name"])
    text = json.dumps(rows, indent=1, sort_keys=True) + "\n"
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            if file.read() != text:
                sys.exit(f"{sys.argv[2]} is not what forge.py makes: write it again, see the top of forge.py")
        print(f"{len(rows)} refused chains are as forge.py makes them")
        return
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
