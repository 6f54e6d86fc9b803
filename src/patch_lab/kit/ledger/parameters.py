"""What a parameter of a chapter must be: refused in the chapter's first cell otherwise.

Names that several parts use mean one thing in the whole book (``KINDS``). A part's own ``parameters.py`` has
``KINDS``, the names that its chapters alone use; ``ONLY``, where a chapter means something else; and
``BETWEEN``, what must hold between a chapter's parameters. Each entry names values that are nonsense:
``tools/play.py`` shows that they are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib import import_module
from numbers import Integral, Real
from typing import Any, NamedTuple

from patch_association.checks import brief

#: The sizes in which every chapter runs: a minute on two cores, and as large as makes sense.
PRESETS = ("reader", "full")


class Kind(NamedTuple):
    """What a parameter must be: in words, as a test, and values that it is not."""

    words: str
    holds: Callable[[Any], bool]
    nonsense: tuple = ()


class Relation(NamedTuple):
    """What must hold between parameters: in words, as a test, and the parameters.

    Each with values that break it while all others stand at their defaults.
    """

    words: str
    holds: Callable[[Mapping[str, Any]], bool]
    nonsense: Mapping[str, tuple]


def is_number(x) -> bool:
    """A finite real number; True is none."""
    return isinstance(x, Real) and not isinstance(x, bool) and math.isfinite(x)


def is_integer(x) -> bool:
    """An integer; True is none."""
    return isinstance(x, Integral) and not isinstance(x, bool)


def is_among(x, values: tuple) -> bool:
    """Membership by type, too: True is not 1."""
    return any(type(x) is type(value) and x == value for value in values)


def number(words: str, holds: Callable[[Any], bool], *nonsense) -> Kind:
    """A finite number with a property."""
    return Kind(words, lambda x: is_number(x) and holds(x), (*nonsense, float("nan"), "some"))


def integer(words: str, holds: Callable[[Any], bool], *nonsense) -> Kind:
    """An integer with a property."""
    return Kind(words, lambda x: is_integer(x) and holds(x), (*nonsense, 3.5, "some"))


def integer_from(least: int, most: int | None = None) -> Kind:
    """An integer in a range."""
    if most is None:
        return integer(f"a whole number of at least {least}", lambda x: x >= least, least - 1)
    words = f"a whole number from {least} to {most}"
    return integer(words, lambda x: least <= x <= most, least - 1, most + 1)


def multiple(of: int, least: int, most: float = math.inf) -> Kind:
    """A multiple of an integer in a range."""
    words = f"a multiple of {of}, at least {least}"
    nonsense = [least - of, least + 1]
    if most < math.inf:
        words += f" and at most {most}"
        nonsense.append(int(most) + of)
    return integer(words, lambda x: least <= x <= most and x % of == 0, *nonsense)


def one_of(*words) -> Kind:
    """One of some values."""
    return Kind(" or ".join(map(repr, words)), lambda x: is_among(x, words), ("neither", 7))


def tuple_of(words: str, entries: tuple[Kind, ...], holds: Callable[..., bool] | None, *nonsense) -> Kind:
    """A tuple with an entry of each kind, and a property, ``holds(*entries)``."""

    def fits(x) -> bool:
        if not isinstance(x, (tuple, list)) or len(x) != len(entries):
            return False
        if not all(entry.holds(value) for entry, value in zip(entries, x)):
            return False
        return holds is None or holds(*x)

    return Kind(words, fits, (7, *nonsense))


def positive_numbers(words: str, holds: Callable[[list], bool], *nonsense) -> Kind:
    """Positive numbers, however many, with a property of their list."""

    def fits(x) -> bool:
        return isinstance(x, (tuple, list)) and all(map(POSITIVE.holds, x)) and holds(list(x))

    return Kind(words, fits, (7.0, (), (1.0, -1.0), *nonsense))


def fraction(words: str, holds: Callable[[Fraction], bool], *nonsense) -> Kind:
    """An integer or the text of a fraction: ball arithmetic begins from exact numbers."""

    def fits(x) -> bool:
        try:
            return (is_integer(x) or isinstance(x, str)) and holds(Fraction(x))
        except (ValueError, ZeroDivisionError):
            return False

    return Kind(f"{words}, as text such as '3/10'", fits, (0.3, "1/0", "some", *nonsense))


POSITIVE = number("a number above 0", lambda x: x > 0, 0.0, -1.0)
FROM_0 = number("a number of at least 0", lambda x: x >= 0, -1.0)
FINITE = number("a finite number", lambda x: True)
CHANCE = number("a chance, a number from 0 to 1", lambda x: 0 <= x <= 1, 2.0, -0.1)
SOME_CHANCE = number("a chance, a number above 0 and at most 1", lambda x: 0 < x <= 1, 2.0, 0.0)
INSIDE = number("a number between 0 and 1", lambda x: 0 < x < 1, 0.0, 1.0)
COUNT = integer_from(1)
#: D, C and q of a law.
LAW = tuple_of(
    "D, C and q: two sets or more of C patches, and a chance",
    (COUNT, COUNT, CHANCE), lambda D, C, q: D % C == 0 and D >= 2 * C,
    (17, 4, 0.25), (64, 4, 2.0), (64, 4),
)  # fmt: skip
#: Patches of an image and of its sets, that is four sides.
IMAGE = tuple_of(
    "rows and columns of patches and of a set, whole numbers of which the latter divide the former",
    (COUNT,) * 4, lambda H, W, h, w: H % h == W % w == 0 and (h, w) != (H, W),
    (6, 6, 5, 5), (6, 6), (6, 6, 2, 0),
)  # fmt: skip


def sizes(sets: int, patches: int = 1) -> Kind:
    """D and C, of so many sets or more, of so many patches or more."""
    return tuple_of(
        f"D and C, whole numbers: {sets} sets or more of C patches, C at least {patches}",
        (COUNT, integer_from(patches)), lambda D, C: D % C == 0 and D >= sets * C,
        (16, 5), (4 * (sets - 1), 4), (16.0, 4),
    )  # fmt: skip


#: What a name means that chapters of several parts use.
KINDS = {
    "PRESET": one_of(*PRESETS),
    "seed": integer_from(0),
    "seeds": COUNT,
    "steps": COUNT,
    "q": CHANCE,
    "large": sizes(2),
    "num_patches": COUNT,
    "set_size": COUNT,
    "num_sets": integer_from(2),
    "heads": integer("a whole number that divides 64", lambda x: x >= 1 and 64 % x == 0, 0, 3),
    "degree": integer("an odd number of at least 3", lambda x: x >= 3 and x % 2, 4, 1),
    "linear": FROM_0,
    "diagonal": FINITE,
    "rate": POSITIVE,
}

#: What must hold between parameters in chapters of several parts.
DIVIDES = Relation(
    "set_size divides num_patches",
    lambda x: x["num_patches"] % x["set_size"] == 0, {"num_patches": (17,), "set_size": (5,)},
)  # fmt: skip


def _table_of(chapter: str, table: str) -> Mapping:
    """A table of the chapter's part; empty where the part has none."""
    part = chapter.partition("/")[0]
    return getattr(import_module(f"patch_lab.{part}.parameters"), table, {})


def kind_of(chapter: str, parameter: str) -> Kind:
    """What a parameter of a chapter, "part/chapter", must be.

    Raises
    ------
    ValueError
        If nobody has said it.
    """
    part, _, name = chapter.partition("/")
    kinds = {**KINDS, **_table_of(chapter, "KINDS"), **_table_of(chapter, "ONLY").get(name, {})}
    if parameter not in kinds:
        raise ValueError(f"{parameter} of {chapter} must be declared in patch_lab.{part}.parameters")
    return kinds[parameter]


def _relations(chapter: str) -> tuple[Relation, ...]:
    return _table_of(chapter, "BETWEEN").get(chapter.partition("/")[2], ())


def refuse_nonsense(chapter: str, usual: Mapping[str, Any], /, **parameters) -> None:
    """Refuse what a parameter of a chapter can never be, under its own name.

    What does not fit together is refused under the names that are not as ``usual``: a reader changed these.

    Raises
    ------
    ValueError
        If a parameter is not of its kind, does not fit the others, or is not declared.
    """
    for name, value in parameters.items():
        kind = kind_of(chapter, name)
        if not kind.holds(value):
            raise ValueError(f"{name} must be {kind.words}, got {brief(value)}")
    for words, holds, names in _relations(chapter):
        if names.keys() <= parameters.keys() and not holds(parameters):
            changed = [name for name in names if parameters[name] != _like(parameters[name], usual.get(name))]
            name = (changed or list(names))[0]  # the first that is not as it stands in the chapter
            beside = ", ".join(f"{other} = {brief(parameters[other])}" for other in names if other != name)
            raise ValueError(
                f"{name} must be such that {words}, got {brief(parameters[name])} beside {beside}"
            )


def _like(value, usual):
    """A recorded tuple is a list."""
    return type(value)(usual) if isinstance(usual, list) and isinstance(value, (tuple, list)) else usual


def nonsense(chapter: str, parameter: str) -> tuple:
    """Values that a parameter of a chapter can never have while the others stand at their defaults."""
    of_relations = (relation.nonsense.get(parameter, ()) for relation in _relations(chapter))
    return (*kind_of(chapter, parameter).nonsense, *(value for values in of_relations for value in values))
