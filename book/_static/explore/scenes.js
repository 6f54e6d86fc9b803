// What the scenes of the essay below its first one share (`scenes/`). Each has one control, fixed axes, its sentence
// beside the control, and a guess before the answer; the numbers come from the engines of the chapters' explorables.
(() => {
  "use strict";
  const { h, colorsOf, still } = window.patchAssociation;
  const small = matchMedia("(max-width: 1000px)"); // as the scenes are first laid out
  const CAT = new URL("cat.jpg", document.currentScript.src).href;
  const thousands = (n) => n.toLocaleString("en-US");

  /** Two columns: what moves on the left, the guess, the control and the sentence on the right. */
  const columns = (picture, ...side) =>
    h(
      "div",
      { class: "pa-scene-columns" },
      h("div", { class: "pa-scene-picture" }, ...picture),
      h("div", { class: "pa-beside" }, ...side),
    );

  /**
   * A drawing in a canvas of `wide` by `high` units, sharp on every screen: `draw(context, style, pixel)` in these
   * units, of which a pixel of the page has so many.
   */
  function easel(wide, high, describe, draw, attributes = {}) {
    const canvas = h("canvas", { role: "img", "aria-label": describe, ...attributes });
    canvas.style.aspectRatio = `${wide} / ${high}`;
    const color = colorsOf(canvas);
    let [scale, pixel] = [0, 1];
    const paint = () => {
      if (!scale) return;
      const context = canvas.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.setTransform(scale, 0, 0, scale, 0, 0);
      draw(context, color, pixel);
    };
    new ResizeObserver(([{ contentRect }]) => {
      scale = (contentRect.width * Math.min(devicePixelRatio, 2)) / wide;
      pixel = wide / contentRect.width;
      [canvas.width, canvas.height] = [Math.round(scale * wide), Math.round(scale * high)];
      paint();
    }).observe(canvas);
    return { canvas, paint };
  }

  /** Call `each(t)`, t from 0 to 1, once a frame; without motion only the end. What it returns stops it. */
  function during(seconds, each, end = () => {}) {
    let frame = null;
    if (still.matches) {
      each(1);
      end();
      return () => {};
    }
    let begun = null;
    const step = (now) => {
      begun ??= now;
      const t = Math.min(1, (now - begun) / (1000 * seconds));
      each(t);
      if (t < 1) frame = requestAnimationFrame(step);
      else end();
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }

  /** A moment that the text names moves its scene: <a href="#..." data-of="strings" data-at="map">. */
  const reach = {}; // of each scene the moments by name
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-of]");
    const go = reach[link?.dataset.of]?.[link.dataset.at];
    if (!go) return;
    event.preventDefault();
    go();
    const box = document.querySelector(`[data-explorable="${link.dataset.of}"]`);
    box.querySelector(".pa-stage").dispatchEvent(new Event("moved"));
    const whole = box.offsetHeight < 0.9 * innerHeight;
    const picture = whole ? box : (box.querySelector("[data-main]") ?? box.querySelector("canvas, svg"));
    picture.scrollIntoView({
      block: whole ? "nearest" : "center",
      behavior: still.matches ? "auto" : "smooth",
    });
    const [from, to] = [link, box].map((one) => one.getBoundingClientRect());
    const apart = Math.max(from.bottom, to.bottom) - Math.min(from.top, to.top) > innerHeight;
    if (whole && !(apart && innerWidth <= 700)) return; // the text is still in sight
    const back = h(
      "button",
      {
        type: "button",
        class: "pa-back",
        onclick: () => {
          back.remove();
          link.scrollIntoView({ block: "center", behavior: still.matches ? "auto" : "smooth" });
          link.focus({ preventScroll: true });
        },
      },
      "Back to the text",
    );
    document.querySelectorAll(".pa-back").forEach((old) => old.remove());
    picture.after(back);
  });

  window.patchAssociation.scenes = { small, CAT, thousands, columns, easel, during, reach };
})();
