"""Checkpoints that are whole or absent, with the one before as a fallback.

A checkpoint is a line with a name and a sha256, then what ``torch.save`` writes. The newest is
``checkpoint.pt``, the one before ``checkpoint.previous.pt``.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import warnings
from pathlib import Path

import torch

from patch_association._validate import whole
from patch_lab._files import sync_folder, write_atomically

NEWEST, PREVIOUS = "checkpoint.pt", "checkpoint.previous.pt"
DAMAGED = "checkpoint.damaged.pt"
_MAGIC = b"patch-association checkpoint 1 "


class CheckpointWarning(UserWarning):
    """The newest checkpoint was damaged and the previous one is used."""


def save_checkpoint(folder, state: dict) -> None:
    """Write ``state`` (tensors, numbers, strings, lists, dicts) as the newest checkpoint.

    The old newest becomes the previous one only when the new one is on the disk: killed at any
    moment, at least one whole checkpoint remains.

    Raises
    ------
    OSError
        If it cannot be written (a full disk); what was there before is kept, and the message says so.
    """
    folder = Path(folder)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    payload = buffer.getvalue()
    header = _MAGIC + hashlib.sha256(payload).hexdigest().encode() + b"\n"
    newest, coming = folder / NEWEST, folder / (NEWEST + ".coming")
    try:
        write_atomically(coming, header + payload)
        if newest.exists():
            os.replace(newest, folder / PREVIOUS)
        os.replace(coming, newest)
        sync_folder(folder)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        kept = next((folder / name for name in (NEWEST, PREVIOUS) if (folder / name).exists()), None)
        rest = f"{kept} is whole: make room and go on with --resume" if kept else "there is no earlier one"
        words = f"could not write a checkpoint of {len(payload)} bytes to {folder}: "
        words += f"{'the disk is full' if full else error}; {rest}"
        raise OSError(error.errno, words) from error


def load_checkpoint(folder) -> dict | None:
    """The newest whole checkpoint in ``folder``; None when there is none at all.

    Warns
    -----
    CheckpointWarning
        If the newest is damaged and the previous one is used; the damaged one is set aside.

    Raises
    ------
    ValueError
        If there are checkpoints, and none is whole.
    """
    folder = Path(folder)
    present = [folder / name for name in (NEWEST, PREVIOUS) if (folder / name).exists()]
    problems = []
    for path in present:
        try:
            state = _read(path)
        except ValueError as error:
            problems.append(str(error))
            continue
        if problems:
            # Out of the way, or the next save would put it in the place of the one that is whole.
            os.replace(folder / NEWEST, folder / DAMAGED)
            warnings.warn(f"{problems[0]}; going on from {path.name}", CheckpointWarning, stacklevel=2)
        return state
    if problems:
        raise ValueError("; ".join(problems) + ": remove the folder's checkpoints to start again")
    return None


def _read(path: Path) -> dict:
    content = path.read_bytes()
    header, newline, payload = content.partition(b"\n")
    if not newline or not header.startswith(_MAGIC):
        raise ValueError(f"{path} is no checkpoint of this package, or only the beginning of one")
    if hashlib.sha256(payload).hexdigest().encode() != header.removeprefix(_MAGIC):
        raise ValueError(f"{path} is truncated or altered: its checksum is wrong ({len(content)} bytes)")
    with whole(f"{path} cannot be read by this version of PyTorch"):
        state = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    if not isinstance(state, dict):
        raise ValueError(f"{path} must hold a dict, the state of a training run, got {type(state).__name__}")
    return state
