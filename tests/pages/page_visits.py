"""A visit to a built page in a real browser: what it did and showed, and what axe says about it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from browser import SITE, settle

EXPLORE = "book/explore"
EXPLORABLES = ("counting", "paint", "descent", "valleys", "shuffle", "look", "epochs")
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}

#: What axe holds a page to: the whole standard in light; in dark, where only colors differ, its rule for
#: them.
AXE_RULES = {
    "light": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "dark": {"type": "rule", "values": ["color-contrast"]},
}

#: Rules beside these: all of a page lies in landmarks, what is called by a name shows it, and a table's heads
#: say something.
AXE_MORE = {
    rule: {"enabled": True} for rule in ("region", "label-content-name-mismatch", "empty-table-header")
}

# What is folded is content too: it is opened before anything is measured.
UNFOLD = """() => {
  document.querySelectorAll('main details').forEach(d => d.open = true);
  document.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));
  const still = document.createElement('style');
  still.textContent = '*, *::before, *::after { animation: none !important; transition: none !important; }';
  document.head.append(still);
}"""

# Equations that were not typeset, or hold what KaTeX does not know (shown in red).
EQUATIONS = r"""() => {
  const say = e => e.textContent.trim().slice(0, 80);
  const prose = document.querySelector('main').cloneNode(true);
  prose.querySelectorAll('pre, code, script, style, .katex').forEach(e => e.remove());
  return {
    raw: [...document.querySelectorAll('.math')].filter(e => !e.querySelector('.katex')).map(say),
    failed: [...document.querySelectorAll('.katex-error, .katex [style*="#cc0000"]')].map(say),
    tex: prose.textContent.match(/\\[a-zA-Z]+\{|\\\(|\\\[|\$[^$\n]+\$/g) || [],
  };
}"""

# Pictures, and drawings that are part of the page.
IMAGES = """async () => {
  const pictures = [...document.querySelectorAll('article img')];
  for (const e of pictures) e.loading = 'eager'; // those far down the page wait for a reader to come near
  await Promise.all(pictures.map(e => e.decode().catch(() => {})));
  return [
    ...pictures.map(e => ({src: e.getAttribute('src'), alt: e.getAttribute('alt'),
                           loaded: e.complete && e.naturalWidth > 0})),
    ...[...document.querySelectorAll('article .pa-drawing')].map(
      (e, k) => ({src: `drawing ${k + 1}`, alt: e.getAttribute('aria-label'),
                  loaded: e.querySelectorAll('path').length > 0})),
  ];
}"""

# Events such as resize are delivered before a frame's callbacks: in the second frame from now they have been.
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

# Who sticks out to the right, to be named when a page scrolls sideways; and which box that scrolls by itself
# cannot be reached with the Tab key.
WIDTH = """() => {
  const page = document.scrollingElement;
  const clipped = e => {
    for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
      if (getComputedStyle(p).overflowX !== 'visible') return true;
    return false;
  };
  const wide = [...document.querySelectorAll('main *')].filter(
    e => e.getBoundingClientRect().right > innerWidth + 1 && !clipped(e));
  const boxes = document.querySelectorAll(
    "div.math, .pa-verdict table, .pa-table, div.highlight pre");
  const unreachable = [...boxes].filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0);
  // A formula in a line of text of which a part is wider than the line, and which does not scroll.
  const parts = [...document.querySelectorAll("span.math .base")].filter(e => e.getClientRects().length);
  const line = e => e.closest("p, li, td, dd, figcaption, div");
  const cut = e => e.offsetWidth > line(e).clientWidth + 1 && e.closest(".math").tabIndex < 0;
  unreachable.push(...parts.filter(cut));
  const show = elements => elements.slice(0, 3).map(e => e.outerHTML.slice(0, 150));
  return {scroll: page.scrollWidth, inner: innerWidth, wide: show(wide), unreachable: show(unreachable)};
}"""

# Chapters' figures: letters that are small, in pixels; what of a panel sticks out of its column, where it
# would be cut; and panels that stand beside one another where the screen is too narrow for both.
FIGURES = """() => {
  const found = {small: [], outside: [], beside: [], panels: 0};
  for (const panel of document.querySelectorAll('article figure .pa-panel')) {
    const svg = panel.querySelector('svg');
    if (!svg?.getClientRects().length) continue;
    const name = panel.closest('figure').id;
    const scale = svg.getScreenCTM().a;
    for (const letters of svg.querySelectorAll('g[transform*="scale(0."]')) {
      const size = 100 * scale * letters.getAttribute('transform').match(/scale\\((0\\.\\d+)/)[1];
      if (size < 11) found.small.push(`${name}: ${size.toFixed(1)}`);
    }
    const box = panel.getBoundingClientRect();
    const seen = [...svg.querySelectorAll('path, use, image')].filter(e => !e.closest('defs, [clip-path]'));
    const over = Math.max(...seen.map(e => e.getBoundingClientRect().right)) - box.right;
    if (innerWidth <= 600 && over > 1) found.outside.push(`${name}: ${over.toFixed(0)}`);
    const next = panel.nextElementSibling?.getBoundingClientRect();
    const same = innerWidth <= 600 && next && next.top < box.bottom;
    if (same && box.width + next.width > innerWidth) found.beside.push(name);
    found.panels += 1;
  }
  return found;
}"""

# axe does not see the glyphs of equations, which are hidden from screen readers, nor icons: their color is
# set against the ground they lie on.
# `floor` is the contrast that is asked for: 4.5 for text, 3 for icons.
CONTRAST = """() => {
  const channels = c => c.match(/[\\d.]+/g).map(Number);
  const luminance = c => {
    const [r, g, b] = c.slice(0, 3).map(x => x / 255).map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) /
    1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const c = channels(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const ratio = e => {
    const [a, b] = [luminance(channels(getComputedStyle(e).color)), luminance(ground(e))].sort((x, y) => y -
    x); return (a + 0.05) / (b + 0.05);
  };
  const groups = [
    ['.katex, .katex [style*="color"]', 4.5],
    ['.search-button-field, .search-button-field *', 4.5],
    ['.article-header-buttons .btn, .article-header-buttons .btn *, .primary-toggle', 3],
  ];
  return groups.flatMap(([selector, floor]) => [...document.querySelectorAll(selector)]
    .filter(e => e.getClientRects().length && ratio(e) < floor)
    .map(e => `${ratio(e).toFixed(2)} < ${floor}: ${e.outerHTML.slice(0, 120)}`)).slice(0, 5);
}"""


# axe takes a second for some thousand elements, and most are the glyphs of equations, which it cannot judge
# (a screen reader gets MathML in their place, for which it has no rules). They leave boxes of their size.
HOLLOW = """() => {
  const equations = [...document.querySelectorAll('.katex-html')].map(e => [e, e.getBoundingClientRect()]);
  for (const [e, box] of equations) {
    e.style.cssText += `;display:inline-block;width:${box.width}px;height:${box.height}px`;
    e.replaceChildren();
  }
  document.querySelectorAll('math').forEach(e => e.replaceChildren());
}"""


@dataclass
class Visit:
    """What one page did and showed."""

    console: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    equations: dict = field(default_factory=dict)
    images: list[dict] = field(default_factory=list)
    width: dict = field(default_factory=dict)
    figures: dict[str, dict] = field(default_factory=dict)
    contrast: dict[str, list[str]] = field(default_factory=dict)
    axe: dict[str, list[str]] = field(default_factory=dict)


@contextmanager
def open_page(browser, path: Path, seen: Visit | None = None):
    """A tab with a page whose equations are typeset; what it logs and loads goes into ``seen``."""
    tab = browser.new_page(viewport=DESK, color_scheme="light")
    if seen is not None:
        tab.on("console", lambda message: message.type == "error" and seen.console.append(message.text))
        tab.on("pageerror", lambda error: seen.console.append(str(error)))
        tab.on("request", lambda request: _inside(request.url) or seen.outside.append(request.url))
        tab.on("requestfailed", lambda request: seen.lost.append(f"{request.url}: {request.failure}"))
    try:
        tab.goto(path.as_uri())
        settle(tab)
        yield tab
    finally:
        tab.close()


def set_theme(tab, theme: str) -> None:
    """Let the system prefer a theme, and wait until the page follows."""
    tab.emulate_media(color_scheme=theme)
    tab.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)


def visit_page(browser, path: Path) -> Visit:
    """Open a page and look at all of it, in both themes and at the width of a phone."""
    found = Visit()
    with open_page(browser, path, found) as tab:
        found.equations = tab.evaluate(EQUATIONS)
        found.images = tab.evaluate(IMAGES)
        tab.evaluate(UNFOLD)
        for theme in ("light", "dark"):
            set_theme(tab, theme)
            found.contrast[theme] = tab.evaluate(CONTRAST)
        found.figures["desk"] = tab.evaluate(FIGURES)
        tab.set_viewport_size(PHONE)
        tab.evaluate(NEXT_FRAME)  # book.js hears of the new size from an event
        found.width = tab.evaluate(WIDTH)
        found.figures["phone"] = tab.evaluate(FIGURES)
        tab.set_viewport_size(DESK)
        tab.evaluate(HOLLOW)  # last: what it leaves is no page to look at
        for theme in ("light", "dark"):
            set_theme(tab, theme)
            found.axe[theme] = axe_findings(tab, theme)
    return found


def _inside(url: str) -> bool:
    return url.startswith((SITE.as_uri() + "/", "data:", "blob:"))


def axe_findings(tab, theme: str) -> list[str]:
    # Without preload axe reads no style sheet again, which file:// would refuse.
    options = {"runOnly": AXE_RULES[theme], "resultTypes": ["violations"], "preload": False}
    options |= {"rules": AXE_MORE} if theme == "light" else {}
    violations = Axe().run(tab, options=options).response["violations"]
    return [
        f"{violation['id']} ({violation['help']}): {node['html'][:160]} "
        f"{node.get('failureSummary', '')[:240]}"
        for violation in violations
        for node in violation["nodes"]
    ][:5]


@contextmanager
def shown(browser, address: str, **context):
    """A page of the book in a context of its own, by its address below the site; nothing may be thrown."""
    page = browser.new_context(**context).new_page()
    heard = []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"{SITE.as_uri()}/{address}")
    yield page
    page.context.close()
    assert heard == [], heard


@contextmanager
def opened(browser, name: str, state: str = "", **context):
    """An explorable's page with a state in its address."""
    with shown(browser, f"{EXPLORE}/{name}.html{state}", **context) as page:
        page.evaluate("() => window.explorable.ready")
        yield page
