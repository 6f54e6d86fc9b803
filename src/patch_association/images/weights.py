"""Weights that others trained: read from a file or fetched by timm, and refused where no finite numbers.

Nothing is unpickled: a file of PyTorch is read with ``weights_only=True``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from patch_association.checks import fits_memory, readable
from patch_association.images.extras import imported
from patch_association.images.families import unwrapped

# Arrays of up to so many bytes are unpacked from a file of any size, larger ones at up to this ratio.
_UNPACKED = 2**28
_PACKING = 100
_TORCH = (".pt", ".pth", ".bin", ".ckpt", ".tar")
#: What a file may be called.
ENDINGS = (".npz", ".safetensors", *_TORCH)
#: What a folder of weights may hold, and under which keys a checkpoint keeps its weights.
_IN_FOLDER = ("model.safetensors", "pytorch_model.bin", "checkpoint.pt")
_KEPT_UNDER = (
    "state_dict", "model", "model_state_dict", "module", "teacher", "student", "model_ema", "state_dict_ema",
    "backbone",
)  # fmt: skip
#: Which of these are averages over steps of another network that may stand beside them.
_AVERAGED = ("teacher", "model_ema", "state_dict_ema")
_PART = re.compile(r"-\d{5}-of-\d{5}\.")
#: Numbers in which weights can be used as they stand; those of eight bits have scales beside them.
_NUMBERS = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool}
_NUMBERS |= {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}


class Given(NamedTuple):
    """A model, what to call it, and what the file ``config.json`` beside its weights says of it."""

    model: nn.Module | Mapping[str, torch.Tensor]
    name: str
    about: dict[str, Any]


def given(model) -> Given:
    """A module or a dict of tensors, all numbers finite, and what to call it.

    Parameters
    ----------
    model : module, dict of tensors, array or tensor, or str or path
        What exists on the disk is a file of weights (:func:`read_weights`); another text is a name of timm's.
        An array is encodings alone, (N, width) or (rows, columns, width).

    Raises
    ------
    ValueError
        If it is none of these, if the file or the name cannot be used, or for NaN or infinite weights.
    """
    about = {}
    if isinstance(model, (str, Path)):
        name = str(model)
        missing = isinstance(model, Path) or name.endswith(ENDINGS)
        if missing or Path(model).exists():
            about = _beside(Path(model))
            model = read_weights(model)
        else:
            model = fetched(name)
    elif isinstance(model, (np.ndarray, torch.Tensor)):
        name = "this array"
        model = {"pos": torch.as_tensor(np.array(model)) if isinstance(model, np.ndarray) else model}
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
        if value.is_meta or value.dtype not in _NUMBERS or not torch.isfinite(value).all():
            raise ValueError(
                f"{name} holds {key!r}, which is no array of finite numbers: {value.dtype}, and expected are "
                "weights of 16, 32 or 64 bits"
            )
    model = unwrapped(model)
    config: Any = getattr(model, "config", None)
    if getattr(config, "mask_ratio", None) is not None:
        # A masked autoencoder shuffles its patches: its encoder is read from its tensors.
        model = getattr(model, "base_model", model).state_dict()
        about = config.to_dict()
    return Given(model, name, about)


def _beside(path: Path) -> dict[str, Any]:
    """What ``config.json`` says of the weights in a folder, as transformers writes it."""
    if not path.is_dir() and path.name not in _IN_FOLDER:
        return {}
    folder = path if path.is_dir() else path.parent
    if not (folder / "config.json").is_file():
        return {}
    with readable(f"{folder / 'config.json'} does not say what the weights beside it are"):
        return dict(json.loads((folder / "config.json").read_text(encoding="utf-8")))


def read_weights(path) -> dict[str, torch.Tensor]:
    """The tensors of a file by name: ``.npz``, ``.safetensors``, or PyTorch's ``.pth``, ``.pt``, ``.tar``.

    A checkpoint keeps its weights under a key such as ``model``: these are taken. A folder is read where it
    holds ``model.safetensors``, ``pytorch_model.bin`` or a training run's ``checkpoint.pt``.

    Raises
    ------
    ValueError
        If there is no such file, it is not whole, claims more than it can hold, or holds anything but
        numbers; if reading it would run code that it brings.
    """
    path = Path(path)
    if path.is_dir():
        inside = [path / name for name in _IN_FOLDER if (path / name).is_file()]
        if not inside and any(map(_PART.search, os.listdir(path))):
            raise ValueError(f"{path} holds its weights in parts: give the module that loads all of them")
        if not inside:
            raise ValueError(f"{path} is a folder without {', '.join(_IN_FOLDER)}: name a file of weights")
        path = inside[0]
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    if _PART.search(path.name):
        raise ValueError(f"{path.name} holds a part of the weights: give the module that loads all parts")
    if path.suffix == ".safetensors":
        reader = imported("safetensors.torch", f"reading {path}")
        with readable(f"{path} is no whole safetensors file"):
            return reader.load_file(path)
    if path.suffix in _TORCH:
        with readable(f"{path} is no whole file of tensors that PyTorch reads without running code"):
            try:
                with torch.serialization.safe_globals([argparse.Namespace]):  # the options beside weights
                    held = torch.load(path, map_location="cpu", weights_only=True)
            except pickle.UnpicklingError as error:  # whose message is a page
                raise ValueError("it holds more than tensors: save model.state_dict()") from error
        return _weights_in(held, path)
    if path.suffix != ".npz":
        raise ValueError(f"{path} is no file of weights: its name must end in {', '.join(ENDINGS)}")
    message = f"{path} is no whole npz file of arrays"
    arrays = read_arrays(path, message)
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or not array.size or not np.isfinite(array).all():
            came = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"{path} holds {name!r}, which is no array of finite numbers: {came}")
    with readable(message):  # types that PyTorch has not
        return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _weights_in(held, path) -> dict[str, torch.Tensor]:
    """The tensors of a checkpoint, by name."""

    def kept():
        return [key for key in _KEPT_UNDER if isinstance(held.get(key), Mapping)]

    while isinstance(held, Mapping) and (inside := kept()):
        averaged = [key for key in inside if key in _AVERAGED]
        if averaged and len(inside) > 1:
            other = next(key for key in inside if key != averaged[0])
            raise ValueError(
                f"{path} holds two networks: give the tensors of its {averaged[0]!r} or of its {other!r}"
            )
        held = held[inside[0]]
    if not isinstance(held, Mapping) or not any(isinstance(value, torch.Tensor) for value in held.values()):
        came = list(held)[:8] if isinstance(held, Mapping) else type(held).__name__
        under = ", ".join(_KEPT_UNDER)
        raise ValueError(f"{path} must hold tensors by name, perhaps under {under}; got {came}")
    return {str(key): value for key, value in held.items() if isinstance(value, torch.Tensor)}


def read_arrays(path, message: str) -> dict[str, np.ndarray]:
    """The arrays of an npz file by name; nothing is unpickled.

    What its headers claim is looked at before anything is unpacked, so that a small file cannot ask for all
    memory, or for minutes.

    Parameters
    ----------
    path : str or path
    said : str (how the error begins)

    Raises
    ------
    ValueError
        ``said``, and what is wrong with the file.
    """
    with readable(message), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        size = Path(path).stat().st_size
        claimed = sum(member.file_size for member in members)
        if claimed > max(_UNPACKED, _PACKING * size):
            raise ValueError(f"it claims {claimed:,} bytes of arrays, packed into {size:,}")
        fits_memory("its arrays", claimed, 1)
        return {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    name = member.filename
    form = np.lib.format
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
    timm = imported("timm", f"there is no file {name}, and fetching a model of this name")
    try:
        timm.create_model(name, pretrained=False)
    except RuntimeError as error:
        message = str(error).partition("\n")[0]
        raise ValueError(
            f"there is no file {name!r}, and timm has no model of this name: {message}"
        ) from error
    try:
        return timm.create_model(name, pretrained=True)
    except Exception as error:  # of the network, the hub, the file or the disk: each library has its own
        raise ValueError(
            f"the weights of {name} could not be fetched, and timm's cache has none: the first time "
            f"this needs the network ({type(error).__name__}: {error})"
        ) from error
