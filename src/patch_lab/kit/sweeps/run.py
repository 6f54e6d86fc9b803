"""Running a sweep: which cells are left, making them, and the record of those that are finished."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter

from tqdm import tqdm

from patch_association.checks import finite, positive_int
from patch_lab.kit.records import Record, provenance, read
from patch_lab.kit.sweeps.journal import Journal
from patch_lab.kit.sweeps.outcomes import outcomes
from patch_lab.kit.sweeps.sweep import Sweep


class CellError(RuntimeError):
    """A cell failed; the message names it. The cause holds the traceback, from whatever process it came."""


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
    >>> from patch_lab.kit.sweeps.sweep import grid
    >>> sweep = Sweep("squares", "squares of small numbers", grid(k=(1, 2, 3)), lambda k: {"square": k * k})
    >>> with TemporaryDirectory() as folder:
    ...     record = run_sweep(sweep, f"{folder}/squares.json", progress=False)
    >>> record.column("square").tolist()
    [1, 4, 9]
    """
    out = Path(out)
    began = monotonic()
    if minutes is not None:
        _check_minutes(sweep, minutes)
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
        _enter_rows(sweep, begun, journal)
    earlier_hardware = read(out).provenance["hardware"] if sweep.grows and resume and out.exists() else ""
    record_so_far = partial(_record_of, sweep, keys, journal, data, jobs, earlier_hardware)
    end = math.inf if minutes is None else began + 60 * minutes
    is_saved = False
    try:
        _make_cells(sweep, keys, journal, jobs, end, progress, after_each=record_so_far, out=out)
        record = record_so_far()
        if len(record) == len(keys):
            record.save(out)
            is_saved = True
    except (KeyboardInterrupt, CellError, OSError) as stop:
        raise type(stop)(f"{str(stop) or 'stopped'}; {_outlook(journal, len(keys))}") from stop.__cause__
    finally:
        journal.close(remove=is_saved or not journal.done)
    return record


def _check_minutes(sweep: Sweep, minutes: float) -> None:
    if sweep.scheduler is None or not sweep.grows:
        raise ValueError(f"sweep {sweep.name!r} takes no minutes: its cells do not say how long they take")
    finite("minutes", minutes, minimum=0)


def _enter_rows(sweep: Sweep, record: Record, journal: Journal) -> None:
    """Note the cells of a record that is gone on with as finished."""
    for row in record:
        cell = _cell_of(sweep, row) or {}
        result = {key: value for key, value in row.items() if key not in cell}
        journal.add(cell, result, record.provenance["wall_s"])


def _make_cells(
    sweep: Sweep,
    keys: list[str],
    journal: Journal,
    jobs: int,
    end: float,
    progress: bool,
    after_each: Callable[[], Record],
    out: Path,
) -> None:
    """Run the cells that are not in the journal yet, and note each there; a sweep that grows is saved."""
    started = perf_counter()
    earlier_s = journal.wall_s
    bar = tqdm(total=len(keys), initial=len(journal.done), desc=sweep.name, unit="cell", disable=not progress)
    say = bar.write if progress else lambda line: None
    with bar, _outcomes(sweep, keys, journal, jobs, end, say) as finishing:
        for cell, result, error in finishing:
            if error:
                what, traceback = error
                message = f"cell {json.dumps(cell)} of sweep {sweep.name!r} failed: {what}"
                raise CellError(message) from RuntimeError(traceback)
            journal.add(cell, result or {}, earlier_s + perf_counter() - started)
            bar.update()
            if sweep.grows:
                after_each().save(out)


def _outcomes(sweep: Sweep, keys: list[str], journal: Journal, jobs: int, end: float, say):
    """A context with the outcomes of the cells that wait: one by one, in processes, or by the scheduler."""
    waiting = [dict(cell) for cell, key in zip(sweep.cells, keys) if key not in journal.done]
    if sweep.scheduler is None:
        return outcomes(sweep.run, waiting, jobs)
    done = [{**json.loads(key), **result} for key, result in journal.done.items()]
    return nullcontext(sweep.scheduler.outcomes(waiting, done, lambda: end - monotonic(), say))


def _outlook(journal: Journal, cells: int) -> str:
    """What an interrupted sweep leaves to go on with."""
    if not journal.done:
        return "no cell was finished, so that there is nothing to resume"
    return f"{len(journal.done)} of {cells} cells are kept in {journal.path}, and --resume goes on"


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
