// Counting drowns: the chances of a plain sum of all patches as patches are added.
(() => {
  "use strict";
  const { guess, player, chart, mount, number, percent, bell, countingError, listeningError, essay } =
    window.patchAssociation;
  const { small, columns } = window.patchAssociation.scenes;

  mount("drowns", ({ stage, say, sentence }) => {
    const { C, q, least, most, curves, listening, boundary } = essay.counting;
    const sizes = Array.from({ length: (most - least) / C + 1 }, (_, k) => least + C * k);
    const earlier = [16, 32, 64, 128]; // of which the bells stay as outlines
    const sums = bell(
      "The chances of each sum of all patches: a bell around four that widens as patches are added; " +
        "what lies below zero is wrong",
      [0.23],
      small.matches ? 420 : 640,
      matchMedia("(max-width: 600px)").matches,
    );
    const errors = chart({
      title: "The error of adding up",
      xlabel: "random voices",
      height: small.matches ? 140 : 200,
    });
    let [D, reached] = [least, 0];
    const voicesOf = (D) => q * (D - C);
    function draw() {
      sums.draw({
        D,
        C,
        q,
        before: earlier.filter((n) => n < 0.8 * D),
        named: (size) => `${number(voicesOf(size))} voices`,
      });
      const voices = voicesOf(D);
      const error = countingError(D, C, q);
      const done = reached >= most;
      const one = (points, look, name, above) => ({
        xs: points.map(([x]) => x * C ** 2),
        y: points.map(([x, y]) =>
          look.startsWith("pa-signal") || x * C ** 2 <= q * (reached - C) + 1e-9 ? y : NaN,
        ),
        look,
        name,
        above,
      });
      errors.draw({
        x: [0, 60],
        range: [0, 0.36],
        format: percent,
        levels: [{ y: 0.125, name: "one in eight" }],
        marks: done ? [{ x: boundary * C ** 2 }] : [],
        spots: [
          { x: voices, y: error, look: "pa-label" },
          { x: voices, y: listeningError(D, C, q), look: "pa-same" },
        ],
        curves: [
          one(curves[4], "pa-label", "adding up", 0.33),
          ...(done ? [one(curves[16], "pa-signal pa-upon", "dots: sets of 16", 0.2)] : []),
          one(listening, "pa-same", "listening to each set", 0.045),
        ],
      });
      say(
        `${done ? asked.tell() : ""}${number(voices)} random voices stand against the ${C} of the set ` +
          `(${D} patches in all): the sum is wrong on ${percent(error)} of inputs, listening to each set ` +
          `on ${percent(listeningError(D, C, q))}.` +
          (done
            ? ` One in eight is lost near ${number(boundary * C ** 2)} voices (dotted), three quarters ` +
              `of ${C} squared; with sets of 16 near three quarters of 16 squared (dots, voices divided ` +
              "by 16)."
            : ""),
      );
    }
    const time = player({
      label: "random voices, on average",
      seconds: 6,
      words: "Add voices",
      hold: { at: sizes.findIndex((size) => countingError(size, C, q) >= 0.125), seconds: 2 },
      show: (k) => number(voicesOf(sizes[k])),
      onstep: (k) => {
        D = sizes[k];
        reached = Math.max(reached, D);
        draw();
      },
    });
    const asked = guess({
      question:
        "Four patches speak for the label. About how many random ones must there be until adding up " +
        "fails one time in eight?",
      options: ["4", "8", "12", "16"],
      right: 2,
      after: () => time.play(),
    });
    stage.append(columns([sums.svg], asked.element, time.element, errors.element, sentence));
    return {
      fields: [],
      bare: true,
      show: () => time.fit(sizes.length - 1, 0),
      room: 345,
      outside: { now: () => [D, countingError(D, C, q), listeningError(D, C, q)] },
    };
  });
})();
