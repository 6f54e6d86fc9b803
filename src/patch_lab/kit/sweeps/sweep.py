"""What a recorded sweep is: a grid of cells, and the function that computes one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

from patch_lab.kit.records import load, record_names
from patch_lab.kit.sweeps.outcomes import as_json


class Scheduler(Protocol):
    """Runs as many whole cells as end in time, in what groups it likes."""

    def outcomes(
        self,
        cells: Sequence[dict],
        done: Sequence[dict],
        seconds_left: Callable[[], float],
        say: Callable[[str], None],
    ) -> Iterator[tuple[dict, dict | None, tuple[str, str] | None]]:
        """(cell, result, None) or (cell, None, error) for each cell that fits.

        ``done`` holds the cells that were finished before, each with its result; ``say`` prints a line.
        """
        ...


@dataclass(frozen=True)
class Sweep:
    """A grid of cells and the function that computes one.

    Attributes
    ----------
    name : str
    summary : str
        What it measures, in a sentence.
    cells : tuple of dict
        The settings of each cell: JSON values that name it uniquely.
    run : callable
        ``run(**cell)`` -> dict of JSON values, or of NumPy's and PyTorch's, or one number, which is kept as
        ``value``. The same cell gives the same result, whatever ran before it.
    config : dict
        Settings common to all cells, for the record.
    data : callable or str
        ``data()`` -> ``{"source": ..., "sha256": ...}``, called before any cell: it refuses files that are
        missing or others than the record's. A text where nothing is drawn or read.
    device : str
        Where the cells run, for the record's line on hardware.
    packages : tuple of str
        What the results depend on beyond the packages that every record names.
    parallel : bool
        Whether cells may run side by side, in processes: not where one fills a GPU, or is timed.
    grows : bool
        For a sweep of many hours: its record holds the cells that are finished, and resuming one goes on with
        the rest.
    scheduler : Scheduler, optional
        What runs the cells, where it is not one after the other: such a sweep takes minutes.

    Examples
    --------
    >>> sweep = Sweep("squares", "squares of small numbers", grid(k=(1, 2, 3)), lambda k: {"square": k * k})
    >>> sweep.cells[-1], sweep.run(**sweep.cells[-1])
    ({'k': 3}, {'square': 9})
    """

    name: str
    summary: str
    cells: tuple[Mapping, ...]
    run: Callable[..., dict]
    config: Mapping = field(default_factory=dict)
    data: Callable[[], dict] | str = "nothing but its settings"
    device: str = "cpu"
    packages: tuple[str, ...] = ()
    parallel: bool = True
    grows: bool = False
    scheduler: Scheduler | None = None

    def __post_init__(self):
        cells = tuple(as_json(cell, f"a cell of sweep {self.name!r}") for cell in self.cells)
        if not all(isinstance(cell, dict) for cell in cells):
            raise ValueError(
                f"the cells of sweep {self.name!r} must be dicts of settings, as grid makes them"
            )
        object.__setattr__(self, "cells", cells)

    @property
    def minutes(self) -> float | None:
        """How long its record took, wall time; None where no record ships."""
        return load(self.name).provenance["wall_s"] / 60 if self.name in record_names() else None

    def settings(self) -> str:
        """A hash of the name, the configuration and the cells: what must agree for cells to be resumed."""
        text = json.dumps([self.name, dict(self.config), [dict(c) for c in self.cells]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def grid(**axes) -> tuple[dict, ...]:
    """Cells of all combinations; the last axis runs fastest.

    Parameters
    ----------
    **axes
        A tuple, list, range, or array of one axis: its values. Anything else is one value; a value that is
        itself a list, in a list of one.

    Examples
    --------
    >>> grid(k=[1, 2], q=0.5)
    ({'k': 1, 'q': 0.5}, {'k': 2, 'q': 0.5})
    """
    values = []
    for axis in axes.values():
        is_list = isinstance(axis, (tuple, list, range)) or getattr(axis, "ndim", 0) == 1
        values.append(axis if is_list else (axis,))
    return tuple(as_json(dict(zip(axes, chosen)), "a cell") for chosen in product(*values))
