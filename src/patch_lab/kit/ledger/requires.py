"""What must hold of the evidence for a verdict to stand: small expressions such as ``lost == 0``.

An expression may hold keys of the evidence, the ends of their intervals (``error.high``), parameters of
the chapter, numbers, ``+ - * /``, comparisons, ``and or not``, and ``abs``, ``min``, ``max``. Anything
else is refused before it is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from numbers import Real

FUNCTIONS = {"abs": abs, "min": min, "max": max}
_ALLOWED = (
    *(ast.Expression, ast.Name, ast.Load, ast.Constant, ast.Attribute, ast.Call),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div),
)
_LONGEST = 200  # deeper nesting than fits here would exhaust Python's stack


class _Measured(float):
    """A number of the evidence, with the ends of its interval."""

    low: float | None
    high: float | None


def parse(text: str) -> ast.Expression:
    """The expression; ValueError if it holds what an expression may not."""
    if len(text) > _LONGEST:
        raise ValueError(f"the requirement {text[:40]!r}... must be at most {_LONGEST} characters long")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last three: null bytes, deep nesting
        raise ValueError(f"the requirement {text!r} is no expression") from None
    for node in ast.walk(tree):
        allowed = isinstance(node, _ALLOWED)
        if isinstance(node, ast.Constant):
            allowed = isinstance(node.value, Real)
        elif isinstance(node, ast.Attribute):
            allowed = isinstance(node.value, ast.Name) and node.attr in ("low", "high")
        elif isinstance(node, ast.Call):
            allowed = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords
        if not allowed:
            raise ValueError(
                f"the requirement {text!r} may not hold {ast.unparse(node) or type(node).__name__!r}"
            )
    return tree


def holds(text: str, evidence: Mapping, parameters: Mapping) -> bool:
    """Whether the requirement is true of these numbers; ValueError if it names what is not among them."""
    values: dict = {key: value for key, value in parameters.items() if isinstance(value, Real)}
    for key, number in evidence.items():
        values[key] = _Measured(number.value)
        values[key].low, values[key].high = number.low, number.high
    tree = parse(text)
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    missing = sorted(named - values.keys() - FUNCTIONS.keys())
    if missing:
        raise ValueError(f"the requirement {text!r} names {missing[0]!r}; there are {', '.join(values)}")
    try:  # safe: parse let nothing through that could do more than compute
        return bool(eval(compile(tree, text, "eval"), {"__builtins__": {}, **FUNCTIONS}, values))
    except (TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"the requirement {text!r} cannot be evaluated: {error}") from None
