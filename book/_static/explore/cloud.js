// The cloud of scores on a finite sample: when every row is right, and whether it stays so while the error falls.
(() => {
  "use strict";
  const { h, controls, player, chart, shapes, pixel, legend, inFrames, mount, still, uniform, drawInputs, SampleDescent, number, percent, whole, finite, seed } = window.patchAssociation;
  const D = 16;
  const C = 4;
  const SETS = Array.from({ length: D }, (_, k) => Math.floor(k / C));
  const TEST = 4000;

  const FIELDS = [
    { key: "N", label: "N, training inputs", value: 1000, from: 50, to: 8000, scale: "log" },
    { key: "q", label: "q, chance of a random feature", value: 0.4, from: 0, to: 1, step: 0.05 },
    { key: "steps", label: "steps", value: 400, from: 100, to: 2000, step: 100 },
    { key: "seed", label: "draw number", value: 1, from: 1, to: 50, step: 1 },
  ];

  function build({ stage, say, change }) {
    let run = null;
    let seen = {};
    let kept = null;
    let finish;
    const ready = new Promise((done) => (finish = done));
    const panel = controls(FIELDS, (key, value) => change({ [key]: key === "N" ? Math.round(value) : value }));
    const time = player({ label: "step", onstep: () => draw() });
    const svg = h("svg:svg", { role: "img", "aria-label": "All scores at this step: companions above, strangers below", height: 120 });
    const put = shapes(svg);
    const cloud = h("figure", { class: "pa-chart" }, h("figcaption", {}, "All scores at this step"), svg,
      legend([["pa-same", "companions"], ["pa-other", "strangers"]]));
    const margin = chart({ title: "Margin: least companion minus greatest stranger, worst row" });
    const errors = chart({ title: "Error", log: false });
    stage.append(panel.element, time.element, cloud, h("div", { class: "pa-panels" }, margin.element,
      h("div", {}, errors.element, legend([["pa-label", "on new inputs"], ["pa-noise", "on the training inputs"]]))));

    function draw() {
      if (!kept || kept.done === 0) return;
      const at = Math.max(0, Math.min(time.step, kept.done - 1));
      const A = kept.scores[at];
      const width = cloud.clientWidth || 320;
      svg.setAttribute("viewBox", `0 0 ${width} 120`);
      let [low, high] = [0, 0];
      for (const now of kept.scores) for (const v of now) [low, high] = [Math.min(low, v), Math.max(high, v)];
      if (high === low) high = low + 1;
      const X = (v) => 10 + ((v - low) / (high - low)) * (width - 20);
      const random = uniform(5);
      const parts = [];
      for (let i = 0; i < D; i++)
        for (let j = 0; j < D; j++) {
          if (i === j) continue;
          const own = SETS[i] === SETS[j];
          parts.push(["circle", { class: `pa-point ${own ? "pa-same" : "pa-other"}`, cx: pixel(X(A[i * D + j])), cy: pixel((own ? 8 : 50) + 34 * random()), r: own ? 3.2 : 2.4 }]);
        }
      for (const v of [low, 0, high]) parts.push(["text", { x: pixel(X(v)), y: 112, "text-anchor": v === low ? "start" : v === high ? "end" : "middle" }, number(v, 2)]);
      put(parts);
      const x = [0, seen.steps];
      margin.draw({ x, at, curves: [{ y: kept.margin, look: "pa-same" }], levels: [{ y: 0 }] });
      errors.draw({ x, at, curves: [{ y: kept.test, look: "pa-label" }, { y: kept.train, look: "pa-noise" }] });
    }

    function sentence() {
      if (kept.done <= seen.steps) return `Step ${kept.done} of ${seen.steps} …`;
      const exact = Array.from(kept.margin, (m) => m > 0);
      const first = exact.indexOf(true);
      const last = exact.lastIndexOf(true);
      const when =
        first < 0 ? "no step has every row right"
        : last === seen.steps ? `every row is right from step ${exact.lastIndexOf(false) + 1} to the end`
        : `every row is right at step ${first} and no longer after step ${last}`;
      return `With N = ${seen.N.toLocaleString("en-US")} inputs and q = ${number(seen.q)}, ${when}. The error on new inputs ends at ${percent(kept.test[seen.steps])}; of the training inputs, the labeling function itself gets ${kept.wrong} wrong.`;
    }

    function work() {
      const mine = run;
      const random = uniform(1000003 * seen.seed);
      const inputs = drawInputs(SETS, seen.q, seen.N, random);
      const fresh = drawInputs(SETS, seen.q, TEST, random);
      kept.wrong = inputs.filter((s) => contradicted(s)).length;
      inFrames(say, () => run === mine, (until) => {
        do {
          const t = kept.done;
          kept.scores.push(Float32Array.from(run.A));
          kept.margin[t] = run.association().margin;
          kept.test[t] = t % 20 && t < seen.steps ? NaN : run.gradients(fresh).error;
          if (Number.isNaN(kept.test[t])) kept.test[t] = kept.test[t - 1];
          kept.train[t] = run.advance(inputs).error;
          kept.done += 1;
        } while (kept.done <= seen.steps && performance.now() < until);
        const more = kept.done <= seen.steps;
        if (!more || !still.matches) time.go(Math.min(kept.done - 1, seen.steps)); // where motion is unwanted, the end alone
        say(sentence());
        if (!more) finish();
        return more;
      });
    }

    return {
      fields: FIELDS,
      ready,
      repaint: draw,
      check(setting) {
        whole("N", setting.N, 1, 20000);
        finite("q", setting.q, 0, 1);
        whole("steps", setting.steps, 1, 5000);
        seed(setting.seed);
      },
      show(setting) {
        seen = { ...setting };
        panel.show(seen);
        run = new SampleDescent({ sets: SETS, q: seen.q, diagonal: 1, rate: 0.02, score_rate: 0.02 * D ** 2 });
        const row = () => new Float64Array(seen.steps + 1).fill(NaN);
        kept = { scores: [], margin: row(), test: row(), train: row(), done: 0, wrong: 0 };
        time.stop();
        time.fit(seen.steps, 0);
        work();
      },
      outside: { margins: () => Array.from(kept.margin), errors: () => Array.from(kept.test), training: () => Array.from(kept.train), scores: (t) => Array.from(kept.scores[t]) },
      code: (s) => [
        "import patch_association as pa",
        "from patch_association.training import idealized_start",
        "",
        `law = pa.SpatialData(pa.Partition.blocks(4, 4, 2, 2), dim=${D}, q=${s.q})`,
        `samples = pa.Samples.draw(law, ${s.N}, seeds=[${s.seed}])`,
        `run = pa.descend(samples, idealized_start(law, 1), pa.Constant(0.02), steps=${s.steps})`,
        "print(run.margin[-1, 0], run.steps[run.exact[:, 0]])  # the steps at which every row is right",
      ].join("\n"),
    };
  }

  /** Whether the labeling function itself errs: the sets that speak (nearly) as one add up to zero or less. */
  function contradicted(s) {
    const sums = new Map();
    s.forEach((value, j) => sums.set(SETS[j], (sums.get(SETS[j]) ?? 0) + value));
    return [...sums.values()].reduce((sum, n) => sum + (10 * Math.abs(n) > 9 * C ? n : 0), 0) <= 0;
  }

  mount("cloud", build);
})();
