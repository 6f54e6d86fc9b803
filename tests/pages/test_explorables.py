"""What a reader moves: the library's numbers, by mouse, keyboard and address, and a word where it ends."""

from __future__ import annotations

import math
from contextlib import contextmanager
from urllib.parse import quote

import numpy as np
import pytest
from browser import SITE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from patch_association.conventions import initial_alpha
from patch_association.exact.linear import linear_error
from patch_association.exact.risk import PopulationRisk
from patch_association.training import Constant, descend_population
from patch_association.training.events import stable_rate
from patch_association.training.valley import best_alpha

EXPLORE = "book/explore"
NAMES = ("alpha", "gamma", "rho", "loss", "error")


@contextmanager
def opened(browser, name: str, state: str = "", **context):
    """An explorable's page with a state in its address; the console must stay silent."""
    page = browser.new_context(**context).new_page()
    heard = []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"{(SITE / EXPLORE / name).as_uri()}.html{state}")
    page.evaluate("() => window.explorable.ready")
    yield page
    page.context.close()
    assert heard == []


def address(setting: dict) -> str:
    return "#" + "&".join(f"{key}={value!r}" for key, value in setting.items())


def random_setting(rng) -> dict:
    """A law that a page can take, and a process that it has to follow."""
    D, C = [(8, 2), (12, 2), (12, 3), (12, 4), (16, 4), (18, 3), (20, 4), (24, 4)][rng.integers(8)]
    degree, linear = int(rng.choice([3, 5])), float(10 ** rng.uniform(-4, -1))
    q, diagonal = float(rng.uniform(0.02, 0.98)), float(rng.uniform(0, 4))
    # Beyond the stable rate the process may be chaotic: rounding errors would grow from step to step.
    risk = PopulationRisk(D, C, q, degree, linear)
    rate = float(rng.uniform(0.1, 1)) * stable_rate(risk, diagonal)
    return {
        "D": D,
        "C": C,
        "q": q,
        "diagonal": diagonal,
        "degree": degree,
        "linear": linear,
        "alpha": min(initial_alpha(degree, linear), best_alpha(risk, diagonal)),
        "rate": rate,
        "score_rate": rate * float(rng.choice([1, D, D**2])),
        "steps": int(rng.integers(0, 40 if D > 16 else 120)),
    }


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


@pytest.mark.parametrize(
    "state, says",
    [
        ("#D=32&C=4", "116,280 atoms"),
        ("#D=16&C=5", "5 does not divide D = 16"),
        ("#q=2", "q must be a finite number from 0 to 1; it is 2"),
        ("#degree=4", "must be 3, 5, 7 or 9; it is 4"),
        ("#steps=-1", "steps must be a whole number, at least 0; it is -1"),
        ("#rate=NaN", "gives rate as “NaN”, which is no number"),
        ("#flavour=3", "names “flavour”; known are D, C, q"),
    ],
)
def test_nonsense_gets_a_sentence(browser, state, says):
    with opened(browser, "descent", state) as page:
        assert says in page.locator(".pa-sentence").inner_text()
        page.goto(page.url.partition("#")[0] + "#q=0.4")  # and the page goes on
        page.wait_for_function("document.querySelector('.pa-sentence').textContent.startsWith('At q = 0.4')")


def test_rates_that_are_too_large_are_named(browser):
    with opened(browser, "descent", "#rate=1000&score_rate=1000&steps=50") as page:
        assert "leaves all bounds" in page.locator(".pa-sentence").inner_text()
        assert math.isnan(page.evaluate("() => window.explorable.trajectory().loss[50]"))


def test_ten_thousand_malformed_addresses(browser):
    """Each is read, or refused with a sentence; nothing else is thrown."""
    fields = [{"key": "D", "value": 16}, {"key": "q", "value": 0.3}]
    read = """([fields, hash]) => {
      try { return Object.values(window.patchAssociation.readAddress(fields, hash)).every(Number.isFinite); }
      catch (error) {
        return error instanceof window.patchAssociation.Refused && error.message.endsWith('.');
      }
    }"""
    pieces = st.one_of(
        st.sampled_from(["D", "q", "=", "&", "#", "1e999", "-0", "0x10", "NaN", "%", " ", "__proto__", "∞"]),
        st.text(max_size=6),
    )
    with opened(browser, "descent") as page:

        @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        @given(st.lists(st.lists(pieces, max_size=8).map("".join), min_size=100, max_size=100))
        def every_address(hashes):
            hashes = [hash.encode("utf-8", "replace").decode() for hash in hashes]
            answers = page.evaluate(f"([f, all]) => all.map(hash => ({read})([f, hash]))", [fields, hashes])
            assert all(answers), [hash for hash, answer in zip(hashes, answers) if not answer]

        every_address()


def test_by_keyboard_alone(browser):
    with opened(browser, "descent") as page:
        for _ in range(60):
            page.keyboard.press("Tab")
            label = page.evaluate("() => document.activeElement.labels?.[0]?.textContent ?? ''")
            if label.startswith("q,"):
                break
        before = page.locator(".pa-sentence").inner_text()
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        page.wait_for_function("location.hash.includes('q=0.35')")
        page.wait_for_function(
            "before => document.querySelector('.pa-sentence').textContent.startsWith('At q = 0.35') && "
            "document.querySelector('.pa-sentence').textContent !== before",
            arg=before,
        )


def test_play_moves_the_step_and_stands_still_where_motion_is_unwanted(browser):
    step = "() => Number(document.querySelector('.pa-player input').value)"
    with opened(browser, "descent", "#steps=300", reduced_motion="no-preference") as page:
        page.locator(".pa-play").click()
        page.wait_for_function(f"() => {{ const now = ({step})(); return now > 0 && now < 300; }}")
    with opened(browser, "descent", "#steps=300", reduced_motion="reduce") as page:
        page.locator(".pa-play").press("Enter")
        assert page.evaluate(step) == 0  # from the end to the start at once
        page.locator(".pa-play").press("Enter")
        assert page.evaluate(step) == 300


def test_a_link_in_the_text_loads_its_state(browser):
    with opened(browser, "descent") as page:
        page.get_by_role("link", name="Companions lose").click()
        page.wait_for_function("location.hash.includes('q=0.8')")
        page.wait_for_function("document.querySelector('.pa-sentence').textContent.includes('fall behind')")


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
