"""torchvision for tests, also where only a build for another torch could be installed.

A wheel made for CUDA cannot load its compiled operators beside a CPU torch, and its Python half
then stops at an operator that does not exist. With the two missing operators declared (never
called here), data sets and transforms work.
"""

from __future__ import annotations

import importlib
import sys

import torch

_DECLARED = []


def torchvision_or_none():
    """The torchvision package with its data sets and transforms, or None where it is not installed."""
    try:
        return importlib.import_module("torchvision")
    except ModuleNotFoundError:
        return None
    except RuntimeError as error:
        if "torchvision::" not in str(error) or _DECLARED:
            raise
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _DECLARED.append(library)  # a library that is collected takes its operators with it
    return importlib.import_module("torchvision")


def other_or_none(module: str):
    """A module of a library that builds on torchvision, or None where one of the two is not installed."""
    if torchvision_or_none() is None:
        return None
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        return None
