// What the explorables share: a setting that lives in the page's address, controls, charts, a player, links.
// No outside request, works from file://, by keyboard and by touch; colors come from the style sheet.
(() => {
  "use strict";
  const { Refused, refuse } = window.patchAssociation;
  const SVG = "http://www.w3.org/2000/svg";
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  /** An element: h("button", {type: "button", onclick: f}, "Play"). */
  function h(tag, attributes = {}, ...children) {
    const element = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  // ---- numbers ------------------------------------------------------------------------------------------------

  /** Some significant digits, with a minus sign, never in e-notation where a reader could misread it. */
  function number(x, digits = 3) {
    if (!Number.isFinite(x)) return "–";
    if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6)) {
      const power = Math.floor(Math.log10(Math.abs(x)));
      return `${number(x / 10 ** power, digits)} × 10${[...String(power)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}`;
    }
    return String(Number(x.toPrecision(digits))).replace("-", "−");
  }
  const percent = (x) => (Number.isFinite(x) ? `${number(100 * x, x < 0.1 ? 2 : 3)}%` : "–");

  // ---- the setting and the address ----------------------------------------------------------------------------

  const defaults = (fields) => Object.fromEntries(fields.map((field) => [field.key, field.value]));

  /** The setting of an address such as "#D=16&q=0.3"; what it does not name has its default. */
  function readAddress(fields, hash) {
    const setting = defaults(fields);
    const known = new Map(fields.map((field) => [field.key, field]));
    for (const part of hash.replace(/^#/, "").split("&").filter(Boolean)) {
      const [key, ...rest] = part.split("=");
      const text = rest.join("=");
      const field = known.get(key);
      if (!field) refuse(`The address names “${key.slice(0, 40)}”; known are ${[...known.keys()].join(", ")}.`);
      if (field.text) {
        if (!field.text.test(text)) refuse(`The address gives ${key} as “${text.slice(0, 40)}”, which is no ${field.what}.`);
        setting[key] = text;
        continue;
      }
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value))
        refuse(`The address gives ${key} as “${text.slice(0, 40)}”, which is no number.`);
      setting[key] = value;
    }
    return setting;
  }
  const writeAddress = (setting) => `#${Object.entries(setting).map(([key, value]) => `${key}=${value}`).join("&")}`;

  // ---- controls -----------------------------------------------------------------------------------------------

  let names = 0;

  /** One slider or list a field. `change(key, value)` hears of each move. */
  function controls(fields, change) {
    const boxes = new Map();
    const control = (field) => {
      const id = `pa-control-${(names += 1)}`;
      const value = h("output", { for: id });
      let input;
      if (field.options) {
        input = h("select", { id, onchange: () => change(field.key, field.text ? input.value : Number(input.value)) },
          ...field.options.map((option) => h("option", { value: option[1] ?? option }, String(option[0] ?? option))));
      } else {
        const log = field.scale === "log";
        const [from, to] = log ? [Math.log10(field.from), Math.log10(field.to)] : [field.from, field.to];
        input = h("input", { id, type: "range", min: from, max: to, step: log ? 0.01 : field.step,
          oninput: () => change(field.key, log ? Number((10 ** Number(input.value)).toPrecision(3)) : Number(input.value)) });
      }
      boxes.set(field.key, { field, input, value });
      return h("div", { class: "pa-control" }, h("label", { for: id }, field.label), input, value);
    };
    const rare = fields.filter((field) => field.rare);
    const element = h("div", { class: "pa-controls" }, ...fields.filter((field) => !field.rare && field.label).map(control));
    if (rare.length)
      element.append(h("details", {}, h("summary", {}, "Start and rates"), ...rare.map(control)));
    const show = (setting) => {
      for (const [key, { field, input, value }] of boxes) {
        if (field.options) {
          const has = [...input.options].some((option) => option.value === String(setting[key]));
          if (!has) input.append(h("option", { value: setting[key] }, String(setting[key])));
          input.value = String(setting[key]);
          continue;
        }
        input.value = field.scale === "log" ? Math.log10(Math.max(setting[key], 1e-300)) : setting[key];
        value.textContent = number(setting[key], 4);
        input.setAttribute("aria-valuetext", value.textContent);
      }
    };
    /** Another list for one field: C must divide D. */
    const offer = (key, options) => {
      const { input } = boxes.get(key);
      input.replaceChildren(...options.map((option) => h("option", { value: option }, String(option))));
    };
    return { element, show, offer };
  }

  /** Work in pieces, one a frame: `piece(until)` works up to a moment and says whether there is more. */
  function inFrames(current, piece, milliseconds = 12) {
    const go = () => {
      if (current() && piece(performance.now() + milliseconds)) requestAnimationFrame(go);
    };
    go();
  }

  /** A slider for the step, with a play button; `onstep` draws. */
  function player({ label, onstep, seconds = 6, words = "Play" }) {
    const id = `pa-control-${(names += 1)}`;
    const value = h("output", { for: id });
    const input = h("input", { id, type: "range", min: 0, max: 1, step: 1, value: 0, oninput: () => { stop(); go(Number(input.value)); } });
    const button = h("button", { type: "button", class: "pa-play", onclick: () => (timer ? stop() : play()) }, words);
    let timer = null;
    let last = 1;
    function go(step) {
      input.value = step;
      value.textContent = String(step);
      onstep(step);
    }
    function stop() {
      if (timer) cancelAnimationFrame(timer);
      timer = null;
      button.textContent = words;
    }
    function play() {
      if (still.matches) return go(Number(input.value) >= last ? 0 : last); // no motion: the end at once
      const from = Number(input.value) >= last ? 0 : Number(input.value);
      let begun = null;
      button.textContent = "Pause";
      const frame = (now) => {
        begun ??= now;
        const step = Math.min(last, Math.round(from + (last * (now - begun)) / (1000 * seconds)));
        go(step);
        timer = step < last ? requestAnimationFrame(frame) : null;
        if (!timer) button.textContent = `${words} again`;
      };
      timer = requestAnimationFrame(frame);
    }
    /** Another number of steps; the slider stays where it is, or at the end. */
    const fit = (steps, step = Math.min(Number(input.value), steps)) => {
      last = steps;
      input.max = steps;
      go(step);
    };
    return { element: h("div", { class: "pa-player" }, button, h("label", { for: id }, label), input, value), fit, stop, go,
      get step() { return Number(input.value); }, get last() { return last; } };
  }

  // ---- pictures -----------------------------------------------------------------------------------------------

  function ticks(low, high, log, count) {
    if (log) {
      const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
      const every = Math.max(1, Math.ceil((b - a + 1) / count));
      const found = [];
      for (let k = a; k <= b; k += every) found.push(10 ** k);
      return found;
    }
    const rough = (high - low) / count;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= rough);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  }

  /** Curves over steps. `draw({x, curves: [{y, look, name}], levels: [{y, name}], marks: [{x, name}], at})`. */
  function chart({ title, xlabel = "step", log = false, height = 190 }) {
    const svg = h("svg:svg", { role: "img", "aria-label": title });
    const element = h("figure", { class: "pa-chart" }, h("figcaption", {}, title), svg);
    let last = null;
    let width = 0; // asking the page for it at each frame would lay the page out again and again
    const room = { left: 52, right: 12, top: 8, bottom: 36 };
    function draw(data) {
      last = data;
      width ||= element.clientWidth || 320;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("height", height);
      let [low, high] = data.range ?? [Infinity, -Infinity];
      if (!data.range)
        for (const { y } of [...data.curves, ...(data.levels ?? [])])
          for (const v of typeof y === "number" ? [y] : y)
            if (Number.isFinite(v) && (!log || v > 0)) [low, high] = [Math.min(low, v), Math.max(high, v)];
      if (low > high) [low, high] = log ? [0.1, 1] : [0, 1]; // nothing to draw yet
      else if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
      const pad = (high - low) * 0.05;
      if (!data.range && !log) [low, high] = [low - pad, high + pad];
      const [x0, x1] = data.x;
      const X = (x) => room.left + ((x - x0) / (x1 - x0 || 1)) * (width - room.left - room.right);
      const scale = log ? Math.log : (y) => y;
      const Y = (y) => height - room.bottom - ((scale(y) - scale(low)) / (scale(high) - scale(low))) * (height - room.top - room.bottom);
      const parts = [];
      for (const y of ticks(low, high, log, 4)) {
        parts.push(h("svg:line", { class: "pa-grid", x1: room.left, x2: width - room.right, y1: Y(y), y2: Y(y) }));
        parts.push(h("svg:text", { x: room.left - 6, y: Y(y) + 4, "text-anchor": "end" }, number(y)));
      }
      for (const x of ticks(x0, x1, false, Math.min(5, width / 90)))
        parts.push(h("svg:text", { x: X(x), y: height - room.bottom + 17, "text-anchor": "middle" }, number(x, 5)));
      parts.push(h("svg:text", { x: (room.left + width - room.right) / 2, y: height - 3, "text-anchor": "middle" }, xlabel));
      for (const { y, look } of data.levels ?? [])
        if (!log || y > 0) parts.push(h("svg:line", { class: `pa-level ${look ?? ""}`, x1: room.left, x2: width - room.right, y1: Y(y), y2: Y(y) }));
      for (const { x } of data.marks ?? [])
        parts.push(h("svg:line", { class: "pa-mark", x1: X(x), x2: X(x), y1: room.top, y2: height - room.bottom }));
      for (const { y, look, xs } of data.curves) {
        const every = Math.max(1, Math.floor(y.length / 250));
        let path = "";
        for (let k = 0; k < y.length; k++) {
          if (k % every && k !== y.length - 1) continue;
          if (!Number.isFinite(y[k]) || (log && y[k] <= 0)) continue;
          path += `${path ? "L" : "M"}${X(xs ? xs[k] : x0 + k).toFixed(1)} ${Y(y[k]).toFixed(1)}`;
        }
        parts.push(h("svg:path", { class: `pa-curve ${look}`, d: path || "M0 0" }));
        if (data.at != null && !xs && Number.isFinite(y[data.at]) && (!log || y[data.at] > 0))
          parts.push(h("svg:circle", { class: `pa-dot ${look}`, cx: X(data.at), cy: Y(y[data.at]), r: 4.5 }));
      }
      if (data.at != null) parts.push(h("svg:line", { class: "pa-now", x1: X(data.at), x2: X(data.at), y1: room.top, y2: height - room.bottom }));
      svg.replaceChildren(...parts);
    }
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - width) < 1) return;
      width = contentRect.width;
      if (last) draw(last);
    }).observe(element);
    return { element, draw };
  }

  /** A legend in words and line samples: [["pa-same", "γ, companions"], ...]. */
  const legend = (entries) => h("p", { class: "pa-legend" }, ...entries.map(([look, words]) =>
    h("span", {}, h("span", { class: `pa-sample ${look}`, "aria-hidden": "true" }), words)));

  /** A square matrix of numbers on a canvas: blue above zero, orange below, the page's own color at zero. */
  function matrix({ title, pixels = 190 }) {
    const canvas = h("canvas", { role: "img", "aria-label": title, width: pixels * 2, height: pixels * 2 });
    const element = h("figure", { class: "pa-chart pa-matrix" }, h("figcaption", {}, title), canvas);
    const draw = (rows, cols, value, most) => {
      const style = getComputedStyle(element);
      const [plus, minus] = ["--pa-same", "--pa-other"].map((name) => style.getPropertyValue(name));
      const context = canvas.getContext("2d");
      const size = canvas.width;
      context.clearRect(0, 0, size, size);
      for (let i = 0; i < rows; i++)
        for (let j = 0; j < cols; j++) {
          const v = value(i, j) / (most || 1);
          context.globalAlpha = Math.min(1, Math.abs(v));
          context.fillStyle = v >= 0 ? plus : minus;
          context.fillRect((j * size) / cols, (i * size) / rows, size / cols - 0.5, size / rows - 0.5);
        }
      context.globalAlpha = 1;
    };
    return { element, canvas, draw };
  }

  // ---- links --------------------------------------------------------------------------------------------------

  /** A button that copies, and says so. */
  function copier(words, text) {
    const button = h("button", { type: "button", onclick: async () => {
      try {
        await navigator.clipboard.writeText(text());
        button.textContent = "Copied";
      } catch {
        prompt("Copy this:", text()); // browsers refuse the clipboard to some pages
      }
      setTimeout(() => (button.textContent = words), 1500);
    } }, words);
    return button;
  }

  /** The same setting as code: shown, and copied into any notebook that has the package. */
  function notebook(code) {
    const pre = h("pre");
    const element = h("details", { class: "pa-code" }, h("summary", {}, "The same in a notebook"), pre, copier("Copy the cell", () => code()));
    return { element, show: () => (pre.textContent = code()) };
  }

  /**
   * Put an explorable into each element that asks for it. `build(box)` returns {fields, show(setting), model}: `show`
   * computes and draws, and throws Refused with a sentence. The one that owns the page keeps its setting in the address.
   */
  function mount(name, build) {
    for (const box of document.querySelectorAll(`[data-explorable="${name}"]`)) {
      const owner = !("embedded" in box.dataset);
      let load = null;
      // A static figure, or a link in the text, that carries a state loads it.
      document.addEventListener("click", (event) => {
        const link = event.target.closest?.(`a[href*="#"][data-loads="${name}"]`);
        if (!link) return;
        event.preventDefault();
        load ??= start(box, owner);
        load(new URL(link.href).hash);
        box.scrollIntoView({ block: "nearest", behavior: still.matches ? "auto" : "smooth" });
      });
      if (box.dataset.figure) offer(box, name);
      if (owner) {
        load = start(box, owner);
        continue;
      }
      // In a chapter it computes once it is near the screen; until then its place is kept.
      box.dataset.waiting = "";
      const seen = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.disconnect();
        load ??= start(box, owner);
      }, { rootMargin: "300px" });
      seen.observe(box);
    }

    /** The figure of this page that shows a setting gets a link that loads it; a click on the drawing does so too. */
    function offer(box, name) {
      const figure = document.getElementById(box.dataset.figure);
      const drawing = figure?.querySelector(".pa-drawing, img");
      if (!drawing) return;
      const where = box.compareDocumentPosition(figure) & Node.DOCUMENT_POSITION_PRECEDING ? "below" : "above";
      const link = h("a", { href: box.dataset.shows, "data-loads": name }, `Move it ${where}.`);
      figure.querySelector("figcaption :is(.caption-text, p), figcaption")?.append(" ", link);
      drawing.classList.add("pa-loads");
      drawing.addEventListener("click", () => link.click());
    }

    function start(box, owner) {
      const stage = h("div", { class: "pa-stage" });
      const sentence = h("p", { class: "pa-sentence", role: "status" });
      let notice = null; // why an address could not be read; it stands until the reader moves something
      const say = (text, refused = false) => {
        if (notice) [text, refused] = [notice, true];
        if (sentence.textContent !== text) sentence.textContent = text;
        sentence.classList.toggle("pa-refused", refused);
        stage.classList.toggle("pa-stale", refused);
      };
      let setting = null;
      let queued = false;
      let written = -Infinity;
      let pending = null;
      /** The address follows at most four times a second: Safari refuses more than a hundred writes in ten. */
      const tell = () => {
        if (!owner) {
          page.href = page.href.replace(/#.*|$/, writeAddress(setting));
          return;
        }
        const write = () => {
          [pending, written] = [null, performance.now()];
          history.replaceState(null, "", writeAddress(setting));
        };
        clearTimeout(pending);
        if (performance.now() - written > 250) write();
        else pending = setTimeout(write, 250);
      };
      /** Show a setting: at most once a frame, however fast a slider moves. */
      const change = (next) => {
        setting = { ...setting, ...next };
        if (queued) return;
        queued = true;
        requestAnimationFrame(() => { queued = false; apply(); });
      };
      let giveUp;
      const refused = new Promise((done) => (giveUp = done));
      const apply = () => {
        notice = null;
        tell();
        try {
          explorable.show(setting);
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          say(error.message, true);
          giveUp();
        }
      };
      const explorable = build({ stage, say, change, get setting() { return setting; } });
      const page = h("a", { href: box.dataset.page ?? "" }, "Open on a page of its own");
      page.hidden = !box.dataset.page;
      const code = explorable.code && notebook(() => explorable.code(setting));
      const tools = h("div", { class: "pa-tools" },
        h("button", { type: "button", onclick: () => { setting = defaults(explorable.fields); apply(); } }, "Start over"),
        copier("Copy a link to this", () => owner ? location.href.replace(/#.*|$/, writeAddress(setting)) : page.href), ...(owner ? [] : [page]));
      if (code) code.element.addEventListener("toggle", code.show);
      const figure = box.querySelector(".pa-still");
      box.replaceChildren(stage, sentence, ...(explorable.bare ? [] : [tools]), ...(code ? [code.element] : []), ...(figure ? [figure] : []));
      delete box.dataset.waiting;
      box.dataset.live = "";
      const load = (hash) => {
        clearTimeout(pending);
        try {
          setting = readAddress(explorable.fields, hash);
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          notice = error.message;
          explorable.show(setting ??= defaults(explorable.fields));
          return say(notice, true);
        }
        apply();
      };
      load(owner ? location.hash : box.dataset.state ?? "");
      const changed = explorable.show;
      explorable.show = (next) => { changed(next); if (code?.element.open) code.show(); };
      if (owner) {
        addEventListener("hashchange", () => load(location.hash));
        // For checks from outside: never the numbers of another setting than the address names.
        const guarded = (f) => (...given) => {
          if (notice) refuse(notice);
          return f(...given);
        };
        const outside = Object.entries(explorable.outside ?? {}).map(([key, f]) => [key, guarded(f)]);
        window.explorable = { ready: Promise.race([explorable.ready, refused]), ...Object.fromEntries(outside) };
      }
      new MutationObserver(() => explorable.repaint?.()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
      return load;
    }
  }

  Object.assign(window.patchAssociation, { h, number, percent, controls, player, chart, matrix, legend, inFrames, mount, readAddress, writeAddress, still });
})();
