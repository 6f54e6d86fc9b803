"""The gallery: drawings that move once they are seen, stand still where asked to, and lead on."""

from __future__ import annotations

import pytest
from browser import SITE

from patch_lab.figures import gallery

PAGE = SITE / "book" / "explore" / "gallery.html"
STATE = "() => [...document.querySelectorAll('svg[data-moves]')].map(svg => svg.innerHTML)"


def opened(browser, motion: str, **options):
    page = browser.new_context(
        reduced_motion=motion, viewport={"width": 900, "height": 2400}, **options
    ).new_page()
    page.goto(PAGE.as_uri())
    return page


def test_each_drawing_moves_and_leads_to_its_page(browser):
    page = opened(browser, "no-preference")
    before = page.evaluate(STATE)
    moved = f"before => ({STATE})().every((now, k) => now !== before[k])"
    page.wait_for_function(moved, arg=before, timeout=10_000)
    page.wait_for_timeout(5_000)  # each comes to its end, and rests there
    rest = page.evaluate(STATE)
    page.wait_for_timeout(300)
    assert page.evaluate(STATE) == rest
    page.locator(".pa-gallery > a").nth(3).focus()
    page.wait_for_function(f"before => ({STATE})()[3] !== before[3]", arg=rest)
    names = page.locator("svg[data-moves]").evaluate_all("all => all.map(svg => svg.dataset.moves)")
    assert names == list(gallery.drawings())
    for name, link in zip(names, page.locator(".pa-gallery > a").all()):
        target = (PAGE.parent / link.get_attribute("href")).resolve()
        assert target.is_file() and target.stem == name
    page.context.close()


@pytest.mark.parametrize("script", [True, False])
def test_where_nothing_may_move_a_frame_is_shown(browser, script):
    page = opened(browser, "reduce", java_script_enabled=script)
    page.wait_for_timeout(400)
    for name, drawing in gallery.drawings().items():
        marks = page.locator(f"svg[data-moves={name}] > :not(linearGradient)")
        assert marks.count() == len(drawing["marks"])
        for k, attribute, frames in drawing["moves"][-40:]:
            frame = frames[drawing.get("still", -1)]
            if not isinstance(frame, list):
                assert float(marks.nth(k).get_attribute(attribute)) == pytest.approx(frame, rel=1e-4)
    page.context.close()


def test_a_figure_of_a_chapter_moves_once_and_then_with_its_slider(browser):
    drawing = gallery.moving()["first_move"]
    frame = -4
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.goto((SITE / "book" / "dynamics" / "companions.html").as_uri())
    slider = page.locator("input[data-slides=first_move]")
    last = len(drawing["curves"]) - 1
    slider.evaluate("(e, to) => { e.value = to; e.dispatchEvent(new Event('input')); }", last + 1 + frame)
    assert page.locator(".pa-moving output").inner_text() == drawing["says"][frame]
    left, right, top, bottom = map(float, page.locator("svg[data-plot]").get_attribute("data-plot").split())
    x0, x1, y0, y1 = drawing["range"]
    for line, points in zip(page.locator(".pa-moving polyline").all(), drawing["curves"][frame]):
        shown = [tuple(map(float, point.split(","))) for point in line.get_attribute("points").split()]
        there = [
            (left + (right - left) * (x - x0) / (x1 - x0), bottom - (bottom - top) * (y - y0) / (y1 - y0))
            for x, y in points
        ]
        assert shown == [pytest.approx(one, abs=0.06) for one in there]
    page.context.close()
