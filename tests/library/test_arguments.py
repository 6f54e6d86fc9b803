"""Every invalid argument of a public function gets a ValueError that names it and says what came."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import not_degrees, not_finite, not_integers, not_numbers, not_probabilities

from patch_association.attention import softmax_attention
from patch_association.data import SpatialData, random_feature
from patch_association.exact.integer_sums import IntegerLaw, trinomial
from patch_association.exact.linear import (
    labeling_error,
    labeling_law,
    linear_error,
)
from patch_association.exact.risk import PopulationRisk
from patch_association.model import SimplifiedViT, polynomial_activation
from patch_association.shallow import Sgd
from patch_association.structure import Partition, chance_recall
from patch_association.training import (
    Constant,
    Descent,
    Samples,
    descend,
    descend_population,
    idealized_start,
)
from patch_lab.beyond.gaussian_data import GaussianData
from patch_lab.setting.weighted import (
    best_monotone_error,
    critical_q,
    decode_sums,
    decoding_weights,
    search_weights,
    weighted_law,
)
from patch_lab.transfer.clipped import Clipped

PARTITION = Partition([0, 0, 1, 1])
SIZES = dict(num_patches=4, set_size=2)
ONE = torch.ones(1)
POINT = dict(alpha=0.1, beta=1.0, gamma=0.0, rho=0.0)
START = dict(alpha=0.1, gamma=0.0, rho=0.0, diagonal=1.0, on_divergence="flag")
RUN = dict(step=Constant(0.1), steps=1, record=1)
SAMPLES = Samples.draw(SpatialData(PARTITION, 2, 0.5), 3, [0])
REST = idealized_start(SpatialData(PARTITION, 2, 0.5), 1)

#: (function, valid arguments): each argument is spoiled in turn, by what its name asks for.
FUNCTIONS = [
    (Partition.blocks, dict(height=4, width=4, block_height=2, block_width=2)),
    (Partition.random, dict(**SIZES, seed=0)),
    (chance_recall, SIZES),
    (random_feature, dict(dim=2, seed=0)),
    (SpatialData, dict(partition=PARTITION, dim=2, q=0.5, noise_std=1.0, feature=[1.0, 0.0])),
    (SpatialData(PARTITION, 2, 0.5).sample, dict(n=2, seed=0)),
    (SpatialData(PARTITION, 2, 0.5).sample_coefficients, dict(n=2, seed=0)),
    (GaussianData, dict(partition=PARTITION, dim=2, filters="shared", seed=0)),
    (GaussianData(PARTITION, 2).sample, dict(n=2, seed=0)),
    (
        SimplifiedViT,
        dict(
            num_patches=4,
            dim=2,
            degree=3,
            linear=0.1,
            diagonal=1.0,
            init_std=0.1,
            seed=0,
            dtype=torch.float64,
        ),
    ),
    (polynomial_activation, dict(x=ONE, degree=3, linear=0.1)),
    (linear_error, dict(**SIZES, q=0.5, ties="half")),
    (labeling_error, dict(**SIZES, q=0.5)),
    (labeling_law, dict(**SIZES, q=0.5)),
    (critical_q, dict(**SIZES, error=0.1, ties="half")),
    (weighted_law, dict(weights=[1, 2], set_size=2, q=0.5)),
    (search_weights, dict(num_sets=2, set_size=1, q=0.5, largest=1)),
    (decoding_weights, dict(num_sets=2, set_size=2)),
    (decode_sums, dict(score=3, num_sets=2, set_size=2)),
    (trinomial, dict(n=3, q=0.5)),
    (IntegerLaw.of, dict(values=[0, 1], probabilities=[0.5, 0.5])),
    (PopulationRisk, dict(**SIZES, q=0.5, degree=3, linear=0.1, prune=0.0, max_atoms=99)),
    *((getattr(PopulationRisk(4, 2, 0.5), name), POINT) for name in ("loss", "gradient", "error", "weights")),
    (softmax_attention, dict(A=torch.zeros(2, 2), scale=1.0)),
    (Clipped, dict(rate=0.1, score_rate=0.2, clip=0.3)),
    (descend_population, dict(risk=PopulationRisk(4, 2, 0.5), **RUN, **START)),
    (descend, dict(samples=SAMPLES, start=REST, **RUN, how=Descent(), on_divergence="raise")),
    (Descent, dict(degree=3, linear=0.1, prefactor=4.0, scale=1.0)),
    (Sgd, dict(batch=2, seed=0, loss="hinge", margin=1.0)),
]

given_numbers = st.one_of(not_numbers.filter(lambda v: v is not None), not_finite, st.just(-0.1))
positive = st.one_of(not_integers, st.integers(max_value=0))
not_arrays = st.sampled_from(
    ["a", None, object(), {"a": 1}, np.array([1j, 1]), [[1.0], [1.0, 2.0]], [math.nan, 1.0]]
)
COUNTS = "height width block_height block_width num_patches set_size num_sets n dim largest"
SPOILERS = {
    **dict.fromkeys(COUNTS.split(), positive),
    "dtype": st.sampled_from([torch.int64, "float32"]),
    "seed": st.one_of(not_integers, st.integers(max_value=-1)),
    "q": not_probabilities,
    "error": not_probabilities,
    "degree": not_degrees,
    "linear": st.one_of(not_numbers, not_finite, st.floats(max_value=-1e-300), st.just(10**400)),
    **dict.fromkeys(
        ("init_std", "noise_std"),
        st.one_of(not_numbers.filter(lambda v: v is not None), not_finite, st.floats(max_value=-1e-300)),
    ),
    **dict.fromkeys(("alpha", "beta", "gamma", "rho"), st.one_of(not_numbers, not_finite)),
    **dict.fromkeys(("rate", "score_rate", "prune"), given_numbers),
    **dict.fromkeys(("scale", "clip"), st.one_of(not_numbers, not_finite, st.floats(max_value=0))),
    "max_atoms": positive,
    "steps": st.one_of(not_integers, st.integers(max_value=-1)),
    "record": st.sampled_from([0, -3, [7], [-1], [0.5], [], "all"]),
    "step": st.sampled_from([0.1, None, "fast"]),
    "how": st.sampled_from([None, "flag", {}]),
    "batch": positive.filter(lambda v: v is not None),
    "loss": st.sampled_from(["Hinge", None, 1]),
    "margin": st.one_of(not_numbers, not_finite),
    "prefactor": st.one_of(not_numbers.filter(lambda v: v is not None), not_finite),
    "on_divergence": st.sampled_from(["stop", None]),
    "A": st.sampled_from([torch.zeros(2, 3), torch.zeros(4), torch.zeros(2, 2, dtype=torch.int64), [[1.0]]]),
    "values": st.sampled_from([[], [0.5, 1], [2**70, 1]]),
    "probabilities": st.sampled_from([[1.0], [1.5, -0.5], [math.nan, 0]]),
    "diagonal": st.one_of(not_numbers, not_finite, st.just(-(10**400))),
    "ties": st.sampled_from(["Half", "", None, 1, ["half"]]),
    "partition": st.sampled_from([None, [0, 0, 1, 1], "a", 4]),
    "filters": st.one_of(not_arrays, st.just("Shared"), st.just(np.zeros((3, 2)))),
    "feature": st.one_of(
        not_arrays.filter(lambda v: v is not None), st.sampled_from([[1.0], [2.0, 0.0], [0.0, 0.0]])
    ),
    "weights": st.one_of(not_arrays, st.sampled_from([[], [0.5], [True], 3, [[1], [2]], [2**70], [[[1]]]])),
    "score": st.sampled_from([0.5, "a", None, 2**70, True, 13, -13, [0, 13]]),
}


@pytest.mark.parametrize(
    ("function", "valid"), FUNCTIONS, ids=lambda value: getattr(value, "__qualname__", "")
)
@given(data=st.data())
def test_an_invalid_argument_is_named_and_shown(function, valid, data):
    function(**valid)
    name = data.draw(st.sampled_from([name for name in valid if name in SPOILERS]))
    value = data.draw(SPOILERS[name])
    with pytest.raises(ValueError) as refusal:
        function(**{**valid, name: value})
    message = str(refusal.value)
    assert re.match(rf"{name} must ", message), message
    shown = {repr(value), str(value), type(value).__name__}
    for array in (value,) if isinstance(value, np.ndarray) else ():
        shown |= {str(array.dtype), str(array.shape)}
    if name in (
        *("feature", "filters", "weights", "score", "A", "values", "probabilities", "step", "record"),
    ):  # shown by shape, type, norm or count, too
        assert "got " in message
    else:
        assert any(f"got {text}" in message for text in shown), message


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_sets_of_unequal_size(labels):
    sizes = sorted(labels.count(label) for label in set(labels))
    if sizes[0] == sizes[-1]:
        assert Partition(labels).set_size == sizes[0]
    else:
        with pytest.raises(
            ValueError, match=re.escape(f"labels must name sets of equal size, got sizes {sizes}")
        ):
            Partition(labels)


@pytest.mark.parametrize(
    ("labels", "came"),
    [
        ([], r"\(0,\)"),
        (3, r"\(\)"),
        ([[0, 1]], r"\(1, 2\)"),
        ([0.0, 1.0], "float64"),
        (["a", "b"], "<U1"),
        ([True, False], "bool"),
        (None, r"\(\)"),
        ([0, None], "object"),
        ([[0], [1, 2]], r"\[\[0\], \[1, 2\]\]"),
    ],
)
def test_labels_that_are_no_integers(labels, came):
    with pytest.raises(ValueError, match=f"labels must be .*, got .*{came}"):
        Partition(labels)


@pytest.mark.parametrize(
    ("X", "came"),
    [
        (torch.zeros(2, 4, 3), r"shape \(n, 4, 2\), got \(2, 4, 3\)"),
        (torch.zeros(4, 2), r"got \(4, 2\)"),
        (torch.full((1, 4, 2), math.nan), "be finite, got 8 NaN"),
        (torch.zeros(1, 4, 2, dtype=torch.complex64), "be real, got torch.complex64"),
        ("a", "be an array or a tensor of real numbers, got 'a'"),
        (None, "got None"),
    ],
)
def test_inputs_of_the_labeling_functions(X, came):
    for data in (SpatialData(PARTITION, 2, 0.5), GaussianData(PARTITION, 2)):
        with pytest.raises(ValueError, match=f"^X must .*{came}"):
            data.labeling_function(X)


def test_integers_of_numpy_are_integers():
    assert Partition.random(np.int64(4), np.int32(2), seed=np.uint8(1)).num_sets == 2
    assert linear_error(np.int64(4), np.int16(2), np.float32(0.5)) == linear_error(4, 2, 0.5)
    assert best_monotone_error(weighted_law(np.array([1, 2], dtype=np.uint64), 2, 0.5)) > 0
