"""Every numbered statement of both papers is found: in its box, by a link, and by the search."""

from __future__ import annotations

import json

import pytest
import yaml
from browser import ROOT, SITE
from bs4 import BeautifulSoup
from lettering import all_pages, chapter_numbers, letter

CONTENTS = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
#: The page of each, without the part's folder.
OF_JELASSI = {
    "Definition 2.1": "structure",
    "Definition 2.2": "structure",
    "Assumption 1": "spatial_data",
    "Assumption 2": "spatial_data",
    "Definition 3.1": "attention",
    "Definition 3.2": "attention",
    "Simplification 3.1": "attention",
    "Parametrization 3.1": "attention",
    "Theorem 3.1": "linear_models",
    "Theorem 3.2": "without_structure",
    "Lemma 4.1": "three_scalars",
    "Lemma 4.2": "three_scalars",
    "Lemma 4.3": "idealized",
    "Theorem 4.1": "idealized",
    "Theorem 4.2": "realistic",
    "Theorem 5.1": "fine_tuning",
    "Theorem 5.2": "sample_complexity",
}
OF_LI = {
    "Assumption 1 (Li)": "setting",
    "Assumption 3 (Li)": "setting",
    "Theorem 1 (Li)": "learning",
    "Proposition 1 (Li)": "learning",
    "Remark 1 (Li)": "learning",
    "Proposition 2 (Li)": "attention_map",
    "Remark 2 (Li)": "sparsification",
    "Remark 3 (Li)": "sparsification",
}


@pytest.fixture(scope="module")
def boxes() -> dict[str, tuple[str, BeautifulSoup]]:
    """The page and the box of every statement; where it is repeated, the one that links lead to."""
    found = {}
    for name in all_pages(CONTENTS):
        soup = BeautifulSoup((SITE / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        for box in soup.select("article div.paper[data-name]"):
            if box["id"].endswith("-again") or box.find_parent(class_="pa-proof-of"):
                continue
            assert box["data-name"] not in found, f"{box['data-name']} stands twice"
            found[box["data-name"]] = (name, box)
    return found


@pytest.mark.parametrize("name, page", [*OF_JELASSI.items(), *OF_LI.items()])
def test_a_statement_stands_under_its_name(boxes, name, page):
    at, box = boxes[name]
    assert at.rpartition("/")[2] == page
    assert box["data-paper"] == ("li2023" if name in OF_LI else "jelassi2022")
    assert box.select_one(".pa-paper-name").get_text() == name
    assert len(box.select_one(".paper-content").get_text().split()) > 8


def test_one_page_has_the_definitions_and_the_six_theorems_with_their_verdicts():
    soup = BeautifulSoup((SITE / "book" / "paper.html").read_text(encoding="utf-8"), "html.parser")
    wanted = [name for name in OF_JELASSI if name.startswith(("Definition 2", "Theorem"))]
    shown = {box["data-name"]: box for box in soup.select("div.paper[data-name]")}
    assert [name for name in shown if name in wanted] == wanted
    assert all(shown[name].select_one("a.verdict[data-claim]") for name in wanted)
    assert len(soup.select("article figure .pa-drawing svg")) >= 5


@pytest.mark.parametrize("name", [*OF_JELASSI, *OF_LI])
def test_the_search_finds_it_by_its_name(name, boxes):
    script = (SITE / "_static" / "page-index.js").read_text(encoding="utf-8")
    entries = json.loads(script.partition("=")[2].rstrip().removesuffix(";"))
    named = [entry for entry in entries if name in entry.get("names", ())]
    assert [(entry["page"], entry["id"]) for entry in named] == [(boxes[name][0], boxes[name][1]["id"])]


def test_no_two_chapters_share_a_number_and_no_road_is_called_i():
    numbers = chapter_numbers(CONTENTS)
    assert len(set(numbers.values())) == len(numbers)
    for page, number in numbers.items():
        soup = BeautifulSoup((SITE / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
        assert soup.select_one("article h1 .section-number").get_text().strip() == f"{number}."


def test_the_books_own_statements_are_counted_by_letters():
    assert [letter(count) for count in (1, 2, 26, 27, 53)] == ["a", "b", "z", "aa", "ba"]
    soup = BeautifulSoup(
        (SITE / "book/setting/linear_models.html").read_text(encoding="utf-8"), "html.parser"
    )
    first = soup.select_one("div.proof.theorem .caption-number").get_text()
    assert first.strip() == "Theorem 4.a"


def test_every_side_road_says_what_it_needs():
    part = next(part for part in CONTENTS["parts"] if "side roads" in part["caption"])
    for chapter in part["chapters"]:
        soup = BeautifulSoup((SITE / f"{chapter['file']}.html").read_text(encoding="utf-8"), "html.parser")
        head = soup.select_one("article .road")
        assert head is not None, chapter["file"]
        assert head.find("a") and "Skip this unless" in head.get_text()
