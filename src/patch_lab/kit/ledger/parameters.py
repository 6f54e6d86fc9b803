"""What each parameter of a chapter means, and what it can never be: refused in the chapter's first cell.

A name means one thing in the whole book (``KINDS``), unless a chapter makes an exception (``ONLY``); what
must hold between parameters stands in ``BETWEEN``. Each entry names values that are nonsense:
``tools/play.py`` shows that they are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

from patch_association.checks import brief

#: The sizes in which every chapter runs: a minute on two cores, and as large as makes sense.
PRESETS = ("reader", "full")


class Kind(NamedTuple):
    """What a parameter must be: in words, as a test, and values that it is not."""

    said: str
    holds: Callable[[Any], bool]
    nonsense: tuple = ()


class Relation(NamedTuple):
    """What must hold between parameters: in words, as a test, and the parameters.

    Each with values that break it while all others stand at their defaults.
    """

    said: str
    holds: Callable[[Mapping[str, Any]], bool]
    nonsense: Mapping[str, tuple]


def _real(x) -> bool:
    return isinstance(x, Real) and not isinstance(x, bool) and math.isfinite(x)


def _whole(x) -> bool:
    return isinstance(x, Integral) and not isinstance(x, bool)


def _number(said: str, holds: Callable[[Any], bool], *nonsense) -> Kind:
    return Kind(said, lambda x: _real(x) and holds(x), (*nonsense, float("nan"), "some"))


def _integer(said: str, holds: Callable[[Any], bool], *nonsense) -> Kind:
    return Kind(said, lambda x: _whole(x) and holds(x), (*nonsense, 3.5, "some"))


def _whole_from(least: int, most: int | None = None) -> Kind:
    if most is None:
        return _integer(f"a whole number of at least {least}", lambda x: x >= least, least - 1)
    said = f"a whole number from {least} to {most}"
    return _integer(said, lambda x: least <= x <= most, least - 1, most + 1)


def _multiple(of: int, least: int, most: float = math.inf) -> Kind:
    above = "" if most == math.inf else f" and at most {most}"
    return _integer(
        f"a multiple of {of}, at least {least}{above}", lambda x: least <= x <= most and x % of == 0,
        least - of, least + 1, *(() if most == math.inf else (most + of,)),
    )  # fmt: skip


def _one_of(*words) -> Kind:
    return Kind(" or ".join(map(repr, words)), lambda x: _among(x, words), ("neither", 7))


def _among(x, values: tuple) -> bool:
    """Membership by type, too: True is not 1."""
    return any(type(x) is type(one) and x == one for one in values)


def _tuple(said: str, entries: tuple[Kind, ...], holds: Callable[..., bool], *nonsense) -> Kind:
    def fits(x) -> bool:
        return (
            isinstance(x, (tuple, list))
            and len(x) == len(entries)
            and all(entry.holds(one) for entry, one in zip(entries, x))
            and holds(*x)
        )

    return Kind(said, fits, (7, *nonsense))


def _numbers(said: str, holds: Callable[[list], bool], *nonsense) -> Kind:
    """Positive numbers, however many."""
    return Kind(
        said,
        lambda x: isinstance(x, (tuple, list)) and all(POSITIVE.holds(one) for one in x) and holds(list(x)),
        (7.0, (), (1.0, -1.0), *nonsense),
    )


def _exact(said: str, holds: Callable[[Fraction], bool], *nonsense) -> Kind:
    """An integer or the text of a fraction: ball arithmetic begins from exact numbers."""

    def fits(x) -> bool:
        try:
            return (_whole(x) or isinstance(x, str)) and holds(Fraction(x))
        except (ValueError, ZeroDivisionError):
            return False

    return Kind(f"{said}, as text such as '3/10'", fits, (0.3, "1/0", "some", *nonsense))


POSITIVE = _number("a number above 0", lambda x: x > 0, 0.0, -1.0)
FROM_0 = _number("a number of at least 0", lambda x: x >= 0, -1.0)
FINITE = _number("a finite number", lambda x: True)
CHANCE = _number("a chance, a number from 0 to 1", lambda x: 0 <= x <= 1, 2.0, -0.1)
SOME_CHANCE = _number("a chance, a number above 0 and at most 1", lambda x: 0 < x <= 1, 2.0, 0.0)
INSIDE = _number("a number between 0 and 1", lambda x: 0 < x < 1, 0.0, 1.0)
COUNT = _whole_from(1)
SIDES = _tuple(
    "two whole numbers of at least 1, rows and columns", (COUNT, COUNT), lambda *x: True, (0, 4), (4,)
)
#: A set in which each patch has a companion.
COMPANIONS = _tuple(
    "rows and columns of a set of two patches or more", (COUNT, COUNT), lambda h, w: h * w > 1,
    (1, 1), (0, 4), (4,),
)  # fmt: skip


def _sizes(sets: int, patches: int = 1) -> Kind:
    return _tuple(
        f"D and C, whole numbers: {sets} sets or more of C patches, C at least {patches}",
        (COUNT, _whole_from(patches)), lambda D, C: D % C == 0 and D >= sets * C,
        (16, 5), (4 * (sets - 1), 4), (16.0, 4),
    )  # fmt: skip


#: D, C and q of a law, and L, C and q.
LAW = _tuple(
    "D, C and q: two sets or more of C patches, and a chance",
    (COUNT, COUNT, CHANCE), lambda D, C, q: D % C == 0 and D >= 2 * C,
    (17, 4, 0.25), (64, 4, 2.0), (64, 4),
)  # fmt: skip
SETS = _tuple(
    "L, C and q: two or more sets, their patches, a chance", (_whole_from(2), COUNT, CHANCE),
    lambda *x: True, (1, 4, 0.3), (4, 2.5, 0.3), (4, 2, 2.0), (4, 2),
)  # fmt: skip
#: Patches of an image and of its sets, that is four sides.
IMAGE = _tuple(
    "rows and columns of patches and of a set, whole numbers of which the latter divide the former",
    (COUNT,) * 4, lambda H, W, h, w: H % h == W % w == 0 and (h, w) != (H, W),
    (6, 6, 5, 5), (6, 6), (6, 6, 2, 0),
)  # fmt: skip
#: Heads of a ViT of width 64.
HEADS = _integer("a whole number that divides 64", lambda x: x >= 1 and 64 % x == 0, 0, 3)

#: What a name means.
KINDS = {
    "PRESET": _one_of(*PRESETS), "seed": _whole_from(0), "shuffle_seed": _whole_from(0), "seeds": COUNT,
    "q": CHANCE, "hard": CHANCE, "edge": CHANCE, "grid_q": CHANCE, "moved": CHANCE, "relevant": CHANCE,
    "confusion": CHANCE, "rare": INSIDE, "target": INSIDE, "share": INSIDE, "threshold": INSIDE,
    "chi": POSITIVE, "D": _multiple(4, 8), "N": COUNT, "size": _sizes(2), "small": _sizes(2),
    "large": _sizes(2),
    "num_patches": COUNT, "set_size": COUNT, "num_sets": _whole_from(2), "num_patterns": _whole_from(3),
    "num_tokens": COUNT, "num_neurons": COUNT, "tokens": COUNT, "dim": COUNT, "groups": COUNT, "keys": COUNT,
    "samples": COUNT, "pretraining": COUNT, "first": COUNT, "steps": COUNT, "layers": COUNT, "depth": COUNT,
    "heads": HEADS, "sides": SIDES, "block": SIDES, "large_sides": SIDES, "side": _multiple(2, 4),
    "image": IMAGE,
    "degree": _integer("an odd number of at least 3", lambda x: x >= 3 and x % 2, 4, 1),
    "linear": FROM_0, "diagonal": FINITE, "diagonals": _numbers("one or more numbers above 0", bool),
    "alpha": POSITIVE, "rate": POSITIVE, "score_rate": POSITIVE, "learning_rate": POSITIVE, "omega": POSITIVE,
    "init_std": FROM_0, "noise": POSITIVE, "strength": POSITIVE, "margin": FROM_0, "duration": POSITIVE,
    "horizon": POSITIVE, "late": _number("a number above 10", lambda x: x > 10, 10.0), "teraflops": POSITIVE,
    "ratios": _numbers(
        "two or more falling numbers above 0", lambda x: len(x) > 1 and x == sorted(set(x), reverse=True),
        (16,), (16, 64), (16, 16),
    ),
    "features": _number("a number above 0 and at most 12", lambda x: 0 < x <= 12, 0.0, 13.0),
    "crowd": _tuple(
        "C and q: a whole number and a chance", (COUNT, CHANCE), lambda *x: True, (0, 0.1), (4, 2.0)
    ),
    "corner": _tuple(
        "D, C and N, whole numbers: two sets or more of C patches, and inputs", (COUNT,) * 3,
        lambda D, C, N: D % C == 0 and D >= 2 * C, (17, 4, 4), (16, 4, 0), (16, 4),
    ),
    "wide": LAW, "read": SETS, "tiny": SETS,
    "grid_sets": _multiple(2, 2, 12),  # |p|^2 grows 4.5 times a set: doubles have no more digits
    "vit": _one_of(True, False), "scores": _one_of("free", "gram", "positional", "uniform", "vanilla"),
    "kind": _one_of("vanilla", "positional"), "positions": _one_of("paper", "input", "layers"),
    "behind": Kind(
        "'plants', 'noise', 'clean' or a folder of pictures",
        lambda x: isinstance(x, str) and (x in ("plants", "noise", "clean") or Path(x).is_dir()),
        ("no such folder", 7),
    ),
    "tile": Kind(
        "4, 8 or 16, whole patches and more than one", lambda x: _among(x, (4, 8, 16)), (5, 32, "some")
    ),
    "patch": _whole_from(1, 64), "nearest": _whole_from(1, 195), "kept": _whole_from(1, 64),
    "pictures": _whole_from(2),
}  # fmt: skip

#: Where a name means something else in a chapter.
ONLY = {
    "beyond/deeper": {"heads": COUNT},
    "dynamics/certified": {
        "q": _exact("a chance from 0 to 1", lambda x: 0 <= x <= 1, "2", "-1/2"),
        "rate": _exact("a fraction above 0", lambda x: x > 0, "0", "-1/200"),
        "diagonal": _exact("a fraction", lambda x: True),
    },
    "dynamics/companions": {"size": _sizes(3, 2), "q": SOME_CHANCE, "diagonal": POSITIVE},
    "dynamics/longer": {"q": SOME_CHANCE, "hard": SOME_CHANCE, "edge": SOME_CHANCE},
    "dynamics/idealized": {
        "linear": POSITIVE,
        "diagonals": _numbers(
            "two rising numbers above 0", lambda x: len(x) == 2 and x[0] < x[1], (1.0, 2.0, 3.0), (4.0, 1.0)
        ),
    },
    "images/pretrained": {"patch": _whole_from(1, 9)},
    "setting/attention": {"block": COMPANIONS},
    "setting/spatial_data": {"large": LAW, "dim": _whole_from(2)},
    "setting/structure": {"block": COMPANIONS},
    "shallow_vit/attention_map": {"confusion": INSIDE},
    "shallow_vit/setting": {"relevant": INSIDE},
    "transfer/fine_tuning": {"seeds": _whole_from(48)},
}

_DIVIDES = Relation(
    "set_size divides num_patches",
    lambda x: x["num_patches"] % x["set_size"] == 0, {"num_patches": (17,), "set_size": (5,)},
)  # fmt: skip
_BLOCK = Relation(
    "block is smaller than sides, whose rows and columns are multiples of its own",
    lambda x: IMAGE.holds((*x["sides"], *x["block"])), {"sides": ((5, 5),), "block": ((4, 5), (8, 8))},
)  # fmt: skip
_LARGE_BLOCK = Relation(
    "block is smaller than large_sides, whose rows and columns are multiples of its own",
    lambda x: IMAGE.holds((*x["large_sides"], *x["block"])), {"large_sides": ((5, 5), (2, 2)), "block": ()},
)  # fmt: skip
_FEWER = Relation(
    "confusion < relevant and relevant + confusion <= 1",
    lambda x: x["confusion"] < x["relevant"] and x["relevant"] + x["confusion"] <= 1 + 1e-12,
    {"relevant": (0.01, 0.99), "confusion": (0.6,)},
)  # fmt: skip

#: What must hold between the parameters of a chapter.
BETWEEN = {
    "beyond/deeper": (
        _DIVIDES,
        Relation(
            "vanilla scores are those of a ViT, vit = True",
            lambda x: x["vit"] or x["scores"] != "vanilla", {"scores": ("vanilla",), "vit": ()},
        ),
    ),
    "dynamics/longer": (
        Relation(
            "q < edge <= hard", lambda x: x["q"] < x["edge"] <= x["hard"],
            {"q": (0.8,), "edge": (0.3, 0.9), "hard": (0.1,)},
        ),
    ),
    "setting/attention": (_BLOCK,),
    "setting/linear_models": (_DIVIDES,),
    "setting/spatial_data": (_BLOCK,),
    "setting/structure": (_BLOCK, _LARGE_BLOCK),
    "shallow_vit/attention_map": (_FEWER,),
    "shallow_vit/learning": (_FEWER,),
    "shallow_vit/setting": (
        _FEWER,
        Relation(
            "the tokens relevant * num_tokens and confusion * num_tokens are whole numbers",
            lambda x: all(abs(n - round(n)) < 1e-9 for n in (x["num_tokens"] * x["relevant"],
                                                             x["num_tokens"] * x["confusion"])),
            {"num_tokens": (3, 30), "relevant": (0.33,), "confusion": (0.33,)},
        ),
    ),
    "shallow_vit/sparsification": (_FEWER,),
    "transfer/fine_tuning": (
        Relation(
            "q = chi * C^2 / D of the image is a chance",
            lambda x: x["chi"] * math.prod(x["image"][2:]) ** 2 <= math.prod(x["image"][:2]),
            {"chi": (3.0,), "image": ((6, 6, 3, 6),)},
        ),
    ),
}  # fmt: skip


def kind_of(chapter: str, parameter: str) -> Kind:
    """What a parameter of a chapter must be.

    Raises
    ------
    ValueError
        If nobody has said it.
    """
    kind = ONLY.get(chapter, {}).get(parameter) or KINDS.get(parameter)
    if kind is None:
        raise ValueError(f"{parameter} of {chapter} must be declared in {__name__}, got no kind for it")
    return kind


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
            raise ValueError(f"{name} must be {kind.said}, got {brief(value)}")
    for said, holds, names in BETWEEN.get(chapter, ()):
        if names.keys() <= parameters.keys() and not holds(parameters):
            name, *others = sorted(
                names, key=lambda one: parameters[one] == _like(parameters[one], usual.get(one))
            )
            beside = ", ".join(f"{one} = {brief(parameters[one])}" for one in others)
            raise ValueError(
                f"{name} must be such that {said}, got {brief(parameters[name])} beside {beside}"
            )


def _like(value, usual):
    """A recorded tuple is a list."""
    return type(value)(usual) if isinstance(usual, list) and isinstance(value, (tuple, list)) else usual


def nonsense(chapter: str, parameter: str) -> tuple:
    """Values that a parameter of a chapter can never have while the others stand at their defaults."""
    of_relations = (one.nonsense.get(parameter, ()) for one in BETWEEN.get(chapter, ()))
    return (*kind_of(chapter, parameter).nonsense, *(value for values in of_relations for value in values))
