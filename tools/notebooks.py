"""The pair that makes a chapter: ``book/<part>/<chapter>.md`` and its ``.ipynb``.

The ``.md`` decides what the notebook says; the ``.ipynb`` adds outputs and nothing else. This module
knows how to go from one to the other, how to tell whether they agree, and which parameters a figure follows.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from jupytext.config import load_jupytext_configuration_file

from patch_lab.kit.files import write_atomically
from patch_lab.kit.ledger import shipped
from patch_lab.kit.ledger.table import escaped
from patch_lab.kit.ledger.verdict import Card

ROOT = Path(__file__).resolve().parent.parent

# The last section of a chapter that has notes: run and compared, and not on its page (book/_ext/notes.py).
MEASURES = "What the notes and the verdicts measure"

# What a notebook says about itself. The interpreter's version is left out: it would change with
# every machine that executes the chapter. The lexer colors the code on the page. `jupytext --sync`
# keeps this, and drops what jupytext.toml says already: which files are pairs.
NOTEBOOK_METADATA = {
    "jupytext": {"default_lexer": "ipython3"},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


def chapters(root: Path = ROOT) -> list[Path]:
    """Every chapter's ``.md``, sorted; a page without code has no header that names a kernel."""
    pages = sorted(path for path in root.glob("book/[!_.]*/*.md"))
    return [path for path in pages if path.read_text(encoding="utf-8").startswith("---\n")]


def name_of(path: Path) -> str:
    """The name of a chapter, ``part/chapter``."""
    return f"{path.parent.name}/{path.stem}"


def notebook_from_text(path: Path) -> nbformat.NotebookNode:
    """The notebook that a chapter's ``.md`` describes, without outputs.

    Cell ids follow from the cells' own content, so that executing again changes no line of the file, and so
    that a cell whose id does not follow was edited in the notebook (``edits.py``).
    """
    notebook = jupytext.read(path, fmt="md:myst")
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    notebook.nbformat = 4
    notebook.nbformat_minor = 5
    for cell in notebook.cells:
        if caption := cell.metadata.get("mystnb", {}).get("figure", {}).get("caption"):
            cell.metadata.mystnb.figure.caption = caption.strip()  # `caption: |` ends in an empty line
    for cell, cell_id in zip(notebook.cells, own_ids(notebook.cells)):
        cell.id = cell_id
    return notebook


def own_ids(cells: list) -> list[str]:
    """What the ids of cells are, by their kind, their source, and what is said of a figure."""
    seen: Counter[str] = Counter()
    ids = []
    for cell in cells:
        about = cell.metadata.get("mystnb")
        content = f"{cell.cell_type}\n{cell.source}" + (
            f"\n{json.dumps(about, sort_keys=True)}" if about else ""
        )
        digest = hashlib.sha1(f"{content}\n{seen[content]}".encode(), usedforsecurity=False)
        ids.append(digest.hexdigest()[:12])
        seen[content] += 1
    return ids


def text_from_notebook(notebook: nbformat.NotebookNode) -> str:
    """The ``.md`` of a notebook as ``jupytext --sync`` writes it: captions wrapped, a cell's keys sorted."""
    stored = nbformat.reads(nbformat.writes(notebook), as_version=4)
    config = load_jupytext_configuration_file(str(ROOT / "jupytext.toml"))
    return jupytext.writes(stored, fmt="md:myst", config=config)


def differences(text: Path) -> list[str]:
    """A diff of a chapter's pair to what its ``.md`` says, outputs left out; empty when in sync."""
    file = text.with_suffix(".ipynb")
    if not file.exists():
        return [f"{name_of(text)}: the notebook {file.name} is missing"]
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    described = notebook_from_text(text)
    pairs = (
        (nbformat.writes(notebook), nbformat.writes(described), str(file.relative_to(file.parents[2]))),
        (text.read_text(encoding="utf-8"), text_from_notebook(described), f"{name_of(text)}.md"),
    )
    wanted = f"{name_of(text)}, as it should be"
    lines = []
    for old, new, name in pairs:
        lines += difflib.unified_diff(old.splitlines(), new.splitlines(), name, wanted, n=0, lineterm="")
    return lines


def write_pair(notebook: nbformat.NotebookNode, path: Path) -> bool:
    """Write a valid notebook and its ``.md``, each in one step; whether either changed."""
    nbformat.validate(notebook)
    stored = nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"
    files = {path.with_suffix(".ipynb"): stored, path.with_suffix(".md"): text_from_notebook(notebook)}
    changed = [file for file, text in files.items() if not file.exists() or file.read_text("utf-8") != text]
    for file in changed:
        write_atomically(file, files[file])
    return bool(changed)


def write_notebook(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a valid notebook in one step: an interrupt leaves the old file whole."""
    nbformat.validate(notebook)
    write_atomically(path, nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n")


# What a figure follows


def followed(notebook) -> dict[str, set[str]]:
    """The parameters that the data of each figure's cell may depend on, by the figure's name.

    Names are followed from statement to statement, by reading alone; rather too many parameters than too few.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    flow = _Dependence()
    parameters = {}
    for _ in range(2):  # a function reads what is assigned below it, so a second reading knows more
        for cell in code:
            tree = ast.parse(re.sub(r"^(\s*)%", r"\1pass  # %", cell.source, flags=re.MULTILINE))
            flow.seen = set()
            if "parameters" in cell.metadata.get("tags", ()):
                flow.of |= {name: {name} for name in _stored(tree)}
            else:
                flow.read(tree.body, set(), True)
            if figure := cell.metadata.get("mystnb", {}).get("figure"):
                parameters[figure["name"]] = flow.seen
    return parameters


class _Dependence:
    """Which parameters each name may depend on."""

    def __init__(self) -> None:
        self.of: dict[str, set[str]] = {}
        self.modules: set[str] = set()
        self.streams: set[str] = set()  # random generators: what one draws depends on what it drew before
        self.seen: set[str] = set()  # what the statements of the cell depend on

    def behind(self, node: ast.AST) -> set[str]:
        return set().union(*(self.of.get(name, ()) for name in _free(node)))

    def read(self, statements: list, within: set[str], sure: bool) -> None:
        """Statements of which ``within`` decides whether they run; if ``sure``, once."""
        for statement in statements:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self.modules.update(
                    (alias.asname or alias.name).partition(".")[0] for alias in statement.names
                )
            elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self.of[statement.name] = self.behind(statement) | within
            elif hasattr(statement, "body"):
                self.read_block(statement, within)
            else:
                self.read_line(statement, self.behind(statement) | within, sure)

    def read_block(self, statement, within: set[str]) -> None:
        heads = [getattr(statement, key) for key in ("iter", "test") if hasattr(statement, key)]
        heads += [item.context_expr for item in getattr(statement, "items", ())]
        within = within.union(*map(self.behind, heads))
        self.seen |= within
        targets = [getattr(statement, "target", None)]
        targets += [item.optional_vars for item in getattr(statement, "items", ())]
        for target in targets:
            self.give(target, within, True)
        for _ in range(2 if isinstance(statement, (ast.For, ast.While)) else 1):
            self.read(
                [*statement.body, *getattr(statement, "orelse", ()), *getattr(statement, "finalbody", ())],
                within,
                False,
            )
            for handler in getattr(statement, "handlers", ()):
                self.read(handler.body, within, False)

    def read_line(self, line, names: set[str], sure: bool) -> None:
        self.seen |= names
        for call in (inner for inner in ast.walk(line) if isinstance(inner, ast.Call)):
            touched = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            touched += call.args if isinstance(line, ast.Expr) else []
            for name in map(_root, touched):
                if name not in self.modules and (isinstance(line, ast.Expr) or name in self.streams):
                    self.of[name] = self.of.get(name, set()) | names
        for target in getattr(line, "targets", [getattr(line, "target", None)]):
            self.give(target, names, sure and isinstance(line, (ast.Assign, ast.AnnAssign)))
            if re.search(r"rng\(|Generator\(", ast.unparse(line)):
                self.streams.update(_stored(line))

    def give(self, target, names: set[str], sure: bool) -> None:
        """Let what is assigned to depend on ``found``; where it may keep its value, on what it did, too."""
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self.give(element, names, sure)
        elif target is not None:
            old = set() if sure and isinstance(target, ast.Name) else self.of.get(_root(target), set())
            self.of[_root(target)] = names | old | self.behind(target)


def _root(node) -> str:
    """The name whose value ``a[i].b(c)`` begins from; empty if it begins from none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _stored(*nodes: ast.AST) -> set[str]:
    walked = (inner for node in nodes for inner in ast.walk(node))
    return {inner.id for inner in walked if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


def _free(node: ast.AST) -> set[str]:
    """The names that a piece of code takes from outside."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    inside = set().union(*map(_free, ast.iter_child_nodes(node)))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        targets = _stored(*(inner.target for inner in node.generators))
        return inside - targets | _free(node.generators[0].iter)
    if isinstance(node, (ast.Lambda, ast.FunctionDef)):
        targets = {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
        return inside - targets - (_stored(node) if isinstance(node, ast.FunctionDef) else set()) | _free(
            node.args
        )
    return inside


def cards_in(cell) -> list[tuple]:
    """The outputs of a cell that show a card of a claim, each with the card as it is today."""
    cards = [Card(shipped()[name]) for name in re.findall(r'\bcheck\(\s*"([^"]+)"', cell.source)]
    outputs = []
    for output in cell.get("outputs", ()):
        shown = output.get("data", {}).get("text/markdown", "")
        if "pa-verdict" in shown:
            heads = {f"{escaped(card.claim.where)}, {escaped(card.claim.author)}\n": card for card in cards}
            outputs.append((output, next((heads[head] for head in heads if head in shown), cards[-1])))
    return outputs
