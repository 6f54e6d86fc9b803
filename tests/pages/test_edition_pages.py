"""The edition refers to the book as it is, and JupyterLab shows it as it is meant."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from functools import cache

import nbformat
import pytest
from book_labels import read_book
from browser import SITE
from bs4 import BeautifulSoup
from edition import for_readers, make
from notebooks import write_notebook

pytestmark = pytest.mark.slow

BOOK = read_book()
CHAPTER = "book/dynamics/longer"
PICTURES = """n => n === [...document.querySelectorAll(".jp-OutputArea img")].filter(
  image => image.naturalWidth > 100 && image.alt).length"""


@cache
def built(page: str) -> BeautifulSoup:
    return BeautifulSoup((SITE / page).read_text(encoding="utf-8"), "html.parser")


@pytest.mark.parametrize("file", list(BOOK.numbers))
def test_every_label_has_the_number_and_the_address_of_the_book(file):
    labels = {name: label for name, label in BOOK.labels.items() if f"/{file}.html#" in label.address}
    assert labels
    for name, label in labels.items():
        element = built(f"{file}.html").find(id=label.address.partition("#")[2])
        assert element is not None, f"{name}: the page has no such place"
        number = re.search(r"\d+\.\d+", label.words)
        if number:
            shown = element.find(class_="caption-number") or element.find(class_="eqno") or element
            assert re.search(r"\d+\.\d+", shown.get_text())[0] == number[0], name


@pytest.mark.parametrize("file", list(BOOK.numbers))
def test_the_download_button_gives_the_plain_notebook(file):
    (button,) = built(f"{file}.html").select("a.btn-download-source-button")
    given = nbformat.read((SITE / file).parent / button["href"], as_version=4)
    assert [cell.source for cell in given.cells] == [cell.source for cell in for_readers(file, BOOK).cells]


@contextmanager
def lab(folder):
    """JupyterLab over a folder, on this machine alone; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    alone = "--ServerApp.ip=127.0.0.1 --IdentityProvider.token= --no-browser --allow-root"
    options = [f"--ServerApp.port={port}", *alone.split()]
    options += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", str(folder)]
    homes = {f"JUPYTER_{kind.upper()}_DIR": str(folder / kind) for kind in ("config", "data")}
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options], env=os.environ | homes,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5).read()
                break
            except OSError:
                assert server.poll() is None, "JupyterLab ended before it answered"
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def test_jupyterlab_shows_plain_text_formulas_pictures_and_live_prose(browser, tmp_path):
    notebook = make(CHAPTER, BOOK)
    drawn = sum("<img" in str(cell.get("outputs", ())) for cell in notebook.cells)
    write_notebook(notebook, tmp_path / "chapter.ipynb")
    with lab(tmp_path) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 12_000})  # cells out of view are not drawn
        page.goto(f"{address}/lab/tree/chapter.ipynb")
        page.wait_for_selector(".jp-RenderedMarkdown mjx-container", timeout=90_000)
        page.wait_for_selector(".jp-OutputArea .jp-RenderedMarkdown", timeout=30_000)
        shown = page.inner_text(".jp-Notebook")
        failed = page.eval_on_selector_all("mjx-merror, [data-mjx-error]", "found => found.length")
        page.wait_for_function(PICTURES, arg=drawn, timeout=60_000)
        page.close()
    assert not re.search(r"\{(glue|prf|doc|eq|numref|cite)[:}]|:::|«", shown)
    assert failed == 0
    assert drawn > 0 and "<Figure" not in shown
    assert BOOK.titles[CHAPTER] in shown
