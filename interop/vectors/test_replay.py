"""The published contract, replayed outside Rust: as it is, and with one thing changed at a time."""

import copy
import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parents[1] / "funduq-vectors" / "contract-vectors.json"
REFUSED = HERE.parents[1] / "funduq-vectors" / "src" / "generate" / "refused_chains.json"


def run(script, *arguments):
    command = [sys.executable, "-B", str(HERE / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_every_row_comes_out_as_published():
    done = run("replay.py", VECTORS)
    assert done.returncode == 0, done.stderr
    assert ", 0 differences" in done.stdout


def test_the_refused_chains_are_the_ones_that_were_forged():
    done = run("forge.py", "--check", REFUSED)
    assert done.returncode == 0, done.stderr


def change_signature(vectors):
    row = vectors["vectors"][0]
    row["signature_hex"] = "00" + row["signature_hex"][2:]


def change_payload(vectors):
    vectors["vectors"][3]["payload_utf8"] += "x"


def change_template(vectors):
    vectors["contract"]["surface"]["payloads"]["view"] += "x"


def accept_a_refused_chain(vectors):
    row = next(row for row in vectors["chains"] if row["name"] == "witness-signs-as-party")
    row["verdict"] = {"ok": []}


def change_a_kind(vectors):
    row = next(row for row in vectors["chains"] if row["name"] == "spliced")
    row["verdict"]["error"] = "bad_signature"


def raise_a_limit(vectors):
    vectors["contract"]["surface"]["chain"]["max_hops"] = 65


def break_a_shape(vectors):
    row = next(row for row in vectors["wire"] if row["verdict"] == "canonical")
    row["json_utf8"] = '{"unheardOf":1}'


def change_a_proof(vectors):
    step = next(step for step in vectors["handshake"]["steps"] if '"proof"' in step["text_utf8"])
    value = json.loads(step["text_utf8"])
    value["proof"] = "00" * 64
    step["text_utf8"] = json.dumps(value)


def change_the_test_key(vectors):
    vectors["test_key"]["public_key"] = vectors["test_key"]["others"]["second"]["public_key"]


CHANGES = [
    change_signature,
    change_payload,
    change_template,
    accept_a_refused_chain,
    change_a_kind,
    raise_a_limit,
    break_a_shape,
    change_a_proof,
    change_the_test_key,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_difference_is_seen(change, tmp_path):
    vectors = copy.deepcopy(json.loads(VECTORS.read_text(encoding="utf-8")))
    change(vectors)
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(vectors), encoding="utf-8")
    done = run("replay.py", file)
    assert done.returncode == 1
    assert done.stderr
