"""The photograph put together by a trained network's similarities, and the second theory's attention."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from page_visits import EXPLORABLES, NEXT_FRAME, opened, shown

from patch_association.images.locality import similarity
from patch_association.shallow import PatternData, Sgd, Weights, population, train
from patch_lab.images.puzzle import assemble, cosines
from patch_lab.kit.records import decode, load
from patch_lab.shallow_vit.theory import attention_ceiling

pytestmark = pytest.mark.slow

MODELS = {"vit": "ViT-Tiny/16", "deit": "DeiT-Tiny/16"}
SENTENCE = "document.querySelector('.pa-sentence').textContent"


def similarities(name: str) -> np.ndarray:
    if name == "start":
        return similarity(0.02 * np.random.default_rng(0).standard_normal((196, 192))).astype("f2")
    return decode(load("vit_encodings").one(model=MODELS[name])["similarity"]).astype("f2")


def turns(at, side):
    """The eight turns and mirror images of places on a grid."""
    for r, c in (at.T, at.T[::-1]):
        for x in (r, side - r):
            for y in (c, side - c):
                yield np.stack([x, y], axis=-1)


@pytest.mark.parametrize("name", ["vit", "deit", "start"])
def test_the_puzzle_is_that_of_the_library(browser, name):
    with opened(browser, "shuffle") as page:
        there = page.evaluate("name => window.explorable.similarities(name)", name)
        found = {
            links: page.evaluate("([name, links]) => window.explorable.assembly(name, links)", [name, links])
            for links in (364, 400)
        }
    G = similarities(name)
    np.testing.assert_allclose(np.reshape(there, (196, 196)), cosines(G), atol=1e-8, rtol=0)
    for links, page_has in found.items():
        here = assemble(G, links)
        np.testing.assert_array_equal(np.reshape(page_has["hops"], (196, 196)), here.hops)
        apart = [np.abs(turn - here.plane).max() for turn in turns(np.array(page_has["plane"]), 13)]
        assert min(apart) < 1e-8
        if name != "start":
            assert page_has["right"] == 196 * here.at_place == 196
            assert page_has["beside"] == here.beside == 1


def test_pieces_are_found_by_keyboard_and_put_together(browser):
    with opened(browser, "shuffle", reduced_motion="reduce") as page:
        heap = page.locator("canvas.pa-heap").first
        heap.press("ArrowRight")
        heap.press("ArrowDown")
        page.wait_for_function("location.hash.includes('piece=') && !location.hash.includes('piece=0')")
        piece = page.evaluate("() => window.explorable.heap()[14] + 1")  # one row below the first
        page.wait_for_function(f"location.hash.includes('piece={piece}&')")
        assert "most like the lit one" in page.evaluate(SENTENCE)
        page.get_by_role("button", name="Put together").press("Enter")
        page.wait_for_function("location.hash.includes('together=100')")
        assert "every piece finds its place" in page.evaluate(SENTENCE)


def test_the_mouse_lights_the_piece_below_it(browser):
    with opened(browser, "shuffle", "#together=0") as page:
        box = page.locator("canvas").first.bounding_box()
        spot = {"x": 1.5 / 14 * box["width"], "y": 7.5 / 14 * box["height"]}
        page.locator("canvas").first.hover(position=spot)
        page.wait_for_function("location.hash.includes(`piece=${window.explorable.heap()[99] + 1}&`)")
        page.goto(page.url.partition("#")[0] + "#together=100")  # all lie where they were cut from
        page.locator("canvas").nth(1).hover(position=spot)
        page.wait_for_function("location.hash.includes('piece=100&')")
        page.mouse.move(5, 5)  # it leaves, and nothing else asked for a piece
        page.wait_for_function("location.hash.includes('piece=0&')")


@pytest.mark.parametrize("kind", ["vanilla", "positional"])
def test_the_epochs_are_those_of_the_record(browser, kind):
    run = load("cifar10_study").one(epochs=40, width=64, tile=32, seed=0, model=kind)
    P = decode(run["positions"]).astype(float)
    with opened(browser, "epochs", "#epoch=2") as page:
        for epoch in (1, 17, 40):
            there = page.evaluate("([kind, epoch]) => window.explorable.cosines(kind, epoch)", [kind, epoch])
            here = cosines(similarity(P[epoch - 1]))
            np.testing.assert_allclose(np.reshape(there, (64, 64)), here, atol=6e-4, rtol=0)  # half precision
        start = np.reshape(page.evaluate("kind => window.explorable.cosines(kind, 0)", kind), (64, 64))
        says = page.evaluate(SENTENCE)
        places = page.evaluate("kind => window.explorable.found(kind, 40)", kind)
    shares = [at["found"] / at["ring"] for at in places]
    assert sorted({at["ring"] for at in places}) == [3, 5, 8]
    assert np.mean(shares) == pytest.approx(run["metrics"][-1]["recall"], abs=0.01)  # half precision ties
    assert np.abs(start - np.eye(64)).max() < 0.6 and np.allclose(np.diag(start), 1)
    second, last = run["metrics"][1], run["metrics"][-1]
    assert f"{100 * second['val_accuracy']:.1f}%" in says
    assert f"{100 * second['recall'] / last['recall']:.0f}% " in says


def test_epochs_are_played_and_patches_chosen_by_keyboard(browser):
    with opened(browser, "epochs", "#patch=1", reduced_motion="reduce") as page:
        board = page.locator("canvas.pa-heap").first
        board.press("ArrowRight")
        board.press("ArrowDown")
        page.wait_for_function("location.hash.includes('patch=10')")
        page.get_by_role("button", name="Play").press("Enter")
        page.wait_for_function("location.hash.includes('epoch=40')")
        assert page.evaluate(SENTENCE).startswith("After epoch 40")


def random_law(rng):
    """Counts of twenty tokens with a majority, and how to train on them."""
    confusion = int(rng.integers(0, 8))
    return {
        "patterns": int(rng.choice([3, 4, 5, 6, 8])),
        "confusion": confusion,
        "relevant": int(rng.integers(confusion + 1, 21 - confusion)),
        "loss": str(rng.choice(["hinge", "logistic"])),
        "neurons": int(rng.choice([20, 50])),
        "rate": float(rng.uniform(0.02, 0.2)),
        "seed": int(rng.integers(1, 1000)),
        "steps": int(rng.integers(20, 300)),
    }


def test_thirty_random_descents_of_the_second_theory_agree_with_python(browser):
    rng = np.random.default_rng(0)
    fitted = 0
    with opened(browser, "look") as page:
        for _ in range(30):
            s = random_law(rng)
            a, b = s["relevant"] / 20, s["confusion"] / 20
            data = PatternData(20, a, b, num_patterns=s["patterns"], noise=0.0)
            there = page.evaluate(
                """([setting, a, b]) => {
                  const {drawWeights, ShallowDescent, ceiling} = window.patchAssociation;
                  const weights = drawWeights(setting);
                  const run = new ShallowDescent({...setting, weights});
                  run.advance();
                  const rows = A => A.map(row => Array.from(row));
                  const start = {head: Array.from(weights.head)};
                  for (const name of ['output', 'value', 'key', 'query']) start[name] = rows(weights[name]);
                  return {...run.found, start, fittedAt: run.fittedAt, ceiling: ceiling(a, b)};
                }""",
                [s | {"counts": data.class_counts()[0].tolist()}, a, b],
            )
            start = Weights(
                **{name: torch.tensor(A, dtype=torch.float64)[None] for name, A in there["start"].items()}
            )
            training = dict(steps=s["steps"], rate=s["rate"], how=Sgd(loss=s["loss"]))
            here = train(population(data), start, record=1, **training)
            for name in ("risk", "error", "mass", "confused", "margin"):
                np.testing.assert_allclose(
                    there[name], getattr(here, name)[:, 0], atol=1e-8, rtol=0, err_msg=f"{name} at {s}"
                )
            assert (there["fittedAt"] if there["fittedAt"] is not None else -1) == here.fitted_at[0]
            assert there["ceiling"] == pytest.approx(attention_ceiling(a, b)[1], abs=1e-12)
            fitted += there["fittedAt"] is not None
    assert fitted >= 3


def test_the_start_has_the_errors_of_the_assumption(browser):
    with opened(browser, "look") as page:
        there = page.evaluate(
            """() => {
              const rows = A => Array.from(A, row => row.length ? Array.from(row) : row);
              const start = window.patchAssociation.drawWeights({seed: 3, neurons: 40});
              return Object.fromEntries(Object.entries(start).map(([name, A]) => [name, rows(A)]));
            }"""
        )
    for name in ("key", "query"):
        np.testing.assert_allclose(np.linalg.norm(np.array(there[name]) - np.eye(10), axis=0), 0.2)
    lengths = np.linalg.svd(np.array(there["value"]))[1]
    assert 0.6 < lengths.min() and lengths.max() < 1.4  # orthonormal, and columns of length 0.1
    assert np.array(there["head"]) ** 2 == pytest.approx(1 / 40)
    assert np.std(there["output"]) == pytest.approx(0.01, rel=0.2)  # 400 draws: 5.6 standard errors


def test_tokens_are_taken_away_by_keyboard(browser):
    with opened(browser, "look", "#relevant=0.3&confusion=0.2&steps=200&rate=0.2") as page:
        before = page.evaluate("() => window.explorable.input()")
        confusing = page.locator("button.pa-token[aria-label*='confusion']")
        assert confusing.count() == 4
        first = page.locator("button.pa-token").first
        first.press("ArrowRight")
        assert page.evaluate("document.activeElement.ariaLabel").startswith("token 2,")
        confusing.first.press("Enter")
        page.wait_for_function("location.hash.endsWith('gone=') === false")
        page.evaluate(NEXT_FRAME)
        after = page.evaluate("() => window.explorable.input()")
        assert before["share"][:2] == pytest.approx([0.3, 0.2])
        assert after["share"][:2] == pytest.approx([6 / 19, 3 / 19])
        assert after["F"] > before["F"] and after["F"] == after["kept"]
        assert "You took away 1 of 20 tokens" in page.evaluate(SENTENCE)


@pytest.mark.parametrize(
    "chapter, name",
    [
        ("dynamics/idealized", "descent"),
        ("dynamics/companions", "valleys"),
        ("setting/linear_models", "counting"),
        ("setting/structure", "paint"),
        ("images/pretrained", "shuffle"),
        ("shallow_vit/attention_map", "look"),
        ("images/laptop", "epochs"),
    ],
)
def test_a_figure_of_the_chapter_loads_its_setting(browser, chapter, name):
    with shown(browser, f"book/{chapter}.html") as page:
        link = page.locator(f"figure a[data-loads={name}]")
        wanted = dict(part.split("=") for part in link.get_attribute("href")[1:].split("&"))
        page.locator("figure:has(a[data-loads]) .pa-loads").click(position={"x": 20, "y": 20})
        page.wait_for_selector(f".pa-explorable[data-explorable={name}][data-live]")
        address = page.locator(".pa-tools a").get_attribute("href").partition("#")[2]
        assert wanted.items() <= dict(part.split("=") for part in address.split("&")).items()
        assert page.locator(".pa-refused").count() == 0


@pytest.mark.parametrize("name", EXPLORABLES)
def test_the_still_picture_loads_its_setting(browser, name):
    with opened(browser, name) as page:
        page.locator(".pa-rest > summary").click()
        page.locator(".pa-still img").wait_for()
        assert page.evaluate("document.querySelector('.pa-still img').alt.length") > 30
        page.locator(f".pa-still a[data-loads={name}]").click()
        page.evaluate(NEXT_FRAME)
        assert page.locator(".pa-refused").count() == 0


def test_a_way_that_leaves_the_plane_ends_in_an_arrow(browser):
    with opened(browser, "valleys", "#gamma=2.5&rho=-2.5") as page:
        assert page.locator(".pa-plane .pa-leaves").count() == 1
    with opened(browser, "valleys", "#D=16&C=4&q=0.9&gamma=2&rho=2") as page:
        inside = page.evaluate(
            "() => window.explorable.line().every(at => Math.abs(at[0]) <= 3 && Math.abs(at[1]) <= 3)"
        )
        assert page.locator(".pa-plane .pa-leaves").count() == (not inside)


def test_a_drag_writes_the_address_a_few_times_a_second(browser):
    """Safari refuses more than a hundred writes in ten seconds, and the page would stand still."""
    with opened(browser, "counting") as page:
        writes = page.evaluate(
            """async () => {
              let writes = 0;
              const write = history.replaceState.bind(history);
              history.replaceState = (...given) => { writes += 1; write(...given); };
              const slider = document.querySelectorAll('.pa-control input')[0];
              const begun = performance.now();
              for (let k = 0; performance.now() - begun < 1500; k++) {
                slider.value = (k % 90) / 100;
                slider.dispatchEvent(new Event('input'));
                await new Promise(requestAnimationFrame);
              }
              return writes;
            }"""
        )
        assert 2 <= writes <= 8
        page.wait_for_function(
            "location.hash.includes(`q=${document.querySelectorAll('.pa-control input')[0].value}`)"
        )
