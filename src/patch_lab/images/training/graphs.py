"""CUDA graphs: a function of the device alone, recorded once and launched as one from then on.

On any other device there is nothing to record, and the function itself is what is called.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import cache

import torch

_WARM = 3  # calls before the recording: libraries choose their kernels and make their workspaces


class NotRecorded(UserWarning):
    """A GPU launches kernels one by one, or without a compiler: slower than it could be."""


def recorded(function: Callable[[], None], changed: Callable[[], Sequence[torch.Tensor]], device):
    """``function`` as a CUDA graph, or as it is where there is no GPU; recording it leaves no trace.

    Parameters
    ----------
    function : callable
        Works on tensors that stay where they are, and neither reads nor makes one on the host.
    changed : callable
        Every tensor that the function changes: after the recording they are as before it, and those that it
        made are zero.
    device : torch.device

    Returns
    -------
    callable
        Without arguments.

    Warns
    -----
    NotRecorded
        If the recording fails; then the function itself is returned.
    """
    if device.type != "cuda":
        return function
    kept = snapshot(changed())
    aside = stream("recording")
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(_WARM):
            function()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    replay = None
    try:
        # Another thread may prepare pictures meanwhile: what it allocates is none of this recording's.
        with torch.cuda.graph(graph, stream=aside, capture_error_mode="thread_local"):
            function()
        replay = graph.replay
    except RuntimeError as error:
        warnings.warn(
            f"a step is launched kernel by kernel, since it was not recorded: {error}", NotRecorded, 2
        )
    put_back(changed(), kept)
    return replay or function


def snapshot(changed: Sequence[torch.Tensor]) -> dict[int, tuple[torch.Tensor, torch.Tensor]]:
    """Tensors and what they hold now."""
    return {id(tensor): (tensor, tensor.detach().clone()) for tensor in changed}


@torch.no_grad()
def put_back(changed: Sequence[torch.Tensor], kept: dict[int, tuple[torch.Tensor, torch.Tensor]]) -> None:
    """Tensors as they were; those that came since (an optimizer's averages) begin at zero."""
    for tensor in changed:
        if id(tensor) in kept:
            tensor.copy_(kept[id(tensor)][1])
        else:
            tensor.zero_()


@cache
def stream(name: str) -> torch.cuda.Stream:
    """The stream of this name, made once: PyTorch has 32, and begins again with the first after the last.

    Two uses of one stream would meet in a recording.
    """
    return torch.cuda.Stream()


class Branches:
    """Streams on which parts of a step run beside each other; one after the other without a GPU."""

    def __init__(self, count: int, device):
        self.streams = (
            [stream(f"branch {k}") for k in range(count)] if device.type == "cuda" else [None] * count
        )

    @contextmanager
    def branch(self, number: int):
        """Within this context work goes to a stream of its own, behind what was asked for before."""
        stream = self.streams[number]
        if stream is None:
            yield
            return
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            yield

    def join(self) -> None:
        """What is asked for from now on waits for all branches."""
        for stream in self.streams:
            if stream is not None:
                torch.cuda.current_stream().wait_stream(stream)


def compiled(
    function: Callable, wanted: bool, around: Callable[[Callable], Callable] = lambda f: f
) -> Callable:
    """``around(function)`` with the function by torch.compile where that is wanted and works.

    Parameters
    ----------
    function : callable
    wanted : bool
    around : callable
        Makes what is called of the function: a gradient is compiled when it is first asked for.

    Warns
    -----
    NotRecorded
        If the compiler fails at the first call; then the function itself is called, from then on.
    """
    if not wanted:
        return around(function)
    made: list[Callable] = []  # what is called from the second time on

    def call(*arguments):
        if made:
            return made[0](*arguments)
        fast = around(torch.compile(function, dynamic=False))
        try:
            output = fast(*arguments)
        except Exception as error:
            warnings.warn(f"{function.__name__} is not compiled: {str(error)[:500]}", NotRecorded, 2)
            fast = around(function)
            output = fast(*arguments)
        made.append(fast)
        return output

    return call
