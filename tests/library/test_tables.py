"""Frames as tables: what a reader, a screen reader and a terminal get."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from patch_lab.figures import table

DIGIT = "\u2007"


class Cells(HTMLParser):
    """The cells of a table in order, as (tag, scope, text)."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.caption, self.inside = [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in ("th", "td"):
            self.cells.append([tag, dict(attrs).get("scope"), ""])
        if tag in ("th", "td", "caption"):
            self.inside = tag

    def handle_data(self, data):
        if self.inside == "caption":
            self.caption += data
        elif self.inside:
            self.cells[-1][2] += data

    def handle_endtag(self, tag):
        if tag in ("th", "td", "caption"):
            self.inside = None


def column(frame, name, **options):
    made = table(frame, **options)
    return [row[made.header.index(name)] for row in made.rows]


def one(values, **options):
    return column(pd.DataFrame({"x": values}), "x", **options)


def test_headers_belong_to_columns_and_rows():
    frame = pd.DataFrame({"learner": ["ours", "theirs"], "error": [0.1, 0.2]}).set_index("learner")
    cells = Cells(table(frame, caption="Errors of two learners.")._repr_html_())
    assert cells.caption == "Errors of two learners."
    assert cells.cells[:2] == [["th", "col", "learner"], ["th", "col", "error"]]
    assert cells.cells[2:] == [
        ["th", "row", "ours"],
        ["td", None, "0.1"],
        ["th", "row", "theirs"],
        ["td", None, "0.2"],
    ]


@pytest.mark.parametrize(
    ("values", "options", "texts"),
    [
        ([0.25, 0.1], {}, ["0.25", "0.10"]),
        ([12.34, 0.5], {}, ["12.3", "0.5"]),
        ([-0.5, 1.0], {}, ["−0.5", "1.0"]),
        ([4000, 12], {}, ["4,000", "12"]),
        ([0.123, 1.0], {"digits": {"x": "1%"}}, ["12.3%", "100.0%"]),
        ([1e-9, 2.5], {}, ["10⁻⁹" + DIGIT, "2.5"]),
        ([np.nan, 0.25], {}, ["–" + "\u2008" + 2 * DIGIT, "0.25"]),
        ([np.inf, 3.0], {}, ["∞", "3"]),
        ([True, None], {}, ["yes", "–"]),
        (["a", "b"], {}, ["a", "b"]),
    ],
)
def test_cells(values, options, texts):
    shown = one(values, **options)
    assert [text.rstrip("\u2007\u2008") for text in shown] == [text.rstrip("\u2007\u2008") for text in texts]
