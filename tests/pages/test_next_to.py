"""The essay: its scenes have the library's numbers, answer to keyboard and touch, and keep to themselves."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from browser import SITE, bytes_of
from bs4 import BeautifulSoup
from page_visits import DESK, NEXT_FRAME, PHONE, shown
from PIL import Image

from patch_association.exact.linear import labeling_error, linear_error
from patch_association.exact.risk import PopulationRisk
from patch_association.images.locality import grid_distances
from patch_lab.dynamics.slow_scores import velocity
from patch_lab.images.puzzle import assemble, cosines
from patch_lab.kit.records import decode, load

PAGE = SITE / "book" / "next_to.html"
SCENES = ("heap", "strings", "network", "counting", "sets", "valleys", "forgotten", "gazes")
NAMES = dict(zip(SCENES, ("heap", "strings", "network", "drowns", "own", "ball", "forgotten", "gazes")))
SAID = "document.querySelector('[data-scene={}] .pa-sentence').textContent"
#: What a scene says of a guess that was made.
TOLD = "As you guessed|You guessed otherwise"
#: How far the text below moved, summed over what the browser calls layout shifts that no reader caused.
SHIFT = """() => { window.shift = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: 'layout-shift', buffered: true}); }"""


@contextmanager
def essay(browser, scene: str | None = None, **context):
    """The essay with a scene on the screen; nothing may be asked of the network, nothing may be thrown."""
    asked = []
    with shown(browser, "book/next_to.html", **({"viewport": DESK} | context)) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        place = page.locator(f"[data-scene={scene}]")
        if scene:
            place.scroll_into_view_if_needed()
            page.wait_for_function(f"() => window.explorables?.{NAMES[scene]}")
        yield page, place
    assert [url for url in asked if not url.startswith((SITE.as_uri(), "data:", "blob:"))] == []


def of(page, scene: str, call: str, argument=None):
    """What a scene tells to checks."""
    return page.evaluate(f"argument => window.explorables.{NAMES[scene]}.{call}", argument)


def test_the_heap_is_the_puzzle_of_the_library(browser):
    with essay(browser, "heap") as (page, place):
        sheets = of(page, "heap", "sheets()")
        page.wait_for_function("() => window.explorables.heap.time() === 1")  # moves by itself, once
        said = place.locator(".pa-sentence").inner_text()
    G = decode(load("vit_encodings").one(model="ViT-Tiny/16")["similarity"])
    here = assemble(G)
    linked = np.zeros((196, 196), bool)
    linked[tuple(np.transpose(sheets["vit"]["links"]))] = True
    np.testing.assert_array_equal(linked | linked.T, here.links)
    np.testing.assert_array_equal(sheets["vit"]["places"], here.places)
    assert (here.links & (grid_distances(14) == 1)).sum() // 2 == sheets["vit"]["joined"] == 364
    assert "364 of the 364" in said and "196 of 196" in said


def picture(size=(320, 200), color=(10, 200, 30), form="PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, form)
    return file.getvalue()


FILES = {
    "photo.png": (picture(), None),
    "photo.webp": (picture(form="WEBP"), None),
    "drawing.svg": (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90">'
        b'<rect width="90" height="90" fill="#0ac81e"/></svg>',
        None,
    ),
    "empty.jpg": (b"", "is empty"),
    "words.jpg": (b"no picture at all", "cannot read"),
    "bent.png": (picture()[:20] + bytes(300), "cannot read"),
    "tiny.png": (picture((5, 300)), "too few"),
    "large.jpg": (b"\xff\xd8" + bytes(41_000_000), "41 MB"),
}


def test_any_picture_of_ones_own_or_a_sentence(browser):
    """Each file in turn: after one that cannot be read the next one can; the cat stays until then."""
    with essay(browser, "heap", reduced_motion="reduce") as (page, place):
        for name, (content, refused) in sorted(FILES.items(), key=lambda file: file[1][1] is None):
            before = of(page, "heap", "shown()")
            kind = "image/svg+xml" if "svg" in name else "application/octet-stream"
            file = dict(name=name, mimeType=kind, buffer=content)
            place.locator("input[type=file]").set_input_files([file])
            if refused:
                page.wait_for_function(
                    f"words => words.every(word => {SAID.format('heap')}.includes(word))", arg=[name, refused]
                )
                assert of(page, "heap", "shown()") == before == "the picture"
            else:
                page.wait_for_function("() => Math.abs(window.explorables.heap.mean()?.[1] - 200) < 4")
                page.wait_for_function(f"() => {SAID.format('heap')}.includes('your picture')")


def test_a_piece_that_is_pulled_takes_others_along_and_swings_back(browser):
    with essay(browser, "heap", reduced_motion="reduce") as (page, place):
        page.wait_for_timeout(1500)
        assert of(page, "heap", "time()") == 1  # where nothing moves, before and after stand side by side
        place.get_by_role("button", name="Pull").press("Enter")
        page.wait_for_function("() => window.explorables.heap.time() === 1")
        canvas = place.locator("canvas").first
        at_rest, box = canvas.screenshot(), canvas.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.4)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.2, steps=4)
        assert canvas.screenshot() != at_rest
        page.mouse.up()
        page.wait_for_timeout(300)
        assert canvas.screenshot() == at_rest


def test_a_moment_of_the_text_moves_its_scene(browser):
    with essay(browser, "strings", reduced_motion="reduce") as (page, place):
        for at in ("answers", "map"):
            link = page.locator(f"a[data-of=strings][data-at={at}]")
            link.press("Enter")
            assert str(of(page, "strings", "epoch()")) in link.inner_text().split()
    with essay(browser, "valleys", reduced_motion="reduce") as (page, place):
        page.locator("a[data-of=ball][data-at=many]").press("Enter")
        page.wait_for_function("() => window.explorables.ball.setting().q === 0.9")
    with essay(browser, "forgotten", reduced_motion="reduce") as (page, place):
        page.locator("a[data-of=forgotten][data-at=lit]").press("Enter")
        assert of(page, "forgotten", "lit()")["8000"] == 10
    with essay(browser, "network", reduced_motion="reduce", viewport=PHONE) as (page, place):
        page.locator("a[data-of=network][data-at=trace]").press("Enter")  # without a game
        assert place.get_by_role("button", name="Back to the text").is_visible()
        page.wait_for_function(f"() => {SAID.format('network')}.includes('3,000 inputs')")
        assert place.locator(".pa-likely").count() == place.locator(".pa-listened.pa-true").count() == 3


def test_strings_are_those_of_the_record(browser):
    run = load("cifar10_study").one(epochs=40, width=64, tile=32, seed=0, model="vanilla")
    beside = grid_distances(8) == 1
    first, second = np.triu_indices(64, 1)
    with essay(browser, "strings") as (page, _):
        for epoch in (1, 4, 40):
            P = decode(run["positions"])[epoch - 1].astype(float)
            P -= P.mean(axis=0)
            K = cosines(P @ P.T)[first, second]
            top = np.argsort(-K, kind="stable")[:112]
            there = of(page, "strings", "at(argument)", epoch)
            assert there["near"] == beside[first[top], second[top]].sum()
            assert sorted(there["links"]) == sorted((64 * first[top] + second[top]).tolist())
            assert there["accuracy"] == run["metrics"][epoch - 1]["val_accuracy"]
        page.locator("[data-scene=strings] input").press("End")
        kinds = [int(n) for n in re.findall(r"\d+", of(page, "strings", "kinds()"))]
    mirrored = (first // 8 == second // 8) & (first % 8 + second % 8 == 7) & ~beside[first, second]
    assert kinds[:2] == [beside[first[top], second[top]].sum(), mirrored[top].sum()] and sum(kinds) == 112


def test_the_model_of_the_game_knows_the_sets_and_answers_as_the_library_does(browser):
    with essay(browser, "network") as (page, place):
        plus = place.get_by_role("button", name="plus", exact=True)
        for k in range(10):  # faster than the answers stand there: each counts
            plus.evaluate("sign => sign.click()")
            assert f"Round {k + 1} of 10" in place.locator(".pa-sentence").text_content()
        page.wait_for_function(f"() => {SAID.format('network')}.includes('inputs')")
        place.locator("input[type=range]").press("End")
        page.wait_for_function("() => document.querySelectorAll('.pa-loud').length === 4")
        trace = of(page, "network", "trace()")
        inputs, sets = np.array(of(page, "network", "inputs()")), np.array(of(page, "network", "sets()"))
        labels = np.array(of(page, "network", "labels()"))
        learned = of(page, "network", "learned()")
        marks = place.locator(".pa-score b").all_inner_texts()
    A = np.reshape(learned["A"], (36, 36))
    z = 36 * learned["alpha"] * inputs @ torch.softmax(torch.tensor(A), 1).numpy().T  # (10, 36)
    right = ((z**3 + 0.01 * z).sum(axis=1) > 0).sum()
    sums = inputs.sum(axis=1)
    assert marks == [f"{(labels > 0).sum()}", f"{(sums > 0).sum() + (sums == 0).sum() / 2:g}", f"{right}"]
    same = np.equal.outer(sets, sets) & ~np.eye(36, dtype=bool)
    best = np.argsort(np.where(np.eye(36, dtype=bool), np.inf, -A), axis=1)[:, :3]
    assert np.take_along_axis(same, best, axis=1).mean() > 0.98
    seen, chosen = np.array(trace["seen"]), trace["chosen"]
    assert trace["bars"] == pytest.approx(seen.T @ seen[:, chosen] / len(seen))
    assert set(np.argsort(trace["bars"])[-4:]) == set(np.flatnonzero(sets == sets[chosen]))


def test_counting_errs_as_the_library_says(browser):
    with essay(browser, "counting") as (page, place):
        slider = place.locator("input[type=range]")
        for _ in range(5):
            slider.press("ArrowRight")
        D, counting, listening = of(page, "counting", "now()")
    assert D == 36
    assert counting == pytest.approx(linear_error(36, 4, 0.3, ties="half"), abs=1e-12)
    assert listening == pytest.approx(labeling_error(36, 4, 0.3), abs=1e-12)


def test_sets_are_drawn_by_hand_by_key_and_by_an_initial_and_found(browser):
    with essay(browser, "sets", reduced_motion="reduce") as (page, place):
        before = of(page, "sets", "sets()")
        place.get_by_role("button", name="Train").press("Enter")  # whoever does not guess may train, too
        page.wait_for_function("() => window.explorables.own.step() === 150")
        assert of(page, "sets", "sets()") == before and of(page, "sets", "association()")["exact"]
        box = place.locator(".pa-own").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 12, box["y"] + box["height"] / 12)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 7 / 12, box["y"] + box["height"] / 12, steps=4)
        page.mouse.up()
        dragged = of(page, "sets", "sets()")
        assert (dragged[0], dragged[3]) == (before[3], before[0]) and dragged != before
        cells = place.locator("button.pa-cell")
        cells.nth(0).press("Enter")
        cells.nth(3).press("Enter")
        assert of(page, "sets", "sets()") == before
        place.get_by_label("Your initial").fill("é")
        page.wait_for_function("before => window.explorables.own.sets() !== before", arg=before)
        page.wait_for_function("() => window.explorables.own.step() === 150")
        drawn = of(page, "sets", "sets()")
        assert sorted(drawn) == sorted("ABCDEFGHI" * 4)
        assert of(page, "sets", "association()")["exact"]


ENDS = """nodes => Object.fromEntries(nodes.map(k =>
  [k, window.explorables.ball.way(-2.5 + 5 * (k % 25) / 24, -2.5 + 5 * Math.floor(k / 25) / 24).at(-1)]))"""


def test_the_ball_follows_the_reduced_flow(browser):
    with essay(browser, "valleys", reduced_motion="reduce") as (page, place):
        place.get_by_role("button", name="Depends on q").press("Enter")
        page.wait_for_function(
            "() => window.explorables.ball.setting().q === 0.9 && window.explorables.ball.ball()[0] < -0.5"
        )
        assert "into that of strangers" in place.locator(".pa-sentence").inner_text()
        pushes, alpha = of(page, "valleys", "pushes(0, 0)"), of(page, "valleys", "at(0, 0)")["alpha"]
        page.wait_for_function("() => window.explorables.ball.ground().length")
        ground = np.array(of(page, "valleys", "ground()"))
        inside = np.zeros((25, 25), bool)
        inside[1:-1, 1:-1] = True
        nodes = np.flatnonzero(ground * inside.ravel())[::9].tolist()
        ends = page.evaluate(ENDS, nodes)
        risk = PopulationRisk(12, 4, 0.9)
        for gamma, rho in [(0, 0), (-1.5, 0.5), (2.0, -1.0)]:
            there = of(page, "valleys", "at(...argument)", [gamma, rho])
            by_gamma, by_rho, _ = velocity(risk, 1.0, gamma, rho)
            assert [there["gamma"], there["rho"]] == pytest.approx([by_gamma, by_rho], rel=1e-5, abs=1e-9)
    # The color of the ground is that of where the ball comes to rest, but for nodes at the border.
    assert sum(ground[k] * (ends[str(k)]["gamma"] - ends[str(k)]["rho"]) <= 0 for k in nodes) <= 2
    s = np.array([(1,) * 4 + rest for rest in product((-1, 0, 1), repeat=8)])  # (3^8, D) with label +1
    chance = np.prod(np.where(s[:, 4:] == 0, 0.1, 0.45), axis=1)
    own, same = np.eye(12), np.kron(np.eye(3), np.ones((4, 4)))

    def loss(gamma: float, rho: float, side: int) -> float:
        S = np.exp(own + gamma * (same - own) + rho * (1 - same))
        z = 12 * alpha * s @ (S / S.sum(axis=1, keepdims=True)).T  # (3^8, D)
        here = np.sign(s.sum(axis=1)) == side
        return chance[here] @ np.log1p(np.exp(-(z**3 + 0.01 * z).sum(axis=1)))[here]

    h = 1e-4
    for side, there in zip((1, 0, -1), pushes):
        by_gamma, by_rho = (loss(*(h * way), side) - loss(*(-h * way), side) for way in np.eye(2))
        assert there == pytest.approx((by_rho / 96 - by_gamma / 36) / (2 * h), rel=1e-4, abs=1e-9)


THROW = """canvas => {
  const { left, top, width } = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};
  [["down", 0.5], ["move", 0.42], ["move", 0.34], ["up", 0.34]].forEach(([kind, x]) => canvas.dispatchEvent(
    new PointerEvent(`pointer${kind}`, { clientX: left + x * width, clientY: top + 0.45 * width })));
  return window.explorables.ball.ball()[0];
}"""


def test_a_ball_that_is_thrown_flies_on(browser):
    with essay(browser, "valleys") as (page, place):
        released = place.locator("canvas").first.evaluate(THROW)  # in one go: the speed is that of no machine
        page.wait_for_function(f"() => {SAID.format('valleys')}.startsWith('The ball rolls')")
        started = of(page, "valleys", "started()")[0]
    assert released - 0.1 > started >= -2.5


def test_the_gazes_are_those_of_the_record(browser):
    mean = decode(load("vit_attention").one(positions="own")["rows"])
    with essay(browser, "gazes", reduced_motion="reduce") as (page, place):
        place.get_by_role("button", name="One", exact=True).press("Enter")
        page.wait_for_function("() => window.explorables.gazes.place() === 165")
        ways = of(page, "gazes", "ways()")
        place.locator("canvas").first.click(position={"x": 20, "y": 20})
        assert of(page, "gazes", "place()") == 30
    for (layer, head), (down, right) in zip([(1, 3), (2, 1), (2, 3), (3, 2)], ways, strict=True):
        assert 165 + 14 * down + right == mean[layer - 1, head - 1, -1].argmax()


def test_the_lamps_are_those_of_the_record(browser):
    record = load("transience")
    with essay(browser, "forgotten", reduced_motion="reduce") as (page, place):
        slider = place.locator("input[type=range]")
        for presses in (1, 4, 10):
            for _ in range(presses):
                slider.press("ArrowRight")
            at = of(page, "forgotten", "at()") // 60
            for n, lit in of(page, "forgotten", "lit()").items():
                margins = np.array(record.one(n=int(n), q=0.3)["margin"])[:, at]
                assert lit == (margins > 0).sum()
        slider.press("Home")
        place.locator(".pa-guess button").first.press("Enter")  # all that are lit are seen without motion
        assert of(page, "forgotten", "lit()")["8000"] == 10
        page.wait_for_function("() => window.explorables.forgotten.at() === 3000")


def test_the_lamps_are_lit_by_themselves_and_then_it_is_asked(browser):
    with essay(browser, "forgotten") as (page, place):
        place.locator("canvas").first.scroll_into_view_if_needed()
        page.wait_for_function("() => window.explorables.forgotten.lit()['8000'] === 10")
        place.get_by_role("button", name="Play", exact=False).first.wait_for()  # it stands still again
        assert 0 < of(page, "forgotten", "at()") < 3000
        assert "guess" not in page.evaluate(SAID.format("forgotten")).lower()


@pytest.mark.parametrize("scene", SCENES[1:])
def test_a_guess_comes_first_and_a_finger_can_make_it(browser, scene):
    with essay(browser, scene, has_touch=True, viewport=PHONE, reduced_motion="reduce") as (page, place):
        first = place.locator(".pa-sentence").inner_text()
        assert not re.search(TOLD, first)
        veiled = "e => e.inert || getComputedStyle(e).filter !== 'none'"  # one who will not guess reads on
        assert not page.evaluate(f"[...document.querySelectorAll('article *')].some({veiled})")
        place.locator(".pa-guess button").first.tap()
        page.evaluate(NEXT_FRAME)
        high = place.bounding_box()["height"]  # from the tap on there is room for all that is said
        wanted = "Round 1 of 10" if scene == "network" else TOLD  # the game is ten guesses
        page.wait_for_function(f"wanted => new RegExp(wanted).test({SAID.format(scene)})", arg=wanted)
        assert place.bounding_box()["height"] == pytest.approx(high, abs=2)  # the text below stays
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_tab_key_finds_every_scene_and_the_way_home(browser):
    """What has the focus lets the scene behind it be built, wherever the screen is."""
    with essay(browser) as (page, _):
        for before, scene in pairwise(SCENES):
            page.locator(f"[data-scene={before}] .pa-ways a").last.evaluate(
                "e => e.focus({preventScroll: true})"
            )
            assert page.locator(f"[data-scene={scene}] [data-live]").count() == 1, scene
        home = page.locator(".pa-above a").first
        assert home.get_attribute("href") == "index.html" and home.is_visible()


def test_the_slow_scene_marks_the_answer_before_its_second_run_is_shown(browser):
    with essay(browser, "sets") as (page, place):
        place.locator(".pa-guess button").first.press("Enter")
        page.wait_for_selector("[data-scene=sets] .pa-right")
        assert of(page, "sets", "step()") < 150 or "Before:" not in place.inner_text()


def test_nothing_jumps_and_the_first_scene_is_soon_there(browser):
    with essay(browser) as (page, _):
        page.evaluate(SHIFT)
        for scene in SCENES:
            page.locator(f"[data-scene={scene}]").scroll_into_view_if_needed()
            page.wait_for_timeout(400)
        assert page.evaluate("window.shift") < 0.05
    assert bytes_of(browser, PAGE) <= 1_500_000


def test_every_scene_has_its_ways_and_without_script_its_picture(browser):
    soup = BeautifulSoup(PAGE.read_text(encoding="utf-8"), "html.parser")
    assert [scene["data-scene"] for scene in soup.select("section[data-scene]")] == list(SCENES)
    for scene in soup.select("section[data-scene]"):
        assert {"the theorem", "the notebook"} <= {link.get_text() for link in scene.select(".pa-ways a")}
    picture = soup.find("meta", property="og:image")["content"]
    assert picture.endswith("_static/share.png")
    with Image.open(SITE / "_static" / "share.png") as drawn:
        assert drawn.size == (1200, 630)
    with shown(browser, "book/next_to.html", java_script_enabled=False) as page:
        stills = page.locator("[data-scene] .pa-still-scene :is(svg, img)").all()
        assert sum(still.is_visible() for still in stills) >= len(SCENES)
