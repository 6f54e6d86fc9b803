// Strings over the epochs: which places a network finds alike while it learns.
(() => {
  "use strict";
  const { clamp, guess, player, chart, mount, still, percent, legend, essay } = window.patchAssociation;
  const { small, columns, easel, reach } = window.patchAssociation.scenes;

  mount("strings", ({ stage, say, sentence }) => {
    const G = 8;
    const { links, near, accuracy, count, done } = essay.strings;
    const last = links.length - 1;
    const places = (link) => [Math.floor(link / 64), link % 64].map((k) => [Math.floor(k / G), k % G]);
    /** What a string joins: 0 neighbors, 1 a place and its mirror image, left for right, 2 others. */
    const kind = (link) => {
      const [[r, c], [u, v]] = places(link);
      return Math.abs(r - u) + Math.abs(c - v) === 1 ? 0 : r === u && c + v === G - 1 ? 1 : 2;
    };
    const KINDS = [
      ["same", "neighbors"],
      ["feature", "mirror images"],
      ["other", "others"],
    ];
    const shown = new Map(); // how much of each string is seen
    let [epoch, reached, wanted] = [0, 0, new Set()];
    let moving = null; // the frame that is asked for while strings come and go
    const grid = easel(
      9,
      9,
      "Sixty-four places of a picture, the most alike pairs joined by strings",
      (context, color) => {
        context.lineCap = "round";
        context.strokeStyle = color("line");
        context.lineWidth = 0.04;
        context.beginPath();
        for (let k = 0; k < G; k++) {
          // where strings between neighbors would be
          for (let n = 1; n < G; n++) {
            for (const [a, b, c, d] of [
              [n, k + 1, n + 1, k + 1],
              [k + 1, n, k + 1, n + 1],
            ]) {
              context.moveTo(a, b);
              context.lineTo(c, d);
            }
          }
        }
        context.stroke();
        for (const [link, seen] of shown) {
          const [[y, x], [v, u]] = places(link).map((at) => at.map((k) => k + 1));
          const [of, close] = [kind(link), kind(link) === 0];
          context.globalAlpha = seen * [1, 0.8, 0.5][of];
          context.strokeStyle = color(KINDS[of][0]);
          context.lineWidth = [0.1, 0.055, 0.045][of];
          context.beginPath();
          context.moveTo(x, y);
          const bend = close ? 0 : 0.13;
          context.quadraticCurveTo((x + u) / 2 + bend * (v - y), (y + v) / 2 - bend * (u - x), u, v);
          context.stroke();
        }
        context.globalAlpha = 1;
        context.fillStyle = color("noise");
        for (let k = 0; k < 64; k++) {
          context.beginPath();
          context.arc((k % G) + 1, Math.floor(k / G) + 1, 0.11, 0, 7);
          context.fill();
        }
      },
    );
    const key = legend(KINDS.map(([name, words]) => [`pa-${name}`, words]));
    const curves = chart({
      title: "How much of its own gain each has made",
      xlabel: "epoch",
      height: small.matches ? 130 : 210,
    });
    /** Strings come and go for as long as some are on their way, however fast the epochs change. */
    function fade(before, now) {
      const step = still.matches ? 1 : (now - before) / 150;
      let settled = true;
      for (const [link, seen] of shown) {
        const next = clamp(seen + (wanted.has(link) ? step : -step));
        if (next === 0 && !wanted.has(link)) shown.delete(link);
        else shown.set(link, next);
        if ((next > 0 && next < 1) || (next === 0 && wanted.has(link))) settled = false;
      }
      grid.paint();
      moving = settled ? null : requestAnimationFrame((then) => fade(now, then));
    }
    const go = (to) => {
      if (to === epoch && shown.size) return;
      [epoch, reached, wanted] = [to, Math.max(reached, to), new Set(links[to])];
      for (const link of wanted) if (!shown.has(link)) shown.set(link, 0);
      if (moving === null) moving = requestAnimationFrame((now) => fade(now, now));
      const cut = (y) =>
        Float64Array.from(y, (v, k) => (k <= reached ? (v - y[0]) / (y.at(-1) - y[0]) : NaN));
      curves.draw({
        x: [0, last],
        at: epoch,
        range: [0, 1.1],
        format: percent,
        levels: reached < last ? [] : [{ y: 0.9, name: "" }],
        marks: reached < last ? [] : done.map((x) => ({ x })),
        curves: [
          { y: cut(near), look: "pa-same", name: "the map", above: 0.6 },
          { y: cut(accuracy), look: "pa-label", name: "the answers", above: 0.4 },
        ],
      });
      KINDS.forEach(
        ([, words], k) =>
          (key.children[k].lastChild.textContent =
            `${links[to].filter((link) => kind(link) === k).length} ${words}`),
      );
      tell();
    };
    const tell = () => {
      const told = reached >= last ? asked.tell() : "";
      say(
        `${told}${epoch === 0 ? "Before training" : `After epoch ${epoch}`}, ${near[epoch]} of the ` +
          `${count} strings join neighbors, and ${percent(accuracy[epoch])} of new pictures are guessed ` +
          "right." +
          (reached < last
            ? ""
            : ` The map has nine tenths of its gain at epoch ${done[0]}, the answers have theirs at ` +
              `epoch ${done[1]}: the dotted lines.`),
      );
    };
    const time = player({ label: "epoch", seconds: 7, hold: { at: done[0], seconds: 1.5 }, onstep: go });
    const jump = (epoch) => () => {
      time.stop();
      time.go(epoch);
    };
    reach.strings = { start: jump(0), map: jump(done[0]), answers: jump(done[1]), end: jump(last) };
    const asked = guess({
      question: "Which is nearly finished first: the map of neighbors, or the answers?",
      options: ["The map", "The answers"],
      right: 0,
      after: () => time.play(),
    });
    stage.append(columns([grid.canvas, key], asked.element, time.element, curves.element, sentence));
    return {
      fields: [],
      bare: true,
      repaint: grid.paint,
      show: () => time.fit(last, 0),
      room: 235,
      outside: {
        at: (k) => ({ links: links[k], near: near[k], accuracy: accuracy[k] }),
        epoch: () => epoch,
        kinds: () => key.textContent,
      },
    };
  });
})();
