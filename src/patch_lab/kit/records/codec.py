"""Numbers as JSON: one rounding, one form for arrays, one hash for drawn data."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_ENCODED = re.compile(r"(f[248]):(\d+(?:x\d+)*):([A-Za-z0-9+/]*=*)")


def rounded(values, digits: int = 5) -> Any:
    """Values as JSON holds them, floats with so many significant digits.

    Parameters
    ----------
    values : number, array, tensor, or lists and dicts of them
        Integers, booleans, texts and None stay as they are.
    digits : int

    Returns
    -------
    number, list or dict
        Arrays become lists; what is not finite becomes None.

    Examples
    --------
    >>> rounded({"error": np.array([1 / 3, np.nan]), "steps": np.arange(2)}, digits=2)
    {'error': [0.33, None], 'steps': [0, 1]}
    """
    if isinstance(values, Mapping):
        return {key: rounded(value, digits) for key, value in values.items()}
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return [rounded(value, digits) for value in values]
    if isinstance(values, float):
        return float(f"{values:.{digits}g}") if math.isfinite(values) else None
    return values


def encode(array, dtype: str = "f2") -> str:
    """An array as one text: its type, its shape, and its values in base 64.

    Parameters
    ----------
    array : array or tensor of real numbers
    dtype : "f2", "f4" or "f8"
        How many bytes a number may take; half precision keeps three digits.

    Raises
    ------
    ValueError
        For another type, or a number that is not finite in it.
    """
    if dtype not in ("f2", "f4", "f8"):
        raise ValueError(f"dtype must be f2, f4 or f8, got {dtype!r}")
    values = np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)
    with np.errstate(over="ignore"):  # refused just below
        values = values.astype(f"<{dtype}")
    if not np.isfinite(values).all():
        raise ValueError(
            f"array must be finite in {dtype}, got {int((~np.isfinite(values)).sum())} that are not"
        )
    return f"{dtype}:{'x'.join(map(str, values.shape))}:{base64.b64encode(values.tobytes()).decode()}"


def decode(text: str) -> np.ndarray:
    """The array behind a text of :func:`encode`, in float64.

    Raises
    ------
    ValueError
        If it is no such text, or does not hold as many numbers as it says.
    """
    match = _ENCODED.fullmatch(text)
    if not match:
        raise ValueError(f"an encoded array looks like f2:3x4:..., got {text[:40]!r}")
    dtype, shape, values = match.groups()
    try:
        array = np.frombuffer(base64.b64decode(values), dtype=f"<{dtype}").astype(np.float64)
        return array.reshape([int(side) for side in shape.split("x")])
    except (ValueError, OverflowError) as error:  # bytes are missing, or the shape is no shape
        raise ValueError(
            f"an encoded array holds as many numbers as it says, got {text[:40]!r}: {error}"
        ) from None


def is_encoded(value) -> bool:
    """Whether this is a text of :func:`encode`."""
    return isinstance(value, str) and _ENCODED.fullmatch(value) is not None


def bits(right) -> str:
    """Booleans as hexadecimal text, eight a byte."""
    return np.packbits(np.asarray(right, dtype=bool)).tobytes().hex()


def from_bits(text: str, n: int) -> np.ndarray:
    """The n booleans behind a text of :func:`bits`."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8))[:n].astype(bool)


def fingerprint(*arrays) -> str:
    """sha256 of the shapes and of the values to three decimals: the same on every machine."""
    sha = hashlib.sha256()
    for array in arrays:
        values = np.rint(1000 * np.asarray(array, dtype=np.float64)).astype("<i8")
        sha.update(f"{values.shape}".encode() + values.tobytes())
    return sha.hexdigest()


def sample_source(law, seed: int) -> dict:
    """What a record says of data that a law draws: where they come from, a hash of 100 inputs.

    Its ``sample`` or ``draw`` gives (inputs, labels), or an object that holds them as ``X`` and ``y``.
    """
    sample = (law.sample if hasattr(law, "sample") else law.draw)(100, seed)
    inputs, labels = (sample.X, sample.y) if hasattr(sample, "X") else sample
    source = f"inputs drawn from the seeds of its cells (hashed: 100 of {law!r}, seed {seed})"
    return {"source": source, "sha256": fingerprint(inputs, labels)}
