"""The least error of a predictor that is blind to keys, to positions, or to both: one formula.

Say the coefficients s_j are seen, and of each patch only which of m classes it belongs to: its position
group (blind to keys, m = G), its key (blind to positions, m = K), nothing (m = 1) or its set (m = L). The
signal set is then a uniformly random C-subset of its class, so the likelihood of y = +1 is proportional to
sum_c binom(a_c, C), with a_c the number of +1 in class c, and that of y = -1 to sum_c binom(b_c, C).
"""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np

from patch_association.checks import divides, positive_int, probability
from patch_association.exact.integer_sums import IntegerLaw


def subset_score(s, classes, set_size: int) -> np.ndarray:
    """T(s) = sum_c [binom(a_c, C) - binom(b_c, C)], whose sign is the best prediction; shape (n,).

    Parameters
    ----------
    s : (n, D) array of -1, 0, +1
    classes : (n, D) or (D,) integers
        What is seen of each patch.
    set_size : int
        C.

    Examples
    --------
    >>> subset_score([[1, 1, -1, 0]], [0, 0, 1, 1], set_size=2)
    array([1])
    """
    s = np.asarray(s)
    C = positive_int("set_size", set_size)
    classes = np.broadcast_to(np.asarray(classes), s.shape)
    table = np.array([comb(k, C) for k in range(s.shape[1] + 1)], dtype=np.int64)
    total = np.zeros(len(s), dtype=np.int64)
    for c in np.unique(classes):
        inside = classes == c
        total += table[(inside & (s > 0)).sum(axis=1)] - table[(inside & (s < 0)).sum(axis=1)]
    return total


def blind_error(num_patches: int, set_size: int, q: float, num_classes: int) -> float:
    """The least error of a predictor that sees coefficients and classes, exactly; ties by half.

    Parameters
    ----------
    num_patches, set_size : int
        D and C.
    q : float in [0, 1]
    num_classes : int
        m, a divisor of L = D / C: classes of D / m patches, each a union of sets. m = 1 sees no sets
        at all and m = L sees them all, so that its error is the Bayes error.

    Raises
    ------
    ValueError
        On sizes that do not divide.
    """
    D, C, L = divides(num_patches, set_size)
    m = positive_int("num_classes", num_classes)
    q = probability("q", q)
    if L % m:
        raise ValueError(f"num_classes must divide the {L} sets, got {m}")
    if comb(D // m, C) * m >= 2**24:
        raise ValueError(f"classes of {D // m} patches are too large to sum over at C = {C}")
    total = _class_law(D // m, 0, C, q).times(m - 1) + _class_law(D // m - C, C, C, q)
    return total.below(0) + total.at(0) / 2


def _class_law(free: int, certain: int, C: int, q: float) -> IntegerLaw:
    """The law of binom(a, C) - binom(b, C) with ``free`` random signs and ``certain`` of them +1."""
    values = []
    chances = []
    for a in range(free + 1):
        for b in range(free - a + 1):
            values.append(comb(a + certain, C) - comb(b, C))
            chances.append(comb(free, a) * comb(free - a, b) * (q / 2) ** (a + b) * (1 - q) ** (free - a - b))
    return IntegerLaw.of(np.array(values, dtype=np.int64), np.array(chances))


def enumerated_errors(num_groups: int, num_keys: int, set_size: int, q: float) -> dict[str, float]:
    """The least errors on crossed sets, by summing over all that can happen: no formula, tiny sizes.

    All ways to deal out keys, all signal sets, both labels, all coefficients.

    Returns
    -------
    dict
        "places": of who sees coefficients and places; "contents": coefficients and keys without their order;
        "all": everything.

    Raises
    ------
    ValueError
        Above eight patches.
    """
    G = num_groups
    K = num_keys
    C = set_size
    q = probability("q", q)
    D = positive_int("num_groups", G) * positive_int("num_keys", K) * positive_int("set_size", C)
    if D > 8:
        raise ValueError(f"an enumeration takes at most 8 patches, got {D}")
    hands = [h for h in product(range(K), repeat=K * C) if all(h.count(k) == C for k in range(K))]
    deals = list(product(hands, repeat=G))
    free = np.array(list(product((-1, 0, 1), repeat=D - C)), dtype=np.int64).reshape(-1, D - C)
    p = np.where(free == 0, 1 - q, q / 2).prod(axis=1)
    places = np.arange(D, dtype=np.int64)
    sizes = {"places": 3**D, "contents": (3 * K) ** D, "all": 3**D * len(deals)}
    law = {name: np.zeros((2, size)) for name, size in sizes.items()}
    for deal, dealt in enumerate(deals):
        k = np.concatenate(dealt)
        for signal, (label, y) in product(range(G * K), enumerate((1, -1))):
            inside = np.repeat(np.arange(G), K * C) * K + k == signal
            s = np.full((len(free), D), y, dtype=np.int64)
            s[:, ~inside] = free
            sequence = (s + 1) @ 3**places
            unordered = np.sort(s + 1 + 3 * k, axis=1) @ (3 * K) ** places
            seen = {"places": sequence, "contents": unordered, "all": sequence * len(deals) + deal}
            for name, code in seen.items():
                np.add.at(law[name][label], code, p)
    return {name: float(mass.min(axis=0).sum() / mass.sum()) for name, mass in law.items()}
