// The population risk of model (T), exactly, and gradient descent on it: the twin of `exact/risk.py` and
// `training/population.py`, with no page in it. A test in a browser holds it against Python.
//
// The model enters through three scores (diagonal, gamma, rho) and v = alpha w*. A random set enters only through
// its type: n, the sum of its coefficients in {-1, 0, 1}, and r, how many of them are not zero.
(() => {
  "use strict";
  const { refuse, whole, finite } = window.patchAssociation;
  const MAX_PATCHES = 1000;
  const MAX_ATOMS = 20000; // more would not move while one drags
  const LOSS_LIMIT = 1e6; // a mean logistic loss beyond this is on its way to infinity
  const TIE = 64 * Number.EPSILON; // terms that cancel to within this share have no sign in float64

  const binomial = (n, k) => {
    let product = 1;
    for (let j = 1; j <= k; j++) product *= (n - k + j) / j;
    return Math.round(product);
  };
  const powers = (x, p) => {
    const found = new Float64Array(p + 1).fill(1);
    for (let k = 1; k <= p; k++) found[k] = found[k - 1] * x;
    return found;
  };

  /** The types (n, r) of one random set: n = a - b, r = a + b for a patches at +1, b at -1; `ways` to choose them. */
  function setTypes(C, q) {
    const types = [];
    for (let a = 0; a <= C; a++)
      for (let b = 0; a + b <= C; b++)
        if ((q > 0 || a + b === 0) && (q < 1 || a + b === C))
          types.push({ n: a - b, r: a + b, ways: binomial(C, a) * binomial(C - a, b) });
    return types;
  }

  /** A sentence where a page cannot take a law; nothing large is computed to know it. */
  function checkLaw({ D, C, q, degree, linear }) {
    whole("D", D, 1, MAX_PATCHES);
    whole("C", C, 1);
    if (D % C) refuse(`The sets must have equal sizes: C = ${C} does not divide D = ${D}.`);
    finite("q", q, 0, 1);
    whole("The degree", degree, 3);
    if (degree % 2 === 0 || degree > 9) refuse(`The degree must be 3, 5, 7 or 9; it is ${degree}.`);
    finite("linear", linear, 0);
    const types = q === 0 ? 1 : q === 1 ? C + 1 : ((C + 1) * (C + 2)) / 2; // as many as setTypes finds
    const count = binomial(D / C - 2 + types, D / C - 1);
    if (count > MAX_ATOMS)
      refuse(
        `With D = ${D}, C = ${C} the law has ` +
          `${count > 1e9 ? "more than a billion" : count.toLocaleString("en-US")} atoms, and a page that ` +
          "moves " +
          `while you drag can take ${MAX_ATOMS.toLocaleString("en-US")}. Choose fewer patches.`,
      );
  }

  /** The atoms of the law: each way to give L - 1 random sets a type, order aside, beside the signal set. */
  function atoms(C, L, q, degree) {
    const types = L > 1 ? setTypes(C, q) : [];
    const names = [];
    for (let m = 1; m <= degree; m++) names.push(`P${m}`);
    for (let m = 0; m < degree - 1; m++) names.push(`Q${m}`);
    const own = types.map(({ n, r }) => names.map((s) => (s[0] === "P" ? 1 : r) * n ** Number(s[1])));
    const found = [];
    const place = (from, left, sums, ways, moved) => {
      if (left === 0) return found.push({ sums, ways, moved });
      // The next type that some sets take; all that are left take the last. (L - 1)! / prod k! comes as binomials.
      for (let kind = types.length - 1; kind >= from; kind--) {
        const { r, ways: here } = types[kind];
        for (let k = kind === types.length - 1 ? left : 1; k <= left; k++)
          place(
            kind + 1,
            left - k,
            sums.map((s, m) => s + k * own[kind][m]),
            ways * binomial(left, k) * here ** k,
            moved + k * r,
          );
      }
    };
    place(
      0,
      L - 1,
      names.map((s) => (C * C ** Number(s[1])) / (s[0] === "P" ? C : 1)),
      1,
      0,
    );
    return { names, found };
  }

  /** sum_i (a s_i + b n_l + c M)^p as features: "k,P3" -> [[factor, i, j, k], ...] for M^k times a power sum. */
  function multiplyOut(D, C, p) {
    const factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));
    const terms = new Map();
    for (let k = 0; k <= p; k++)
      for (let i = p - k; i >= 0; i--) {
        const j = p - k - i;
        let factor = factorial(p) / (factorial(i) * factorial(j) * factorial(k));
        let feature = `${k},${i === 0 ? `P${j}` : i % 2 ? `P${j + 1}` : `Q${j}`}`;
        if (k === p) [feature, factor] = [`${p - 1},P1`, factor * D];
        else if (i === 0) factor *= C;
        if (!terms.has(feature)) terms.set(feature, []);
        terms.get(feature).push([factor, i, j, k]);
      }
    return terms;
  }

  /** All of a law that q has no part in, unless it is 0 or 1: while q is dragged, it stays. */
  class Law {
    static last = null;

    static of(D, C, q, degree) {
      const key = [D, C, degree, q === 0, q === 1].join();
      if (Law.last?.key !== key) Law.last = new Law(key, D, C, q, degree);
      return Law.last;
    }

    constructor(key, D, C, q, degree) {
      const { names, found } = atoms(C, D / C, q, degree);
      const terms = multiplyOut(D, C, degree);
      const features = [...terms.keys()].map((feature) => feature.split(","));
      Object.assign(this, {
        key,
        size: found.length,
        monomials: [...terms.values()].flatMap((own, m) => own.map((one) => [m, ...one])),
      });
      this.ways = Float64Array.from(found, (atom) => atom.ways);
      this.moved = Int32Array.from(found, (atom) => atom.moved); // random features of an atom
      this.votes = Float64Array.from(found, (atom) => atom.sums[0]); // y M, the plain sum of all patches
      // A column a feature, in groups of three (the last filled up with zeros): the three sums of a pass stay in registers.
      this.columns = features.map(([power, sum]) => {
        const column = names.indexOf(sum);
        return Float64Array.from(found, ({ sums }) => sums[0] ** power * sums[column]);
      });
      while (this.columns.length % 3) this.columns.push(new Float64Array(this.size));
      this.largest = this.columns.map((column) => column.reduce((most, x) => Math.max(most, Math.abs(x)), 0));
    }

    /** The chance of each atom. */
    chances(q, places) {
      const [some, none] = [powers(q / 2, places), powers(1 - q, places)];
      return this.ways.map((ways, n) => ways * some[this.moved[n]] * none[places - this.moved[n]]);
    }
  }

  // log(1 + exp(-x)) and its slope -u, u = 1 / (1 + exp(x)), for 0 <= x <= 40: a Taylor series around each sixteenth.
  // As u' = u^2 - u, the coefficients follow one another; seven of them leave a share of 1e-14.
  const NODES = 16 * 40;
  const series = new Float64Array(8 * (NODES + 1)); // log(1 + exp(-x)) at the node, and the coefficients of u
  for (let node = 0; node <= NODES; node++) {
    const u = series.subarray(8 * node + 1, 8 * node + 8);
    series[8 * node] = Math.log1p(Math.exp(-node / 16));
    u[0] = 1 / (1 + Math.exp(node / 16));
    for (let k = 0; k < 6; k++) {
      for (let i = 0; i <= k; i++) u[k + 1] += u[i] * u[k - i];
      u[k + 1] = (u[k + 1] - u[k]) / (k + 1);
    }
  }

  /** F += a A + b B + c C, atom by atom. */
  function addThree(F, a, A, b, B, c, C) {
    for (let n = 0; n < F.length; n++) F[n] += a * A[n] + b * B[n] + c * C[n];
  }

  /** sums[m], sums[m + 1], sums[m + 2]: the slopes times A, B and C. */
  function sumThree(sums, m, slope, A, B, C) {
    let [a, b, c] = [0, 0, 0];
    for (let n = 0; n < slope.length; n++) {
      a += slope[n] * A[n];
      b += slope[n] * B[n];
      c += slope[n] * C[n];
    }
    [sums[m], sums[m + 1], sums[m + 2]] = [a, b, c];
  }

  class PopulationRisk {
    /** D patches in sets of C; q; sigma(x) = x^degree + linear x. */
    constructor({ D, C, q, degree = 3, linear = 0.01 }) {
      const law = { D, C, q, degree, linear };
      checkLaw(law);
      Object.assign(this, law);
      this.law = Law.of(D, C, q, degree);
      this.chance = this.law.chances(q, D - C);
      this.F = new Float64Array(this.law.size);
      this.slope = new Float64Array(this.law.size);
      const features = this.law.columns.length;
      this.weight = new Float64Array(features);
      this.byWeight = new Float64Array(features);
      this.weightBy = Array.from({ length: 3 }, () => new Float64Array(features)); // by alpha, gamma, rho
    }

    /** P[y M < 0] + P[M = 0] / 2: what a sum of all patches gets wrong. */
    get voteError() {
      return this.chance.reduce(
        (sum, p, n) => sum + p * (this.law.votes[n] < 0 ? 1 : this.law.votes[n] === 0 ? 0.5 : 0),
        0,
      );
    }

    /** The weight of each feature in y F, and its derivatives by alpha, gamma and rho. */
    weigh(alpha, beta, gamma, rho) {
      const { D, C, degree: p, linear, weight } = this;
      if (C === 1) gamma = rho; // a value that no entry takes must not enter
      if (C === D) rho = gamma;
      const top = Math.max(beta, gamma, rho);
      const [e0, e1, e2] = [Math.exp(beta - top), Math.exp(gamma - top), Math.exp(rho - top)];
      const Z = e0 + (C - 1) * e1 + (D - C) * e2;
      const Gamma = e1 / Z;
      const c = e2 / Z;
      // exp(x) - exp(y) by expm1: no digits are lost where two scores are close.
      const difference = (x, y) =>
        (x >= y ? -Math.exp(x - top) * Math.expm1(y - x) : Math.exp(y - top) * Math.expm1(x - y)) / Z;
      const a = difference(beta, gamma);
      const b = difference(gamma, rho);
      const [A, B, K] = [powers(a, p), powers(b, p), powers(c, p)];
      const f = (C - 1) * Gamma;
      const h = (D - C) * c;
      const byGamma = C > 1 ? [-a * f - Gamma, Gamma - b * f, -c * f] : [0, 0, 0];
      const byRho = C < D ? [-a * h, -b * h - c, c - c * h] : [0, 0, 0];
      const z = D * alpha;
      const scale = z ** p;
      const [byAlpha, gammas, rhos] = this.weightBy;
      for (const row of [weight, gammas, rhos]) row.fill(0);
      for (const [m, factor, i, j, k] of this.law.monomials) {
        const da = i ? factor * i * A[i - 1] * B[j] * K[k] : 0;
        const db = j ? factor * j * A[i] * B[j - 1] * K[k] : 0;
        const dc = k ? factor * k * A[i] * B[j] * K[k - 1] : 0;
        weight[m] += factor * A[i] * B[j] * K[k];
        gammas[m] += scale * (da * byGamma[0] + db * byGamma[1] + dc * byGamma[2]);
        rhos[m] += scale * (da * byRho[0] + db * byRho[1] + dc * byRho[2]);
      }
      for (let m = 0; m < weight.length; m++) {
        byAlpha[m] = D * p * z ** (p - 1) * weight[m];
        weight[m] *= scale;
      }
      weight[0] += linear * z; // nu D alpha M, and M = P1 is the first feature
      byAlpha[0] += linear * D;
    }

    /** Whether the terms of atom n cancel to within rounding. */
    ties(n) {
      const size = this.law.columns.reduce((sum, column, m) => sum + Math.abs(this.weight[m] * column[n]), 0);
      return Math.abs(this.F[n]) <= TIE * size;
    }

    /** {loss, error, gradient: [by alpha, by gamma, by rho]}, three features of all atoms at a time. */
    at(alpha, beta, gamma, rho) {
      this.weigh(alpha, beta, gamma, rho);
      const { weight, byWeight, chance, F, slope } = this;
      const { columns, largest } = this.law;
      F.fill(0);
      for (let m = 0; m < columns.length; m += 3)
        addThree(F, weight[m], columns[m], weight[m + 1], columns[m + 1], weight[m + 2], columns[m + 2]);
      const near = TIE * largest.reduce((sum, x, m) => sum + x * Math.abs(weight[m]), 0); // no tie is farther from zero
      let loss = 0;
      let error = 0;
      for (let n = 0; n < F.length; n++) {
        const p = chance[n];
        const x = Math.abs(F[n]);
        let soft; // log(1 + exp(-x))
        let u; // 1 / (1 + exp(x))
        if (x < 40) {
          const node = (16 * x + 0.5) | 0;
          const d = x - node / 16;
          const k = 8 * node;
          const s = series;
          u =
            s[k + 1] +
            d * (s[k + 2] + d * (s[k + 3] + d * (s[k + 4] + d * (s[k + 5] + d * (s[k + 6] + d * s[k + 7])))));
          soft =
            s[k] -
            d *
              (s[k + 1] +
                d *
                  ((1 / 2) * s[k + 2] +
                    d *
                      ((1 / 3) * s[k + 3] +
                        d *
                          ((1 / 4) * s[k + 4] +
                            d * ((1 / 5) * s[k + 5] + d * ((1 / 6) * s[k + 6] + d * (1 / 7) * s[k + 7]))))));
        } else soft = u = Math.exp(-x); // NaN and infinity take this way too
        if (x <= near && this.ties(n)) error += p / 2;
        else if (F[n] < 0) error += p;
        loss += p * (F[n] < 0 ? x + soft : soft);
        slope[n] = -p * (F[n] < 0 ? 1 - u : u);
      }
      for (let m = 0; m < columns.length; m += 3)
        sumThree(byWeight, m, slope, columns[m], columns[m + 1], columns[m + 2]);
      const gradient = this.weightBy.map((row) => row.reduce((sum, x, m) => sum + x * byWeight[m], 0));
      return { loss, error, gradient };
    }
  }

  /** Gradient descent on the population risk from v = alpha w*, A = diagonal I, some steps at a time. */
  class Descent {
    static names = ["alpha", "gamma", "rho", "loss", "error"];

    /** A sentence where the rest of a setting, beside its law, cannot be followed. */
    static check({ diagonal, alpha, rate, score_rate, steps }) {
      finite("The diagonal", diagonal, -1000, 1000); // exp(-1000) is 0: the softmax would be the same beyond
      finite("alpha", alpha, -1000, 1000);
      finite("rate", rate, 0);
      finite("score_rate", score_rate, 0);
      whole("steps", steps, 0);
      if (steps > 100000) refuse(`A page can take 100,000 steps; steps is ${steps}.`);
    }

    constructor(setting) {
      const { D, C, diagonal, alpha, rate, score_rate, steps } = setting;
      this.risk = setting.risk ?? new PopulationRisk(setting);
      Descent.check(setting);
      Object.assign(this, { diagonal, steps, done: 0, divergedAt: null, point: [alpha, 0, 0] });
      // gamma stands in D (C - 1) entries of A and rho in D (D - C): each gets its share of the derivative.
      this.move = [rate, score_rate / Math.max(1, D * (C - 1)), score_rate / Math.max(1, D * (D - C))];
      for (const name of Descent.names) this[name] = new Float64Array(steps + 1).fill(NaN);
    }

    get finished() {
      return this.done > this.steps || this.divergedAt !== null;
    }

    /** Go on for at most so many milliseconds. */
    advance(milliseconds = Infinity) {
      const until = performance.now() + milliseconds;
      while (!this.finished) {
        const [alpha, gamma, rho] = this.point;
        const { loss, error, gradient } = this.risk.at(alpha, this.diagonal, gamma, rho);
        if (!(loss <= LOSS_LIMIT) || !gradient.every(Number.isFinite)) {
          this.divergedAt = this.done;
          break;
        }
        const t = this.done;
        [this.alpha[t], this.gamma[t], this.rho[t], this.loss[t], this.error[t]] = [
          alpha,
          gamma,
          rho,
          loss,
          error,
        ];
        this.point = this.point.map((x, k) => x - this.move[k] * gradient[k]);
        this.done += 1;
        if (this.done % 8 === 0 && performance.now() > until) break;
      }
      return this;
    }

    trajectory() {
      this.advance();
      return Object.fromEntries(Descent.names.map((name) => [name, Array.from(this[name])]));
    }
  }

  Object.assign(window.patchAssociation, { PopulationRisk, Descent, checkLaw });
})();
