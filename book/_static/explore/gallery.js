// The small drawings of the gallery move while they are seen: from frame to frame, to the end, and again.
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
    const frame = (now) => {
      const round = ((now / 1000) % SECONDS) / SECONDS;
      const t = still.matches ? 1 : Math.min(1, round / (1 - HOLD));
      for (const svg of seen) if (svg.dataset.at !== String(t)) {
        svg.dataset.at = t;
        write.get(svg)(t);
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", begin) : begin();
})();
