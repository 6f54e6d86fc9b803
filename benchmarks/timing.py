"""How the benchmarks time: two ways of doing the same, in turn, in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def compare(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], against: str, rounds: int = 9
) -> dict:
    """Time ``ours`` and ``theirs`` in turn and report the medians.

    Wall times on a shared machine drift by a factor of two; measured in turn, both see the same
    machine, and the median of the rounds' ratios is what is worth quoting.
    """
    ours(), theirs()  # warm-up: imports, caches, thread pools
    pairs = []
    for _ in range(rounds):
        started = time.perf_counter()
        ours()
        between = time.perf_counter()
        theirs()
        pairs.append((between - started, time.perf_counter() - between))
    return {
        "name": name,
        "ours_s": statistics.median(a for a, _ in pairs),
        "theirs_s": statistics.median(b for _, b in pairs),
        "theirs": against,
        "ratio": statistics.median(a / b for a, b in pairs),
    }
