// What the explorables share: a setting that lives in the page's address, controls, charts, a player, links.
// No outside request, works from file://, by keyboard and by touch; colors come from the style sheet.
(() => {
  "use strict";
  const { Refused, refuse } = window.patchAssociation;
  const SVG = "http://www.w3.org/2000/svg";
  const NARROW = 420; // pixels of a drawing
  const QUIET = 700; // ms without a change before a screen reader is told
  const FILLER = "the letters of a sentence take this much room, and "; // where a longer one will stand
  const slim = matchMedia("(max-width: 600px)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  /** Whether the reader's main pointer is a finger: words that say how to take something differ. */
  const fingers = () => matchMedia("(pointer: coarse)").matches;

  /** An element: h("button", {type: "button", onclick: f}, "Play"). */
  function h(tag, attributes = {}, ...children) {
    const element = tag.startsWith("svg:")
      ? document.createElementNS(SVG, tag.slice(4))
      : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  /** Write a text where it is another one: to write the same again would lay the page out again. */
  const write = (element, words) => {
    if (element.textContent !== words) element.textContent = words;
  };

  // ---- numbers ------------------------------------------------------------------------------------------------

  /** Some significant digits, with a minus sign, never in e-notation where a reader could misread it. */
  function number(x, digits = 3) {
    if (!Number.isFinite(x)) return "–";
    if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6)) {
      const power = Math.floor(Math.log10(Math.abs(x)));
      const raised = [...String(power)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
      return `${number(x / 10 ** power, digits)} × 10${raised}`;
    }
    return String(Number(x.toPrecision(digits))).replace("-", "−");
  }
  const mix = (a, b, t) => a + (b - a) * t;
  const clamp = (x, low = 0, high = 1) => Math.max(low, Math.min(high, x));
  const percent = (x) => (Number.isFinite(x) ? `${number(100 * x, x < 0.1 ? 2 : 3)}%` : "–");

  // ---- the setting and the address ----------------------------------------------------------------------------

  const defaults = (fields) => Object.fromEntries(fields.map((field) => [field.key, field.value]));

  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i; // JavaScript also takes spaces, 0x10 and 0b1

  /** The setting of an address such as "#D=16&q=0.3"; what it does not name has its default. */
  function readAddress(fields, hash) {
    const setting = defaults(fields);
    const known = new Map(fields.map((field) => [field.key, field]));
    const given = new Set();
    const brief = (text) => [...text.slice(0, 80)].slice(0, 40).join("");
    for (const part of hash.replace(/^#/, "").split("&").filter(Boolean)) {
      const [key, ...rest] = part.split("=");
      const text = rest.join("=");
      const field = known.get(key);
      if (!field) refuse(`The address names “${brief(key)}”; known are ${[...known.keys()].join(", ")}.`);
      if (given.has(key)) refuse(`The address gives ${key} twice; it must be given once.`);
      given.add(key);
      if (field.text) {
        if (!field.text.test(text))
          refuse(`The address gives ${key} as “${brief(text)}”, which is no ${field.what}.`);
        setting[key] = text;
        continue;
      }
      const value = Number(text);
      if (!NUMBER.test(text) || !Number.isFinite(value))
        refuse(`The address gives ${key} as “${brief(text)}”, which is no number.`);
      setting[key] = value + 0; // 0 for -0, which would be written as 0
    }
    return setting;
  }
  const writeAddress = (setting) =>
    `#${Object.entries(setting)
      .map(([key, value]) => `${key}=${value}`)
      .join("&")}`;

  // ---- controls -----------------------------------------------------------------------------------------------

  let names = 0;

  /** One slider or list a field. `change(key, value)` hears of each move. */
  function controls(fields, change) {
    const boxes = new Map();
    const control = (field) => {
      names += 1;
      const id = `pa-control-${names}`;
      const value = h("output", { for: id });
      let input;
      if (field.options) {
        input = h(
          "select",
          { id, onchange: () => change(field.key, field.text ? input.value : Number(input.value)) },
          ...field.options.map((option) =>
            h("option", { value: option[1] ?? option }, String(option[0] ?? option)),
          ),
        );
      } else {
        const log = field.scale === "log";
        const [from, to] = log ? [Math.log10(field.from), Math.log10(field.to)] : [field.from, field.to];
        input = h("input", {
          id,
          type: "range",
          min: from,
          max: to,
          step: log ? 0.01 : field.step,
          oninput: () =>
            change(field.key, log ? Number((10 ** Number(input.value)).toPrecision(3)) : Number(input.value)),
        });
      }
      boxes.set(field.key, { field, input, value });
      return h("div", { class: "pa-control" }, h("label", { for: id }, field.label), input, value);
    };
    const rare = fields.filter((field) => field.rare);
    const element = h(
      "div",
      { class: "pa-controls" },
      ...fields.filter((field) => !field.rare && field.label).map(control),
    );
    if (rare.length)
      element.append(
        h(
          "details",
          {},
          h("summary", {}, "More to set"),
          h("div", { class: "pa-rare" }, ...rare.map(control)),
        ),
      );
    const show = (setting) => {
      for (const [key, { field, input, value }] of boxes) {
        if (field.options) {
          const has = [...input.options].some((option) => option.value === String(setting[key]));
          if (!has) {
            // one place for a value that is none of the list
            input.querySelector("[data-other]")?.remove();
            input.append(h("option", { value: setting[key], "data-other": true }, String(setting[key])));
          }
          input.value = String(setting[key]);
          continue;
        }
        const at = String(field.scale === "log" ? Math.log10(Math.max(setting[key], 1e-300)) : setting[key]);
        if (input.value !== at) input.value = at;
        const words = number(setting[key], 4);
        if (value.textContent === words) continue;
        value.textContent = words;
        input.setAttribute("aria-valuetext", words);
      }
    };
    /** Another list for one field: C must divide D. */
    const offer = (key, options) => {
      const { input } = boxes.get(key);
      if (options.join() === Array.from(input.options, (option) => option.value).join()) return;
      input.replaceChildren(...options.map((option) => h("option", { value: option }, String(option))));
    };
    return { element, show, offer };
  }

  /** A sentence whose numbers are set off, and whose words have the color of what they name: {look: pattern}. */
  function inColors(text, looks = {}) {
    const patterns = [...Object.values(looks), "[−±]?\\d+(?:[.,]\\d+)*(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?%?"];
    const any = new RegExp(patterns.map((one) => `(${one})`).join("|"), "gu");
    const names = Object.keys(looks);
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(any)) {
      const which = found.slice(1).findIndex((one) => one !== undefined);
      parts.push(text.slice(at, found.index), h("b", { class: names[which] }, found[0]));
      at = found.index + found[0].length;
    }
    return [...parts, text.slice(at)];
  }

  /** Work in pieces, one a frame: `piece(until)` works up to a moment and says whether there is more. */
  function inFrames(say, current, piece, milliseconds = 12) {
    const go = () => {
      if (current() && piece(performance.now() + milliseconds)) requestAnimationFrame(later);
    };
    const later = () => {
      try {
        go();
      } catch (error) {
        // the first piece throws to who asked for it; nobody waits for the others
        if (!(error instanceof Refused)) throw error;
        say(error.message, true);
      }
    };
    go();
  }

  /** A slider for the step, with a play button; `onstep` draws. Playing stays for `hold.seconds` at step `hold.at`. */
  function player({
    label,
    onstep,
    seconds = 6,
    words = "Play",
    show = String,
    onend = () => {},
    before = () => false,
    hold = { at: 0, seconds: 0 },
  }) {
    names += 1;
    const id = `pa-control-${names}`;
    const value = h("output", { for: id });
    const input = h("input", {
      id,
      type: "range",
      min: 0,
      max: 1,
      step: 1,
      value: 0,
      oninput: () => {
        stop();
        go(Number(input.value));
      },
    });
    const button = h(
      "button",
      { type: "button", class: "pa-play", onclick: () => (timer ? stop() : play()) },
      words,
    );
    let timer = null;
    let last = 1;
    let ended = () => {};
    function go(step) {
      if (Number(input.value) !== step) input.value = step;
      write(value, show(step));
      if (show !== String) input.setAttribute("aria-valuetext", show(step));
      onstep(step);
    }
    function stop() {
      (still.matches ? clearTimeout : cancelAnimationFrame)(timer);
      timer = null;
      button.textContent = words;
      ended();
    }
    /** Play to a step, the last by default; the promise is kept when it stops there, or is stopped. */
    function play(until = last) {
      if (before()) return Promise.resolve(); // somebody else plays
      stop();
      const step = Number(input.value);
      const after = (waiting) => {
        timer = waiting;
        return new Promise((resolve) => {
          ended = resolve;
        });
      };
      const rest = (at) => {
        timer = null;
        button.textContent = at < last ? words : `${words} again`;
        ended();
        onend();
      };
      if (still.matches) {
        // no motion: a still on the way, where it would stay or in the middle, then the end
        const from = step >= last ? 0 : step;
        button.textContent = "Pause";
        go(hold.seconds && from < hold.at ? hold.at : Math.round((from + until) / 2));
        return after(
          setTimeout(
            () => {
              go(until);
              rest(until);
            },
            hold.seconds ? 3000 : 1500,
          ),
        );
      }
      const from = step >= last ? 0 : step;
      let begun = null;
      button.textContent = "Pause";
      const frame = (now) => {
        begun ??= now;
        const [gone, held] = [(now - begun) / 1000, Math.max(0, ((hold.at - from) / last) * seconds)];
        const step = Math.min(
          until,
          Math.round(
            from + (last * (Math.min(gone, held) + Math.max(0, gone - held - hold.seconds))) / seconds,
          ),
        );
        if (step !== Number(input.value) || begun === now) go(step);
        if (step < until) timer = requestAnimationFrame(frame);
        else rest(until);
      };
      return after(requestAnimationFrame(frame));
    }
    /** Another number of steps; the slider stays where it is, or at the end. */
    const fit = (steps, step = Math.min(Number(input.value), steps)) => {
      last = steps;
      if (input.max !== String(steps)) input.max = steps;
      go(step);
    };
    return {
      element: h("div", { class: "pa-player" }, button, h("label", { for: id }, label), input, value),
      fit,
      stop,
      go,
      play,
      name: (said) => {
        button.textContent = said;
      },
      get step() {
        return Number(input.value);
      },
      get last() {
        return last;
      },
    };
  }

  /** A question that a reader answers before the picture does; `after(k)` hears which of the options it was. */
  function guess({ question, options, right, after }) {
    let [chosen, over] = [null, false];
    // What became of a guess is said until the reader does something else.
    for (const type of ["pointerdown", "input", "keydown"])
      document.addEventListener(type, ({ target }) => {
        if (!element.contains(target) && element.closest(".pa-stage")?.contains(target))
          over = buttons.some((button) => button.classList.contains("pa-right"));
      });
    const buttons = options.map((words, k) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": "false",
          onclick: () => {
            if (chosen === null) {
              chosen = k;
              buttons.forEach((button, j) => button.setAttribute("aria-pressed", String(j === k)));
            }
            over = false;
            after(chosen);
          },
        },
        words,
      ),
    );
    const element = h(
      "div",
      { class: "pa-guess", role: "group", "aria-label": question },
      h("p", {}, h("strong", {}, "Guess. "), question),
      h("div", { class: "pa-tools" }, ...buttons),
    );
    /** Mark the right answer, and say what became of the guess. */
    const tell = () => {
      if (chosen === null || over) return "";
      buttons[right].classList.add("pa-right");
      return chosen === right ? "As you guessed. " : "You guessed otherwise. ";
    };
    /** Nothing is guessed: it may be guessed again. */
    const forget = () => {
      chosen = null;
      for (const button of buttons) {
        button.classList.remove("pa-right");
        button.setAttribute("aria-pressed", "false");
      }
    };
    return {
      element,
      tell,
      forget,
      get chosen() {
        return chosen;
      },
    };
  }

  /** A finger that rests on it for a moment takes what is there; one that moves up or down at once scrolls. */
  function rested(element) {
    let since = 0;
    element.style.touchAction = "pan-y";
    element.addEventListener(
      "touchstart",
      ({ timeStamp }) => {
        since = timeStamp;
      },
      { passive: true },
    );
    element.addEventListener(
      "touchmove",
      (event) => {
        if (event.cancelable && (since < 0 || event.timeStamp - since > 150)) {
          since = -1;
          event.preventDefault();
        }
      },
      { passive: false },
    );
  }

  /**
   * A square board of cells: dragging one onto another exchanges them, a press alone picks; `mark(from)` shows it.
   * What is dragged goes along with the pointer, and dashes frame the place where it would be put down. The ring of
   * the focus lies above all that is drawn on the board.
   */
  function exchanger(board, side, { pick, swap, mark = () => {} }) {
    const [ghost, target, ring] = ["pa-carried", "pa-target", "pa-ring"].map((look) =>
      h("span", { class: look, "aria-hidden": "true", hidden: look !== "pa-ring" }),
    );
    board.append(ring, target, ghost);
    const share = (x) => `${100 * x}%`;
    const frame = (one, k) => {
      [one.style.left, one.style.top] = [share((k % side) / side), share(Math.floor(k / side) / side)];
      one.style.width = one.style.height = share(1 / side);
    };
    board.addEventListener("focusin", ({ target }) =>
      frame(ring, [...board.querySelectorAll(".pa-cell")].indexOf(target)),
    );
    const where = (event) => {
      const box = board.getBoundingClientRect();
      const [c, r] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map(
        (x) => Math.max(0, Math.min(side - 1, Math.floor(side * x))),
      );
      return r * side + c;
    };
    const drop = () => {
      from = -1;
      ghost.hidden = target.hidden = true;
    };
    const carry = (event, to) => {
      const box = board.getBoundingClientRect();
      if (ghost.hidden) {
        const cell = board.querySelectorAll(".pa-cell")[from];
        const { backgroundColor, color } = getComputedStyle(cell);
        ghost.textContent = cell.textContent;
        Object.assign(ghost.style, { backgroundColor, color });
        frame(ghost, from);
      }
      ghost.hidden = false;
      target.hidden = to === from;
      frame(target, to);
      ghost.style.left = share((event.clientX - box.left) / box.width);
      ghost.style.top = share((event.clientY - box.top) / box.height);
    };
    let from = -1;
    rested(board);
    board.addEventListener("pointerdown", (event) => {
      from = where(event);
      board.setPointerCapture?.(event.pointerId);
      mark(from);
    });
    board.addEventListener("pointermove", (event) => {
      if (from >= 0 && (where(event) !== from || !ghost.hidden)) carry(event, where(event));
    });
    board.addEventListener("pointerup", (event) => {
      const [begun, to] = [from, where(event)];
      drop();
      if (begun >= 0) to === begun ? pick(begun) : swap(begun, to);
    });
    board.addEventListener("pointercancel", () => {
      drop();
      mark();
    });
  }

  /**
   * One stop of the Tab key for many elements that arrow keys go between, `step(key)` places further or null; what
   * is reached gets the focus, and keeps the stop.
   */
  function roving(elements, step) {
    const stop = (k) => elements.forEach((element, j) => (element.tabIndex = j === k ? 0 : -1));
    stop(0);
    elements.forEach((element, k) => {
      element.addEventListener("focus", () => stop(k));
      element.addEventListener("keydown", (event) => {
        const by = { Home: -k, End: elements.length - 1 - k }[event.key] ?? step(event.key);
        if (by == null) return;
        event.preventDefault();
        elements[(k + by + elements.length) % elements.length].focus();
      });
    });
  }
  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  /** Where an arrow key points, [right, down], and the page does not scroll; undefined for any other key. */
  function arrow(event) {
    const way = ARROWS[event.key];
    if (way) event.preventDefault();
    return way;
  }
  /** The steps of arrow keys on a board that is so many cells wide. */
  const onBoard = (side) => (key) => ARROWS[key] && ARROWS[key][0] + side * ARROWS[key][1];

  /**
   * Follow a pointer that is pressed with `place(event)`, and call `end(event)` where it is let go; a thumb
   * that scrolls holds nothing. On a handle, the class `pa-handle`, a finger does not scroll, and is followed at once.
   */
  function dragged(element, place, end = () => {}) {
    let [held, free] = [null, false];
    element.addEventListener(
      "touchstart",
      (event) => {
        if (event.target.matches(".pa-handle")) event.preventDefault();
      },
      { passive: false },
    );
    element.addEventListener("pointerdown", (event) => {
      held = event;
      element.setPointerCapture(event.pointerId);
      free = event.pointerType !== "touch" || event.target.matches(".pa-handle");
      if (event.pointerType !== "touch") place(event);
    });
    element.addEventListener("pointermove", (event) => {
      if (held && (free || Math.abs(event.clientX - held.clientX) > 8)) place(event);
    });
    element.addEventListener("pointerup", (event) => {
      if (!held) return;
      held = null;
      place(event);
      end(event);
    });
    element.addEventListener("pointercancel", () => {
      held = null;
    });
  }

  // ---- pictures -----------------------------------------------------------------------------------------------

  /** The step of about so many ticks: 1, 2 or 5 times a power of ten. */
  function stride(low, high, count) {
    const rough = (high - low) / count;
    const unit = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= rough);
  }

  function ticks(low, high, log, count) {
    if (log) {
      const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
      const every = Math.max(1, Math.ceil((b - a + 1) / count));
      const found = [];
      for (let k = a; k <= b; k += every) found.push(10 ** k);
      if (found.length < 3)
        // within two powers of ten
        for (let k = a - 1; k <= b; k++)
          found.push(...[2, 5].map((m) => m * 10 ** k).filter((y) => y >= low && y <= high));
      return found;
    }
    const step = stride(low, high, count);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  }

  /** Shapes of a drawing that changes: `[tag, attributes, text]` each. Elements stay; what is new of them is written. */
  function shapes(svg) {
    const kept = [];
    return (wanted) => {
      wanted.forEach(([tag, attributes, text = ""], k) => {
        if (kept[k]?.tag !== tag) {
          const element = h(`svg:${tag}`);
          if (kept[k]) kept[k].element.replaceWith(element);
          else svg.append(element);
          kept[k] = { tag, element, has: {}, text: "" };
        }
        const one = kept[k];
        for (const name in one.has) if (!(name in attributes)) one.element.removeAttribute(name);
        for (const name in attributes)
          if (one.has[name] !== attributes[name]) one.element.setAttribute(name, attributes[name]);
        if (one.text !== text) one.element.textContent = text;
        [one.has, one.text] = [attributes, text];
      });
      for (const { element } of kept.splice(wanted.length)) element.remove();
    };
  }

  const pixel = (x) => Math.round(10 * x) / 10;

  /** Letters of a drawing that is `wide` units wide are 13 pixels high on every screen, as those of charts. */
  function lettered(svg, wide) {
    svg.classList.add("pa-lettered");
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width)
        svg.style.setProperty("--pa-letters", `${pixel((13 * wide) / contentRect.width)}px`);
    }).observe(svg);
  }

  /** A path through points (X(k), Y(k)), x rising, without those within a tenth of a pixel of a straight line. */
  function trace(count, X, Y) {
    let path = "";
    let [x0, y0, x1, y1] = [0, 0, 0, 0]; // the last point that was kept, and the last one
    let [least, most] = [-Infinity, Infinity]; // slopes of lines from the first that pass by all after it
    for (let k = 0; k < count; k++) {
      const [x, y] = [X(k), Y(k)];
      if (!Number.isFinite(y)) continue;
      if (!path) {
        path = `M${pixel(x)} ${pixel(y)}`;
        [x0, y0] = [x, y];
      } else {
        const slope = (y - y0) / (x - x0);
        if (slope < least || slope > most) {
          path += `L${pixel(x1)} ${pixel(y1)}`;
          [x0, y0, least, most] = [x1, y1, -Infinity, Infinity];
        }
        least = Math.max(least, (y - 0.1 - y0) / (x - x0));
        most = Math.min(most, (y + 0.1 - y0) / (x - x0));
      }
      [x1, y1] = [x, y];
    }
    return path ? `${path}L${pixel(x1)} ${pixel(y1)}` : "M0 0";
  }

  /**
   * Curves over steps. `draw({x, curves: [{y, look, name}], levels: [{y, name}], marks: [{x, name, before}],
   * spots: [{x, y, look}], at, span})`, `span` the least height of the axis; names stand where curves end,
   * or `beside` a step of theirs, {at, below}. On a narrow screen names that would take a third of the drawing stand
   * in a line above it.
   */
  function chart({ title, xlabel = "step", log = false, height = 190, onpoint = null }) {
    const svg = h("svg:svg", { role: "img", "aria-label": title, height });
    const key = h("p", { class: "pa-legend pa-key", "aria-hidden": "true" });
    const element = h("figure", { class: "pa-chart" }, h("figcaption", {}, title), key, svg);
    const put = shapes(svg);
    let last = null;
    let keyed = ""; // what the line above says
    let width = 0; // asking the page for it at each frame would lay the page out again and again
    const room = { left: 52, right: 12, top: 8, bottom: 36 };
    const scale = log ? Math.log : (y) => y;
    let held = null;
    let back = null; // from a place across the drawing, 0 to 1, to x
    if (onpoint) {
      svg.style.cursor = "ew-resize";
      dragged(svg, ({ clientX }) => {
        const box = svg.getBoundingClientRect();
        if (back) onpoint(back((clientX - box.left) / box.width));
      });
    }

    /** From the least to the largest, out to halves of the ticks' steps: it stays while curves move a little. */
    function reach({ curves, levels = [], span = 0 }) {
      let [low, high] = [Infinity, -Infinity];
      for (const { y } of [...curves, ...levels])
        for (const v of typeof y === "number" ? [y] : y)
          if (Number.isFinite(v) && (!log || v > 1e-300)) [low, high] = [Math.min(low, v), Math.max(high, v)];
      if (low > high) return log ? [0.1, 1] : [0, 1]; // nothing to draw yet
      // what rounding does is not shown
      if (high - low < span) [low, high] = [(low + high - span) / 2, (low + high + span) / 2];
      // The axis stays while what is drawn fits on it and fills a third of it.
      if (
        held &&
        low >= held[0] &&
        high <= held[1] &&
        3 * (scale(high) - scale(low)) >= scale(held[1]) - scale(held[0])
      )
        return held;
      held = around(low, high);
      return held;
    }

    function around(low, high) {
      if (high - low < 1e-300) return log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
      if (log)
        return [10 ** (Math.floor(2 * Math.log10(low)) / 2), 10 ** (Math.ceil(2 * Math.log10(high)) / 2)];
      const half = stride(low, high, 4) / 2;
      return [Math.floor(low / half) * half, Math.ceil(high / half) * half];
    }

    function draw(data) {
      last = data;
      if (!width) {
        width = element.clientWidth || 320;
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      }
      const [low, high] = data.range ?? reach(data);
      const [x0, x1] = data.x;
      const named = data.curves.filter(({ name, beside }) => name && !beside);
      const broad = (all) => 7 + 6.8 * Math.max(0, ...all.map(({ name }) => name.length));
      const above = slim.matches && width < NARROW && broad(named) > width / 4;
      const ended = above ? [] : named;
      const wanted = above ? named.map(({ look, name }) => `${look}|${name}`).join("||") : "";
      if (wanted !== keyed) {
        keyed = wanted;
        key.replaceChildren(...(above ? samples(named.map(({ look, name }) => [look, name])) : []));
      }
      // named at the right as well, on no curve
      const beside = ended.length ? (data.levels ?? []).filter(({ name }) => name) : [];
      const words = ended.length ? Math.min(0.36 * width, broad([...ended, ...beside])) : 0;
      const [left, right, top, bottom] = [
        room.left,
        width - room.right - words,
        room.top,
        height - room.bottom,
      ];
      const X = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (right - left);
      back = (at) => x0 + Math.max(0, Math.min(1, (at * width - left) / (right - left))) * (x1 - x0);
      const [floor, unit] = [scale(low), (bottom - top) / (scale(high) - scale(low))];
      const Y = (y) => bottom - (scale(y) - floor) * unit;
      const across = (y, look) => [
        "line",
        { class: look, x1: left, x2: right, y1: pixel(Y(y)), y2: pixel(Y(y)) },
      ];
      const upright = (x, look) => [
        "line",
        { class: look, x1: pixel(X(x)), x2: pixel(X(x)), y1: top, y2: bottom },
      ];
      const word = (x, y, anchor, text) => [
        "text",
        { x: pixel(x), y: pixel(y), "text-anchor": anchor },
        text,
      ];
      const parts = [];
      const end = (y) => y.findLastIndex(Number.isFinite);
      for (const y of ticks(low, high, log, 4))
        parts.push(across(y, "pa-grid"), word(left - 6, Y(y) + 4, "end", (data.format ?? number)(y)));
      for (const x of data.ticks ?? ticks(x0, x1, false, Math.max(2, Math.min(5, width / 90))))
        parts.push(word(X(x), bottom + 17, "middle", data.across ? data.across(x) : number(x, 5)));
      parts.push(word((left + right) / 2, height - 3, "middle", data.xlabel ?? xlabel));
      for (const { y, look, name } of data.levels ?? []) {
        if (log && !(y > 0)) continue;
        parts.push(across(y, `pa-level ${look ?? ""}`));
        if (name && !beside.length) parts.push(word(right, Y(y) - 5, "end", name));
      }
      for (const { x, name, before } of data.marks ?? [])
        parts.push(
          upright(x, "pa-mark"),
          ...(name
            ? [
                [
                  "text",
                  {
                    class: "pa-mark-name",
                    x: pixel(X(x) + (before ? -6 : 6)),
                    y: top + 10,
                    "text-anchor": before ? "end" : "start",
                  },
                  name,
                ],
              ]
            : []),
        );
      for (const { y, look, xs } of data.curves) {
        const d = trace(
          y.length,
          (k) => X(xs ? xs[k] : x0 + k),
          (k) => Y(y[k]),
        );
        parts.push(["path", { class: `pa-curve ${look}`, d }]);
        const now = xs ? xs.indexOf(data.at) : data.at;
        if (data.at != null && now >= 0 && Number.isFinite(Y(y[now])))
          parts.push([
            "circle",
            { class: `pa-dot ${look}`, cx: pixel(X(data.at)), cy: pixel(Y(y[now])), r: 4.5 },
          ]);
      }
      for (const { name, look, beside } of data.curves) {
        if (!name || !beside) continue;
        const at = { x: pixel(X(beside.x) + 7), y: pixel(Y(beside.y)), "text-anchor": "start" };
        parts.push(["text", { class: `pa-name ${look}`, ...at }, name]);
      }
      let below = -Infinity; // the place of the name above
      const ends = [
        ...ended.map(({ name, look, y, xs }) => [
          Y(y[end(y)] ?? NaN),
          name,
          `pa-name ${look}`,
          Math.min(right, X(xs ? xs[end(y)] : x0 + end(y))),
        ]),
        ...beside.map(({ y, name }) => [Y(y), name, "pa-quiet-word", right]),
      ]
        .filter(([y]) => Number.isFinite(y))
        .sort(([a], [b]) => a - b);
      // a name goes along with a curve that is still on its way; none stands in another, or in the scale below
      const places = ends.map(([y]) => (below = Math.max(y + 4, below + 15)));
      ends.forEach(([, name, look, x], k) => {
        const y = Math.min(places[k], bottom - 1 - 15 * (ends.length - 1 - k));
        parts.push(["text", { class: look, x: pixel(x + 7), y: pixel(y) }, name]);
      });
      for (const { x, y, look } of data.spots ?? [])
        parts.push(["circle", { class: `pa-dot ${look}`, cx: pixel(X(x)), cy: pixel(Y(y)), r: 5 }]);
      if (data.at != null) parts.push(upright(data.at, "pa-now"));
      put(parts);
    }
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - width) < 1) return;
      width = contentRect.width;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      if (last) draw(last);
    }).observe(element);
    return { element, draw };
  }

  const samples = (entries) =>
    entries.map(([look, words]) =>
      h("span", {}, h("span", { class: `pa-sample ${look}`, "aria-hidden": "true" }), words),
    );
  /** A legend in words and line samples: [["pa-same", "γ, companions"], ...]. */
  const legend = (entries) => h("p", { class: "pa-legend" }, ...samples(entries));

  /** The page's colors by name, asked for again where the theme is another one: at each frame it would take style anew. */
  function colorsOf(element) {
    let [theme, found] = [null, new Map()];
    return (name) => {
      const now = document.documentElement.dataset.theme;
      if (theme !== now) [theme, found] = [now, new Map()];
      if (!found.has(name))
        found.set(name, getComputedStyle(element).getPropertyValue(`--pa-${name}`).trim());
      return found.get(name);
    };
  }

  /** Some of them as [red, green, blue]. */
  function palette(element, ...names) {
    const color = colorsOf(element);
    return () => names.map((name) => [1, 3, 5].map((k) => parseInt(color(name).slice(k, k + 2), 16)));
  }

  /**
   * Who listens to whom: the softmax of scores, a row for each patch, and below it what all give to themselves, to
   * companions and to strangers. A color is strong where a set of C would get even shares; the rows but one can be dimmed.
   */
  function listeners({ title }) {
    const canvas = h("canvas", { role: "img", "aria-label": title });
    const looks = ["pa-itself", "pa-same", "pa-other"];
    const bars = looks.map((look) => h("i", { class: look }));
    const words = looks.map((look) => h("span", { class: look }));
    const element = h(
      "figure",
      { class: "pa-chart pa-matrix" },
      h("figcaption", {}, title),
      canvas,
      h("div", { class: "pa-shares", "aria-hidden": "true" }, ...bars),
      h("p", { class: "pa-legend" }, ...words),
    );
    const colors = palette(element, "ink", "same", "other");
    const draw = (D, C, score, same, row = -1) => {
      if (canvas.width !== D) [canvas.width, canvas.height] = [D, D];
      const picture = new ImageData(D, D);
      const [found, given] = [[...colors()], [0, 0, 0]];
      // on a dark ground faint colors drown, and blue before orange
      const dark = document.documentElement.dataset.theme === "dark";
      const lift = dark ? 0.5 : 1;
      if (dark) found[1] = found[1].map((v) => mix(v, 255, 0.4));
      for (let i = 0, at = 0; i < D; i++) {
        const weights = Array.from({ length: D }, (_, j) => Math.exp(score(i, j)));
        const sum = weights.reduce((a, b) => a + b, 0);
        for (let j = 0; j < D; j++, at += 4) {
          const who = i === j ? 0 : same(i, j) ? 1 : 2;
          given[who] += weights[j] / sum / D;
          picture.data.set(found[who], at);
          picture.data[at + 3] =
            255 * Math.min(1, (1.5 * C * weights[j]) / sum) ** lift * (row < 0 || row === i ? 1 : 0.3);
        }
      }
      canvas.getContext("2d").putImageData(picture, 0, 0);
      given.forEach((share, who) => {
        bars[who].style.width = `${100 * share}%`;
        write(words[who], `${["itself", "companions", "strangers"][who]} ${Math.round(100 * share)}%`);
      });
    };
    return { element, draw };
  }

  // ---- links --------------------------------------------------------------------------------------------------

  /** A button that copies, and says so. */
  function copier(words, text) {
    const button = h(
      "button",
      {
        type: "button",
        onclick: async () => {
          try {
            await navigator.clipboard.writeText(text());
            button.textContent = "Copied";
          } catch {
            prompt("Copy this:", text()); // browsers refuse the clipboard to some pages
          }
          setTimeout(() => (button.textContent = words), 1500);
        },
      },
      words,
    );
    return button;
  }

  /** The same setting as code: shown, and copied into any notebook that has the package. */
  function notebook(code) {
    const pre = h("pre");
    const element = h(
      "details",
      { class: "pa-code" },
      h("summary", {}, "The same in a notebook"),
      pre,
      copier("Copy the cell", () => code()),
    );
    return { element, show: () => (pre.textContent = code()) };
  }

  /**
   * Put an explorable into each element that asks for it. `build(box)` returns {fields, check(setting), show(setting)}:
   * `check` throws Refused with a sentence and touches nothing, `show` computes and draws, and may find out later that
   * it has to refuse. The one that owns the page keeps its setting in the address.
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
        load(new URL(link.href).hash, true);
        box.scrollIntoView({
          block: box.offsetHeight > 0.9 * innerHeight ? "start" : "nearest",
          behavior: still.matches ? "auto" : "smooth",
        });
      });
      if (box.dataset.figure) offer(box, name);
      if (owner) {
        load = start(box, owner);
        continue;
      }
      // In a chapter it computes once it is near the screen; until then its place is kept.
      box.dataset.waiting = "";
      const seen = new IntersectionObserver(
        (entries) => {
          if (!entries.some((entry) => entry.isIntersecting)) return;
          seen.disconnect();
          load ??= start(box, owner);
        },
        { rootMargin: "1200px" },
      );
      seen.observe(box);
      // The Tab key finds its controls, too: it is there once the focus is on what stands before it.
      document.addEventListener("focusin", ({ target }) => {
        const next = [...document.querySelectorAll("[data-waiting]")].find(
          (one) => target.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING,
        );
        if (next === box) load ??= start(box, owner);
      });
    }

    /** The figure of this page that shows a setting gets a link that loads it; a click on the drawing does so too. */
    function offer(box, name) {
      const figure = document.getElementById(box.dataset.figure);
      const drawing = figure?.querySelector(".pa-drawing, img");
      if (!drawing) return;
      const where =
        box.compareDocumentPosition(figure) & Node.DOCUMENT_POSITION_PRECEDING ? "below" : "above";
      const link = h("a", { href: box.dataset.shows, "data-loads": name }, `Try it ${where}.`);
      figure.querySelector("figcaption :is(.caption-text, p), figcaption")?.append(" ", link);
      drawing.classList.add("pa-loads");
      drawing.addEventListener("click", () => link.click());
    }

    function start(box, owner) {
      const stage = h("div", { class: "pa-stage" });
      const verdict = h("p", { class: "pa-told", role: "status" }); // what became of a guess
      const why = box.querySelector(".pa-why"); // the way to the paragraph that explains the answer
      const sentence = h("p", { class: "pa-sentence" });
      const spoken = h("p", { class: "pa-spoken", role: "status" }); // the sentence, once it stands still
      let speaking = null;
      let touched = false; // what plays by itself is not told to who listens to something else
      let notice = null; // why a setting is refused; it stands until the reader moves something
      let last = ["", false];
      let veiled = false; // until the reader has guessed, or moved something
      let room = 0; // for the longest sentence its place is kept, so that nothing below it jumps
      const say = (text, refused = false) => {
        last = [text, refused];
        const long = Math.max(text.length, explorable?.room ?? 0);
        if (long > room) {
          room = long;
          sentence.dataset.room = FILLER.repeat(Math.ceil(room / FILLER.length)).slice(0, room);
        }
        if (notice) [text, refused] = [notice, true];
        if (veiled && !refused) text = explorable.guess.before?.() ?? text;
        if (sentence.textContent !== text) {
          sentence.replaceChildren(...(refused ? [text] : inColors(text, explorable?.colors)));
          clearTimeout(speaking);
          speaking = setTimeout(() => {
            if (touched || refused) spoken.textContent = text;
          }, QUIET);
        }
        sentence.classList.toggle("pa-refused", refused);
        stage.classList.toggle("pa-stale", refused);
        if (refused) giveUp();
      };
      let explorable = null;
      // On a phone the place of a longer sentence is kept only once the reader has begun, or where it plays by itself.
      const begin = () => stage.classList.add("pa-begun");
      const take = () => {
        touched = true;
        begin();
      };
      for (const type of ["click", "input", "pointerup", "moved"])
        stage.addEventListener(type, take, { capture: true });
      stage.addEventListener(
        "keydown",
        ({ key }) => {
          if (!/^(Tab|Shift)$/.test(key)) take();
        },
        { capture: true },
      );
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
        unveil();
        setting = { ...setting, ...next };
        if (queued) return;
        queued = true;
        requestAnimationFrame(() => {
          queued = false;
          apply();
        });
      };
      let giveUp;
      const refused = new Promise((done) => (giveUp = done));
      const display = () => {
        try {
          explorable.show(setting);
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          notice = error.message;
          say(notice, true);
        }
      };
      const apply = () => {
        notice = null;
        tell();
        display();
      };
      /** What a guess is about, of the setting. */
      const asked = () =>
        JSON.stringify(
          Object.entries(setting).filter(([key]) => !(explorable.guess?.free ?? []).includes(key)),
        );
      /** A verdict stays, whatever is moved, until another setting is loaded or all starts over. */
      const forget = () => {
        ask?.forget();
        verdict.replaceChildren();
      };
      explorable = build({
        stage,
        say,
        change,
        sentence,
        get setting() {
          return setting;
        },
      });
      // What moves the picture and what it says stand together: beside the picture where there is room, else above it;
      // where three pictures stand in a row, its settings come below them.
      const moves = h("div", { class: "pa-side" });
      if (!stage.contains(sentence)) {
        const three = stage.querySelector(".pa-three");
        const [before, shown, after, small] = [[], [], [], []];
        for (const one of stage.children)
          (one.matches("[data-small]")
            ? small
            : one.matches(".pa-player, .pa-tools")
              ? before
              : !one.matches(".pa-controls")
                ? shown
                : three
                  ? after
                  : before
          ).push(one);
        moves.append(...before, sentence, ...small);
        stage.replaceChildren(moves, h("div", { class: "pa-shown" }, ...shown), ...after);
        // What is seldom set has the whole width, below the picture.
        const panel = stage.querySelector(".pa-controls:has(> details)");
        if (panel) stage.append(h("div", { class: "pa-controls pa-seldom" }, panel.lastElementChild));
        if (panel && !panel.children.length) panel.remove();
      }
      stage.append(spoken);
      // One picture leads; what is marked as the rest waits below it.
      const others = stage.querySelectorAll("[data-rest]");
      const rest = h(
        "details",
        { class: "pa-rest" },
        h("summary", {}, others.length === 1 ? "One more picture" : "More pictures"),
        h("div", { class: "pa-panels" }, ...others),
      );
      const ask =
        explorable.guess &&
        guess({
          ...explorable.guess,
          after: async (k) => {
            unveil();
            const [before, kept] = [asked(), explorable.guess.free ?? []];
            const fresh = { ...defaults(explorable.fields) };
            for (const key of kept) fresh[key] = setting[key];
            const mine = setting;
            setting = fresh;
            if (asked() === before) setting = mine;
            else apply();
            // The verdict stands at once below the answers; the picture shows it.
            verdict.replaceChildren(ask.tell(), ...(why ? [why] : []));
            await explorable.guess.after?.(k);
          },
        });
      const veil = (down) => {
        veiled = down;
        stage.classList.toggle("pa-guessing", down);
      };
      const unveil = () => {
        if (!veiled) return;
        veil(false);
        say(...last);
        explorable.begin?.();
      };
      if (ask && !(owner ? location.hash : box.dataset.state)) {
        ask.element.append(verdict);
        (moves.isConnected || stage.contains(moves) ? moves : stage).prepend(ask.element);
        veil(true);
        // What moves the picture ends the guessing; that hears of it first.
        for (const type of ["input", "click", "pointerdown"])
          stage.addEventListener(type, (event) => {
            if (
              !event.target.closest(".pa-guess") &&
              !(type === "pointerdown" && event.pointerType === "touch")
            )
              unveil();
          });
      }
      const page = h("a", { href: box.dataset.page ?? "" }, "Open on a page of its own");
      page.hidden = !box.dataset.page;
      const code = explorable.code && notebook(() => explorable.code(setting));
      const tools = h(
        "div",
        { class: "pa-tools" },
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              setting = defaults(explorable.fields);
              forget();
              apply();
            },
          },
          "Start over",
        ),
        ...(owner || box.dataset.page
          ? [
              copier("Copy a link to this", () =>
                owner ? location.href.replace(/#.*|$/, writeAddress(setting)) : page.href,
              ),
            ]
          : []),
        ...(owner ? [] : [page]),
      );
      if (explorable.plays) begin();
      if (code) code.element.addEventListener("toggle", code.show);
      const figure = box.querySelector(".pa-still");
      if (figure) rest.append(figure);
      if (rest.children.length > 2 || rest.children[1].children.length) stage.append(rest);
      box.replaceChildren(stage, ...(explorable.bare ? [] : [tools]), ...(code ? [code.element] : []));
      delete box.dataset.waiting;
      box.dataset.live = "";
      const read = (hash) => {
        const found = readAddress(explorable.fields, hash);
        explorable.check?.(found);
        return found;
      };
      /** An address that is refused changes nothing: neither the setting nor itself. */
      const load = (hash, byReader = false) => {
        clearTimeout(pending);
        const before = setting && asked();
        try {
          setting = read(hash);
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          if (!setting) {
            setting = defaults(explorable.fields);
            display();
          }
          notice = error.message;
          return say(notice, true);
        }
        if (byReader) {
          take();
          if (asked() !== before) forget();
          unveil();
        }
        apply();
      };
      load(owner ? location.hash : (box.dataset.state ?? ""));
      const changed = explorable.show;
      explorable.show = (next) => {
        changed(next);
        if (code?.element.open) code.show();
      };
      if (owner) addEventListener("hashchange", () => load(location.hash, true));
      if (owner || explorable.bare) {
        // For checks from outside: never the numbers of another setting than the address names.
        const guarded =
          (f) =>
          (...given) => {
            if (notice) refuse(notice);
            return f(...given);
          };
        const outside = Object.entries(explorable.outside ?? {}).map(([key, f]) => [key, guarded(f)]);
        const offered = {
          ready: Promise.race([explorable.ready, refused]),
          read,
          setting: () => ({ ...setting }),
          ...Object.fromEntries(outside),
        };
        window.explorable ??= offered; // the page's own, or the first; others by their names
        window.explorables ??= {};
        window.explorables[name] = offered;
      }
      new MutationObserver(() => explorable.repaint?.()).observe(document.documentElement, {
        attributeFilter: ["data-theme"],
      });
      return load;
    }
  }

  Object.assign(window.patchAssociation, {
    h,
    number,
    percent,
    controls,
    player,
    guess,
    rested,
    fingers,
    exchanger,
    roving,
    onBoard,
    arrow,
    mix,
    clamp,
    chart,
    shapes,
    lettered,
    pixel,
    trace,
    colorsOf,
    palette,
    legend,
    inFrames,
    mount,
    readAddress,
    writeAddress,
    still,
    listeners,
    dragged,
  });
})();
