// Draw your own sets, and let the model find them.
(() => {
  "use strict";
  const {
    h,
    fingers,
    guess,
    player,
    exchanger,
    roving,
    onBoard,
    chart,
    inFrames,
    mount,
    still,
    percent,
    uniform,
    drawInputs,
    SampleDescent,
    bestCompanions,
    layouts,
  } = window.patchAssociation;
  const { thousands, columns, easel, during } = window.patchAssociation.scenes;

  mount("own", ({ stage, say, sentence }) => {
    const [SIDE, C, D, STEPS, BATCH, Q] = [6, 4, 36, 150, 512, 0.3];
    const LETTERS = "ABCDEFGHI";
    // The sets' own colors, strong enough for lines on their tints; in the dark it is the other way round.
    const TINTS = [
      "#a9d5f2",
      "#f3b9a6",
      "#c3c5f7",
      "#e8d59a",
      "#edb3e2",
      "#b5d9a0",
      "#d2d6db",
      "#9fe0d3",
      "#f5c6d3",
    ];
    const STRONG = [
      "#1f6fa8",
      "#b5492b",
      "#5a5fc7",
      "#8a6a0c",
      "#a93a99",
      "#467a26",
      "#5b636d",
      "#157a6a",
      "#b8496b",
    ];
    const [blocks, scattered] = [[...layouts.blocks], [...layouts.scattered]];
    let [sets, run, kept, picked, at, waiting, ground] = [blocks, null, [], -1, 0, true, []];
    // the second training of a guess, computed while the first is shown; whether both are done
    let [ahead, known] = [null, false];
    // the last training, the sets that come after these, the name of these
    let [before, queued, called] = [null, null, "blocks"];
    const cells = Array.from({ length: D }, (_, k) =>
      h("button", {
        type: "button",
        class: "pa-cell",
        onclick: (event) => {
          if (event.detail === 0) pick(k);
        },
      }),
    );
    let hovered = -1; // the patch under the pointer: its strings alone
    function string(context, color, best, sets, ground, only = -1) {
      const [inside, others] = color("paper") < "#8" ? [TINTS, "#dce1e6"] : [STRONG, "#1f2328"];
      context.lineCap = "round";
      for (let i = 0; i < D; i++)
        for (const j of best[i]) {
          const own = sets[i] === sets[j];
          context.strokeStyle = own ? inside[LETTERS.indexOf(sets[i])] : others;
          if (only >= 0 && only !== i) context.globalAlpha = 0.05;
          else
            context.globalAlpha =
              // a letter is to be read
              only === i ? 1 : !own ? (ground.length ? 0.06 : 0.22) : ground.includes(i) ? 0.12 : 0.9;
          context.lineWidth = own ? 0.075 : 0.03;
          context.beginPath();
          const [x, y, u, v] = [i % SIDE, Math.floor(i / SIDE), j % SIDE, Math.floor(j / SIDE)].map(
            (at) => at + 0.5,
          );
          const bend = ground.length ? 0.07 : 0; // of a letter several lie on one line
          context.moveTo(x, y);
          context.quadraticCurveTo((x + u) / 2 + bend * (v - y), (y + v) / 2 - bend * (u - x), u, v);
          context.stroke();
        }
    }
    const strings = easel(
      SIDE,
      SIDE,
      "Strings from each patch to the three that it listens to most",
      (context, color) => {
        if (kept.length)
          string(context, color, kept[Math.min(at, kept.length - 1)].best, sets, ground, hovered);
      },
    );
    // What was trained before stays beside, small.
    const earlier = easel(
      SIDE,
      SIDE,
      "The sets that were trained before, with their strings at the end",
      (context, color) => {
        if (!before) return;
        before.sets.forEach((set, k) => {
          context.globalAlpha = before.ground.includes(k) ? 0.08 : 0.35;
          context.fillStyle = STRONG[LETTERS.indexOf(set)];
          context.fillRect((k % SIDE) + 0.05, Math.floor(k / SIDE) + 0.05, 0.9, 0.9);
        });
        string(context, color, before.best, before.sets, before.ground);
        context.globalAlpha = 1;
      },
    );
    const former = h("figcaption", {}, "");
    const shelf = h("figure", { class: "pa-chart pa-small" }, former, earlier.canvas);
    const board = h(
      "div",
      {
        class: "pa-own",
        role: "group",
        "aria-label":
          "Thirty-six patches in nine sets; arrow keys go from patch to patch; choose two to exchange them",
      },
      ...cells,
      strings.canvas,
    );
    exchanger(board, SIDE, {
      pick: (k) => pick(k),
      swap: (a, b) => swap(a, b),
      mark: (from) => mark(from),
    });
    roving(cells, onBoard(SIDE));
    const point = (k) => {
      if (k !== hovered) {
        hovered = k;
        strings.paint();
      }
    };
    board.addEventListener("pointermove", ({ pointerType, buttons, target }) =>
      point(pointerType === "mouse" && !buttons ? cells.indexOf(target) : -1),
    );
    board.addEventListener("pointerleave", () => point(-1));
    const mark = (from = -1) =>
      cells.forEach((cell, k) => cell.classList.toggle("pa-picked", k === from || k === picked));
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
    // Letters from A to Z on the board, a bit a patch, row by row: nine digits of sixteen each.
    const FONT = (
      "31287f861 fa1fa187e 7a182085e f228618bc fe0fa083f fe0fa0820 7a09e185e 861fe1861 78c30c31e " +
      "3c208289c 8a4e248a1 82082083f 873b61861 871a658e1 7a186185e fa187e820 7a186589d fa187e8a1 " +
      "7e078107e fcc30c30c 86186185e 86185248c 86186dce1 85230c4a1 85230c30c fc210843f"
    ).split(" ");
    /** Sets in their order on the patches of a letter, then on all others, and which these are. */
    function write(letter) {
      const drawn = FONT[letter.charCodeAt(0) - 65];
      if (letter.length !== 1 || !drawn) return null;
      const bits = [...drawn].flatMap((digit) =>
        [8, 4, 2, 1].map((bit) => Boolean(parseInt(digit, 16) & bit)),
      );
      const order = Array.from({ length: D }, (_, k) => k).sort((a, b) => bits[b] - bits[a] || a - b);
      const next = new Array(D);
      const apart = (a, b) =>
        Math.hypot(Math.floor(a / SIDE) - Math.floor(b / SIDE), (a % SIDE) - (b % SIDE));
      for (let n = 1, inked = bits.filter(Boolean).length; n < D; n++) {
        // along the strokes, so that sets lie on them
        const near = order
          .slice(n, n < inked ? inked : D)
          .reduce((best, k) => (apart(k, order[n - 1]) < apart(best, order[n - 1]) ? k : best));
        order.splice(order.indexOf(near), 1);
        order.splice(n, 0, near);
      }
      const inked = bits.filter(Boolean).length;
      const spread = (n) =>
        order
          .slice(C * Math.floor(n / C), C * Math.floor(n / C) + C)
          .reduce((sum, k) => sum + apart(k, order[n]), 0);
      for (let better = true; better; ) {
        // exchanges that bring sets together
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
    const corners = Array.from({ length: D }, (_, k) =>
      [Math.floor(k / SIDE), k % SIDE].map((at) => Math.min(at, SIDE - 1 - at)),
    ).map(([r, c]) => LETTERS[3 * r + c]);
    const initial = h("input", {
      type: "text",
      maxlength: 4,
      size: 2,
      autocomplete: "off",
      "aria-label": "Your initial",
      oninput: () => {
        const letter = initial.value
          .trim()
          .normalize("NFD")
          .replace(/[^A-Za-z]/g, "")
          .slice(-1)
          .toUpperCase();
        const written = letter && write(letter);
        if (!written && initial.value.trim())
          say("The letters that can be drawn on six by six patches are those from A to Z.");
        if (written) begin(written[0], { away: written[1], name: `the letter ${letter}` });
      },
    });
    const found = chart({ title: "Strings inside a set", xlabel: "step, log scale", height: 150 });
    // steps on a log scale
    const times = Array.from({ length: 51 }, (_, k) => (k === 0 ? 0 : Math.round(STEPS ** (k / 50))));
    let busy = false; // the model trains, and what it found is being shown
    const untrained = () => {
      const fresh = waiting;
      if (fresh) begin(sets, { away: ground, name: called });
      return fresh || busy;
    };
    const time = player({
      label: "step",
      seconds: 4,
      words: "Train",
      show: (k) => String(times[k]),
      before: untrained,
      onstep: (k) => {
        at = times[k];
        paint();
      },
    });
    const inside = (kept, sets) =>
      kept.map(
        ({ best }) =>
          best.flat().filter((j, k) => sets[Math.floor(k / (C - 1))] === sets[j]).length / (D * (C - 1)),
      );
    const shares = () => inside(kept, sets);
    function paint() {
      cells.forEach((cell, k) => {
        cell.className = `pa-cell pa-set-${sets[k]}${ground.includes(k) ? " pa-away" : ""}`;
        cell.setAttribute(
          "aria-label",
          `row ${Math.floor(k / SIDE) + 1}, column ${(k % SIDE) + 1}, set ${sets[k]}`,
        );
        cell.setAttribute("aria-pressed", String(k === picked));
      });
      mark();
      strings.paint();
      const share = shares();
      const seen = Math.min(at, kept.length - 1);
      const other = queued && ahead ? inside(ahead.kept, ahead.sets) : null; // of a guess, trained beside
      found.draw({
        x: [0, 50],
        range: [0, 1],
        format: percent,
        ticks: [0, 23, 50],
        across: (k) => String(times[k]),
        curves: [
          ...(before ? [{ y: before.share, look: "pa-noise", name: before.called, above: 0.28 }] : []),
          ...(other
            ? [{ y: times.map((t) => (t <= seen ? other[t] : NaN)), look: "pa-noise", name: queued.name }]
            : []),
          { y: times.map((t) => (t <= seen ? share[t] : NaN)), look: "pa-same", name: called, above: 0.1 },
        ],
        at: time.step,
      });
      shelf.classList.toggle("pa-empty", !before); // its place is kept
      former.textContent = before ? `Before: ${before.called}` : "";
      earlier.paint();
      const done = at >= STEPS && !queued;
      const told = done || known ? asked.tell() : "";
      const trained = [before, { called, share: times.map((t) => share[t]) }];
      const compared =
        done && before
          ? ` All but one in twenty joined them ` +
            `${trained.map((one) => `${after(one.share)} with ${one.called}`).join(", ")}: the rest is the ` +
            "luck of the draw, for no distance occurs anywhere in the model."
          : "";
      say(
        waiting
          ? `${fingers() ? "Hold a patch until it follows your finger, or tap two," : "Drag a patch onto another"} to ` +
              "exchange them, or write your initial. Then let the model find out."
          : at === 0
            ? `${told}Before training every score is equal, and strings are drawn between any patches.`
            : `${told}After step ${at}, ${percent(share[seen])} of the strings join companions. The ` +
              `model saw ${thousands(at * BATCH)} inputs with their labels, and never the sets.${compared}`,
      );
    }
    const after = (share) =>
      share.some((x) => x >= 0.95) ? `after step ${times[share.findIndex((x) => x >= 0.95)]}` : "never";
    let stop = () => {};
    /**
     * A training that has not begun: each `go` is a step. Equal scores at first: whom a patch listens to
     * most is drawn by lot.
     */
    function training(sets) {
      const [random, noise] = [uniform(1000003), uniform(3)];
      const run = new SampleDescent({
        sets: sets.slice(),
        q: Q,
        diagonal: 1,
        rate: 0.005,
        score_rate: 0.005 * D ** 2,
      });
      const kept = [
        {
          best: Array.from({ length: D }, (_, i) =>
            Array.from({ length: D }, (_, j) => [noise(), j])
              .filter(([, j]) => j !== i)
              .sort(([a], [b]) => a - b)
              .slice(0, C - 1)
              .map(([, j]) => j),
          ),
        },
      ];
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
      inFrames(
        say,
        () => run === mine || (second && second === ahead),
        (until) => {
          do {
            trained.go();
            second?.go();
          } while (trained.run.step < STEPS && performance.now() < until);
          if (trained.run.step < STEPS) return true;
          if (!second) return false;
          if (!known) {
            known = true;
            paint();
          } // the answer to a guess stands as soon as both are computed
          return false;
        },
        still.matches ? Infinity : 9,
      );
      // What is shown goes on a log scale, and waits for what is computed.
      let k = 0;
      stop = during(
        4.5,
        (t) => {
          if (run !== mine) return;
          while (k < 50 && k < 50 * t && times[k + 1] < kept.length) k += 1;
          time.go(k);
        },
        () => {
          if (run === mine) finish(mine, k);
        },
      );
    }
    const finish = (mine, k) => {
      if (run !== mine) return;
      if (k >= 50) {
        busy = false;
        time.name("Train again");
        if (queued)
          setTimeout(
            () => {
              if (run === mine && queued) begin(queued.sets, { name: queued.name });
            },
            still.matches ? 1500 : 900,
          );
        return;
      }
      while (k < 50 && times[k + 1] < kept.length) k += 1;
      time.go(k);
      requestAnimationFrame(() => finish(mine, k));
    };
    const asked = guess({
      question: "Which is hardest for the model: neat blocks, or patches scattered at random?",
      options: ["Blocks", "A scatter", "Neither"],
      right: 2,
      after: (k) => {
        // both, the guess first
        const both = [
          { sets: blocks, name: "blocks" },
          { sets: scattered, name: "a scatter" },
        ];
        const [first, then] = k === 0 ? both : both.toReversed();
        [before, kept, initial.value] = [null, [], ""];
        begin(first.sets, { name: first.name, then });
      },
    });
    stage.append(
      columns(
        [board],
        asked.element,
        h(
          "div",
          { class: "pa-tools" },
          h("label", { class: "pa-initial" }, "Your initial ", initial),
          ...[
            ["blocks", blocks],
            ["corners", corners],
            ["a scatter", scattered],
          ].map(([name, sets]) =>
            h("button", { type: "button", onclick: () => begin(sets, { name }) }, `Show: ${name}`),
          ),
        ),
        time.element,
        h("div", { class: "pa-pair" }, found.element, shelf),
        sentence,
      ),
    );
    return {
      fields: [],
      bare: true,
      repaint: paint,
      show: () => begin(blocks, { quiet: true, name: "blocks" }),
      room: 300,
      outside: { sets: () => sets.join(""), association: () => run.association(), step: () => at },
    };
  });
})();
