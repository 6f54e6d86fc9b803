"""Recorded sweeps: grids of cells, run one by one, resumable, written as a record.

``patch-association sweep NAME`` runs one. After every finished cell the results so far are on the
disk; a sweep that is stopped goes on where it stopped with ``--resume`` and ends with the same
results as one that was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from patch_association._files import write_atomically
from patch_association.records import Record, provenance


@dataclass(frozen=True)
class Sweep:
    """A grid of cells and the function that computes one.

    Attributes
    ----------
    name : str
    summary : str
        What it measures, in a sentence.
    minutes : float
        About how long it takes on two CPU cores.
    cells : tuple of dict
        The settings of each cell: JSON values that name it uniquely.
    run : callable
        ``run(**cell)`` -> dict of JSON values. The same cell gives the same result.
    config : dict
        Settings common to all cells, for the record.
    """

    name: str
    summary: str
    minutes: float
    cells: tuple[Mapping, ...]
    run: Callable[..., dict]
    config: Mapping = field(default_factory=dict)


def run_sweep(sweep: Sweep, out, resume: bool = False, progress: bool = True, limit: int | None = None) -> Record:
    """Run a sweep's cells and write its record to ``out``.

    Parameters
    ----------
    out : path
        Of the record. Finished cells wait in ``out`` + ".partial" until all are done.
    resume : bool
        Go on with the finished cells of an interrupted sweep. Without it, such cells are an error:
        nothing is thrown away unasked.
    limit : int, optional
        Stop after this many new cells, leaving the rest to ``resume``.

    Raises
    ------
    ValueError
        If there are finished cells and ``resume`` is off, or they belong to other settings.
    """
    out = Path(out)
    partial = out.with_name(out.name + ".partial")
    identity = json.dumps([sweep.name, dict(sweep.config), [dict(c) for c in sweep.cells]], sort_keys=True)
    done: dict[str, dict] = {}
    spent = 0.0
    if partial.exists():
        if not resume:
            raise ValueError(f"{partial} holds an interrupted sweep: resume it, or remove the file to start again")
        state = json.loads(partial.read_text(encoding="utf-8"))
        if state["identity"] != identity:
            raise ValueError(f"{partial} belongs to other settings of sweep {sweep.name!r}; remove it to start again")
        done, spent = state["done"], state["wall_s"]
    started = time.perf_counter()
    fresh = 0
    for cell in tqdm(sweep.cells, desc=sweep.name, unit="cell", disable=not progress):
        key = json.dumps(dict(cell), sort_keys=True)
        if key in done:
            continue
        if limit is not None and fresh == limit:
            break
        done[key] = sweep.run(**cell)
        fresh += 1
        wall = spent + time.perf_counter() - started
        write_atomically(partial, json.dumps({"identity": identity, "done": done, "wall_s": wall}, allow_nan=False))
    results = [{**cell, **done[key]} for cell in sweep.cells if (key := json.dumps(dict(cell), sort_keys=True)) in done]
    record = Record(
        name=sweep.name,
        command=f"patch-association sweep {sweep.name}",
        config=dict(sweep.config),
        results=results,
        provenance=provenance(spent + time.perf_counter() - started),
    )
    if len(results) == len(sweep.cells):
        record.save(out)
        partial.unlink(missing_ok=True)
    return record


def registry() -> dict[str, Sweep]:
    """Every sweep by name."""
    from patch_association.sweeps import images, setting

    return {sweep.name: sweep for module in (setting, images) for sweep in module.SWEEPS}
