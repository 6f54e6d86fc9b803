"""How the benchmarks time: two ways of doing the same, in turn, in one process; and how a time grows."""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from patch_lab.kit.records.record import processor

QUIET = 0.5  # the most that a machine may do beside what is timed for a table of the book
_PASS_S = 50e-3  # a shorter call is repeated: the clock and the interpreter would be measured with it


class Differs(Exception):
    """The two sides of a comparison do not compute the same, so their times say nothing."""


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    against: str,
    same: Callable[[Any, Any], None],
    rounds: int = 9,
) -> dict:
    """Time ``ours`` and ``theirs`` in turn: medians, and the median ratio with its quartiles.

    First ``same`` gets what one call of each returns; it raises :class:`Differs` unless both are right.
    Wall times on a shared machine drift by a factor of two; measured in turn, both see the same
    machine, and the median of the rounds' ratios is what is worth quoting.
    """
    same(ours(), theirs())
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


def close(tolerance: float) -> Callable[[Any, Any], None]:
    """A check: both sides return the same arrays, up to ``tolerance`` times the largest entry of each."""

    def same(ours, theirs):
        pairs = list(zip(arrays(ours), arrays(theirs), strict=True))
        for number, (a, b) in enumerate(pairs):
            if a.size != b.size or not np.abs(a - b).max() <= tolerance * np.abs(b).max():
                raise Differs(f"result {number} of {len(pairs)} differs by more than {tolerance:g}")

    return same


def estimates(draws: int) -> Callable[[Any, Any], None]:
    """A check: theirs is the share of something among ``draws`` draws, of which ours is the chance.

    Six standard errors: a right sampler is refused with a chance below 1e-8.
    """

    def same(ours, theirs):
        (p,) = np.ravel(ours)
        (share,) = np.ravel(theirs)
        if not abs(share - p) <= 6 * math.sqrt(p * (1 - p) / draws):
            raise Differs(f"{share:g} of {draws:,} draws do not estimate {p:g}")

    return same


def arrays(results) -> list[np.ndarray]:
    """The numbers of a result, tensors or arrays one by one, flat."""
    if isinstance(results, (tuple, list)):
        return [array for part in results for array in arrays(part)]
    if isinstance(results, torch.Tensor):
        results = results.detach().numpy()
    return [np.asarray(results, dtype=np.float64).ravel()]


def bytes_a_second(size: int = 2**26) -> float:
    """How fast the threads of torch read memory: a sum over 512 MB of doubles, the best of five."""
    x = torch.ones(size, dtype=torch.float64)
    return 8 * size / least(x.sum)


def least(function: Callable[[], object], rounds: int = 5) -> float:
    """The least seconds of a call, timed by itself: beside something else it also waits for that."""
    calls = _calls(function)
    return min(_seconds(function, calls) for _ in range(rounds))


def asked(about: str | None, kind: str, known) -> tuple[list[str], bool, dict]:
    """Names on the command line, whether to keep the table, the machine; others and a busy one refused."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar=kind.upper(), help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--keep", action="store_true", help="write the table that the book shows")
    given = parser.parse_args()
    here = machine()
    if unknown := set(given.names) - set(known):
        parser.error(f"there is no {sorted(unknown)[0]!r} among {', '.join(known)}")
    if given.keep and (here["load"] is None or here["load"] > QUIET):
        parser.error(f"--keep needs a quiet machine (load at most {QUIET:g}), this one has {here['load']}")
    return given.names, given.keep, here


def machine() -> dict:
    """What a reader must know of where this was timed."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "date": time.strftime("%Y-%m-%d"),
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("patch-association", "numpy", "scipy", "torch")},
    }


def _calls(function) -> int:
    """How many calls make a pass."""
    return max(1, round(_PASS_S / max(_seconds(function, 1), 1e-9)))


def _seconds(function, calls: int) -> float:
    """Seconds of one call, over ``calls`` of them, after one that does not count.

    That one pays for what the other side left: threads that still wait actively for work, and its data in
    the cache.
    """
    function()
    started = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - started) / calls
