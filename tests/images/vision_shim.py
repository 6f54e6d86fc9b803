"""torchvision for tests, also where only a build for another torch could be installed.

A wheel made for CUDA cannot load its compiled operators beside a CPU torch, and its Python half
then stops at an operator that does not exist. With the two missing operators declared (never
called here), data sets and transforms work.
"""

from __future__ import annotations

import importlib
import sys

import pytest
import torch

_DECLARED = []


def compare_with(module: str):
    """A module of torchvision, or of a library that builds on it, to hold ours against.

    Where it cannot be imported the test ends here, and the end of the run says that it was not compared.
    """
    try:
        load_torchvision()
        return importlib.import_module(module)
    except (ImportError, OSError) as error:
        pytest.skip(f"not compared: {module} cannot be imported here ({error})")


def load_torchvision():
    try:
        return importlib.import_module("torchvision")
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
