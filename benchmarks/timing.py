"""How the benchmarks time: two ways of doing the same, in turn, in one process; and how a time grows."""

from __future__ import annotations

import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

import torch

_PASS_S = 5e-3  # a shorter call is repeated: the clock and the interpreter would be measured with it


def compare(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], against: str, rounds: int = 9
) -> dict:
    """Time ``ours`` and ``theirs`` in turn: medians, and the median ratio with its quartiles.

    Wall times on a shared machine drift by a factor of two; measured in turn, both see the same
    machine, and the median of the rounds' ratios is what is worth quoting.
    """
    passes = [(call, _calls(call)) for call in (ours, theirs)]
    pairs = [[_seconds(call, calls) for call, calls in passes] for _ in range(rounds)]
    ratios = [a / b for a, b in pairs]
    low, ratio, high = statistics.quantiles(ratios, n=4)
    return {
        "name": name,
        "ours_s": statistics.median(a for a, _ in pairs),
        "theirs_s": statistics.median(b for _, b in pairs),
        "theirs": against,
        "ratio": ratio,
        "low": low,
        "high": high,
        "rounds": rounds,
    }


def growth(
    name: str, case: Callable[[int], Callable[[], object]], sizes, stated: str, rounds: int = 5
) -> dict:
    """The exponent with which the time of ``case(size)()`` grows in size, by least squares on a log scale.

    One exponent a round, all sizes in turn; their median and quartiles beside the ``stated`` cost.
    """
    passes = [(call, _calls(call)) for call in map(case, sizes)]
    times = [[_seconds(call, calls) for call, calls in passes] for _ in range(rounds)]
    logs = [math.log(size) for size in sizes]
    slopes = [statistics.linear_regression(logs, [math.log(t) for t in row]).slope for row in times]
    low, exponent, high = statistics.quantiles(slopes, n=4)
    seconds = [statistics.median(column) for column in zip(*times)]
    return {
        "name": name,
        "sizes": list(sizes),
        "seconds": seconds,
        "exponent": exponent,
        "low": low,
        "high": high,
        "stated": stated,
        "rounds": rounds,
    }


def bytes_a_second(size: int = 2**26) -> float:
    """How fast one thread of torch reads memory: a sum over 512 MB of doubles, the best of five."""
    x = torch.ones(size, dtype=torch.float64)
    return 8 * size / min(_seconds(x.sum, 1) for _ in range(5))


def machine() -> dict:
    """What a reader must know of where this was timed."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "date": time.strftime("%Y-%m-%d"),
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("patch-association", "numpy", "scipy", "torch")},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _calls(function) -> int:
    """How many calls make a pass; the first call warms up imports, caches, thread pools."""
    function()
    return max(1, round(_PASS_S / max(_seconds(function, 1), 1e-9)))


def _seconds(function, calls: int) -> float:
    """Seconds of one call, over ``calls`` of them."""
    started = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - started) / calls
