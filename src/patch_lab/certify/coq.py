"""``make proofs``: the kernel of Coq checks ``proofs/``, and nothing else is believed.

The witnesses are written anew and compared byte for byte with the committed ones. ``coqc`` compiles every
file and ``coqchk`` checks the compiled proofs once more. The axioms of each theorem are those of the
record ``kernel.json``, which the book reads; only its seconds may differ. A theorem with hypotheses may be
empty, if nothing satisfies them, and no kernel sees that: so each has an example beside it,
``NAME_instance``, which uses it and is checked too::

    python -m patch_lab.certify.coq proofs           # 1 where something does not go through
    python -m patch_lab.certify.coq proofs --write   # writes what is generated, then checks it
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from patch_lab.certify.witnesses import FILES

#: The files written by hand, in the order in which they need each other; the witnesses' come after them.
BY_HAND = (
    *("Ball", "Vote", "Moments", "Sizes", "Window", "Blocks", "Risk", "Form", "Still", "Inequalities"),
    *("Best", "BlocksSizes", "Ends", "InWords", "GramRows", "SameFunction", "Trap", "Small"),
    *("Bessel", "Overrates", "Faces", "FirstSlope"),
)
#: What takes minutes with integers of Coq's own is done with those of the processor, ten times as fast: the
#: file, what it needs, and what is said differently there.
FAST = ("Ball", "Vote", "Window", "WindowAt")
_FASTER = {"Specific_stdz": "Specific_bigint", "StdZRadix2": "BigIntRadix2"}
#: Claims that must not come through: false ones, and :data:`EMPTY`, which lacks an instance.
REFUSED = "Refused"
EMPTY = "empty"
PACKAGES = ("coq", "libcoq-interval")

RECORD = Path(__file__).with_name("kernel.json")

_LISTED = "Definition witnesses : list Z"
_BOOK = re.compile(r"^\(\*\* In the book: (.*)\. \*\)$", re.M)
_NEEDS = re.compile(r"From Book Require Import ([\w ]+)\.")
_THEOREM = re.compile(r"^Theorem (\w+)(.*?)\.\nProof", re.S | re.M)
_EXAMPLE = re.compile(r"^Example (\w+)_instance\b(.*?)(?:Qed|Defined)\.", re.S | re.M)


class Rejected(Exception):
    """Something does not go through; the text says what."""


def theorems(text: str) -> dict[str, str]:
    """{name: statement} of a file's theorems."""
    return {match[1]: match[2].strip() for match in _THEOREM.finditer(text)}


def without_instance(text: str) -> list[str]:
    r"""The theorems of a file that may be empty: with hypotheses, and no example that uses them.

    Examples
    --------
    >>> without_instance("Theorem vain x : x < x -> False.\nProof. lra. Qed.")
    ['vain']
    """
    shown = {match[1] for match in _EXAMPLE.finditer(text) if re.search(rf"\b{match[1]}\b(?!_)", match[2])}
    closed = "Section" not in text
    missing = []
    for name, statement in theorems(text).items():
        hypotheses = not closed or statement[0] != ":" or re.search("forall|->", statement)
        if hypotheses and name not in shown:
            missing.append(name)
    return missing


def kernel() -> list[dict]:
    """The record of what the kernel accepts, a row a file.

    A row has the ``file``, what its theorems are ``in_book`` (the id of a claim, or words), the ``engine``,
    the processor's ``seconds`` for the file and all that it needs, and ``theorems``: {name: its axioms}.
    """
    return json.loads(RECORD.read_text(encoding="utf-8"))


def shown(rows: list[dict]) -> list[dict]:
    """The record as a table: the theorems of each file, their engine, number of axioms and seconds."""
    table = []
    for row in rows:
        first, *more = row["theorems"]
        axioms = set()
        for named in row["theorems"].values():
            axioms.update(named.split())
        table.append(
            {
                "file": row["file"],
                "theorems": f"{first} and {len(more)} more" if more else first,
                "engine": row["engine"],
                "axioms": len(axioms),
                "seconds": row["seconds"],
            }
        )
    return table


def engine(name: str, text: str) -> str:
    """How a file's theorems are proved."""
    if "(bits " in text:
        if name == FAST[-1]:
            return "intervals, integers of the processor"
        return "intervals, integers" if _LISTED in text else "intervals"
    return "integers" if name in FILES else "by hand"


def check(folder: Path, write: bool = False) -> str:
    """Check all of a folder; what came through, in lines.

    Raises
    ------
    Rejected
        If something does not, or there is no ``coqc``.
    """
    for name, made in FILES.items():
        _same(folder / f"{name}.v", made(), write)
    names = (*BY_HAND, *FILES, REFUSED)
    texts = {name: (folder / f"{name}.v").read_text(encoding="utf-8") for name in names}
    for name, text in texts.items():
        missing = without_instance(text)
        if missing != ([EMPTY] if name == REFUSED else []):
            raise Rejected(f"{name}.v: no instance is shown of {', '.join(missing) or EMPTY}")
        if theorems(text) and name != REFUSED and len(_BOOK.findall(text)) != 1:
            raise Rejected(f"{name}.v does not say in one line what its theorems are in the book")
    version = _installed()
    fast = {name: texts[name] for name in FAST}
    for slow, faster in _FASTER.items():
        fast["Ball"] = fast["Ball"].replace(slow, faster)
    rows = []
    for room in ({name: text for name, text in texts.items() if name != FAST[-1]}, fast):
        with tempfile.TemporaryDirectory() as place:
            output, seconds = _checked(place, room)
            if "Overlap" in output:
                _same(folder / "overlap.txt", output["Overlap"], write)
            claimed = [file for file in room if theorems(room[file]) and file != REFUSED]
            axioms = _axioms(
                place, [f"{file}.{theorem}" for file in claimed for theorem in theorems(room[file])]
            )
            for file in claimed:
                rows.append(
                    {
                        "file": file,
                        "in_book": _BOOK.findall(room[file])[0],
                        "engine": engine(file, room[file]),
                        "seconds": round(sum(seconds[needed_file] for needed_file in _needed(file, room)), 1),
                        "theorems": {
                            theorem: axioms[f"{file}.{theorem}"] for theorem in theorems(room[file])
                        },
                    }
                )

    def timeless(rows):
        return [{key: row[key] for key in row if key != "seconds"} for row in rows]

    if write:
        RECORD.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    elif timeless(kernel()) != timeless(rows):
        raise Rejected(f"{RECORD.name} is not what is found now: compare it with --write")
    every = sorted(set().union(*(names.split() for row in rows for names in row["theorems"].values())))
    count = sum(len(row["theorems"]) for row in rows)
    line = "{file:14}{axioms:3} axioms {seconds:7.1f} s  {engine}: {theorems}"
    lines = [line.format(**row) for row in shown(rows)]
    end = f"{count} statements, checked by coqc and coqchk {version}, on the axioms {', '.join(every)}"
    return "\n".join([*lines, end])


def _needed(name: str, room: dict[str, str]) -> set[str]:
    """A file and all that it needs."""
    needs = " ".join(_NEEDS.findall(room[name])).split()
    return {name}.union(*(_needed(file, room) for file in needs))


def _checked(place: str, room: dict[str, str]) -> tuple[dict[str, str], dict[str, float]]:
    """{file: what coqc printed}, {file: its seconds}; all compiled in turn, then checked again by coqchk."""
    printed = {}
    seconds = {}
    for name, text in room.items():
        Path(place, f"{name}.v").write_text(text, encoding="utf-8")
        start = _spent()
        printed[name] = _run(
            place, "coqc", "-q", "-w", "-notation-overridden", "-Q", ".", "Book", f"{name}.v"
        )
        seconds[name] = _spent() - start
        print(f"{name:14}{len(theorems(text)):4} theorems {seconds[name]:8.1f} s", flush=True)
    start = _spent()
    modules = [part for name in room for part in ("-norec", f"Book.{name}")]
    _run(place, "coqchk", "-silent", "-bytecode-compiler", "yes", "-Q", ".", "Book", *modules)
    print(f"{'coqchk':27} {_spent() - start:8.1f} s", flush=True)
    return printed, seconds


def _spent() -> float:
    """Seconds of processor time of all commands so far: a busy machine does not change them."""
    return sum(os.times()[2:4])


def _axioms(place: str, listed: list[str]) -> dict[str, str]:
    """{theorem: the axioms that it rests on}."""
    needed = " ".join(dict.fromkeys(theorem.partition(".")[0] for theorem in listed))
    asked = "\n".join(f"Print Assumptions {theorem}." for theorem in listed)
    Path(place, "Asked.v").write_text(f"From Book Require {needed}.\n{asked}\n", encoding="utf-8")
    answer = _run(place, "coqc", "-q", "-Q", ".", "Book", "Asked.v")
    answers = re.split(r"^(?:Axioms:|Closed under the global context)$", answer, flags=re.M)[1:]
    if len(answers) != len(listed):
        raise Rejected(f"{len(listed)} theorems were asked about, and {len(answers)} answers came")
    return {
        theorem: " ".join(sorted(re.findall(r"^([\w.']+)", text, re.M)))
        for theorem, text in zip(listed, answers)
    }


def _same(path: Path, text: str, write: bool) -> None:
    if write:
        path.write_text(text, encoding="utf-8")
    elif not path.is_file() or path.read_text(encoding="utf-8") != text:
        raise Rejected(f"{path} is not what is written now: compare it with --write")


def _installed() -> str:
    """The version of ``coqc``, installed first where apt may."""
    if shutil.which("coqc") is None and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-qq", "--no-install-recommends", *PACKAGES], check=False)
    if shutil.which("coqc") is None:
        raise Rejected(f"coqc is missing, and nothing was checked: install {' and '.join(PACKAGES)}")
    version = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"version (\S+)", version)[0]


def _run(place: str, *command: str) -> str:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode:
        raise Rejected(f"{' '.join(command[:1] + command[-1:])}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def main(arguments: list[str] | None = None) -> int:
    """Check, and say at the end what came through or what did not; 1 if something did not."""
    parser = argparse.ArgumentParser(description="let the kernel of Coq check the proofs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="write what is generated before it is checked")
    given = parser.parse_args(arguments)
    try:
        print(check(given.folder, given.write))
    except Rejected as reason:
        print(f"NOT proved: {reason}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
