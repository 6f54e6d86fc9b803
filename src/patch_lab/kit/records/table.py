"""Reading results: cells are chosen with ``where``, and read as arrays or as a pandas frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from patch_lab.kit.records.codec import decode, is_encoded

if TYPE_CHECKING:
    from typing_extensions import Self


class Cells:
    """What a record and its views can do: ``name`` says whose ``results`` these are, one dict a cell."""

    name: str
    results: list[dict]

    def _view(self, results: list[dict]) -> Self:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> dict:
        return self.results[place]

    def __iter__(self) -> Iterator[dict]:
        return iter(self.results)

    def where(self, **settings) -> Self:
        """The cells with these settings, as a view with the same methods.

        Parameters
        ----------
        **settings
            Each a value, a tuple, set or range of values, or a function of the value that says
            whether it fits.

        Raises
        ------
        ValueError
            If no cell fits; the message names what there is.

        Examples
        --------
        >>> from patch_lab.kit.records import load
        >>> load("limits").where(part="fall", D=(16, 20), q=lambda q: q > 0.5).column("alpha").shape
        (30,)
        """
        rows = self.results
        for key, wanted in settings.items():
            fitting = [row for row in rows if key in row and _fits(row[key], wanted)]
            if not fitting:
                raise ValueError(self._nothing(rows, key, settings))
            rows = fitting
        return self._view(rows)

    def one(self, **settings) -> dict:
        """The only cell with these settings; ValueError where there is none or more than one."""
        fitting = self.where(**settings).results
        if len(fitting) > 1:
            raise ValueError(f"record {self.name!r} has {len(fitting)} cells with {_text(settings)}, not one")
        return fitting[0]

    def by(self, key: str) -> dict[Any, Self]:
        """A view for each value of a setting, in order: ``{500: view, 1000: view, ...}``."""
        values = {row[key] for row in self.results if key in row}
        if not values:
            raise ValueError(self._nothing(self.results, key, {key: ...}))
        return {value: self.where(**{key: value}) for value in sorted(values)}

    def column(self, name: str, at=...) -> np.ndarray:
        """One result of every cell, stacked: (cells, ...).

        Parameters
        ----------
        name : str
            Inside a dict with dots: "locality.undone.recall". None becomes NaN, and encoded arrays are
            decoded.
        at : index, optional
            The place in each cell's array: -1 is the last.

        Raises
        ------
        ValueError
            If a cell does not have it, or cells have different shapes: choose some with ``where``.
        """
        values = []
        for row in self.results:
            flat = flattened(row)
            if name not in flat:
                raise ValueError(
                    f"a cell of record {self.name!r} has no column {name!r}; it has {', '.join(flat)}"
                )
            value = decode(flat[name]) if is_encoded(flat[name]) else flat[name]
            values.append(value if at is ... else np.asarray(value)[at])
        try:
            array = np.array(values)
            kinds = {"O": np.float64, "i": np.int64}  # None -> NaN; integers of 64 bits wherever it runs
            return array.astype(kinds.get(array.dtype.kind, array.dtype), copy=False)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"column {name!r} of record {self.name!r} differs in shape from cell to cell: {error}"
            ) from None

    def differences(self, name: str, one: dict, other: dict, by: str = "seed") -> np.ndarray:
        """A result of the cells with settings ``one`` less that of those with ``other``, paired by ``by``.

        Raises
        ------
        ValueError
            If the two do not have the same values of ``by``, each once.
        """
        first = self.where(**one)
        second = self.where(**other)
        ours = [row.get(by) for row in first]
        theirs = [row.get(by) for row in second]
        if set(ours) != set(theirs) or len(ours) != len(theirs) or len(set(ours)) < len(ours):
            raise ValueError(
                f"cells must pair by {by}, got {ours} ({_text(one)}) and {theirs} ({_text(other)})"
            )
        return first.column(name) - second.column(name)[[theirs.index(value) for value in ours]]

    def frame(self):
        """The cells as a pandas frame, one row each; what lies inside a dict is named with dots."""
        import pandas as pd

        return pd.DataFrame([flattened(row) for row in self.results])

    def _nothing(self, rows, key, settings) -> str:
        there = dict.fromkeys(_text(row[key]) for row in rows if key in row)
        before = dict(list(settings.items())[: list(settings).index(key)])
        among = f" among cells with {_text(before)}" if before else ""
        if not there:
            keys = ", ".join(dict.fromkeys(key for row in rows for key in row))
            return f"no cell of record {self.name!r} has {key!r}{among}; there is {keys}"
        return (
            f"no cell of record {self.name!r} has {key} = {_text(settings[key])}{among}; "
            f"there {key} is {', '.join(there)}"
        )


def flattened(row: dict, before: str = "") -> dict:
    """A cell without dicts inside: their keys are joined with dots."""
    flat = {}
    for key, value in row.items():
        flat |= flattened(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return flat


def _fits(value, wanted) -> bool:
    if callable(wanted):
        return bool(wanted(value))
    if isinstance(wanted, tuple | set | range):
        return any(value == choice for choice in wanted)
    return value == wanted


def _text(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_text(inner)}" for key, inner in value.items())
    return "a value that fits" if callable(value) else repr(value)
