// Be the network: ten rounds of the game that the model plays.
(() => {
  "use strict";
  const {
    h,
    player,
    inFrames,
    mount,
    number,
    percent,
    clamp,
    onBoard,
    shuffled,
    uniform,
    drawInputs,
    SampleDescent,
    bestCompanions,
    essay,
  } = window.patchAssociation;
  const { thousands, columns, reach } = window.patchAssociation.scenes;

  mount("network", ({ stage, say, sentence }) => {
    const { D, C, q } = essay.network;
    const SIDE = Math.sqrt(D);
    const [ROUNDS, LEARNED] = [10, 300];
    const LETTERS = "ABCDEFGHI";
    const sets = shuffled(
      Array.from({ length: D }, (_, k) => Math.floor(k / C)),
      uniform(11),
    );
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
    const learning = new Promise((done) =>
      inFrames(
        say,
        () => true,
        (until) => {
          do run.advance(drawInputs(sets, q, 512, others));
          while (run.step < LEARNED && performance.now() < until);
          if (run.step >= LEARNED) done();
          return run.step < LEARNED;
        },
        5,
      ),
    );
    const sum = (s) => s.reduce((a, b) => a + b, 0);
    const WAIT = 800; // an answer stands, before the next input comes
    // one of a set that lies scattered
    let [round, shown, waiting, open, chosen] = [0, 0, false, false, sets.indexOf(sets[D / 2 + SIDE / 2])];
    const tiles = Array.from({ length: D }, (_, k) =>
      h("button", {
        type: "button",
        class: "pa-tile",
        tabindex: -1,
        disabled: true,
        onclick: () => {
          chosen = k;
          time.step <= GROW ? draw() : trace();
        },
      }),
    );
    const board = h("div", { class: "pa-game", role: "group", "data-main": true }, ...tiles);
    const rows = [
      ["you", "you"],
      ["sum", "adds all up"],
      ["model", "the model"],
    ].map(([who, words]) => {
      const marks = Array.from({ length: ROUNDS }, () => h("i"));
      // the model answers the same ten once it has learned
      const later = who === "model" && h("em", { class: "pa-quiet" }, `after round ${ROUNDS}`);
      return { who, marks, later, total: h("b"), words };
    });
    const table = h(
      "div",
      { class: "pa-score", role: "img" },
      ...rows.map(({ marks, later, total, words }) =>
        h(
          "div",
          {},
          h("span", {}, words),
          h("span", { class: "pa-marks" }, ...(later ? [later] : []), ...marks),
          total,
        ),
      ),
    );
    let pending = null;
    const go = () => {
      clearTimeout(pending);
      waiting = false;
      shown = Math.min(round, ROUNDS - 1);
      if (round === ROUNDS) learning.then(() => over());
      else draw();
    };
    const choose = (label) => {
      if (waiting) go(); // whoever is fast need not wait
      if (round >= ROUNDS) return;
      const s = inputs[round];
      points.you.push(label === labels[round] ? 1 : 0);
      points.sum.push(sum(s) > 0 ? 1 : sum(s) < 0 ? 0 : 0.5);
      round += 1;
      waiting = true;
      draw();
      pending = setTimeout(go, WAIT);
    };
    const answers = h(
      "div",
      { class: "pa-guess" },
      h("p", {}, h("strong", {}, "Guess. "), "What does this input say?"),
      h(
        "div",
        { class: "pa-tools" },
        ...[
          ["+", 1, "plus"],
          ["−", -1, "minus"],
        ].map(([sign, label, words]) =>
          h(
            "button",
            { type: "button", class: "pa-sign", "aria-label": words, onclick: () => choose(label) },
            sign,
          ),
        ),
      ),
    );

    // After the game: many inputs leave a trace of the sets, and then its own ten are seen sorted by them.
    const [MANY, GROW] = [3000, 60]; // inputs in all, and in how many steps they come
    const seen = drawInputs(sets, q, MANY, uniform(53)); // of either label: a product of two voices does not depend on it
    const inputsAt = (k) => Math.round(10 * (MANY / 10) ** (k / GROW));
    const traces = new Map();
    /**
     * After each step, how often each tile said the same as a given one, less how often the opposite: (GROW
     * + 1, D) shares.
     */
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
    const best = (found) =>
      found
        .map((v, k) => [v, k])
        .filter(([, k]) => k !== chosen)
        .sort(([a], [b]) => b - a)
        .slice(0, C - 1)
        .map(([, k]) => k);
    const time = player({
      label: "inputs seen, then your ten rounds",
      seconds: 9,
      words: "Show",
      hold: { at: GROW, seconds: 1.8 },
      show: (k) => (k <= GROW ? thousands(inputsAt(k)) : `round ${k - GROW}`),
      onstep: () => {
        if (open) draw();
      },
    }); // after the trace a step for each round
    const again = h("button", {
      type: "button",
      onclick: () => {
        time.stop();
        if (round === ROUNDS) [round] = [0, deal()];
        turn(false);
        draw();
        answers.querySelector("button").focus({ preventScroll: true });
      },
    });
    const turn = (to) => {
      // from the game to what is seen after it, and back
      open = to;
      answers.hidden = open;
      time.element.hidden = again.parentElement.hidden = !open;
      for (const tile of tiles) tile.disabled = !open;
    };
    const trace = () => {
      time.stop();
      time.go(0);
      time.play(GROW);
    };
    function over(until) {
      points.model = inputs.slice(0, round).map((s) => 1 - run.gradients([s]).error);
      turn(true);
      again.textContent = round === ROUNDS ? "Ten new rounds" : round ? "Back to the game" : "Play the game";
      tiles[chosen].tabIndex = 0;
      time.fit(GROW + round, 0);
      time.element.querySelector("button").focus({ preventScroll: true });
      // To an input that only the sets decide.
      time.play(
        until ??
          GROW +
            1 +
            Math.max(
              0,
              points.model.findIndex((got, k) => got === 1 && points.sum[k] < 1),
            ),
      );
    }
    reach.network = { trace: () => (open ? trace() : learning.then(() => over(GROW))) };
    board.addEventListener("keydown", (event) => {
      const move = onBoard(SIDE)(event.key);
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
    const gathered = (k) =>
      [
        [Math.floor(sets[k] / 3), Math.floor(rank[k] / 2)],
        [sets[k] % 3, rank[k] % 2],
      ].map(([set, own]) => 0.04 + 2.16 * set + own);
    const spoken = (v) => (v > 0 ? "plus" : v < 0 ? "minus" : "nothing");
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
        tile.className =
          `pa-tile ${v > 0 ? "pa-plus" : v < 0 ? "pa-minus" : ""}` +
          (many
            ? (k === chosen ? " pa-chosen" : "") +
              (likely.includes(k) ? " pa-likely" : "") +
              (likely.includes(k) && sets[k] === sets[chosen] ? " pa-true" : "")
            : open
              ? ` pa-found pa-set-${LETTERS[sets[k]]}${sets[k] === signal ? " pa-loud" : " pa-faint"}`
              : waiting && v !== label
                ? " pa-hushed"
                : "");
        tile.style.transform = `translate(${100 * c}%, ${100 * r}%)`;
        tile.style.setProperty("--pa-bar", many && k !== chosen ? clamp(found[k] / most).toFixed(3) : 0);
        tile.setAttribute(
          "aria-label",
          `row ${Math.floor(k / SIDE) + 1}, column ${(k % SIDE) + 1}: ` +
            (many ? (k === chosen ? "chosen" : `agreement ${percent(found[k])}`) : spoken(v)),
        );
      });
      board.setAttribute(
        "aria-label",
        many
          ? "Thirty-six tiles; choose one"
          : `Row by row: ${Array.from(s, (v) => spoken(v * label)).join(", ")}`,
      );
      for (const { who, marks, later, total } of rows) {
        const got = who === "model" && !open ? [] : points[who];
        if (later) later.hidden = open;
        for (const mark of marks) mark.hidden = later && !open;
        marks.forEach(
          (mark, k) =>
            (mark.className =
              k >= got.length ? "" : got[k] === 1 ? "pa-hit" : got[k] === 0 ? "pa-miss" : "pa-half"),
        );
        marks.forEach((mark, k) => mark.classList.toggle("pa-here", open && !many && k === shown));
        total.textContent = got.length ? number(got.reduce((a, b) => a + b, 0)) : "";
      }
      table.setAttribute(
        "aria-label",
        rows
          .map(
            ({ who, words }) =>
              `${words}: ${points[who].length ? number(points[who].reduce((a, b) => a + b, 0)) : "not yet known"}`,
          )
          .join("; "),
      );
      const total = (who) => number(points[who].reduce((a, b) => a + b, 0));
      const score =
        points.you.length === ROUNDS
          ? `You got ${total("you")} of ${ROUNDS}, the sum ${total("sum")}, the model ${total("model")}. `
          : "";
      const heard = many && time.step === GROW ? bestCompanions(run.A, D, C)[chosen] : [];
      tiles.forEach((tile, k) => tile.classList.toggle("pa-listened", heard.includes(k)));
      const right = likely.filter((k) => sets[k] === sets[chosen]).length;
      const dots = heard.length
        ? " Dots: the three that it listens to most in the model, which has only tried to make fewer errors."
        : "";
      if (many)
        say(
          `${score}How could anybody know the sets? The bars count how often a tile says the same as ` +
            `the ringed one, less how often the opposite, over ${thousands(n)} inputs. ` +
            (right === C - 1
              ? `The three highest are its companions.${dots}`
              : `Of the three highest ${right || "none"} ${right > 1 ? "are companions" : "is a companion"}.`),
        );
      else if (open)
        say(
          `${score}Your inputs once more, sorted by the sets: in round ${shown + 1} one set of four ` +
            `says ${label > 0 ? "plus" : "minus"} with one voice.`,
        );
      else if (!round)
        say(
          `The ${D} tiles form hidden sets of ${C}. In each input all ${C} of one set give the answer; ` +
            "all others speak at random, or not at all.",
        );
      else
        say(
          `Round ${round} of ${ROUNDS}: the answer was ${labels[round - 1] > 0 ? "plus" : "minus"}, ` +
            `and you were ${points.you.at(-1) ? "right" : "wrong"}.`,
        );
    }
    stage.append(
      columns([board], answers, time.element, table, h("div", { class: "pa-tools" }, again), sentence),
    );
    turn(false);
    return {
      fields: [],
      bare: true,
      show: draw,
      get room() {
        return open ? 400 : 110; // what is seen after the game has more words
      },
      outside: {
        learned: () => learning.then(() => ({ A: Array.from(run.A), alpha: run.alpha, points })),
        inputs: () => inputs.map((s) => Array.from(s)),
        labels: () => labels,
        sets: () => sets,
        trace: () => ({ chosen, seen: seen.map((s) => Array.from(s)), bars: traceOf(chosen)[GROW] }),
      },
    };
  });
})();
