"""Links of the built pages, read from their HTML: they resolve, and the launch buttons lead to notebooks."""

from __future__ import annotations

import gzip
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from browser import ROOT, SITE, page_names
from notebooks import chapters, name_of
from page_text import ADVICE, leftovers, typed_numbers

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


class Page(HTMLParser):
    """The link targets and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        if (attributes.get("name") or "").startswith("pa-"):  # a choice that an address can make
            self.anchors.add(f"{attributes['name'][3:]}={attributes.get('value')}")
        # A link that loads an explorable's state has no place on a page behind its "#".
        if tag == "a" and attributes.get("href") and "data-loads" not in attributes:
            self.links.append(attributes["href"])


@cache
def read(path: Path) -> Page:
    """The page, parsed once."""
    return Page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", page_names())
def test_links_inside_the_book_resolve(page):
    broken = []
    for link in read(SITE / page).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (SITE / page).parent / unquote(parts.path) if parts.path else SITE / page
        if not target.exists() or (
            parts.fragment
            and target.suffix == ".html"
            and not read(target).anchors.issuperset(
                parts.fragment.split("&") if "=" in parts.fragment else [unquote(parts.fragment)]
            )
        ):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("text", chapters(), ids=name_of)
def test_launch_buttons_lead_to_the_notebook(text):
    """Colab and Binder open a file of the configured repository and branch, and that file exists."""
    page = SITE / text.relative_to(ROOT).with_suffix(".html")
    assert page.exists(), f"{name_of(text)} is not in _toc.yml, or the book was not built"
    repository = urlsplit(CONFIG["repository"]["url"]).path.strip("/")
    branch = CONFIG["repository"]["branch"]
    links = read(page).links
    prefix = f"{CONFIG['launch_buttons']['colab_url']}/github/{repository}/blob/{branch}/"
    (colab,) = (link for link in links if link.startswith(CONFIG["launch_buttons"]["colab_url"]))
    assert colab.startswith(prefix)
    notebook = colab.removeprefix(prefix)
    assert notebook == str(text.relative_to(ROOT).with_suffix(".ipynb"))
    assert (ROOT / notebook).is_file()
    (binder,) = (link for link in links if link.startswith(CONFIG["launch_buttons"]["binderhub_url"]))
    assert binder.endswith(notebook)


# --- What a page asks of its reader: little waiting, and no number that nobody computed


WHOLE = 300_000  # bytes of a page with its drawings and formulas, as a server sends it

every_page = pytest.mark.parametrize("page", page_names())


@every_page
def test_a_page_is_light(page):
    assert len(gzip.compress((SITE / page).read_bytes())) <= WHOLE


@every_page
def test_no_format_left_anything_behind(page):
    assert leftovers((SITE / page).read_text(encoding="utf-8")) == []


@every_page
def test_every_number_in_running_text_was_computed(page):
    found = typed_numbers((SITE / page).read_text(encoding="utf-8"))
    assert found == [], ADVICE
