// A figure opens in full size: by a click on its drawing or by its button. Escape closes it, and the focus goes
// back to where it was (that is what a modal <dialog> does). Arrow keys turn the pages of the book.
(() => {
  const open = (figure, button) => {
    const dialog = document.createElement("dialog"),
      close = document.createElement("button");
    const drawing = figure.querySelector(".pa-drawing"),
      caption = figure.querySelector("figcaption");
    const place = document.createElement("div"); // the drawing itself moves: its ids stay unique
    place.style.height = `${drawing.offsetHeight}px`;
    drawing.replaceWith(place);
    close.textContent = "Close";
    close.onclick = () => dialog.close();
    dialog.className = "pa-full";
    const { width, height } = drawing.getBoundingClientRect(); // as large as the window is high
    dialog.style.setProperty(
      "--fit",
      `${Math.max(640, Math.round(((innerHeight - 190) * width) / height))}px`,
    );
    dialog.setAttribute("aria-label", `${button.dataset.name} in full size`);
    const words = caption?.cloneNode(true);
    words
      ?.querySelectorAll("[id], .headerlink")
      .forEach((e) => (e.matches(".headerlink") ? e.remove() : e.removeAttribute("id")));
    dialog.append(close, drawing, words ?? "");
    dialog.onclick = (event) => {
      if (event.target === dialog) dialog.close();
    };
    dialog.onclose = () => {
      place.replaceWith(drawing);
      dialog.remove();
      button.focus({ preventScroll: true });
    };
    document.querySelector("article.bd-article").append(dialog);
    dialog.showModal();
  };

  // On a phone each panel is drawn as its column is wide. What would be smaller than 0.8 of what it is on a desk is
  // drawn anew: what lies inside the axes moves together, and letters, legends and what is outside keep their size.
  const LEAST = (0.8 * 96) / 72; // pixels for a point
  const SPARE = 13; // points that a word may stand out on the right, where the page has its margin
  const number = (x) => Math.round(100 * x) / 100;

  const narrow = (panel) => {
    const svg = panel.querySelector("svg");
    const [left, top, wide, high] = svg.dataset.narrow.split(" ").map(Number);
    const spans = svg.dataset.spans.split(" ").filter(Boolean).map(Number);
    const room = Math.min(wide, panel.clientWidth / LEAST);
    const inside = spans.reduce((sum, x, k) => sum + (k % 2 ? x : -x), 0);
    const share = Math.max(0.25, 1 - (wide - room) / inside); // of its width that an axes keeps
    panel.dataset.drawn = "";
    svg.setAttribute("viewBox", `${left} ${top} ${room} ${high}`);
    const sides = [left, top, left + room + SPARE, top + high];
    if (room === wide || !spans.length) {
      svg.setAttribute("viewBox", svg.dataset.narrow);
      for (const word of words(svg)) clear(svg, word, new Set(), sides);
      return;
    }
    const at = (x) => {
      let gone = 0;
      for (let k = 0; k < spans.length; k += 2)
        gone += (1 - share) * Math.max(0, Math.min(x, spans[k + 1]) - spans[k]);
      return x - gone;
    };
    const before = new Map(words(svg).map((word) => [word, struck(svg, word)]));
    const shift = (element, name, to) => element.setAttribute(name, number(to));
    const bend = (path) =>
      path.setAttribute(
        "d",
        path
          .getAttribute("d")
          .replace(
            /(-?[\d.]+(?:e-?\d+)?) (-?[\d.]+(?:e-?\d+)?)/g,
            (_, x, y) => `${number(at(Number(x)))} ${y}`,
          ),
      );
    const clips = new Set(),
      areas = new Set();
    for (const element of svg.querySelectorAll("path, use[x], image, [data-x], [clip-path]")) {
      const clip = element.getAttribute("clip-path")?.match(/#([^)]+)/)?.[1];
      if (clip) clips.add(clip);
      if (element.dataset.x) {
        const { x, width } = element.getBBox(),
          anchor = Number(element.dataset.x);
        const moved = Math.max(left - x, Math.min(at(anchor) - anchor, left + room + SPARE - x - width));
        element.setAttribute("transform", `translate(${number(moved)} 0)`);
      } else if (element.closest("defs, [data-x]")) continue;
      else if (element.tagName === "path") bend(element);
      else if (element.tagName === "image") {
        const [x, width] = ["x", "width"].map((name) => Number(element.getAttribute(name)));
        element.setAttribute("preserveAspectRatio", "none");
        shift(element, "x", at(x));
        shift(element, "width", at(x + width) - at(x));
      } else if (element.getAttribute("x") === "0")
        areas.add(element.getAttribute("href")); // an area, drawn at its place
      else shift(element, "x", at(Number(element.getAttribute("x"))));
    }
    for (const name of areas) bend(svg.querySelector(name));
    for (const name of clips) {
      const box = document.getElementById(name)?.querySelector("rect");
      if (!box) continue;
      const [x, width] = ["x", "width"].map((key) => Number(box.getAttribute(key)));
      shift(box, "x", at(x));
      shift(box, "width", at(x + width) - at(x));
    }
    thin(svg);
    for (const [word, known] of before) clear(svg, word, known, sides);
  };

  // A word that no curve, marker or word touches on a desk stands clear of them on a phone, too: it goes to the
  // nearest place that is free. What stands on a ground of its own, as in a cell or a disc, stays there.
  const words = (svg) => [...svg.querySelectorAll(".pa-word")];
  const movedBy = (word) => (word.getAttribute("transform")?.match(/-?[\d.]+/g) ?? [0, 0]).map(Number);
  const boxOf = (word) => {
    const { x, y, width, height } = word.getBBox();
    const [right, down] = movedBy(word);
    return [x + right, y + down, x + right + width, y + down + height];
  };
  const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

  // Whether a line from p to q enters a box.
  const enters = (box, [x, y], [u, v]) => {
    let [from, to] = [0, 1];
    for (const [at, by, low, high] of [
      [x, u - x, box[0], box[2]],
      [y, v - y, box[1], box[3]],
    ]) {
      if (by === 0) {
        if (at <= low || at >= high) return false;
        continue;
      }
      const [a, b] = [(low - at) / by, (high - at) / by];
      [from, to] = [Math.max(from, Math.min(a, b)), Math.min(to, Math.max(a, b))];
    }
    return from < to;
  };

  // What is drawn beside a word: each has a test for a box.
  const drawn = (svg, word) => {
    const found = new Map();
    for (const path of svg.querySelectorAll("path")) {
      if (!/fill: none;.*stroke: /.test(path.getAttribute("style")) || path.closest("defs")) continue;
      const numbers = path.getAttribute("d").match(/-?[\d.]+(?:e-?\d+)?/g) ?? [];
      const points = Array.from({ length: numbers.length / 2 }, (_, k) => [
        +numbers[2 * k],
        +numbers[2 * k + 1],
      ]);
      found.set(path, (box) => points.some((p, k) => k && enters(box, points[k - 1], p)));
    }
    for (const mark of svg.querySelectorAll("use[x]:not([data-x] *, [data-axis] *)")) {
      const [x, y] = ["x", "y"].map((name) => Number(mark.getAttribute(name)));
      if (x || y) found.set(mark, (box) => overlap(box, [x - 3, y - 3, x + 3, y + 3]));
    }
    for (const other of words(svg)) {
      const own = boxOf(other);
      if (other !== word) found.set(other, (box) => overlap(box, own));
    }
    return found;
  };
  const struck = (svg, word, box = boxOf(word)) =>
    new Set([...drawn(svg, word)].filter(([, meets]) => meets(box)).map(([one]) => one));

  const clear = (svg, word, known, [left, top, right, bottom]) => {
    if ("stays" in word.dataset) return; // it names what it stands on
    const box = boxOf(word);
    const now = [...struck(svg, word)];
    if (!now.length) return;
    const most = now.every((one) => known.has(one)) ? 42 : 120; // where it was drawn so, it stays near
    const tests = [...drawn(svg, word)].map(([one, meets]) => [one.tagName === "path" ? 30 : 1000, meets]);
    let [best, place] = [Infinity, [0, 0]];
    for (let dy = -78; dy <= 78; dy += 3)
      for (let dx = -120; dx <= 120; dx += 4) {
        const far = Math.hypot(dx, 1.5 * dy);
        const [a, b, c, d] = [box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy];
        if (far > most || far >= best || a < left || b < top || c > right || d > bottom) continue;
        const near = [a - 2, b - 1, c + 2, d + 1];
        const cost = tests.reduce((sum, [price, meets]) => sum + (meets(near) ? price : 0), far);
        if (cost < best) [best, place] = [cost, [dx, dy]];
      }
    const [right0, down0] = movedBy(word);
    const to = [right0 + place[0], down0 + place[1]].map(number);
    word.setAttribute("transform", `translate(${to.join(" ")})`);
  };

  // Where numbers at the ticks would touch, every other one is left out.
  const thin = (svg) => {
    for (const axis of svg.querySelectorAll("[data-axis]")) {
      const words = [...axis.querySelectorAll("[data-x]")]
        .filter((word) => word.parentElement !== axis)
        .map((word) => [word, word.getBoundingClientRect()]);
      let end = -Infinity;
      for (const [word, box] of words.sort(([, a], [, b]) => a.left - b.left)) {
        if (box.left < end + 3) word.style.visibility = "hidden";
        else end = box.right;
      }
    }
  };

  // What was drawn for a desk is kept: the screen may be turned.
  const phone = matchMedia("(max-width: 600px)");
  const kept = new Map();
  const fit = () => {
    for (const panel of document.querySelectorAll(".pa-panel")) {
      const svg = panel.querySelector("svg");
      if (!svg || panel.closest("template")) continue;
      if (!phone.matches && !kept.has(panel)) continue;
      if (kept.has(panel)) svg.replaceWith(kept.get(panel).cloneNode(true));
      else kept.set(panel, svg.cloneNode(true));
      delete panel.dataset.drawn;
      if (phone.matches) narrow(panel);
    }
  };
  let width = innerWidth;
  const refit = () => {
    if (innerWidth !== width) fit();
    width = innerWidth;
  };
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", fit) : fit();
  addEventListener("resize", refit);

  const offer = (figure) => {
    const drawing = figure.querySelector(".pa-drawing");
    if (!drawing || figure.closest(".pa-explorable, .pa-finding, a, .pa-tip")) return;
    const button = document.createElement("button");
    const name = figure.querySelector(".caption-number")?.textContent.trim() || "This figure";
    button.type = "button";
    button.className = "pa-enlarge";
    button.dataset.name = name;
    button.setAttribute("aria-label", `Open ${name} in full size`);
    button.textContent = "⤢";
    button.onclick = () => open(figure, button);
    drawing.addEventListener("click", () => {
      if (drawing.parentElement === figure) open(figure, button);
    });
    figure.classList.add("pa-opens");
    figure.append(button);
  };

  // Left and right turn pages, unless something has the focus that may want these keys itself.
  const turn = (event) => {
    const selector = { ArrowLeft: "a.left-prev", ArrowRight: "a.right-next" }[event.key];
    if (
      !selector ||
      event.altKey ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.defaultPrevented
    )
      return;
    if (document.activeElement && document.activeElement !== document.body) return;
    const target = document.querySelector(selector);
    if (target) location.href = target.href;
  };

  addEventListener("load", () => {
    document.querySelectorAll("article.bd-article figure").forEach(offer);
    document.addEventListener("keydown", turn);
  });
})();
