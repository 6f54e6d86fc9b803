// Epoch by epoch: what the encodings of two Vision Transformers know of the grid, and how often the networks are right.
(() => {
  "use strict";
  const { h, controls, player, chart, legend, mount, refuse, whole, percent, epochs, decodeHalf, symmetric } = window.patchAssociation;
  const SIDE = 8;
  const N = SIDE * SIDE;
  const PIXELS = 28 * SIDE;
  const KINDS = { vanilla: "pa-same", positional: "pa-other" };
  const LAST = epochs.vanilla.accuracy.length - 1; // epoch 0 is the start

  const FIELDS = [
    { key: "patch", label: "patch, row by row", value: 28, from: 1, to: N, step: 1 },
    { key: "epoch", value: 2 },
  ];

  const known = new Map();
  /** (N, N) cosines of a network's centered encodings after an epoch, row by row. */
  function cosinesAt(kind, epoch) {
    const key = `${kind} ${epoch}`;
    if (!known.has(key)) {
      const half = (N * (N + 1)) / 2;
      if (!known.has(kind)) known.set(kind, decodeHalf(epochs[kind].cosines));
      known.set(key, symmetric(known.get(kind).slice(epoch * half, (epoch + 1) * half), N));
    }
    return known.get(key);
  }

  function build({ stage, say, change }) {
    let seen = {};
    let aim = 1; // the patch last asked for: keys may come faster than frames
    const choose = (patch) => { aim = patch; if (patch !== seen.patch) change({ patch }); };
    const pick = (event) => {
      const box = event.target.getBoundingClientRect();
      const [c, r] = [event.clientX - box.left, event.clientY - box.top].map((x) => Math.max(0, Math.min(SIDE - 1, Math.floor((x / box.width) * SIDE))));
      choose(r * SIDE + c + 1);
    };
    const walk = (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: SIDE, ArrowUp: -SIDE }[event.key];
      if (!move) return;
      event.preventDefault();
      choose(((aim - 1 + move + N) % N) + 1);
    };
    const board = (kind) => {
      const canvas = h("canvas", { width: PIXELS, height: PIXELS, role: "application", tabindex: 0, class: "pa-heap", onpointerdown: pick, onkeydown: walk,
        "aria-label": `Similarity of the chosen patch to every other, ${kind} attention; arrow keys choose another patch` });
      return { canvas, element: h("figure", { class: "pa-chart pa-puzzle" }, h("figcaption", {}, `Similar to the chosen patch: ${kind} attention`), canvas) };
    };
    const boards = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, board(kind)]));
    const panel = controls(FIELDS, (key, value) => choose(Math.round(value)));
    const time = player({ label: "epoch", seconds: 8, onstep: (epoch) => { if (epoch !== seen.epoch) change({ epoch }); } });
    const accuracy = chart({ title: "Validation pictures that are guessed right", xlabel: "epoch" });
    const recall = chart({ title: "Neighbors among the most similar places", xlabel: "epoch" });
    const names = () => legend(Object.entries(KINDS).map(([kind, look]) => [look, `${kind} attention`]));
    stage.append(panel.element, time.element, h("div", { class: "pa-panels pa-three" }, ...Object.values(boards).map((one) => one.element)),
      h("div", { class: "pa-panels" }, h("div", {}, recall.element, names()), h("div", {}, accuracy.element, names())));

    function paint(canvas, K) {
      const context = canvas.getContext("2d");
      const style = getComputedStyle(canvas);
      const size = PIXELS / SIDE;
      const at = seen.patch - 1;
      context.clearRect(0, 0, PIXELS, PIXELS);
      for (let k = 0; k < N; k++) {
        const like = K[at * N + k];
        context.globalAlpha = k === at ? 1 : Math.min(1, Math.abs(like));
        context.fillStyle = style.getPropertyValue(k === at ? "--pa-label" : like > 0 ? "--pa-same" : "--pa-other");
        context.fillRect((k % SIDE) * size + 1, Math.floor(k / SIDE) * size + 1, size - 2, size - 2);
      }
      context.globalAlpha = 1;
    }

    function draw() {
      if (seen.epoch === undefined) return; // the address was refused: nothing is shown yet
      const x = [0, LAST];
      const at = seen.epoch;
      for (const kind of Object.keys(KINDS)) paint(boards[kind].canvas, cosinesAt(kind, seen.epoch));
      const curves = (what) => Object.entries(KINDS).map(([kind, look]) => ({ y: epochs[kind][what], look }));
      recall.draw({ x, at, range: [0, 0.7], curves: curves("recall"), levels: [{ y: epochs.chance }] });
      accuracy.draw({ x, at, range: [0, 1], curves: curves("accuracy") });
    }

    const share = (kind, what) => percent(epochs[kind][what][seen.epoch]);
    const sentence = () =>
      `${seen.epoch === 0 ? "Before training" : `After epoch ${seen.epoch}`} ${share("vanilla", "recall")} of the places most like a patch are its neighbors with vanilla and ${share("positional", "recall")} with positional attention (chance: ${percent(epochs.chance)}), and ${share("vanilla", "accuracy")} and ${share("positional", "accuracy")} of the validation pictures are guessed right.`;

    return {
      fields: FIELDS,
      repaint: draw,
      show(setting) {
        whole("patch", setting.patch, 1);
        whole("epoch", setting.epoch, 0);
        if (setting.patch > N) refuse(`There are ${N} patches; patch ${setting.patch} is not among them.`);
        if (setting.epoch > LAST) refuse(`The record has ${LAST} epochs; epoch ${setting.epoch} is not among them.`);
        seen = { ...setting };
        aim = seen.patch;
        panel.show(seen);
        if (time.last !== LAST || time.step !== seen.epoch) time.fit(LAST, seen.epoch);
        draw();
        say(sentence());
      },
      outside: { cosines: (kind, epoch) => Array.from(cosinesAt(kind, epoch)), chance: () => epochs.chance },
      code: (s) => [
        "from patch_association.images.locality import encoding_locality, similarity",
        "from patch_association.images.puzzle import cosines",
        "from patch_association.records import decode, load",
        "",
        'runs = load("cifar10_study").where(epochs=40, tile=32, seed=0, width=64)',
        "for run in runs:",
        `    P = decode(run["positions"])[${Math.max(0, s.epoch - 1)}].astype(float)  # after epoch ${Math.max(1, s.epoch)}, (64, 64)`,
        '    print(run["model"], encoding_locality(P).recall)',
        `    print(cosines(similarity(P))[${s.patch - 1}].reshape(8, 8).round(2))`,
      ].join("\n"),
    };
  }

  mount("epochs", build);
})();
