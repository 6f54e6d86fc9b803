"""What the book holds, by name, and what a change has lost: ``tools/inventory.py [ROOT]``.

::

    tools/inventory.py --write before.json      # of this tree
    tools/inventory.py --compare before.json    # names what is in it and is here no more

Claims, labels, statements, proofs, exercises, solutions, figures, equations, glued numbers, explorables,
scenes, records and evidence are sets of names: what moves from page to page is no loss. What goes on
purpose stands in ``tools/gone.txt``, a line of kind, name and reason each. The exit status is 1 where
anything else is gone.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from book_labels import COUNTED
from notebooks import ROOT

GONE = ROOT / "tools" / "gone.txt"
OPENED = re.compile(r"^(:{3,}|`{3,})\{([\w:.-]+)\}\s*(.*)$")
OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
STATEMENTS = {"paper", *COUNTED}
#: Directives whose argument is their name.
NAMED = {"explorable": "explorable", "scene": "scene", "moving": "moving", "solution": "solution"}
#: What is found anywhere in a page's text, by its kind.
INLINE = {
    "claim shown": r"\{claim\}`([\w.-]+)`",
    "glued": r"\{(?:glue:text|number)\}`(?:[\w/]+:)?(\w+)`",
    "equation": r"^\$\$ ?\((\S+)\)$",
    "label": r"^\(([\w-]+)\)=$",
    "figure": r"^\s+name: (fig-[\w-]+)",
    "checked": r"\bcheck\(\s*[\"']([\w.-]+)[\"']",
    "record read": r"\bload\(\s*[\"']([\w./-]+)[\"']",
}


def blocks(text: str):
    """Every directive of a page in order: its name, argument and options; nested ones too."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if opened := OPENED.match(line):
            options = {}
            for below in lines[at + 1 :]:
                option = OPTION.match(below)
                if not option:
                    break
                options[option[1]] = option[2]
            yield opened[2].removeprefix("prf:"), opened[3].strip(), options


def inventory(root: Path) -> dict[str, list[str]]:
    """The names of each kind, sorted."""
    by_kind: dict[str, set[str]] = defaultdict(set)
    for page in sorted((root / "book").rglob("*.md")):
        if "_ext" not in page.parts and "_static" not in page.parts:
            _read(page.read_text(encoding="utf-8"), by_kind)
    for table in (root / "src").rglob("*.toml"):
        text = table.read_text(encoding="utf-8")
        by_kind["claim"].update(re.findall(r'^id\s*=\s*"([\w.-]+)"', text, re.M))
    for file in (root / "src").rglob("*"):
        folders = file.relative_to(root).parts
        if file.suffix in (".json", ".npz") and {"evidence", "records"} & set(folders):
            by_kind["evidence" if "evidence" in folders else "record"].add(file.name)
    return {kind: sorted(names) for kind, names in sorted(by_kind.items())}


def _read(text: str, names: dict[str, set[str]]) -> None:
    last = ""
    for kind, argument, options in blocks(text):
        if kind in STATEMENTS:
            last = options.get("label", "")
            names["statement"].add(last)
            names["claim shown"].update(options.get("claim", "").split())
        elif kind == "proof":
            names["proof"].add(last)
        elif kind == "proof-of":
            names["proof"].add(argument)
        elif kind == "exercise":
            names["exercise"].add(options.get("label", argument))
        elif kind in NAMED:
            names[NAMED[kind]].add(argument)
    for kind, pattern in INLINE.items():
        names[kind].update(re.findall(pattern, text, re.M))
    names["statement"].discard("")
    names["proof"].discard("")


def given_up() -> set[tuple[str, str]]:
    """What went on purpose: kind and name."""
    rows = (line.split("\t") for line in GONE.read_text(encoding="utf-8").splitlines())
    return {(row[0], row[1]) for row in rows if len(row) == 3}


def main() -> int:
    """Write an inventory, or compare one with this tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    asked = parser.parse_args()
    now = inventory(asked.root)
    if asked.write:
        asked.write.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    if not asked.compare:
        print(*(f"{kind}: {len(names)}" for kind, names in now.items()), sep="\n")
        return 0
    before = json.loads(asked.compare.read_text(encoding="utf-8"))
    wanted = given_up()
    lost = [
        (kind, name)
        for kind, names in before.items()
        for name in names
        if name not in now.get(kind, ()) and (kind, name) not in wanted
    ]
    for kind, names in before.items():
        print(f"{kind}: {len(names)} before, {len(now.get(kind, ()))} now")
    for kind, name in lost:
        print(f"lost: {kind} {name}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
