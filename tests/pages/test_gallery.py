"""The gallery: drawings that move once they are seen, stand still where asked to, and lead on."""

from __future__ import annotations

import gallery
import pytest
from browser import SITE
from page_visits import shown

GALLERY = "book/explore/gallery.html"
STATE = "() => [...document.querySelectorAll('svg[data-moves]')].map(svg => svg.innerHTML)"
TALL = {"width": 900, "height": 2400}


def test_each_drawing_moves_and_leads_to_its_page(browser):
    with shown(browser, GALLERY, reduced_motion="no-preference", viewport=TALL) as page:
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
        links = [link.get_attribute("href") for link in page.locator(".pa-gallery > a").all()]
    assert names == list(gallery.drawings())
    for name, link in zip(names, links):
        target = (SITE / GALLERY).parent / link
        assert target.is_file() and target.stem == name


@pytest.mark.parametrize("script", [True, False])
def test_where_nothing_may_move_a_frame_is_shown(browser, script):
    with shown(browser, GALLERY, reduced_motion="reduce", java_script_enabled=script) as page:
        page.wait_for_timeout(400)
        for name, drawing in gallery.drawings().items():
            marks = page.locator(f"svg[data-moves={name}] > :not(linearGradient)")
            assert marks.count() == len(drawing["marks"])
            for k, attribute, frames in drawing["moves"][-40:]:
                frame = frames[drawing.get("still", -1)]
                if not isinstance(frame, list):
                    assert float(marks.nth(k).get_attribute(attribute)) == pytest.approx(frame, rel=1e-4)


def test_a_figure_of_a_chapter_moves_once_and_then_with_its_slider(browser):
    drawing, frame = gallery.moving()["first_move"], -4
    with shown(browser, "book/dynamics/companions.html", reduced_motion="reduce") as page:
        slider, at = page.locator("input[data-slides=first_move]"), len(drawing["curves"]) + frame
        slider.evaluate("(e, to) => { e.value = to; e.dispatchEvent(new Event('input')); }", at)
        assert page.locator(".pa-moving output").inner_text() == drawing["says"][frame]
        plot = page.locator("svg[data-plot]").get_attribute("data-plot")
        lines = [line.get_attribute("points").split() for line in page.locator(".pa-moving polyline").all()]
    left, right, top, bottom = map(float, plot.split())
    x0, x1, y0, y1 = drawing["range"]
    for line, points in zip(lines, drawing["curves"][frame]):
        there = [
            (left + (right - left) * (x - x0) / (x1 - x0), bottom - (bottom - top) * (y - y0) / (y1 - y0))
            for x, y in points
        ]
        assert [tuple(map(float, point.split(","))) for point in line] == [
            pytest.approx(one, abs=0.06) for one in there
        ]
