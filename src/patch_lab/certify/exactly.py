"""What integers alone prove: with a diagonal of zero no score ever moves, at a given size and for every q."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np

from patch_lab.certify.descent import Undecided
from patch_lab.certify.law import atoms
from patch_lab.certify.polynomials import bracket


def no_movement(num_patches: int, set_size: int, degree: int) -> int:
    """Prove that dL/dgamma = dL/drho = 0 at equal scores, for every alpha, nu and q; how many sums vanish.

    At equal scores y F is a function of M alone, and so is w. Given M and the number r of nonzero random
    patches all inputs are equally likely, whatever q is. So it is enough that the integer brackets of
    dL/dgamma and dL/drho, with l = g = x, add up to zero over the inputs of each pair (M, r).

    Raises
    ------
    Undecided
        If one of these sums of integers is not zero.
    """
    # At q = 2/3 the three signs are equally likely: the numerators count inputs, up to a common factor.
    law = atoms(num_patches, set_size, Fraction(2, 3), degree)
    rows = []
    for name in ("gamma", "rho"):
        weights = np.zeros(len(law.powers), dtype=np.int64)
        for (_, column), value in bracket(name, num_patches, set_size, law.powers).items():
            weights[column] += value
        rows.append((law.features[:, :-1] @ weights).tolist())
    sums = defaultdict(int)
    keys = zip(law.features[:, -1].tolist(), law.nonzero.tolist())
    for key, ways, *values in zip(keys, law.numerator, *rows):
        for name, value in zip(("gamma", "rho"), values):
            sums[(name, *key)] += ways * value
    if any(sums.values()):
        raise Undecided(f"{sum(map(bool, sums.values()))} of {len(sums)} sums are not zero")
    return len(sums)
