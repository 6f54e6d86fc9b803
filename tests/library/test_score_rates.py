"""What the chapters on the idealized process measure, against enumeration of every input."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from enumeration import consecutive_sets, inputs

from patch_association.exact.risk import PopulationRisk
from patch_lab.dynamics.draw_noise import draw_moments
from patch_lab.dynamics.score_rates import score_rates

CASES = [(6, 2, Fraction(3, 10), 3), (6, 3, Fraction(1, 2), 3), (6, 2, Fraction(4, 5), 5)]
POINTS = [(0.1, 1.0, 0.0, 0.0), (0.25, 1.0, 0.7, -0.2), (0.2, 2.0, -0.4, 0.3)]
LINEAR = 0.02


def table(D, C, q):
    """(s at y = +1, probability): multiplying s by the label changes neither y F nor its law."""
    rows = [(np.multiply(y, s), float(p)) for p, y, _, s in inputs(consecutive_sets(D, C), q)]
    s, p = (np.array(column, dtype=float) for column in zip(*rows))
    return torch.from_numpy(s), p


def per_draw(D, C, s, degree, point):
    """Loss of every input and its Jacobian by (alpha, gamma, rho), by automatic differentiation."""
    alpha, beta, gamma, rho = point
    same = torch.kron(torch.eye(D // C), torch.ones(C, C)).bool()
    eye = torch.eye(D, dtype=torch.bool)

    def losses(x):
        A = torch.where(eye, torch.tensor(beta, dtype=torch.float64), torch.where(same, x[1], x[2]))
        z = D * x[0] * s @ torch.softmax(A, dim=1).T
        F = (z**degree + LINEAR * z).sum(dim=1)
        return torch.logaddexp(torch.zeros_like(F), -F), F

    x = torch.tensor([alpha, gamma, rho], dtype=torch.float64)
    loss, F = losses(x)
    return loss.numpy(), torch.autograd.functional.jacobian(lambda x: losses(x)[0], x).numpy(), F.numpy()


@pytest.mark.parametrize("D, C, q, degree", CASES)
@pytest.mark.parametrize("point", POINTS)
def test_moments_of_one_draw(D, C, q, degree, point):
    s, p = table(D, C, q)
    loss, slopes, _ = per_draw(D, C, s, degree, point)
    ours = draw_moments(PopulationRisk(D, C, float(q), degree, LINEAR), *point)
    for name, column in zip(("loss", "alpha", "gamma", "rho"), (loss, *slopes.T)):
        mean = p @ column
        assert ours[name] == pytest.approx((mean, p @ (column - mean) ** 2), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("D, C, q, degree", CASES)
@pytest.mark.parametrize("point", POINTS)
def test_rates_are_the_velocity_formula_of_the_chapter(D, C, q, degree, point):
    """-dL/dA_ij = D alpha S_ij E[w sigma'(z_i) (s_j - sbar_i)], summed input by input."""
    s, p = table(D, C, q)
    alpha, beta, gamma, rho = point
    row = np.array([beta] + [gamma] * (C - 1) + [rho] * (D - C))
    S = np.exp(row) / np.exp(row).sum()
    heard = s.numpy() @ S  # what patch 0 hears
    F = per_draw(D, C, s, degree, point)[2]
    w = 1 / (1 + np.exp(F))
    loud = degree * (D * alpha * heard) ** (degree - 1) + LINEAR
    velocity = [D * alpha * S[j] * (p @ (w * loud * (s[:, j].numpy() - heard))) for j in range(D)]
    assert sum(velocity) == pytest.approx(0, abs=1e-13)  # the identity of a row
    ours = score_rates(PopulationRisk(D, C, float(q), degree, LINEAR), *point)
    assert ours.inside == pytest.approx(velocity[1], rel=1e-9, abs=1e-14)
    assert ours.outside == pytest.approx(velocity[-1], rel=1e-9, abs=1e-14)
    G = D * (S[0] + (C - 1) * S[1])
    growth = S[1] * G ** (degree - 1)
    assert ours.constant_inside == pytest.approx(velocity[1] / (alpha**degree * growth), rel=1e-9, abs=1e-12)
    bound = alpha**degree * (1 + growth) / D
    assert ours.constant_outside == pytest.approx(abs(velocity[-1]) / bound, rel=1e-9, abs=1e-12)
    assert ours.slope == pytest.approx(p @ w, rel=1e-12)
