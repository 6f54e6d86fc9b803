"""Cells that train side by side on one device, as many whole ones as fit into the time there is.

None is shortened, and none begun that cannot end.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from patch_lab.kit.sweeps.outcomes import as_recorded

#: A prediction, by a whole epoch on this very machine, is believed to this factor.
CAUTION = 1.03


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
    """How cells of a sweep run beside each other on one device: a sweep's ``scheduler``.

    Attributes
    ----------
    alike : callable
        ``alike(one, other)``: whether two cells may.
    most : int
        How many at the most.
    ready : callable
        ``ready(cells, done)``: a context whose value is :class:`Ready`; ``done`` holds the finished cells of
        the sweep, each with its result.
    least_seconds : callable
        ``least_seconds(cells)``: what no machine goes below; more is not tried.
    """

    alike: Callable[[dict, dict], bool]
    most: int
    ready: Callable[[list[dict], list[dict]], AbstractContextManager[Ready]]
    least_seconds: Callable[[list[dict]], float] = lambda cells: 0.0

    def outcomes(
        self,
        cells: Sequence[dict],
        done: Sequence[dict],
        seconds_left: Callable[[], float],
        say: Callable[[str], None],
    ) -> Iterator[tuple[dict, dict | None, tuple[str, str] | None]]:
        """The outcomes of cells that fit, in their order: (cell, result, None) or (cell, None, error).

        The first cell that waits and those after it that are alike are set up and timed; as many of them are
        begun as end in time. Where not even the first fits, the next one that is not alike is looked at.
        """
        waiting = list(cells)
        finished = list(done)
        too_long: list[dict] = []
        while waiting:
            first = waiting[0]
            if any(self.alike(first, other) for other in too_long):
                waiting.pop(0)
                continue
            group = [cell for cell in waiting if cell == first or self.alike(first, cell)][: self.most]
            try:
                group, results = self._run_what_fits(group, finished, seconds_left, say)
            except Exception as error:
                words = " ".join(f"{type(error).__name__}: {error}".split())
                yield first, None, (words, traceback.format_exc())
                return
            if not group:
                too_long.append(waiting.pop(0))
            for cell, result in zip(group, results, strict=True):
                waiting.remove(cell)
                finished.append(cell | result)
                yield cell, result, None

    def _run_what_fits(self, group, finished, seconds_left, say) -> tuple[list[dict], list[dict]]:
        """The first cells of a group that end in time, with their results; none where not even one does."""
        while group:
            if self.least_seconds(group) > seconds_left():
                group = group[:-1]
                continue
            with self.ready(group, finished) as ready:
                needed = CAUTION * ready.seconds()
                left = seconds_left()
                if needed <= left:
                    say(f"{len(group)} side by side, {needed:.0f} s: {group}")
                    return group, [as_recorded(result) for result in ready.run()]
                say(f"{len(group)} side by side would take {needed:.0f} s, and {left:.0f} s are left")
            # Half as many take half as long at best: no more are asked for than may fit.
            fewer = min(len(group) - 1, max(1, int(len(group) * left / needed)))
            group = group[:fewer] if left > 0 else []
        return [], []
