"""What holds for every explorable: moved by keyboard and by touch, its link leads back, no page heavy."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from browser import SITE, bytes_of
from page_visits import EXPLORE, NEXT_FRAME, PHONE, opened, shown

pytestmark = pytest.mark.slow

#: All of them, with a setting that takes little time.
STATES = {
    "counting": "",
    "paint": "",
    "descent": "",
    "valleys": "#D=8&C=2",
    "shuffle": "",
    "look": "#steps=100",
    "epochs": "",
}
SENTENCE = "document.querySelector('.pa-sentence').textContent"
SLIDER = ":is(.pa-control, [data-explorable=shuffle] .pa-player) > input[type=range]"
TOUCH = {"has_touch": True, "viewport": PHONE, "reduced_motion": "reduce"}
every_explorable = pytest.mark.parametrize("name", STATES)


def finished(page) -> str:
    """The sentence, once nothing is computed any more."""
    page.wait_for_function(f"() => !/^Step \\d+ of/.test({SENTENCE})")
    return page.evaluate(SENTENCE)


@every_explorable
def test_moved_by_keyboard_its_link_leads_back(browser, name):
    with opened(browser, name, STATES[name], reduced_motion="reduce") as page:
        page.evaluate(
            "() => Object.defineProperty(navigator, 'clipboard',"
            "{value: {writeText: async text => { window.copied = text; }}})"
        )
        before = finished(page)
        for _ in range(200):
            page.keyboard.press("Tab")
            if page.evaluate(f"() => document.activeElement.matches('{SLIDER}')"):
                break
        old = page.evaluate("location.hash")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("old => location.hash !== old", arg=old)
        page.wait_for_function(f"old => {SENTENCE} !== old", arg=before)
        after = finished(page)
        page.get_by_role("button", name="Copy a link to this").press("Enter")
        page.wait_for_function("() => window.copied")
        again = page.context.new_page()
        again.goto(page.evaluate("window.copied"))
        again.evaluate("() => window.explorable.ready")
        # whoever has not guessed yet is not told what decides
        told = [
            re.sub("^(Among|The square decides:) .*? adding up", "", said)
            for said in (finished(again), after)
        ]
        assert told[0] == told[1] != ""


@every_explorable
def test_a_finger_moves_a_slider(browser, name):
    with opened(browser, name, STATES[name], **TOUCH) as page:
        slider = page.locator(SLIDER).first
        old = page.evaluate("location.hash")
        box = slider.bounding_box()
        slider.tap(position={"x": 0.2 * box["width"], "y": 0.5 * box["height"]})
        page.wait_for_function("old => location.hash !== old", arg=old)
        assert page.locator(".pa-refused").count() == 0


@pytest.mark.parametrize(
    "name, places, changed",
    [
        ("valleys", [(".pa-plane", 0)], "gamma="),
        ("shuffle", [("canvas.pa-heap", 1)], "piece="),
        ("epochs", [("canvas.pa-heap", 1)], "patch="),
        ("look", [("button.pa-token", 3)], "gone=4"),
        ("paint", [("button.pa-cell", 0), ("button.pa-cell", 2)], "sets="),
    ],
)
def test_a_finger_chooses_in_the_picture(browser, name, places, changed):
    with opened(browser, name, STATES[name], **TOUCH) as page:
        old = page.evaluate("location.hash")
        for where, k in places:
            page.locator(where).nth(k).tap(position={"x": 12, "y": 12})
        page.wait_for_function(
            "([old, changed]) => location.hash !== old && location.hash.includes(changed)", arg=[old, changed]
        )


@every_explorable
def test_a_thumb_that_scrolls_answers_no_guess(browser, name):
    with opened(browser, name, **TOUCH) as page:
        thumb = page.context.new_cdp_session(page)
        way = [("touchStart", [600]), *(("touchMove", [y]) for y in range(580, 380, -20)), ("touchEnd", [])]
        for kind, places in way:
            points = [{"x": 195, "y": y} for y in places]
            thumb.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_function("() => scrollY > 60")
        assert page.locator(".pa-guessing").count() == 1


def drag(page, start, way):
    """A finger goes from a place by steps (x, y), and is taken away."""
    finger = page.context.new_cdp_session(page)
    places = [start, *((start[0] + x, start[1] + y) for x, y in way)]
    for k, (x, y) in enumerate(places):
        kind = "touchMove" if k else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_takes_the_start_of_the_valleys_up_and_the_page_stays(browser):
    """Beside the start a finger scrolls, as everywhere."""
    up = [(0, -10 * k) for k in range(1, 13)]
    with opened(browser, "valleys", "#D=8&C=2&gamma=0&rho=-1", **TOUCH) as page:
        page.locator(".pa-start").evaluate("e => e.scrollIntoView({block: 'center'})")
        box = page.locator(".pa-start").bounding_box()
        before = page.evaluate("scrollY")
        drag(page, (box["x"] + 6, box["y"] + 6), up)
        page.wait_for_function("() => Number(location.hash.match(/rho=([^&]*)/)[1]) > 0")
        assert page.evaluate("scrollY") == before
        drag(page, (box["x"] + 90, box["y"] + 6), up)
        page.wait_for_function("before => scrollY > before + 60", arg=before)


#: What stands between the first picture and what is said, from above, with its empty space, in pixels.
ORDER = """() => {
  const found = [];
  const walk = element => {
    if (getComputedStyle(element).display === 'contents') return [...element.children].forEach(walk);
    const box = element.getBoundingClientRect();
    const words = document.createRange();
    words.selectNodeContents(element);
    const empty = element.matches('.pa-sentence') ? box.height - words.getBoundingClientRect().height : 0;
    const kind = ['guess', 'player', 'seldom', 'controls', 'sentence'].find(k => element.matches(`.pa-${k}`));
    if (box.height > 1) found.push({kind: kind ?? 'picture', top: box.top, bottom: box.bottom, empty});
  };
  [...document.querySelector('.pa-stage').children].forEach(walk);
  return found.sort((a, b) => a.top - b.top);
}"""
#: How much of a screen each slider takes together with the nearest curve or board.
REACHES = """() => {
  const box = e => e.getBoundingClientRect();
  const of = words => [...document.querySelectorAll(words)].map(box).filter(b => b.height);
  const seen = of('.pa-chart:has(.pa-curve, canvas, .pa-cell)');
  return of(':is(.pa-player, .pa-controls:not(.pa-seldom) > .pa-control) > input').map(a => Math.min(
    ...seen.map(b => Math.max(a.bottom, b.bottom) - Math.min(a.top, b.top))));
}"""


@every_explorable
def test_on_a_phone_the_slider_stands_below_the_picture_without_a_hole(browser, name):
    with opened(browser, name, STATES[name], **TOUCH) as page:
        finished(page)
        parts = page.evaluate(ORDER)
        kinds = [part["kind"] for part in parts]
        slider, said = (
            min(kinds.index(k) for k in ("player", "controls") if k in kinds),
            kinds.index("sentence"),
        )
        assert kinds.index("picture") < slider < said < [*kinds, "seldom"].index("seldom")
        assert max(page.evaluate(REACHES)) < 0.66 * PHONE["height"]
        picture = parts[kinds.index("picture")]
        assert parts[slider]["bottom"] - picture["top"] < PHONE["height"] - 50  # both on one screen
        holes = [below["top"] - above["bottom"] for above, below in pairwise(parts)]
        assert max(*holes, *(part["empty"] for part in parts)) < 60


@pytest.mark.parametrize("name, cells", [("paint", "button.pa-cell"), ("look", "button.pa-token")])
def test_a_board_is_one_stop_and_arrows_go_on(browser, name, cells):
    with opened(browser, name, STATES[name]) as page:
        board = page.locator(cells)
        stops = f"[...document.querySelectorAll('{cells}')].filter(e => e.tabIndex === 0).length"
        assert board.count() >= 20 and page.evaluate(stops) == 1
        board.first.press("ArrowRight")
        assert page.evaluate(f"document.activeElement === document.querySelectorAll('{cells}')[1]")
        assert page.evaluate(stops) == 1
        assert "arrow keys" in board.first.locator("xpath=ancestor::*[@role='group'][1]").get_attribute(
            "aria-label"
        )


def test_what_is_dragged_goes_along(browser):
    """Also while a model trains, which draws the board anew at each step."""
    with opened(browser, "paint", viewport=PHONE) as page:
        page.locator(".pa-guess button").first.press("Enter")
        cells = page.locator("button.pa-cell")
        cells.first.scroll_into_view_if_needed()
        first, other = cells.nth(0).bounding_box(), cells.nth(8).bounding_box()
        page.mouse.move(first["x"] + 9, first["y"] + 9)
        page.mouse.down()
        page.mouse.move(other["x"] + 9, other["y"] + 9, steps=3)
        page.wait_for_timeout(120)
        carried, target = (page.locator(f".pa-{one}").first.bounding_box() for one in ("carried", "target"))
        page.mouse.up()
        assert carried["x"] < other["x"] + 9 < carried["x"] + carried["width"]
        assert abs(target["x"] - other["x"]) < 4 and abs(target["y"] - other["y"]) < 4
        assert not page.locator(".pa-carried").first.is_visible()


DRAWN = """() => [...document.querySelectorAll('.pa-shown *')]
  .filter(e => e.matches('.pa-curve, .pa-bar, .pa-way, .pa-heap, .pa-cell'))
  .filter(e => getComputedStyle(e).visibility === 'visible' && e.getBoundingClientRect().width > 0).length"""


@every_explorable
def test_it_opens_played_and_only_the_answer_waits(browser, name):
    with opened(browser, name, viewport=PHONE, reduced_motion="reduce") as page:
        page.wait_for_function(f"() => ({DRAWN})() > 1")
        assert page.locator(".pa-guessing").count() == 1
        assert page.evaluate(SENTENCE)
        hero = page.locator(".pa-shown .pa-chart").first.bounding_box()
        assert 0 < hero["height"] < PHONE["height"]
        assert page.locator(".pa-rest").evaluate("e => e.open") is False


def test_nothing_is_trained_before_the_guess(browser):
    """No set stands in the board of the scores, and no step is told of, until the reader begins."""
    named = "[...document.querySelectorAll('span.pa-cell')].filter(e => /[A-I]/.test(e.textContent)).length"
    with opened(browser, "paint", reduced_motion="reduce") as page:
        page.wait_for_timeout(1500)
        assert page.evaluate(named) == 0 and "step" not in page.evaluate(SENTENCE)
        page.get_by_role("button", name="stripes").press("Enter")
        page.wait_for_function(f"() => {named} === 36")


@every_explorable
def test_a_guess_is_judged_at_once_and_a_way_leads_to_the_reason(browser, name):
    with opened(browser, name) as page:
        page.locator(".pa-guess button").first.click()
        assert "guess" in page.locator(".pa-told").inner_text()  # while the picture still moves
        page.locator(".pa-told .pa-why").click()
        page.wait_for_function("() => document.querySelector(location.hash) !== null")


def test_where_a_start_ends_is_said_beside_it(browser):
    says = "document.querySelector('.pa-fate text').textContent"
    with opened(browser, "valleys", "#gamma=2&rho=-2") as page:
        assert page.evaluate(says) == "companions win"
        page.goto(page.url.partition("#")[0] + "#gamma=-2.5&rho=0.5")
        page.wait_for_function(f"() => {says} === 'strangers win'")


def test_what_would_answer_the_guess_is_not_drawn(browser):
    curves = "[...document.querySelectorAll('.pa-answer .pa-curve')]"
    far = f"() => Math.max(...{curves}.map(e => e.getBBox().width))"
    with opened(browser, "counting", reduced_motion="reduce") as page:
        page.wait_for_function(f"() => ({far})() > 20")
        before = page.evaluate(far)
        page.locator(".pa-guess button").first.press("Enter")
        page.wait_for_function(f"before => ({far})() > 2 * before", arg=before)


def test_a_verdict_stays_while_sliders_move_and_goes_with_another_setting(browser):
    """So do its mark and the way to the reason; a setting that is loaded clears them, and a new start."""
    marked = ".pa-guess :is(.pa-right, [aria-pressed=true])"
    told = "() => /guess/.test(document.querySelector('.pa-told').textContent)"
    with opened(browser, "descent", reduced_motion="reduce") as page:
        guess = page.locator(".pa-guess button").first
        guess.click()
        page.wait_for_function("() => location.hash.includes('q=0.8')")
        page.wait_for_timeout(2000)  # the answer is played
        page.locator(SLIDER).first.press("ArrowLeft")
        page.wait_for_function("() => location.hash.includes('q=0.79')")
        assert page.evaluate(told) and page.locator(".pa-told .pa-why").is_visible()
        assert page.locator(marked).count() == 2  # one that was pressed, and the right one
        page.get_by_role("button", name="Start over").click()
        page.wait_for_function(f"() => !({told})()")
        guess.click()
        page.get_by_role("link", name="Nothing moves").click()
        page.wait_for_function("() => location.hash.includes('diagonal=0')")
        page.wait_for_timeout(2000)  # the answer would have been played by now
        assert page.locator(marked).count() == 0 and not page.evaluate(told)


#: How many starts of the valleys lie under a word of the plane.
HIDDEN = """() => {
  const boxes = of => [...document.querySelectorAll(of)].map(e => e.getBoundingClientRect());
  const meet = (a, b) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
  const words = boxes('.pa-side-name:not([transform])');
  const hidden = boxes('.pa-start, .pa-kept').filter(dot => words.some(word => meet(dot, word)));
  return [words.length, hidden.length];
}"""


@pytest.mark.parametrize("start", ["", "#D=8&C=2&gamma=1.6&rho=-0.65", "#D=8&C=2&gamma=-1.9&rho=2.6"])
def test_no_word_of_the_valleys_hides_a_start(browser, start):
    with opened(browser, "valleys", start, viewport=PHONE) as page:
        assert page.evaluate(HIDDEN) == [2, 0]


def test_a_curve_is_dragged_along(browser):
    with opened(browser, "descent", "#steps=100", reduced_motion="reduce") as page:
        box = page.locator(".pa-shown .pa-chart svg").first.bounding_box()
        page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 90)
        page.mouse.down()
        at = page.locator(".pa-player input").input_value()
        page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 90)
        assert 0 < int(at) < int(page.locator(".pa-player input").input_value()) < 100


@every_explorable
def test_no_page_is_heavy(browser, name):
    assert bytes_of(browser, SITE / EXPLORE / f"{name}.html") <= 2_000_000


@pytest.mark.parametrize("page_of", ["explore/valleys", "dynamics/companions"])
def test_arrow_keys_move_the_start_in_the_plane(browser, page_of):
    """Before a guess, and in its chapter, where no guess is asked."""
    with shown(browser, f"book/{page_of}.html", reduced_motion="reduce") as page:
        if page_of == "dynamics/companions":
            page.locator("figure a[data-loads=valleys]").click()
        plane = page.locator(".pa-plane .pa-start")
        plane.wait_for()
        page.evaluate(NEXT_FRAME)
        at = lambda: [float(plane.get_attribute(name)) for name in ("cx", "cy")]  # noqa: E731
        before = at()
        for key in ("ArrowRight", "ArrowUp", "ArrowUp"):
            page.locator(".pa-plane").press(key)
            page.evaluate(NEXT_FRAME)
        step = 380 * 0.1 / 6
        assert at() == pytest.approx([before[0] + step, before[1] - 2 * step], abs=0.01)


def test_a_plane_too_small_for_its_words_is_drawn_without_them(browser):
    """As it is for a moment while its page is laid out: letters stay as large, and no place fits a word."""
    with opened(browser, "valleys", reduced_motion="reduce") as page:
        page.evaluate("() => { document.querySelector('.pa-planar').style.width = '60px'; }")
        page.evaluate(NEXT_FRAME)
        page.locator(".pa-plane").press("ArrowRight")
        page.wait_for_function("() => location.hash.includes('gamma=-2.4&')")


def test_both_runs_of_a_guess_are_drawn_over_each_other(browser):
    curves = "() => document.querySelectorAll('.pa-side .pa-chart .pa-curve').length"
    with opened(browser, "paint", reduced_motion="reduce") as page:
        assert page.evaluate(curves) == 0
        page.locator(".pa-guess button").last.press("Enter")
        page.wait_for_function(f"() => /^Neither.*a scatter at step .*blocks at step/.test({SENTENCE})")
        assert page.evaluate(curves) == 2


@pytest.mark.parametrize("name", ["counting", "descent", "look", "epochs"])
def test_dragging_a_curve_selects_no_words_of_it(browser, name):
    with opened(browser, name, reduced_motion="reduce") as page:
        curve = page.locator(".pa-chart svg[style*=ew-resize]").first
        curve.scroll_into_view_if_needed()
        box = curve.bounding_box()
        page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + box["height"] + 60, steps=6)
        assert page.evaluate("getSelection().toString()") == ""


def test_a_move_says_no_more_than_it_moved(browser):
    """What the curve teaches is said after the guess; a move before it tells the error there alone."""
    with opened(browser, "counting", reduced_motion="reduce") as page:
        page.locator(SLIDER).first.press("ArrowRight")
        page.wait_for_function(f"() => {SENTENCE}.startsWith('Among ')")
        page.locator(".pa-guess button").first.press("Enter")
        page.wait_for_function(f"() => {SENTENCE}.startsWith('The square decides')")
