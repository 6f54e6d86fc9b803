"""``patch-association claims``."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys

from patch_lab.kit.ledger.ledger import Ledger, shipped
from patch_lab.kit.prose import without_markup

COLUMNS = (
    "id",
    "source",
    "where",
    "kind",
    "statement",
    "chapter",
    "verdict",
    "condition",
    "because",
    "reading",
    "outcome",
    "horizon",
    "checked_by",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``claims`` takes; its ``run`` takes the parsed arguments."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as a JSON list")
    form.add_argument("--csv", action="store_true", help="as comma-separated values, one line a claim")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Print the ledger in the form that was asked for; 0."""
    ledger = shipped()
    if arguments.json:
        print(json.dumps(ledger.entries(), indent=1))  # ASCII, whatever reads it
        return 0
    text = as_csv(ledger) if arguments.csv else as_text(ledger)
    print(spelled(text, sys.stdout.encoding or "utf-8"), end="")
    return 0


def as_csv(ledger: Ledger) -> str:
    """One line a claim, the evidence as one text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, "rests_on", "carries", "knobs", "evidence"])
    for claim in ledger:
        row = claim.as_dict()
        evidence = "; ".join(f"{n.name}: {n.show()} ({n.basis()})" for n in claim.evidence.values())
        knobs = "; ".join(f"{knob.name} ({knob.tried}): {knob.moved}" for knob in claim.filled_knobs)
        ways = " ".join(claim.rests_on), " ".join(ledger.carries(claim.id))
        writer.writerow([*(row[column] for column in COLUMNS), *ways, knobs, evidence])
    return out.getvalue()


def as_text(ledger: Ledger) -> str:
    """Three lines a claim, and the totals."""
    lines = []
    for claim in ledger:
        lines += [
            f"{claim.id}  [{without_markup(claim.heading)}]",
            f"    {claim.where}: {without_markup(claim.statement)}",
        ]
        lines += [f"    {without_markup(claim.reason)}"] if claim.reason else []
    totals = ", ".join(f"{count} {word}" for word, count in ledger.totals().items())
    return "\n".join([*lines, f"{len(ledger)} entries{': ' if totals else ''}{totals}", ""])


def spelled(text: str, encoding: str) -> str:
    """The text in what an encoding can say: 10^-5 for 10⁻⁵ where there are no raised digits."""
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
        text = re.sub(r"[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda raised: "^" + raised[0].translate(digits), text)
        text = text.translate(str.maketrans("−–×’“”", '--x\'""'))
        return text.encode(encoding, "replace").decode(encoding)
