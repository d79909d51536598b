"""Replays contract-vectors.json with nothing but this file, the vectors, and a standard crypto package.

    python interop/vectors/replay.py funduq-vectors/contract-vectors.json

It knows no payload, no header and no rule that is not in the file's own documentation: templates, header, claim names,
limits and words are read from there. Ends with 1 and a report where a row comes out otherwise than published.
"""

import base64
import hashlib
import json
import re
import sys
import unicodedata

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PRIME = 2**255 - 19
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME


# --- keys and signatures: RFC 8032, strict -------------------------------------------------------------------------


def decode_point(data):
    """The point of a canonical encoding, or None."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= PRIME:
        return None
    u, v = (y * y - 1) % PRIME, (D * y * y + 1) % PRIME
    x = u * pow(v, 3, PRIME) * pow(u * pow(v, 7, PRIME), (PRIME - 5) // 8, PRIME) % PRIME
    if v * x * x % PRIME == -u % PRIME:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if v * x * x % PRIME != u or (x == 0 and sign):
        return None
    return (PRIME - x if x & 1 != sign else x, y)


def add(one, other):
    (x1, y1), (x2, y2) = one, other
    k = D * x1 * x2 * y1 * y2 % PRIME
    x = (x1 * y2 + x2 * y1) * pow(1 + k, -1, PRIME) % PRIME
    y = (y1 * y2 + x1 * x2) * pow(1 - k, -1, PRIME) % PRIME
    return (x, y)


def has_small_order(point):
    for _ in range(3):
        point = add(point, point)
    return point == (0, 1)


def is_key(text):
    """Lower-case hex of a canonical point that is not of small order."""
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        return False
    point = decode_point(bytes.fromhex(text))
    return point is not None and not has_small_order(point)


def verifies(key, signature, message):
    point = decode_point(signature[:32])
    if point is None or has_small_order(point) or int.from_bytes(signature[32:], "little") >= GROUP_ORDER:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def sign(seed, message):
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)).sign(message)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# --- payloads ------------------------------------------------------------------------------------------------------


def payload(surface, kind, inputs):
    """Fills the family's template: the row's inputs, and the digests that the documentation describes."""
    parts = dict(inputs)
    if "body_utf8" in inputs:
        digest = hashlib.sha256(inputs["body_utf8"].encode())
        parts["body_sha256_hex"] = digest.hexdigest()
        parts["body_sha256_base64"] = base64.b64encode(digest.digest()).decode()
    if "ask_ids" in inputs:
        parts["ask_ids_sha256_hex"] = sha256(b"\0".join(sorted(ask.encode() for ask in inputs["ask_ids"])))
    return re.sub(r"\{(\w+)\}", lambda part: str(parts[part.group(1)]), surface["payloads"][kind])


def check_payload(vectors, row):
    surface, key = vectors["contract"]["surface"], vectors["test_key"]
    text = payload(surface, row["kind"], row["inputs"])
    yield "payload_utf8", text, row["payload_utf8"]
    yield "signature_hex", sign(key["seed_hex"], text.encode()).hex(), row["signature_hex"]
    signature = bytes.fromhex(row["signature_hex"])
    yield "verifies", verifies(key["public_key"], signature, text.encode()), True
    yield "verifies with another byte", verifies(key["public_key"], signature, text.encode() + b"x"), False
    if "body_sha256_hex" in row["inputs"]:
        yield "body_sha256_hex", sha256(row["inputs"]["body_utf8"].encode()), row["inputs"]["body_sha256_hex"]


# --- chains --------------------------------------------------------------------------------------------------------


class Refused(Exception):
    def __init__(self, kind, hop=None):
        super().__init__(kind)
        self.verdict = {"error": kind} if hop is None else {"error": kind, "hop": hop}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    """Decodes base64url without padding and with unused bits zero; None for any other spelling."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if b64(data) == text else None


def is_agent_name(surface, name):
    limit = surface["constants"]["max_agent_name_bytes"]
    return (
        0 < len(name.encode()) <= limit
        and not any(unicodedata.category(character) == "Cc" or character in "/\\?#" for character in name)
        and name not in (".", "..")
    )


def no_doubles(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member stands twice")
    return members


def read_claims(surface, hop, data):
    chain = surface["chain"]
    try:
        claims = json.loads(data.decode(), object_pairs_hook=no_doubles)
    except ValueError:
        raise Refused("malformed_claims", hop)
    if not isinstance(claims, dict):
        raise Refused("malformed_claims", hop)
    dispatched = claims.get("dispatchedTo")
    if set(claims) - set(chain["claims"]):
        raise Refused("unknown_claim", hop)
    if isinstance(dispatched, dict) and set(dispatched) - set(chain["dispatched_to"]):
        raise Refused("unknown_claim", hop)
    # Written again in the one spelling, it has to be the same bytes.
    again = {name: claims.get(name) for name in chain["claims"] if name in claims}
    if dispatched is not None and isinstance(dispatched, dict):
        again["dispatchedTo"] = {name: dispatched.get(name) for name in chain["dispatched_to"]}
    text = json.dumps(again, separators=(",", ":"), ensure_ascii=False).encode()
    texts = [claims.get("actorPublicKey")] + (list(dispatched.values()) if isinstance(dispatched, dict) else [])
    well_formed = (
        text == data
        and all(isinstance(value, str) for value in texts)
        and isinstance(claims.get("prevHash", 0), (str, type(None)))
        and ("dispatchedTo" not in claims or isinstance(dispatched, dict))
    )
    if not well_formed:
        raise Refused("malformed_claims", hop)
    return claims


def read_hop(surface, hop, token):
    parts = token.split(".")
    if len(parts) != 3:
        raise Refused("malformed_token", hop)
    if parts[0] != b64(surface["chain"]["header_utf8"].encode()):
        raise Refused("wrong_header", hop)
    data, signature = unb64(parts[1]), unb64(parts[2])
    if data is None or signature is None or len(signature) != 64:
        raise Refused("malformed_token", hop)
    claims = read_claims(surface, hop, data)
    dispatched = claims.get("dispatchedTo")
    if not is_key(claims["actorPublicKey"]) or (dispatched and not is_key(dispatched["providerKey"])):
        raise Refused("bad_key", hop)
    if dispatched and not is_agent_name(surface, dispatched["name"]):
        raise Refused("bad_name", hop)
    return claims, (parts[0] + "." + parts[1]).encode(), signature


def judge_chain(surface, tokens):
    chain = surface["chain"]
    try:
        if not tokens:
            raise Refused("empty")
        if len(tokens) > chain["max_hops"]:
            raise Refused("too_many_hops")
        for hop, token in enumerate(tokens):
            if len(token.encode()) > chain["max_token_bytes"]:
                raise Refused("token_too_long", hop)
        hops = []
        for hop, token in enumerate(tokens):
            claims, signed, signature = read_hop(surface, hop, token)
            if hop == 0 and claims["prevHash"] is not None:
                raise Refused("headless", hop)
            if hop > 0 and claims["prevHash"] != sha256(tokens[hop - 1].encode()):
                raise Refused("prev_hash_mismatch", hop)
            if hop > 0:
                check_succession(hops[-1][0], claims, hop)
            hops.append((claims, signed, signature))
        for hop, (claims, signed, signature) in enumerate(hops):
            if not verifies(claims["actorPublicKey"], signature, signed):
                raise Refused("bad_signature", hop)
    except Refused as refused:
        return refused.verdict
    return {"ok": [claims["actorPublicKey"] for claims, _, _ in hops]}


def check_succession(before, claims, hop):
    """After a dispatch: the party that it named, or the same witness dispatching again."""
    named = before.get("dispatchedTo")
    if named is None or claims["actorPublicKey"] == named["providerKey"]:
        return
    if claims["actorPublicKey"] != before["actorPublicKey"]:
        raise Refused("dispatch_not_followed", hop)
    if "dispatchedTo" not in claims:
        raise Refused("witness_signs_as_party", hop)


# --- the rest of the file ------------------------------------------------------------------------------------------


def keys_of(vectors):
    keys = dict(vectors["test_key"]["others"])
    keys["main"] = vectors["test_key"]
    return keys


def check_key(key):
    public = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(key["seed_hex"])).public_key().public_bytes_raw()
    yield "public_key", public.hex(), key["public_key"]
    yield "fingerprint", sha256(public)[:16], key["fingerprint"]
    yield "is a key", is_key(key["public_key"]), True


def check_contract(vectors):
    contract = vectors["contract"]
    text = json.dumps(contract["surface"], separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    yield "fingerprint", sha256(text.encode())[:16], contract["fingerprint"]
    shown = {row["verdict"]["error"] for row in vectors["chains"] if "error" in row["verdict"]}
    yield "kinds of refusal with a row", sorted(shown), sorted(contract["surface"]["chain"]["refusal_kinds"])
    yield "shapes with a schema", sorted(set(contract["surface"]["shapes"]) - set(vectors["schemas"])), []


def check_wire(vectors, row):
    """What can be said without the shapes' types: canonical texts are compact where their own fields are concerned."""
    yield "has a schema", row["shape"] in vectors["schemas"], True
    if row["verdict"] != "refused":
        value = json.loads(row["json_utf8"])
        yield "conforms to its schema", list(violations(vectors["schemas"], {"$ref": "#/schemas/" + row["shape"]}, value)), []


def violations(schemas, schema, value, path=""):
    """The part of JSON Schema that the file uses, as far as a canonical text can break it."""
    if schema is True or not schema:
        return
    if "$ref" in schema:
        yield from violations(schemas, schemas[schema["$ref"].removeprefix("#/schemas/")], value, path)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            fitting = sum(not list(violations(schemas, one, value, path)) for one in schema[word])
            if fitting == 0 or (word == "oneOf" and fitting > 1):
                yield f"{path}: fits {fitting} of {word}"
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    wanted = schema.get("type")
    if wanted is not None:
        wanted = [wanted] if isinstance(wanted, str) else wanted
        if not any(is_type(types, name, value) for name in wanted):
            yield f"{path}: is no {wanted}"
            return
    if "const" in schema and value != schema["const"]:
        yield f"{path}: is not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: is none of {schema['enum']}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{path}: does not match {schema['pattern']}"
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{path}: lacks {name}"
        for name, member in value.items():
            if name in properties:
                yield from violations(schemas, properties[name], member, f"{path}/{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{path}: has an unknown {name}"
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from violations(schemas, schema["items"], item, f"{path}/{index}")


def is_type(types, name, value):
    if name in ("integer", "number"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, types[name])


def check_handshake(vectors):
    """Each proof in the script is the one that its payload and key make."""
    surface, script, keys = vectors["contract"]["surface"], vectors["handshake"], keys_of(vectors)
    inputs = script["inputs"]
    provider, funduq = keys[inputs["provider"]], keys[inputs["funduq"]]
    nonces = {"funduq_nonce": inputs["funduq_nonce"], "provider_nonce": inputs["provider_nonce"]}
    said = {}
    for step in script["steps"]:
        value = json.loads(step["text_utf8"])
        broken = violations(vectors["schemas"], {"$ref": "#/schemas/" + step["shape"]}, value)
        yield f"{step['shape']} conforms to its schema", list(broken), []
        said.update(value)
        if "proof" in value:
            opening = payload(surface, "provider-connect", {"funduq_public_key": funduq["public_key"], **nonces})
            yield "proof", sign(provider["seed_hex"], opening.encode()).hex(), value["proof"]
            yield "proof verifies", verifies(said["publicKey"], bytes.fromhex(value["proof"]), opening.encode()), True
        if "answer" in value:
            answer = payload(surface, "funduq-connect", nonces)
            yield "answer", sign(funduq["seed_hex"], answer.encode()).hex(), value["answer"]
    yield "ticket", said.get("ticket"), inputs["funduq_nonce"]
    yield "nonce", said.get("providerNonce"), inputs["provider_nonce"]
    last = script["steps"][-1]
    yield "the last word is funduq's ok", (last["from"], json.loads(last["text_utf8"])["type"]), ("funduq", "ok")


def rows(vectors):
    yield "contract", check_contract(vectors)
    for name, key in sorted(keys_of(vectors).items()):
        yield f"test_key / {name}", check_key(key)
    for row in vectors["vectors"]:
        yield f"vectors / {row['kind']}: {row['name']}", check_payload(vectors, row)
    for row in vectors["chains"]:
        found = judge_chain(vectors["contract"]["surface"], row["chain"])
        yield f"chains / {row['name']}", [("verdict", found, row["verdict"])]
    for row in vectors["wire"]:
        yield f"wire / {row['kind']}: {row['name']} ({row['verdict']})", check_wire(vectors, row)
    yield "handshake", check_handshake(vectors)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: replay.py contract-vectors.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        vectors = json.load(file)
    count, wrong = 0, []
    for name, checks in rows(vectors):
        count += 1
        for what, found, published in checks:
            if found != published:
                wrong.append(f"{name}: {what} is {found!r}, published is {published!r}")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"contract-vectors.json, revision {vectors['contract']['revision']}: {count} rows, {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
