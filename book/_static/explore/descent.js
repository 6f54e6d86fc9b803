// Theorem 4.1 in the page: the exact idealized process for any sizes, range of q, diagonal, start and rates.
(() => {
  "use strict";
  const {
    h,
    PopulationRisk,
    Descent,
    checkLaw,
    number,
    percent,
    controls,
    player,
    chart,
    listeners,
    inFrames,
    mount,
    still,
  } = window.patchAssociation;

  const FIELDS = [
    { key: "D", label: "D, patches", value: 16, options: [8, 9, 12, 15, 16, 18, 20, 24], rare: true },
    { key: "C", label: "C, patches in a set", value: 4, options: [2, 4, 8], rare: true },
    { key: "q", label: "q, chance of a random feature", value: 0.3, from: 0, to: 1, step: 0.01 },
    { key: "diagonal", label: "diagonal of A", value: 1, from: -1, to: 5, step: 0.05, rare: true },
    { key: "steps", label: "steps", value: 400, from: 50, to: 2000, step: 50, rare: true },
    { key: "degree", label: "degree p", value: 3, options: [3, 5, 7], rare: true },
    { key: "linear", label: "ν, linear part", value: 0.01, from: 1e-6, to: 1, scale: "log", rare: true },
    { key: "alpha", label: "α at the start", value: 0.1, from: 1e-4, to: 1, scale: "log", rare: true },
    { key: "rate", label: "rate of v", value: 0.02, from: 1e-3, to: 0.2, scale: "log", rare: true },
    { key: "score_rate", label: "rate of A", value: 5.12, from: 1e-3, to: 200, scale: "log", rare: true },
  ];
  const divisors = (D) => Array.from({ length: D - 1 }, (_, k) => k + 2).filter((C) => D % C === 0 && C < D);
  const near = (a, b) => Math.abs(a - b) <= 1e-3 * Math.abs(b);

  function build({ stage, say, change }) {
    let run = null;
    let risk = null;
    let seen = {};
    let finish;
    let plays = !location.hash && !still.matches; // once, by itself
    let begun = !plays; // without an address it begins at the beginning
    let [earlier, compared] = [null, null]; // the run that a guess compares with, and the one that it is about to
    let playing = false; // the answer to a guess: what is not reached yet is not drawn
    const ready = new Promise((done) => (finish = done));

    // What followed a rule before a move follows it after: the start of Parametrization 3.1, eta_A = D^2 eta.
    const panel = controls(FIELDS, (key, value) => {
      const now = { ...seen, [key]: value };
      if (key === "D" && value % now.C)
        now.C = divisors(value).reduce((a, b) => (Math.abs(b - 4) < Math.abs(a - 4) ? b : a));
      if ((key === "D" || key === "rate") && near(seen.score_rate, seen.D ** 2 * seen.rate))
        now.score_rate = Number((now.D ** 2 * now.rate).toPrecision(12));
      if ((key === "linear" || key === "degree") && near(seen.alpha, seen.linear ** (1 / (seen.degree - 1))))
        now.alpha = Number((now.linear ** (1 / (now.degree - 1))).toPrecision(12));
      seen = now;
      change(now);
    });
    const onpoint = (step) => {
      time.stop();
      time.go(Math.round(step));
    };
    // On a desk all stand there: the matrix beside, the other curves below, as far down as that.
    const desk = document.body.matches(".pa-alone") && innerWidth > 1000;
    const [tall, low] = desk ? [400, 315] : [352, 190];
    const scores = chart({ title: "Scores of a patch: who is ahead", height: tall, onpoint });
    const errors = chart({ title: "The error of the model, and its risk", log: true, height: low, onpoint });
    const signal = chart({ title: "α, the signal in the value vector", height: low, onpoint });
    const picture = listeners({ title: "Who listens to whom at this step" });
    const time = player({ label: "step", onstep: () => draw() });
    for (const { element } of [picture, errors, signal])
      if (!desk) element.dataset.rest = "";
      else if (element === picture.element) element.dataset.small = "";
    const others = desk
      ? [h("div", { class: "pa-panels" }, errors.element, signal.element)]
      : [errors.element, signal.element];
    stage.append(time.element, panel.element, scores.element, picture.element, ...others);

    function draw() {
      if (!run || !(run.done || run.finished)) return; // nothing is known of a run that has just been asked for
      const at = Math.max(0, Math.min(time.step, run.done - 1));
      const x = [0, run.steps];
      const marked = playing ? [] : marks();
      const cut = (y) => (playing ? y.map((v, k) => (k <= at ? v : NaN)) : y);
      if (playing) say(sentence());
      scores.draw({
        x,
        at,
        span: 0.1,
        curves: [
          ...(earlier
            ? [
                { y: earlier.gamma, look: "pa-same pa-faint", name: `at q = ${number(earlier.q)}` },
                { y: earlier.rho, look: "pa-other pa-faint", name: `at q = ${number(earlier.q)}` },
              ]
            : []),
          { y: cut(run.gamma), look: "pa-same", name: "companions" },
          { y: cut(run.rho), look: "pa-other", name: "strangers" },
        ],
        levels: [{ y: seen.diagonal, name: "a patch itself" }],
        marks: marked,
      });
      errors.draw({
        x,
        at,
        curves: [
          { y: cut(run.error), look: "pa-label", name: "error" },
          { y: cut(run.loss), look: "pa-noise", name: "risk" },
        ],
        levels: [{ y: risk.voteError, name: `plain sum ${percent(risk.voteError)}` }],
        marks: marked,
      });
      signal.draw({ x, at, curves: [{ y: cut(run.alpha), look: "pa-signal" }] });
      const [beta, gamma, rho] = [seen.diagonal, run.gamma[at], run.rho[at]];
      const same = (i, j) => Math.floor(i / seen.C) === Math.floor(j / seen.C);
      picture.draw(seen.D, seen.C, (i, j) => (i === j ? beta : same(i, j) ? gamma : rho), same);
    }

    /** The first step from which companions lead for good, and whether they ever fell behind after leading. */
    function lead() {
      let [from, lost] = [null, null];
      for (let t = 1; t < run.done; t++) {
        const ahead = run.gamma[t] > run.rho[t];
        if (ahead && from === null) from = t;
        if (!ahead && from !== null) [from, lost] = [null, t];
      }
      return { from, lost };
    }
    const marks = () => {
      const { from, lost } = lead();
      return [from, lost].filter((t) => t !== null).map((t) => ({ x: t }));
    };

    function sentence() {
      if (!run.finished) return `Step ${run.done} of ${run.steps} …`;
      if (run.divergedAt !== null)
        return (
          `At step ${run.divergedAt} the risk leaves all bounds: these rates are too large for D = ` +
          `${seen.D}. Lower them.`
        );
      if (playing) return `Step ${time.step}, at q = ${number(seen.q)}.`;
      const { from, lost } = lead();
      const end = run.steps;
      const gap = run.gamma[end] - run.rho[end];
      const start = `At q = ${number(seen.q)} with diagonal ${number(seen.diagonal)}, `;
      const who =
        run.steps === 0
          ? "no step is taken"
          : Math.abs(gap) < 1e-12
            ? "the scores of companions and strangers do not move apart"
            : from === null && lost === null
              ? "strangers lead at every step"
              : from === null
                ? `companions led at first and fell behind at step ${lost}`
                : lost !== null
                  ? `companions fall behind at step ${lost} and lead again from step ${from}`
                  : `companions lead from step ${from}`;
      const error = run.error[end];
      const plain = risk.voteError;
      const compared =
        error < 0.995 * plain ? "less than" : error > 1.005 * plain ? "more than" : "as much as";
      return (
        `${start}${who}. The error ends at ${percent(error)}, ${compared} the ${percent(plain)} of a ` +
        `plain sum of all patches; α ends at ${number(run.alpha[end])}.`
      );
    }

    function work() {
      const mine = run;
      inFrames(
        say,
        () => run === mine,
        (until) => {
          run.advance(until - performance.now());
          if (run.finished) finish();
          if (run.finished && plays) time.play();
          plays &&= !run.finished;
          draw();
          say(sentence(), run.divergedAt !== null);
          return !run.finished;
        },
        8,
      ); // enough for 400 steps at (16, 4), and the rest of a sixtieth of a second is for drawing
    }

    return {
      fields: FIELDS,
      room: 215,
      plays: true,
      colors: { "pa-same": "companions?", "pa-other": "strangers?", "pa-signal": "α", "pa-label": "error" },
      ready,
      guess: {
        question: "At q = 0.3 companions lead in the end. Who leads at q = 0.8, with many random features?",
        options: ["Companions", "Strangers"],
        right: 1,
        after: async () => {
          while (run && !run.finished) await new Promise(requestAnimationFrame);
          compared = run?.finished ? { gamma: run.gamma, rho: run.rho, q: seen.q } : null;
          begun = false; // it plays from the beginning
          change({ q: 0.8 });
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); // it is shown a frame later
          playing = true;
          await time.play();
          playing = false;
          draw();
          say(sentence());
        },
      },
      repaint: draw,
      check(setting) {
        checkLaw(setting);
        Descent.check(setting);
      },
      show(setting) {
        seen = { ...setting };
        [earlier, compared] = [compared, null];
        const law = ["D", "C", "q", "degree", "linear"];
        if (Number.isInteger(seen.D) && seen.D > 1 && seen.D < 1000) panel.offer("C", divisors(seen.D));
        panel.show(seen);
        try {
          if (!risk || law.some((key) => risk[key] !== seen[key])) risk = new PopulationRisk(seen);
          run = new Descent({ ...seen, risk });
        } catch (error) {
          [run, risk] = [null, null];
          finish();
          throw error;
        }
        time.stop();
        time.fit(run.steps, begun ? run.steps : 0);
        begun = true;
        work();
      },
      outside: {
        trajectory: () => {
          if (!run) throw new Error("this setting was refused");
          return run.trajectory();
        },
      },
      code: (s) =>
        [
          "import patch_association as pa",
          "",
          `risk = pa.PopulationRisk(${s.D}, ${s.C}, q=${s.q}, degree=${s.degree}, linear=${s.linear})`,
          `step = pa.Constant(${s.rate}, score_rate=${s.score_rate})`,
          `run = pa.descend_population(risk, step, steps=${s.steps}, diagonal=${s.diagonal}, alpha=${s.alpha})`,
          "print(run.gamma[-1], run.rho[-1], run.error[-1])",
        ].join("\n"),
    };
  }

  mount("descent", build);
})();
