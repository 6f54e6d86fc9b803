"""A real browser for the built pages: where it is, how it is started, and what to say when it is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
VARIABLE = "PATCH_ASSOCIATION_CHROMIUM"
COMMANDS = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    "No Chromium was found, and the built pages are tested in a real one. Install it with "
    "`sudo apt-get install chromium` (or `.venv/bin/playwright install chromium`), "
    f"or set {VARIABLE} to its path."
)
# A container has no sandbox and no GPU; the rest keeps the browser from asking the network for anything.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]


BRING_S = 300  # so long a download of a browser may take


class BrowserMissing(Exception):
    """No browser could be started; the message says how to get one."""


def find_chromium() -> str | None:
    """The browser named by PATCH_ASSOCIATION_CHROMIUM, or the first on the path; None if there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        if not shutil.which(named):
            raise BrowserMissing(f"{VARIABLE} is {named!r}, which is no program. {MISSING}")
        return named
    return next(filter(None, map(shutil.which, COMMANDS)), None)


@contextmanager
def chromium():
    """A running headless Chromium (playwright's own if the machine has no other)."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        except Error as error:
            raise BrowserMissing(f"{MISSING}\n{error.message.splitlines()[0]}") from None
        try:
            yield browser
        finally:
            browser.close()


def bring_chromium() -> None:
    """Try to get a browser: Playwright's own, or as root the distribution's; what fails is passed over.

    Whether one is there then, :func:`chromium` tells.
    """
    ways = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        ways += [["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]]
    for way in ways:
        print(f"No Chromium is here; trying: {' '.join(way)}", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                way, stdin=subprocess.DEVNULL, capture_output=True, timeout=BRING_S, env=environment
            )
            if done.returncode == 0 and "install" in way:
                return


def built_pages() -> list[Path]:
    """Every HTML page of the built book, sorted; the redirect at its top is not a page."""
    return sorted(
        page for page in SITE.rglob("*.html") if "_static" not in page.parts and page != SITE / "index.html"
    )


def asked_pages(names: list[str]) -> list[Path]:
    """The pages ``book/part/chapter`` named on a command line, by default all; without them it ends there."""
    pages = [SITE / f"{name.removesuffix('.html')}.html" for name in names] or built_pages()
    missing = [str(page) for page in pages if not page.exists()]
    if missing or not pages:
        sys.exit(f"Not built: {', '.join(missing) or 'the book'}. Run `make book` first.")
    return pages


def page_names() -> list[str]:
    """The same pages as paths inside the site."""
    return [str(page.relative_to(SITE)) for page in built_pages()]


def bytes_of(browser, path: Path) -> int:
    """Bytes of all files that a page loads, the page included."""
    tab = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    loaded: set[str] = set()
    tab.on("requestfinished", lambda request: loaded.add(unquote(urlsplit(request.url).path)))
    try:
        tab.goto(path.as_uri())
        settle(tab)
    finally:
        tab.close()
    return sum(Path(name).stat().st_size for name in loaded if Path(name).is_file())


def settle(page) -> None:
    """Wait until the equations of a page are typeset and its fonts are there."""
    page.wait_for_function(
        "() => ![...document.querySelectorAll('.math')].some(e => !('typeset' in e.dataset))"
    )
    page.evaluate("() => document.fonts.ready.then(() => true)")
