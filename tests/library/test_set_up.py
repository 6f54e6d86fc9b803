"""What the two commands do before they say that something is missing."""

from types import SimpleNamespace

import browser
import build_book
import pytest
import set_up
import test_all


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """The commands that a set-up runs, none of which does anything; those that contain a word of it fail."""
    ran = SimpleNamespace(commands=[], failing="")

    def run(command, lock, log=None):
        ran.commands.append(" ".join(map(str, command)))
        set_up.LOG.write_text("No solution found")
        return int(bool(ran.failing) and ran.failing in ran.commands[-1])

    monkeypatch.setattr(set_up, "run", run)
    monkeypatch.setattr(set_up.shutil, "which", lambda name: name)
    for name in ("LOG", "STAMP"):
        monkeypatch.setattr(set_up, name, tmp_path / name)
    return ran


@pytest.mark.parametrize(
    ("version", "failing", "by"), [((3, 8), "", "uv"), ((3, 13), "", "venv"), ((3, 15), "", "venv")]
)
def test_a_python_that_does_not_fit_is_replaced_by_uv(version, failing, by, calls, monkeypatch):
    """One that is too old at once; a newer one than was tested only where packages are missing for it."""
    monkeypatch.setattr(set_up, "sys", SimpleNamespace(version_info=version, executable="python"))
    set_up.install(None)
    assert ("uv venv --clear --seed --python >=3.10,<3.15" in calls.commands[0]) == (by == "uv")
    assert ("-m venv --clear" in calls.commands[0]) == (by == "venv")
    calls.commands.clear()
    calls.failing = "-e .["
    with pytest.raises(set_up.CannotSetUp, match="no set of versions"):
        set_up.install(None)
    assert any("uv venv" in one for one in calls.commands) == (version != (3, 13))
    if version != (3, 13):
        calls.failing = "uv venv"
        with pytest.raises(
            set_up.CannotSetUp, match=r"needs one of Python 3.10 to 3.14; uv could not bring it"
        ):
            set_up.bring_python("too old", None, None)


def test_a_browser_is_brought_before_pages_are_left_out(monkeypatch, capsys):
    tried = []
    there = SimpleNamespace(returncode=0)
    monkeypatch.setattr(browser.subprocess, "run", lambda way, **how: tried.append(" ".join(way)) or there)
    monkeypatch.setattr(browser, "find_chromium", lambda: "/no/such/browser")
    assert "No Chromium was found" in test_all._no_browser()
    assert "-m playwright install chromium" in tried[0]
    assert test_all._report([("library", 1.0, 0)], ["THE PAGES, for want of a browser"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("Not run: THE PAGES, for want of a browser.")


def test_a_build_leaves_no_page_of_a_chapter_that_is_gone(tmp_path):
    root, site = tmp_path / "root", tmp_path / "root" / "_build" / "html"
    for name in (
        "book/part/kept.md",
        "_build/html/book/part/kept.html",
        "_build/html/book/part/gone.html",
        "_build/html/_sources/book/part/kept.md",
        "_build/html/_sources/book/part/gone.ipynb",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    build_book.drop_pages_without_source(site, root)
    assert sorted(path.name for path in site.rglob("*.*")) == ["kept.html", "kept.md"]


def test_the_pages_of_a_site_are_neither_its_redirect_nor_what_is_shown_inside_of_them(monkeypatch, tmp_path):
    for name in ("index.html", "book/index.html", "book/part/page.html", "_static/explore/frame.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(browser, "SITE", tmp_path)
    assert browser.page_names() == ["book/index.html", "book/part/page.html"]
    assert browser.asked_pages(["book/part/page"]) == [tmp_path / "book/part/page.html"]
    with pytest.raises(SystemExit, match="Not built: .*gone.html. Run `make book` first"):
        browser.asked_pages(["book/part/gone"])
