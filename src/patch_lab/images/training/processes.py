"""One process, or several started by ``torchrun`` (or ``accelerate launch``), by way of accelerate."""

from __future__ import annotations

import os
from contextlib import contextmanager

import torch
from torch import nn

from patch_association.checks import positive_int
from patch_association.images.extras import imported


class OneProcess:
    """Training in a single process: every collective operation does nothing."""

    rank, world = 0, 1

    def __init__(self, device: torch.device):
        self.device = device

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model to call in training steps."""
        return model

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum over all processes."""
        return tensor

    def wait(self) -> None:
        """Until every process has come here."""


class ManyProcesses(OneProcess):
    """One of several processes; gradients are averaged by DistributedDataParallel."""

    def __init__(self, cpu: bool):
        accelerate = imported("accelerate", "training in several processes")
        # The training step chooses the precision.
        self._accelerator = accelerate.Accelerator(cpu=cpu, mixed_precision="no")
        super().__init__(self._accelerator.device)
        self.rank, self.world = self._accelerator.process_index, self._accelerator.num_processes
        self.wrap = self._accelerator.prepare_model
        self.wait = self._accelerator.wait_for_everyone

    def sum(self, tensor):
        return self._accelerator.reduce(tensor, reduction="sum")


def processes(device: str = "auto") -> OneProcess:
    """The place of this process among those that the launcher started, on its own device.

    Raises
    ------
    ValueError
        If the device is not there, or accelerate is missing where several processes were started.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        asked = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device must be auto, cpu, cuda or the like, got {device!r}") from error
    try:
        torch.ones(1, device=asked).item()  # the only question that every kind of device answers
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0].partition(". ")[0]  # the rest lists what PyTorch was built with
        raise ValueError(
            f"device={device} was asked for, and PyTorch cannot use it here: {reason}"
        ) from error
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        return ManyProcesses(cpu=asked.type == "cpu")
    return OneProcess(asked)


def own_share(batch_size: int, place: OneProcess) -> slice:
    """Which pictures of every global batch this process takes: every world-th.

    Raises
    ------
    ValueError
        If the processes would get shares of different size: their averaged gradient would then
        not be the batch's.
    """
    if positive_int("batch_size", batch_size) % place.world:
        raise ValueError(
            f"batch_size must be a multiple of the number of processes, got {batch_size} for {place.world}"
        )
    return slice(place.rank, None, place.world)


@contextmanager
def threads(count: int):
    """Within this context PyTorch computes with so many CPU threads; 0 leaves its choice."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
