// Undo the shuffle: the pieces of a photograph, lit by how alike the encodings of their places are, and put together.
(() => {
  "use strict";
  const {
    h,
    arrow,
    shuffled,
    controls,
    fingers,
    player,
    mount,
    uniform,
    refuse,
    whole,
    seed,
    percent,
    encodings,
    decodeHalf,
    symmetric,
    cosines,
    pairs,
    checkLinks,
    assemble,
  } = window.patchAssociation;
  const SIDE = 14;
  const N = SIDE * SIDE;
  const PIXELS = 28 * SIDE;
  const PHOTOGRAPH = new URL("cat.jpg", document.currentScript.src).href;
  const NAMES = { vit: "ViT-Tiny", deit: "DeiT-Tiny" };

  const FIELDS = [
    {
      key: "encodings",
      label: "encodings of",
      value: "vit",
      text: /^(vit|deit)$/,
      what: "network: vit or deit",
      options: [
        ["ViT-Tiny/16", "vit"],
        ["DeiT-Tiny/16", "deit"],
      ],
      rare: true,
    },
    {
      key: "links",
      label: "links, most similar pairs",
      value: 2 * SIDE * (SIDE - 1),
      from: 100,
      to: 1000,
      step: 4,
      rare: true,
    },
    { key: "piece", label: "lit piece (0: none)", value: 0, from: 0, to: N, step: 1, rare: true },
    { key: "seed", label: "shuffle number", value: 1, from: 1, to: 50, step: 1, rare: true },
    { key: "together", value: 0 }, // 0: shuffled; 50: in the plane of the hops; 100: on the grid
  ];

  const known = new Map();
  /** Cosines of a network's encodings, and its pairs in their order: computed when first asked for. */
  function network(name) {
    if (!known.has(name)) {
      const K = cosines(symmetric(decodeHalf(encodings[name]), N), N);
      known.set(name, {
        K,
        order: pairs(K, N),
        nearest: (i) =>
          Array.from({ length: N }, (_, j) => j)
            .filter((j) => j !== i)
            .sort((a, b) => K[i * N + b] - K[i * N + a])
            .slice(0, 4),
        found: new Map(),
      });
    }
    return known.get(name);
  }
  function assembled(name, links) {
    const { order, found } = network(name);
    if (!found.has(links)) found.set(links, assemble(order, N, links));
    return found.get(links);
  }

  function build({ stage, say, change }) {
    let seen = {};
    let aim = 0; // the piece last asked for: keys may come faster than frames
    let [held, passing] = [0, 0]; // the piece that was chosen, and the one that a mouse passes over
    let slots = []; // slots[k]: the piece that lies at place k of the heap
    const photograph = new Image();
    const ready = new Promise((done) => {
      photograph.onload = () => {
        draw();
        done();
      };
    });
    photograph.src = PHOTOGRAPH;
    /** What is said on a desk, and on a phone, where the pieces of the first and last board are too small for a finger. */
    const either = (wide, narrow) => [
      h("span", { class: "pa-wide" }, wide),
      h("span", { class: "pa-narrow" }, narrow),
    ];
    const board = (title, describe, extra = {}) => {
      const canvas = h("canvas", {
        width: PIXELS,
        height: PIXELS,
        role: "img",
        "aria-label": describe,
        ...extra,
      });
      const caption = h("figcaption", {}, ...title);
      return { canvas, element: h("figure", { class: "pa-chart pa-puzzle" }, caption, canvas) };
    };
    /** The piece under the pointer on any board, the one whose place is nearest; 0 where there is none. */
    const under = (event) => {
      const at = boards.get(event.target);
      const box = event.target.getBoundingClientRect();
      const [c, r] = [event.clientX - box.left, event.clientY - box.top].map(
        (x) => (x / box.width) * SIDE - 0.5,
      );
      const far = (k) => {
        const [y, x] = at(k);
        return (y - r) ** 2 + (x - c) ** 2;
      };
      let piece = 0;
      for (let k = 1; k < N; k++) if (far(k) < far(piece)) piece = k;
      return far(piece) < 1 ? piece + 1 : 0;
    };
    /** A mouse lights pieces as it passes, and what was chosen again when it leaves; a click chooses, once more lets go. */
    const pass = (piece) => {
      passing = piece;
      if (piece !== seen.piece) change({ piece });
    };
    const pick = (event) => {
      const piece = under(event);
      held = piece === held ? 0 : piece;
      pass(held);
    };
    const walk = (event) => {
      const way = arrow(event);
      if (!way) return;
      const at = slots.indexOf(aim - 1);
      aim = slots[at < 0 ? 0 : (at + way[0] + SIDE * way[1] + N) % N] + 1;
      change({ piece: aim });
    };
    const points = {
      class: "pa-heap",
      onpointermove: (event) => {
        if (event.pointerType === "mouse" && !stage.classList.contains("pa-guessing"))
          pass(under(event) || held);
      },
      onpointerleave: () => {
        if (passing) pass(held);
      },
      onclick: pick,
    };
    const heap = board(
      either(`The pieces: ${fingers() ? "tap" : "point at"} one`, "The pieces"),
      "The shuffled pieces; arrow keys move from piece to piece and light those that are most alike",
      {
        ...points,
        role: "application",
        tabindex: 0,
        onkeydown: walk,
      },
    );
    const maker = h("span");
    const trained = board(
      [maker, ...either("", ": tap a piece")],
      "The pieces put together from the similarities of trained encodings",
      points,
    );
    const untrained = board(
      ["The same before training"],
      "The pieces put together from the similarities of random encodings",
      points,
    );
    const lies = (k) => [Math.floor(slots.indexOf(k) / SIDE), slots.indexOf(k) % SIDE];
    const boards = new Map([
      [heap.canvas, lies],
      [trained.canvas, (k) => where(k, assembled(seen.encodings, seen.links))],
      [untrained.canvas, (k) => where(k, assembled("start", seen.links))],
    ]);
    const panel = controls(FIELDS, (key, value) => change({ [key]: value }));
    const time = player({
      label: "from the heap to the grid",
      words: "Put together",
      seconds: 4,
      onstep: (together) => {
        if (together !== seen.together) change({ together });
      },
    });
    stage.append(
      panel.element,
      time.element,
      h("div", { class: "pa-panels pa-three" }, heap.element, trained.element, untrained.element),
    );

    /** Where a piece lies: on the heap, on its way through the plane of the hops, or on the grid. */
    function where(k, found) {
      const from = lies(k);
      // what chance makes of it
      const played = stage.classList.contains("pa-guessing") && found === assembled("start", seen.links);
      const t = played ? 2 : seen.together / 50;
      const mix = (a, b, s) => a.map((x, side) => x + s * (b[side] - x));
      return t <= 1 ? mix(from, found.plane[k], t) : mix(found.plane[k], found.places[k], t - 1);
    }

    function paint(canvas, name) {
      const at = boards.get(canvas);
      const context = canvas.getContext("2d");
      const style = getComputedStyle(canvas);
      const size = PIXELS / SIDE;
      const cut = photograph.naturalWidth / SIDE;
      const { K, nearest } = network(name);
      const lit = seen.piece - 1;
      const floor = canvas === trained.canvas ? 0.3 + 0.5 * (seen.together / 100) : 0.3; // what is put together is seen
      context.clearRect(0, 0, PIXELS, PIXELS);
      for (let k = 0; k < N; k++) {
        const [r, c] = at(k);
        context.globalAlpha = lit < 0 ? 1 : floor + (1 - floor) * Math.max(0, K[lit * N + k]) ** 2;
        context.drawImage(
          photograph,
          (k % SIDE) * cut,
          Math.floor(k / SIDE) * cut,
          cut,
          cut,
          c * size,
          r * size,
          size,
          size,
        );
      }
      context.globalAlpha = 1;
      if (lit < 0) return;
      const frame = (k, color, width) => {
        const [r, c] = at(k);
        context.lineWidth = width;
        context.strokeStyle = style.getPropertyValue(color);
        context.strokeRect(c * size + width / 2, r * size + width / 2, size - width, size - width);
      };
      const middle = (k) =>
        at(k)
          .map((x) => (x + 0.5) * size)
          .reverse();
      context.strokeStyle = style.getPropertyValue("--pa-string");
      context.lineWidth = 2;
      context.beginPath(); // strings to the pieces most alike, as long as they lie apart
      const apart = (k) => Math.hypot(...at(k).map((x, side) => x - at(lit)[side]));
      for (const k of nearest(lit).filter((k) => apart(k) > 1.1)) {
        context.moveTo(...middle(lit));
        context.lineTo(...middle(k));
      }
      context.stroke();
      for (const k of nearest(lit)) frame(k, "--pa-same", 3);
      frame(lit, "--pa-label", 4);
    }

    function draw() {
      if (!slots.length || !photograph.complete) return;
      maker.textContent = `By ${NAMES[seen.encodings]}’s similarities`;
      paint(heap.canvas, seen.encodings);
      paint(trained.canvas, seen.encodings);
      paint(untrained.canvas, "start");
    }

    function sentence() {
      const [ours, theirs] = [assembled(seen.encodings, seen.links), assembled("start", seen.links)];
      const name = NAMES[seen.encodings];
      const lit = seen.piece - 1;
      const beside = (i, j) =>
        Math.abs(Math.floor(i / SIDE) - Math.floor(j / SIDE)) + Math.abs((i % SIDE) - (j % SIDE)) === 1;
      const beside4 =
        lit < 0
          ? 0
          : network(seen.encodings)
              .nearest(lit)
              .filter((j) => beside(lit, j)).length;
      const near =
        lit < 0
          ? ""
          : `${["None", "One", "Two", "Three", "All"][beside4]} of the four pieces most like the lit one ` +
            `${beside4 > 1 ? "lie" : "lies"} beside it in the photograph. `;
      return (
        `${near}Of the ${seen.links} most similar pairs of ${name}’s encodings, ${ours.joined} are ` +
        "neighbors, and " +
        (ours.right === N
          ? "every piece finds its place; "
          : `${ours.right} of ${N} pieces (${percent(ours.right / N)}) find their place; `) +
        `before training ${theirs.joined} are, and ${theirs.right} of ${N} ` +
        `(${percent(theirs.right / N)}) do.`
      );
    }

    return {
      fields: FIELDS,
      room: 255,
      colors: { "pa-same": "four pieces most like", "pa-label": "the lit one" },
      guess: {
        question:
          "Take a piece, and the four whose encodings are most like its own. How many of them lay " +
          "beside it in the photograph?",
        options: ["Hardly any", "Most"],
        right: 1,
        free: ["piece", "seed", "together"],
        before: () =>
          "“The same before training” shows what random encodings make of the heap. Guess, or " +
          `${fingers() ? "tap" : "point at"} a piece.`,
        after: () => {
          change({ piece: 60 });
          time.play(); // the strings say at once what is right
        },
      },
      ready,
      repaint: draw,
      begin: draw,
      check(setting) {
        for (const key of ["piece", "together"]) whole(key, setting[key], 0);
        checkLinks(setting.links, N);
        if (setting.piece > N) refuse(`There are ${N} pieces; piece ${setting.piece} is not among them.`);
        if (setting.together > 100)
          refuse(`together goes from 0, the heap, to 100, the grid; it is ${setting.together}.`);
        seed(setting.seed);
      },
      show(setting) {
        const fresh = setting.seed !== seen.seed;
        seen = { ...setting };
        aim = seen.piece;
        if (aim !== passing) [held, passing] = [aim, 0];
        panel.show(seen);
        if (fresh)
          slots = shuffled(
            Array.from({ length: N }, (_, k) => k),
            uniform(7919 * seen.seed),
          );
        if (time.last !== 100 || time.step !== seen.together) time.fit(100, seen.together);
        draw();
        say(sentence());
      },
      outside: {
        similarities: (name) => Array.from(network(name).K),
        assembly: (name, links) => {
          const { hops, ...rest } = assembled(name, links);
          return { ...rest, hops: Array.from(hops) };
        },
        heap: () => slots.slice(),
      },
      code: (s) =>
        [
          "import numpy as np",
          "from patch_association.images.locality import similarity",
          "from patch_lab.images.puzzle import assemble",
          "from patch_lab.kit.records import decode, load",
          "",
          "trained = " +
            `decode(load("vit_encodings").one(model="${s.encodings === "vit" ? "ViT" : "DeiT"}-Tiny/16")["similarity"])`,
          `start = 0.02 * np.random.default_rng(0).standard_normal((${N}, 192))`,
          'for G in (trained, similarity(start).astype("f2")):',
          `    found = assemble(G, links=${s.links})`,
          "    print(found.at_place, found.beside)",
        ].join("\n"),
    };
  }

  mount("shuffle", build);
})();
