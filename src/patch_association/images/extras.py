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
        name = library.replace("_", "-")
        if getattr(error, "name", None) == library:
            state = f"is not installed ({error}): pip install {name}"
        else:
            state = f"does not load here ({error}): pip install {name}, with builds that fit this torch"
        raise ValueError(f"{purpose} needs {name}, which {state}") from error
