"""Weights that others trained: read from a file or fetched by timm, and refused where no finite numbers."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

from patch_association._validate import fits_memory, whole
from patch_association.images.extras import imported

# Arrays of up to so many bytes are unpacked from a file of any size, larger ones at up to this ratio.
_UNPACKED, _PACKING = 2**28, 100


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
        If it is no whole npz, claims more than it can hold, or holds anything but arrays of numbers.
    """
    said = f"{path} is no whole npz file of arrays"
    arrays = read_arrays(path, said)
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or not array.size or not np.isfinite(array).all():
            came = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"{path} holds {name!r}, which is no array of finite numbers: {came}")
    with whole(said):  # types that PyTorch has not
        return {name: torch.from_numpy(array) for name, array in arrays.items()}


def read_arrays(path, said: str) -> dict[str, np.ndarray]:
    """The arrays of an npz file by name; nothing is unpickled.

    What its headers claim is looked at before anything is unpacked, so that a small file cannot ask for all
    memory, or for minutes.

    Raises
    ------
    ValueError
        ``said``, and what is wrong with the file.
    """
    with whole(said), zipfile.ZipFile(path) as archive:
        members, size = archive.infolist(), Path(path).stat().st_size
        claimed = sum(member.file_size for member in members)
        if claimed > max(_UNPACKED, _PACKING * size):
            raise ValueError(f"it claims {claimed:,} bytes of arrays, packed into {size:,}")
        fits_memory("its arrays", claimed, 1)
        return {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    name, form = member.filename, np.lib.format
    with archive.open(member) as file:
        reader = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}
        shape, _, dtype = reader[form.read_magic(file)](file)
        claimed = math.prod(shape) * max(1, dtype.itemsize) + file.tell()
        if claimed != member.file_size and not dtype.hasobject:
            raise ValueError(f"{name} claims {claimed:,} bytes, and {member.file_size:,} are there")
    with archive.open(member) as file:  # to its end: then its checksum is checked
        return form.read_array(file, allow_pickle=False)


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
