"""The face of a room: names that are imported from its modules when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module


def face(package: str, home: Mapping[str, str]):
    """``__getattr__`` and ``__dir__`` of a package whose names live in its modules.

    Parameters
    ----------
    package : str
        Its full name.
    home : dict
        The module of each name, within the package.
    """

    def __getattr__(name: str):
        if name not in home:
            offered = ", ".join(sorted(home))
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it offers {offered}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return __getattr__, __dir__
