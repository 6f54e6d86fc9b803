// The small drawings of the gallery move while they are seen: from frame to frame, to the end, and again.
// A figure with a slider moves once, and then as its slider does.
(() => {
  "use strict";
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const SECONDS = 5;
  const HOLD = 0.3; // the share of a round for which the end stays

  /** How to write one drawing at the moment t in [0, 1]; its elements stand in the page already. */
  function writer(svg, drawing) {
    const parts = (name) => [...svg.querySelectorAll(name)];
    const between = (frames, t, write) => {
      const at = t * (frames.length - 1);
      const k = Math.min(Math.floor(at), frames.length - 2);
      const share = at - k;
      frames[k].forEach((from, j) => write(j, from, frames[k + 1][j], share));
    };
    if (drawing.points) {
      const [dots, strings] = [parts("circle"), parts("line")];
      const ease = (x) => x * x * (3 - 2 * x);
      return (t) => {
        const now = [];
        between(drawing.points, t, (j, from, to, share) => {
          const s = drawing.points.length > 3 ? share : ease(share);
          now[j] = [from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1])];
          dots[j].setAttribute("cx", now[j][0].toFixed(1));
          dots[j].setAttribute("cy", now[j][1].toFixed(1));
        });
        (drawing.links ?? []).forEach(([a, b], j) => {
          [["x1", now[a][0]], ["y1", now[a][1]], ["x2", now[b][0]], ["y2", now[b][1]]]
            .forEach(([name, x]) => strings[j].setAttribute(name, x.toFixed(1)));
        });
      };
    }
    if (drawing.cells) {
      const cells = parts("rect");
      return (t) => between(drawing.cells, t, (j, from, to, share) =>
        cells[j].setAttribute("fill-opacity", (from + share * (to - from)).toFixed(2)));
    }
    const curves = parts("polyline");
    if (drawing.curves) {
      const [left, right, top, bottom] = svg.dataset.plot.split(" ").map(Number);
      const [x0, x1, y0, y1] = drawing.range;
      const place = (x, y) => [left + ((right - left) * (x - x0)) / (x1 - x0), bottom - ((bottom - top) * (y - y0)) / (y1 - y0)];
      const names = parts("text.pa-name");
      const [said, slider] = ["output", "input"].map((name) => svg.parentNode.querySelector(name));
      return (t) => {
        const last = drawing.curves.length - 1;
        between(drawing.curves, t, (j, from, to, share) => {
          const points = from.map(([x, y], k) => place(x + share * (to[k][0] - x), y + share * (to[k][1] - y)));
          curves[j].setAttribute("points", points.map((p) => p.map((v) => v.toFixed(1))).join(" "));
          const [x, y] = points[0];
          names[j].setAttribute("x", x.toFixed(1));
          names[j].setAttribute("y", y.toFixed(1));
        });
        said.textContent = drawing.says[Math.round(t * last)];
        if (document.activeElement !== slider) slider.value = t * last;
      };
    }
    return (t) => drawing.lines.forEach(([, points], j) => {
      const shown = points.slice(0, Math.max(2, Math.ceil(t * points.length)));
      curves[j].setAttribute("points", shown.join(" "));
    });
  }

  function begin() {
    const seen = new Set();
    const write = new Map();
    for (const svg of document.querySelectorAll("svg[data-moves]"))
      write.set(svg, writer(svg, window.patchAssociation.gallery[svg.dataset.moves]));
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
    });
    for (const svg of write.keys()) watch.observe(svg);
    const begun = new Map(); // a figure with a slider runs once, from when it is first seen
    for (const slider of document.querySelectorAll("input[data-slides]"))
      slider.addEventListener("input", () => {
        const svg = slider.closest("figure").querySelector("svg");
        begun.set(svg, -Infinity);
        write.get(svg)(slider.value / slider.max);
      });

    function once(svg, now) {
      if (!begun.has(svg)) begun.set(svg, still.matches ? -Infinity : now);
      const t = (now - begun.get(svg)) / (1000 * SECONDS);
      if (t === Infinity) return; // the slider's from here on
      if (t >= 1) begun.set(svg, -Infinity);
      write.get(svg)(t < 1 ? t : 0.5);
    }

    function round(svg, now) {
      const t = still.matches ? 1 : Math.min(1, ((now / 1000) % SECONDS) / SECONDS / (1 - HOLD));
      if (svg.dataset.at === String(t)) return;
      svg.dataset.at = t;
      write.get(svg)(t);
    }

    const frame = (now) => {
      for (const svg of seen) (svg.dataset.plot ? once : round)(svg, now);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", begin) : begin();
})();
