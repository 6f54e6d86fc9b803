// Epoch by epoch: what the encodings of two Vision Transformers know of the grid, and how often the networks are right.
(() => {
  "use strict";
  const { h, controls, player, chart, mount, refuse, whole, percent, epochs, decodeHalf, symmetric } = window.patchAssociation;
  const SIDE = 8;
  const N = SIDE * SIDE;
  const PIXELS = 28 * SIDE;
  const KINDS = { vanilla: "pa-first", positional: "pa-second" };
  const LAST = epochs.vanilla.accuracy.length - 1; // epoch 0 is the start
  const HALF = epochs.vanilla.accuracy.findIndex((share) => share >= 0.5);

  const FIELDS = [
    { key: "patch", label: "patch, row by row", value: 28, from: 1, to: N, step: 1 },
    { key: "epoch", value: 0 },
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

  /** The ring of up to eight places around one, and how many of them are among as many most similar places. */
  function around(kind, epoch, at) {
    const K = cosinesAt(kind, epoch);
    const apart = (k) => Math.max(Math.abs(Math.floor(k / SIDE) - Math.floor(at / SIDE)), Math.abs((k % SIDE) - (at % SIDE)));
    const others = Array.from({ length: N }, (_, k) => k).filter((k) => k !== at);
    const ring = others.filter((k) => apart(k) === 1).length;
    others.sort((a, b) => K[at * N + b] - K[at * N + a]);
    return { ring, found: others.slice(0, ring).filter((k) => apart(k) === 1).length };
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
    const accuracy = chart({ title: "Validation pictures that are guessed right", xlabel: "epoch", height: 150 });
    const recall = chart({ title: "Neighbors among the most similar places", xlabel: "epoch", height: 150 });
    const looks = chart({ title: "Neighbors among the places most looked at", xlabel: "epoch" });
    stage.append(panel.element, time.element,
      h("div", { class: "pa-panels pa-three" }, ...Object.values(boards).map((one) => one.element), h("div", {}, accuracy.element, recall.element)),
      h("div", { class: "pa-panels pa-three" }, looks.element,
        h("p", { class: "pa-quiet" }, "Squares: blue where an encoding is like that of the chosen patch, which is red; orange where it is the opposite. Point at a square to choose another. Dashed in the charts: what chance would give.")));

    function paint(canvas, K) {
      const context = canvas.getContext("2d");
      const style = getComputedStyle(canvas);
      const [own, like, unlike] = ["--pa-label", "--pa-same", "--pa-other"].map((name) => style.getPropertyValue(name));
      const size = PIXELS / SIDE;
      const at = seen.patch - 1;
      context.clearRect(0, 0, PIXELS, PIXELS);
      for (let k = 0; k < N; k++) {
        const cosine = K[at * N + k];
        context.globalAlpha = k === at ? 1 : Math.min(1, Math.abs(cosine));
        context.fillStyle = k === at ? own : cosine > 0 ? like : unlike;
        context.fillRect((k % SIDE) * size + 1, Math.floor(k / SIDE) * size + 1, size - 2, size - 2);
      }
      context.globalAlpha = 1;
    }

    function draw() {
      const x = [0, LAST];
      const at = seen.epoch;
      for (const kind of Object.keys(KINDS)) paint(boards[kind].canvas, cosinesAt(kind, seen.epoch));
      const curves = (what) => Object.entries(KINDS).map(([kind, look]) => ({ y: epochs[kind][what], look, name: kind }));
      recall.draw({ x, at, range: [0, 0.7], curves: curves("recall"), levels: [{ y: epochs.chance }] });
      const unknown = [NaN]; // attention before training is not recorded
      const looked = curves("looks").map((curve) => ({ ...curve, y: unknown.concat(curve.y) }));
      looks.draw({ x, at, range: [0, 0.7], curves: looked, levels: [{ y: epochs.chance }] });
      accuracy.draw({ x, at, range: [0, 1], curves: curves("accuracy") });
    }

    const share = (kind, what) => percent(epochs[kind][what][seen.epoch]);
    const both = (what) => `${share("vanilla", what)} and ${share("positional", what)}`;
    const looked = () => seen.epoch === 0 ? "" : ` Of the neighbors ${Object.keys(KINDS).map((kind) => percent(epochs[kind].looks[seen.epoch - 1])).join(" and ")} are among the places that the more local head of the first layer looks at most.`;
    function sentence() {
      const [ours, theirs] = Object.keys(KINDS).map((kind) => around(kind, seen.epoch, seen.patch - 1));
      return `${seen.epoch === 0 ? "Before training" : `After epoch ${seen.epoch}`}, ${ours.found} of the ${ours.ring} neighbors of patch ${seen.patch} are among its ${ours.ring} most similar places with vanilla and ${theirs.found} with positional attention; over all patches ${both("recall")} are (chance: ${percent(epochs.chance)}).${looked()} Of the validation pictures ${both("accuracy")} are guessed right.${seen.epoch === HALF ? ` At the end of training ${Object.keys(KINDS).map((kind) => percent(epochs[kind].recall[LAST])).join(" and ")} of the neighbors will be found.` : ""}`;
    }

    return {
      fields: FIELDS,
      room: 440,
      guess: { question: "When half of the pictures are guessed right, how much is there of the map that there will be?", options: ["Hardly any", "About half", "Most of it"], right: 2, then: () => time.play(HALF) },
      repaint: draw,
      check(setting) {
        whole("patch", setting.patch, 1);
        whole("epoch", setting.epoch, 0);
        if (setting.patch > N) refuse(`There are ${N} patches; patch ${setting.patch} is not among them.`);
        if (setting.epoch > LAST) refuse(`The record has ${LAST} epochs; epoch ${setting.epoch} is not among them.`);
      },
      show(setting) {
        seen = { ...setting };
        aim = seen.patch;
        panel.show(seen);
        if (time.last !== LAST || time.step !== seen.epoch) time.fit(LAST, seen.epoch);
        draw();
        say(sentence());
      },
      outside: { cosines: (kind, epoch) => Array.from(cosinesAt(kind, epoch)), found: (kind, epoch) => Array.from({ length: N }, (_, at) => around(kind, epoch, at)) },
      code: (s) => [
        "from patch_association.images.locality import encoding_locality, similarity",
        "from patch_lab.images.puzzle import cosines",
        "from patch_lab.records import decode, load",
        "",
        'runs = load("cifar10_study").where(epochs=40, tile=32, seed=0, width=64)',
        "for run in runs:",
        `    P = decode(run["positions"])[${Math.max(0, s.epoch - 1)}].astype(float)  # after epoch ${Math.max(1, s.epoch)}${s.epoch ? "" : ", where the record begins"}; (64, 64)`,
        '    print(run["model"], encoding_locality(P).recall)',
        `    print(cosines(similarity(P))[${s.patch - 1}].reshape(8, 8).round(2))`,
      ].join("\n"),
    };
  }

  mount("epochs", build);
})();
