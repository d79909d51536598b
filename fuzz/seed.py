"""Makes the fuzz corpora from the published vectors: a run then begins with texts that mean something."""

import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = json.loads((HERE.parent / "funduq-vectors" / "contract-vectors.json").read_text(encoding="utf-8"))


def put(target, number, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"vector-{number}").write_bytes(data)


for number, row in enumerate(VECTORS["chains"]):
    put("chain", number, "\n".join(row["chain"]).encode())

# The order in which the shapes target numbers them.
names = sorted(VECTORS["contract"]["surface"]["shapes"])
for number, row in enumerate(VECTORS["wire"]):
    put("shapes", number, bytes([names.index(row["shape"])]) + row["json_utf8"].encode())
    put("frames", number, row["json_utf8"].encode())
for number, step in enumerate(VECTORS["handshake"]["steps"]):
    put("frames", f"opening-{number}", step["text_utf8"].encode())
