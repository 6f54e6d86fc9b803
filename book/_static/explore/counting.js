// Counting against listening: one input, its set sums, and both exact errors.
(() => {
  "use strict";
  const {
    h,
    controls,
    chart,
    inFrames,
    shapes,
    lettered,
    pixel,
    mount,
    uniform,
    still,
    drawInputs,
    refuse,
    finite,
    whole,
    seed,
    number,
    percent,
  } = window.patchAssociation;
  const narrow = matchMedia("(max-width: 600px)");
  const BOUNDARY = 0.7557; // of q (D - C) / C^2 as C grows: where the sum errs in one of eight (chapter linear_models)

  const FIELDS = [
    {
      key: "D",
      label: "D, patches",
      value: 36,
      options: [16, 24, 36, 48, 64, 100, 144, 196, 256, 400],
      rare: true,
    },
    { key: "C", label: "C, patches in a set", value: 4, options: [2, 4, 8, 16], rare: true },
    { key: "q", label: "q, chance of a random feature", value: 0.3, from: 0, to: 1, step: 0.01 },
    { key: "seed", label: "draw number", value: 1, from: 1, to: 100, step: 1, rare: true },
  ];

  let walked = { n: 0, q: NaN }; // the longest walk so far: a longer one goes on from it
  /** The law of a sum of n independent steps, +1 or -1 with chance q / 2 each: p[k + n] is that of k. */
  function walk(n, q) {
    const goesOn = walked.q === q && walked.n <= n;
    let law = goesOn ? walked.law : Float64Array.of(1);
    for (let m = goesOn ? walked.n : 0; m < n; m++) {
      const next = new Float64Array(law.length + 2);
      law.forEach((p, k) => {
        next[k] += (p * q) / 2;
        next[k + 1] += p * (1 - q);
        next[k + 2] += (p * q) / 2;
      });
      law = next;
    }
    if (goesOn || n > 16) walked = { n, q, law };
    return law;
  }

  /** The plain sum: P[y sum < 0] + P[y sum = 0] / 2. */
  function countingError(D, C, q) {
    const law = walk(D - C, q);
    let error = 0;
    law.forEach((p, k) => {
      const sum = C + k - (D - C);
      if (sum < 0) error += p;
      else if (sum === 0) error += p / 2;
    });
    return error;
  }

  /** The labeling function adds the set sums beyond 0.9 C: P[y f* <= 0]. */
  function listeningError(D, C, q) {
    const one = walk(C, q);
    const L = D / C;
    let law = Float64Array.of(1); // of the random sets' share in f*; entry m (2 C) + ... shifted by done * C
    for (let set = 1; set < L; set++) {
      const next = new Float64Array(law.length + 2 * C);
      let silent = 0;
      one.forEach((p, k) => {
        const sum = k - C;
        if (10 * Math.abs(sum) <= 9 * C) silent += p;
        else law.forEach((mass, m) => (next[m + sum + C] += mass * p));
      });
      law.forEach((mass, m) => (next[m + C] += mass * silent));
      law = next;
    }
    const zero = (L - 1) * C;
    let error = 0;
    law.forEach((p, m) => {
      if (C + m - zero <= 0) error += p;
    });
    return error;
  }

  /**
   * The chances of the plain sum as bars, on the first axis of `tops` that holds them: `draw({D, C, q,
   * before})`, with outlines for numbers of patches; `brief` where it is small.
   */
  function bell(describe, tops, tall, brief) {
    const [numbers, label] = brief ? [28, 60] : [22, 44]; // below the axis
    const base = tall - label - 6;
    const svg = h("svg:svg", {
      role: "img",
      viewBox: `0 0 620 ${tall}`,
      "aria-label": describe,
      class: "pa-bell",
    });
    lettered(svg, 620);
    const put = shapes(svg);
    function draw({ D, C, q, before = [], named = (size) => `${size} patches` }) {
      const law = (D) => {
        const steps = walk(D - C, q);
        return (n) => steps[n - C + D - C] ?? 0;
      };
      const wide = C + 3 * Math.sqrt(q * (D - C)) > 40; // a second axis for all that does not fit on the first
      const [low, high] = wide ? [-72, 90] : [-32, 40];
      const at = law(D);
      const top = tops.find((most) => at(C) <= most) ?? 1;
      const X = (x) => 20 + ((x - low) / (high - low)) * 580;
      const Y = (p) => base - (Math.min(p, top) / top) * (base - 30);
      const parts = [];
      for (let n = Math.ceil(low / 10) * 10; n <= high; n += wide ? 20 : 10)
        parts.push(["text", { x: pixel(X(n)), y: base + numbers, "text-anchor": "middle" }, number(n)]);
      parts.push([
        "text",
        { x: 310, y: base + label, "text-anchor": "middle" },
        "sum of all patches, times the label",
      ]);
      for (const y of [0.05, 0.1, 0.15, 0.2, 0.5])
        if (y < top && (top < 0.2 || y > 0.05) && y !== 0.15)
          parts.push(
            ["line", { class: "pa-grid", x1: X(low), x2: X(high), y1: pixel(Y(y)), y2: pixel(Y(y)) }],
            ["text", { x: X(low), y: pixel(Y(y) - 4) }, percent(y)],
          );
      const bar = (X(1) - X(0)) * 0.86;
      for (let n = low; n <= high; n++) {
        const rise = base - Y(at(n));
        if (rise > 0.05)
          parts.push([
            "rect",
            {
              class: n < 0 ? "pa-wrong" : n === 0 ? "pa-wrong pa-tied" : "pa-counted",
              x: pixel(X(n) - bar / 2),
              width: pixel(bar),
              y: pixel(base - rise),
              height: pixel(rise),
            },
          ]);
      }
      parts.push(
        ["line", { class: "pa-axis", x1: X(low), x2: X(high), y1: base, y2: base }],
        ["line", { class: "pa-mark", x1: X(C), x2: X(C), y1: 10, y2: base }],
      );
      for (const size of before) {
        // narrower bells, of fewer patches
        const then = law(size);
        const sums = Array.from({ length: 2 * (size - C) + 1 }, (_, k) => k + 2 * C - size).filter(
          (n) => n >= low && n <= high && base - Y(then(n)) > 0.3,
        );
        const reach = Math.round(Math.sqrt(q * (size - C)));
        const bend = Y(then(C + reach));
        parts.push(
          [
            "path",
            { class: "pa-ghost", d: `M${sums.map((n) => `${pixel(X(n))} ${pixel(Y(then(n)))}`).join("L")}` },
          ],
          ["text", { class: "pa-quiet-word", x: pixel(X(C + reach) + 9), y: pixel(bend + 5) }, named(size)],
        );
      }
      // from the middle to where a bell of normal shape bends
      const [spread, high_up] = [Math.sqrt(q * (D - C)), Y(0.6 * at(C))];
      parts.push(
        [
          "path",
          {
            class: "pa-spread",
            d:
              `M${pixel(X(C - spread))} ${pixel(high_up)}H${pixel(X(C + spread))}m0 ` +
              `-5v10M${pixel(X(C - spread))} ${pixel(high_up - 5)}v10`,
          },
        ],
        [
          "text",
          {
            class: "pa-quiet-word",
            x: pixel(X(C - spread) - 7),
            y: pixel(high_up - 6),
            "text-anchor": "end",
          },
          brief ? `± ${number(spread, 2)}` : `√${number(spread ** 2)} = ${number(spread, 2)} to either side`,
        ],
      );
      parts.push(
        ["text", { x: X(C) + 7, y: 20 }, "the label’s own set"],
        [
          "text",
          { class: "pa-wrong-words", x: X(0) - 12, y: 20, "text-anchor": "end" },
          "here the sum is wrong",
        ],
      );
      put(parts);
    }
    return { svg, draw };
  }

  const FARTHEST = 3; // random features in units of C^2, as far as the curves go; farther where the setting lies farther
  const curves = new Map(); // by C, q and reach: both exact errors at some numbers of patches, as far as they have come
  function curveOf(C, q, far = FARTHEST) {
    const key = `${C} ${q} ${far}`;
    const most = Math.min(1600, (far * C * C) / q) + C; // patches: all of a law that is quickly computed
    const sizes = [
      ...new Set(Array.from({ length: 49 }, (_, k) => C * Math.floor(2 + ((most / C - 2) * k) / 48))),
    ];
    if (!curves.has(key))
      curves.set(key, { C, q, far, sizes: q > 0 ? sizes : [], xs: [], sum: [], sets: [] });
    return curves.get(key);
  }
  const clutterOf = ({ D, C, q }) => (q * (D - C)) / C ** 2;

  function build({ stage, say, change }) {
    let seen = {};
    let shown = null; // the curve of the present setting
    let past = []; // those before it, which stay as dots
    let playing = false; // the answer to a guess: the curve is drawn as far as the patches have come
    let before = []; // the number of patches at the guess: its bell stays as an outline
    const panel = controls(FIELDS, (key, value) => {
      before = [];
      const next = { [key]: value };
      if (key === "D" && value % seen.C) next.C = [8, 4, 3, 2].find((C) => value % C === 0);
      change(next);
    });
    const input = h("div", { class: "pa-sets-of-patches", role: "img" });
    const law = bell(
      "The chances of each sum of all patches, times the label; what lies below zero is wrong",
      [0.05, 0.12, 0.23, 0.5],
      380,
      true,
    );
    const errors = chart({
      title: "Errors of the two ways",
      xlabel: "random features, in units of C²",
      height: narrow.matches ? 225 : document.body.matches(".pa-alone") ? 540 : 280,
      onpoint: (x) => {
        // as many patches as that
        const { C, q } = seen;
        if (!(q > 0)) return;
        before = [];
        change({ D: C * Math.max(2, Math.min(Math.floor(400 / C), Math.floor(1.0001 + (x * C) / q))) });
      },
    });
    stage.append(
      panel.element,
      h("div", { class: "pa-answer" }, errors.element),
      h(
        "figure",
        { class: "pa-chart", "data-small": true },
        h("figcaption", {}, "What a plain sum of all patches hears: the chance of each sum"),
        law.svg,
      ),
      h(
        "figure",
        { class: "pa-chart", "data-rest": true },
        h("figcaption", {}, "One input, a box for each set, with its sum"),
        input,
      ),
    );

    /** Both errors on the way to the end of the axis, some sizes a frame. */
    function compute(curve) {
      inFrames(
        say,
        () => shown === curve || past.includes(curve),
        (until) => {
          while (curve.xs.length < curve.sizes.length && performance.now() < until) {
            const at = { ...curve, D: curve.sizes[curve.xs.length] };
            curve.xs.push(clutterOf(at));
            curve.sum.push(countingError(at.D, at.C, at.q));
            curve.sets.push(listeningError(at.D, at.C, at.q));
          }
          plot();
          return curve.xs.length < curve.sizes.length;
        },
      );
    }
    function plot() {
      const { D, C, q } = seen;
      const at = clutterOf(seen);
      const { far } = shown;
      const gone = shown.xs.filter((x) => x < at).length;
      const waiting = stage.classList.contains("pa-guessing");
      const waits = playing || waiting; // what would answer the guess
      // with the present setting's
      const put = (list, value) => [...list.slice(0, gone), value, ...(waits ? [] : list.slice(gone))];
      const [xs, sum, sets] = [
        put(shown.xs, at),
        put(shown.sum, countingError(D, C, q)),
        put(shown.sets, listeningError(D, C, q)),
      ];
      const upon = past.filter((one) => one.far === far);
      const others = upon.map((one) => (one.q === q ? one.C : `${one.C} at q = ${number(one.q)}`)).join(", ");
      const covered = at >= BOUNDARY && at < BOUNDARY + far / 5 && BOUNDARY > far / 5; // by the cursor
      errors.draw({
        x: [0, far],
        at,
        // in units of their own until the answer is known
        ...(waiting ? { xlabel: "random features", across: (x) => number(x * C * C) } : {}),
        range: [0, far > 6 ? 0.5 : 0.36],
        format: percent,
        levels: waiting ? [] : [{ y: 0.125, name: "one in eight" }],
        marks: waits ? [] : [{ x: BOUNDARY, name: `${BOUNDARY} C²`, before: covered }],
        curves: [
          { xs, y: sets, look: "pa-same", name: "each set alone" },
          { xs, y: sum, look: "pa-label", name: "adding up" },
          ...upon.map((one, k) => ({
            xs: one.xs.map((x) => x + 1e-9),
            y: one.sum,
            look: "pa-noise pa-upon",
            name: k ? "" : `sets of ${others}`,
          })),
        ],
      });
    }
    function remember(curve) {
      if (curve.sizes.length) past = [curve, ...past.filter(({ C }) => C !== curve.C)].slice(0, 3);
      compute(curve);
    }

    function draw() {
      const { D, C, q } = seen;
      const sets = Array.from({ length: D }, (_, k) => Math.floor(k / C));
      const [s] = drawInputs(sets, q, 1, uniform(7919 * seen.seed));
      input.replaceChildren(
        ...Array.from({ length: D / C }, (_, l) => {
          const own = Array.from(s.slice(l * C, (l + 1) * C));
          const sum = own.reduce((a, b) => a + b, 0);
          const loud = 10 * Math.abs(sum) > 9 * C;
          return h(
            "span",
            { class: `pa-one-set${loud ? " pa-loud" : ""}` },
            ...own.map((v) =>
              h(
                "i",
                { class: v > 0 ? "pa-plus" : v < 0 ? "pa-minus" : "pa-none" },
                v > 0 ? "+" : v < 0 ? "−" : "·",
              ),
            ),
            h("b", {}, number(sum)),
          );
        }),
      );
      const total = s.reduce((a, b) => a + b, 0);
      input.setAttribute(
        "aria-label",
        `${D / C} sets with their sums; the loud ones are marked; all together ${total}`,
      );
      law.draw({ D, C, q, before });
      plot();
      const [counting, listening] = [countingError(D, C, q), listeningError(D, C, q)];
      const clutter = clutterOf(seen);
      const side = clutter > BOUNDARY ? "beyond" : "within";
      const errs = (share) =>
        share === 0
          ? "is never wrong"
          : share < 1e-6
            ? "is practically never wrong"
            : `is wrong on ${percent(share)} of inputs`;
      const features = `${number(q * (D - C))} random features`;
      // whoever has moved the picture first may still guess
      const first = stage.querySelector(".pa-guess:not(:has([aria-pressed=true]))")
        ? `Among ${features} adding up`
        : `The square decides: ${features} are ${number(clutter)} C², ${side} the boundary of ` +
          `${BOUNDARY} C², and adding up`;
      say(
        `${first} ${errs(counting)}. Each set by itself ` +
          `${errs(listening)}` +
          (listening > counting
            ? ": more, by its ties alone, which it loses and the sum gives to a coin."
            : "."),
      );
    }

    return {
      fields: FIELDS,
      guess: {
        question:
          "Where does adding up break down: at as many random features as patches in a set, or as its square?",
        options: ["As many", "The square"],
        right: 1,
        before: () =>
          `With ${seen.D} patches, adding up is wrong on ` +
          `${percent(countingError(seen.D, seen.C, seen.q))} of inputs, each set by itself on ` +
          `${percent(listeningError(seen.D, seen.C, seen.q))}. Guess, or add patches.`,
        after: async () => {
          if (seen.D < 144) before = [seen.D];
          playing = true;
          for (let D = still.matches ? 144 : seen.D + seen.C; D <= 144; D += seen.C) {
            // the bell widens as they come
            change({ D });
            await new Promise((done) =>
              still.matches ? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(done, 90),
            );
          }
          playing = false;
          for (const C of [8, 2]) remember(curveOf(C, seen.q)); // and sets of other sizes fall upon it
          draw();
        },
      },
      colors: { "pa-label": "[Aa]dding up", "pa-same": "[Ee]ach set by itself" },
      ready: true,
      begin: () => requestAnimationFrame(plot),
      room: 255,
      repaint: draw,
      check({ D, C, q, seed: drawn }) {
        whole("D", D, 2, 1000);
        whole("C", C, 1);
        if (D % C) refuse(`The sets must have equal sizes: C = ${C} does not divide D = ${D}.`);
        finite("q", q, 0, 1);
        seed(drawn);
      },
      show(setting) {
        seen = { ...setting };
        let far = shown && shown.C === seen.C && shown.q === seen.q ? shown.far : FARTHEST; // under a hand the axis stays
        while (far < clutterOf(seen)) far *= 2;
        const curve = curveOf(seen.C, seen.q, far);
        if (shown && curve.C !== shown.C) remember(shown);
        past = past.filter(({ C }) => C !== curve.C);
        shown = curve;
        panel.offer(
          "D",
          [...new Set([...FIELDS[0].options, seen.D])].sort((a, b) => a - b),
        );
        compute(curve);
        panel.offer(
          "C",
          Array.from({ length: Math.min(seen.D - 1, 16) }, (_, k) => k + 1).filter(
            (C) => C > 1 && seen.D % C === 0,
          ),
        );
        panel.show(seen);
        draw();
      },
      outside: {
        boundary: () => BOUNDARY,
        errors: () => [countingError(seen.D, seen.C, seen.q), listeningError(seen.D, seen.C, seen.q)],
      },
      code: (s) =>
        [
          "import patch_association as pa",
          "",
          `print(pa.linear_error(${s.D}, ${s.C}, ${s.q}, ties="half"))`,
          `print(pa.labeling_error(${s.D}, ${s.C}, ${s.q}))`,
        ].join("\n"),
    };
  }

  Object.assign(window.patchAssociation, { bell, countingError, listeningError });
  mount("counting", build);
})();
