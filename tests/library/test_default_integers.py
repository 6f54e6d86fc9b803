"""Exact values where NumPy's integers have 32 bits by default: NumPy 1 on Windows, WebAssembly."""

from fractions import Fraction

import numpy as np
import pytest

from patch_association.exact import (
    PopulationRisk,
    any_weights_bound,
    bayes_error,
    decode,
    decoding_weights,
    labeling_error,
    linear_error,
    search_weights,
)
from patch_association.shallow.data import PatternData
from patch_lab.beyond.blind_error import blind_error, enumerated_errors
from patch_lab.certify.law import atoms
from patch_lab.setting.constructions import hard_attention_error
from patch_lab.transfer.dilution import broken_set_error, diluted_error
from patch_lab.transfer.sample_bounds import genie_error


def narrow(make):
    """``make`` as it is there: Python's integers become int32 where they fit and no type is asked for."""

    def made(*args, **keywords):
        array = make(*args, **keywords)
        if array.dtype != np.int64 or keywords.get("dtype", int) is not int or not array.size:
            return array
        given = wide(args if make is wide_range else args[0], dtype=object).ravel()
        ours = keywords or all(type(x) is int for x in given)
        return array.astype(np.int32) if ours and abs(array).max() < 2**31 else array

    wide, wide_range = np.array, np.arange
    return made


def values(D, C):
    q, point = 0.3, dict(alpha=0.1, beta=1.0, gamma=0.5, rho=-0.2)
    for exact in (linear_error, labeling_error, bayes_error, any_weights_bound):
        yield exact(D, C, q)
    yield blind_error(D, C, q, D // C)
    yield genie_error(D, C, q, 3)
    for degree in (3, 5):
        risk = PopulationRisk(D, C, q, degree=degree)
        loss, gradient = risk.loss_and_gradient(**point)
        yield from (loss, *gradient, risk.error(**point), risk.lost_mass, *risk.support.sum(axis=1))
        yield hard_attention_error(D, C, q, degree) if D / C * C**degree < 2**20 else 0
        yield broken_set_error(D, C, q, 1, degree) if D / C * C**degree < 2**20 else 0
        yield diluted_error(D, C, q, 1.0, degree=degree, draws=100)
    weights = decoding_weights(3, C)
    score = (np.array(weights, dtype=np.int64) * [C, -C, C]).sum()
    yield from decode([int(score)], 3, C).ravel()
    yield from search_weights(2, 2, q, 2, per_patch=True)[1].ravel()
    yield from PatternData(8, relevant=0.5, confusion=0.25).class_counts().ravel()
    yield from atoms(8, 2, Fraction(3, 10), degree=5).features.sum(axis=0)
    yield from enumerated_errors(2, 2, 2, q).values()


@pytest.mark.parametrize("D, C", [(24, 4), (32, 4), (16, 8), (48, 2)])
def test_exact_values_do_not_depend_on_the_default(monkeypatch, D, C):
    usual = list(values(D, C))
    for name in ("array", "asarray", "arange", "full", "zeros", "ones"):
        monkeypatch.setattr(np, name, narrow(getattr(np, name)))
    assert np.array([2**20]).dtype == np.arange(3).dtype == np.zeros(2, dtype=int).dtype == np.int32
    assert np.array([2**40]).dtype == np.arange(np.int64(3)).dtype == np.int64
    assert list(values(D, C)) == usual
