"""Cells run one by one or side by side, in processes; each on one thread, none raising."""

from __future__ import annotations

import json
import os
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def outcomes(run, cells: list[dict], jobs: int):
    """The outcomes of cells in the order in which they finish: (cell, result, None) or (cell, None, error).

    An error is a pair: what went wrong in words, and the traceback. Leaving the context stops the cells that
    are still running.
    """
    from joblib import Parallel, delayed

    tasks = [delayed(_measured)(run, cell, os.getpid()) for cell in cells]
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)  # pyright: ignore
    finishing: Any = parallel(tasks)
    try:
        yield finishing
    finally:
        with warnings.catch_warnings():  # joblib says that cells were stopped: that is what was asked
            warnings.simplefilter("ignore", UserWarning)
            finishing.close()


def run_cell(run, cell: dict) -> dict:
    """The result of a cell, run on one thread, as a record gives it back."""
    with _one_thread():
        return as_recorded(run(**cell))


def as_recorded(result) -> dict:
    """What a cell returned, as a record gives it back."""
    result = as_json(result, "its result")
    result = {"value": result} if isinstance(result, (int, float)) else result
    if not isinstance(result, dict):
        raise ValueError(
            f"its result must be a dict of JSON values, or a number, got {type(result).__name__}"
        )
    return json.loads(json.dumps(result, allow_nan=False))


def as_json(value, what: str) -> Any:
    """A value as JSON has it: what NumPy and PyTorch make becomes numbers and lists.

    Raises
    ------
    ValueError
        If it is something else, such as an object or a set; ``what`` begins the sentence.
    """
    if isinstance(value, Mapping):
        return {str(key): as_json(item, what) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        values = [as_json(item, what) for item in value]
        return tuple(values) if isinstance(value, tuple) else values
    if hasattr(value, "tolist"):
        return as_json(value.tolist(), what)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{what} must hold numbers, texts, lists or dicts, got {type(value).__name__}")


def _measured(run, cell: dict, parent: int) -> tuple[dict, dict | None, tuple[str, str] | None]:
    """A cell with its result, or with what went wrong."""
    if parent != os.getpid():
        _end_with(parent)
    try:
        return cell, run_cell(run, cell), None
    except Exception as error:
        return cell, None, (" ".join(f"{type(error).__name__}: {error}".split()), traceback.format_exc())


@cache
def _end_with(parent: int) -> None:
    """Let this worker end when the process that started it is killed, rather than wait for it."""

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _one_thread():
    """Sums are in one order on one thread: the result does not depend on the cores or the other cells."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)
