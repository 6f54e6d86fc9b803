"""The ledger: a table of claims, the chapters' recorded runs, and how a new run compares with both."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import numpy as np

from patch_lab.kit import BOOK_PARTS
from patch_lab.kit.ledger.evidence import ChapterRun, Number, read_run, write_run
from patch_lab.kit.ledger.parameters import refuse_nonsense
from patch_lab.kit.ledger.table import SOURCES, UNEXAMINED, VERDICTS, Claim, read_table
from patch_lab.kit.ledger.verdict import Card
from patch_lab.kit.prose import begin_chapter, note_requirement

#: The laboratory, whose rooms hold the book's claims and evidence, a room a part.
LABORATORY = Path(__file__).resolve().parents[2]
RECORD = "PATCH_ASSOCIATION_RECORD"


class Ledger:
    """Claims with their evidence, in the order of the table.

    A chapter says once what its parameters are, then hands in its numbers, claim by claim. Where the
    parameters are the recorded ones a number that differs from the recorded one stops the notebook; at
    any others the card shows both, side by side, and nothing stops.

    Parameters
    ----------
    tables : list of Path
        The TOML files (see :mod:`~patch_lab.kit.ledger.table`).
    file_of : callable
        The file in which a chapter's run is recorded, from ``part/chapter``. What is handed in is compared
        with it, or written into it where the environment says ``PATCH_ASSOCIATION_RECORD=1``.

    Raises
    ------
    ValueError
        One line that names the file and the entry, if a file is damaged or an id is given twice.
    """

    def __init__(self, tables: list[Path], file_of: Callable[[str], Path]):
        self._file_of = file_of
        self._claims: dict[str, Claim] = {}
        self._recorded: dict[str, ChapterRun | None] = {}
        self._run: tuple[str, ChapterRun] | None = None  # the chapter that is being run, and what it measured
        self._before = ChapterRun({}, {})  # what was on record when it began
        for path in tables:
            for claim in read_table(path):
                if claim.id in self._claims:
                    raise ValueError(f"{path}: the claim {claim.id!r} is stated twice")
                self._claims[claim.id] = claim
        self._order()

    def __iter__(self) -> Iterator[Claim]:
        return map(self.__getitem__, self._claims)

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, claim_id: str) -> Claim:
        if claim_id not in self._claims:
            raise ValueError(f"the ledger has no claim {claim_id!r}; it has {', '.join(self._claims)}")
        claim = self._claims[claim_id]
        run = self.recorded(claim.chapter)
        if run is None or claim_id not in run.numbers:
            return claim
        return replace(claim, evidence=run.numbers[claim_id], parameters=run.parameters)

    def select(self, source: str | None = None, part: str | None = None) -> list:
        """The claims of one source or part, in the table's order."""
        if source is not None and source not in SOURCES:
            raise ValueError(f"source must be one of {', '.join(SOURCES)}, got {source!r}")
        return [
            claim
            for claim in self
            if source in (None, claim.source) and part in (None, claim.chapter.split("/")[0])
        ]

    def dependents(self, claim_id: str) -> list[str]:
        """The ids of all that would lose its proof or its reason with this claim, in the table's order.

        Raises
        ------
        ValueError
            If the ledger has no such claim.
        """
        fallen = {self[claim_id].id}
        for other in self._order():
            if fallen.intersection(self._claims[other].rests_on):
                fallen.add(other)
        return [other for other in self._claims if other in fallen and other != claim_id]

    def carries(self, claim_id: str) -> list[str]:
        """The ids of what rests on a claim directly: ``rests_on``, the other way."""
        return [claim.id for claim in self._claims.values() if self[claim_id].id in claim.rests_on]

    def entries(self) -> list[dict]:
        """Every claim as JSON values, with what it carries and what falls with it."""
        return [
            claim.as_dict()
            | {
                "carries": self.carries(claim.id),
                "falls_with_it": self.dependents(claim.id),
            }
            for claim in self
        ]

    def relying_on(self, engine: str) -> list[str]:
        """The ids of the claims that an engine checked and of all that rest on these, in order."""
        checked = {claim.id for claim in self._claims.values() if claim.checked_by == engine}
        return [name for name in self._claims if name in checked or checked & self._grounds(name)]

    def _grounds(self, claim_id: str) -> set[str]:
        """All that a claim rests on, directly or not."""
        used = self._claims[claim_id].rests_on
        return set(used).union(*map(self._grounds, used))

    def _order(self) -> list[str]:
        """The ids, each behind all that it rests on.

        Raises
        ------
        ValueError
            If a claim rests on what is not in the ledger, or on itself.
        """
        try:
            grounds = {claim.id: claim.rests_on for claim in self._claims.values()}
            order = list(TopologicalSorter(grounds).static_order())
        except CycleError as error:
            raise ValueError(f"claims rest on one another: {' on '.join(error.args[1])}") from None
        for claim in self._claims.values():
            for ground in claim.rests_on:
                if ground not in self._claims:
                    raise ValueError(
                        f"claim {claim.id!r} rests on {ground!r}, which the ledger does not have"
                    )
        return order

    def totals(self) -> dict[str, int]:
        """How many claims have each verdict, definitions and assumptions last; zeros are left out."""
        standings = [claim.current_verdict for claim in self]
        words = (*VERDICTS, UNEXAMINED, "definition", "assumption")
        return {word: standings.count(word) for word in words if word in standings}

    def recorded(self, chapter: str) -> ChapterRun | None:
        """The recorded run of a chapter; None if there is none."""
        if chapter not in self._recorded:
            self._recorded[chapter] = read_run(self._file_of(chapter))
        return self._recorded[chapter]

    def chapter(self, name: str, /, **parameters) -> None:
        """Say which chapter runs, with every name of its parameters cell; call it right below that cell.

        Raises
        ------
        ValueError
            If no claim belongs to the chapter, or a parameter is no number, text or list of such.
        """
        chapters = dict.fromkeys(claim.chapter for claim in self._claims.values())
        if name not in chapters:
            raise ValueError(f"chapter must be one of {', '.join(chapters)}, got {name!r}")
        self._refuse_to_overwrite()
        given = {key: _json_value(key, value) for key, value in parameters.items()}
        self._run = (name, ChapterRun(given, {}))
        self._before = self.recorded(name) or ChapterRun({}, {})

    def changed(self) -> dict[str, tuple]:
        """Each parameter of this chapter that is not as recorded, with its value and the recorded one."""
        if self._run is None or self._recording:
            return {}
        given = self._run[1].parameters
        recorded = self._before.parameters
        return {
            key: (value, recorded[key]) for key, value in given.items() if recorded.get(key, value) != value
        }

    def check(self, claim_id: str, evidence: Mapping[str, Number]) -> Card:
        """Hand in what was measured for a claim; the card that shows it.

        Parameters
        ----------
        claim_id : str
        evidence : dict of Number
            From :func:`exact` and :func:`sampled`, under the keys that the claim's reason names.

        Raises
        ------
        ValueError
            For an unknown claim, one of another chapter, no evidence, a key that is no name.
        AssertionError
            At the recorded parameters: if a number differs from the recorded one by more than its
            tolerance, or a requirement of the verdict does not hold.
        """
        claim = self[claim_id]
        if self._run is None:
            raise ValueError(f'call chapter("{claim.chapter}", ...) below the parameters, before check')
        name, run = self._run
        if claim.chapter != name:
            raise ValueError(f"claim {claim_id!r} belongs to {claim.chapter}, and {name} is being run")
        _check_keys(claim_id, evidence)
        if self._recording:
            return self._write(name, run, claim, evidence)
        return self._compare(name, run, claim, evidence)

    def _write(self, name: str, run: ChapterRun, claim: Claim, evidence: Mapping[str, Number]) -> Card:
        """Write the evidence of a claim into its chapter's file, which holds one run alone."""
        old = self._before.numbers.get(claim.id, {})
        kept = {key: number.or_recorded(old.get(key)) for key, number in evidence.items()}
        fresh = replace(claim, evidence=kept, parameters=run.parameters)
        undefined = [number.name for number in evidence.values() if not number.is_finite]
        if undefined:
            raise ValueError(f"claim {claim.id!r}: {undefined[0]!r} is not finite and cannot be recorded")
        self._refuse_unmet(fresh)
        run = ChapterRun(run.parameters, {**run.numbers, claim.id: kept})
        write_run(self._file_of(name), run)
        self._run = (name, run)
        self._recorded[name] = run
        return Card(fresh)

    def _compare(self, name: str, run: ChapterRun, claim: Claim, evidence: Mapping[str, Number]) -> Card:
        """The evidence beside the recorded one, with which it must agree at the recorded parameters."""
        if not claim.evidence:
            raise AssertionError(f"claim {claim.id!r} has no recorded evidence yet: record it ({RECORD}=1)")
        setting = f"{name} at {_listed(run.parameters)}"
        if run.parameters.keys() != claim.parameters.keys():
            raise AssertionError(f"{setting}: recorded with {_listed(claim.parameters)}; record it again")
        if run.parameters != claim.parameters:
            changed = {key: value for key, value in run.parameters.items() if value != claim.parameters[key]}
            unmet = tuple(claim.unmet_requirements(evidence, run.parameters))
            note_requirement(claim.id, not unmet)
            return Card(claim, dict(evidence), changed, unmet)
        differences = _differences(evidence, claim.evidence)
        if differences:
            raise AssertionError(f"{setting}: claim {claim.id!r}: " + "; ".join(differences))
        fresh = replace(claim, evidence=dict(evidence))
        self._refuse_unmet(fresh)
        return Card(fresh)

    @property
    def _recording(self) -> bool:
        return os.environ.get(RECORD) == "1"

    def _refuse_unmet(self, claim: Claim) -> None:
        unmet = claim.unmet_requirements(claim.evidence, claim.parameters)
        if unmet:
            values = ", ".join(f"{key} = {number.value!r}" for key, number in claim.evidence.items())
            raise AssertionError(
                f"claim {claim.id!r}, {claim.verdict!r}, requires {unmet[0]} and has {values}"
            )

    def _refuse_to_overwrite(self) -> None:
        """The ledger of an installed package is not the reader's to change."""
        source = LABORATORY.parent
        checkout = source.name == "src" and (source.parent / "pyproject.toml").is_file()
        if self._recording and self._file_of is evidence_file and not checkout:
            raise ValueError(
                f"{RECORD}=1 would overwrite the ledger of the installed package in {LABORATORY}: "
                "run in a clone of the repository"
            )


@lru_cache(maxsize=1)
def shipped() -> Ledger:
    """The book's own ledger, as it came with the package."""
    tables = [LABORATORY / part / "claims.toml" for part in BOOK_PARTS]
    return Ledger(tables, evidence_file)


def evidence_file(chapter: str) -> Path:
    """The file of the book's own evidence of ``part/chapter``, in the part's room."""
    part, name = chapter.split("/")
    return LABORATORY / part / "evidence" / f"{name}.json"


def chapter(name: str, /, **parameters) -> None:
    """:meth:`Ledger.chapter` of the book's own ledger, once its parameters make sense.

    Raises
    ------
    ValueError
        As :meth:`Ledger.chapter` does, and for a value that a parameter can never have.
    """
    ledger = shipped()
    before = ledger.recorded(name)
    refuse_nonsense(name, before.parameters if before else {}, **parameters)
    ledger.chapter(name, **parameters)
    begin_chapter(ledger.changed())


def check(claim_id: str, evidence: Mapping[str, Number]) -> Card:
    """:meth:`Ledger.check` of the book's own ledger."""
    return shipped().check(claim_id, evidence)


def _check_keys(claim_id: str, evidence: Mapping[str, Number]) -> None:
    if not evidence or not all(isinstance(number, Number) for number in evidence.values()):
        raise ValueError(f"claim {claim_id!r} needs a dict with a Number at least, got {evidence!r}")
    wrong = [key for key in evidence if not isinstance(key, str) or not key.isidentifier()]
    if wrong:
        raise ValueError(f"claim {claim_id!r}: a key must be a name like largest_gap, got {wrong[0]!r}")
    names = [number.name for number in evidence.values()]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"claim {claim_id!r}: two numbers are called {twice[0]!r}")


def _differences(fresh: Mapping[str, Number], recorded: Mapping[str, Number]) -> list[str]:
    differences = [f"{key!r} was recorded and is missing now" for key in recorded if key not in fresh]
    differences += [f"{key!r} is new: it was not recorded" for key in fresh if key not in recorded]
    for key in fresh:
        difference = fresh[key].differs_from(recorded[key]) if key in recorded else None
        if difference:
            differences.append(f"{key!r} {difference}")
    return differences


def _listed(parameters: Mapping) -> str:
    return ", ".join(f"{key} = {value!r}" for key, value in parameters.items()) or "no parameters"


def _json_value(key: str, value):
    """A parameter as the JSON value that it is recorded as."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [_json_value(key, item) for item in value]
    if (
        value is None
        or isinstance(value, (bool, int, str))
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    raise ValueError(f"the parameter {key} must be a number, a text or a list of such, got {value!r}")
