// The front page's picture: patches, one input, the scores, and the sets that the scores have found.
(() => {
  "use strict";
  const { h, player, matrix, inFrames, mount, uniform, drawInputs, SampleDescent, number, still } = window.patchAssociation;
  const SIDE = 6;
  const C = 4;
  const D = SIDE * SIDE;
  const Q = 0.3;
  const STEPS = 160;
  const BATCH = 384;
  const LETTERS = "ABCDEFGHI";
  const near = Array.from({ length: D }, (_, k) => 3 * Math.floor(Math.floor(k / SIDE) / 2) + Math.floor((k % SIDE) / 2));
  const far = (() => {
    const random = uniform(11);
    const sets = near.slice();
    for (let k = D - 1; k > 0; k--) {
      const other = Math.floor(random() * (k + 1));
      [sets[k], sets[other]] = [sets[other], sets[k]];
    }
    return sets;
  })();
  const FIELDS = [{ key: "scattered", value: 0 }];

  function tiles(title, describe) {
    const cells = Array.from({ length: D }, () => h("span", { class: "pa-tile" }));
    const grid = h("div", { class: "pa-tiles", role: "img", "aria-label": describe }, ...cells);
    return { element: h("figure", { class: "pa-chart" }, h("figcaption", {}, title), grid), cells, grid };
  }

  function build({ stage, say, change }) {
    let run = null;
    let kept = [];
    let sets = near;
    let finish;
    const ready = new Promise((done) => (finish = done));
    const picture = tiles("1. A picture, in patches", "A cat, cut into 36 patches");
    const input = tiles("2. What the patches say", "One input: patches that say plus, minus or nothing; four companions all say plus");
    const scores = matrix({ title: "3. Who listens to whom" });
    const found = tiles("4. The sets it found", "The cat again, each patch in the color of the set that the scores show");
    const time = player({ label: "step", onstep: () => draw(), seconds: 5 });
    const choose = (scattered, words) => h("button", { type: "button", onclick: () => change({ scattered }) }, words);
    stage.append(h("div", { class: "pa-panels pa-four" }, picture.element, input.element, scores.element, found.element), time.element,
      h("div", { class: "pa-tools" }, "The sets are ", choose(0, "neighbors"), choose(1, "scattered")));
    for (const { cells, grid } of [picture, found]) {
      grid.classList.add("pa-cat");
      cells.forEach((cell, k) => (cell.style.backgroundPosition = `${(k % SIDE) * 20}% ${Math.floor(k / SIDE) * 20}%`));
    }

    /** The letter of a patch whose three best companions all agree with it, and nothing else. */
    function reading(A) {
      const best = Array.from({ length: D }, (_, i) => Array.from({ length: D }, (_, j) => j).filter((j) => j !== i)
        .sort((j, k) => A[i * D + k] - A[i * D + j]).slice(0, C - 1).concat(i).sort((a, b) => a - b).join());
      return best.map((own, i) => (own.split(",").every((j) => best[j] === own) && own.split(",").every((j) => sets[j] === sets[i]) ? LETTERS[sets[i]] : ""));
    }

    function draw() {
      if (!kept.length) return;
      const at = Math.min(kept.length - 1, Math.floor(time.step / 4));
      const { A, recall, error } = kept[at];
      const most = kept.at(-1).A.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
      scores.draw(D, D, (i, j) => A[i * D + j], most);
      const letters = at === 0 ? Array(D).fill("") : reading(A);
      found.cells.forEach((cell, k) => {
        cell.className = `pa-tile${letters[k] ? ` pa-found pa-set-${letters[k]}` : ""}`;
        cell.textContent = letters[k];
      });
      const heard = `After ${4 * at} steps on inputs and labels, nothing else,`;
      say(at === 0 ? "Before training all scores are equal. Drag the step, or press Play."
        : `${heard} the model finds ${recall === 1 ? "all companions" : `${number(100 * recall, 2)}% of all companions`}, and names ${number(100 * (1 - error), 3)}% of new inputs right.`);
    }

    function work() {
      const mine = run;
      const random = uniform(17);
      inFrames(say, () => run === mine, (until) => {
        do {
          const inputs = drawInputs(sets, Q, BATCH, random);
          const error = run.gradients(inputs).error;
          if (run.step % 4 === 0) kept.push({ A: Float32Array.from(run.A), recall: run.association().recall, error });
          run.advance(inputs);
        } while (run.step <= STEPS && performance.now() < until);
        if (run.step <= STEPS) {
          time.go(Math.min(4 * (kept.length - 1), STEPS));
          return true;
        }
        time.go(STEPS);
        finish();
        return false;
      }, still.matches ? Infinity : 12);
    }

    return {
      fields: FIELDS,
      ready,
      bare: true,
      repaint: draw,
      show({ scattered }) {
        sets = scattered ? far : near;
        kept = [];
        time.stop();
        time.fit(STEPS, 0);
        const [s] = drawInputs(sets, Q, 1, uniform(29));
        input.cells.forEach((cell, k) => {
          cell.textContent = s[k] > 0 ? "+" : s[k] < 0 ? "−" : "";
          cell.className = `pa-tile ${s[k] > 0 ? "pa-plus" : "pa-minus"}`;
        });
        run = new SampleDescent({ sets, q: Q, diagonal: 1, rate: 0.01, score_rate: 0.01 * D ** 2 });
        work();
      },
      outside: { at: (k) => ({ ...kept[k], A: Array.from(kept[k].A) }), sets: () => sets },
    };
  }

  mount("learn", build);
})();
