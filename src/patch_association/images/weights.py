"""Weights that others trained: read from a file or fetched by timm, and refused where no finite numbers."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

from patch_association.images.extras import imported


def given(model) -> tuple[nn.Module | Mapping[str, torch.Tensor], str]:
    """A module or a dict of tensors, all numbers finite, and what to call it.

    Parameters
    ----------
    model : module, dict of tensors, or str or path
        A path ends in ``.npz``; another text is a name of timm's.

    Raises
    ------
    ValueError
        If it is none of these, if the file or the name cannot be used, or for NaN or infinite weights.
    """
    if isinstance(model, (str, Path)):
        name = str(model)
        model = read_weights(model) if name.endswith(".npz") else fetched(name)
    elif isinstance(model, Mapping):
        pairs = model.items()
        wrong = [key for key, x in pairs if not isinstance(key, str) or not isinstance(x, torch.Tensor)]
        if wrong or not model:
            raise ValueError(f"weights must be tensors by name, got {wrong[:3] or 'none at all'}")
        name = "this dict of weights"
    elif isinstance(model, nn.Module):
        name = type(model).__name__
    else:
        raise ValueError(f"a model must be a module, weights, a file or a name, got {type(model).__name__}")
    for key, value in model.named_parameters() if isinstance(model, nn.Module) else model.items():
        if value.is_meta or value.is_complex() or not torch.isfinite(value).all():
            raise ValueError(f"{name} holds {key!r}, which is no array of finite numbers: {value.dtype}")
    return model, name


def read_weights(path) -> dict[str, torch.Tensor]:
    """The tensors of an npz file by name.

    Raises
    ------
    ValueError
        If it is no whole npz, or holds anything but arrays of numbers.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no whole npz file of arrays: {error}") from error
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise ValueError(f"{path} holds {name!r}, which is no array of finite numbers: {array.dtype}")
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def fetched(name: str) -> nn.Module:
    """A model of timm with its public weights: from the network the first time, then from timm's cache.

    Without either it takes up to a minute until timm gives up.

    Raises
    ------
    ValueError
        If timm cannot be imported or has no model of this name, or the weights cannot be had.
    """
    timm = imported("timm", f"fetching {name}", "compare")
    try:
        timm.create_model(name, pretrained=False)
    except RuntimeError as error:
        raise ValueError(f"timm cannot build a model called {name!r}: {error}") from error
    try:
        return timm.create_model(name, pretrained=True)
    except Exception as error:  # of the network, the hub, the file or the disk: each library has its own
        raise ValueError(
            f"the weights of {name} could not be fetched, and timm's cache has none: the first time "
            f"this needs the network ({type(error).__name__}: {error})"
        ) from error
