"""Whoever has an address of an earlier edition comes to what it was the address of, from ``file://`` too."""

from __future__ import annotations

import pytest
from addresses import MOVED
from browser import SITE
from page_visits import shown

#: What was linked to, and the page on which it stands now.
LABELS = {
    "book/dynamics/companions.html#thm-late": "book/dynamics/ends.html",
    "book/dynamics/companions.html#thm-block-optimal": "book/dynamics/blocks.html",
    "book/shallow_vit/learning.html#thm-shallow-time": "book/shallow_vit/steps.html",
    "book/setting/gaussian_patches.html#thm-gaussian-critical": "book/beyond/gaussian_learners.html",
    "book/images/laptop.html#fig-laptop-exchanged": "book/images/fixed.html",
    "book/images/large_scale.html#prop-threshold-recipe": "book/images/proofs.html",
    "book/conventions.html#criteria": "book/letters.html",
    "book/dynamics/companions.html#thm-window": "book/dynamics/companions.html",
}


@pytest.mark.parametrize("old, new", [*LABELS.items()])
def test_a_label_that_moved_is_found_on_its_page(browser, old, new):
    label = old.partition("#")[2]
    with shown(browser, old) as page:
        page.wait_for_function(f"document.getElementById({label!r}) && document.readyState === 'complete'")
        assert page.url == (SITE / new).as_uri() + f"#{label}"


@pytest.mark.parametrize("old, new", [*MOVED.items()])
def test_a_page_that_is_no_more_leads_on_without_script_too(browser, old, new):
    target, _, place = new.partition("#")
    with shown(browser, f"{old}.html", java_script_enabled=False) as page:
        page.wait_for_url((SITE / f"{target}.html").as_uri() + (f"#{place}" if place else ""))


def test_a_label_that_never_was_stays_where_it_is(browser):
    address = "book/dynamics/companions.html#constructor"
    with shown(browser, address) as page:
        page.wait_for_function("window.pageOfLabel")
        assert page.url == f"{SITE.as_uri()}/{address}"
