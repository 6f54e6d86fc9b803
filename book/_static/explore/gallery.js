// The small drawings of the gallery move once when they are seen, and again under the pointer or the focus.
// A figure with a slider moves once, and then as its slider does.
(() => {
  "use strict";
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const SECONDS = 4;

  /** How to write one drawing at the moment t in [0, 1]; its elements stand in the page already. */
  function writer(svg, drawing) {
    const between = (frames, t, write) => {
      const at = t * (frames.length - 1);
      const k = Math.min(Math.floor(at), frames.length - 2);
      write(frames[k], frames[k + 1], at - k);
    };
    const mix = (a, b, share) => a + share * (b - a);
    const round = (x) => Math.round(100 * x) / 100;
    if (!drawing.curves) {
      const marks = svg.querySelectorAll(":scope > :not(linearGradient)");
      const segments = (numbers) =>
        numbers.map((x, k) => `${["M", "", "L", ""][k % 4]}${round(x)}`).join(" ");
      return (t) =>
        drawing.moves.forEach(([k, attribute, frames]) =>
          between(frames, t, (from, to, share) =>
            marks[k].setAttribute(
              attribute,
              from.map ? segments(from.map((x, j) => mix(x, to[j], share))) : round(mix(from, to, share)),
            ),
          ),
        );
    }
    const curves = [...svg.querySelectorAll("polyline")];
    const [left, right, top, bottom] = svg.dataset.plot.split(" ").map(Number);
    const [x0, x1, y0, y1] = drawing.range;
    const place = (x, y) => [
      left + ((right - left) * (x - x0)) / (x1 - x0),
      bottom - ((bottom - top) * (y - y0)) / (y1 - y0),
    ];
    const names = svg.querySelectorAll("text.pa-name");
    const [said, slider] = ["output", "input"].map((name) => svg.parentNode.querySelector(name));
    return (t) => {
      between(drawing.curves, t, (from, to, share) =>
        from.forEach((curve, j) => {
          const points = curve.map(([x, y], k) =>
            place(mix(x, to[j][k][0], share), mix(y, to[j][k][1], share)),
          );
          curves[j].setAttribute("points", points.map((p) => p.map((v) => v.toFixed(1))).join(" "));
          const [x, y] = points[0];
          names[j].setAttribute("x", x.toFixed(1));
          names[j].setAttribute("y", y.toFixed(1));
        }),
      );
      said.textContent = drawing.says[Math.round(t * (drawing.curves.length - 1))];
      if (document.activeElement !== slider) slider.value = t * (drawing.curves.length - 1);
    };
  }

  /** Move a drawing from its first frame to its last; a figure with a slider comes to rest in its middle. */
  function play(svg, write) {
    if (still.matches) return;
    const mine = {};
    svg.run = mine;
    let begun = null;
    const step = (now) => {
      if (svg.run !== mine) return; // it has begun anew, or its slider has it
      begun ??= now;
      const t = Math.min(1, (now - begun) / (1000 * SECONDS));
      write(t < 1 || !svg.dataset.plot ? t : 0.5);
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  function begin() {
    for (const svg of document.querySelectorAll("svg[data-moves]")) {
      const write = writer(svg, window.patchAssociation.gallery[svg.dataset.moves]);
      const watch = new IntersectionObserver(
        (entries) => {
          if (!entries.some((entry) => entry.isIntersecting)) return;
          watch.disconnect();
          play(svg, write);
        },
        { threshold: 0.6 },
      );
      watch.observe(svg);
      const link = svg.closest("a");
      for (const type of ["pointerenter", "focus"]) link?.addEventListener(type, () => play(svg, write));
      const slider = svg.closest("figure")?.querySelector("input[data-slides]");
      slider?.addEventListener("input", () => {
        svg.run = null;
        write(slider.value / slider.max);
      });
    }
  }
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", begin) : begin();
})();
