// Paint the sets: any partition into sets of four, and gradient descent that finds it from inputs and labels alone.
(() => {
  "use strict";
  const {
    h,
    chart,
    controls,
    fingers,
    exchanger,
    roving,
    onBoard,
    listeners,
    inFrames,
    mount,
    shuffled,
    uniform,
    drawInputs,
    SampleDescent,
    refuse,
    finite,
    seed,
    number,
    percent,
    still,
  } = window.patchAssociation;
  const SIDE = 6;
  const C = 4;
  const D = SIDE * SIDE;
  const LETTERS = "ABCDEFGHI";
  const STEPS = 400;
  const TIMES = Array.from({ length: 51 }, (_, k) => (k === 0 ? 0 : Math.round(STEPS ** (k / 50))));
  /** The more random features, the smaller the steps that stay within bounds. */
  const rateAt = (q) => Number(Math.min(0.005, 0.0015 / q).toPrecision(3));
  const BATCH = 512;

  const layouts = {
    blocks: Array.from(
      { length: D },
      (_, k) => LETTERS[3 * Math.floor(Math.floor(k / SIDE) / 2) + Math.floor((k % SIDE) / 2)],
    ).join(""),
    stripes: Array.from({ length: D }, (_, k) => LETTERS[Math.floor(k / C)]).join(""),
    corners: Array.from(
      { length: D },
      (_, k) => LETTERS[3 * (Math.floor(k / SIDE) % 3) + ((k % SIDE) % 3)],
    ).join(""),
  };
  layouts.scattered = shuffled(layouts.stripes, uniform(7)).join("");

  /** What sets are called: those that a button shows by its name. */
  const nameOf = (sets) =>
    ({ [layouts.blocks]: "blocks", [layouts.stripes]: "stripes", [layouts.corners]: "corners" })[sets] ??
    (sets === layouts.scattered ? "a scatter" : "your sets");

  const FIELDS = [
    { key: "sets", value: layouts.corners, text: /^[A-I]{36}$/, what: "row of 36 letters from A to I" },
    { key: "q", label: "q, chance of a random feature", value: 0.3, from: 0, to: 0.9, step: 0.05 },
    { key: "seed", label: "draw number", value: 1, from: 1, to: 50, step: 1, rare: true },
  ];

  /** For each patch the C - 1 others with its highest scores. */
  const bestCompanions = (A, D, C) =>
    Array.from({ length: D }, (_, i) =>
      Array.from({ length: D }, (_, j) => j)
        .filter((j) => j !== i)
        .sort((j, k) => A[i * D + k] - A[i * D + j])
        .slice(0, C - 1),
    );

  function grid(title, onpick, onswap, onpoint) {
    const cells = Array.from({ length: D }, (_, k) =>
      onpick
        ? h("button", {
            type: "button",
            class: "pa-cell",
            onclick: (event) => {
              if (event.detail === 0) onpick(k);
            },
          })
        : h("span", { class: "pa-cell" }),
    );
    const board = h(
      "div",
      {
        class: "pa-grid-of-patches",
        role: onpick ? "group" : "img",
        "aria-label": onpick ? `${title}; arrow keys go from patch to patch` : title,
      },
      ...cells,
    );
    const caption = h("figcaption", {}, title);
    const element = h("figure", { class: "pa-chart" }, caption, board);
    for (const type of ["pointerover", "focusin"])
      board.addEventListener(type, ({ target }) => {
        if (cells.includes(target)) onpoint(cells.indexOf(target));
      });
    for (const type of ["pointerleave", "focusout"]) board.addEventListener(type, () => onpoint(-1));
    if (onpick) {
      exchanger(board, SIDE, {
        pick: onpick,
        swap: onswap,
        mark: (from = -1) => cells.forEach((cell, k) => cell.classList.toggle("pa-picked", k === from)),
      });
      roving(cells, onBoard(SIDE));
    }
    const draw = (letters, picked = -1, strength = null, mates = []) =>
      cells.forEach((cell, k) => {
        cell.style.opacity = strength ? strength(k) : "";
        cell.textContent = letters[k];
        cell.className = `pa-cell pa-set-${letters[k]}`;
        cell.classList.toggle("pa-picked", k === picked);
        cell.classList.toggle("pa-mate", mates.includes(k));
        if (onpick)
          cell.setAttribute(
            "aria-label",
            `row ${Math.floor(k / SIDE) + 1}, column ${(k % SIDE) + 1}, set ${letters[k]}`,
          );
        if (onpick) cell.setAttribute("aria-pressed", k === picked);
      });
    return { element, draw, caption };
  }

  function build({ stage, say, change }) {
    let [main, run] = [null, null]; // the run on the sets that are painted, and its model
    let kept = [];
    let seen = {};
    let picked = -1;
    let pointed = -1; // the patch under the pointer: whom it listens to is shown
    // the two patches exchanged last: the pointer asks for nothing until it leaves, or goes on to others
    // after the training
    let resting = [];
    let [other, twin] = [null, null]; // the sets that a guess compares with, and the run on these
    let finish;
    const ready = new Promise((done) => (finish = done));
    const swap = (a, b) => {
      const letters = [...seen.sets];
      [letters[a], letters[b]] = [letters[b], letters[a]];
      [picked, pointed, resting, run] = [-1, -1, [a, b], null];
      change({ sets: letters.join("") });
    };
    const painted = grid(
      fingers() ? "Your sets: tap two" : "Your sets: drag one onto another",
      (k) => {
        if (picked >= 0) return swap(k, picked);
        picked = k;
        painted.draw(seen.sets, picked);
      },
      swap,
      (k) => point(k),
    );
    const found = grid("What the scores say", null, null, (k) => point(k));
    const point = (k) => {
      if (k >= 0 && resting.length && (resting.includes(k) || !(run?.step >= STEPS))) return;
      resting = [];
      if (k !== pointed) {
        pointed = k;
        draw();
      }
    };
    const scores = listeners({ title: "Who listens to whom, a row for each patch" });
    const panel = controls(FIELDS, (key, value) => change({ [key]: value }));
    const recalls = chart({ title: "Companions that are found", xlabel: "step, log scale", height: 150 });
    recalls.element.dataset.small = "";
    const chosen = h(
      "div",
      { class: "pa-tools" },
      ...Object.values(layouts).map((letters) =>
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              picked = -1;
              change({ sets: letters });
            },
          },
          `Show: ${nameOf(letters)}`,
        ),
      ),
    );
    stage.append(
      chosen,
      panel.element,
      h("div", { class: "pa-panels pa-three" }, painted.element, scores.element, found.element),
      recalls.element,
    );

    /** A patch gets the letter of its set when it and its three best companions all name one another. */
    function reading() {
      const { A } = run;
      const best = bestCompanions(A, D, C).map((others, i) => new Set([...others, i]));
      return best.map((own, i) =>
        [...own].every((j) => own.size === best[j].size && [...own].every((k) => best[j].has(k))) &&
        run.step > 0
          ? [...seen.sets][i] === [...seen.sets][[...own].find((j) => j !== i)] &&
            [...own].every((j) => seen.sets[j] === seen.sets[i])
            ? seen.sets[i]
            : "!"
          : "?",
      );
    }

    /** Before a guess nothing is trained: the answer would stand there. */
    const waits = () => stage.classList.contains("pa-guessing");

    function draw() {
      if (!run) return;
      const mates =
        pointed < 0
          ? []
          : Array.from({ length: D }, (_, j) => j).filter(
              (j) => j !== pointed && seen.sets[j] === seen.sets[pointed],
            );
      painted.draw(seen.sets, picked < 0 ? pointed : picked, null, mates);
      const row = Array.from(run.A.slice(pointed * D, (pointed + 1) * D), Math.exp);
      found.caption.textContent =
        pointed < 0 ? "What the scores say" : `Whom patch ${pointed + 1} listens to`;
      if (pointed < 0) found.draw(reading());
      else
        found.draw(
          seen.sets,
          pointed,
          (j) => Math.min(1, 0.12 + (1.5 * C * row[j]) / row.reduce((a, b) => a + b, 0)).toFixed(2),
          mates,
        );
      scores.draw(
        D,
        C,
        (i, j) => run.A[i * D + j],
        (i, j) => seen.sets[i] === seen.sets[j],
        pointed,
      );
      // Of a run that is as far as this, by its steps; the rest is not known yet.
      const curve = ({ recall }, look, name) => ({
        y: TIMES.map((step) => recall[step] ?? NaN),
        look,
        name,
      });
      recalls.draw({
        x: [0, TIMES.length - 1],
        ticks: [0, 23, 40, 50],
        across: (k) => String(TIMES[k]),
        range: [0, 1],
        format: percent,
        curves: waits()
          ? []
          : [
              ...(twin ? [curve(twin, "pa-noise", nameOf(twin.letters))] : []),
              curve(main, "pa-same", nameOf(seen.sets)),
            ],
      });
    }

    /** A run on sets: each `go` is a step on new inputs, and keeps how many companions are found. */
    function training(letters) {
      const run = new SampleDescent({
        sets: [...letters],
        q: seen.q,
        diagonal: 1,
        rate: rateAt(seen.q),
        score_rate: rateAt(seen.q) * D ** 2,
      });
      const random = uniform(1000003 * seen.seed);
      const one = { letters, run, recall: [run.association().recall], foundAt: null };
      one.go = () => {
        const last = run.advance(drawInputs(run.sets, seen.q, BATCH, random));
        const { recall, exact } = run.association();
        one.recall.push(recall);
        if (one.foundAt === null && exact) one.foundAt = run.step;
        return last;
      };
      return one;
    }

    function work() {
      const mine = run;
      let last = { error: NaN };
      inFrames(
        say,
        () => run === mine,
        (until) => {
          do {
            last = main.go();
            twin?.go();
            kept.push({ A: Float32Array.from(run.A), error: last.error });
          } while (run.step < STEPS && performance.now() < until);
          draw();
          const { recall, exact } = run.association();
          const { foundAt } = main;
          const who =
            foundAt !== null && twin && twin.foundAt !== null
              ? `Neither: the model does not know where a patch lies, and finds ${nameOf(seen.sets)} at step ` +
                `${foundAt}, ${nameOf(twin.letters)} at step ${twin.foundAt}. Only the draws differ`
              : exact
                ? `Every patch has found its three companions, at step ${foundAt}`
                : `${number(100 * recall)}% of the companions are found`;
          say(
            `${run.step < STEPS && !(foundAt !== null && twin && twin.foundAt !== null) ? `Step ${run.step} of ${STEPS}. ` : ""}${who}. ` +
              `The model saw ${(run.step * BATCH).toLocaleString("en-US")} inputs with their labels, ` +
              `never the sets; of the last ${BATCH} it got ${number(100 * last.error, 2)}% wrong.`,
          );
          if (run.step >= STEPS) {
            finish();
          }
          return run.step < STEPS;
        },
        still.matches ? Infinity : 12,
      );
    }

    return {
      fields: FIELDS,
      room: 300,
      colors: { "pa-same": "companions" },
      guess: {
        question: "Which arrangement is hardest to learn: neat blocks, or patches scattered at random?",
        options: ["Blocks", "A scatter", "Neither"],
        right: 2,
        free: ["sets"], // both are trained, side by side
        before: () => "Nothing is learned yet. Guess, or choose an arrangement, and the model begins.",
        after: (k) => {
          // both, the guess on the boards
          const both = k === 0 ? [layouts.blocks, layouts.scattered] : [layouts.scattered, layouts.blocks];
          other = both[1];
          change({ sets: both[0] });
        },
      },
      ready,
      repaint: draw,
      // a move or an answer that asks for another run comes first
      begin: () =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => {
            if (run?.step === 0) work();
          }),
        ),
      check(setting) {
        const sizes = [...LETTERS].map((letter) => [...setting.sets].filter((one) => one === letter).length);
        if (sizes.some((size) => size !== C))
          refuse(`Each of the nine sets must have ${C} patches; they have ${sizes.join(", ")}.`);
        finite("q", setting.q, 0, 1);
        seed(setting.seed);
      },
      show(setting) {
        seen = { ...setting };
        panel.show(seen);
        kept = [];
        main = training(seen.sets);
        run = main.run;
        twin = other === null ? null : training(other);
        other = null;
        if (waits()) {
          draw();
          say("");
          finish(); // there is nothing to wait for
        } else work();
      },
      outside: {
        scores: () => Array.from(run.A),
        association: () => run.association(),
        after: (k) => ({ error: kept[k - 1].error, A: Array.from(kept[k - 1].A) }),
      },
      code: (s) =>
        [
          "import torch",
          "import patch_association as pa",
          "from patch_association.training import idealized_start",
          "",
          `sets = pa.Partition([ord(letter) for letter in "${s.sets}"])`,
          `law = pa.SpatialData(sets, dim=${D}, q=${s.q})`,
          `samples = pa.Samples.draw(law, 4096, seeds=[${s.seed}])`,
          `run = pa.descend(samples, idealized_start(law, 1), pa.Constant(${rateAt(s.q)}), steps=${STEPS})`,
          "print(run.recall[-1, 0], run.exact[-1, 0])",
        ].join("\n"),
    };
  }

  Object.assign(window.patchAssociation, { bestCompanions, layouts });
  mount("paint", build);
})();
