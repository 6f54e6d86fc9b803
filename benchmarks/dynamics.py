"""What the part on the dynamics times."""

from __future__ import annotations

import numpy as np
import torch
from timing import compare

from patch_association.data import SpatialData
from patch_association.exact.risk import PopulationRisk
from patch_association.structure import Partition
from patch_association.training import Samples, loss_and_gradients


def gradients_against_autograd(
    num_patches: int = 36, n: int = 2000, repeats: int = 5, order: str = "(S X) v"
) -> dict:
    """One full-batch gradient of (T): by hand, against autograd in the order "(S X) v" or "S (X v)".

    (T) reads sum_j S_ij <v, X_j>; written with a matrix product per input, S X comes first and
    costs d times as much as X v. This is the order of the definition, of attention layers, and of
    ``torch.nn.functional.scaled_dot_product_attention``. The other order is the best that autograd can
    do. Float64, both on the threads of torch.
    """
    D = d = num_patches
    law = SpatialData(Partition.random(D, 4), d, 0.2)
    samples = Samples.draw(law, n, [0])
    X, y = samples.X, samples.y
    generator = torch.Generator().manual_seed(0)
    A = 0.1 * torch.randn(1, D, D, generator=generator, dtype=torch.float64)
    v = 0.1 * torch.randn(1, d, generator=generator, dtype=torch.float64)

    def by_hand():
        return loss_and_gradients(X, y, A, v)

    def by_autograd():
        scores, value = A[0].clone().requires_grad_(), v[0].clone().requires_grad_()
        S = torch.softmax(scores, dim=-1)
        # (D, D) @ (n, D, d) -> (n, D, d) -> (n, D), or (n, D, d) @ (d,) -> (n, D) @ (D, D) -> (n, D)
        z = D * (S @ X[0]) @ value if order == "(S X) v" else D * (X[0] @ value) @ S.T
        F = (z**3 + 0.01 * z).sum(dim=1)
        loss = torch.nn.functional.softplus(-y[0] * F).mean()
        dA, dv = torch.autograd.grad(loss, (scores, value))
        return loss.detach(), dA.fill_diagonal_(0.0), dv

    for ours, theirs in zip(by_hand(), by_autograd()):
        assert (ours[0] - theirs).abs().max() < 1e-8  # softplus is linear beyond 20
    name = f"gradient of model (T), D = d = {D}, N = {n}"
    return compare(name, by_hand, by_autograd, f"torch autograd of {order}, float64", repeats)


def exact_risk_against_monte_carlo(
    num_patches: int = 16, q: float = 0.3, accuracy: float = 1e-4, n: int = 20_000, repeats: int = 5
) -> dict:
    """One exact loss and gradient, against sampling the loss alone to ``accuracy`` relative standard error.

    The sampler draws the coefficients alone, no noise vectors, and its gradient is by hand too. It is
    timed on n inputs; the number that it needs follows from their variance, so its time is computed,
    not waited for. The comparison is kind to it: the exact step has 1e-9, and gradients need more inputs
    than the loss does. The set-up of the exact law (up to seconds) is not counted.
    """
    D, C = num_patches, 4
    point = {"alpha": 1.6 / D, "beta": 1.0, "gamma": 0.5, "rho": -0.1}
    risk = PopulationRisk(D, C, q)
    law = SpatialData(Partition.random(D, C), 2, q)
    same = torch.from_numpy(law.partition.same_set)
    A = torch.where(same, point["gamma"], point["rho"]).double().fill_diagonal_(point["beta"])[None]
    v = torch.tensor([[point["alpha"]]], dtype=torch.float64)

    def exact():
        return risk.loss_and_gradient(**point)

    def sampled(seed=0):
        s, y, _ = law.sample_coefficients(n, seed)
        X, y = torch.from_numpy(s)[None, :, :, None], torch.from_numpy(y)[None]  # (1, n, D, 1), (1, n)
        return loss_and_gradients(X, y, A, v)

    estimates = np.array([sampled(seed)[0].item() for seed in range(40)])
    loss, _ = exact()
    error_of_one = float(estimates.std(ddof=1)) * n**0.5
    assert abs(estimates.mean() - loss) < 6 * error_of_one / (40 * n) ** 0.5
    needed = (error_of_one / (accuracy * loss)) ** 2
    result = compare(
        f"population loss and gradient, D = {D}, C = {C}, q = {q:g}",
        exact,
        sampled,
        f"Monte Carlo to {accuracy:g} relative on the loss: {needed:.1e} inputs, timed on {n}",
        repeats,
    )
    batches = needed / n
    return {**result, "theirs_s": result["theirs_s"] * batches, "ratio": result["ratio"] / batches}


def fused_gradient(num_patches: int, q: float, repeats: int = 15) -> dict:
    """The gradient of the population risk in one pass of small blocks, against three passes of torch.

    The other way is what one would write first: whole arrays, and torch's threads. Where cores are shared,
    its threads wait for one another.
    """
    risk = PopulationRisk(num_patches, 4, q)
    point = {"alpha": 1.6 / num_patches, "beta": 1.0, "gamma": 0.5, "rho": -0.1}
    phi, p = torch.from_numpy(risk.support.copy()), torch.from_numpy(risk.probability.copy())

    def whole():
        weights, slopes = risk.weights_and_slopes(**point)
        F = phi.T @ torch.from_numpy(weights)  # (atoms, features) @ (features,)
        return -slopes @ (phi @ (p * torch.sigmoid(-F))).numpy()

    assert np.allclose(risk.gradient(**point), whole(), rtol=1e-9)
    name = f"gradient of the population risk, D = {num_patches}, q = {q:g}: {risk.probability.size:,} atoms"
    against = f"whole arrays, torch with {torch.get_num_threads()} threads"
    return compare(name, lambda: risk.gradient(**point), whole, against, repeats)


def bench_dynamics() -> list[dict]:
    """All comparisons of this part."""
    return [
        *(
            gradients_against_autograd(D, n, order=order)
            for D, n in ((16, 8000), (36, 2000), (64, 500))
            for order in ("(S X) v", "S (X v)")
        ),
        fused_gradient(16, 0.3),
        fused_gradient(64, 0.1),
        exact_risk_against_monte_carlo(16, 0.3),
        exact_risk_against_monte_carlo(36, 0.2),
        exact_risk_against_monte_carlo(64, 0.1),
    ]
