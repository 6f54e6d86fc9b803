"""Checkpoints of a training run: what ``torch.save`` writes, put in place of the one before in one step."""

from __future__ import annotations

import io
from pathlib import Path

import torch

from patch_association.checks import readable
from patch_lab.kit.files import write_atomically

NEWEST = "checkpoint.pt"


def save_checkpoint(folder, state: dict) -> None:
    """Write ``state`` (tensors, numbers, strings, lists, dicts) in place of the checkpoint before.

    Raises
    ------
    OSError
        If it cannot be written (a full disk); the one before is kept, and the message says so.
    """
    buffer = io.BytesIO()
    torch.save(state, buffer)
    try:
        write_atomically(Path(folder) / NEWEST, buffer.getvalue())
    except OSError as error:
        message = (
            f"could not write a checkpoint to {folder}: {error.strerror or error}; the one before is kept"
        )
        raise OSError(error.errno, f"{message}: make room and go on with --resume") from error


def load_checkpoint(folder) -> dict | None:
    """The checkpoint in ``folder``; None when there is none.

    Raises
    ------
    ValueError
        If it is damaged, or this version of PyTorch cannot read it.
    """
    path = Path(folder) / NEWEST
    if not path.exists():
        return None
    with readable(f"{path} is damaged, or of another version of PyTorch; remove it to start again"):
        state = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise ValueError(f"expected the state of a training run, got {type(state).__name__}")
    return state
