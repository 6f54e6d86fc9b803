// Epoch by epoch: what the encodings of two Vision Transformers know of the grid, and how often the networks are right.
(() => {
  "use strict";
  const {
    h,
    arrow,
    fingers,
    controls,
    player,
    chart,
    mount,
    refuse,
    whole,
    percent,
    epochs,
    decodeHalf,
    symmetric,
  } = window.patchAssociation;
  const SIDE = 8;
  const N = SIDE * SIDE;
  const PIXELS = 28 * SIDE;
  const KINDS = ["vanilla", "positional"];
  const LAST = epochs.vanilla.accuracy.length - 1; // epoch 0 is the start
  const HALF = epochs.vanilla.accuracy.findIndex((share) => share >= 0.5);

  const FIELDS = [
    { key: "patch", label: "patch, row by row", value: 34, from: 1, to: N, step: 1 },
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

  /**
   * The ring of up to eight places around one, as many most similar places, and how many of these are in the
   * ring or, outside it, at the mirror image.
   */
  function around(kind, epoch, at) {
    const K = cosinesAt(kind, epoch);
    const apart = (k, at) =>
      Math.max(Math.abs(Math.floor(k / SIDE) - Math.floor(at / SIDE)), Math.abs((k % SIDE) - (at % SIDE)));
    const others = Array.from({ length: N }, (_, k) => k).filter((k) => k !== at);
    const ring = others.filter((k) => apart(k, at) === 1).length;
    others.sort((a, b) => K[at * N + b] - K[at * N + a]);
    const near = others.slice(0, ring).map((k) => ({ k, beside: apart(k, at) === 1 }));
    return {
      ring,
      near,
      found: near.filter(({ beside }) => beside).length,
      mirrored: near.filter(({ k, beside }) => !beside && apart(k, mirror(at)) < 2).length,
    };
  }

  const mirror = (k) => k - (k % SIDE) + SIDE - 1 - (k % SIDE);

  function build({ stage, say, change }) {
    let seen = {};
    let playing = false; // the answer to a guess: what is not reached yet is not drawn
    let aim = 1; // the patch last asked for: keys may come faster than frames
    const choose = (patch) => {
      aim = patch;
      if (patch !== seen.patch) change({ patch });
    };
    const pick = (event) => {
      const box = event.target.getBoundingClientRect();
      const [c, r] = [event.clientX - box.left, event.clientY - box.top].map((x) =>
        Math.max(0, Math.min(SIDE - 1, Math.floor((x / box.width) * SIDE))),
      );
      choose(r * SIDE + c + 1);
    };
    const walk = (event) => {
      const way = arrow(event);
      if (way) choose(((aim - 1 + way[0] + SIDE * way[1] + N) % N) + 1);
    };
    const board = (kind) => {
      const canvas = h("canvas", {
        width: 2 * PIXELS,
        height: 2 * PIXELS,
        role: "application",
        tabindex: 0,
        class: "pa-heap",
        onclick: pick,
        onpointermove: (event) => {
          if (event.pointerType === "mouse" && !stage.classList.contains("pa-guessing")) pick(event);
        },
        onkeydown: walk,
        "aria-label": `Similarity of the chosen patch to every other, ${kind} attention; arrow keys choose another patch`,
      });
      const curves = chart({
        title: "Map and answers; 100% is the end",
        xlabel: "epoch",
        height: 166,
        onpoint: (epoch) => {
          time.stop();
          time.go(Math.round(epoch));
        },
      });
      return {
        canvas,
        curves,
        element: h(
          "figure",
          { class: "pa-chart pa-puzzle" },
          h("figcaption", {}, `${kind[0].toUpperCase()}${kind.slice(1)} attention`),
          canvas,
          curves.element,
        ),
      };
    };
    const boards = Object.fromEntries(KINDS.map((kind) => [kind, board(kind)]));
    const panel = controls(FIELDS, (_, value) => choose(Math.round(value)));
    const time = player({
      label: "epoch",
      seconds: 8,
      onstep: (epoch) => {
        if (epoch !== seen.epoch) change({ epoch });
      },
    });
    stage.append(
      time.element,
      panel.element,
      h("div", { class: "pa-panels" }, ...Object.values(boards).map((one) => one.element)),
      h(
        "p",
        { class: "pa-quiet" },
        "Blue: an encoding like that of the chosen patch, which has a color of its own; orange: the " +
          "opposite. Ringed: as many most similar places as it has neighbors, filled where they are " +
          `neighbors. Dashed: its mirror image. ${fingers() ? "Tap" : "Point at"} a square to choose it.`,
      ),
    );

    function paint(canvas, K, near) {
      const context = canvas.getContext("2d");
      const style = getComputedStyle(canvas);
      const [own, like, unlike, ink, paper] = [
        "--pa-label",
        "--pa-same",
        "--pa-other",
        "--pa-ink",
        "--pa-paper",
      ].map((name) => style.getPropertyValue(name));
      const size = canvas.width / SIDE;
      const at = seen.patch - 1;
      context.clearRect(0, 0, canvas.width, canvas.height);
      const square = (k, shape, edge) =>
        context[shape](
          (k % SIDE) * size + edge,
          Math.floor(k / SIDE) * size + edge,
          size - 2 * edge,
          size - 2 * edge,
        );
      for (let k = 0; k < N; k++) {
        const cosine = K[at * N + k];
        context.globalAlpha = k === at ? 1 : Math.min(1, Math.abs(cosine) ** 0.75);
        context.fillStyle = k === at ? own : cosine > 0 ? like : unlike;
        square(k, "fillRect", 2);
      }
      context.globalAlpha = 1;
      context.strokeStyle = own;
      context.lineWidth = 5;
      context.setLineDash([9, 6]);
      square(mirror(at), "strokeRect", 4.5);
      context.setLineDash([]);
      for (const { k, beside } of near) {
        // rings on a ground that sets them off from any color
        for (const [width, color] of [
          [9, paper],
          [4.5, ink],
        ]) {
          context.beginPath();
          context.arc(
            ((k % SIDE) + 0.5) * size,
            (Math.floor(k / SIDE) + 0.5) * size,
            size / 6,
            0,
            2 * Math.PI,
          );
          [context.lineWidth, context.strokeStyle, context.fillStyle] = [width, color, ink];
          context.stroke();
        }
        if (beside) context.fill();
      }
    }

    function draw() {
      for (const [kind, { canvas, curves }] of Object.entries(boards)) {
        paint(canvas, cosinesAt(kind, seen.epoch), around(kind, seen.epoch, seen.patch - 1).near);
        const until = playing ? seen.epoch : stage.classList.contains("pa-guessing") ? seen.epoch : LAST;
        const share = (what, look, name, beside) => ({
          y: epochs[kind][what].map((y, epoch) => (epoch <= until ? y / epochs[kind][what][LAST] : NaN)),
          look,
          name,
          beside,
        });
        curves.draw({
          x: [0, LAST],
          at: seen.epoch,
          range: [0, 1.3],
          format: percent,
          levels: [{ y: 1 }],
          curves: [
            share("accuracy", "pa-label", "the answers", { x: 9, y: 0.3 }),
            share("recall", "pa-same", "the map", { x: 5, y: 1.12 }),
          ],
        });
      }
    }

    const both = (of) => KINDS.map(of);
    function sentence() {
      const [answers, found] = ["accuracy", "recall"].map((what) =>
        both((kind) => percent(epochs[kind][what][seen.epoch])).join(" and "),
      );
      const [ours, theirs] = both(
        (kind) => `${Math.round((100 * epochs[kind].recall[seen.epoch]) / epochs[kind].recall[LAST])}%`,
      );
      const map =
        seen.epoch === LAST
          ? `the map is complete (${found} of all neighbors)`
          : `${ours} of the final map is there with vanilla attention, and ${theirs} with positional attention`;
      const [one, other] = both((kind) => around(kind, seen.epoch, seen.patch - 1));
      return (
        `${seen.epoch === 0 ? "Before training" : `After epoch ${seen.epoch}`}, ${map}, and ${answers} ` +
        "of the pictures are guessed right. " +
        `Of the ${one.ring} neighbors of patch ${seen.patch}, ${one.found} and ${other.found} are ` +
        `among its ${one.ring} most similar places; ${one.mirrored} and ${other.mirrored} of these lie ` +
        "at its mirror image instead."
      );
    }

    return {
      fields: FIELDS,
      room: 300,
      colors: { "pa-same": "the map", "pa-label": "pictures are guessed right" },
      guess: {
        question: "When half of the images are named correctly, how much of the final map is already there?",
        options: ["Hardly any", "About half", "Most of it"],
        right: 2,
        free: ["patch", "epoch"],
        before: () =>
          "Before training, the places most similar to a patch lie anywhere. Guess, or play what follows.",
        after: async () => {
          playing = true;
          await time.play(HALF);
          playing = false;
          draw();
        },
      },
      repaint: draw,
      begin: () => requestAnimationFrame(draw),
      check(setting) {
        whole("patch", setting.patch, 1);
        whole("epoch", setting.epoch, 0);
        if (setting.patch > N) refuse(`There are ${N} patches; patch ${setting.patch} is not among them.`);
        if (setting.epoch > LAST)
          refuse(`The record has ${LAST} epochs; epoch ${setting.epoch} is not among them.`);
      },
      show(setting) {
        seen = { ...setting };
        aim = seen.patch;
        panel.show(seen);
        if (time.last !== LAST || time.step !== seen.epoch) time.fit(LAST, seen.epoch);
        draw();
        say(sentence());
      },
      outside: {
        cosines: (kind, epoch) => Array.from(cosinesAt(kind, epoch)),
        found: (kind, epoch) => Array.from({ length: N }, (_, at) => around(kind, epoch, at)),
      },
      code: (s) =>
        [
          "from patch_association.images.locality import encoding_locality, similarity",
          "from patch_lab.images.puzzle import cosines",
          "from patch_lab.kit.records import decode, load",
          "",
          'runs = load("cifar10_study").where(epochs=40, tile=32, seed=0, width=64)',
          "for run in runs:",
          `    P = decode(run["positions"])[${Math.max(0, s.epoch - 1)}].astype(float)  # after epoch ` +
            `${Math.max(1, s.epoch)}${s.epoch ? "" : ", where the record begins"}; (64, 64)`,
          '    print(run["model"], encoding_locality(P).recall)',
          `    print(cosines(similarity(P))[${s.patch - 1}].reshape(8, 8).round(2))`,
        ].join("\n"),
    };
  }

  mount("epochs", build);
})();
