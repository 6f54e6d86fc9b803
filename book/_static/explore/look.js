// Where does it look? The second theory: tokens of three kinds, attention as training goes, tokens taken away by hand.
(() => {
  "use strict";
  const {
    h,
    controls,
    roving,
    player,
    chart,
    inFrames,
    mount,
    still,
    refuse,
    finite,
    whole,
    seed,
    number,
    percent,
    forward,
    ShallowDescent,
    ceiling,
  } = window.patchAssociation;
  const L = 20; // tokens of an input
  const FIRST = 20; // steps that are shown before a guess
  const KINDS = ["label-relevant", "confusion", "other"];
  const LOOKS = ["pa-signal", "pa-other", "pa-noise"];

  const FIELDS = [
    { key: "relevant", label: "α*, label-relevant", value: 0.4, from: 0.05, to: 1, step: 0.05 },
    { key: "confusion", label: "α#, confusion", value: 0.1, from: 0, to: 0.45, step: 0.05, rare: true },
    { key: "patterns", label: "M, patterns", value: 5, options: [3, 4, 5, 6, 8], rare: true },
    {
      key: "loss",
      label: "loss",
      value: "logistic",
      text: /^(hinge|logistic)$/,
      what: "loss: hinge or logistic",
      options: [
        ["hinge", "hinge"],
        ["logistic", "logistic"],
      ],
      rare: true,
    },
    {
      key: "removed",
      label: "taken away",
      value: "after",
      text: /^(after|before)$/,
      what: "moment: after or before",
      options: [
        ["here, after training", "after"],
        ["everywhere, before", "before"],
      ],
      rare: true,
    },
    {
      key: "label",
      label: "label of the input",
      value: 1,
      options: [
        ["+1", 1],
        ["−1", -1],
      ],
      rare: true,
    },
    { key: "steps", label: "steps", value: 1000, from: 100, to: 2000, step: 100, rare: true },
    { key: "neurons", label: "m, neurons", value: 100, options: [50, 100, 200], rare: true },
    { key: "rate", label: "step size", value: 2, from: 0.01, to: 5, scale: "log", rare: true },
    { key: "seed", label: "draw number", value: 1, from: 1, to: 50, step: 1, rare: true },
    { key: "gone", value: "", text: /^(\d{1,2}(\.\d{1,2})*)?$/, what: "list of tokens such as 3.5.7" },
  ];

  /** Counts of the patterns in the class +1: the rest is dealt out evenly, as `PatternData` does it. */
  function countsOf({ relevant, confusion, patterns }) {
    const [a, b] = [relevant, confusion].map((x) => Math.round(x * L));
    if (!(b < a))
      refuse(
        "The majority decides the label: α* (relevant) must give more tokens than α# (confusion); of " +
          `${L} they give ${a} and ${b}.`,
      );
    if (a + b > L)
      refuse(`α* (relevant) and α# (confusion) give ${a} and ${b} tokens, and an input has only ${L}.`);
    const rest = L - a - b;
    return [
      a,
      b,
      ...Array.from(
        { length: patterns - 2 },
        (_, k) => Math.floor(rest / (patterns - 2)) + (k < rest % (patterns - 2) ? 1 : 0),
      ),
    ];
  }

  /** The tokens of a list such as "3.5.7", counted from 0. */
  const tokensOf = (list) => (list ? list.split(".").map((k) => Number(k) - 1) : []);

  function build({ stage, say, change }) {
    let run = null;
    let seen = {};
    let order = ""; // the run that is shown, as a text: what it depends on
    let patterns = []; // of the tokens, counted by kind: 0 label-relevant, 1 confusion, 2 and more the others
    let asking = -1;
    let playing = false; // the answer to a guess: what is not reached yet is not drawn
    let finish;
    const ready = new Promise((done) => (finish = done));
    const panel = controls(FIELDS, (key, value) =>
      change({ [key]: value, ...(["relevant", "confusion", "patterns"].includes(key) ? { gone: "" } : {}) }),
    );
    const time = player({ label: "step", onstep: () => draw(), seconds: 5 });
    const gone = () => new Set(tokensOf(seen.gone));
    const toggle = (k) => {
      const now = gone();
      if (!now.delete(k)) now.add(k);
      if (now.size === L) return say(`One token has to stay.`, true);
      change({
        gone: [...now]
          .sort((a, b) => a - b)
          .map((j) => j + 1)
          .join("."),
      });
    };
    const ask = (k) => {
      if (!stage.classList.contains("pa-guessing")) {
        asking = k;
        draw();
      }
    };
    const tokens = Array.from({ length: L }, (_, k) =>
      h(
        "button",
        {
          type: "button",
          class: "pa-token",
          onclick: () => toggle(k),
          onpointerenter: () => ask(k),
          onpointerleave: () => ask(-1),
          onfocus: () => ask(k),
          onblur: () => ask(-1),
        },
        h("span", { class: "pa-bar", "aria-hidden": "true" }),
        h("b"),
      ),
    );
    roving(tokens, (key) => ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 })[key]);
    const asked = h("figcaption", {}, "");
    const row = (attributes) => {
      const groups = KINDS.map((_, k) => ({
        box: h("div", { class: "pa-tokens" }),
        said: h("p", { class: LOOKS[k] }),
      }));
      return {
        groups,
        element: h(
          "div",
          { class: "pa-kinds", ...attributes },
          ...groups.map(({ box, said }) => h("div", { class: "pa-kind" }, box, said)),
        ),
      };
    };
    const first = row({
      role: "group",
      "aria-label":
        "The tokens of an input, by kind; arrow keys go from token to token; press one to take it away or to put it back",
    });
    // the other class: patterns 1 and 2 exchange their roles, and keep their scores
    const second = row({ class: "pa-kinds pa-low", role: "img" });
    const others = Array.from({ length: L }, () =>
      h("span", { class: "pa-token" }, h("span", { class: "pa-bar" }), h("b")),
    );
    const input = h("figure", { class: "pa-chart" }, asked, first.element);
    const turned = h(
      "figure",
      { class: "pa-chart" },
      h(
        "figcaption",
        {},
        "The other class: the same scores, but patterns 1 and 2 have exchanged their roles",
      ),
      second.element,
      h("p", { class: "pa-quiet" }, "Dashed: as much as an even share for each token."),
    );
    const onpoint = (step) => {
      time.stop();
      time.go(Math.round(step));
    };
    const mass = chart({
      title: "Attention by kind, on average over both classes",
      height: matchMedia("(max-width: 600px)").matches ? 170 : 280,
      onpoint,
    });
    mass.element.dataset.lead = "";
    const margin = chart({ title: "Margin: above zero it is right", height: 200, onpoint });
    margin.element.dataset.small = "";
    stage.append(time.element, panel.element, input, turned, mass.element, margin.element);

    /**
     * The fractions of an input, by default the shown one: pattern 1 decides where the label is +1, pattern
     * 2 where it is -1.
     */
    function shares(kept, label = seen.label) {
      const counts = new Float64Array(seen.patterns);
      patterns.forEach((kind, k) => {
        if (kept(k)) counts[own(kind, label)] += 1;
      });
      const total = counts.reduce((a, b) => a + b, 0);
      return counts.map((n) => n / total);
    }
    /** How many tokens of each kind stay. */
    function staying() {
      const without = gone();
      const counts = new Array(seen.patterns).fill(0);
      patterns.forEach((kind, k) => {
        if (!without.has(k)) counts[kind] += 1;
      });
      return counts;
    }
    const own = (kind, label = seen.label) => (label < 0 && kind < 2 ? 1 - kind : kind); // the pattern that shows a kind
    /** Attention to each pattern, by the query pattern `by`, or by an average token where it is -1. */
    function paid(S, share, by) {
      return S.map((row) => (by < 0 ? row.reduce((sum, x, l) => sum + x * share[l], 0) : row[by]));
    }

    /** Draw a row of tokens, those of a label without some; the fractions of the others. */
    function fill({ groups, element }, tokens, label, without, weights, by) {
      const share = shares((k) => !without.has(k), label);
      const received = paid(forward(weights, share).S, share, by);
      const stay = L - without.size;
      const given = [0, 0, 0];
      tokens.forEach((token, k) => {
        const [kind, pattern] = [Math.min(patterns[k], 2), own(patterns[k], label)];
        const out = without.has(k);
        const part = out ? 0 : received[pattern] / (share[pattern] * stay); // of one token
        given[kind] += part;
        const [bar, name] = token.children;
        token.className = `pa-token ${LOOKS[kind]}${out ? " pa-gone" : ""}`;
        bar.style.setProperty("--part", Math.min(1, (part * stay) / 3).toFixed(4));
        name.textContent = String(pattern + 1);
        if (tokens === others) return;
        token.setAttribute("aria-pressed", out);
        token.setAttribute(
          "aria-label",
          `token ${k + 1}, pattern ${pattern + 1}, ${KINDS[kind]}, ` +
            `${out ? "taken away" : `gets ${number(100 * part, 2)}% of the attention`}`,
        );
      });
      groups.forEach(({ box, said }, k) => {
        const own = tokens.filter((_, j) => Math.min(patterns[j], 2) === k);
        if (own.length !== box.children.length || own[0] !== box.firstChild) box.replaceChildren(...own);
        box.parentNode.style.flexGrow = own.length;
        box.parentNode.hidden = !own.length;
        said.replaceChildren(KINDS[k], h("b", {}, ` ${percent(given[k])}`));
      });
      if (tokens === others)
        element.setAttribute(
          "aria-label",
          "The other class: " +
            `${KINDS.map((kind, k) => `${kind} tokens get ${percent(given[k])}`).join(", ")} of the ` +
            "attention",
        );
      return share;
    }

    function draw() {
      if (!run?.kept.length) return;
      const at = Math.min(time.step, run.found.risk.length - 1);
      const without = gone();
      const weights = run.at(at);
      const by = asking >= 0 && !without.has(asking) ? own(patterns[asking]) : -1;
      asked.textContent =
        by < 0
          ? "Where an average token looks. Press a token to take it away"
          : `Where a token of pattern ${by + 1} looks, in either class`;
      const share = fill(first, tokens, seen.label, without, weights, by);
      fill(second, others, -seen.label, seen.removed === "before" ? without : new Set(), weights, by);
      const steps = run.found.risk.length - 1;
      const x = [0, run.finished ? steps : seen.steps];
      const [a, b] = fractions();
      const waits = playing || stage.classList.contains("pa-guessing");
      const cut = (y, xs) => (waits ? Array.from(y, (v, k) => ((xs ? xs[k] : k) <= at ? v : NaN)) : y);
      if (playing) say(`Step ${at}.`);
      mass.draw({
        x,
        at,
        range: [0, 1],
        format: percent,
        curves: [
          { y: cut(run.found.mass), look: "pa-signal", name: "relevant" },
          { y: cut(run.found.confused), look: "pa-other", name: "confusion" },
        ],
        levels: b < a && !waits ? [{ y: ceiling(a, b), name: `ceiling ${percent(ceiling(a, b))}` }] : [],
      });
      const xs = run.kept.map(({ step }) => step);
      const margins = (of) => run.kept.map(({ weights }) => seen.label * forward(weights, of).F);
      const all = shares(() => true);
      margin.draw({
        x,
        curves: [
          ...(without.size ? [{ xs, y: margins(all), look: "pa-noise", name: "all tokens" }] : []),
          { xs, y: cut(margins(share), xs), look: "pa-label", name: without.size ? "without" : "" },
        ],
        levels: [{ y: 1, name: "the hinge stops" }],
        at,
      });
    }

    /** The law that is trained on: alpha_* and alpha_#. */
    function fractions() {
      const [share] = run.inputs.map((one) => one.share);
      return [share[0], share[1]];
    }

    function sentence() {
      const { found, fittedAt } = run;
      if (!run.finished || playing) return `Step ${playing ? time.step : run.step} of ${seen.steps} …`;
      const end = found.mass.length - 1;
      const [a, b] = fractions();
      const stop =
        fittedAt !== null
          ? `, and training stops at step ${fittedAt}, when every hinge is zero`
          : seen.loss === "hinge"
            ? `, and the hinge is not yet zero`
            : "";
      const limit = !(b < a)
        ? "Nothing can be learned: the majority that decides the label is gone."
        : b > 0
          ? `A part: no keys and queries could bring it above ${percent(ceiling(a, b))}, as what lifts ` +
            "pattern 1 in one class lifts it in the other, where it confuses."
          : "All of it, in the end: without confusion tokens nothing forbids that.";
      const without = gone();
      const weights = run.at(end);
      const [all, share] = [shares(() => true), shares((k) => !without.has(k))];
      const of = (fractions) => {
        const { F, S } = forward(weights, fractions);
        return [seen.label * F, paid(S, fractions, -1)[own(0)]];
      };
      const [[before, far], [after, near]] = [of(all), of(share)];
      const hand =
        without.size === 0
          ? `The margin of this input ends at ${number(before)}.`
          : seen.removed === "before"
            ? `All inputs had ${without.size} of ${L} tokens taken away before training; the margin ends ` +
              `at ${number(after)}.`
            : `You took away ${without.size} of ${L} tokens: the margin of this input goes from ` +
              `${number(before)} to ${number(after)}, its attention to label-relevant tokens from ` +
              `${percent(far)} to ${percent(near)}.`;
      return (
        `${limit} In ${end} steps the attention to label-relevant tokens goes from ` +
        `${percent(found.mass[0])} to ${percent(found.mass[end])} on average over both classes${stop}. ` +
        `${hand}`
      );
    }

    function work() {
      const mine = run;
      inFrames(
        say,
        () => run === mine,
        (until) => {
          run.advance(until);
          const done = run.found.risk.length - 1;
          if (run.finished || !still.matches)
            time.fit(
              run.finished ? done : seen.steps,
              stage.classList.contains("pa-guessing") ? Math.min(done, FIRST) : done,
            ); // where motion is unwanted, the end alone
          say(sentence());
          if (run.finished) finish();
          return !run.finished;
        },
        9,
      );
    }

    return {
      fields: FIELDS,
      room: 350,
      colors: { "pa-signal": "label-relevant tokens", "pa-other": "confusion tokens", "pa-label": "margin" },
      guess: {
        question: "Trained forever, how much attention do the tokens get that decide?",
        options: ["All of it", "A part, up to a ceiling"],
        right: 1,
        before: () =>
          `After ${FIRST} steps of ${seen.steps} the tokens that decide get ` +
          `${percent(run?.found.mass[Math.min(FIRST, run.found.mass.length - 1)])} of the attention. ` +
          "Guess, or let the training go on.",
        after: async () => {
          playing = true;
          time.go(0);
          await time.play();
          playing = false;
          draw();
          say(sentence());
        },
      },
      ready,
      repaint: draw,
      begin: () => requestAnimationFrame(draw),
      check(setting) {
        whole("steps", setting.steps, 1, 5000);
        whole("neurons", setting.neurons, 1, 500);
        seed(setting.seed);
        whole("patterns", setting.patterns, 3);
        for (const key of ["relevant", "confusion"]) finite(key, setting[key], 0, 1);
        finite("rate", setting.rate, 0, 10);
        if (Math.abs(setting.label) !== 1) refuse(`The label is 1 or -1; it is ${setting.label}.`);
        if (setting.patterns > 10)
          refuse(
            `The patterns are basis vectors of ten dimensions: there are at most 10, not ${setting.patterns}.`,
          );
        countsOf(setting);
        const without = tokensOf(setting.gone);
        if (without.some((k) => k < 0 || k >= L)) refuse(`An input has tokens 1 to ${L}; gone names others.`);
        if (new Set(without).size < without.length)
          refuse("gone must name each token once; it names one twice.");
        if (without.length === L) refuse(`gone names all tokens 1 to ${L}: one token has to stay.`);
      },
      show(setting) {
        panel.show(setting);
        const counts = countsOf(setting); // which the sliders can break
        seen = { ...setting };
        patterns = counts.flatMap((n, kind) => new Array(n).fill(kind));
        const trained = seen.removed === "before" ? staying() : counts;
        const { neurons, seed, rate, steps, loss } = seen;
        const now = JSON.stringify([trained, neurons, seed, rate, steps, loss]);
        if (now === order && run) {
          draw();
          say(sentence());
          return;
        }
        [order, run] = [now, null];
        run = new ShallowDescent({
          counts: trained,
          neurons,
          seed,
          rate,
          steps,
          loss,
          stride: Math.ceil(steps / 250),
        });
        time.stop();
        time.fit(steps, 0);
        work();
      },
      outside: {
        measures: () => ({ ...run.found, fittedAt: run.fittedAt }),
        input: () => {
          const share = shares((k) => !gone().has(k));
          return {
            share: Array.from(share),
            F: forward(run.weights, share).F,
            kept: forward(run.at(run.step), share).F,
          };
        },
      },
      code: (s) =>
        [
          "from patch_association.shallow import PatternData, Sgd, initial_weights, population, train",
          ...(s.removed === "before" && s.gone
            ? ["from dataclasses import replace", "import torch", ""]
            : [""]),
          `data = PatternData(${L}, ${s.relevant}, ${s.confusion}, num_patterns=${s.patterns}, noise=0.0)`,
          "law = population(data)",
          ...(s.removed === "before" && s.gone
            ? [
                `counts = torch.tensor(${JSON.stringify(staying())}).double()  # what stays in the class +1`,
                "both = torch.stack([counts, counts[[1, 0, *range(2, len(counts))]]])",
                "law = replace(law, share=both / both.sum(dim=1, keepdim=True))",
              ]
            : []),
          `start = initial_weights(data, [${s.seed}], num_neurons=${s.neurons})  # another draw of the same start`,
          `run = train(law, start, steps=${s.steps}, rate=${s.rate}, record=1, how=Sgd(loss="${s.loss}"))`,
          "print(run.mass[-1], run.margin[-1], run.fitted_at)",
        ].join("\n"),
    };
  }

  mount("look", build);
})();
