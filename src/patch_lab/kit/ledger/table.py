"""The table of statements: one TOML a part, each claim with its verdict and the reason beside it.

An entry holds

``id``          source-place, such as ``jelassi2022-theorem-4.1``
``source``      a key of :data:`SOURCES`
``where``       where the source states it; for our own, where the book does
``chapter``     ``part/chapter``: who examines it
``statement``   in our own words, mathematics between dollar signs
``kind``        "claim" (the default), "definition" or "assumption"
``verdict``     of a claim: a key of :data:`VERDICTS`
``condition``   what follows the words "holds only if"; after "held in every run", how its hypotheses are read
``because``     of a claim: why; ``{key}`` outside mathematics is filled from the evidence or the parameters
``reading``     of a definition or assumption, in place of a verdict: how the book reads it
``requires``    expressions over the evidence that must hold (:mod:`~patch_lab.kit.ledger.requires`)
``knobs``       of a measured claim: what it was tried against, tables of ``name`` (one of :data:`KNOBS`),
                ``tried`` (the values) and ``moved`` (what changed); ``{key}`` is filled as in ``because``
``checked_by``  of a proved claim: which of :data:`ENGINES` did the computation; the weakest where two did
``outcome``     of a claim: one of :data:`OUTCOMES` where it is not the one that :attr:`Claim.outcome` gives
``horizon``     of a claim: what was tested, in words, where the knobs do not say it
``rests_on``    the ids of the entries that its proof, or its verdict, uses
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from patch_association.checks import readable
from patch_lab.kit.ledger import requires
from patch_lab.kit.ledger.evidence import Number

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The verdict words, from the strongest to the open; each with the family that colors its card.
VERDICTS = {
    "proved here": "holds",
    "proved by computer": "holds",
    "held in every run within its hypotheses": "holds",
    "seen in one network": "holds",
    "observation": "holds",
    "holds only if": "conditional",
    "fails as stated": "fails",
    "undecided": "untested",
    "not testable": "untested",
    "not run at this size": "untested",
}

#: The verdict words of what has a proof; only the first two are theorems.
PROVED = ("proved here", "proved by computer", "observation")

#: The verdict words that a condition may follow.
CONDITIONAL = ("holds only if", "held in every run within its hypotheses")

#: The one word that other ledgers use as well; the page on the claims says what each means.
OUTCOMES = ("verified", "toy", "falsified", "inconclusive")
_OUTCOME_OF = {
    "proved here": "verified",
    "proved by computer": "verified",
    "observation": "verified",
    "seen in one network": "verified",
    "holds only if": "falsified",
    "fails as stated": "falsified",
}

#: Who makes the claim.
SOURCES = {
    "jelassi2022": "Jelassi, Sander & Li (2022)",
    "li2023": "Li, Wang, Liu & Chen (2023)",
    "ours": "this book",
}

#: What may be turned under a measured claim, and what it means.
KNOBS = {
    "law": "how inputs are drawn, or which data they are",
    "size": "numbers of patches, sets, dimensions, pictures, parameters",
    "model": "the activation and the shape of the network",
    "start": "the parameters before training, and their scale",
    "rate": "learning rates and the ratio between them",
    "steps": "how long one trains, or at which step one looks",
    "batch": "draws a step",
    "seeds": "independent repetitions",
    "split": "which part of the data one measures on",
    "metric": "how the result is measured, and where a threshold lies",
    "precision": "the arithmetic",
}

#: What checks the computation in a proof, beside a reader, and what must be trusted with it.
ENGINES = {
    "coq": "the kernel of Coq",
    "flint": "FLINT's ball arithmetic and the module certify",
}

KINDS = ("claim", "definition", "assumption")
UNEXAMINED = "not examined yet"

_MATHEMATICS = re.compile(r"(\$[^$]*\$)")
_PLACEHOLDER = re.compile(r"\{([A-Za-z]\w*)(?::([^{}]*))?\}")


@dataclass(frozen=True)
class Knob:
    """One thing that was turned under a measured claim: which values were tried, and what moved."""

    name: str
    tried: str
    moved: str


@dataclass(frozen=True)
class Claim:
    """One entry of the table, with what its chapter measured; the fields are explained above."""

    id: str
    source: str
    where: str
    statement: str
    chapter: str
    kind: str = "claim"
    verdict: str | None = None
    condition: str = ""
    because: str = ""
    reading: str = ""
    requires: tuple[str, ...] = ()
    knobs: tuple[Knob, ...] = ()
    checked_by: str | None = None
    rests_on: tuple[str, ...] = ()
    given_outcome: str = ""
    given_horizon: str = ""
    evidence: Mapping[str, Number] = field(default_factory=dict)
    parameters: Mapping = field(default_factory=dict)

    @property
    def author(self) -> str:
        """Who makes the claim, in words."""
        return SOURCES[self.source]

    @property
    def current_verdict(self) -> str:
        """The verdict; for a definition or assumption its kind; "not examined yet" without evidence."""
        if self.kind != "claim":
            return self.kind
        return (self.verdict or UNEXAMINED) if self.evidence else UNEXAMINED

    @property
    def family(self) -> str:
        """One of "holds", "conditional", "fails", "untested"; "used" for a definition or assumption."""
        return "used" if self.kind != "claim" else VERDICTS.get(self.current_verdict, "untested")

    @property
    def reason(self) -> str:
        """``because``, or ``reading``, with its numbers filled in; nothing for an unexamined claim."""
        if self.current_verdict == UNEXAMINED:
            return ""
        return self._fill(self.because or self.reading)

    @property
    def heading(self) -> str:
        """The verdict with its condition: "holds only if $q$ is small"."""
        filled = self.current_verdict != UNEXAMINED and self._fill(self.condition)
        return f"{self.current_verdict} {filled}" if filled else self.current_verdict

    @property
    def outcome(self) -> str | None:
        """The verdict in one of :data:`OUTCOMES`; None for a definition, an assumption, or without evidence.

        What a paper says of growing sizes and "held in every run" held at ours: "toy". The book's own
        measured claims name their sizes.
        """
        if self.kind != "claim" or self.current_verdict == UNEXAMINED:
            return None
        if self.given_outcome:
            return self.given_outcome
        if self.verdict == "held in every run within its hypotheses":
            return "verified" if self.source == "ours" else "toy"
        return _OUTCOME_OF.get(self.current_verdict, "inconclusive")

    @property
    def horizon(self) -> str:
        """What was tested, in words: beyond it a verdict that rests on runs claims nothing."""
        if self.current_verdict == UNEXAMINED or self.kind != "claim":
            return "used, not tested" if self.kind != "claim" else ""
        if self.given_horizon:
            return self._fill(self.given_horizon)
        if self.verdict in PROVED:
            return "everything that it states, by proof"
        if self.knobs:
            return "; ".join(f"{knob.name}: {knob.tried}" for knob in self.filled_knobs)
        given = ", ".join(f"{key} = {value}" for key, value in self.parameters.items() if key != "PRESET")
        return f"the setting of its chapter alone ({given})" if given else "the setting of its chapter alone"

    @property
    def measured(self) -> bool:
        """Whether the verdict rests on runs, so that another run could have moved it."""
        if self.verdict in ("held in every run within its hypotheses", "seen in one network"):
            return True
        judged = self.verdict in ("holds only if", "fails as stated")
        return judged and any(number.kind == "sampled" for number in self.evidence.values())

    @property
    def filled_knobs(self) -> tuple[Knob, ...]:
        """The knobs, with their numbers filled in; nothing for an unexamined claim."""
        if self.current_verdict == UNEXAMINED:
            return ()
        return tuple(Knob(knob.name, self._fill(knob.tried), self._fill(knob.moved)) for knob in self.knobs)

    def unmet_requirements(self, evidence: Mapping[str, Number], parameters: Mapping) -> list[str]:
        """The requirements of the verdict that these numbers do not meet."""
        try:
            return [text for text in self.requires if not requires.holds(text, evidence, parameters)]
        except ValueError as error:
            raise ValueError(f"claim {self.id!r}: {error}") from None

    def as_dict(self) -> dict:
        """The claim with its evidence as JSON values, its reason filled in."""
        unsaid = ("given_outcome", "given_horizon")
        values = {name.name: getattr(self, name.name) for name in fields(self) if name.name not in unsaid}
        numbers = [{"key": key, **number.as_dict()} for key, number in self.evidence.items()]
        return values | {
            "verdict": self.verdict if self.current_verdict == self.verdict else None,
            "condition": self.heading[len(self.current_verdict) :].strip(),
            "because": self.reason if self.because else "",
            "reading": self.reason if self.reading else "",
            "requires": list(self.requires),
            "knobs": [vars(knob) for knob in self.filled_knobs],
            "rests_on": list(self.rests_on),
            "outcome": self.outcome,
            "horizon": self.horizon,
            "parameters": dict(self.parameters),
            "evidence": numbers,
        }

    def _fill(self, text: str) -> str:
        pieces = _MATHEMATICS.split(text)  # braces in mathematics, the odd pieces, are TeX's
        pieces[::2] = [_PLACEHOLDER.sub(self._value, piece) for piece in pieces[::2]]
        return "".join(pieces)

    def _value(self, match: re.Match) -> str:
        key = match[1]
        spec = match[2] or ""
        if key in self.evidence:
            return format(self.evidence[key], spec)
        if key in self.parameters:
            return format(self.parameters[key], spec)
        named = ", ".join((*self.evidence, *self.parameters))
        raise ValueError(f"claim {self.id!r} says {match[0]} and its evidence has {named or 'nothing'}")


def escaped(text: str) -> str:
    """The text for Markdown and MyST: what is no mathematics is shown as it stands, markup and all."""
    pieces = _MATHEMATICS.split(text)
    pieces[::2] = [
        re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(piece, quote=False)) for piece in pieces[::2]
    ]
    return "".join(pieces)


def read_table(path: Path) -> list[Claim]:
    """The claims of one TOML file.

    Raises
    ------
    ValueError
        One line that names the file and the entry: TOML that cannot be read, an unknown key, source, kind
        or verdict, a missing or blank text, a dollar sign without its partner, a requirement that is none.
    """
    with readable(f"{path} is no TOML"):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = content.pop("claim", [])
    if content or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{path} must hold [[claim]] entries alone, got {', '.join(content) or 'claim'}")
    claims = []
    for number, entry in enumerate(entries, start=1):
        with readable(f"{path}, claim {number} ({entry.get('id', 'without id')})"):
            claims.append(_claim(entry))
    return claims


def _claim(entry: dict) -> Claim:
    known = [item.name for item in fields(Claim) if item.name not in ("evidence", "parameters")]
    known = [name.removeprefix("given_") for name in known]
    unknown = [key for key in entry if key not in known]
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; the keys are {', '.join(known)}")
    conditions = _list("requires", entry.get("requires", []), str, "expressions")
    knobs = tuple(map(_knob, _list("knobs", entry.get("knobs", []), dict, "tables")))
    rests_on = _list("rests_on", entry.get("rests_on", []), str, "ids")
    lists = ("requires", "knobs", "rests_on")
    texts: dict = {key: _text(key, value) for key, value in entry.items() if key not in lists}
    missing = [key for key in ("id", "source", "where", "statement", "chapter") if key not in texts]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    for condition in conditions:
        requires.parse(condition)
    given = {f"given_{key}": texts.pop(key) for key in ("outcome", "horizon") if key in texts}
    claim = Claim(**texts, **given, requires=tuple(conditions), knobs=knobs, rests_on=tuple(rests_on))
    _check_words(claim)
    return claim


def _list(key: str, value, of: type, called: str) -> list:
    if not isinstance(value, list) or not all(isinstance(item, of) for item in value):
        raise ValueError(f"{key} must be a list of {called}, got {value!r}")
    return value


def _text(key: str, value) -> str:
    """The text with single spaces."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} must be a text, got {value!r}")
    if value.count("$") % 2:
        raise ValueError(f"{key} has a dollar sign without its partner")
    return " ".join(value.split())


def _knob(entry: dict) -> Knob:
    names = [item.name for item in fields(Knob)]
    if sorted(entry) != sorted(names):
        raise ValueError(f"a knob has {', '.join(names)}, got {', '.join(entry) or 'nothing'}")
    if entry["name"] not in KNOBS:
        raise ValueError(f"a knob's name must be one of {', '.join(KNOBS)}, got {entry['name']!r}")
    return Knob(**{key: _text(f"{key} of a knob", value) for key, value in entry.items()})


def _check_words(claim: Claim) -> None:
    """Refuse words that are none of ours, and fields that do not go together."""
    for name, value, known in (("source", claim.source, SOURCES), ("kind", claim.kind, KINDS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    if not re.fullmatch(rf"{re.escape(claim.source)}-[a-z0-9.-]+", claim.id):
        raise ValueError(f"the id must be {claim.source}-PLACE in small letters, digits, dots and hyphens")
    if not re.fullmatch(r"[a-z0-9_-]+(/[a-z0-9_-]+)*", claim.chapter):
        raise ValueError(f"chapter must be part/chapter in small letters, got {claim.chapter!r}")
    if claim.checked_by is not None and (claim.checked_by not in ENGINES or claim.verdict not in PROVED):
        raise ValueError(
            f"checked_by must be one of {', '.join(ENGINES)}, of a claim that is proved, "
            f"got {claim.checked_by!r}"
        )
    if claim.kind != "claim":
        spoken = (claim.verdict, claim.because, claim.condition, claim.knobs)
        if not claim.reading or any((*spoken, claim.given_outcome, claim.given_horizon)):
            article = "an" if claim.kind[0] in "aeiou" else "a"
            raise ValueError(
                f"{article} {claim.kind} has a reading, and no verdict, because, condition or knobs"
            )
        return
    if claim.verdict not in VERDICTS:
        raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {claim.verdict!r}")
    if not claim.because or claim.reading:
        raise ValueError("a claim has a because, and no reading")
    if claim.given_outcome and claim.given_outcome not in OUTCOMES:
        raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {claim.given_outcome!r}")
    if claim.verdict == "holds only if" and not claim.condition:
        raise ValueError("the verdict 'holds only if' needs a condition")
    if claim.condition and claim.verdict not in CONDITIONAL:
        raise ValueError(f"a condition goes with the verdicts {' and '.join(map(repr, CONDITIONAL))}")
