"""What a frame costs a processor while a reader drags: from a trace of Chromium's main thread.

Processor time, not time on the clock: it says whether a frame fits into a sixtieth of a second on a machine
that does nothing else, and says it on a busy one too.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

_WARM, _FRAMES = 60, 120  # the first frames are slower: what they run is not compiled yet
_SECONDS = 60  # the most that a trace may take to arrive
# One move of the slider a frame, to and fro.
_DRAG = """async ([key, frames]) => {
  const named = e => e.querySelector('label').textContent.startsWith(key + ',');
  const slider = [...document.querySelectorAll('.pa-control')].find(named).querySelector('input');
  const [from, to] = [Number(slider.min), Number(slider.max)];
  for (let n = 0; n < frames; n++) {
    await new Promise(requestAnimationFrame);
    slider.value = from + (to - from) * (0.5 + 0.45 * Math.sin(n / 15));
    slider.dispatchEvent(new Event('input', {bubbles: true}));
  }
}"""


def drag(browser, page, key: str = "q") -> list[float]:
    """Milliseconds of processor time of each frame while the slider of ``key`` is dragged.

    All tasks of the page's main thread count: scripts, style, layout, paint.
    """
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    events: list[dict] = []
    done: list[dict] = []
    try:
        tab.goto(page.as_uri())
        tab.evaluate("() => window.explorable.ready")
        tab.evaluate(_DRAG, [key, _WARM])
        session = tab.context.new_cdp_session(tab)
        session.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
        session.on("Tracing.tracingComplete", lambda end: done.append(end))
        categories = {"includedCategories": ["toplevel", "devtools.timeline"]}
        session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": categories})
        tab.evaluate(_DRAG, [key, _FRAMES])
        session.send("Tracing.end")
        for _ in range(10 * _SECONDS):
            if done:
                return frames(events)
            tab.wait_for_timeout(100)
        raise TimeoutError(f"no trace arrived within {_SECONDS} s")
    finally:
        tab.close()


def frames(events: list[dict]) -> list[float]:
    """Processor time in milliseconds from the task of one animation frame to that of the next."""
    timed = [event for event in events if event["ph"] == "X" and "tdur" in event]
    moved = [event for event in timed if event["name"] == "FireAnimationFrame"]
    if not moved:
        raise ValueError("the trace holds no animation frame")
    thread = (moved[0]["pid"], moved[0]["tid"])
    tasks = [e for e in timed if e["name"].endswith("::RunTask") and (e["pid"], e["tid"]) == thread]
    tasks.sort(key=lambda task: task["ts"])
    begun = [task["ts"] for task in tasks]
    first = sorted({bisect_right(begun, event["ts"]) - 1 for event in moved} - {-1})
    return [sum(task["tdur"] for task in tasks[a:b]) / 1000 for a, b in pairwise(first)]
