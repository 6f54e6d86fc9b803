"""Nothing jumps: what a page shows first stays where it is, on a desk and on a phone, also lower down."""

from __future__ import annotations

import pytest
from browser import SITE
from page_visits import DESK, PHONE
from test_pages import PAGES

MOST = 0.05
WATCH = """() => {
  window.shift = 0;
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({type: 'layout-shift', buffered: true});
}"""
# By steps of less than a screen, so that all that waits to be seen is seen.
DOWN = """async () => {
  const end = Math.min(document.documentElement.scrollHeight, 20000);
  for (let y = 0; y < end; y += 600) {
    scrollTo(0, y);
    await new Promise(done => setTimeout(done, 40));
  }
}"""


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("page", PAGES, scope="module")
def test_nothing_jumps(browser, page, size):
    context = browser.new_context(viewport=size)
    tab = context.new_page()
    tab.add_init_script(f"({WATCH})()")
    tab.goto((SITE / page).as_uri())
    tab.wait_for_timeout(300)
    tab.evaluate(DOWN)
    shift = tab.evaluate("window.shift")
    context.close()
    assert shift < MOST, f"{shift:.3f}"
