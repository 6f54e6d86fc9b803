"""MyST as plain Markdown: what Jupyter, Colab and any other front end can show."""

from __future__ import annotations

import ast
import base64
import html
import posixpath
import re
from pathlib import Path

import nbformat
from book_labels import COUNTED, EQUATION, TARGET, Block, Book, figure_of, pieces
from notebooks import ROOT, followed

from patch_lab.kit.ledger import shipped

ROLE = re.compile(r"\{(?P<role>[a-z:]+)\}`(?P<text>[^`]+)`")
GLUED = re.compile(r"\{glue:text\}`(\w+)`")
#: Claims that a plain paragraph links to.
CLAIM = re.compile(r"book/claims/\w+\.html#([\w.-]+)\)")
#: Verdicts that no setting can change.
ALWAYS = ("proved here", "observation", "definition", "assumption")
FINDS = "**What we find.**"


class NotPlain(ValueError):
    """A directive or a role that this edition does not know: it would show as raw MyST."""


class Chapter:
    """One chapter on its way to plain Markdown."""

    def __init__(self, book: Book, file: str):
        self.book = book
        self.file = file
        self.notebook = nbformat.read(ROOT / f"{file}.ipynb", as_version=4)
        self.glued = _glued(self.notebook)

    def cells(self, images: bool = True) -> list:
        """The cells of the edition, the install cell first; ``images`` as in :func:`edition.make`."""
        cells = []
        follows = followed(self.notebook)
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown":
                cells += self._prose(self.plain(cell.source))
                continue
            cells.append(_code(cell, images))
            if figure := figure_of(cell):
                words = self.book.labels[figure["name"]].words
                caption = self.plain(f"**{words}.** {figure['caption'].strip()}")
                cells += self._prose(caption, follows[figure["name"]])
        install = next(
            k for k, cell in enumerate(cells) if cell.cell_type == "code" and "find_spec" in cell.source
        )
        cells.insert(0, cells.pop(install))
        return cells

    def plain(self, text: str) -> str:
        """MyST as plain Markdown; ``{glue:text}`` stays."""
        lines: list[str] = []
        for piece in pieces(text.splitlines()):
            if isinstance(piece, Block):
                lines += ["", *self._directive(piece).splitlines(), ""]
            elif TARGET.match(piece):
                continue
            elif equation := EQUATION.match(piece):
                number = self.book.labels[equation["label"]].words
                lines += [rf"\tag{{{number.strip('()')}}}", "$$"]
            else:
                lines.append(piece)
        return ROLE.sub(self._role, "\n".join(lines).strip())

    def _directive(self, block: Block) -> str:
        kind = block.name.removeprefix("prf:")
        body = "\n".join(block.body).strip()
        folded = "dropdown" in block.options.get("class", "")
        if kind in COUNTED or kind == "exercise":
            label = block.options.get("label")
            words = self.book.labels[label].words if label else kind.capitalize()
            text = f"**{words}{f' ({block.title})' if block.title else ''}.** {self.plain(body)}"
        elif kind == "paper":
            source = self.book.works["li2023" if block.title.endswith("(Li)") else "jelassi2022"]
            titled = f" ({block.options['title']})" if "title" in block.options else ""
            claims = "".join(self._claim(claim) for claim in block.options.get("claim", "").split())
            text = f"**{block.title}{titled}**, {source}. {self.plain(body)} {claims}".rstrip()
        elif kind == "road":
            needs = " and ".join(self._page(f"book/{name}", "") for name in block.title.split())
            text = f"*A side road, beyond the papers. You need {needs}. Skip this unless {self.plain(body)}*"
        elif kind == "proof":
            text = f"*Proof.* {self.plain(body)} ∎"
        elif kind == "solution":
            return _folded(f"Solution of {self.book.labels[block.title].words.lower()}", self.plain(body))
        elif kind == "dropdown":
            return _folded(block.title, self.plain(body))
        elif kind in ("note", "tip", "admonition", "important", "warning", "seealso"):
            title = block.title if kind == "admonition" else kind.capitalize()
            text = f"**{title}.** {self.plain(body)}"
            block.title = title
        elif kind in ("margin", "sidebar"):
            text = f"*Note.* {f'**{block.title}.** ' if block.title else ''}{self.plain(body)}"
        elif kind == "math":
            label = block.options.get("label")
            tag = f"\n\\tag{{{self.book.labels[label].words.strip('()')}}}" if label else ""
            return f"$$\n{body}{tag}\n$$"
        elif kind in ("explorable", "scene", "moving"):
            there = {
                "explorable": f"book/explore/{block.title}",
                "scene": "book/next_to",
                "moving": self.file,
            }
            page = self.book.page(there[kind])
            return f"[Move it yourself, in the online book]({page})."
        elif kind == "literalinclude":
            shown = (ROOT / Path(self.file).parent / block.title).read_text(encoding="utf-8")
            start, end = (block.options[key].strip('"') for key in ("start-after", "end-before"))
            shown = shown.partition(start)[2].partition(end)[0]
            return f"```{block.options['language']}\n{shown.strip()}\n```"
        elif kind in ("figure", "image"):
            words = self.book.labels[block.options["name"]].words if "name" in block.options else "Figure"
            return f"[{words}, in the online book]({self.book.page(self.file)}). {self.plain(body)}"
        else:
            raise NotPlain(f"{self.file}: the edition does not know the directive {block.name!r}")
        return _folded(block.title or kind.capitalize(), text) if folded else text

    def _role(self, match: re.Match) -> str:
        role = match["role"]
        text = match["text"]
        if role == "glue:text":
            return match[0]
        words, _, target = text.rpartition("<")
        target, words = (target.rstrip(">"), words.strip()) if words else (text, "")
        if role in ("prf:ref", "eq", "numref", "ref"):
            if target not in self.book.labels:
                raise NotPlain(f"{self.file}: nothing is labelled {target!r}")
            label = self.book.labels[target]
            return f"[{words or label.words}]({label.address})"
        if role == "doc":
            page = posixpath.normpath(posixpath.join("/", posixpath.dirname(self.file), target))[1:]
            return self._page(page, words)
        if role == "paper":
            if target not in self.book.statements:
                raise NotPlain(f"{self.file}: no box states {target!r}")
            return f"[{words or target}]({self.book.statements[target].address})"
        if role == "claim":
            return self._claim(target)
        if role.startswith("cite"):
            works = "; ".join(self.book.works[work] for work in target.split(","))
            return f"[{works}]({self.book.page('book/references')})"
        if role.startswith("py:"):
            name = target.removeprefix("~")
            return f"`{words or (name.rpartition('.')[2] if target.startswith('~') else name)}`"
        raise NotPlain(f"{self.file}: the edition does not know the role {role!r}")

    def _page(self, page: str, words: str) -> str:
        if page not in self.book.titles:
            raise NotPlain(f"{self.file}: there is no page {page!r}")
        return f"[{words or self.book.titles[page]}]({self.book.page(page)})"

    def _claim(self, claim: str) -> str:
        part = shipped()[claim].chapter.partition("/")[0]
        return f"([claim]({self.book.page(f'book/claims/{part}')}#{claim}))"

    def _prose(self, text: str, follows: set[str] | None = None) -> list:
        """Markdown cells, and display cells for what a run decides: computed numbers, claims, findings.

        A caption is one, with the parameters that its figure ``follows``.
        """
        cells: list = []
        live: list[str] = []
        kind: tuple[str, ...] | None = None  # the claims of the paragraphs in `live`; None: nothing moves

        def close() -> None:
            if live and kind is None:
                cells.append(nbformat.v4.new_markdown_cell("\n\n".join(live)))
            elif live and kind is not None:
                cells.append(self._display(live, kind, follows))

        for paragraph in _paragraphs(text):
            claims = tuple(dict.fromkeys(CLAIM.findall(paragraph)))
            decided = [claim for claim in claims if shipped()[claim].verdict not in ALWAYS]
            moves = follows is not None or decided or GLUED.search(paragraph) or paragraph.startswith(FINDS)
            now = claims if moves else None
            if now != kind:
                close()
                live = []
                kind = now
            live.append(paragraph)
        close()
        return cells

    def _display(self, paragraphs: list[str], claims: tuple[str, ...], follows: set[str] | None = None):
        text = "\n\n".join(paragraphs)
        names = dict.fromkeys(GLUED.findall(text))
        missing = [name for name in names if name not in self.glued]
        if missing:
            raise NotPlain(f"{self.file}: nothing is glued as {', '.join(missing)}")
        shown = GLUED.sub(lambda match: self.glued[match[1]], text)
        given = "".join(f", {claim!r}" for claim in claims)
        given += "".join(f", {name}={self.glued[name]!r}" for name in names)
        given += "" if follows is None else f", follows={sorted(follows)}"
        template = GLUED.sub(r"«\1»", text)
        source = (
            '# @title { display-mode: "form" }\nfrom patch_lab.kit.prose import show\n'
            f'show(r"""{template}"""{given})'
        )
        data = {"text/markdown": shown, "text/plain": "<IPython.core.display.Markdown object>"}
        cell = nbformat.v4.new_code_cell(source, outputs=[nbformat.v4.new_output("display_data", data)])
        cell.metadata = nbformat.from_dict(_HIDDEN)
        return cell


_HIDDEN = {"jupyter": {"source_hidden": True}, "cellView": "form"}


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _paragraphs(text: str) -> list[str]:
    """Blocks between blank lines; a folded block, a display equation and a code block stay whole."""
    blocks: list[list[str]] = [[]]
    depth = 0
    math = False
    code = False
    for line in text.splitlines():
        depth += line.count("<details>") - line.count("</details>")
        math ^= line.count("$$") % 2 == 1
        code ^= line.startswith("```")
        if line.strip() or depth or math or code:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return ["\n".join(block) for block in blocks if block]


def _glued(notebook) -> dict[str, str]:
    """What the chapter's outputs hold under each glued name."""
    values = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                values[name] = ast.literal_eval(output["data"]["application/papermill.record/text/plain"])
    return values


def _code(cell, images: bool):
    """A code cell with its outputs; plumbing keeps its source folded."""
    outputs = [_image_of(cell, output) for output in cell.outputs] if images else cell.outputs
    new = nbformat.v4.new_code_cell(cell.source, outputs=outputs)
    tags = cell.metadata.get("tags", [])
    metadata = {"tags": [tag for tag in tags if tag == "parameters"]} if "parameters" in tags else {}
    if {"remove-cell", "remove-input", "hide-input", "hide-cell"} & set(tags):
        metadata |= _HIDDEN
    new.metadata = nbformat.from_dict(metadata)
    return new


def _image_of(cell, output):
    """An output whose drawing is an image: JupyterLab shows no SVG of a notebook that it did not run."""
    drawing = output.get("data", {}).get("image/svg+xml")
    if drawing is None:
        return output
    alt = html.escape(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))
    coded = base64.b64encode(drawing.encode("utf-8")).decode("ascii")
    image = f'<img src="data:image/svg+xml;base64,{coded}" alt="{alt}">'
    data = {"text/html": image, "text/plain": output.data["text/plain"]}
    return nbformat.v4.new_output(output.output_type, data, metadata=output.metadata)
