"""Checks of arguments: every refusal says what was expected and what came."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np


def positive_int(name: str, value, minimum: int = 1) -> int:
    """``value`` as an int of at least ``minimum``; floats and booleans are refused."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {brief(value)}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    return int(value)


def seed_list(seeds) -> tuple[int, ...]:
    """``seeds`` as a tuple of at least one seed; a single seed is a list of one."""
    return int_list("seeds", seeds, minimum=0)


def int_list(name: str, values, minimum: int = 1) -> tuple[int, ...]:
    """``values`` as a tuple of at least one integer of at least ``minimum``; one integer is a list of one."""
    values = (values,) if isinstance(values, Integral) else listed(name, values, "integers")
    return tuple(positive_int(name, value, minimum) for value in values)


def one_of(name: str, value, *allowed: str) -> str:
    """``value`` if it is one of these words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
    return value


def listed(name: str, values, kind: str) -> tuple:
    """``values`` as a tuple of at least one; what cannot be gone through is refused."""
    try:
        values = tuple(values)
    except TypeError:
        raise ValueError(f"{name} must be a list of {kind}, got {type(values).__name__}") from None
    if not values:
        raise ValueError(f"{name} must be a list of at least one of {kind}, got none")
    return values


def finite(name: str, value, minimum: float = -math.inf) -> float:
    """``value`` as a finite float of at least ``minimum``."""
    if not _is_real(value) or not _is_finite(value):
        raise ValueError(f"{name} must be a finite number, got {brief(value)}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    return float(value)


def probability(name: str, value) -> float:
    """``value`` as a float in [0, 1]."""
    if not _is_real(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a probability in [0, 1], got {value!r}")
    return float(value)


def odd_degree(degree) -> int:
    """The degree p of the activation x^p + nu x: odd and at least 3, as in model (T)."""
    if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 3 or degree % 2 == 0:
        raise ValueError(f"degree must be an odd integer of at least 3, got {degree!r}")
    return int(degree)


def divides(num_patches, set_size) -> tuple[int, int, int]:
    """(D, C, L) for D patches in L = D / C sets of C; refuses sizes that do not divide."""
    D = positive_int("num_patches", num_patches)
    C = positive_int("set_size", set_size)
    if D % C:
        raise ValueError(f"num_patches must be a multiple of set_size, got {D} patches in sets of {C}")
    return D, C, D // C


def made_of(name: str, value, kind: str, *attributes: str) -> None:
    """Refuse what lacks the attributes that every ``kind`` has."""
    if not all(hasattr(value, attribute) for attribute in attributes):
        raise ValueError(f"{name} must be a {kind}, got {type(value).__name__}")


def function(name: str, value) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise ValueError(f"{name} must be a function, got {type(value).__name__}")


def brief(value) -> str:
    """What came, for an error's sentence: as it is written if that is short, else its kind."""
    shown = repr(value)
    shape = f" of shape {tuple(value.shape)}" if hasattr(value, "shape") else ""
    return shown if len(shown) < 80 and "\n" not in shown else type(value).__name__ + shape


def real_array(name: str, values) -> np.ndarray:
    """``values`` as a float64 array of finite real numbers."""
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise ValueError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {brief(values)}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinite entries")
    return array


def floating(dtype) -> None:
    """Refuse what is no floating-point torch dtype: numbers cast to another would be cut off."""
    if getattr(dtype, "is_floating_point", None) is not True:
        raise ValueError(f"dtype must be a floating-point torch dtype, got {dtype!r}")


def _is_real(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_finite(value) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False


def seed_number(name: str, value, bits: int = 63) -> int:
    """``value`` as a seed: an integer from 0 to 2^bits - 1; PyTorch takes no more than 63 bits."""
    if positive_int(name, value, minimum=0) >= 2**bits:
        raise ValueError(f"{name} must be below 2^{bits}, got {value}")
    return int(value)


def fits_memory(what: str, numbers: int, bytes_each: int = 8) -> None:
    """Refuse what cannot be held, before memory is used: ``numbers`` numbers of ``bytes_each`` bytes."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # no such question on this system
        total = 2**40
    if numbers * bytes_each > total:
        raise ValueError(
            f"{what} would take {numbers * bytes_each / 1e9:.3g} GB, "
            f"and this machine has {total / 1e9:.3g} GB of memory"
        )


@contextmanager
def readable(message: str):
    """Make a ValueError, ``said`` and why, of all that reading a damaged file raises.

    Which errors those are differs from library to library, and from damage to damage: parsers, unpickling,
    checksums, shapes, memory. So no list of them would be complete.
    """
    try:
        yield
    except Exception as error:
        why = error if isinstance(error, (ValueError, OSError)) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{message}: {why}") from error
