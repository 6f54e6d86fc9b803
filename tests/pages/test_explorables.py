"""What a reader moves: the library's numbers, by mouse, keyboard and address, and a word where it ends."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from urllib.parse import quote

import numpy as np
import pytest
import torch
from flint import arb
from page_visits import EXPLORABLES, NEXT_FRAME, opened, shown

from patch_association.defaults import initial_alpha
from patch_association.exact.linear import labeling_error, linear_error
from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_association.training.gradients import loss_and_gradients
from patch_lab.certify.field import ball
from patch_lab.certify.signs import law_at, sign_at
from patch_lab.dynamics.events import stable_rate
from patch_lab.dynamics.slow_scores import flow_line, velocity
from patch_lab.dynamics.valley import best_alpha

NAMES = ("alpha", "gamma", "rho", "loss", "error")


def address(setting: dict) -> str:
    return "#" + "&".join(f"{key}={value!r}" for key, value in setting.items())


def random_setting(rng) -> dict:
    """A law that a page can take, and a process that it has to follow."""
    D, C = [(8, 2), (12, 2), (12, 3), (12, 4), (16, 4), (18, 3), (20, 4), (24, 4)][rng.integers(8)]
    degree, linear = int(rng.choice([3, 5])), float(10 ** rng.uniform(-4, -1))
    q, diagonal = float(rng.uniform(0.02, 0.98)), float(rng.uniform(0, 4))
    # Beyond the stable rate the process may be chaotic: rounding errors would grow from step to step.
    risk = PopulationRisk(D, C, q, degree, linear)
    rate, alpha = float(rng.uniform(0.1, 1)) * stable_rate(risk, diagonal), initial_alpha(degree, linear)
    score_rate = rate * float(rng.choice([1, D, D**2]))
    alpha, steps = min(alpha, best_alpha(risk, diagonal)), int(rng.integers(0, 40 if D > 16 else 120))
    law = dict(D=D, C=C, q=q, diagonal=diagonal, degree=degree, linear=linear)
    return law | dict(alpha=alpha, rate=rate, score_rate=score_rate, steps=steps)


def python_run(setting: dict):
    risk = PopulationRisk(*(setting[key] for key in ("D", "C", "q", "degree", "linear")))
    step = Constant(setting["rate"], score_rate=setting["score_rate"])
    keys = ("steps", "diagonal", "alpha")
    return descend_population(risk, step, **{key: setting[key] for key in keys}, progress=False)


def test_a_hundred_random_settings_agree_with_python(browser):
    rng = np.random.default_rng(0)
    with opened(browser, "descent") as page:
        for _ in range(100):
            setting = random_setting(rng)
            here = python_run(setting)
            there = page.evaluate(
                "setting => new window.patchAssociation.Descent(setting).trajectory()", setting
            )
            for name in NAMES:
                assert len(there[name]) == setting["steps"] + 1
                np.testing.assert_allclose(
                    there[name], getattr(here, name), atol=1e-8, rtol=0, err_msg=f"{name} at {setting}"
                )


def test_proofs_in_the_page_are_those_of_the_library(browser):
    """Both enclosures meet the library's at the page's u; close to an edge nothing is proved."""
    rng = np.random.default_rng(0)
    sizes = [(8, 2), (12, 2), (16, 4), (24, 8), (32, 4), (48, 8), (64, 4)]
    drawn = [(*sizes[k % 7], (3, 5)[k % 2], int(rng.integers(5, 101))) for k in range(40)]
    with shown(browser, "book/dynamics/certified.html") as page:
        prove = "given => window.patchAssociation.prove(given)"
        for D, C, p, percent in drawn:
            proof = page.evaluate(prove, {"D": D, "C": C, "p": p, "q": percent / 100})
            law = law_at(D - C, C, ball(Fraction(percent, 100)))
            assert proof["side"] == sign_at(law, p), (D, C, p, percent)
            if proof["side"] == 0:
                continue
            f = delta = arb(0)
            for M, P, W in law:
                w = 1 / (1 + (arb(proof["u"]) * M**p).exp())
                f += P * w * M**p
                delta += W * w * M ** (p - 2)
            for ours, (low, high) in ((f, proof["f"]), (delta, proof["delta"])):
                assert arb(low).union(arb(high)).overlaps(ours), (D, C, p, percent)
        at_the_edge = page.evaluate(prove, {"D": 16, "C": 4, "p": 3, "q": 0.075573731})
        assert at_the_edge == {"side": 0}


def test_any_setting_by_its_address(browser):
    setting = {
        "D": 16, "C": 4, "q": 0.3, "diagonal": 1, "linear": 0.0001, "alpha": 0.01, "rate": 0.02,
        "score_rate": 5.12, "steps": 400,
    }  # fmt: skip
    with opened(browser, "descent", address(setting)) as page:
        there = page.evaluate("() => window.explorable.trajectory()")
    here = python_run({**setting, "degree": 3})
    for name in NAMES:
        np.testing.assert_allclose(there[name], getattr(here, name), atol=1e-8, rtol=0)


def test_the_plain_sum_is_that_of_the_library(browser):
    with opened(browser, "descent") as page:
        for D, C, q in [(16, 4, 0.3), (8, 2, 0.9), (24, 4, 0.1), (12, 3, 1.0)]:
            there = page.evaluate(
                "([D, C, q]) => new window.patchAssociation.PopulationRisk({D, C, q}).voteError", [D, C, q]
            )
            assert there == pytest.approx(linear_error(D, C, q, ties="half"), abs=1e-12)


def test_nonsense_gets_a_sentence_and_the_page_goes_on(browser):
    with opened(browser, "descent", "#D=32&C=4") as page:
        assert "116,280 atoms" in page.locator(".pa-sentence").inner_text()
        page.goto(page.url.partition("#")[0] + "#q=0.4")
        page.wait_for_function("document.querySelector('.pa-sentence').textContent.startsWith('At q = 0.4')")


def test_rates_that_are_too_large_are_named(browser):
    with opened(browser, "descent", "#rate=1000&score_rate=1000&steps=50") as page:
        assert "leaves all bounds" in page.locator(".pa-sentence").inner_text()
        assert math.isnan(page.evaluate("() => window.explorable.trajectory().loss[50]"))


def test_play_moves_the_step_and_stands_still_where_motion_is_unwanted(browser):
    step = "() => Number(document.querySelector('.pa-player input').value)"
    with opened(browser, "descent", "#steps=300", reduced_motion="no-preference") as page:
        page.locator(".pa-play").click()
        page.wait_for_function(f"() => {{ const now = ({step})(); return now > 0 && now < 300; }}")
    with opened(browser, "descent", "#steps=300", reduced_motion="reduce") as page:
        page.locator(".pa-play").press("Enter")
        assert page.evaluate(step) == 150  # a still on the way, and then the end
        page.wait_for_function(f"() => ({step})() === 300")


def test_a_link_in_the_text_loads_its_state(browser):
    with opened(browser, "descent") as page:
        page.get_by_role("link", name="Many random features").click()
        page.wait_for_function("location.hash.includes('q=0.8')")
        page.wait_for_function("document.querySelector('.pa-sentence').textContent.includes('fell behind')")


def test_the_cell_for_a_notebook_gives_the_numbers_of_the_page(browser, capsys):
    with opened(browser, "descent", "#q=0.4&steps=60") as page:
        page.locator(".pa-code summary").click()
        page.wait_for_function("document.querySelector('.pa-code pre').textContent !== ''")
        code = page.locator(".pa-code pre").inner_text()
        there = page.evaluate("() => window.explorable.trajectory()")
    exec(code, {})
    here = [float(word) for word in capsys.readouterr().out.split()]
    assert here == pytest.approx([there[name][60] for name in ("gamma", "rho", "error")], abs=1e-8)


def test_an_address_may_not_carry_anything_into_the_page(browser):
    with opened(browser, "descent", "#" + quote("<img src=x onerror=alert(1)>") + "=1") as page:
        assert page.locator(".pa-sentence img").count() == 0


@pytest.mark.parametrize("D, C, q", [(16, 4, 0.3), (64, 4, 0.3), (400, 16, 0.11), (36, 3, 1.0), (24, 2, 0.0)])
def test_both_listeners_err_as_the_library_says(browser, D, C, q):
    with opened(browser, "counting", f"#D={D}&C={C}&q={q}") as page:
        there = page.evaluate("() => window.explorable.errors()")
    assert there == pytest.approx([linear_error(D, C, q, ties="half"), labeling_error(D, C, q)], abs=1e-12)


def test_descent_on_samples_has_the_gradients_of_the_library(browser):
    rng = np.random.default_rng(1)
    with opened(browser, "paint") as page:
        for D, C, degree in [(16, 4, 3), (36, 4, 3), (12, 3, 5)]:
            s = rng.choice([-1, 0, 1], size=(50, D))
            scores, alpha = rng.normal(size=(D, D)), 0.1
            there = page.evaluate(
                """([sets, inputs, scores, alpha, degree]) => {
                  const run = new window.patchAssociation.SampleDescent({sets, q: 0.5, degree, linear: 0.01});
                  run.A.set(scores.flat());
                  run.alpha = alpha;
                  const {loss, error, dalpha, dA} = run.gradients(inputs);
                  return [loss, error, dalpha, Array.from(dA)];
                }""",
                [[k // C for k in range(D)], s.tolist(), scores.tolist(), alpha, degree],
            )
            X = torch.tensor(s, dtype=torch.float64)[None, :, :, None]  # (1, N, D, 1): only the feature
            y, v = torch.ones(1, 50, dtype=torch.float64), torch.tensor([[alpha]], dtype=torch.float64)
            loss, dA, dv = loss_and_gradients(X, y, torch.tensor(scores)[None], v, degree, 0.01)
            assert there[0] == pytest.approx(float(loss), abs=1e-12)
            assert there[2] == pytest.approx(float(dv), abs=1e-11)
            np.testing.assert_allclose(np.reshape(there[3], (D, D)), dA[0].numpy(), atol=1e-12)


def test_painted_sets_are_found(browser):
    """On the scattered arrangement, by keyboard: choose two patches, and the exchange is learned as well."""
    with opened(browser, "paint") as page:
        page.get_by_role("button", name="Show: a scatter").press("Enter")
        page.wait_for_function("location.hash.includes('sets=')")
        before = page.evaluate("location.hash")
        letters = page.locator("button.pa-cell").all_inner_texts()
        cells = page.locator("button.pa-cell")
        cells.nth(0).press("ArrowDown")
        focused = "[...document.querySelectorAll('button.pa-cell')].indexOf(document.activeElement)"
        assert page.evaluate(focused) == 6
        cells.nth(0).press("Enter")
        cells.nth(next(k for k in range(36) if letters[k] != letters[0])).press("Enter")
        page.wait_for_function("before => location.hash !== before", arg=before)
        page.wait_for_function("() => window.explorable.association().exact")


def test_the_valleys_are_those_of_the_reduced_flow(browser):
    risk = PopulationRisk(12, 4, 0.6)
    with opened(browser, "valleys", "#D=12&C=4&q=0.6&diagonal=1&gamma=0&rho=0") as page:
        for gamma, rho in [(0, 0), (-1, 0.5), (2.0, -1.5)]:
            there = page.evaluate("([g, r]) => window.explorable.velocity(g, r)", [gamma, rho])
            by_gamma, by_rho, alpha = velocity(risk, 1.0, gamma, rho)
            assert there["alpha"] == pytest.approx(alpha, rel=1e-7)
            assert [there["gamma"], there["rho"]] == pytest.approx([by_gamma, by_rho], rel=1e-5, abs=1e-9)
        line = np.array(page.evaluate("() => window.explorable.line()"))
        page.wait_for_function("() => window.explorable.ends().length === 625")
        assert set(page.evaluate("() => window.explorable.ends()")) == {-1, 0, 1}  # nodes at rest, too
    exact = flow_line(risk, 1.0, np.geomspace(1, 3000, 400))
    near = [np.hypot(exact.gamma - g, exact.rho - r).min() for g, r in line[5:100, :2]]
    assert max(near) < 0.02  # the strides of the page are 0.015 long


def test_the_start_of_the_valleys_can_be_dragged(browser):
    with opened(browser, "valleys") as page:
        page.locator(".pa-plane").scroll_into_view_if_needed()  # the guess stands above it
        box = page.locator(".pa-plane").bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.35, box["y"] + box["height"] * 0.35)
        page.mouse.up()
        page.wait_for_function("document.querySelector('.pa-sentence').textContent.startsWith('From γ = −')")


@pytest.mark.parametrize(
    "name, state",
    [
        ("counting", ""),
        ("counting", "#D=400&C=16&q=0"),
        ("paint", ""),
        ("descent", "#D=12&C=3&degree=5&steps=20"),
        ("valleys", ""),
        ("valleys", "#D=8&C=2&gamma=-1&rho=0.5"),
        ("shuffle", ""),
        ("shuffle", "#encodings=deit"),
        ("look", ""),
        ("look", "#removed=before&gone=1.2.3&steps=100"),
        ("look", "#loss=logistic&label=-1&steps=100"),
        ("epochs", ""),
        ("epochs", "#epoch=0&patch=1"),
    ],
)
def test_every_cell_for_a_notebook_runs(browser, name, state, capsys):
    with opened(browser, name, state) as page:
        page.locator(".pa-code summary").click()
        page.wait_for_function("document.querySelector('.pa-code pre').textContent !== ''")
        code = page.locator(".pa-code pre").inner_text()
    exec(re.sub("steps=[245]00", "steps=2", code).replace("4096", "64"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLORABLES)
def test_every_link_in_the_text_loads_a_state_without_a_complaint(browser, name):
    with opened(browser, name) as page:
        page.locator(".pa-rest > summary").click()
        links = page.locator(f"a[data-loads={name}]")
        for k in range(links.count()):
            links.nth(k).click()
            page.evaluate(NEXT_FRAME)
            assert page.locator(".pa-refused").count() == 0, links.nth(k).inner_text()


@pytest.mark.parametrize("name", EXPLORABLES)
def test_nothing_jumps_when_a_guess_is_answered(browser, name):
    high = "document.querySelector('.pa-explorable').offsetHeight"
    with opened(browser, name, viewport={"width": 1440, "height": 900}, reduced_motion="reduce") as page:
        page.wait_for_timeout(300)  # an outline of charts is drawn in the frames after
        before = page.evaluate(high)
        page.locator(".pa-guess button").first.click()
        assert "guess" in page.locator(".pa-told").inner_text()
        page.wait_for_timeout(1500)
        assert page.evaluate(high) == pytest.approx(before, abs=2)
