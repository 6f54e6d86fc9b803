"""Answers: what the authors of a paper, or a team that ran a claim again, say to a verdict."""

from __future__ import annotations

import datetime
import sys
from dataclasses import dataclass, fields
from pathlib import Path

from patch_association.checks import readable
from patch_lab.kit.ledger.table import OUTCOMES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: Who may answer, and what that makes of an answer.
ROLES = {
    "author": "an author of the paper",
    "team": "another team, which ran it again",
    "reader": "a reader, with an argument",
}


@dataclass(frozen=True)
class Answer:
    """One answer to one claim.

    Attributes
    ----------
    claim : str
        The id of the claim.
    by : str
        Who answers.
    role : str
        One of :data:`ROLES`.
    date : str
        ``2026-11-26``.
    says : str
        The answer, in their words.
    outcome : str
        What they find: one of :data:`~patch_lab.kit.ledger.table.OUTCOMES`.
    at : str, optional
        Where the run or the argument can be read.
    became : str, optional
        What we changed for it.
    """

    claim: str
    by: str
    role: str
    date: str
    says: str
    outcome: str
    at: str = ""
    became: str = ""

    def __post_init__(self):
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, str) or (not value.strip() and item.name not in ("at", "became")):
                raise ValueError(f"{item.name} of an answer must be a text, got {value!r}")
        if self.role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(ROLES)}, got {self.role!r}")
        if self.outcome not in OUTCOMES:
            raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {self.outcome!r}")
        try:
            datetime.date.fromisoformat(self.date)
        except ValueError:
            raise ValueError(f"date must be like 2026-11-26, got {self.date!r}") from None


def read_answers(path: Path) -> list[Answer]:
    """The ``[[answer]]`` entries of a TOML file, in its order.

    Raises
    ------
    ValueError
        One line that names the file and the entry: TOML that cannot be read, an unknown or missing key, a
        role, outcome or date that is none.
    """
    with readable(f"{path} is no TOML"):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = content.pop("answer", [])
    if content or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{path} must hold [[answer]] entries alone, got {', '.join(content) or 'answer'}")
    known = [item.name for item in fields(Answer)]
    answers = []
    for number, entry in enumerate(entries, start=1):
        with readable(f"{path}, answer {number}"):
            wrong = [key for key in entry if key not in known]
            missing = [key for key in known[:6] if key not in entry]
            if wrong or missing:
                what = f"unknown key {wrong[0]!r}" if wrong else f"{missing[0]} is missing"
                raise ValueError(f"{what}; the keys are {', '.join(known)}")
            answers.append(Answer(**entry))
    return answers
