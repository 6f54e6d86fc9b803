"""Write the library's reference from its docstrings: the directives ``api-front-door`` and ``api-rooms``.

The first documents every name of ``patch_association.__all__`` with autodoc; the second lists the public
names of every module with the first sentence of each. Nothing is kept by hand, so nothing can be forgotten.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import patch_association as pa


def modules() -> list[str]:
    """Every public module of the package, below its top."""
    names = (module.name for module in pkgutil.walk_packages(pa.__path__, "patch_association."))
    return [name for name in names if not any(part.startswith("_") for part in name.split(".")[1:])]


def public(module) -> list[tuple[str, str]]:
    """(name, first sentence) of the functions and classes that a module defines."""
    names = []
    for name, value in vars(module).items():
        is_own = getattr(value, "__module__", None) == module.__name__
        if is_own and not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)):
            names.append((name, sentence(value)))
    return names


def sentence(value) -> str:
    """The first paragraph of a docstring, on one line and without its markup."""
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?([^`]+)`", r"\1", text)
    return text.replace("``", "").replace("\\|", "|")


class FrontDoor(SphinxDirective):
    """Autodoc for each name of the front door."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for name in pa.__all__:
            value = getattr(pa, name)
            self.env.note_dependency(inspect.getfile(inspect.unwrap(value)))
            kind, options = ("class", ["   :members:"]) if inspect.isclass(value) else ("function", [])
            lines += [f".. auto{kind}:: patch_association.{name}", *options, ""]
        return [nodes.container("", *self.parse_text_to_nodes("\n".join(lines)), classes=["pa-api"])]


class Rooms(SphinxDirective):
    """A list for each module: its public names and their first sentences, as plain text."""

    def run(self) -> list[nodes.Node]:
        sections = []
        for name in modules():
            module = import_module(name)
            self.env.note_dependency(inspect.getfile(module))
            items = [
                nodes.definition_list_item(
                    "",
                    nodes.term("", "", nodes.literal("", item)),
                    nodes.definition("", nodes.paragraph("", docstring)),
                )
                for item, docstring in public(module)
            ]
            head = nodes.paragraph("", "", nodes.strong("", name.removeprefix("patch_association.")))
            head += nodes.Text(f": {sentence(module)}")
            sections += [head, *([nodes.definition_list("", *items)] if items else [])]
        return [nodes.container("", *sections, classes=["pa-api"])]


def escape_bars(app, what, name, value, options, lines: list[str]) -> None:
    r"""Let the bars of \|F\| be bars: in reStructuredText they would name a substitution."""
    for number, line in enumerate(lines):
        parts = line.split("``")  # what stands between pairs of these is literal
        parts[::2] = [re.sub(r"(?<!\\)\|", r"\\|", part) for part in parts[::2]]
        lines[number] = "``".join(parts)


def setup(app) -> dict:
    """Register the directives."""
    app.add_directive("api-front-door", FrontDoor)
    app.add_directive("api-rooms", Rooms)
    app.connect("autodoc-process-docstring", escape_bars)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
