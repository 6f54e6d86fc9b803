"""The random streams: numbers that never meet, and that nobody goes around."""

import numpy as np

from patch_association._streams import Stream, generator

#: The numbers that recorded runs were drawn from.
RECORDED = dict(
    NOISE=1, GAUSSIAN_PATCHES=2, COEFFICIENTS=3, TEST_NOISE=4, PERTURBED_START=7, READ_NOISE=20,
    FINE_TUNING_START=21, FIXED_TEST_NOISE=22, SCRATCH_START=23, SEVERAL_COEFFICIENTS=24, SEVERAL_NOISE=25,
    SEVERAL_TEST_NOISE=26, SET_RULE_NOISE=27, SET_SUMS=28,
)  # fmt: skip


def test_recorded_runs_keep_their_numbers():
    assert {name: int(Stream[name]) for name in RECORDED} == RECORDED


def test_streams_of_one_seed_differ_from_one_another_and_from_the_plain_seed():
    draws = [generator(5, stream).standard_normal(4) for stream in Stream]
    draws += [np.random.default_rng(5).standard_normal(4), generator(6, Stream.NOISE).standard_normal(4)]
    for i, one in enumerate(draws):
        assert not any(np.isin(one, other).any() for other in draws[:i])
    assert (generator(5, Stream.NOISE).standard_normal(4) == draws[0]).all()
    assert 0 not in list(Stream)
