"""The card of a claim: what a notebook shows below its evidence, and the pages of claims in full."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from patch_lab.kit.ledger.evidence import Number
from patch_lab.kit.ledger.table import ENGINES, Claim, escaped
from patch_lab.kit.prose import parameter_text, without_markup


@dataclass(frozen=True)
class Card:
    """A claim as a card in a notebook or on a page, in pieces of Markdown, and as text elsewhere.

    Attributes
    ----------
    claim : Claim
        With the evidence that the card shows, or, at another setting, the recorded evidence.
    yours : dict of Number, optional
        What was measured at another setting.
    changed : dict
        The parameters that differ there.
    unmet_requirements : tuple of str
        The requirements of the verdict that do not hold there.
    """

    claim: Claim
    yours: Mapping[str, Number] | None = None
    changed: Mapping = field(default_factory=dict)
    unmet_requirements: tuple[str, ...] = ()

    def __repr__(self) -> str:
        claim = self.claim
        lines = [f"{claim.where} ({claim.author}): {claim.heading}", claim.reason]
        lines += [f"{title} {text}" for title, text in self._notes()]
        header, *rows = self._rows()
        if self.yours is not None:
            lines.append(", ".join(header))
        lines += [f"- {name}: {', '.join(cells[:-1])} ({cells[-1]})" for name, *cells in rows]
        return "\n".join(map(without_markup, lines))

    def _repr_markdown_(self) -> str:
        """Markdown, so that mathematics is typeset wherever the notebook is read."""
        family = "fails" if self.unmet_requirements else self.claim.family
        head = f'<div class="pa-verdict pa-{family}">\n<div class="pa-verdict-head">'
        return "\n\n".join([head, self.head, "</div>", self.statement, self.reasons, self.table, "</div>"])

    @property
    def head(self) -> str:
        """The verdict with its condition, where the claim is stated, and whose it is."""
        claim = self.claim
        verdict = claim.current_verdict if claim.kind == "claim" else f"{claim.kind}, as used here"
        condition = escaped(claim.heading[len(claim.current_verdict) :])
        return f"**{verdict}**{condition} · {escaped(claim.where)}, {escaped(claim.author)}"

    @property
    def statement(self) -> str:
        """What is claimed."""
        return escaped(self.claim.statement)

    @property
    def reasons(self) -> str:
        """Why, what checked a proof, and what is to be said about another setting."""
        reason = ("" if self.yours is None else "*As recorded:* ") + escaped(self.claim.reason)
        return "\n\n".join([reason, *(f"**{title}** {escaped(text)}" for title, text in self._notes())])

    @property
    def table(self) -> str:
        """The evidence."""
        header, *rows = self._rows()
        table = [header, [":--", *["--:"] * (len(header) - 2), ":--"], *rows]
        return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in table)

    def _notes(self) -> list[tuple[str, str]]:
        """What checked a proof, and what is to be said about another setting: a title and a sentence each."""
        checked = self.claim.checked_by
        notes = [("Checked by", f"{ENGINES[checked]}.")] if checked else []
        if self.yours is None:
            return notes
        recorded = self.claim.parameters
        listed = ", ".join(
            f"{key} = {parameter_text(value)} (recorded: {parameter_text(recorded[key])})"
            for key, value in self.changed.items()
        )
        notes.append(("Your setting: this is not the recorded run.", f"{listed}."))
        if self.unmet_requirements:
            names = {key: f"“{number.name}”" for key, number in {**self.claim.evidence, **self.yours}.items()}
            required = re.sub(
                r"[a-z]\w*", lambda key: names.get(key[0], key[0]), " and ".join(self.unmet_requirements)
            )
            notes.append(("The verdict asks for more than your run gives:", f"{required}."))
        return notes

    def _rows(self) -> list[list[str]]:
        """The header and a row for each number: its name, its value or values, and how it was obtained."""
        recorded = self.claim.evidence
        if self.yours is None:
            rows = [[number.name, number.show(), number.basis()] for number in recorded.values()]
            return [["evidence", "value", "basis"], *rows]
        rows = []
        for key in dict.fromkeys((*self.yours, *recorded)):
            yours = self.yours.get(key)
            old = recorded.get(key)
            shown = self.yours[key] if key in self.yours else recorded[key]
            values = [number.show() if number else "–" for number in (yours, old)]
            rows.append([shown.name, *values, shown.basis()])
        return [["evidence", "yours", "recorded", "basis"], *rows]


def _cell(text: str) -> str:
    """A table's cell: no bar that would end it, and no line that breaks inside an interval."""
    text = re.sub(r"\$[^$]*\$", lambda match: match[0].replace("|", r"\vert "), text)
    text = re.sub(r"\[[^\]]*\]|\w+ = [\d,]+|\d+ seeds?", lambda match: match[0].replace(" ", "\u00a0"), text)
    return escaped(text)
