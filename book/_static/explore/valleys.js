// The reduced equation's plane: slow scores (gamma, rho) with alpha at its best. Drag the start, see where it rolls.
(() => {
  "use strict";
  const {
    h,
    arrow,
    clamp,
    controls,
    dragged,
    lettered,
    listeners,
    palette,
    inFrames,
    mount,
    still,
    PopulationRisk,
    checkLaw,
    refuse,
    finite,
    number,
    percent,
  } = window.patchAssociation;
  const RANGE = 3; // the plane is [-RANGE, RANGE] in both scores
  const NODES = 25;
  const APART = 0.2; // less than this between two scores, and a way has ended in the trough beside their line
  const score = (k) => -RANGE + (2 * RANGE * k) / (NODES - 1);

  const FIELDS = [
    { key: "D", label: "D, patches", value: 12, options: [8, 12, 16], rare: true },
    { key: "C", label: "C, patches in a set", value: 4, options: [2, 4], rare: true },
    {
      key: "q",
      label: "q, chance of a random feature",
      value: 0.6,
      from: 0.02,
      to: 0.98,
      step: 0.02,
      rare: true,
    },
    { key: "diagonal", label: "diagonal of A", value: 1, from: 0, to: 3, step: 0.05, rare: true },
    { key: "gamma", label: "γ at the start", value: -2.5, from: -RANGE, to: RANGE, step: 0.05 },
    { key: "rho", label: "ρ at the start", value: -1.4, from: -RANGE, to: RANGE, step: 0.05, rare: true },
  ];

  /** The alpha in (0, 100) at which the risk stops falling; the risk is convex along the way that matters. */
  function bestAlpha(risk, beta, gamma, rho, near = 0.2) {
    const slope = (alpha) => risk.at(alpha, beta, gamma, rho).gradient[0];
    let [low, high] = [0, near];
    while (slope(high) < 0) {
      [low, high] = [high, 2 * high];
      if (high > 100) refuse("Here the risk has no minimum in α: it falls forever.");
    }
    for (let k = 0; k < 60 && high - low > 1e-13 * high; k++) {
      const middle = (low + high) / 2;
      if (slope(middle) < 0) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  /** The reduced flow: each score's entry goes down its own slope, with alpha at its best. */
  function velocity(risk, beta, gamma, rho, near) {
    const { D, C } = risk;
    const alpha = bestAlpha(risk, beta, gamma, rho, near);
    const { gradient, loss, error } = risk.at(alpha, beta, gamma, rho);
    return { alpha, loss, error, gamma: -gradient[1] / (D * (C - 1)), rho: -gradient[2] / (D * (D - C)) };
  }

  /**
   * The way downhill from a start, in strides of one length or less: where it would turn round, or climb,
   * they are halved.
   */
  function downhill(risk, beta, start, { longest, most, range }) {
    const found = [];
    let [gamma, rho, alpha, stride] = [start.gamma, start.rho, 0.2, longest];
    for (let k = 0; k < most && Math.max(Math.abs(gamma), Math.abs(rho)) <= range; k++) {
      const v = velocity(risk, beta, gamma, rho, alpha);
      const speed = Math.hypot(v.gamma, v.rho);
      const last = found.at(-1);
      const [x, y] = [v.gamma / speed, v.rho / speed];
      if (last && stride > 1e-4 && (v.loss > last.loss || x * last.x + y * last.y < 0.5)) {
        stride /= 2;
        [gamma, rho] = [last.gamma + stride * last.x, last.rho + stride * last.y];
        continue;
      }
      if (last && v.loss > last.loss * (1 + 1e-12)) break; // on the floor
      found.push({ gamma, rho, alpha: v.alpha, loss: v.loss, error: v.error, x, y });
      if (speed < 1e-12) break; // at rest
      alpha = v.alpha * 1.02;
      stride = Math.min(longest, 1.5 * stride);
      gamma += stride * x;
      rho += stride * y;
    }
    return found;
  }

  /** Heights on n x n nodes, and between them by cubics: (2 n - 1) x (2 n - 1). */
  function finer(height, n) {
    const line = (at) =>
      Array.from({ length: 2 * n - 1 }, (_, k) => {
        const near = (j) => at(Math.max(0, Math.min(n - 1, j)));
        const j = k >> 1;
        return k % 2 ? (9 * (near(j) + near(j + 1)) - near(j - 1) - near(j + 2)) / 16 : at(j);
      });
    const rows = Array.from({ length: n }, (_, y) => line((x) => height[y * n + x]));
    const columns = Array.from({ length: 2 * n - 1 }, (_, x) => line((y) => rows[y][x]));
    return Array.from(
      { length: (2 * n - 1) ** 2 },
      (_, k) => columns[k % (2 * n - 1)][Math.floor(k / (2 * n - 1))],
    );
  }

  /**
   * From each of n x n nodes, `side` apart and the first row below, who leads where the flow between the
   * nodes ends: 1, 0 or -1.
   */
  function basins(velocities, n, side) {
    const flow = velocities.map(({ gamma, rho }) => {
      // a steep wall is not to outvote the floor beside it
      const speed = Math.hypot(gamma, rho) || 1; // it is 0 where all scores are equal
      return { gamma: gamma / speed, rho: rho / speed };
    });
    const at = (x, y, score) => {
      // between four nodes
      const [i, j] = [x, y].map((u) => Math.min(n - 2, Math.floor(u)));
      const [a, b] = [x - i, y - j];
      const node = (p, q) => flow[q * n + p][score];
      return (
        (1 - b) * ((1 - a) * node(i, j) + a * node(i + 1, j)) +
        b * ((1 - a) * node(i, j + 1) + a * node(i + 1, j + 1))
      );
    };
    return velocities.map((_, k) => {
      let [x, y] = [k % n, Math.floor(k / n)];
      for (let step = 0; step < 400 && Math.min(x, y) >= 0 && Math.max(x, y) <= n - 1; step++) {
        const [u, w] = [at(x, y, "gamma"), at(x, y, "rho")];
        const speed = Math.hypot(u, w) || 1;
        [x, y] = [x + (0.2 * u) / speed, y + (0.2 * w) / speed];
      }
      // the trough is narrower than a cell
      return Math.abs(x - y) * side < Math.max(APART, 1.6 * side) ? 0 : Math.sign(x - y);
    });
  }

  /** Heights on n x n nodes, the first row below, as seen from above on a canvas, with light from the upper left.
   * The color says who leads in the end, of `ends`, and how low it is among these: the lower, the stronger. */
  function relief(canvas, upward, ends, n, [near, far, plain]) {
    const turned = (rows) =>
      Array.from({ length: n }, (_, row) => rows.slice((n - 1 - row) * n, (n - row) * n)).flat();
    const heights = turned(upward);
    const [least, most] = [Math.min(...heights), Math.max(...heights)];
    const fine = [1, 2, 4].reduce(
      (height, by) => finer(height, (n - 1) * by + 1),
      heights.map((height) => (height - least) / (most - least || 1)),
    );
    const wide = 8 * (n - 1) + 1;
    canvas.width = wide;
    canvas.height = wide;
    const picture = new ImageData(wide, wide);
    const about = (k) => {
      // the mean of a node and those around it: between the nodes nothing sharper is known
      const own = [-n - 1, -n, -n + 1, -1, 0, 1, n - 1, n, n + 1]
        .map((by) => k + by)
        .filter((other) => other in ends && Math.abs((other % n) - (k % n)) < 2);
      return own.reduce((sum, other) => sum + ends[other], 0) / own.length;
    };
    const whose = [1, 2, 4].reduce(
      (height, by) => finer(height, (n - 1) * by + 1),
      turned(ends.map((_, k) => about(k))),
    );
    const right = (k) => Number(whose[k] > 0);
    const lows = [0, 1].map((side) =>
      fine.reduce((low, height, k) => (right(k) === side ? Math.min(low, height) : low), 1),
    );
    fine.forEach((height, k) => {
      const [x, y] = [k % wide, Math.floor(k / wide)];
      const slope = (step, at) => {
        const [back, on] = [at, wide - 1 - at].map((room) => Math.min(8, room)); // from node to node
        return (0.07 * wide * (fine[k + on * step] - fine[k - back * step])) / (on + back);
      };
      const [across, down] = [slope(1, x), slope(wide, y)];
      const light =
        clamp((1 + (across + down) / 1.2) / Math.hypot(1, across, down), 0.86, 1.08) **
        (plain[0] < 128 ? 5 : 1); // 1 upon a plain
      const own = clamp(0.5 + 0.5 * whose[k], 0, 1);
      const low = own * lows[1] + (1 - own) * lows[0];
      const strength = 0.07 + 0.7 * clamp((1 - height) / (1 - low || 1), 0, 1) ** 1.6;
      picture.data.set(
        [
          ...near.map((v, c) => (plain[c] + strength * (own * v + (1 - own) * far[c] - plain[c])) * light),
          255,
        ],
        4 * k,
      );
    });
    canvas.getContext("2d").putImageData(picture, 0, 0);
  }

  /** Lines of equal height between n x n nodes of a square of side 1: pieces [x0, y0, x1, y1], at `count` levels. */
  function contours(height, n, count) {
    const [least, most] = [Math.min(...height), Math.max(...height)];
    const pieces = [];
    for (let level = 1; level <= count; level++) {
      const cut = least + ((most - least) * level) / (count + 1);
      for (let j = 0; j < n - 1; j++)
        for (let i = 0; i < n - 1; i++) {
          const corners = [
            [i, j],
            [i + 1, j],
            [i + 1, j + 1],
            [i, j + 1],
          ];
          const meets = corners.flatMap(([x, y], k) => {
            const [u, v] = corners[(k + 1) % 4];
            const [a, b] = [height[y * n + x] - cut, height[v * n + u] - cut];
            return a < 0 === b < 0
              ? []
              : [[(x + ((u - x) * a) / (a - b)) / (n - 1), (y + ((v - y) * a) / (a - b)) / (n - 1)]];
          });
          for (let k = 0; k + 1 < meets.length; k += 2) pieces.push([...meets[k], ...meets[k + 1]]);
        }
    }
    return pieces;
  }

  function build({ stage, say, change }) {
    let risk = null;
    let seen = {};
    let plane = null; // velocities on the grid, filled some at a time
    let line = null;
    let drawn = "";
    let ends = []; // who leads where the flow from each node ends
    let ways = []; // of earlier starts on this ground: the two basins show themselves
    const colors = palette(stage, "same", "other", "stage");
    const ground = h("canvas", { class: "pa-ground", "aria-hidden": "true" });
    let finish;
    const ready = new Promise((done) => (finish = done));
    const panel = controls(FIELDS, (key, value) => change({ [key]: value }));
    const SIZE = 380;
    const svg = h("svg:svg", {
      role: "application",
      tabindex: 0,
      viewBox: `-40 -10 ${SIZE + 60} ${SIZE + 60}`,
      class: "pa-plane",
      "aria-label":
        "The plane of the two scores with the direction of the reduced flow, the divide, and the line " +
        "that the start follows; arrow keys move the start",
    });
    lettered(svg, SIZE + 60);
    new ResizeObserver(() => line && nameSides()).observe(svg); // letters have grown or shrunk
    const X = (gamma) => ((gamma + RANGE) / (2 * RANGE)) * SIZE;
    const Y = (rho) => SIZE - ((rho + RANGE) / (2 * RANGE)) * SIZE;
    const back = h("svg:g");
    const front = h("svg:g");
    // It stays while all else is drawn anew, and reaches as far as a fingertip: a touch on it moves the start.
    const handle = h("svg:circle", { class: "pa-handle", r: 26 });
    // Words stand above the dots of all starts, where none of these is.
    const named = [
      ["strangers lead", 1, [X(-2.9), Y(2.6)]],
      ["companions lead", -1, [X(2.9), Y(-0.7)]],
      ["γ = ρ", 0, [X(1.9), Y(1.9)]],
    ].map(([words, above, wish]) => ({
      above, // the line, on it, or below
      wish,
      at: null,
      word: h("svg:text", { class: "pa-side-name", "text-anchor": "middle" }, words),
      plate: h("svg:rect", { class: "pa-plate", rx: 4 }),
    }));
    const names = h("svg:g", {}, ...named.flatMap(({ plate, word }) => [plate, word]));
    // Where the start ends, in words beside it: the eye is there while it is dragged.
    const fate = h("svg:text");
    const fated = h("svg:g", { class: "pa-fate" }, h("svg:rect", { class: "pa-plate", rx: 4 }), fate);
    svg.append(back, front, names, fated, handle);
    /** The ground below a word of the picture, on which it is read whatever lies there. */
    const lay = (plate, word) => {
      const { x, y, width, height } = word.getBBox();
      const turn = word.getAttribute("transform");
      const place = {
        x: x - 5,
        y: y - 1,
        width: width + 10,
        height: height + 2,
        ...(turn && { transform: turn }),
      };
      for (const [key, value] of Object.entries(place)) plate.setAttribute(key, value);
    };
    const place = (event) => {
      const box = svg.createSVGPoint();
      [box.x, box.y] = [event.clientX, event.clientY];
      const at = box.matrixTransform(svg.getScreenCTM().inverse());
      const fit = (v) => Number(Math.max(-RANGE, Math.min(RANGE, v)).toFixed(2));
      change({
        gamma: fit((at.x / SIZE) * 2 * RANGE - RANGE),
        rho: fit(((SIZE - at.y) / SIZE) * 2 * RANGE - RANGE),
      });
    };
    svg.addEventListener("keydown", (event) => {
      const way = arrow(event);
      if (!way) return;
      const fit = (v) => Number(clamp(v, -RANGE, RANGE).toFixed(2));
      change({ gamma: fit(seen.gamma + 0.1 * way[0]), rho: fit(seen.rho - 0.1 * way[1]) });
    });
    dragged(svg, place, () => requestAnimationFrame(() => requestAnimationFrame(roll)));
    const attention = listeners({ title: "Who listens to whom along the way" });
    stage.append(
      panel.element,
      h(
        "figure",
        { class: "pa-chart" },
        h("figcaption", {}, "Drag the start: it rolls downhill, and its way stays"),
        h("div", { class: "pa-planar" }, ground, svg),
      ),
      h(
        "p",
        { class: "pa-quiet" },
        "A dot has the color of who leads in the end: blue companions, orange strangers. Above the line " +
          "strangers lead at the start. ",
        h(
          "span",
          { class: "pa-answered" },
          "Gray dots: neither leads. The ground has the same colors, the stronger, the lower the least risk. " +
            "Blue arrows: companions win ground; orange ones: strangers do.",
        ),
      ),
      attention.element,
    );
    attention.element.dataset.small = "";

    /** What is cut off at the frame. */
    const framed = (...inside) =>
      h(
        "svg:svg",
        {
          width: SIZE,
          height: SIZE,
          viewBox: `0 0 ${SIZE} ${SIZE}`,
          style: `width: ${SIZE}px; overflow: hidden`,
        },
        ...inside,
      );

    function paint() {
      const parts = [];
      const side = SIZE / (NODES - 1); // of a cell, drawn
      const depth = plane.map((v) => v && Math.log(v.loss));
      const whole = depth.every((d) => d !== null);
      if (whole) {
        ends = basins(plane, NODES, (2 * RANGE) / (NODES - 1));
        relief(ground, depth, ends, NODES, colors());
      }
      plane.forEach((v, k) => {
        const [i, j] = [k % NODES, Math.floor(k / NODES)];
        if (!v || i % 2 === 0 || j % 2 === 0) return; // an arrow at every second node
        const [x, y] = [X(score(i)), Y(score(j))];
        const size = Math.hypot(v.gamma, v.rho) || 1;
        const [dx, dy] = [(0.55 * side * v.gamma) / size, (-0.55 * side * v.rho) / size];
        const look = v.gamma > v.rho ? "pa-same" : "pa-other";
        parts.push(
          h("svg:path", {
            class: `pa-arrow ${look}`,
            d:
              `M${(x - dx).toFixed(1)} ${(y - dy).toFixed(1)}L${(x + dx).toFixed(1)} ` +
              `${(y + dy).toFixed(1)}l${(-0.6 * dx - 0.4 * dy).toFixed(1)} ` +
              `${(-0.6 * dy + 0.4 * dx).toFixed(1)}M${(x + dx).toFixed(1)} ` +
              `${(y + dy).toFixed(1)}l${(-0.6 * dx + 0.4 * dy).toFixed(1)} ` +
              `${(-0.6 * dy - 0.4 * dx).toFixed(1)}`,
          }),
        );
      });
      if (whole) {
        const at = (u) => (u * SIZE).toFixed(1);
        const d = contours(finer(depth, NODES), 2 * NODES - 1, 13)
          .map(([x, y, u, v]) => `M${at(x)} ${at(1 - y)}L${at(u)} ${at(1 - v)}`)
          .join("");
        parts.push(h("svg:path", { class: "pa-contour", d }));
      }
      parts.push(
        h("svg:line", { class: "pa-level", x1: X(-RANGE), y1: Y(-RANGE), x2: X(RANGE), y2: Y(RANGE) }),
      );
      parts.push(h("svg:rect", { class: "pa-frame", x: 0, y: 0, width: SIZE, height: SIZE }));
      for (let v = -RANGE; v <= RANGE; v++) {
        parts.push(h("svg:text", { x: X(v), y: SIZE + 18, "text-anchor": "middle" }, number(v)));
        parts.push(h("svg:text", { x: -6, y: Y(v) + 4, "text-anchor": "end" }, number(v)));
      }
      parts.push(h("svg:text", { x: SIZE / 2, y: SIZE + 40, "text-anchor": "middle" }, "γ, companions"));
      parts.push(
        h(
          "svg:text",
          { x: -32, y: SIZE / 2, "text-anchor": "middle", transform: `rotate(-90 -32 ${SIZE / 2})` },
          "ρ, strangers",
        ),
      );
      back.replaceChildren(...parts);
    }

    /**
     * Put each word where it hides no start, and as few ways as it can, on its own side of the line; the nearest
     * place to where it would be. It stays where it is as long as it hides none.
     */
    function nameSides() {
      const starts = [seen, ...ways.map(({ points }) => points[0])].map(({ gamma, rho }) => [
        X(gamma),
        Y(rho),
      ]);
      const [x, y, way] = [
        fate.x.baseVal[0].value,
        fate.y.baseVal[0].value,
        fate.getAttribute("text-anchor") === "end" ? -1 : 1,
      ];
      starts.push(...[0, 25, 50, 75, 100].map((by) => [x + way * by, y - 5])); // and hide no word of the fate
      const lines = [...ways.map(({ points }) => points), line]
        .flat()
        .map(({ gamma, rho }) => [X(gamma), Y(rho)]);
      for (const one of named) {
        const wide = one.word.getComputedTextLength();
        const high = parseFloat(getComputedStyle(one.word).fontSize);
        if (!wide) return; // it is not shown yet
        const turned = 0.36 * (wide + high); // by 45 degrees
        const [half, up] = one.above ? [wide / 2, high / 2] : [turned, turned];
        const hides = ([x, y], points, by) =>
          points.filter(([u, v]) => Math.abs(u - x) < half + by && Math.abs(v - y) < up + by).length;
        const cost = (at) => 1000 * hides(at, starts, 11) + 3 * hides(at, lines, 2);
        const fits = ([x, y]) =>
          Math.min(x, SIZE - x) > half + 4 &&
          Math.min(y, SIZE - y) > up + 4 &&
          (!one.above || one.above * (SIZE - x - y) > half + up + 6);
        if (one.at && fits(one.at) && cost(one.at) < 1000) {
          lay(one.plate, one.word); // letters may have grown with the screen
          continue;
        }
        const steps = Array.from({ length: 39 }, (_, k) => 10 * k);
        const places = one.above
          ? steps.flatMap((x) => steps.map((y) => [x, y]))
          : steps.map((x) => [x - 0.7 * high, SIZE - x - 0.7 * high]);
        const far = ([x, y]) => Math.hypot(x - one.wish[0], y - one.wish[1]) / 12;
        const costs = places.filter(fits).map((at) => [cost(at) + far(at), at]);
        if (!costs.length) return; // nor is it laid out yet: a word is wider than its side of the plane
        one.at = costs.reduce((best, next) => (next[0] < best[0] ? next : best))[1];
        const [x, y] = one.at.map((v) => Math.round(v));
        const turn = one.above ? {} : { transform: `rotate(-45 ${x} ${y})` };
        for (const [key, value] of Object.entries({ x, y, dy: "0.35em", ...turn }))
          one.word.setAttribute(key, value);
        lay(one.plate, one.word);
      }
    }

    /** Who leads in the end, beside the start, where it covers no other start and as little of all lines as it can. */
    function nameFate() {
      const who = leads(line.at(-1));
      const words = { 1: "companions win", "-1": "strangers win", 0: "neither wins" }[who];
      fate.textContent = words;
      fate.setAttribute("class", ["pa-other", "pa-noise", "pa-same"][1 + who]);
      const wide = fate.getComputedTextLength();
      const high = parseFloat(getComputedStyle(fate).fontSize);
      const at = ({ gamma, rho }) => [X(gamma), Y(rho)];
      const starts = [seen, ...ways.map(({ points }) => points[0])].map(at);
      const lines = [...ways.map(({ points }) => points), line].flat().map(at);
      const divide = Array.from({ length: 77 }, (_, k) => [5 * k, SIZE - 5 * k]);
      const [x, y] = at(seen);
      const places = [1, -1].flatMap((way) =>
        [0.35, -1, 1.6, -2.2, 2.8, -3.4, 4].map((by) => ({ way, x: x + 18 * way, y: y + by * high })),
      );
      const cost = ({ way, x, y }, k) => {
        const [left, right] = way > 0 ? [x - 6, x + wide + 6] : [x - wide - 6, x + 6];
        const [top, bottom] = [y - high, y + 0.35 * high];
        const inside = (points, by) =>
          points.filter(([u, v]) => u > left - by && u < right + by && v > top - by && v < bottom + by)
            .length;
        const out = left < 0 || right > SIZE || top < 0 || bottom > SIZE;
        return 1e5 * out + 1000 * inside(starts, 6) + 20 * inside(divide, 2) + 5 * inside(lines, 2) + k;
      };
      const best = places
        .map((place, k) => [cost(place, k % 7), place])
        .reduce((one, next) => (next[0] < one[0] ? next : one))[1];
      fate.setAttribute("text-anchor", best.way < 0 ? "end" : "start");
      fate.setAttribute("x", best.x);
      fate.setAttribute("y", best.y);
      lay(fated.firstElementChild, fate);
    }

    /** The head of an arrow where the line leaves the frame: it goes on. */
    function onward(from, to) {
      const turn = (Math.atan2(Y(to.rho) - Y(from.rho), X(to.gamma) - X(from.gamma)) * 180) / Math.PI;
      return h("svg:path", {
        class: "pa-dot pa-signal pa-leaves",
        d: "M13 0L-4 8L0 0L-4 -8Z",
        transform: `translate(${X(to.gamma).toFixed(1)} ${Y(to.rho).toFixed(1)}) rotate(${turn.toFixed(1)})`,
      });
    }

    let rolling = null;
    /** The start rolls its way; the promise is kept when it is there. */
    function roll() {
      cancelAnimationFrame(rolling);
      if (still.matches) return draw();
      return new Promise((done) => {
        const begun = performance.now();
        const step = (now) => {
          const t = Math.min(1, (now - begun) / 1600);
          draw(t * t * (3 - 2 * t));
          if (t < 1) rolling = requestAnimationFrame(step);
          else done();
        };
        rolling = requestAnimationFrame(step);
      });
    }

    function draw(share = 1) {
      if (!line) return;
      const leaves = line.findIndex(({ gamma, rho }) => Math.abs(gamma) > RANGE || Math.abs(rho) > RANGE);
      const whole = leaves < 0 ? line : line.slice(0, leaves);
      const inside = whole.slice(0, Math.max(2, Math.round(share * whole.length)));
      const path = (points, look) =>
        h("svg:path", {
          class: look,
          d:
            points
              .map(({ gamma, rho }, k) => `${k ? "L" : "M"}${X(gamma).toFixed(1)} ${Y(rho).toFixed(1)}`)
              .join("") || "M0 0",
        });
      const [last, end] = [inside.at(-2), inside.at(-1)];
      front.replaceChildren(
        framed(...ways.map(({ points }) => path(points, "pa-way"))),
        ...ways.map(({ points: [{ gamma, rho }], look }) =>
          h("svg:circle", { class: `pa-dot pa-kept ${look}`, cx: X(gamma), cy: Y(rho), r: 4.5 }),
        ),
        path(inside, "pa-curve pa-signal"),
        ...(leaves >= 0 && last && share === 1
          ? [onward(last, end)]
          : end
            ? [
                h("svg:circle", {
                  class: "pa-dot pa-signal",
                  cx: X(end.gamma),
                  cy: Y(end.rho),
                  r: share < 1 ? 8 : 4,
                }),
              ]
            : []),
        h("svg:circle", { class: "pa-dot pa-start", cx: X(seen.gamma), cy: Y(seen.rho), r: 8 }),
      );
      for (const [name, at] of [
        ["cx", X(seen.gamma)],
        ["cy", Y(seen.rho)],
      ])
        handle.setAttribute(name, at);
      nameFate();
      nameSides();
      const { gamma, rho } = stage.classList.contains("pa-guessing") ? seen : (end ?? seen);
      const same = (i, j) => Math.floor(i / seen.C) === Math.floor(j / seen.C);
      attention.draw(seen.D, seen.C, (i, j) => (i === j ? seen.diagonal : same(i, j) ? gamma : rho), same);
    }

    /** The way from a start stays, where none of the last ones began close to it. */
    function keep(line) {
      const [{ gamma, rho }, end] = [line[0], line.at(-1)];
      const points = line.filter((_, k) => k % 6 === 0);
      if (ways.some(({ points: [at] }) => Math.hypot(at.gamma - gamma, at.rho - rho) < 0.45)) return;
      ways = [...ways, { points, look: ["pa-other", "pa-noise", "pa-same"][1 + leads(end)] }].slice(-40);
    }

    const follow = (start) =>
      downhill(risk, seen.diagonal, start, { longest: 0.015, most: 900, range: 2 * RANGE });
    /** Who leads at a point by enough to be told from the divide, along which a trough runs: 1 companions, -1 strangers. */
    const leads = ({ gamma, rho }) => (Math.abs(gamma - rho) < APART ? 0 : Math.sign(gamma - rho));

    /** Starts all over the plane, one after the other, after a guess: who leads in the end of each. */
    async function sow() {
      const mine = drawn;
      for (let k = 0; k < 25 && drawn === mine; k++) {
        keep(follow({ gamma: -2.5 + 1.25 * (k % 5), rho: -2.5 + 1.25 * Math.floor(k / 5) }));
        if (still.matches && k < 24) continue;
        draw();
        await new Promise((done) => setTimeout(done, 60));
      }
    }

    function sentence() {
      const [first, end] = [line[0], line.at(-1)];
      const names = { 1: "companions", "-1": "strangers" };
      const [led, leading] = [leads(first), leads(end)];
      const turned =
        led && leading && led !== leading
          ? `At the start ${names[led]} led, in the end ${names[leading]} do. `
          : "";
      const who = leading
        ? `rolls into the valley where ${names[leading]} lead`
        : "stays beside the line, in the trough between the valleys";
      const out = Math.max(Math.abs(end.gamma), Math.abs(end.rho)) > RANGE ? ", outside of the picture" : "";
      return (
        `${turned}From γ = ${number(seen.gamma)}, ρ = ${number(seen.rho)} the process ${who}, and is ` +
        `followed to γ = ${number(end.gamma)}, ρ = ${number(end.rho)}${out}. On the way the least risk ` +
        `falls from ${number(first.loss)} to ${number(end.loss)}, and the error goes from ` +
        `${percent(first.error)} to ${percent(end.error)}.`
      );
    }

    function work() {
      const mine = plane;
      let k = 0;
      inFrames(
        say,
        () => plane === mine,
        (until) => {
          for (; k < NODES ** 2 && performance.now() < until; k++)
            plane[k] = velocity(risk, seen.diagonal, score(k % NODES), score(Math.floor(k / NODES)));
          paint();
          if (k === NODES ** 2) finish();
          return k < NODES ** 2;
        },
      );
    }

    return {
      fields: FIELDS,
      room: 300,
      colors: { "pa-same": "companions", "pa-other": "strangers" },
      guess: {
        question: "Is the straight line γ = ρ the divide, so that the leader at the start leads forever?",
        options: ["Yes", "No"],
        right: 1,
        free: ["gamma", "rho"],
        before: () =>
          "Two starts have rolled, each on its side of the line. Guess, or drag the black start anywhere.",
        after: async () => {
          await roll();
          await sow();
        },
      },
      ready,
      repaint: () => {
        paint();
        draw();
      },
      check(setting) {
        const { D, C, q } = setting;
        if (D > 16) refuse(`The plane takes ${NODES ** 2} minima: D must be at most 16, not ${D}.`);
        checkLaw({ D, C, q, degree: 3, linear: 0.01 });
        if (C < 2 || C === D)
          refuse(
            `The plane is one of companions and strangers: C must be from 2 to half of D = ${D}; it is ${C}.`,
          );
        finite("diagonal", setting.diagonal, -10, 10);
        for (const key of ["gamma", "rho"]) finite(key, setting[key], -RANGE, RANGE);
        if (!(q > 0)) refuse("q must be above 0: without random features the risk falls forever as α grows.");
      },
      show(setting) {
        if (line) keep(line);
        seen = { ...setting };
        panel.show(seen);
        line = null;
        const { D, C, q } = seen;
        if (!risk || risk.D !== D || risk.C !== C || risk.q !== q) risk = new PopulationRisk({ D, C, q });
        const now = JSON.stringify([D, C, q, seen.diagonal]);
        if (now !== drawn) {
          drawn = now;
          ways = [];
          plane = new Array(NODES ** 2).fill(null);
          work();
        }
        line = follow(seen);
        // Before a guess two starts have rolled already, each on its own side of the line.
        if (stage.classList.contains("pa-guessing"))
          for (const start of [
            { gamma: 1, rho: -0.5 },
            { gamma: -0.5, rho: 1 },
          ])
            keep(follow(start));
        draw();
        say(sentence());
      },
      outside: {
        velocity: (gamma, rho) => velocity(risk, seen.diagonal, gamma, rho),
        ends: () => ends,
        line: () => line.map(({ gamma, rho, alpha, loss, error }) => [gamma, rho, alpha, loss, error]),
      },
      code: (s) =>
        [
          "import patch_association as pa",
          "from patch_lab.dynamics.slow_scores import flow_line",
          "",
          `risk = pa.PopulationRisk(${s.D}, ${s.C}, q=${s.q})`,
          `way = flow_line(risk, ${s.diagonal}, [1, 10, 100], gamma=${s.gamma}, rho=${s.rho})`,
          "print(way.gamma, way.rho)",
        ].join("\n"),
    };
  }

  Object.assign(window.patchAssociation, { velocity, downhill, basins, contours, finer, relief });
  mount("valleys", build);
})();
