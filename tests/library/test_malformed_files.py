"""Two hundred damaged files, some for each reader: a clear error or a whole result, nothing overwritten."""

import hashlib
import io
import json
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from small_sweeps import sweep

from patch_association.images.weights import read_weights
from patch_lab import records
from patch_lab.images.data.packed import load_crops
from patch_lab.images.training import checkpoint
from patch_lab.images.training.config import TrainConfig, with_settings
from patch_lab.ledger import evidence, requires, table
from patch_lab.sweeps.journal import Journal

TRAPS = (
    *(b'"', b"\\", b"{", b"]", b"=", b",", b"-", b"#", b"$", b"\x00", b"\xff\xfe", b"null", b"NaN", b"1e999"),
    *(b"9" * 5000, b"true", b'"\\ud800"', b"[" * 3000, b'{"a":' * 3000, b"(" * 300, b"**", b"1/0", b".low"),
    *(b"{x.__class__}", b"{x:99999999999d}", b"f2:99999999999999999999x2:AAAA", b"[[claim]]", b"id = 3"),
)
ENTRY = b"""[[claim]]
id = "ours-first"
source = "ours"
where = "Proposition 1"
chapter = "notes"
statement = "It is $1$."
verdict = "proved here"
because = "Counted: {x}, {x:.1%} of {n}."
requires = ["x == 1", "abs(x.low) < n"]
"""
NUMBERS = {"x": evidence.Number("x", 1.0, "sampled", 0.1, n=5, low=0.5, high=1.5)}
CELL = b'{"cell": {"seed": 0}, "result": {"error": 1.5}, "wall_s": 1.0}\n'


def npz(**arrays):
    np.savez(file := io.BytesIO(), **arrays)
    return file.getvalue()


def crops(**other):
    Image.new("RGB", (8, 8), (80, 9, 9)).save(jpeg := io.BytesIO(), "JPEG")
    one = np.frombuffer(jpeg.getvalue(), np.uint8)
    return npz(**{"jpeg": np.tile(one, 2), "length": [one.size] * 2, "label": [5, 6]} | other)


def forged(state):
    """A checkpoint whose checksum is right."""
    torch.save(state, file := io.BytesIO())
    sha = hashlib.sha256(file.getvalue()).hexdigest().encode()
    return checkpoint._MAGIC + sha + b"\n" + file.getvalue()


def small_record():
    one = {"seed": 0, "curve": records.encode([1.0, 2.0]), "part": {"error": 0.25, "list": [1, None]}}
    return records.Record("demo", "make it", {"n": 3}, [one, one | {"seed": 1}], {"wall_s": 1.0}, {})


def read_record(path):
    found = records.read(path)
    return [found.column(column) for column in ("curve", "part.error")]


def read_claims(path):
    for claim in table.read_table(path):
        filled = replace(claim, evidence=NUMBERS, parameters={"n": 3})
        assert isinstance(filled.reason, str) and isinstance(filled.unmet(NUMBERS, {"n": 3}), list)


def read_evidence(path):
    for kept in evidence.read_run(path).numbers.values():
        assert all(isinstance(number.show() + number.show_basis(), str) for number in kept.values())


def text_of(reader):
    return lambda path: reader(path.read_bytes().decode("utf-8", "replace"))


READERS = {
    "records": (read_record, small_record().to_json().encode()),
    "encoded arrays": (text_of(records.decode), records.encode([[1.0, 2.0], [3.0, 4.0]]).encode()),
    "claims": (read_claims, ENTRY),
    "evidence": (read_evidence, json.dumps({
        "parameters": {"n": 3}, "claims": {"ours-first": {"x": NUMBERS["x"].as_dict()}}}).encode()),
    "requirements": (text_of(requires.parse), b"max(x, 3) - abs(x.high) < n / 2 and not x > 1"),
    "configurations": (text_of(lambda text: with_settings(TrainConfig(), [text])), b"batch_size=20"),
    "sweeps": (lambda path: Journal(path, sweep().settings(), True).close(False),
               json.dumps({"settings": sweep().settings()}).encode() + b"\n" + CELL),
    "weights": (read_weights, npz(pos=np.arange(12.0).reshape(6, 2), grid=[2, 3])),
    "pictures": (load_crops, crops()),
    "checkpoints": (lambda path: checkpoint.load_checkpoint(path.parent),
                    forged({"k": 1, "x": torch.ones(3)})),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_twenty_damages(tmp_path, name):
    reader, whole = READERS[name]
    path = tmp_path / checkpoint.NEWEST
    path.write_bytes(whole)
    reader(path)
    chance, refused = random.Random(name), 0
    for _ in range(20):
        text = whole
        for _ in range(chance.randint(1, 3)):
            a, b = sorted(chance.randint(0, len(text)) for _ in range(2))
            b = min(b, a + chance.choice((0, 1, 8, 10**9)))
            piece = chance.choice((b"", text[a:b] * 2, chance.choice(TRAPS), chance.randbytes(3)))
            text = text[:a] + piece + text[b:]
        path.write_bytes(text)
        try:
            reader(path)
        except ValueError as error:
            refused += 1
            assert len(str(error).split()) >= 4 and path.read_bytes() == text
    assert refused >= 5 and [file.name for file in tmp_path.iterdir()] == [path.name]
