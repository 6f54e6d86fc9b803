"""Other people's libraries, which this package does without until they are needed."""

from __future__ import annotations

import importlib


def imported(module: str, purpose: str):
    """The module of another library, or an error that says how to install it.

    Parameters
    ----------
    module : str
        Its full name, as in ``import module``.
    purpose : str
        What needs it: the beginning of the error's sentence.

    Raises
    ------
    ValueError
        If it is missing or cannot be loaded, as a build that does not fit torch.
    """
    try:
        return importlib.import_module(module)
    except (ImportError, RuntimeError, OSError) as error:
        library = module.partition(".")[0]
        broken = getattr(error, "name", None) != library
        name, here = library.replace("_", "-"), "does not load here" if broken else "is not installed"
        raise ValueError(
            f"{purpose} needs {name}, which {here} ({error}): pip install {name}"
            + broken * ", with builds that fit this torch"
        ) from error
