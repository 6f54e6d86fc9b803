"""What the part on the dynamics times."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import torch
from timing import Differs, bytes_a_second, close, compare, least

from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.training import Samples, loss_and_gradients

_MOVING = ("alpha", "gamma", "rho")  # what PopulationRisk.gradient is with respect to
_ROUNDS = 5
_LAWS = ((16, 0.3), (36, 0.2), (64, 0.1))


def gradients_against_autograd(num_patches: int, n: int, order: str, read: float) -> dict:
    """One full-batch gradient of (T): by hand, against autograd in the order "(S X) v" or "S (X v)".

    (T) reads sum_j S_ij <v, X_j>; written with a matrix product per input, S X comes first and
    costs d times as much as X v. This is the order of the definition, of attention layers, and of
    ``torch.nn.functional.scaled_dot_product_attention``. The other order is the best that autograd can
    do. Float64, both on the threads of torch. By hand, the inputs are read twice, and that is the limit:
    ``bandwidth_share`` is what of the bytes a second, ``read``, these two passes reach when timed alone.
    """
    D = d = num_patches
    samples = Samples.draw(SpatialData(Partition.random(D, 4), d, 0.2), n, [0])
    X, y = samples.X, samples.y
    A, v = _weights(D)

    def by_hand():
        return loss_and_gradients(X, y, A, v)

    def by_autograd():
        scores = A[0].clone().requires_grad_()
        value = v[0].clone().requires_grad_()
        S = torch.softmax(scores, dim=-1)
        # (D, D) @ (n, D, d) -> (n, D, d) -> (n, D), or (n, D, d) @ (d,) -> (n, D) @ (D, D) -> (n, D)
        z = D * (S @ X[0]) @ value if order == "(S X) v" else D * (X[0] @ value) @ S.T
        F = (z**3 + 0.01 * z).sum(dim=1)
        loss = torch.nn.functional.softplus(-y[0] * F).mean()
        dA, dv = torch.autograd.grad(loss, (scores, value))
        return loss.detach(), dA.fill_diagonal_(0.0), dv

    name = f"gradient of model (T), D = d = {D}, N = {n}"
    same = close(1e-7)  # torch's softplus is linear beyond 20
    row = compare(name, by_hand, by_autograd, f"torch autograd of {order}, float64", same, _ROUNDS)
    return row | {"bandwidth_share": 2 * X.nbytes / least(by_hand) / read}


def _weights(D):
    generator = torch.Generator().manual_seed(0)
    A = 0.1 * torch.randn(1, D, D, generator=generator, dtype=torch.float64)
    return A, 0.1 * torch.randn(1, D, generator=generator, dtype=torch.float64)


def exact_gradient_against_monte_carlo(num_patches: int, q: float, degree: int, n: int = 20_000) -> dict:
    """One exact gradient, against sampling it to a thousandth, the root mean square error over its length.

    The sampler draws the coefficients alone, no noise vectors, and its gradient is by hand too. It is
    timed on n inputs; the number that it needs follows from their variance, so its time is computed,
    not waited for. The comparison is kind to it: the exact step has 1e-9. The set-up of the exact law
    (up to seconds) is not counted.
    """
    D = num_patches
    C = 4
    accuracy = 1e-3
    point = {"alpha": 1.6 / D, "beta": 1.0, "gamma": 0.5, "rho": -0.1}
    risk = PopulationRisk(D, C, q, degree)
    law = SpatialData(Partition.random(D, C), 2, q)
    same = torch.from_numpy(law.partition.same_set)
    A = torch.where(same, point["gamma"], point["rho"]).double().fill_diagonal_(point["beta"])[None]
    v = torch.tensor([[point["alpha"]]], dtype=torch.float64)

    def sampled(seed=0):
        s, y, _ = law.sample_coefficients(n, seed)
        X = torch.from_numpy(s)[None, :, :, None]  # (1, n, D, 1)
        y = torch.from_numpy(y)[None]  # (1, n)
        return loss_and_gradients(X, y, A, v, degree=degree)

    def in_blocks(result):
        _, dA, dv = result  # the diagonal of dA is 0
        return [dv.sum().item(), dA[0][same].sum().item(), dA[0][~same].sum().item()]

    exact = np.asarray(risk.gradient(**point))
    estimates = np.array([in_blocks(sampled(seed)) for seed in range(40)])  # (40, 3)
    variances = estimates.var(axis=0, ddof=1)

    def agree(ours, theirs):
        if not (np.abs(ours - estimates.mean(axis=0)) <= 6 * np.sqrt(variances / 40) + 1e-12).all():
            raise Differs("the exact gradient is not what the samples estimate")
        if not (np.abs(exact - in_blocks(theirs)) <= 8 * np.sqrt(variances)).all():
            raise Differs("the samples do not estimate the gradient")

    batches = float(variances.sum()) / (accuracy * float(np.linalg.norm(exact))) ** 2
    row = compare(
        f"population gradient, D = {D}, C = {C}, q = {q:g}, p = {degree}: {risk.probability.size:,} atoms",
        lambda: risk.gradient(**point),
        sampled,
        f"Monte Carlo to {accuracy:g}: {float(f'{batches * n:.2g}'):,.0f} inputs, timed on {n:,}",
        agree,
        _ROUNDS,
    )
    scaled = {key: row[key] / batches for key in ("ratio", "low", "high")}
    return row | scaled | {"theirs_s": row["theirs_s"] * batches}


def exact_gradient_against_autograd() -> dict:
    """One exact gradient at D = 10, against autograd on the risk summed over every input of the law.

    The law has 3^(D - C) inputs once the set with the signal is fixed, which by symmetry it may be. D = 16
    would have 500,000 with C = 4; there the comparison only grows.
    """
    D, C, q = 10, 2, 0.3
    risk = PopulationRisk(D, C, q)
    rest = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=D - C)))  # (inputs, D - C)
    p = torch.from_numpy(np.where(rest == 0, 1 - q, q / 2).prod(axis=1))
    s = torch.from_numpy(np.concatenate([np.ones((len(rest), C)), rest], axis=1))
    same = torch.arange(D)[:, None] // C == torch.arange(D) // C
    point = {"alpha": 1.6 / D, "beta": 1.0, "gamma": 0.5, "rho": -0.1}

    def by_autograd():
        leaves = [torch.tensor(point[k], dtype=torch.float64, requires_grad=True) for k in _MOVING]
        alpha, gamma, rho = leaves
        A = torch.where(same, gamma, rho).masked_fill(torch.eye(D, dtype=torch.bool), point["beta"])
        z = D * alpha * (s @ torch.softmax(A, dim=-1).T)  # (inputs, D) @ (D, D)
        F = (z**3 + DEFAULT.linear * z).sum(dim=1)
        return torch.autograd.grad(p @ torch.nn.functional.softplus(-F), leaves)

    return compare(
        f"population gradient, D = {D}, C = {C}, q = {q:g}",
        lambda: risk.gradient(**point),
        by_autograd,
        f"torch autograd over all {len(rest):,} inputs",
        lambda ours, theirs: close(1e-9)(list(ours), theirs),
        _ROUNDS,
    )


def bench_gradient_of_the_model() -> Iterator[dict]:
    """The gradient on samples: against autograd in both orders."""
    read = bytes_a_second()
    sizes = ((16, 8000), (36, 2000), (64, 500), (100, 300), (144, 200))
    orders = ("(S X) v", "S (X v)")
    yield from (gradients_against_autograd(D, n, order, read) for D, n in sizes for order in orders)


def bench_exact_gradient() -> Iterator[dict]:
    """The gradient of the population, against sampling and autograd."""
    yield from (
        *(exact_gradient_against_monte_carlo(D, q, p) for D, q in _LAWS for p in (3, 5)),
        exact_gradient_against_autograd(),
    )
