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
from patch_association._validate import positive_int
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
    device : str
        Where the cells run, for the record's line on hardware.
    packages : tuple of str
        What the results depend on beyond the packages that every record names.
    """

    name: str
    summary: str
    minutes: float
    cells: tuple[Mapping, ...]
    run: Callable[..., dict]
    config: Mapping = field(default_factory=dict)
    device: str = "cpu"
    packages: tuple[str, ...] = ()


def run_sweep(
    sweep: Sweep, out, resume: bool = False, progress: bool = True, limit: int | None = None
) -> Record:
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
        If there are finished cells and ``resume`` is off, they belong to other settings or their
        file is damaged; if ``out`` is a folder; if two cells have the same settings.
    """
    out = Path(out)
    if out.is_dir():  # said now, not after hours of work
        raise ValueError(f"out must be the file of the record, got the folder {out}")
    if limit is not None:
        positive_int("limit", limit, minimum=0)
    keys = [json.dumps(dict(cell), sort_keys=True) for cell in sweep.cells]
    if len(set(keys)) < len(keys):
        twice = max(keys, key=keys.count)
        raise ValueError(f"the cells of sweep {sweep.name!r} must differ, got {twice} twice")
    partial = out.with_name(out.name + ".partial")
    identity = json.dumps([sweep.name, dict(sweep.config), [dict(c) for c in sweep.cells]], sort_keys=True)
    done: dict[str, dict] = {}
    spent = 0.0
    if partial.exists():
        if not resume:
            raise ValueError(f"{partial} holds an interrupted sweep: resume it, or remove it to start again")
        try:
            state = json.loads(partial.read_text(encoding="utf-8"))
            theirs, done, spent = state["identity"], state["done"], state["wall_s"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{partial} is damaged ({error!r}); remove it to start again") from error
        if theirs != identity:
            raise ValueError(
                f"{partial} belongs to other settings of sweep {sweep.name!r}; remove it to start again"
            )
    started = time.perf_counter()
    fresh = 0
    for cell, key in zip(tqdm(sweep.cells, desc=sweep.name, unit="cell", disable=not progress), keys):
        if key in done:
            continue
        if limit is not None and fresh == limit:
            break
        # Through JSON, so that a result is the same whether this run made it or the file gives it back.
        done[key] = json.loads(json.dumps(sweep.run(**cell), allow_nan=False))
        fresh += 1
        wall = spent + time.perf_counter() - started
        state = {"identity": identity, "done": done, "wall_s": wall}
        write_atomically(partial, json.dumps(state, allow_nan=False))
    results = [{**json.loads(key), **done[key]} for key in keys if key in done]
    record = Record(
        name=sweep.name,
        command=f"patch-association sweep {sweep.name}",
        config=dict(sweep.config),
        results=results,
        provenance=provenance(spent + time.perf_counter() - started, sweep.device, sweep.packages),
    )
    if len(results) == len(sweep.cells):
        record.save(out)
        partial.unlink(missing_ok=True)
    return record


def registry() -> dict[str, Sweep]:
    """Every sweep by name."""
    from patch_association.sweeps import (
        dynamics,
        images,
        setting,
        shallow_vit,
        transfer,
        vit_blocks,
        vit_steps,
    )

    modules = (setting, dynamics, transfer, images, vit_steps, vit_blocks, shallow_vit)
    return {sweep.name: sweep for module in modules for sweep in module.SWEEPS}
