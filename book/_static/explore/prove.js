// A proof in the page: who wins the first move at a reader's own numbers, by intervals of whole numbers of any length.
// The certificate is that of the library (patch_lab.certify.signs): one u at which f and Delta have opposite signs.
(() => {
  "use strict";
  const { h, controls, legend, inFrames, mount, refuse, finite, whole, number } = window.patchAssociation;
  const BITS = 192n; // an interval [low, high] stands for low / 2^192 to high / 2^192
  const ONE = 1n << BITS;
  const OFF = [1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2]; // how far past the zero of f the certificate is tried
  const Q = 100; // the map has a proof for each hundredth of q

  const FIELDS = [
    { key: "D", label: "D, patches", value: 16, options: [8, 12, 16, 24, 32, 48, 64] },
    { key: "C", label: "C, patches in a set", value: 4, options: [2, 4, 8] },
    { key: "p", label: "p, degree of the activation", value: 3, options: [3, 5] },
    { key: "q", label: "q, chance of a random feature", value: 0.3, from: 0.01, to: 1, step: 0.01 },
  ];

  const ceil = (a, shift) => -(-a >> shift);
  const up = (a, b) => -(-a / b) + (a % b ? 1n : 0n); // the quotient of positive numbers, rounded up
  const bits = (a) => BigInt(a.toString(2).length);

  /** exp(-x / 2^shift) for a whole x >= 0: halved until it is small, an alternating series, and squared again. */
  function expMinus(x, shift) {
    if (x >> shift > 140n) return [0n, 1n]; // e^-140 < 2^-192
    const halvings = bits(x) - shift + 8n > 0n ? bits(x) - shift + 8n : 0n;
    const z = [(x << BITS) >> (shift + halvings), ceil(x << BITS, shift + halvings)];
    let term = [ONE, ONE];
    let [low, high] = [ONE, ONE];
    for (let k = 1n; term[1] > 1n; k++) {
      term = [((term[0] * z[0]) >> BITS) / k, up(ceil(term[1] * z[1], BITS), k)];
      [low, high] = k % 2n ? [low - term[1], high - term[0]] : [low + term[0], high + term[1]];
    }
    [low, high] = [low - 1n, high + 1n]; // what is left of an alternating series is less than its last term
    for (let k = 0n; k < halvings; k++) [low, high] = [(low * low) >> BITS, ceil(high * high, BITS)];
    return [low, high];
  }

  /** 1 / (1 + exp(u M^p)) with u = mantissa / 2^shift. */
  function weight(M, p, mantissa, shift) {
    const [low, high] = expMinus(mantissa * (M < 0n ? -M : M) ** p, shift);
    return M < 0n
      ? [(ONE << BITS) / (ONE + high), up(ONE << BITS, ONE + low)]
      : [(low << BITS) / (ONE + low), up(high << BITS, ONE + high)];
  }

  const times = (one, other) => {
    const product = new Array(one.length + other.length - 1).fill(0n);
    one.forEach((a, i) => other.forEach((b, j) => (product[i + j] += a * b)));
    return product;
  };

  /** q as a fraction of whole numbers: the decimal that the reader sees. */
  function fraction(q) {
    const digits = (String(q).split(".")[1] ?? "").length;
    return [BigInt(Math.round(q * 10 ** digits)), 10n ** BigInt(digits)];
  }

  /** The law of the vote M = C + R of n random patches, and the same weighted by (1 - s_a)(1 - s_b), over (2 b)^n. */
  function law(n, C, q) {
    const [a, b] = fraction(q);
    const patch = [a, 2n * (b - a), a]; // s = -1, 0, 1
    let others = [1n];
    for (let k = 0; k < n - 2; k++) others = times(others, patch);
    const turned = [2n * a, 2n * (b - a), 0n]; // weighted by 1 - s
    const [plain, weighted] = [times(others, times(patch, patch)), times(others, times(turned, turned))];
    return { M: plain.map((_, k) => BigInt(C - n + k)), plain, weighted, scale: (2n * b) ** BigInt(n) };
  }

  /** f(u) and Delta(u) as intervals of whole numbers over 2^192 (2 b)^n. */
  function enclose({ M, plain, weighted }, p, mantissa, shift) {
    const [f, delta] = [
      [0n, 0n],
      [0n, 0n],
    ];
    const add = (sum, factor, [low, high]) => {
      sum[0] += factor * (factor < 0n ? high : low);
      sum[1] += factor * (factor < 0n ? low : high);
    };
    M.forEach((m, k) => {
      if (m === 0n) return; // it is multiplied by a power of the vote
      const w = weight(m, p, mantissa, shift);
      add(f, plain[k] * m ** p, w);
      add(delta, weighted[k] * m ** (p - 2n), w);
    });
    return { f, delta };
  }

  /** The certificate at one setting: side 1 where companions win up to the best alpha, -1 where they lose at it, 0 open. */
  function prove({ D, C, p, q }) {
    const found = law(D - C, C, q);
    const ratio = (a) => Number((a << 260n) / found.scale) / 2 ** 260;
    const [m, P, W] = [found.M.map((M) => Number(M) ** p), found.plain.map(ratio), found.weighted.map(ratio)];
    const w = (u) => m.map((x) => 1 / (1 + Math.exp(Math.min(700, u * x))));
    let [low, high] = [-70, 7]; // of log u; a search in doubles, on which nothing rests
    while (high - low > 1e-9) {
      const middle = (low + high) / 2;
      if (w(Math.exp(middle)).reduce((sum, x, k) => sum + P[k] * m[k] * x, 0) > 0) low = middle;
      else high = middle;
    }
    const wins =
      w(Math.exp(low)).reduce((sum, x, k) => sum + W[k] * Number(found.M[k]) ** (p - 2) * x, 0) > 0;
    const side = wins ? 1 : -1;
    const unit = found.scale << BITS;
    const outward = ([a, b]) => [
      Number((a << 120n) / unit - 1n) / 2 ** 120,
      Number((b << 120n) / unit + 1n) / 2 ** 120,
    ];
    for (const off of OFF) {
      const u = Math.exp(low) * (1 + side * off);
      const shift = 52 - Math.floor(Math.log2(u));
      const { f, delta } = enclose(found, BigInt(p), BigInt(u * 2 ** shift), BigInt(shift));
      const shown = { u, f: outward(f), delta: outward(delta) };
      if (wins && f[1] < 0n && delta[0] > 0n) return { side, ...shown };
      if (!wins && f[0] > 0n && delta[1] < 0n) return { side, ...shown };
    }
    return { side: 0 };
  }

  function build({ stage, say, change }) {
    let seen = {};
    let proof = null;
    let map = null; // the sides at q = 1 / 100, ..., 1
    let drawn = "";
    let finish;
    const ready = new Promise((done) => (finish = done));
    const panel = controls(FIELDS, (key, value) =>
      change({ [key]: value, ...((key === "D" && value % seen.C) || 2 * seen.C > value ? { C: 2 } : {}) }),
    );
    const WIDTH = Math.max(260, Math.min(600, innerWidth - 90)); // on a phone words stay as large
    const bars = Array.from({ length: Q }, (_, k) =>
      h("svg:rect", { x: (k * WIDTH) / Q, y: 0, width: WIDTH / Q + 0.3, height: 60, fill: "none" }),
    );
    const now = h("svg:path", { class: "pa-now", d: "" });
    const svg = h(
      "svg:svg",
      { role: "img", viewBox: `-8 -14 ${WIDTH + 16} 114`, class: "pa-proofs" },
      ...bars,
      h("svg:rect", { x: 0, y: 0, width: WIDTH, height: 60, fill: "none", class: "pa-frame" }),
      now,
      ...[0, 0.2, 0.4, 0.6, 0.8, 1].map((q) =>
        h("svg:text", { x: q * WIDTH, y: 78, "text-anchor": "middle" }, number(q)),
      ),
      h("svg:text", { x: WIDTH / 2, y: 96, "text-anchor": "middle" }, "q"),
    );
    svg.addEventListener("pointerdown", (event) => {
      const box = svg.createSVGPoint();
      [box.x, box.y] = [event.clientX, event.clientY];
      const q = box.matrixTransform(svg.getScreenCTM().inverse()).x / WIDTH;
      change({ q: Math.max(1, Math.min(Q, Math.round(q * Q))) / Q });
    });
    stage.append(
      panel.element,
      h(
        "figure",
        { class: "pa-chart" },
        h("figcaption", {}, "A hundred proofs, one for each hundredth of q"),
        svg,
        legend([
          ["pa-same", "proved: companions win"],
          ["pa-other", "proved: strangers win"],
        ]),
      ),
    );

    function draw() {
      const count = [1, -1].map((side) => map.filter((one) => one === side).length);
      map.forEach((side, k) => {
        if (side) {
          bars[k].setAttribute("class", side > 0 ? "pa-same pa-ground" : "pa-other pa-ground");
          bars[k].removeAttribute("fill");
        } else {
          bars[k].removeAttribute("class");
          bars[k].setAttribute("fill", "none");
        }
      });
      svg.setAttribute(
        "aria-label",
        `Of ${Q} values of q companions are proved to win at ${count[0]}, strangers at ${count[1]}`,
      );
    }
    function work() {
      const mine = map;
      let k = 0;
      inFrames(
        say,
        () => map === mine,
        (until) => {
          for (; k < Q && performance.now() < until; k++) map[k] = prove({ ...seen, q: (k + 1) / Q }).side;
          draw();
          if (k === Q) finish();
          return k < Q;
        },
      );
    }
    function sentence(ms) {
      const { D, C, q } = seen;
      const at = `At D = ${D}, C = ${C} and q = ${q}`;
      if (proof.side === 0)
        return (
          `Not proved. ${at} none of the u that were tried decides; q is too close to where the winner ` +
          "changes. That says nothing against either side."
        );
      const words =
        proof.side > 0
          ? "companions gain on strangers at every α up to the best one"
          : "companions lose to strangers at the best α";
      const [f, delta] = proof.side > 0 ? ["below", "above"] : ["above", "below"];
      return (
        `Proved, in ${number(ms, 2)} ms: ${at[0].toLowerCase()}${at.slice(1)} ${words}. At u = ` +
        `${number(proof.u, 4)} the number f is ${number(proof.f[0], 4)}, ${f} zero, and Δ is ` +
        `${number(proof.delta[0], 4)}, ${delta} zero.`
      );
    }

    return {
      fields: FIELDS,
      ready,
      check({ D, C, p, q }) {
        whole("D", D, 4, 64);
        whole("C", C, 2, 32);
        if (D % C || D < 2 * C) refuse(`C must divide D = ${D} and be at most half of it; it is ${C}.`);
        if (p !== 3 && p !== 5) refuse(`p must be 3 or 5; it is ${p}.`);
        finite("q", q, 0.001, 1);
        if (String(q).length > 11) refuse(`q must have at most nine decimals; it is ${q}.`);
        if (C === 2 && D === 4 && q === 1)
          refuse("At D = 4, C = 2, q = 1 the difference is zero at every α: neither side gains.");
      },
      show(setting) {
        seen = { ...setting };
        panel.show(seen);
        const begun = performance.now();
        proof = prove(seen);
        say(sentence(performance.now() - begun));
        now.setAttribute("d", `M${seen.q * WIDTH} -10V66`);
        const law = JSON.stringify([seen.D, seen.C, seen.p]);
        if (law === drawn) return;
        drawn = law;
        map = new Array(Q).fill(0);
        work();
      },
      outside: { proof: () => ({ ...proof }), map: () => [...map] },
      code: ({ D, C, p, q }) =>
        [
          "from fractions import Fraction",
          "from patch_lab.certify.field import ball",
          "from patch_lab.certify.signs import law_at, sign_at",
          "",
          `sign_at(law_at(${D} - ${C}, ${C}, ball(Fraction("${q}"))), ${p})`,
        ].join("\n"),
    };
  }

  Object.assign(window.patchAssociation, { prove });
  mount("prove", build);
})();
