"""Crossed sets, the price of not seeing, networks of many seeds, and the probe of functions."""

from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import comb

import numpy as np
import pytest
import torch

from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT
from patch_association.exact.labels import bayes_error
from patch_association.exact.linear import linear_error
from patch_association.structure import Partition
from patch_lab.beyond import (
    KINDS,
    Bench,
    CrossedData,
    Design,
    Network,
    PartlyInformed,
    RarePatterns,
    blind_error,
    interactions,
    null_recall,
    p_value,
    probe_functions,
    shuffled_inputs,
)
from patch_lab.beyond.least_errors import enumerated_errors, subset_score


def least_error(G, K, C, q, see):
    """The Bayes error given ``see(s, keys)``, over subsets and coefficients, in rational arithmetic."""
    D, width, law = G * K * C, K * C, {}
    hands = set(permutations([k for k in range(K) for _ in range(C)]))
    for dealt in product(sorted(hands), repeat=G):
        keys = [k for hand in dealt for k in hand]
        for g, k, y in product(range(G), range(K), (1, -1)):
            inside = [j for j in range(D) if j // width == g and keys[j] == k]
            rest = [j for j in range(D) if j not in inside]
            for free in product((-1, 0, 1), repeat=len(rest)):
                s, p = [y] * D, Fraction(1)
                for j, x in zip(rest, free):
                    s[j], p = x, p * (q / 2 if x else 1 - q)
                law.setdefault(see(s, keys), {1: 0, -1: 0})[y] += p
    total = sum(sum(both.values()) for both in law.values())
    return float(sum(min(both.values()) for both in law.values()) / total)


@pytest.mark.parametrize("sizes", [(2, 1, 2), (1, 2, 2), (3, 1, 2), (1, 2, 3)])
def test_the_blind_errors_are_those_of_an_enumeration(sizes):
    G, K, C = sizes
    q, D = Fraction(3, 10), G * K * C
    places = least_error(*sizes, q, lambda s, k: tuple(s))
    contents = least_error(*sizes, q, lambda s, k: tuple(sorted(zip(s, k))))
    everything = least_error(*sizes, q, lambda s, k: (tuple(s), tuple(k)))
    assert places == pytest.approx(blind_error(D, C, 0.3, G), abs=1e-14)
    assert contents == pytest.approx(blind_error(D, C, 0.3, K), abs=1e-14)
    assert everything == pytest.approx(blind_error(D, C, 0.3, G * K), abs=1e-14)
    again = enumerated_errors(*sizes, 0.3)
    assert list(again.values()) == pytest.approx([places, contents, everything], abs=1e-14)


def test_two_groups_and_two_keys_are_neither_end():
    found = enumerated_errors(2, 2, 2, 0.4)
    assert found["places"] == pytest.approx(blind_error(8, 2, 0.4, 2), abs=1e-14)
    assert found["contents"] == pytest.approx(blind_error(8, 2, 0.4, 2), abs=1e-14)
    assert found["all"] == pytest.approx(blind_error(8, 2, 0.4, 4), abs=1e-14)


@pytest.mark.parametrize(
    ("D", "C", "q"), [(27, 3, 0.3), (16, 4, 0.5), (12, 3, 1.0), (8, 2, 0.0), (6, 1, 0.4)]
)
def test_the_ends_are_the_sum_and_bayes_and_to_see_more_never_costs(D, C, q):
    errors = [blind_error(D, C, q, m) for m in range(1, D // C + 1) if (D // C) % m == 0]
    assert errors[0] == pytest.approx(linear_error(D, C, q, ties="half"), abs=1e-12)
    assert errors[-1] == pytest.approx(bayes_error(D, C, q), abs=1e-12)
    assert all(a >= b - 1e-14 for a, b in pairwise(errors))


def test_the_score_counts_unanimous_subsets():
    draw = np.random.default_rng(0)
    for _ in range(20):
        s, classes = draw.integers(-1, 2, 8), draw.permutation([0] * 4 + [1] * 4)
        subsets = [set for c in (0, 1) for set in combinations(np.flatnonzero(classes == c), 3)]
        counted = sum((s[list(j)] == 1).all() - int((s[list(j)] == -1).all()) for j in subsets)
        assert subset_score(s[None], classes, 3)[0] == counted


def test_crossed_inputs_are_what_the_definition_says():
    data = CrossedData(3, 2, set_size=2, q=0.4, noise_std=0.0)
    inputs = data.draw(2000, seed=3)
    s, keys, y = (part.numpy() for part in (inputs.X[..., 0], inputs.shown, inputs.y))
    hands = keys.reshape(2000, 3, 4)
    assert all((np.sort(hand) == [0, 0, 1, 1]).all() for hand in hands.reshape(-1, 4))
    sets = data.groups * 2 + keys
    unanimous = [[(s[i, sets[i] == c] == y[i]).all() for c in range(6)] for i in range(2000)]
    assert np.any(unanimous, axis=1).all()
    drawn = data.draw(5, seed=3)
    assert drawn.X.shape == (5, 12, 7) and torch.equal(drawn.X[..., 1:].argmax(-1), drawn.shown)
    relation = data.relation(drawn.shown)
    assert (relation.diagonal(dim1=1, dim2=2) == 0).all() and ((relation == 1).sum(2) == 1).all()
    counts = [int((relation == k).sum()) for k in range(5)]
    assert counts == [5 * 12 * n for n in (1, 1, 2, 4, 4)]
    # All hands are equally likely: 6 for two keys, twice each. 6000 draws; chance of an alarm < 1e-7.
    codes = np.unique(hands.reshape(-1, 4) @ [8, 4, 2, 1], return_counts=True)[1]
    assert len(codes) == 6 and abs(codes - 1000).max() < 6 * np.sqrt(6000 / 6)


def test_rare_patterns_have_the_errors_of_their_gaussian_sums():
    data = RarePatterns()
    drawn = data.draw(4000, seed=1)
    relevant, lean = drawn.shown.bool(), drawn.X[..., 1].double()
    assert (relevant.sum(1) == 4).all()
    for kept, count in ((torch.ones_like(relevant), None), (relevant, 4)):
        error = ((lean * kept).sum(1) * drawn.y < 0).double().mean().item()
        expected = data.mean_error(count)
        assert abs(error - expected) < 5.5 * np.sqrt(expected / 4000)  # two-sided, below 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_the_bench_is_its_equation(kind):
    bench = Bench(kind, 2, 6, 3, score_std=1.0, value_std=1.0, form_std=1.0)
    X = torch.randn(2, 4, 6, 3, generator=torch.Generator().manual_seed(0))
    F = bench(X)
    for r, n in product(range(2), range(4)):
        x, v = X[r, n], bench.value[r]
        A = torch.zeros(6, 6) if bench.scores is None else bench.scores[r].clone()
        A = A if bench.form is None else A + x @ bench.form[r] @ x.T
        A.fill_diagonal_(DEFAULT.diagonal)
        S = {"identity": torch.eye(6), "uniform": torch.full((6, 6), 1 / 6)}.get(
            kind, torch.softmax(A, dim=1)
        )
        z = 6 * S @ x @ v
        assert F[r, n].item() == pytest.approx((z**3 + DEFAULT.linear * z).sum().item(), rel=1e-4, abs=1e-4)


def small_designs():
    yield Design(heads=2, layers=2, width=3)
    yield Design(scores="gram", encoding_dim=3)
    yield from (
        Design(block=True, width=4, heads=2, layers=2, scores=scores, encoding_dim=4, **off)
        for scores, off in [("free", {}), ("positional", dict(norm=False)), ("vanilla", dict(mlp=False)),
                            ("uniform", dict(residual=False))]
    )  # fmt: skip


@pytest.mark.parametrize("design", list(small_designs()), ids=str)
def test_no_seed_feels_another(design):
    """Training three networks together is training the first alone, on its inputs."""
    data = CrossedData(2, 1, set_size=2, q=0.3)
    X = data.draw(3 * 8, seed=5).X.reshape(3, 8, 4, data.dim)
    network = Network(design, 3, 4, data.dim, seed=1)
    loss = torch.nn.functional.softplus(-network(X)).mean(dim=1)
    together = torch.autograd.grad(loss.sum(), [p for p in network.parameters() if p.requires_grad])
    alone = torch.autograd.grad(
        torch.nn.functional.softplus(-network(X))[0].mean(),
        [p for p in network.parameters() if p.requires_grad],
    )
    for a, b in zip(together, alone):
        assert torch.allclose(a[0], b[0], atol=1e-7) and not b[1:].any()
    maps = network.maps(X[0])
    assert maps.shape == (3, design.layers, design.heads, 4, 4)
    assert torch.allclose(maps.sum(-1), torch.ones(()), atol=1e-5)


def test_interactions_are_mixed_differences():
    """Of sums over sets they vanish across sets, whatever the function of each; of s_1 s_2 they are 4."""
    partition, w = Partition([0, 0, 0, 1, 1, 1]), torch.tensor([1.0, 0.0])
    X = torch.randn(5, 6, 2, generator=torch.Generator().manual_seed(0))

    def by_sets(x):
        return (x[..., :3, 0].sum(-1) ** 3 + torch.exp(x[..., 3:, 0].sum(-1))).double()

    found = interactions(by_sets, X, w).numpy()
    assert found[~partition.same_set].max() < 1e-4 < found[partition.same_set & ~np.eye(6, dtype=bool)].min()
    product_of_two = interactions(lambda x: x[..., 0, 0] * x[..., 1, 0], X, w)
    assert product_of_two[0, 1].item() == pytest.approx(4.0) and product_of_two.sum().item() == pytest.approx(
        8
    )


def test_the_null_of_the_probe_is_every_partition_alike():
    partition = Partition([0, 0, 0, 1, 1, 1])
    scores = partition.same_set.astype(float)
    draws = null_recall(scores, partition, draws=4000, seed=1)
    # The truth comes up with chance 1 / 10, as there are comb(6, 3) / 2 partitions: binomial, 5.5 sigma.
    assert abs((draws == 1).mean() - 2 / comb(6, 3)) < 5.5 * np.sqrt(0.09 / 4000)
    assert draws.mean() == pytest.approx(0.4, abs=5.5 * draws.std() / np.sqrt(4000))
    assert p_value(scores, partition, draws=99) == pytest.approx(0.1, abs=0.17)


def test_shuffled_inputs_keep_the_law_and_forget_the_sets():
    data = SpatialData(Partition.random(6, 2, seed=3), 2, 0.4)
    X = shuffled_inputs(data, 20_000, seed=5, dtype=torch.float64)
    plain = data.sample(20_000, seed=5)[0]
    # Each input holds the patches it held, in an order of its own.
    assert torch.equal(X[..., 0].sort(dim=1).values, plain[..., 0].sort(dim=1).values)
    s = X[..., 0]
    products = (s.T @ s / len(s)).numpy()
    same = data.partition.same_set & ~np.eye(6, dtype=bool)
    # Of two patches of one set the product has mean 1/3, of two others 0; shuffled, every pair has 1/15. A
    # product is in [-1, 1]: five and a half standard deviations are below 0.04.
    assert (
        abs(products[same] - 1 / 15).max() < 0.04
        and abs(products[~data.partition.same_set] - 1 / 15).max() < 0.04
    )
    assert (plain[..., 0].T @ plain[..., 0] / len(s)).numpy()[same].min() > 0.3


#: Functions of inputs whose feature is the first coordinate, which know nothing of the sets.
IGNORANT = {
    "the sum": lambda sets, seed: lambda X: X[..., 0].sum(dim=-1),
    "its cube": lambda sets, seed: lambda X: X[..., 0].sum(dim=-1) ** 3,
    "a hidden cube": lambda sets, seed: lambda X: (X[..., 0] @ _weights(seed)) ** 3,
    "a random network": lambda sets, seed: PartlyInformed(sets, 0.0, seed),
    "a ViT at its start": lambda sets, seed: _starting_vit(seed),
}


def _weights(seed):
    return torch.from_numpy(np.random.default_rng([seed, 12]).standard_normal(12).astype(np.float32))


def _starting_vit(seed):
    network = Network(Design(block=True, scores="positional", width=4), 1, 12, 2, seed=seed)
    return lambda X: network(X[None])[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", IGNORANT)
def test_the_probe_raises_no_more_alarms_than_it_says(name):
    """An exact p-value: of 100 at most 0.1 with chance 0.1 each, 32 or more have a chance below 1e-8."""
    data = SpatialData(Partition.random(12, 3, seed=1), 2, 0.5)
    _, p = probe_functions(IGNORANT[name], data, draws=100, n_inputs=10, n_partitions=19)
    assert (p <= 0.1).sum() < 32


def test_the_probe_finds_who_knows():
    data = SpatialData(Partition.random(12, 3, seed=1), 2, 0.5)
    for make in (lambda sets, seed: PartlyInformed(sets, 1.0, seed),
                 lambda sets, seed: SpatialData(sets, 2, 0.5).labeling_function):  # fmt: skip
        recall, p = probe_functions(make, data, draws=5, n_inputs=20)
        assert recall.min() > 0.9 and (p == 1 / 200).all()
