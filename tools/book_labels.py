"""What the chapters' labels mean: the book's numbers, titles and works, read from its sources.

A test holds the numbers to those of the built pages.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import yaml
from notebooks import MEASURES, ROOT

sys.path.append(str(ROOT / "book" / "_ext"))
from lettering import chapter_numbers, letter

#: What shares one counter, as _config.yml has it (prf_realtyp_to_countertyp), and what is not numbered.
COUNTED = ("theorem", "lemma", "proposition", "corollary", "conjecture", "definition", "assumption", "remark")
FENCE = re.compile(r"^(?P<fence>:{3,}|`{3,})\{(?P<name>[a-z:_-]+)\}[ \t]*(?P<title>.*)$")
OPTION = re.compile(r"^:(?P<key>[a-z-]+):[ \t]*(?P<value>.*)$")
TARGET = re.compile(r"^\((?P<label>[\w-]+)\)=$")
SECTION = re.compile(r"^\(([\w-]+)\)=\n+#+ (.+)$", flags=re.MULTILINE)
EQUATION = re.compile(r"^\$\$ \((?P<label>[\w-]+)\)$")


@dataclass
class Label:
    """What a reference needs: the words that stand for it and the address in the online book."""

    words: str
    address: str


@dataclass
class Book:
    """What all chapters share: where they stand, what their labels mean, how works are cited.

    ``statements`` are the papers' own, by their names.
    """

    address: str
    numbers: dict[str, str]
    labels: dict[str, Label] = field(default_factory=dict)
    statements: dict[str, Label] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    works: dict[str, str] = field(default_factory=dict)

    def page(self, name: str) -> str:
        """The online address of ``book/part/chapter`` or ``book/page``."""
        return f"{self.address}{name}.html"


@dataclass
class Block:
    """One directive: its name, argument, options and body."""

    name: str
    title: str
    options: dict[str, str]
    body: list[str]


def pieces(lines: list[str]):
    """Yield the lines of a cell in order: plain ones as text, directives as :class:`Block`."""
    i = 0
    while i < len(lines):
        opened = FENCE.match(lines[i])
        if not opened:
            yield lines[i]
            i += 1
            continue
        end = next((k for k in range(i + 1, len(lines)) if lines[k].strip() == opened["fence"]), len(lines))
        body = lines[i + 1 : end]
        options = {}
        while body and (option := OPTION.match(body[0])):
            options[option["key"]] = option["value"]
            body = body[1:]
        yield Block(opened["name"], opened["title"].strip(), options, body)
        i = end + 1


def read_book() -> Book:
    """The chapters in the order of the table of contents, with every label in them."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    owner, repository = config["repository"]["url"].rstrip("/").split("/")[-2:]
    book = Book(f"https://{owner}.github.io/{repository}/", chapter_numbers(contents))
    chapters = [{"file": contents["root"]}, *(c for part in contents["parts"] for c in part["chapters"])]
    for chapter in chapters:
        file = chapter["file"]
        if file in book.numbers:
            _read_labels(book, file, [notes["file"] for notes in chapter.get("sections", ())])
        else:
            source = (ROOT / f"{file}.md").read_text(encoding="utf-8")
            book.titles[file] = _title(source)
            for label, words in SECTION.findall(source):  # a page without code has no other labels
                book.labels[label] = Label(words, f"{book.page(file)}#{label}")
    book.works = _works(ROOT / config["bibtex_bibfiles"][0])
    return book


def _title(text: str) -> str:
    match = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    return match[1] if match else ""


def _read_labels(book: Book, file: str, notes: list[str]) -> None:
    """Note every label of a chapter and of its notes, which go on with its numbers."""
    reading = _Numbers(book, book.numbers[file])
    reading.page = book.page(file)
    measured = False  # figures of the last section stand in the notes
    for cell in nbformat.read(ROOT / f"{file}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            if file not in book.titles and (title := _title(cell.source)):
                book.titles[file] = title
            measured = measured or f"## {MEASURES}" in cell.source.splitlines()
            reading.walk(cell.source.splitlines())
        elif (figure := figure_of(cell)) and not measured:
            reading.note(figure.get("name"), f"Figure {reading.count('figure')}")
    for name in notes:
        source = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        reading.page = book.page(name)
        book.titles[name] = _title(source)
        reading.walk(source.splitlines())


class _Numbers:
    """The running numbers of one chapter, and the labels that get them."""

    def __init__(self, book: Book, chapter: str):
        self.book = book
        self.chapter = chapter
        self.counts = {"proof": 0, "exercise": 0, "equation": 0, "figure": 0}
        self.page = ""

    def count(self, kind: str) -> str:
        self.counts[kind] += 1
        counted = self.counts[kind]
        return f"{self.chapter}.{letter(counted) if kind == 'proof' else counted}"

    def note(self, label: str | None, words: str, anchor: str | None = None) -> None:
        if label:
            self.book.labels[label] = Label(words, f"{self.page}#{anchor or label}")

    def walk(self, lines: list[str]) -> None:
        waiting = None
        for piece in pieces(lines):
            if isinstance(piece, Block):
                self._block(piece)
            elif target := TARGET.match(piece):
                waiting = target["label"]
            elif equation := EQUATION.match(piece):
                self.note(equation["label"], f"({self.count('equation')})", f"equation-{equation['label']}")
            elif waiting and piece.startswith("#"):
                self.note(waiting, piece.lstrip("# "))
                waiting = None

    def _block(self, block: Block) -> None:
        kind = block.name.removeprefix("prf:")
        label = block.options.get("label")
        if kind in COUNTED:
            self.note(label, f"{kind.capitalize()} {self.count('proof')}")
        elif kind == "paper" and "again" not in block.options:
            self.book.statements[block.title] = Label(block.title, f"{self.page}#{label}")
            self.note(label, block.title)
        elif kind == "exercise":
            self.note(label, f"Exercise {self.count('exercise')}")
        elif kind == "figure":
            self.note(block.options.get("name"), f"Figure {self.count('figure')}")
        elif kind == "figure-of":
            self.note(block.options.get("name", block.title), f"Figure {self.count('figure')}")
        elif kind == "math" and label:
            self.note(label, f"({self.count('equation')})", f"equation-{label}")
        self.walk(block.body)


def figure_of(cell) -> dict | None:
    """A code cell's figure: name and caption."""
    figure = cell.metadata.get("mystnb", {}).get("figure")
    return figure if figure and figure.get("caption") else None


def _works(path: Path) -> dict[str, str]:
    """Key -> "Jelassi et al. (2022)", as the book cites in a sentence."""
    from pybtex.database import parse_file

    cited = {}
    for key, entry in parse_file(str(path)).entries.items():
        names = ["".join(person.last_names).strip("{}") for person in entry.persons["author"]]
        who = " and ".join(names) if len(names) <= 2 else f"{names[0]} et al."
        cited[key] = f"{who} ({entry.fields['year']})"
    return cited
