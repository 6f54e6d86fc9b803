"""Every sweep by its name; the file of a sweep is imported when the sweep is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from patch_lab.kit import BOOK_PARTS
from patch_lab.kit.sweeps.outcomes import run_cell
from patch_lab.kit.sweeps.sweep import Sweep


@cache
def sweep_modules() -> dict[str, str]:
    """The module of each sweep by the sweep's name, as the rooms' ``sweeps.FILES`` have them."""
    modules = {}
    for room in (*BOOK_PARTS, "certify"):
        if not find_spec(f"patch_lab.{room}.sweeps"):
            continue
        sweeps = import_module(f"patch_lab.{room}.sweeps")
        for file, names in sweeps.FILES.items():
            modules |= dict.fromkeys(names, f"{sweeps.__name__}.{file}")
    return modules


class Registry(Mapping[str, Sweep]):
    """The sweeps by name, in the order of the book."""

    def __getitem__(self, name: str) -> Sweep:
        sweeps = import_module(sweep_modules()[name]).SWEEPS
        return next(sweep for sweep in sweeps if sweep.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(sweep_modules())

    def __len__(self) -> int:
        return len(sweep_modules())


def registry() -> Mapping[str, Sweep]:
    """Every sweep by name."""
    return Registry()


def rerun(name: str, row: Mapping) -> dict:
    """A recorded cell, run again here: the cell of sweep ``name`` with the settings that ``row`` holds.

    Parameters
    ----------
    name : str
    row : dict
        A row of the record, or the settings that tell its cell from the others.

    Raises
    ------
    ValueError
        If no cell fits, or more than one does.
    """
    if name not in registry():
        raise ValueError(f"there is no sweep {name!r}; there are {', '.join(registry())}")
    sweep = registry()[name]
    fits = [cell for cell in sweep.cells if all(row.get(key, cell[key]) == cell[key] for key in cell)]
    if len(fits) != 1:
        raise ValueError(f"{len(fits)} cells of sweep {name!r} fit {dict(row)!r}, not one")
    return run_cell(sweep.run, dict(fits[0]))
