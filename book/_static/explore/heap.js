// The heap and the sheet: the pieces of a picture, pulled by strings between those whose addresses a network finds alike.
// Where the strings lead was computed when the book was built (`images/puzzle.py`); the pieces' picture is the reader's.
(() => {
  "use strict";
  const {
    h,
    arrow,
    clamp,
    mix,
    fingers,
    mount,
    player,
    percent,
    uniform,
    normal,
    still,
    colorsOf,
    rested,
    sheets,
  } = window.patchAssociation;
  const SIDE = 14;
  const N = SIDE * SIDE;
  const CAT = new URL("cat.jpg", document.currentScript.src).href;
  const MOST = { bytes: 40e6, pixels: 100e6 };
  const SECONDS = 4.2; // of the way from the heap to the sheet
  const PULLED = 0.72; // of this time the strings alone pull; then every piece takes the place that is nearest

  const ease = (t) => 1 - (1 - t) ** 3;
  /** A spring that overshoots once: 0 at 0, 1 from 1 on. */
  const spring = (t) => (t >= 1 ? 1 : 1 - Math.exp(-5.2 * t) * Math.cos(5.6 * t) * (1 - t ** 3));

  /** A heap: where each piece lies, in places of the grid, and how it is turned. */
  function pile(seed) {
    const random = uniform(7919 * seed);
    const draw = normal(random);
    return Array.from({ length: N }, () => {
      const [r, turn] = [Math.sqrt(random()) * 5.2, 2 * Math.PI * random()];
      return {
        at: [6.5 + r * Math.sin(turn) + 0.4 * draw(), 6.5 + r * Math.cos(turn) + 0.4 * draw()],
        turn: 0.9 * draw(),
        late: 0.22 * random(),
      };
    });
  }

  /** A canvas on which one network's strings pull the pieces. */
  function board(sheet, describe) {
    const canvas = h("canvas", {
      role: "application",
      tabindex: 0,
      "aria-label": `${describe}; arrow keys pull a piece`,
    });
    const extent = Math.max(...sheet.plane.flat().map((x) => Math.abs(x - 6.5)));
    const fit = Math.min(1, 7.6 / extent); // what chance ties together sprawls: it is drawn smaller
    const plane = sheet.plane.map((at) => at.map((x) => 6.5 + fit * (x - 6.5)));
    let size = 0;
    // A piece that the reader holds, and how many strings lie between it and every other.
    const beside = Array.from({ length: N }, () => []);
    for (const [i, j] of sheet.links) {
      beside[i].push(j);
      beside[j].push(i);
    }
    const held = { piece: -1, by: [0, 0], far: null, at: [] };
    const hops = (from) => {
      const far = new Array(N).fill(Infinity);
      far[from] = 0;
      for (let front = [from], d = 1; front.length; d++) {
        front = [...new Set(front.flatMap((k) => beside[k]))].filter((k) => far[k] === Infinity);
        for (const k of front) far[k] = d;
      }
      return far;
    };
    const point = ({ clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      return [((clientX - box.left) / box.width) * size, ((clientY - box.top) / box.height) * size];
    };
    const again = () => canvas.dispatchEvent(new Event("fit"));
    const color = colorsOf(canvas);
    // the picture at the size at which it is drawn: to shrink it for each piece anew would cost most of a
    // frame
    let scaled = {};
    let [grip, back] = [null, null];
    canvas.style.cursor = "grab";
    rested(canvas);
    canvas.addEventListener("pointerdown", (event) => {
      grip = point(event);
      const [x, y] = grip;
      const gap = (k) => Math.hypot(held.at[k][0] - x, held.at[k][1] - y);
      const nearest = held.at.map((_, k) => k).reduce((best, k) => (gap(k) <= gap(best) ? k : best), 0);
      if (!held.at.length || gap(nearest) > size / (SIDE + 2)) return;
      cancelAnimationFrame(back);
      canvas.setPointerCapture(event.pointerId);
      Object.assign(held, { piece: nearest, by: [0, 0], far: hops(nearest) });
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held.piece < 0 || !canvas.hasPointerCapture(event.pointerId)) return;
      const [x, y] = point(event);
      held.by = [x - grip[0], y - grip[1]];
      again();
    });
    const release = () => {
      // it swings back
      if (held.piece < 0) return;
      const [from, begun] = [held.by, performance.now()];
      const swing = (now) => {
        const t = still.matches ? 1 : Math.min(1, (now - begun) / 900);
        held.by = from.map((v) => v * (1 - spring(t)));
        if (t === 1) held.piece = -1;
        again();
        if (t < 1) back = requestAnimationFrame(swing);
      };
      back = requestAnimationFrame(swing);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("keydown", (event) => {
      // arrow keys pull the piece in the middle
      const by = arrow(event);
      if (!by) return;
      cancelAnimationFrame(back);
      if (held.piece < 0)
        Object.assign(held, { piece: (N + SIDE) / 2, by: [0, 0], far: hops((N + SIDE) / 2) });
      held.by = held.by.map((v, side) => v + by[side] * size * 0.04);
      again();
    });
    canvas.addEventListener("keyup", release);
    canvas.addEventListener("pointercancel", release);
    new ResizeObserver(([{ contentRect }]) => {
      size = Math.round(contentRect.width * Math.min(devicePixelRatio, 2));
      [canvas.width, canvas.height] = [size, size];
      canvas.dispatchEvent(new Event("fit"));
    }).observe(canvas);

    /** At time t in [0, 1] of the way; `picture` is square. Returns how many pieces lie within half a place of their own. */
    function draw(heap, picture, t) {
      if (!size || !picture) return 0;
      const context = canvas.getContext("2d");
      const unit = size / (SIDE + 2); // a place; a margin of one all around
      const cut = Math.ceil(unit);
      if (scaled.of !== picture || scaled.cut !== cut)
        scaled = { of: picture, cut, picture: square(picture, picture.width, picture.height, cut * SIDE) };
      const at = new Array(N);
      let near = 0;
      const [pull, snap] = [clamp(t / PULLED), ease(clamp((t - PULLED) / (1 - PULLED)))];
      for (let k = 0; k < N; k++) {
        const { at: from, turn, late } = heap[k];
        const own = spring(clamp((pull - late) / (1 - late)));
        const to = plane[k];
        const [r, c] = [0, 1].map((side) => mix(mix(from[side], to[side], own), sheet.places[k][side], snap));
        // a piece that swings out stays whole at the edge
        const [x, y] = [c, r].map((v) => clamp(v + 1.5, 0.7, SIDE + 1.3) * unit);
        at[k] = [x, y, turn * (1 - own) * (1 - snap)];
        if (Math.max(Math.abs(r - Math.floor(k / SIDE)), Math.abs(c - (k % SIDE))) < 0.5) near += 1;
      }
      held.at = at.map(([x, y]) => [x, y]);
      if (held.piece >= 0) {
        // no strings pull in the heap
        const along = t === 0 ? (k) => (k === held.piece ? 1 : 0) : (k) => Math.exp(-held.far[k] / 2.2);
        for (let k = 0; k < N; k++) for (const side of [0, 1]) at[k][side] += along(k) * held.by[side];
      }
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, size, size);
      const side = unit * mix(0.92, 1.004, snap);
      for (let k = 0; k < N; k++) {
        const [x, y, turn] = at[k];
        const [cos, sin] = turn ? [Math.cos(turn), Math.sin(turn)] : [1, 0];
        context.setTransform(cos, sin, -sin, cos, x, y);
        context.drawImage(
          scaled.picture,
          (k % SIDE) * cut,
          Math.floor(k / SIDE) * cut,
          cut,
          cut,
          -side / 2,
          -side / 2,
          side,
          side,
        );
      }
      context.setTransform(1, 0, 0, 1, 0, 0);
      // The strings: they come as the pulling begins, and go when every piece lies at its place.
      const seen = ease(clamp(t / 0.08)) * (1 - 0.92 * snap * (held.piece < 0 ? 1 : 0.4));
      if (seen < 0.01) return near;
      const long =
        sheet.links.reduce((sum, [i, j]) => sum + Math.hypot(at[i][0] - at[j][0], at[i][1] - at[j][1]), 0) /
        sheet.links.length /
        unit;
      const thin = Math.min(1, 0.35 + 0.65 / long); // strings across the whole heap do not hide it
      context.lineCap = "round";
      context.strokeStyle = color("string");
      for (const [wide, alpha] of [
        [0.2, 0.18],
        [0.075, 0.85],
      ]) {
        context.globalAlpha = alpha * seen * thin;
        context.lineWidth = wide * unit * thin;
        context.beginPath();
        for (const [i, j] of sheet.links) {
          context.moveTo(at[i][0], at[i][1]);
          context.lineTo(at[j][0], at[j][1]);
        }
        context.stroke();
      }
      context.globalAlpha = 1;
      return near;
    }
    return { canvas, draw };
  }

  /** The middle square of a picture, at most so large, or just so. */
  function square(picture, wide, high, just) {
    const side = Math.min(wide, high);
    const most = just ?? Math.min(side, 1400);
    const canvas = h("canvas", { width: most, height: most });
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, (wide - side) / 2, (high - side) / 2, side, side, 0, 0, most, most);
    return canvas;
  }

  async function open(address) {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    return picture;
  }

  /** A reader's file as a square picture, or a sentence that says why not. Nothing leaves the page. */
  async function read(file) {
    const name = `“${[...file.name].slice(0, 40).join("")}”`;
    const size = (n) => (n / 1e6).toLocaleString("en-US", { maximumFractionDigits: 1 });
    if (!file.size) return { refused: `${name} is empty.` };
    if (file.size > MOST.bytes)
      return {
        refused: `${name} has ${size(file.size)} MB; this page takes up to ${size(MOST.bytes)}. Try a smaller copy.`,
      };
    const address = URL.createObjectURL(file);
    try {
      const picture = await open(address);
      const [wide, high] = [picture.naturalWidth, picture.naturalHeight];
      if (Math.min(wide, high) < SIDE)
        return {
          refused: `${name} is ${wide} by ${high} pixels: too few to be cut into ${SIDE} by ${SIDE} pieces.`,
        };
      if (wide * high > MOST.pixels)
        return {
          refused:
            `${name} has ${size(wide * high)} million pixels; this page takes up to ` +
            `${size(MOST.pixels)}. Try a smaller copy.`,
        };
      return { picture: square(picture, wide, high) };
    } catch {
      return { refused: `The browser cannot read ${name} as a picture. Try a JPEG, PNG or WebP file.` };
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  function build({ stage, say, sentence }) {
    const boards = {
      vit: board(
        sheets.vit,
        "The pieces, pulled by strings between the places that a trained network finds alike: they become the picture",
      ),
      start: board(
        sheets.start,
        "The same pieces, pulled by the strings of a network before training: they stay in disorder",
      ),
    };
    const STEPS = 600; // of the slider
    let [seed, heap, picture, time] = [1, pile(1), null, 0];
    let asked = 0; // of several files the last one counts, however long the others take
    let whose = "the picture";
    const draw = () => say(words(...Object.values(boards).map((one) => one.draw(heap, picture, time))));
    for (const { canvas } of Object.values(boards)) canvas.addEventListener("fit", draw);

    // The essay says what an address is; the front page speaks of encodings.
    const named = document.querySelector(".pa-doors") ? ["encoding", "encodings"] : ["address", "addresses"];
    const words = (near, before) => {
      const [ours, theirs] = [sheets.vit, sheets.start];
      if (time === 0)
        return (
          `A heap of ${N} pieces. Each carries the ${named[0]} of the place from which it was cut: numbers that a ` +
          `network uses as it likes. Strings will join the places whose ${named[1]} are most alike. On one heap ` +
          `the ${named[1]} are those after training, on the other those before it.`
        );
      if (time < 1)
        return (
          `Each string joins two places whose ${named[1]} are among the most alike; nobody looks at the picture. ` +
          `The strings pull: ${near} of ${N} pieces lie within half a place of their own. By the strings before ` +
          `training it is ${before}.`
        );
      return (
        `Nobody looked: strings between alike ${named[1]} pulled the pieces, and ${whose} is back. Before ` +
        `training the same rule leaves rubble. After it, ${ours.joined} of the ${ours.links.length} most ` +
        `alike pairs are neighbors, and ${ours.right} of ${N} pieces lie right; before it, ` +
        `${theirs.joined} and ${theirs.right}. ` +
        `${fingers() ? "Rest a finger on a piece, and pull" : "Take a piece and pull"}: ` +
        "the strings hold."
      );
    };
    const way = player({
      label: "how far the strings have pulled",
      words: "Pull",
      seconds: SECONDS,
      show: (k) => percent(k / STEPS),
      onstep: (k) => {
        time = k / STEPS;
        draw();
      },
    });
    let soon = null;
    way.element.addEventListener("input", () => clearTimeout(soon)); // the reader pulls
    way.element.addEventListener("click", () => clearTimeout(soon));
    /** A new heap, which is pulled after a moment. */
    const shuffle = () => {
      clearTimeout(soon);
      way.stop();
      [seed, heap] = [seed + 1, pile(seed + 1)];
      way.go(0);
      if (!still.matches) soon = setTimeout(way.play, 900); // else the heap lies there until the reader pulls
    };
    const choose = async (file) => {
      if (!file) return;
      asked += 1;
      const mine = asked;
      const found = await read(file);
      if (mine !== asked) return;
      if (found.refused) return say(found.refused, true, true);
      picture = found.picture;
      whose = "your picture";
      shuffle();
      if (still.matches) way.go(STEPS);
    };
    const input = h("input", {
      type: "file",
      accept: "image/*",
      class: "pa-file",
      onchange: () => {
        choose(input.files[0]);
        input.value = "";
      },
    });
    const caption = (title, words) => h("figcaption", {}, h("strong", {}, title), ` ${words}`);
    stage.append(
      h(
        "div",
        { class: "pa-heaps" },
        h("figure", { class: "pa-chart" }, boards.vit.canvas, caption("After training", "on ImageNet")),
        h(
          "figure",
          { class: "pa-chart" },
          boards.start.canvas,
          caption("Before training", "by the same rule"),
        ),
        h("div", { class: "pa-beside" }, way.element, sentence),
        h(
          "div",
          { class: "pa-tools" },
          h("button", { type: "button", class: "pa-main", onclick: shuffle }, "Shuffle again"),
          h("label", { class: "pa-upload" }, "Use your own picture", input),
          h("p", { class: "pa-quiet" }, "It stays in this page and is sent nowhere."),
        ),
      ),
    );
    const ready = open(CAT).then((cat) => {
      picture ??= square(cat, cat.naturalWidth, cat.naturalHeight);
      draw();
      const seen = new IntersectionObserver(
        (entries) => {
          if (!entries.some((entry) => entry.isIntersecting)) return;
          seen.disconnect();
          if (still.matches) {
            way.go(STEPS); // where motion is unwanted, before and after stand side by side
            way.name("Pull again");
          } else soon ??= setTimeout(way.play, 1000);
        },
        { threshold: 0.35 },
      );
      seen.observe(boards.vit.canvas);
    });
    return {
      fields: [],
      ready,
      bare: true,
      repaint: draw,
      show: () => way.fit(STEPS, 0),
      room: 290,
      plays: true,
      outside: { sheets: () => sheets, time: () => time, mean: () => mean(picture), shown: () => whose },
    };
  }

  /** The mean color of a picture, for checks; null for the cat under file://, where no page may read a file's pixels. */
  function mean(picture) {
    const context = h("canvas", { width: 1, height: 1 }).getContext("2d");
    context.drawImage(picture, 0, 0, 1, 1);
    try {
      return Array.from(context.getImageData(0, 0, 1, 1).data);
    } catch {
      return null;
    }
  }

  mount("heap", build);
})();
