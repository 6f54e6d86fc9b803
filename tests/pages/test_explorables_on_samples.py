"""Descent on samples in the page: its own inputs, handed to Python, give the scores and errors it shows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from page_visits import opened
from scipy.stats import norm

from patch_association.exact.linear import linear_error
from patch_association.training.gradients import loss_and_gradients
from patch_lab.setting.weighted import critical_q

pytestmark = pytest.mark.slow

#: The page's inputs, drawn as it draws them: `counts` tells the sizes of the draws, one after the other.
DRAW = """([sets, q, seed, counts]) => {
  const {uniform, drawInputs} = window.patchAssociation;
  const random = uniform(seed);
  return counts.map(count => drawInputs(sets, q, count, random).map(s => Array.from(s)));
}"""
SINGLE = {"rtol": 3e-7, "atol": 1e-7}  # the pages keep scores in single precision


def answers(scores, alpha, s, degree=3, linear=0.01):
    """y F of every input: model (T) without noise."""
    S = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    z = s.shape[1] * alpha * s @ S.T  # (N, D)
    return (z**degree + linear * z).sum(axis=1)


def check_error(shown: float, scores, alpha, s) -> None:
    """The share of wrong answers; what lies within rounding of zero may count as right, half or wrong."""
    F = answers(scores, alpha, s)
    assert (F < -1e-12).mean() - 1e-8 <= shown <= (F <= 1e-12).mean() + 1e-8


def descent(batches, rate: float):
    """Scores and alpha before each step, by the library's gradients."""
    D = np.shape(batches[0])[1]
    scores, alpha = np.eye(D), 0.01**0.5
    for s in batches:
        yield scores, alpha
        X = torch.tensor(np.asarray(s), dtype=torch.float64)[None, :, :, None]  # (1, N, D, 1)
        y = torch.ones(1, len(s), dtype=torch.float64)
        v = torch.tensor([[alpha]], dtype=torch.float64)
        _, dA, dv = loss_and_gradients(X, y, torch.tensor(scores)[None], v, 3, 0.01)
        step = rate * D**2 * dA[0].numpy()
        scores, alpha = scores - step * (1 - np.eye(D)), alpha - rate * float(dv)
    yield scores, alpha


def test_what_was_painted_is_learned_as_in_python(browser):
    letters = "ABCDEFGHI" * 4
    with opened(browser, "paint", f"#sets={letters}&q=0.3&seed=2", reduced_motion="reduce") as page:
        batches = page.evaluate(DRAW, [list(letters), 0.3, 1000003 * 2, [512] * 40])
        after = page.evaluate("() => Array.from({length: 40}, (_, k) => window.explorable.after(k + 1))")
    path = list(descent(batches, 0.005))
    for k in range(1, 41):
        check_error(after[k - 1]["error"], *path[k - 1], np.array(batches[k - 1]))
        np.testing.assert_allclose(np.reshape(after[k - 1]["A"], (36, 36)), path[k][0], **SINGLE)


def test_the_boundary_of_counting_is_the_one_that_python_finds(browser):
    """The typed number is the limit of the library's finite ones, and the sentence takes its side."""
    with opened(browser, "counting") as page:
        boundary = page.evaluate("() => window.explorable.boundary()")
    assert boundary == pytest.approx(norm.ppf(7 / 8) ** -2, abs=5e-5)
    assert boundary == pytest.approx(critical_q(2048, 32) * (2048 - 32) / 32**2, abs=5e-4)
    for D, C in ((400, 16), (256, 8), (144, 8)):
        for times, side in ((0.9, "within"), (1.1, "beyond")):
            q = round(times * norm.ppf(7 / 8) ** -2 * C**2 / (D - C), 4)
            with opened(browser, "counting", f"#D={D}&C={C}&q={q}") as page:
                said = page.locator(".pa-sentence").inner_text()
                counting, _ = page.evaluate("() => window.explorable.errors()")
            assert f"{side} the boundary of {boundary} C²" in said
            assert counting == pytest.approx(linear_error(D, C, q, ties="half"), abs=1e-12)
            assert (counting > 1 / 8) == (side == "beyond")
