"""Ten thousand damaged files for each parser: a clear error or a whole result, and nothing overwritten.

The inputs are drawn from a seed: whole ones of ours, of which pieces are cut, doubled, moved, replaced by
what each format has as its traps, or by any bytes. What a parser accepts after that must be a whole object.
"""

import json
import os
import random
from contextlib import suppress
from dataclasses import replace

from small_sweeps import run_quietly, sweep

from patch_lab import records
from patch_lab.images.training.config import TrainConfig, with_settings
from patch_lab.ledger import Ledger, evidence, requires, table
from patch_lab.sweeps import journal
from patch_lab.sweeps.journal import Journal

COUNT = 10_000
TRAPS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b"=", b",", b":", b"-", b"#", b"$", b"\x00", b"\xff\xfe", b"\r\n"),
    *(b"null", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"9" * 400, b"true", b'""', b'"\\ud800"', b"0x"),
    *(
        b"[" * 3000,
        b'{"a":' * 3000,
        b"(" * 300,
        b"not " * 3000,
        b"**",
        b"lambda:0",
        b"1/0",
        b".low",
        b"../../x",
    ),
    *(b"{x.__class__}", b"{0}", b"{x:interval}", b"{x:99999999999d}", b"\xf0\x9f\x8c\xb1", b"2026-11-22"),
    *(b"f2:99999999999999999999x2:AAAA", b"f8:0x3:", b"f2:2:A===", b"'''", b"[[claim]]", b"id = 3"),
)


def damaged(whole: list[bytes], seed: int, count: int = COUNT):
    """Texts made of whole ones, one after the other, each with one to four damages."""
    chance = random.Random(seed)
    for _ in range(count):
        text = chance.choice(whole)
        for _ in range(chance.randint(1, 4)):
            a, b = sorted(chance.randint(0, len(text)) for _ in range(2))
            b = min(b, a + chance.choice((0, 1, 8, 10**9)))
            piece = chance.choice((
                b"", text[a:b] * 2, chance.choice(TRAPS), chance.randbytes(chance.randint(1, 6)),
                chance.choice(whole)[a:b],
            ))  # fmt: skip
            text = text[:a] + piece + text[b:]
        yield text


def refused(error: ValueError, names: str = "") -> None:
    """A sentence that names the file; the command line makes one line of it, whatever a file holds."""
    message = str(error)
    assert len(message.split()) >= 4 and names in message, message


class InMemory:
    """A path whose file can be read, and that has no way to write it."""

    def __init__(self, name: str, content: bytes):
        self.name, self.content = name, content

    def read_text(self, encoding):
        return self.content.decode(encoding)

    def is_file(self):
        return True

    def __str__(self):
        return self.name


def small_record() -> bytes:
    one = {"seed": 0, "curve": records.encode([1.0, 2.0]), "part": {"error": 0.25, "list": [1, None]}}
    made = records.Record("demo", "make it", {"n": 3}, [one, one | {"seed": 1}], {"wall_s": 1.0}, {})
    return made.to_json().encode()


def test_records():
    """Parsed, and then asked for its columns: encoded arrays are parsed there."""
    good = 0
    for text in damaged([small_record(), json.dumps([1]).encode()], seed=1):
        try:
            found = records.parse(text.decode("utf-8", "surrogateescape"), "demo.json")
        except ValueError as error:
            refused(error, "demo.json is not a whole record")
            continue
        good += 1
        assert isinstance(found.results, list) and all(isinstance(row, dict) for row in found)
        for column in ("curve", "part.error"):
            try:
                found.column(column)
            except ValueError as error:
                refused(error)
    assert 100 < good < COUNT / 2  # both happen: damages inside a text leave a record whole


def test_encoded_arrays():
    whole = [records.encode([[1.0, 2.0], [3.0, 4.0]], kind).encode() for kind in ("f2", "f4", "f8")]
    for text in damaged(whole, seed=2):
        try:
            assert records.decode(text.decode("latin-1")).dtype == "float64"
        except ValueError as error:
            refused(error)


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


def test_the_ledgers_tables():
    """And what its claims say once there is evidence: a reason that cannot be filled in is refused, too."""
    good = 0
    for text in damaged([ENTRY, ENTRY.replace(b"first", b"second")], seed=3):
        try:
            claims = table.read_table(InMemory("mine.toml", text))
        except ValueError as error:
            refused(error, "mine.toml")
            continue
        good += len(claims)
        for claim in claims:
            try:
                filled = replace(claim, evidence=NUMBERS, parameters={"n": 3})
                assert isinstance(filled.reason, str) and isinstance(filled.unmet(NUMBERS, {"n": 3}), list)
            except ValueError as error:
                refused(error)
    assert good > 100


def test_the_ledgers_evidence(tmp_path):
    """What is read shows itself; comparing a run with a damaged file leaves that file as it was."""
    (tmp_path / "mine.toml").write_bytes(ENTRY)
    file, good = tmp_path / "mine" / "notes.json", 0
    evidence.write_run(file, evidence.ChapterRun({"n": 3}, {"ours-first": NUMBERS}))
    for count, text in enumerate(damaged([file.read_bytes()], seed=4)):
        try:
            run = evidence.read_run(InMemory("notes.json", text))
            for number in (one for kept in run.numbers.values() for one in kept.values()):
                assert isinstance(number.show() + number.show_basis(), str)
            good += 1
        except ValueError as error:
            refused(error, "notes.json")
        if count < 200:
            file.write_bytes(text)
            with suppress(ValueError, AssertionError):
                mine = Ledger.at(tmp_path / "mine.toml", record=False)
                mine.chapter("notes", n=3)
                mine.check("ours-first", NUMBERS)
            assert file.read_bytes() == text and os.listdir(file.parent) == ["notes.json"]
    assert good > 100


def test_requirements():
    for text in damaged([b"x == 1", b"max(x, 3) - abs(x.high) < n / 2 and not x > 1"], seed=5):
        try:
            requires.parse(text.decode("utf-8", "replace"))
        except ValueError as error:
            refused(error)


def test_configurations():
    hold = [f"{key}={value}".encode() for key, value in TrainConfig().as_dict().items()]
    good = 0
    for text in damaged(hold, seed=6):
        try:
            good += isinstance(with_settings(TrainConfig(), [text.decode("utf-8", "replace")]), TrainConfig)
        except ValueError as error:
            refused(error)
    assert good > 100


class NoWaiting:
    """``os`` whose ``fsync`` does not wait for the disk: ten thousand times would be minutes."""

    def fsync(self, descriptor):
        pass

    def __getattr__(self, name):
        return getattr(os, name)


def test_cells_of_interrupted_sweeps(tmp_path, monkeypatch):
    """Resumed or refused; a refused file stays byte for byte."""
    monkeypatch.setattr(journal, "os", NoWaiting())
    out, partial = tmp_path / "demo.json", tmp_path / "demo.json.partial"
    run_quietly(sweep(), out, limit=3)
    whole, settings, good = partial.read_bytes(), sweep().settings(), 0
    for text in damaged([whole], seed=7, count=400):
        partial.write_bytes(text)
        try:
            Journal(partial, settings, resume=True).close(remove=False)
            good += 1
        except ValueError as error:
            refused(error, "demo.json.partial")
            assert partial.read_bytes() == text
    assert good > 10 and sorted(path.name for path in tmp_path.iterdir()) == ["demo.json.partial"]
