"""The mutants of a module: every change of one comparison, operator, constant or truth value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A module with one expression changed.

    Attributes
    ----------
    module, line, column, code, change
        Where, the text of that line, and "before -> after".
    lines
        The lines of its statement: a test that runs one of them reaches the mutant.
    at_import
        Whether it is evaluated when the module is imported, as defaults are.
    text
        The module's text with the change.
    """

    module: str
    line: int
    column: int
    code: str
    change: str
    lines: range
    at_import: bool
    text: str

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line}:{self.column}: {self.change}"

    @property
    def name(self) -> str:
        """With the line's text, since its number moves."""
        return f"{self.module}: {self.code}: {self.change}"


def mutants(module: str, text: str) -> list[Mutant]:
    """Every change of one expression, spliced into the text."""
    tree, found = ast.parse(text), []
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, lines, at_import in expressions(tree):
        before = ast.unparse(node)
        for change in changes(node):
            restore = change(node)
            after = ast.unparse(node)
            restore()
            if before == after:
                continue
            low, high = (starts[a - 1] + b for a, b in (
                (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
            ))  # fmt: skip
            raw = text.encode()
            new = after if isinstance(node, ast.Constant) else f"({after})"
            changed = (raw[:low] + new.encode() + raw[high:]).decode()
            ast.parse(changed)
            at = node.lineno, node.col_offset + 1
            code = text.splitlines()[node.lineno - 1].strip()
            found.append(Mutant(module, *at, code, f"{before} -> {after}", lines, at_import, changed))
    return found


def expressions(tree: ast.Module) -> Iterator[tuple[ast.expr, range, bool]]:
    """(Expression, the lines of its statement, whether it is evaluated at import), in the file's order.

    Without what no test measures: the messages of errors, annotations, which are never evaluated, and
    docstrings.
    """

    def walk(node: ast.AST, lines: range, at_import: bool):
        if isinstance(node, ast.Raise | ast.JoinedStr):
            return
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno
            lines = range(node.lineno, max(last or 0, node.lineno) + 1)
        if isinstance(node, ast.expr):
            yield node, lines, at_import
            if negative(node):  # -1 as one number: NumPy takes -2 for the same in many places
                return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            inside = at_import and not (name == "body" and isinstance(node, ast.FunctionDef | ast.Lambda))
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, lines, inside)

    yield from walk(tree, range(1, 2), True)


def negative(node: ast.AST) -> bool:
    """Whether this is a negative number, which Python reads as minus a positive one."""
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    )


def changes(node: ast.AST):
    """What can be changed at this node: functions that change it and give back what undoes it."""

    def put(name, value):
        def change(node):
            before = getattr(node, name)
            setattr(node, name, value)
            return lambda: setattr(node, name, before)

        return change

    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield put("ops", [COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield put("op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield put("op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif negative(node):
        yield put("operand", ast.Constant(node.operand.value - 1))  # type: ignore[attr-defined]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield put("op", ast.UAdd())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield put("value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield put("value", node.value + 1)
