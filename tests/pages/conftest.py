"""One browser for a worker, and one visit for a page: its tests look at what the visit saw."""

from __future__ import annotations

import pytest
from browser import SITE, BrowserMissing, chromium
from page_visits import Visit, visit_page


@pytest.fixture(scope="session")
def browser():
    """One Chromium for a worker. A machine without one fails here: skipping would prove nothing."""
    try:
        with chromium() as running:
            yield running
    except BrowserMissing as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def visit(browser):
    """``visit(name)``: what a page showed; it is opened the first time it is asked for."""
    seen: dict[str, Visit] = {}

    def look(name: str) -> Visit:
        if name not in seen:
            seen[name] = visit_page(browser, SITE / name)
        return seen[name]

    return look
