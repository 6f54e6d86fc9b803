// The scenes of the essay below its first one. Each has one control, fixed axes, its sentence beside the control,
// and a guess before the answer; the numbers come from the engines that the chapters' explorables use.
(() => {
  "use strict";
  const { h, guess, player, exchanger, chart, shapes, colorsOf, palette, inFrames, mount, still, number, percent, uniform, drawInputs, legend,
    SampleDescent, PopulationRisk, bell, finer, countingError, listeningError, bestCompanions, velocity, downhill, basins, contours, relief, essay } = window.patchAssociation;
  const mix = (a, b, t) => a + (b - a) * t;
  const clamp = (t, low = 0, high = 1) => Math.max(low, Math.min(high, t));
  const small = matchMedia("(max-width: 1000px)"); // as the scenes are first laid out
  const CAT = new URL("cat.jpg", document.currentScript.src).href;
  const thousands = (n) => n.toLocaleString("en-US");

  /** Two columns: what moves on the left, the guess, the control and the sentence on the right. */
  const columns = (picture, ...side) => h("div", { class: "pa-scene-columns" }, h("div", { class: "pa-scene-picture" }, ...picture), h("div", { class: "pa-beside" }, ...side));

  /** A drawing in a canvas of `wide` by `high` units, sharp on every screen: `draw(context, style)` in these units. */
  function easel(wide, high, describe, draw, attributes = {}) {
    const canvas = h("canvas", { role: "img", "aria-label": describe, ...attributes });
    canvas.style.aspectRatio = `${wide} / ${high}`;
    const color = colorsOf(canvas);
    let scale = 0;
    const paint = () => {
      if (!scale) return;
      const context = canvas.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.setTransform(scale, 0, 0, scale, 0, 0);
      draw(context, color);
    };
    new ResizeObserver(([{ contentRect }]) => {
      scale = (contentRect.width * Math.min(devicePixelRatio, 2)) / wide;
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
    const picture = whole ? box : box.querySelector("[data-main]") ?? box.querySelector("canvas, svg");
    picture.scrollIntoView({ block: whole ? "nearest" : "center", behavior: still.matches ? "auto" : "smooth" });
    if (whole) return;
    const back = h("button", { type: "button", class: "pa-back", onclick: () => { back.remove(); link.scrollIntoView({ block: "center", behavior: still.matches ? "auto" : "smooth" }); link.focus({ preventScroll: true }); } }, "Back to the text");
    document.querySelectorAll(".pa-back").forEach((old) => old.remove());
    picture.after(back);
  });

  // ---- strings over the epochs ---------------------------------------------------------------------------------

  mount("strings", ({ stage, say, sentence }) => {
    const G = 8;
    const { links, near, accuracy, count, done } = essay.strings;
    const last = links.length - 1;
    const places = (link) => [Math.floor(link / 64), link % 64].map((k) => [Math.floor(k / G), k % G]);
    /** What a string joins: 0 neighbors, 1 a place and its mirror image, left for right, 2 others. */
    const kind = (link) => {
      const [[r, c], [u, v]] = places(link);
      return Math.abs(r - u) + Math.abs(c - v) === 1 ? 0 : r === u && c + v === G - 1 ? 1 : 2;
    };
    const KINDS = [["same", "neighbors"], ["feature", "mirror images"], ["other", "others"]];
    const shown = new Map(); // how much of each string is seen
    let [epoch, reached, wanted, moving] = [0, 0, new Set(), null];
    const grid = easel(9, 9, "Sixty-four places of a picture, the most alike pairs joined by strings", (context, color) => {
      context.lineCap = "round";
      context.strokeStyle = color("line");
      context.lineWidth = 0.04;
      context.beginPath();
      for (let k = 0; k < G; k++) { // where strings between neighbors would be
        for (let n = 1; n < G; n++) {
          for (const [a, b, c, d] of [[n, k + 1, n + 1, k + 1], [k + 1, n, k + 1, n + 1]]) { context.moveTo(a, b); context.lineTo(c, d); }
        }
      }
      context.stroke();
      for (const [link, seen] of shown) {
        const [[y, x], [v, u]] = places(link).map((at) => at.map((k) => k + 1));
        const [of, close] = [kind(link), kind(link) === 0];
        context.globalAlpha = seen * [1, 0.8, 0.5][of];
        context.strokeStyle = color(KINDS[of][0]);
        context.lineWidth = [0.1, 0.055, 0.045][of];
        context.beginPath();
        context.moveTo(x, y);
        const bend = close ? 0 : 0.13;
        context.quadraticCurveTo((x + u) / 2 + bend * (v - y), (y + v) / 2 - bend * (u - x), u, v);
        context.stroke();
      }
      context.globalAlpha = 1;
      context.fillStyle = color("noise");
      for (let k = 0; k < 64; k++) {
        context.beginPath();
        context.arc((k % G) + 1, Math.floor(k / G) + 1, 0.11, 0, 7);
        context.fill();
      }
    });
    const key = legend(KINDS.map(([name, words]) => [`pa-${name}`, words]));
    const curves = chart({ title: "How much of its own gain each has made", xlabel: "epoch", height: small.matches ? 130 : 210 });
    /** Strings come and go for as long as some are on their way, however fast the epochs change. */
    function fade(before, now) {
      const step = still.matches ? 1 : (now - before) / 150;
      let settled = true;
      for (const [link, seen] of shown) {
        const next = clamp(seen + (wanted.has(link) ? step : -step));
        if (next === 0 && !wanted.has(link)) shown.delete(link);
        else shown.set(link, next);
        if (next > 0 && next < 1 || (next === 0 && wanted.has(link))) settled = false;
      }
      grid.paint();
      moving = settled ? null : requestAnimationFrame((then) => fade(now, then));
    }
    const go = (to) => {
      if (to === epoch && shown.size) return;
      [epoch, reached, wanted] = [to, Math.max(reached, to), new Set(links[to])];
      for (const link of wanted) if (!shown.has(link)) shown.set(link, 0);
      moving ??= requestAnimationFrame((now) => fade(now, now));
      const cut = (y) => Float64Array.from(y, (v, k) => (k <= reached ? (v - y[0]) / (y.at(-1) - y[0]) : NaN));
      curves.draw({ x: [0, last], at: epoch, range: [0, 1.1], format: percent,
        levels: reached < last ? [] : [{ y: 0.9, name: "" }], marks: reached < last ? [] : done.map((x) => ({ x })),
        curves: [{ y: cut(near), look: "pa-same", name: "the map", above: 0.6 }, { y: cut(accuracy), look: "pa-label", name: "the answers", above: 0.4 }] });
      KINDS.forEach(([, words], k) => (key.children[k].lastChild.textContent = `${links[to].filter((link) => kind(link) === k).length} ${words}`));
      tell();
    };
    const tell = () => {
      const told = reached >= last ? asked.tell() : "";
      say(`${told}${epoch === 0 ? "Before training" : `After epoch ${epoch}`}, ${near[epoch]} of the ${count} strings join neighbors, and ${percent(accuracy[epoch])} of new pictures are guessed right.` +
        (reached < last ? "" : ` The map has nine tenths of its gain at epoch ${done[0]}, the answers have theirs at epoch ${done[1]}: the dotted lines.`));
    };
    const time = player({ label: "epoch", seconds: 7, hold: { at: done[0], seconds: 1.5 }, onstep: go });
    const jump = (epoch) => () => { time.stop(); time.go(epoch); };
    reach.strings = { start: jump(0), map: jump(done[0]), answers: jump(done[1]), end: jump(last) };
    const asked = guess({ question: "Which is nearly finished first: the map of neighbors, or the answers?", options: ["The map", "The answers"], right: 0, then: () => time.play() });
    stage.append(columns([grid.canvas, key], asked.element, time.element, curves.element, sentence));
    return { fields: [], bare: true, repaint: grid.paint, show: () => time.fit(last, 0), room: 235, outside: { at: (k) => ({ links: links[k], near: near[k], accuracy: accuracy[k] }), epoch: () => epoch, kinds: () => key.textContent } };
  });

  // ---- be the network ------------------------------------------------------------------------------------------

  mount("network", ({ stage, say, sentence }) => {
    const { D, C, q } = essay.network;
    const SIDE = Math.sqrt(D);
    const [ROUNDS, LEARNED] = [10, 300];
    const LETTERS = "ABCDEFGHI";
    const sets = (() => {
      const random = uniform(11);
      const found = Array.from({ length: D }, (_, k) => Math.floor(k / C));
      for (let k = D - 1; k > 0; k--) {
        const other = Math.floor(random() * (k + 1));
        [found[k], found[other]] = [found[other], found[k]];
      }
      return found;
    })();
    let [random, games, inputs, labels, points] = [null, 0];
    /** Ten inputs with their labels. */
    const deal = () => {
      random = uniform(41 + 1000 * games);
      games += 1;
      inputs = drawInputs(sets, q, ROUNDS, random);
      labels = inputs.map(() => (random() < 0.5 ? 1 : -1));
      points = { you: [], sum: [], model: [] };
    };
    deal();
    // The model learns on other inputs of the same law, while the reader plays.
    const run = new SampleDescent({ sets, q, diagonal: 1, rate: 0.002, score_rate: 0.02 * D ** 2 });
    const others = random;
    const learning = new Promise((done) => inFrames(say, () => true, (until) => {
      do run.advance(drawInputs(sets, q, 512, others)); while (run.step < LEARNED && performance.now() < until);
      if (run.step >= LEARNED) done();
      return run.step < LEARNED;
    }, 5));
    const sum = (s) => s.reduce((a, b) => a + b, 0);
    const WAIT = 800; // an answer stands, before the next input comes
    let [round, shown, waiting, open, chosen] = [0, 0, false, false, sets.indexOf(sets[D / 2 + SIDE / 2])]; // one of a set that lies scattered
    const tiles = Array.from({ length: D }, (_, k) => h("button", { type: "button", class: "pa-tile", tabindex: -1, disabled: true, onclick: () => { chosen = k; time.step <= GROW ? draw() : trace(); } }));
    const board = h("div", { class: "pa-game", role: "group", "data-main": true }, ...tiles);
    const rows = [["you", "you"], ["sum", "adds all up"], ["model", "the model"]].map(([who, words]) => {
      const marks = Array.from({ length: ROUNDS }, () => h("i"));
      return { who, marks, total: h("b"), words };
    });
    const table = h("div", { class: "pa-score", role: "img" }, ...rows.map(({ marks, total, words }) => h("div", {}, h("span", {}, words), h("span", { class: "pa-marks" }, ...marks), total)));
    const choose = (label) => {
      if (round >= ROUNDS || waiting) return;
      const s = inputs[round];
      points.you.push(label === labels[round] ? 1 : 0);
      points.sum.push(sum(s) > 0 ? 1 : sum(s) < 0 ? 0 : 0.5);
      round += 1;
      waiting = true;
      answers.classList.add("pa-waiting");
      draw();
      setTimeout(() => {
        waiting = false;
        answers.classList.remove("pa-waiting");
        shown = Math.min(round, ROUNDS - 1);
        if (round === ROUNDS) learning.then(() => over());
        else draw();
      }, WAIT);
    };
    const answers = h("div", { class: "pa-guess" }, h("p", {}, h("strong", {}, "Guess. "), "What does this input say?"),
      h("div", { class: "pa-tools" }, ...[["+", 1, "plus"], ["−", -1, "minus"]].map(([sign, label, words]) => h("button", { type: "button", class: "pa-sign", "aria-label": words, onclick: () => choose(label) }, sign))));

    // After the game: many inputs leave a trace of the sets, and then its own ten are seen sorted by them.
    const [MANY, GROW] = [3000, 60]; // inputs in all, and in how many steps they come
    const seen = drawInputs(sets, q, MANY, uniform(53)); // of either label: a product of two voices does not depend on it
    const inputsAt = (k) => Math.round(10 * (MANY / 10) ** (k / GROW));
    const traces = new Map();
    /** After each step, how often each tile said the same as a given one, less how often the opposite: (GROW + 1, D) shares. */
    const traceOf = (one) => {
      if (!traces.has(one)) {
        const [counts, found] = [new Array(D).fill(0), []];
        for (let k = 0, n = 0; k <= GROW; k++) {
          for (; n < inputsAt(k); n++) for (let j = 0; j < D; j++) counts[j] += seen[n][one] * seen[n][j];
          found.push(counts.map((count) => count / n));
        }
        traces.set(one, found);
      }
      return traces.get(one);
    };
    const best = (found) => found.map((v, k) => [v, k]).filter(([, k]) => k !== chosen).sort(([a], [b]) => b - a).slice(0, C - 1).map(([, k]) => k);
    const time = player({ label: "inputs seen, then your ten rounds", seconds: 9, words: "Show", hold: { at: GROW, seconds: 1.8 }, show: (k) => (k <= GROW ? thousands(inputsAt(k)) : `round ${k - GROW}`), onstep: () => { if (open) draw(); } }); // after the trace a step for each round
    const again = h("button", { type: "button", onclick: () => {
      time.stop();
      if (round === ROUNDS) [round] = [0, deal()];
      turn(false);
      draw();
      answers.querySelector("button").focus({ preventScroll: true });
    } });
    const turn = (to) => { // from the game to what is seen after it, and back
      open = to;
      answers.hidden = open;
      time.element.hidden = again.parentElement.hidden = !open;
      for (const tile of tiles) tile.disabled = !open;
    };
    const trace = () => { time.stop(); time.go(0); time.play(GROW); };
    function over(until) {
      points.model = inputs.slice(0, round).map((s) => 1 - run.gradients([s]).error);
      turn(true);
      again.textContent = round === ROUNDS ? "Ten new rounds" : round ? "Back to the game" : "Play the game";
      tiles[chosen].tabIndex = 0;
      time.fit(GROW + round, 0);
      time.element.querySelector("button").focus({ preventScroll: true });
      // To an input that only the sets decide.
      time.play(until ?? GROW + 1 + Math.max(0, points.model.findIndex((got, k) => got === 1 && points.sum[k] < 1)));
    }
    reach.network = { trace: () => (open ? trace() : learning.then(() => over(GROW))) };
    board.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: SIDE, ArrowUp: -SIDE }[event.key];
      const from = tiles.indexOf(event.target);
      if (!move || from < 0) return;
      event.preventDefault();
      const to = tiles[(from + move + D) % D];
      [tiles[from].tabIndex, to.tabIndex] = [-1, 0];
      to.focus();
    });
    /** Where each tile lies: at its place, or with its set, three columns of sets of two by two. */
    const rank = sets.map((set, k) => sets.slice(0, k).filter((other) => other === set).length);
    const home = (k) => [Math.floor(k / SIDE) + 0.2, (k % SIDE) + 0.2];
    const gathered = (k) => [[Math.floor(sets[k] / 3), Math.floor(rank[k] / 2)], [sets[k] % 3, rank[k] % 2]].map(([set, own]) => 0.04 + 2.16 * set + own);
    function draw() {
      const many = open && time.step <= GROW; // the trace
      if (open) shown = Math.max(0, time.step - GROW - 1);
      else shown = waiting ? round - 1 : Math.min(round, ROUNDS - 1);
      const [s, label] = [inputs[shown], labels[shown]];
      const n = inputsAt(time.step);
      const found = many ? traceOf(chosen)[time.step] : [];
      const likely = many ? best(found) : [];
      const most = Math.max(0.14, ...likely.map((k) => found[k]));
      const signal = open && !many ? sets.find((set) => s.every((v, k) => sets[k] !== set || v === 1)) : -1;
      tiles.forEach((tile, k) => {
        const v = many ? 0 : s[k] * label;
        const [r, c] = open && !many ? gathered(k) : home(k);
        const sign = v > 0 ? "+" : v < 0 ? "−" : "";
        if (tile.textContent !== sign) tile.textContent = sign;
        tile.className = `pa-tile ${v > 0 ? "pa-plus" : v < 0 ? "pa-minus" : ""}` + (many ? `${k === chosen ? " pa-chosen" : ""}${likely.includes(k) ? ` pa-likely${sets[k] === sets[chosen] ? " pa-true" : ""}` : ""}`
          : open ? ` pa-found pa-set-${LETTERS[sets[k]]}${sets[k] === signal ? " pa-loud" : " pa-faint"}` : waiting && v !== label ? " pa-hushed" : "");
        tile.style.transform = `translate(${100 * c}%, ${100 * r}%)`;
        tile.style.setProperty("--pa-bar", many && k !== chosen ? clamp(found[k] / most).toFixed(3) : 0);
        tile.setAttribute("aria-label", `row ${Math.floor(k / SIDE) + 1}, column ${(k % SIDE) + 1}: ${many ? (k === chosen ? "chosen" : `agreement ${percent(found[k])}`) : v > 0 ? "plus" : v < 0 ? "minus" : "nothing"}`);
      });
      board.setAttribute("aria-label", many ? "Thirty-six tiles; choose one" : `Row by row: ${Array.from(s, (v) => (v * label > 0 ? "plus" : v * label < 0 ? "minus" : "nothing")).join(", ")}`);
      for (const { who, marks, total } of rows) {
        const got = who === "model" && !open ? [] : points[who];
        marks.forEach((mark, k) => (mark.className = k >= got.length ? "" : got[k] === 1 ? "pa-hit" : got[k] === 0 ? "pa-miss" : "pa-half"));
        marks.forEach((mark, k) => mark.classList.toggle("pa-here", open && !many && k === shown));
        total.textContent = got.length ? number(got.reduce((a, b) => a + b, 0)) : "";
      }
      table.setAttribute("aria-label", rows.map(({ who, words }) => `${words}: ${points[who].length ? number(points[who].reduce((a, b) => a + b, 0)) : "not yet known"}`).join("; "));
      const total = (who) => number(points[who].reduce((a, b) => a + b, 0));
      const score = points.you.length === ROUNDS ? `You got ${total("you")} of ${ROUNDS}, the sum ${total("sum")}, the model ${total("model")}. ` : "";
      const heard = many && time.step === GROW ? bestCompanions(run.A, D, C)[chosen] : [];
      tiles.forEach((tile, k) => tile.classList.toggle("pa-listened", heard.includes(k)));
      const right = likely.filter((k) => sets[k] === sets[chosen]).length;
      if (many) say(`${score}How could anybody know the sets? The bars count how often a tile says the same as the ringed one, less how often the opposite, over ${thousands(n)} inputs. ${right === C - 1 ? `The three highest are its companions.${heard.length ? " Dots: the three that it listens to most in the model, which has only tried to make fewer errors." : ""}` : `Of the three highest ${right || "none"} ${right > 1 ? "are companions" : "is a companion"}.`}`);
      else if (open) say(`${score}Your inputs once more, sorted by the sets: in round ${shown + 1} one set of four says ${label > 0 ? "plus" : "minus"} with one voice.`);
      else if (!round) say(`The ${D} tiles form hidden sets of ${C}. In each input all ${C} of one set give the answer; all others speak at random, or not at all.`);
      else say(`Round ${round} of ${ROUNDS}: the answer was ${labels[round - 1] > 0 ? "plus" : "minus"}, and you were ${points.you.at(-1) ? "right" : "wrong"}.`);
    }
    stage.append(columns([board], answers, time.element, table, h("div", { class: "pa-tools" }, again), sentence));
    turn(false);
    return { fields: [], bare: true, show: draw, room: 400, outside: { learned: () => learning.then(() => ({ A: Array.from(run.A), alpha: run.alpha, points })), inputs: () => inputs.map((s) => Array.from(s)), labels: () => labels, sets: () => sets,
      trace: () => ({ chosen, seen: seen.map((s) => Array.from(s)), bars: traceOf(chosen)[GROW] }) } };
  });

  // ---- counting drowns -----------------------------------------------------------------------------------------

  mount("drowns", ({ stage, say, sentence }) => {
    const { C, q, least, most, curves, listening, boundary } = essay.counting;
    const sizes = Array.from({ length: (most - least) / C + 1 }, (_, k) => least + C * k);
    const earlier = [16, 32, 64, 128]; // of which the bells stay as outlines
    const sums = bell("The chances of each sum of all patches: a bell around four that widens as patches are added; what lies below zero is wrong", [0.23], small.matches ? 420 : 470);
    const errors = chart({ title: "The error of adding up", xlabel: "random voices", height: small.matches ? 140 : 215 });
    let [D, reached] = [least, 0];
    const voicesOf = (D) => q * (D - C);
    function draw() {
      sums.draw({ D, C, q, before: earlier.filter((n) => n < 0.8 * D), named: (size) => `${number(voicesOf(size))} voices` });
      const voices = voicesOf(D);
      const error = countingError(D, C, q);
      const done = reached >= most;
      const one = (points, look, name, above) => ({ xs: points.map(([x]) => x * C ** 2), y: points.map(([x, y]) => (look.startsWith("pa-signal") || x * C ** 2 <= q * (reached - C) + 1e-9 ? y : NaN)), look, name, above });
      errors.draw({ x: [0, 60], range: [0, 0.36], format: percent, levels: [{ y: 0.125, name: "one in eight" }], marks: done ? [{ x: boundary * C ** 2 }] : [], spots: [{ x: voices, y: error, look: "pa-label" }, { x: voices, y: listeningError(D, C, q), look: "pa-same" }],
        curves: [one(curves[4], "pa-label", "adding up", 0.33), ...(done ? [one(curves[16], "pa-signal pa-upon", "dots: sets of 16", 0.2)] : []), one(listening, "pa-same", "listening to each set", 0.045)] });
      say(`${done ? asked.tell() : ""}${number(voices)} random voices stand against the ${C} of the set (${D} patches in all): the sum is wrong on ${percent(error)} of inputs, listening to each set on ${percent(listeningError(D, C, q))}.` +
        (done ? ` One in eight is lost near ${number(boundary * C ** 2)} voices (dotted), three quarters of ${C} squared; with sets of 16 near three quarters of 16 squared (dots, voices divided by 16).` : ""));
    }
    const time = player({ label: "random voices, on average", seconds: 6, words: "Add voices", hold: { at: sizes.findIndex((size) => countingError(size, C, q) >= 0.125), seconds: 2 }, show: (k) => number(voicesOf(sizes[k])), onstep: (k) => { D = sizes[k]; reached = Math.max(reached, D); draw(); } });
    const asked = guess({ question: "Four patches speak for the label. About how many random ones must there be until adding up fails one time in eight?", options: ["4", "8", "12", "16"], right: 2, then: () => time.play() });
    stage.append(columns([sums.svg], asked.element, time.element, errors.element, sentence));
    return { fields: [], bare: true, show: () => time.fit(sizes.length - 1, 0), room: 310, outside: { now: () => [D, countingError(D, C, q), listeningError(D, C, q)] } };
  });

  // ---- draw your own sets --------------------------------------------------------------------------------------

  mount("own", ({ stage, say, sentence }) => {
    const [SIDE, C, D, STEPS, BATCH, Q] = [6, 4, 36, 150, 512, 0.3];
    const LETTERS = "ABCDEFGHI";
    // The sets' own colors, strong enough for lines on their tints; in the dark it is the other way round.
    const TINTS = ["#a9d5f2", "#f3b9a6", "#c3c5f7", "#e8d59a", "#edb3e2", "#b5d9a0", "#d2d6db", "#9fe0d3", "#f5c6d3"];
    const STRONG = ["#1f6fa8", "#b5492b", "#5a5fc7", "#8a6a0c", "#a93a99", "#467a26", "#5b636d", "#157a6a", "#b8496b"];
    const blocks = Array.from({ length: D }, (_, k) => LETTERS[3 * Math.floor(Math.floor(k / SIDE) / 2) + Math.floor((k % SIDE) / 2)]);
    let [sets, run, kept, picked, at, waiting, ground] = [blocks, null, [], -1, 0, true, []];
    let [ahead, known] = [null, false]; // the second training of a guess, computed while the first is shown; whether both are done
    let [before, queued, called] = [null, null, "blocks"]; // the last training, the sets that come after these, the name of these
    const cells = Array.from({ length: D }, (_, k) => h("button", { type: "button", class: "pa-cell", tabindex: k ? -1 : 0, onkeydown: (event) => walkTo(event, k), onclick: (event) => { if (event.detail === 0) pick(k); } }));
    let hovered = -1; // the patch under the pointer: its strings alone
    function string(context, color, best, sets, ground, only = -1) {
      const [inside, others] = color("paper") < "#8" ? [TINTS, "#dce1e6"] : [STRONG, "#1f2328"];
      context.lineCap = "round";
      for (let i = 0; i < D; i++)
        for (const j of best[i]) {
          const own = sets[i] === sets[j];
          context.strokeStyle = own ? inside[LETTERS.indexOf(sets[i])] : others;
          if (only >= 0 && only !== i) context.globalAlpha = 0.05;
          else context.globalAlpha = only === i ? 1 : !own ? (ground.length ? 0.06 : 0.22) : ground.includes(i) ? 0.12 : 0.9; // a letter is to be read
          context.lineWidth = own ? 0.075 : 0.03;
          context.beginPath();
          const [x, y, u, v] = [i % SIDE, Math.floor(i / SIDE), j % SIDE, Math.floor(j / SIDE)].map((at) => at + 0.5);
          const bend = ground.length ? 0.07 : 0; // of a letter several lie on one line
          context.moveTo(x, y);
          context.quadraticCurveTo((x + u) / 2 + bend * (v - y), (y + v) / 2 - bend * (u - x), u, v);
          context.stroke();
        }
    }
    const strings = easel(SIDE, SIDE, "Strings from each patch to the three that it listens to most", (context, color) => {
      if (kept.length) string(context, color, kept[Math.min(at, kept.length - 1)].best, sets, ground, hovered);
    });
    // What was trained before stays beside, small.
    const earlier = easel(SIDE, SIDE, "The sets that were trained before, with their strings at the end", (context, color) => {
      if (!before) return;
      before.sets.forEach((set, k) => {
        context.globalAlpha = before.ground.includes(k) ? 0.08 : 0.35;
        context.fillStyle = STRONG[LETTERS.indexOf(set)];
        context.fillRect((k % SIDE) + 0.05, Math.floor(k / SIDE) + 0.05, 0.9, 0.9);
      });
      string(context, color, before.best, before.sets, before.ground);
      context.globalAlpha = 1;
    });
    const former = h("figcaption", {}, "");
    const shelf = h("figure", { class: "pa-chart pa-small" }, former, earlier.canvas);
    const board = h("div", { class: "pa-own", role: "group", "aria-label": "Thirty-six patches in nine sets; choose two to exchange them" }, ...cells, strings.canvas);
    exchanger(board, SIDE, { pick: (k) => pick(k), swap: (a, b) => swap(a, b), mark: (from, to) => mark(from, to) });
    const point = (k) => { if (k !== hovered) { hovered = k; strings.paint(); } };
    board.addEventListener("pointermove", ({ pointerType, buttons, target }) => point(pointerType === "mouse" && !buttons ? cells.indexOf(target) : -1));
    board.addEventListener("pointerleave", () => point(-1));
    const mark = (from = -1, to = -1) => cells.forEach((cell, k) => { cell.classList.toggle("pa-picked", k === from || k === picked); cell.classList.toggle("pa-under", k === to && to !== from); });
    function pick(k) {
      if (picked < 0 || picked === k) picked = picked === k ? -1 : k;
      else return swap(picked, k);
      paint();
    }
    function swap(a, b) {
      const next = sets.slice();
      [next[a], next[b]] = [next[b], next[a]];
      begin(next, { away: ground });
    }
    function walkTo(event, k) {
      const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: SIDE, ArrowUp: -SIDE }[event.key];
      if (!move) return;
      event.preventDefault();
      cells[k].tabIndex = -1;
      const to = cells[(k + move + D) % D];
      to.tabIndex = 0;
      to.focus();
    }
    // Letters from A to Z on the board, a bit a patch, row by row: nine digits of sixteen each.
    const FONT = "31287f861 fa1fa187e 7a182085e f228618bc fe0fa083f fe0fa0820 7a09e185e 861fe1861 78c30c31e 3c208289c 8a4e248a1 82082083f 873b61861 871a658e1 7a186185e fa187e820 7a186589d fa187e8a1 7e078107e fcc30c30c 86186185e 86185248c 86186dce1 85230c4a1 85230c30c fc210843f".split(" ");
    /** Sets in their order on the patches of a letter, then on all others, and which these are. */
    function write(letter) {
      const drawn = FONT[letter.charCodeAt(0) - 65];
      if (letter.length !== 1 || !drawn) return null;
      const bits = [...drawn].flatMap((digit) => [8, 4, 2, 1].map((bit) => Boolean(parseInt(digit, 16) & bit)));
      const order = Array.from({ length: D }, (_, k) => k).sort((a, b) => bits[b] - bits[a] || a - b);
      const next = new Array(D);
      const apart = (a, b) => Math.hypot(Math.floor(a / SIDE) - Math.floor(b / SIDE), (a % SIDE) - (b % SIDE));
      for (let n = 1, inked = bits.filter(Boolean).length; n < D; n++) { // along the strokes, so that sets lie on them
        const near = order.slice(n, n < inked ? inked : D).reduce((best, k) => (apart(k, order[n - 1]) < apart(best, order[n - 1]) ? k : best));
        order.splice(order.indexOf(near), 1);
        order.splice(n, 0, near);
      }
      const inked = bits.filter(Boolean).length;
      const spread = (n) => order.slice(C * Math.floor(n / C), C * Math.floor(n / C) + C).reduce((sum, k) => sum + apart(k, order[n]), 0);
      for (let better = true; better; ) { // exchanges that bring sets together
        better = false;
        for (let m = 0; m < D; m++)
          for (let n = m + 1; n < (m < inked ? inked : D); n++) {
            const before = spread(m) + spread(n);
            [order[m], order[n]] = [order[n], order[m]];
            if (spread(m) + spread(n) < before - 1e-9) better = true;
            else [order[m], order[n]] = [order[n], order[m]];
          }
      }
      order.forEach((k, n) => (next[k] = LETTERS[Math.floor(n / C)]));
      return [next, order.filter((k) => !bits[k])];
    }
    const corners = Array.from({ length: D }, (_, k) => [Math.floor(k / SIDE), k % SIDE].map((at) => Math.min(at, SIDE - 1 - at))).map(([r, c]) => LETTERS[3 * r + c]);
    const scattered = () => {
      const random = uniform(7);
      const next = Array.from({ length: D }, (_, k) => LETTERS[Math.floor(k / C)]);
      for (let k = D - 1; k > 0; k--) { const other = Math.floor(random() * (k + 1)); [next[k], next[other]] = [next[other], next[k]]; }
      return next;
    };
    const initial = h("input", { type: "text", maxlength: 4, size: 2, autocomplete: "off", "aria-label": "Your initial", oninput: () => {
      const letter = initial.value.trim().normalize("NFD").replace(/[^A-Za-z]/g, "").slice(-1).toUpperCase();
      const written = letter && write(letter);
      if (!written && initial.value.trim()) say("The letters that can be drawn on six by six patches are those from A to Z.");
      if (written) begin(written[0], { away: written[1], name: `the letter ${letter}` });
    } });
    const found = chart({ title: "Strings inside a set", xlabel: "step, log scale", height: 150 });
    const times = Array.from({ length: 51 }, (_, k) => (k === 0 ? 0 : Math.round(STEPS ** (k / 50)))); // steps on a log scale
    let busy = false; // the model trains, and what it found is being shown
    const untrained = () => {
      const fresh = waiting;
      if (fresh) begin(sets, { away: ground, name: called });
      return fresh || busy;
    };
    const time = player({ label: "step", seconds: 4, words: "Train", show: (k) => String(times[k]), before: untrained, onstep: (k) => { at = times[k]; paint(); } });
    const shares = () => kept.map(({ best }) => best.flat().filter((j, k) => sets[Math.floor(k / (C - 1))] === sets[j]).length / (D * (C - 1)));
    function paint() {
      cells.forEach((cell, k) => {
        cell.className = `pa-cell pa-set-${sets[k]}${ground.includes(k) ? " pa-away" : ""}`;
        cell.setAttribute("aria-label", `row ${Math.floor(k / SIDE) + 1}, column ${(k % SIDE) + 1}, set ${sets[k]}`);
        cell.setAttribute("aria-pressed", String(k === picked));
      });
      mark();
      strings.paint();
      const share = shares();
      const seen = Math.min(at, kept.length - 1);
      found.draw({ x: [0, 50], range: [0, 1], format: percent, ticks: [0, 23, 50], across: (k) => String(times[k]), curves: [...(before ? [{ y: before.share, look: "pa-noise", name: before.called, above: 0.28 }] : []), { y: times.map((t) => (t <= seen ? share[t] : NaN)), look: "pa-same", name: called, above: 0.1 }], at: time.step });
      shelf.classList.toggle("pa-empty", !before); // its place is kept
      former.textContent = before ? `Before: ${before.called}` : "";
      earlier.paint();
      const done = at >= STEPS && !queued;
      const told = done || known ? asked.tell() : "";
      say(waiting ? "Drag a patch onto another to exchange them, or write your initial. Then let the model find out." : at === 0 ? `${told}Before training every score is equal, and strings are drawn between any patches.`
        : `${told}After step ${at}, ${percent(share[seen])} of the strings join companions. The model saw ${thousands(at * BATCH)} inputs with their labels, and never the sets.${done && before ? ` All but one in twenty joined them ${[before, { called, share: times.map((t) => share[t]) }].map((one) => `${after(one.share)} with ${one.called}`).join(", ")}: the rest is the luck of the draw, for no distance occurs anywhere in the model.` : ""}`);
    }
    const after = (share) => (share.some((x) => x >= 0.95) ? `after step ${times[share.findIndex((x) => x >= 0.95)]}` : "never");
    let stop = () => {};
    /** A training that has not begun: each `go` is a step. Equal scores at first: whom a patch listens to most is drawn by lot. */
    function training(sets) {
      const [random, noise] = [uniform(1000003), uniform(3)];
      const run = new SampleDescent({ sets: sets.slice(), q: Q, diagonal: 1, rate: 0.005, score_rate: 0.005 * D ** 2 });
      const kept = [{ best: Array.from({ length: D }, (_, i) => Array.from({ length: D }, (_, j) => [noise(), j]).filter(([, j]) => j !== i).sort(([a], [b]) => a - b).slice(0, C - 1).map(([, j]) => j)) }];
      const go = () => {
        if (run.step >= STEPS) return;
        run.advance(drawInputs(run.sets, Q, BATCH, random));
        kept.push({ best: bestCompanions(run.A, D, C) });
      };
      return { sets, run, kept, go };
    }
    /** Train on these sets; `away` are the patches outside of a letter, which are drawn pale. */
    function begin(next, { quiet = false, away = [], then = null, name = "your sets" } = {}) {
      if (kept.length > STEPS) {
        const share = shares();
        before = { share: times.map((t) => share[t]), best: kept.at(-1).best, sets, ground, called };
      }
      [queued, called] = [then, name];
      [sets, picked, kept, waiting, at, ground] = [next, -1, [], quiet, 0, away];
      time.stop();
      const trained = ahead?.sets === next ? ahead : training(next);
      [run, kept] = [trained.run, trained.kept];
      if (!then && trained !== ahead) [ahead, known] = [null, false];
      const mine = run;
      time.fit(50, 0);
      stop();
      busy = !quiet;
      if (quiet) return;
      time.name("Training");
      if (then) [ahead, known] = [training(then.sets), false];
      const second = ahead;
      inFrames(say, () => run === mine || (second && second === ahead), (until) => {
        do trained.go(); while (trained.run.step < STEPS && performance.now() < until);
        if (trained.run.step < STEPS) return true;
        if (!second) return false;
        while (second.run.step < STEPS && performance.now() < until) second.go();
        if (second.run.step < STEPS) return true;
        if (!known) { known = true; paint(); } // the answer to a guess stands as soon as both are computed
        return false;
      }, still.matches ? Infinity : 9);
      // What is shown goes on a log scale, and waits for what is computed.
      let k = 0;
      stop = during(4.5, (t) => {
        if (run !== mine) return;
        while (k < 50 && k < 50 * t && times[k + 1] < kept.length) k += 1;
        time.go(k);
      }, () => { if (run === mine) finish(mine, k); });
    }
    const finish = (mine, k) => {
      if (run !== mine) return;
      if (k >= 50) {
        busy = false;
        time.name("Train again");
        if (queued) setTimeout(() => { if (run === mine && queued) begin(queued.sets, { name: queued.name }); }, still.matches ? 1500 : 900);
        return;
      }
      while (k < 50 && times[k + 1] < kept.length) k += 1;
      time.go(k);
      requestAnimationFrame(() => finish(mine, k));
    };
    const asked = guess({ question: "Which is hardest for the model: neat blocks, or patches scattered at random?", options: ["Blocks", "A scatter", "Neither"], right: 2, then: (k) => { // both, the guess first
      const both = [{ sets: blocks, name: "blocks" }, { sets: scattered(), name: "a scatter" }];
      const [first, then] = k === 0 ? both : both.toReversed();
      [before, kept, initial.value] = [null, [], ""];
      begin(first.sets, { name: first.name, then });
    } });
    stage.append(columns([board], asked.element, h("div", { class: "pa-tools" }, h("label", { class: "pa-initial" }, "Your initial ", initial), ...[["corners", corners], ["a scatter", scattered()]].map(([name, sets]) => h("button", { type: "button", onclick: () => begin(sets, { name }) }, name))), time.element, h("div", { class: "pa-pair" }, found.element, shelf), sentence));
    return { fields: [], bare: true, repaint: paint, show: () => begin(blocks, { quiet: true, name: "blocks" }), room: 300, outside: { sets: () => sets.join(""), association: () => run.association(), step: () => at } };
  });

  // ---- two valleys ---------------------------------------------------------------------------------------------

  mount("ball", ({ stage, say, sentence }) => {
    const [D, C, beta, RANGE, NODES, SIZE] = [12, 4, 1, 2.5, 25, 500];
    let [q, risk, ground, line, ball, stop, told] = [0.3, null, null, [], [0, 0], () => {}, false];
    let [start, levels, deepest] = [[0, 0], [], [-RANGE, -1]]; // where the ball lies, lines of equal depth, how high either side is deepest
    let ends = []; // who leads where the flow from each node ends
    let ways = []; // of the two values of q that a guess compares
    const X = (gamma) => ((gamma + RANGE) / (2 * RANGE)) * SIZE;
    const Y = (rho) => SIZE - ((rho + RANGE) / (2 * RANGE)) * SIZE;
    const relieved = h("canvas");
    const score = (k) => -RANGE + (2 * RANGE * k) / (NODES - 1);
    const colors = palette(stage, "same", "other", "paper");
    const plane = easel(SIZE + 60, SIZE + 56, "The plane of two scores, of stronger color where the least risk is lower, with the ball and its way", (context, color) => {
      context.translate(46, 8);
      context.save();
      context.beginPath();
      context.rect(0, 0, SIZE, SIZE);
      context.clip();
      context.imageSmoothingEnabled = true;
      context.imageSmoothingQuality = "high";
      context.drawImage(relieved, 0, 0, SIZE, SIZE);
      context.strokeStyle = color("ink");
      context.globalAlpha = 0.22;
      context.lineWidth = 1;
      context.beginPath();
      for (const [x, y, u, v] of levels) {
        context.moveTo(x * SIZE, y * SIZE);
        context.lineTo(u * SIZE, v * SIZE);
      }
      context.stroke();
      context.strokeStyle = color("noise");
      context.setLineDash([6, 6]);
      context.globalAlpha = 0.6;
      context.lineWidth = 1.3;
      context.beginPath();
      context.moveTo(X(-RANGE), Y(-RANGE));
      context.lineTo(X(RANGE), Y(RANGE));
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 1;
      context.fillStyle = color("ink");
      context.globalAlpha = 1;
      context.font = `${Math.max(15, (11 * (SIZE + 60) * Math.min(devicePixelRatio, 2)) / context.canvas.width)}px 'Book Sans', sans-serif`;
      context.textAlign = "right";
      context.strokeStyle = color("paper");
      context.lineWidth = 4;
      context.lineJoin = "round";
      const label = (words, x, y) => { context.strokeText(words, x, y); context.fillText(words, x, y); };
      // Beside the deepest place of either side, where the ball comes to rest, and not upon it.
      if (levels.length) label("companions listen to one another", SIZE - 10, clamp(Y(deepest[0]) - 26, 22, SIZE - 14));
      context.textAlign = "left";
      if (levels.length) label("everybody listens to strangers", 10, clamp(Y(deepest[1]) + 34, 22, SIZE - 14));
      context.globalAlpha = 1;
      const trail = (points, wide) => {
        context.lineWidth = wide;
        context.beginPath();
        points.forEach(({ gamma, rho }, k) => (k ? context.lineTo(X(gamma), Y(rho)) : context.moveTo(X(gamma), Y(rho))));
        context.stroke();
      };
      for (const other of ways) { // the way at another q, over ground that is not its own
        context.setLineDash([9, 6]);
        context.strokeStyle = color("signal");
        trail(other.line, 3);
        context.setLineDash([]);
        context.strokeStyle = color("paper");
        context.lineWidth = 4;
        const middle = other.line[other.line.length >> 1];
        label(`the way at q = ${number(other.q)}`, clamp(X(middle.gamma) + 10, 10, SIZE - 150), Y(middle.rho) - 8);
      }
      context.strokeStyle = color("signal");
      trail(line.slice(0, ball[2] ?? line.length), 4);
      context.restore();
      context.fillStyle = color("ink");
      const letters = Math.max(15, (11 * (SIZE + 60) * Math.min(devicePixelRatio, 2)) / context.canvas.width);
      context.font = `${letters}px 'Book Sans', sans-serif`;
      context.textAlign = "center";
      for (let v = -2; v <= 2; v++) {
        context.fillText(number(v), X(v), SIZE + 20);
        context.textAlign = "right";
        context.fillText(number(v), -8, Y(v) + 5);
        context.textAlign = "center";
      }
      context.fillText("γ, the score of companions", SIZE / 2, SIZE + 43);
      context.save();
      context.translate(-34, SIZE / 2);
      context.rotate(-Math.PI / 2);
      context.fillText("ρ, the score of strangers", 0, 0);
      context.restore();
      context.strokeStyle = color("line");
      context.lineWidth = 1;
      context.strokeRect(0, 0, SIZE, SIZE);
      const [x, y] = [X(ball[0]), Y(ball[1])];
      const shine = context.createRadialGradient(x - 4, y - 5, 1, x, y, 13);
      shine.addColorStop(0, "#fff");
      shine.addColorStop(0.35, color("signal"));
      shine.addColorStop(1, color("signal"));
      context.fillStyle = shine;
      context.beginPath();
      context.arc(x, y, 12, 0, 7);
      context.fill();
      context.lineWidth = 2;
      context.strokeStyle = color("paper");
      context.stroke();
    }, { tabindex: 0, class: "pa-thrown", role: "application" });
    const attention = easel(D, D, "Who listens to whom at the ball: a block for each set, or the opposite", (context, color) => {
      const [gamma, rho] = ball;
      const e = [beta, gamma, rho].map(Math.exp);
      const sum = e[0] + (C - 1) * e[1] + (D - C) * e[2];
      const names = ["ink", "same", "other"];
      for (let i = 0; i < D; i++)
        for (let j = 0; j < D; j++) {
          const who = i === j ? 0 : Math.floor(i / C) === Math.floor(j / C) ? 1 : 2;
          context.fillStyle = color(names[who]);
          context.globalAlpha = clamp((2.6 * e[who]) / sum);
          context.fillRect(j + 0.04, i + 0.04, 0.92, 0.92);
        }
      context.globalAlpha = 1;
    });
    function shade() {
      const mine = (ground = new Array(NODES * NODES).fill(null));
      risk = new PopulationRisk({ D, C, q });
      push();
      let k = 0;
      inFrames(say, () => ground === mine, (until) => {
        for (; k < NODES * NODES && performance.now() < until; k++) mine[k] = velocity(risk, beta, score(k % NODES), -score(Math.floor(k / NODES)));
        if (k < NODES * NODES) return true;
        const depth = mine.map(({ loss }) => Math.log(loss));
        const high = (n) => -score(Math.floor(n / NODES));
        deepest = [1, -1].map((side) => high(depth.reduce((best, deep, n) => (side * (score(n % NODES) - high(n)) > 0.2 && (best < 0 || deep < depth[best]) ? n : best), -1)));
        const upward = (rows) => Array.from({ length: NODES }, (_, row) => rows.slice((NODES - 1 - row) * NODES, (NODES - row) * NODES)).flat();
        ends = basins(upward(mine), NODES, (2 * RANGE) / (NODES - 1));
        relief(relieved, upward(depth), ends, NODES, colors());
        levels = contours(finer(depth, NODES), 2 * NODES - 1, 13);
        plane.paint();
        return false;
      }, 7);
    }
    const way = (gamma, rho) => downhill(risk, beta, { gamma, rho }, { longest: 0.02, most: 500, range: RANGE - 0.1 });
    const tug = h("svg:svg", { role: "img", viewBox: "0 0 220 142", "aria-label": "How inputs push where all scores are equal: those that the count gets right, and those that it gets wrong" });
    const put = shapes(tug);
    /** What inputs with a right, an even and a wrong count add to the speed of companions' scores, less that of strangers'. */
    function pushes(gamma, rho) {
      risk.at(velocity(risk, beta, gamma, rho).alpha, beta, gamma, rho);
      const { law, slope, weightBy } = risk;
      return [1, 0, -1].map((side) => {
        const sums = law.columns.map((column) => column.reduce((sum, x, n) => sum + (Math.sign(law.votes[n]) === side ? slope[n] * x : 0), 0));
        const [byGamma, byRho] = [1, 2].map((score) => weightBy[score].reduce((sum, x, m) => sum + x * sums[m], 0));
        return byRho / (D * (D - C)) - byGamma / (D * (C - 1));
      });
    }
    function push() {
      const found = pushes(0, 0);
      found.push(found.reduce((a, b) => a + b, 0));
      const most = Math.max(...found.map(Math.abs), 1e-300);
      const rows = ["whose count is right", "whose count is even", "whose count is wrong", "all together"].flatMap((words, k) => {
        const wide = (found[k] / most) * 96;
        return [["text", { x: 110, y: 34 + 29 * k, "text-anchor": "middle", class: "pa-quiet-word" }, words],
          ["line", { class: "pa-axis", x1: 110, x2: 110, y1: 36 + 29 * k, y2: 51 + 29 * k }], ["rect", { class: wide > 0 ? "pa-same" : "pa-other", x: Math.min(110, 110 + wide), width: Math.max(1, Math.abs(wide)), y: 38 + 29 * k, height: 11 }]];
      });
      put([["text", { x: 4, y: 14, class: "pa-other" }, "← strangers"], ["text", { x: 216, y: 14, "text-anchor": "end", class: "pa-same" }, "companions →"], ...rows]);
    }
    function roll(then = () => {}) {
      stop();
      line = way(...start);
      say(`The ball rolls downhill from γ = ${number(start[0], 2)}, ρ = ${number(start[1], 2)}, at q = ${number(q)}.`);
      const last = line.length - 1;
      stop = during(2, (t) => {
        const k = Math.round(last * t * t * (3 - 2 * t));
        ball = [line[k].gamma, line[k].rho, k + 1];
        plane.paint();
        attention.paint();
      }, () => { tell(); then(); });
    }
    function tell() {
      const end = line.at(-1);
      const whose = Math.abs(end.gamma - end.rho) < 0.2 ? null : end.gamma > end.rho ? "companions" : "strangers";
      const other = ways[0];
      if (told && other) {
        const end = other.line.at(-1);
        return say(`${asked.tell()}At q = ${number(other.q)} it rolled into the valley of ${end.gamma > end.rho ? "companions" : "strangers"}, and the error went from ${percent(other.line[0].error)} to ${percent(end.error)}; at q = ${number(q)} into that of ${whose}, from ${percent(line[0].error)} to ${percent(line.at(-1).error)}, by looking away from its own set.`);
      }
      say(`${told ? asked.tell() : ""}At q = ${number(q)} the ball rolls ${whose ? `into the valley of ${whose}` : "along the line of equal scores"}: attention ${whose === "companions" ? "finds the sets" : whose ? "looks away from its own set" : "stays even"}, and the error ${percent(line[0].error) === percent(end.error) ? `stays near ${percent(end.error)}` : `goes from ${percent(line[0].error)} to ${percent(end.error)}`}.`);
    }
    const time = player({ label: "q, how many patches speak at random", seconds: 0.01, words: "Roll", show: (k) => (0.05 * (k + 1)).toFixed(2), onstep: (k) => {
      const next = Number((0.05 * (k + 1)).toFixed(2));
      if (next === q && risk) return;
      q = next;
      shade();
      set(...start);
    } });
    const button = time.element.querySelector("button");
    button.replaceWith(h("button", { type: "button", class: "pa-play", onclick: () => { alone(); roll(); } }, "Roll"));
    /** What the reader moves is told by itself, without the ways that a guess compared. */
    const alone = () => { asked.tell(); [ways, told] = [[], false]; };
    time.element.addEventListener("input", alone, true);
    function set(gamma, rho) {
      stop();
      const edge = RANGE - 0.11; // where a way ends
      start = [gamma, rho].map((x) => Number(clamp(x, -edge, edge).toFixed(2)) + 0);
      [line, ball] = [[], [...start, 0]];
      plane.paint();
      attention.paint();
      say(`The ball lies at γ = ${number(start[0], 2)}, ρ = ${number(start[1], 2)}, and q = ${number(q)}. From blue ground it rolls to companions, from orange to strangers; the stronger the color, the lower the ground. Put the ball anywhere, throw it, or let it roll.`);
    }
    const place = (event) => {
      const box = plane.canvas.getBoundingClientRect();
      const unit = (SIZE + 60) / box.width;
      alone();
      set((((event.clientX - box.left) * unit - 46) / SIZE) * 2 * RANGE - RANGE, RANGE - (((event.clientY - box.top) * unit - 8) / SIZE) * 2 * RANGE);
    };
    let held = false; // a thumb that scrolls holds nothing
    let track = []; // where it was held, and when
    const follow = (event) => { place(event); track = [...track.slice(-5), [...start, event.timeStamp]]; };
    /** It flies on as it was thrown, comes to rest, and rolls downhill from there. */
    function fly() {
      const [from, to] = [track[0], track.at(-1)];
      const aim = [0, 1].map((side) => clamp(to?.[side] + (0.25 * (to?.[side] - from?.[side])) / Math.max(0.016, (to?.[2] - from?.[2]) / 1000), -RANGE, RANGE));
      if (still.matches || !(Math.hypot(aim[0] - start[0], aim[1] - start[1]) > 0.1)) return roll();
      const begun = start;
      stop();
      stop = during(0.45, (t) => { ball = [...[0, 1].map((side) => mix(begun[side], aim[side], 1 - (1 - t) ** 3)), 0]; plane.paint(); attention.paint(); }, () => { set(...aim); roll(); });
    }
    plane.canvas.addEventListener("touchstart", (event) => { // who takes the ball does not scroll
      const [{ left, top, width }, { clientX, clientY }] = [plane.canvas.getBoundingClientRect(), event.touches[0]];
      const unit = width / (SIZE + 60);
      if (Math.hypot(clientX - left - (X(ball[0]) + 46) * unit, clientY - top - (Y(ball[1]) + 8) * unit) < 30) event.preventDefault();
    }, { passive: false });
    plane.canvas.addEventListener("pointerdown", (event) => { [held, track] = [true, []]; plane.canvas.setPointerCapture(event.pointerId); if (event.pointerType !== "touch") follow(event); });
    plane.canvas.addEventListener("pointermove", (event) => { if (held) follow(event); });
    plane.canvas.addEventListener("pointerup", (event) => {
      if (!held) return;
      held = false;
      track = track.filter(([, , then]) => event.timeStamp - then < 120); // one that was held still is not thrown
      place(event);
      fly();
    });
    plane.canvas.addEventListener("pointercancel", () => { held = false; });
    plane.canvas.addEventListener("keydown", (event) => {
      const move = { ArrowRight: [0.25, 0], ArrowLeft: [-0.25, 0], ArrowUp: [0, 0.25], ArrowDown: [0, -0.25] }[event.key];
      if (event.key === "Enter" || move) alone();
      if (event.key === "Enter") roll();
      if (!move) return;
      event.preventDefault();
      set(start[0] + move[0], start[1] + move[1]);
    });
    const rolls = (step) => () => { alone(); start = [0, 0]; time.go(step); roll(); };
    reach.ball = { few: rolls(5), many: rolls(17) };
    const asked = guess({ question: "The ball starts where all scores are equal. Into which valley does it roll?", options: ["Depends on q", "Companions’", "Strangers’"], right: 0, then: () => {
      [start, ways] = [[0, 0], []];
      time.go(5);
      roll(() => setTimeout(() => { [told, start, ways] = [true, [0, 0], [{ q, line }]]; time.go(17); roll(); }, still.matches ? 0 : 700));
    } });
    stage.append(columns([plane.canvas], asked.element, time.element,
      h("div", { class: "pa-pair" }, h("figure", { class: "pa-chart" }, h("figcaption", {}, "At equal scores, inputs push"), tug), h("figure", { class: "pa-chart" }, h("figcaption", {}, "Who listens"), attention.canvas)), sentence));
    return { fields: [], bare: true, repaint: () => { shade(); plane.paint(); attention.paint(); }, show: () => time.fit(17, 5), room: 255, outside: { way, at: (gamma, rho) => velocity(risk, beta, gamma, rho), setting: () => ({ D, C, q, beta }), ball: () => ball, started: () => start, pushes, ground: () => ends } };
  });

  // ---- known, then forgotten -----------------------------------------------------------------------------------

  mount("forgotten", ({ stage, say, sentence }) => {
    const { runs, every, steps, q } = essay.forgotten;
    const last = steps / every;
    const times = [...new Set(Array.from({ length: 61 }, (_, k) => Math.round(last * (k / 60) ** 2)))]; // slower where more happens
    const sizes = Object.keys(runs).sort((a, b) => a - b);
    // A diary of light: a lamp for each network, and after it a flame, as thick as the worst companion is ahead of the best stranger.
    const thickest = Math.max(...sizes.flatMap((n) => runs[n].margin.flat()));
    const [WIDE, STEP, HEAD, LEFT] = [small.matches ? 360 : 600, small.matches ? 11 : 20, small.matches ? 28 : 32, 38];
    const high = sizes.length * (10 * STEP + HEAD) + 26;
    const TICKS = [0, 5, 15, last]; // records that are named on the axis
    const across = (t) => LEFT + (WIDE - LEFT - 14) * Math.sqrt(t / last); // early steps have more room
    let [at, reached] = [0, 0];
    const count = (n, t = at) => runs[n].margin[t].filter((margin) => margin > 0).length;
    const diary = easel(WIDE, high, "For each of three sizes of the sample ten lamps, and when each was lit", (context, color) => {
      const word = (text, x, y, align, weight = 400) => {
        context.font = `${weight} 14px 'Book Sans', sans-serif`;
        [context.fillStyle, context.textAlign] = [color("ink"), align];
        context.fillText(text, x, y);
      };
      context.lineCap = "butt";
      sizes.toReversed().forEach((n, row) => { // the sample that the guess is about stands first
        const top = row * (10 * STEP + HEAD) + HEAD;
        word(`${thousands(Number(n))} inputs`, 4, top - 9, "left", 600);
        word(at ? `${count(n)} of ${runs[n].margin[0].length} know all sets` : "", WIDE - 14, top - 9, "right", 600);
        for (let s = 0; s < 10; s++) {
          const y = top + (s + 0.5) * STEP;
          [context.strokeStyle, context.lineWidth] = [color("line"), 1];
          context.beginPath();
          context.moveTo(across(0), y);
          context.lineTo(across(last), y);
          context.stroke();
          const thick = (t) => (Math.max(0, runs[n].margin[t][s]) / thickest) * (STEP / 2 - 1);
          const flame = (until, look) => {
            const edge = [[0, 0]]; // up to the moment at which it sinks through zero, on a straight line between two records
            for (let t = 1; t <= until; t++) {
              const [a, b] = [runs[n].margin[t - 1][s], runs[n].margin[t][s]];
              if (a > 0 !== b > 0) edge.push([t - 1 + a / (a - b), 0]);
              edge.push([t, thick(t)]);
            }
            context.fillStyle = look;
            context.beginPath();
            for (const [t, wide] of edge) context.lineTo(across(t), y - wide);
            for (const [t, wide] of edge.reverse()) context.lineTo(across(t), y + wide);
            context.fill();
          };
          flame(reached, "rgba(240, 174, 18, 0.4)");
          flame(at, "#f0ae12");
          const on = runs[n].margin[at][s] > 0;
          if (on) {
            const glow = context.createRadialGradient(14, y, 2, 14, y, STEP / 2 + 2);
            glow.addColorStop(0, "rgba(255, 190, 30, 0.9)");
            glow.addColorStop(1, "rgba(255, 190, 30, 0)");
            context.fillStyle = glow;
            context.fillRect(2, y - STEP / 2 - 2, 24, STEP + 4);
          }
          context.beginPath();
          context.arc(14, y, STEP / 2 - 2, 0, 7);
          context.fillStyle = on ? "#ffc933" : color("paper");
          [context.strokeStyle, context.lineWidth] = [on ? "#e0a100" : color("line"), 1.5];
          context.fill();
          context.stroke();
        }
      });
      [context.strokeStyle, context.lineWidth] = [color("noise"), 1];
      context.beginPath();
      sizes.forEach((_, row) => { // now
        context.moveTo(across(at), row * (10 * STEP + HEAD) + HEAD);
        context.lineTo(across(at), (row + 1) * (10 * STEP + HEAD));
      });
      context.stroke();
      for (const t of TICKS) word(`${t ? "" : "step "}${thousands(t * every)}`, across(t), high - 6, t === last ? "right" : "center");
    });
    const errors = chart({ title: "Their error on new inputs", xlabel: "step", height: small.matches ? 130 : 230 });
    const LOOKS = ["pa-noise", "pa-noise", "pa-label"];
    function go(k) {
      [at, reached] = [k, Math.max(reached, k)];
      diary.paint();
      errors.draw({ x: [0, Math.sqrt(last)], range: [0, 0.016], format: (y) => `${number(100 * y)}%`, at: Math.sqrt(at), ticks: TICKS.map(Math.sqrt), across: (x) => thousands(Math.round(x * x) * every),
        curves: sizes.map((n, k) => ({ y: runs[n].error.map((e, t) => (t > 0 && t <= reached ? e : NaN)), look: LOOKS[k], xs: runs[n].error.map((_, t) => Math.sqrt(t)), name: thousands(Number(n)) })) });
      const n = sizes.at(-1);
      say(at === 0 ? `Each lamp is a network of its own, on its own sample at q = ${number(q)}. It is lit while every patch ranks its own companions first. After it comes a flame, as thick as the weakest companion is ahead of the strongest stranger.`
        : `${reached >= last ? asked.tell() : ""}After step ${thousands(at * every)}, ${count(n)} of ${runs[n].margin[0].length} networks on ${thousands(Number(n))} inputs know all sets, and are wrong on ${percent(runs[n].error[at])} of new ones.` +
          (reached >= last ? ` At step ${thousands(bright[0] * every)} ${most === runs[n].margin[0].length ? "all " : ""}${most} knew them, and erred in ${percent(runs[n].error[bright[0]])}: the error fell while the sets were lost.` : ""));
    }
    const most = Math.max(...runs[sizes.at(-1)].margin.map((_, t) => count(sizes.at(-1), t)));
    const bright = runs[sizes.at(-1)].margin.flatMap((_, t) => (count(sizes.at(-1), t) === most ? [t] : [])); // when all are lit
    const shining = times.flatMap((t, k) => (bright.includes(t) ? [k] : []));
    const time = player({ label: "step", seconds: 7, hold: { at: shining[shining.length >> 1], seconds: 2.5 }, show: (k) => thousands(times[k] * every), onstep: (k) => go(times[k]) });
    const show = (k) => () => { time.stop(); time.go(k); };
    reach.forgotten = { lit: show(shining[0]), end: show(times.length - 1) };
    const asked = guess({ question: "All lamps of the largest sample are soon lit, and training goes on. Do they stay lit?", options: ["No", "Yes, the error still falls"], right: 0, then: () => time.play() });
    stage.append(columns([diary.canvas], asked.element, time.element, errors.element, sentence));
    // By themselves the lamps are lit one after another, once; whether they stay lit is what is asked.
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      if (!still.matches && !at && asked.chosen === null) time.play(shining[0]);
    }, { threshold: 0.5 });
    seen.observe(diary.canvas);
    return { fields: [], bare: true, repaint: diary.paint, show: () => time.fit(times.length - 1, 0), room: 250, outside: { at: () => at * every, lit: () => Object.fromEntries(sizes.map((n) => [n, count(n)])) } };
  });

  // ---- where heads look ----------------------------------------------------------------------------------------

  mount("gazes", ({ stage, say, sentence }) => {
    const { queries, heads } = essay.gazes;
    const G = 14;
    const WAYS = { "0,0": "around it", "0,-1": "to its left", "0,1": "to its right", "-1,0": "above it" };
    const cell = (k) => [Math.floor(k / G), k % G];
    let place = queries.length >> 1;
    let open = false;
    const cat = new Image();
    cat.addEventListener("load", () => boards.forEach(({ paint }) => paint()));
    cat.src = CAT;
    const way = ({ rows }, at = place) => { // where most attention goes, as a step
      const [here, there] = [queries[at], rows[at].indexOf(Math.max(...rows[at]))].map(cell);
      return [there[0] - here[0], there[1] - here[1]];
    };
    const everywhere = heads.every((head) => queries.every((_, at) => String(way(head, at)) === String(way(head))));
    const boards = heads.map((head, k) => {
      const said = h("strong");
      const board = easel(G, G, `Where head ${head.head} of layer ${head.layer} looks from the ringed place`, (context, color) => {
        const row = head.rows[place];
        const most = Math.max(...row);
        context.fillStyle = color("paper");
        context.fillRect(0, 0, G, G);
        context.globalAlpha = 0.3;
        if (cat.naturalWidth) context.drawImage(cat, 0, 0, G, G);
        context.fillStyle = color(k ? "label" : "same");
        row.forEach((share, at) => {
          context.globalAlpha = open ? (share / most) ** 0.8 : 0;
          context.fillRect((at % G) + 0.04, Math.floor(at / G) + 0.04, 0.92, 0.92);
        });
        context.globalAlpha = 0.35;
        context.strokeStyle = color("line");
        context.lineWidth = 0.03;
        context.beginPath();
        for (let n = 0; n <= G; n++) { context.moveTo(n, 0); context.lineTo(n, G); context.moveTo(0, n); context.lineTo(G, n); }
        context.stroke();
        context.globalAlpha = 1;
        queries.forEach((at, n) => { // the places that can be chosen
          const [r, c] = cell(at);
          [context.strokeStyle, context.fillStyle, context.lineWidth] = [color("ink"), color("ink"), 0.14];
          context.globalAlpha = n === place ? 1 : 0.3;
          context.beginPath();
          context.arc(c + 0.5, r + 0.5, n === place ? 0.62 : 0.12, 0, 7);
          n === place ? context.stroke() : context.fill();
        });
        context.globalAlpha = 1;
      }, { class: "pa-thrown" });
      const pick = (event) => {
        const box = board.canvas.getBoundingClientRect();
        const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((v) => G * v - 0.5);
        const far = (n) => Math.hypot(cell(queries[n])[0] - y, cell(queries[n])[1] - x);
        const nearest = queries.reduce((best, _, n) => (far(n) < far(best) ? n : best), 0);
        if (nearest !== place) { time.stop(); time.go(nearest); }
      };
      board.canvas.addEventListener("pointerdown", pick);
      board.canvas.addEventListener("pointermove", pick);
      return { ...board, said, head, element: h("figure", { class: "pa-chart" }, board.canvas, h("figcaption", {}, said, h("br"), `layer ${head.layer}, head ${head.head}`)) };
    });
    function draw() {
      for (const { said, head, paint } of boards) {
        said.textContent = open ? `It looks ${WAYS[way(head)] ?? "elsewhere"}` : "Where does it look?";
        paint();
      }
      const [r, c] = cell(queries[place]);
      const aside = heads.filter((head) => way(head).some(Boolean)).map(({ rows }) => Math.max(...rows[place]) / 1000);
      say(open ? `${asked.tell()}From row ${r + 1}, column ${c + 1}, ${heads.length - aside.length} of ${heads.length} heads looks around its place. ${aside.length} look aside, and give ${percent(Math.min(...aside))} or more of their attention to one single place.${everywhere ? ` It is so from all ${queries.length} places.` : ""}`
        : "Four heads of ViT-Tiny look from the ringed place, on average over a thousand pictures. Point at a dot, and they look from there.");
    }
    const time = player({ label: "the ringed place", seconds: 5, words: "Walk", show: (k) => `${k + 1} of ${queries.length}`, onstep: (k) => { place = k; draw(); } });
    const asked = guess({ question: "The theory says that a head looks around its place. How many of these four do?", options: ["None", "One", "Two", "All four"], right: 1, then: () => { open = true; time.go(0); time.play(); } });
    stage.append(h("div", { class: "pa-scene-rows" }, h("div", { class: "pa-panels pa-four" }, ...boards.map(({ element }) => element)), h("div", { class: "pa-beside pa-flat" }, asked.element, h("div", {}, time.element, sentence))));
    return { fields: [], bare: true, repaint: draw, show: () => time.fit(queries.length - 1, queries.length >> 1), room: 235, outside: { ways: () => heads.map((head) => way(head)), place: () => queries[place] } };
  });
})();
