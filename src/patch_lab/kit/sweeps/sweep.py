"""Recorded sweeps: grids of cells, run one by one or side by side, resumable, written as a record."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from time import monotonic, perf_counter
from typing import Protocol

from tqdm import tqdm

from patch_association.checks import finite, positive_int
from patch_lab.kit.records import Record, load, provenance, read, record_names
from patch_lab.kit.sweeps.journal import Journal
from patch_lab.kit.sweeps.outcomes import as_json, outcomes


class CellError(RuntimeError):
    """A cell failed; the message names it. The cause holds the traceback, from whatever process it came."""


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


def run_sweep(
    sweep: Sweep,
    out,
    resume: bool = False,
    overwrite: bool = False,
    jobs: int = 1,
    progress: bool = True,
    minutes: float | None = None,
) -> Record:
    """Run a sweep's cells and write its record to ``out``.

    Parameters
    ----------
    out : path
        Of the record. Finished cells wait in ``out`` + ".partial" until all are done; of a sweep that grows
        the record is written after every cell.
    resume : bool
        Go on with the finished cells of an interrupted sweep; of a finished one, give its record.
    overwrite : bool
        Start again although there is a record or an interrupted sweep. Without this and without ``resume``
        either is an error: nothing is thrown away unasked.
    jobs : int
        How many cells run side by side, each on one thread. The record is the same whatever the number.
    minutes : float, optional
        Make as many whole cells as fit into these minutes, for a sweep that says how its cells run side by
        side; a record that is there is gone on with. No cell is shortened, and none begun that cannot end.

    Raises
    ------
    ValueError
        If something would be overwritten or cannot be resumed, if ``out`` is a folder, if two cells have the
        same settings, if minutes are given to a sweep that cannot tell how long its cells take, if
        its cells cannot run side by side, or if its data are not at hand.
    CellError
        If a cell fails. The cells before it are kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> sweep = Sweep("squares", "squares of small numbers", grid(k=(1, 2, 3)), lambda k: {"square": k * k})
    >>> with TemporaryDirectory() as folder:
    ...     record = run_sweep(sweep, f"{folder}/squares.json", progress=False)
    >>> record.column("square").tolist()
    [1, 4, 9]
    """
    out = Path(out)
    began = monotonic()
    if minutes is not None:
        if sweep.scheduler is None or not sweep.grows:
            raise ValueError(
                f"sweep {sweep.name!r} takes no minutes: its cells do not say how long they take"
            )
        finite("minutes", minutes, minimum=0)
        resume = not overwrite
    keys = _checked(sweep, out, resume and overwrite, jobs)
    journal, begun, data = _begin(sweep, out, len(keys), resume, overwrite)
    if begun is not None and len(begun) == len(keys):
        journal.close(remove=True)
        return begun
    if sweep.device.startswith("cuda") and not _gpu():
        journal.close(remove=not journal.done)
        raise ValueError(f"sweep {sweep.name!r} runs on a GPU, and PyTorch finds none here")
    if begun:
        for row in begun:
            cell = _cell_of(sweep, row) or {}
            result = {key: value for key, value in row.items() if key not in cell}
            journal.add(cell, result, begun.provenance["wall_s"])
    started = perf_counter()
    earlier_s = journal.wall_s
    waiting = [dict(cell) for cell, key in zip(sweep.cells, keys) if key not in journal.done]
    earlier = read(out).provenance["hardware"] if sweep.grows and resume and out.exists() else ""
    bar = tqdm(total=len(keys), initial=len(journal.done), desc=sweep.name, unit="cell", disable=not progress)
    saved = False

    record_so_far = partial(_record_of, sweep, keys, journal, data, jobs, earlier)
    if sweep.scheduler is None:
        running = outcomes(sweep.run, waiting, jobs)
    else:
        say = bar.write if progress else lambda line: None
        before = [{**json.loads(key), **result} for key, result in journal.done.items()]
        end = math.inf if minutes is None else began + 60 * minutes
        running = nullcontext(sweep.scheduler.outcomes(waiting, before, lambda: end - monotonic(), say))
    try:
        with bar, running as finishing:
            for cell, result, error in finishing:
                if error:
                    raise CellError(
                        f"cell {json.dumps(cell)} of sweep {sweep.name!r} failed: {error[0]}"
                    ) from (RuntimeError(error[1]))
                journal.add(cell, result or {}, earlier_s + perf_counter() - started)
                bar.update()
                if sweep.grows:
                    record_so_far().save(out)
        record = record_so_far()
        if len(record) == len(keys):
            record.save(out)
            saved = True
    except (KeyboardInterrupt, CellError, OSError) as stop:
        outlook = "no cell was finished, so that there is nothing to resume"
        if journal.done:
            kept = f"{len(journal.done)} of {len(keys)} cells are kept"
            outlook = f"{kept} in {journal.path}, and --resume goes on"
        raise type(stop)(f"{str(stop) or 'stopped'}; {outlook}") from stop.__cause__
    finally:
        journal.close(remove=saved or not journal.done)
    return record


def _begin(
    sweep: Sweep, out: Path, cells: int, resume: bool, overwrite: bool
) -> tuple[Journal, Record | None, dict]:
    """The journal of a sweep, the record that is gone on with, and what the data are."""
    journal = Journal(out.with_name(out.name + ".partial"))
    try:
        if not resume and not overwrite:
            _refuse_to_overwrite(journal, out)
        begun = None
        if resume and not journal.interrupted and out.exists():
            begun = finished_record(sweep, out)
        if isinstance(sweep.data, str) or (begun is not None and len(begun) == cells):
            data = {"source": sweep.data, "sha256": None}
        else:
            data = sweep.data()
        journal.begin(sweep.settings(), resume)
    except BaseException:
        journal.close(remove=not journal.interrupted)
        raise
    return journal, begun, data


def _refuse_to_overwrite(journal: Journal, out: Path) -> None:
    if journal.interrupted:
        raise ValueError(
            f"{journal.path} holds an interrupted sweep: resume it, or overwrite it to start again"
        )
    if out.exists():
        raise ValueError(f"{out} holds a record already: overwrite it, or choose another file")


def _record_of(
    sweep: Sweep, keys: list[str], journal: Journal, data: dict, jobs: int, earlier: str
) -> Record:
    """The record of the cells that are finished; ``earlier`` names the machines of those before."""
    origin = provenance(journal.wall_s, sweep.device, sweep.packages)
    return Record(
        name=sweep.name,
        command=f"patch-association sweep {sweep.name}",
        config=dict(sweep.config),
        results=[{**json.loads(key), **journal.done[key]} for key in keys if key in journal.done],
        provenance=origin | {"jobs": jobs, "hardware": _machines(earlier, origin["hardware"])},
        data=data,
    )


def _gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def _machines(earlier: str, here: str) -> str:
    """A study of many days may move: the machines of its cells, each named once."""
    return earlier if here in earlier.split(" and ") else " and ".join(filter(None, (earlier, here)))


def finished_record(sweep: Sweep, out) -> Record:
    """The record of this sweep in ``out``; ValueError where it is another's, or has other settings."""
    record = read(out)
    theirs = [_cell_of(sweep, row) for row in record]
    ours = json.loads(json.dumps([sweep.name, dict(sweep.config), [dict(cell) for cell in sweep.cells]]))
    if sweep.grows:
        ours[2] = [cell for cell in ours[2] if cell in theirs]
    if [record.name, record.config, theirs] != ours:
        raise ValueError(f"{out} holds a record of other settings than sweep {sweep.name!r} has now")
    return record


def _cell_of(sweep: Sweep, row: Mapping) -> dict | None:
    """The cell that a row of a record has the settings of; None where there is none."""
    cells = (json.loads(json.dumps(dict(cell))) for cell in sweep.cells)
    return next((cell for cell in cells if cell.items() <= row.items()), None)


def _checked(sweep, out, both, jobs) -> list[str]:
    """The cells as JSON, after everything that can be refused before any of them is run."""
    if out.is_dir():
        raise ValueError(f"out must be the file of the record, got the folder {out}")
    if both:
        raise ValueError("resume goes on with what is there and overwrite throws it away: give one of them")
    if positive_int("jobs", jobs) > 1 and not sweep.parallel:
        raise ValueError(f"the cells of {sweep.name!r} cannot run side by side: jobs must be 1, got {jobs}")
    most = max(64, os.cpu_count() or 1)
    if jobs > most:
        raise ValueError(f"jobs must be at most {most} here, got {jobs}")  # thousands end in a crash
    keys = [json.dumps(dict(cell), sort_keys=True) for cell in sweep.cells]
    if len(set(keys)) < len(keys):
        twice = max(keys, key=keys.count)
        raise ValueError(f"the cells of sweep {sweep.name!r} must differ, got {twice} twice")
    return keys
