"""As many whole cells as fit into the time there is: none is shortened, and none begun that cannot end."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from patch_lab.kit.sweeps.outcomes import as_recorded

#: A prediction is believed to this factor: a machine that is shared slows down.
CAUTION = 1.1


class Ready(Protocol):
    """Cells that are set up and timed, and not begun."""

    def seconds(self) -> float:
        """How long they take from now on, measured on this machine."""
        ...

    def run(self) -> list[dict]:
        """Their results, in order."""
        ...


@dataclass(frozen=True)
class SideBySide:
    """How cells of a sweep run beside each other on one device.

    Attributes
    ----------
    alike : callable
        ``alike(one, other)``: whether two cells may.
    most : int
        How many at the most.
    ready : callable
        ``ready(cells, done)``: a context whose value is :class:`Ready`; ``done`` holds the finished cells of
        the sweep, each with its result.
    least : callable
        ``least(cells)``: seconds that no machine goes below; more is not tried.
    """

    alike: Callable[[dict, dict], bool]
    most: int
    ready: Callable[[list[dict], list[dict]], AbstractContextManager[Ready]]
    least: Callable[[list[dict]], float] = lambda cells: 0.0


def fitting(
    how: SideBySide,
    cells: Sequence[dict],
    minutes: float | None,
    clock: Callable[[], float],
    say: Callable[[str], None],
    began: float,
    done: Sequence[dict],
) -> Iterator[tuple[dict, dict | None, tuple[str, str] | None]]:
    """The outcomes of cells that fit, in their order: (cell, result, None) or (cell, None, error).

    The first cell that waits and those after it that are alike are set up and timed; as many of them are
    begun as end in time. Where not even the first fits, the next one that is not alike is looked at.

    Parameters
    ----------
    how : SideBySide
    cells : sequence of dict
    minutes : float, optional
        From ``began`` on; without it everything is run.
    clock, say : callables
    began : float
        What the clock said when the time began to count.
    done : sequence of dict
        Cells that were finished before, each with its result.
    """
    end = None if minutes is None else began + 60 * minutes
    waiting = list(cells)
    too_long = []
    finished = list(done)
    while waiting:
        first = waiting[0]
        if any(how.alike(first, other) for other in too_long):
            waiting.pop(0)
            continue
        group = [cell for cell in waiting if cell == first or how.alike(first, cell)][: how.most]
        results = None
        while group and results is None:
            left = float("inf") if end is None else end - clock()
            if how.least(group) > left:
                group.pop()
                continue
            try:
                with how.ready(group, finished) as ready:
                    needed = CAUTION * ready.seconds()
                    left = float("inf") if end is None else end - clock()
                    if needed <= left:
                        say(f"{len(group)} side by side, {needed:.0f} s: {group}")
                        results = [as_recorded(result) for result in ready.run()]
                    else:
                        say(f"{len(group)} side by side would take {needed:.0f} s, and {left:.0f} s are left")
            except Exception as error:
                said = " ".join(f"{type(error).__name__}: {error}".split())
                yield group[0], None, (said, traceback.format_exc())
                return
            if results is not None:
                for cell, result in zip(group, results, strict=True):
                    waiting.remove(cell)
                    finished.append(cell | result)
                    yield cell, result, None
            else:  # half as many take half as long at best: no more are asked for than may fit
                group = (
                    group[: min(len(group) - 1, max(1, int(len(group) * left / needed)))] if left > 0 else []
                )
        if results is None:
            too_long.append(waiting.pop(0))
