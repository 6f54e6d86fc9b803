"""What a build takes out of style sheets: rules for what no page has, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "book" / "_ext" / "offline.py"
spec = importlib.util.spec_from_file_location("offline", SOURCE)
offline = importlib.util.module_from_spec(spec)
spec.loader.exec_module(offline)


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".used{a:b}.unused{a:b}", ".used{a:b}"),
        (".used,.unused>p{a:b}", ".used{a:b}"),
        ("p a{a:b}", "p a{a:b}"),
        (".used:not(.unused,.other){a:b}", ".used:not(.unused,.other){a:b}"),
        (":is(.unused,.used:not(.x)),.unused{a:b}", ":is(.unused,.used:not(.x)){a:b}"),
        ("@media print{.unused{a:b}}", ""),
        ("@media print{.unused{a:b}.used{c:d}}", "@media print{.used{c:d}}"),
        ("@keyframes x{0%{a:b}33.3%,to{c:d}}", "@keyframes x{0%{a:b}33.3%,to{c:d}}"),
        ('@font-face{src:url("a.woff")}', '@font-face{src:url("a.woff")}'),
        ('[href$=".pdf"]{a:b}', '[href$=".pdf"]{a:b}'),
        ("/*! a.b, license */.unused{a:b}/* gone, .x */.used{a:b}", "/*! a.b, license */.used{a:b}"),
        (".m\\:used{a:b}", ""),
    ],
)
def test_purge(css, left):
    assert offline.purge(css, {"used"}) == left


def test_used_words_come_from_pages_and_scripts(tmp_path):
    page, script = tmp_path / "a.html", tmp_path / "_static" / "b.js"
    script.parent.mkdir()
    page.write_text('<p class="one two-three">four</p>', encoding="utf-8")
    script.write_text('e.classList.add("made-by-script")', encoding="utf-8")
    words = offline.used_words([page], script.parent)
    assert {"one", "two-three", "made-by-script"} <= words and "four" not in words
