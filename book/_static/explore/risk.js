// The population risk of model (T), exactly, and gradient descent on it: the twin of `exact/risk.py` and
// `training/population.py`, with no page in it. A test in a browser holds it against Python.
//
// The model enters through three scores (diagonal, gamma, rho) and v = alpha w*. A random set enters only through
// its type: n, the sum of its coefficients in {-1, 0, 1}, and r, how many of them are not zero.
(() => {
  "use strict";
  const { refuse, whole, finite } = window.patchAssociation;
  const MAX_ATOMS = 20000; // more would not move while one drags
  const LOSS_LIMIT = 1e6; // a mean logistic loss beyond this is on its way to infinity
  const TIE = 64 * Number.EPSILON; // terms that cancel to within this share have no sign in float64

  const binomial = (n, k) => {
    let product = 1;
    for (let j = 1; j <= k; j++) product *= (n - k + j) / j;
    return Math.round(product);
  };
  const powers = (x, p) => Array.from({ length: p + 1 }, (_, k) => x ** k);

  /** The types (n, r) of one random set with their chances: n = a - b, r = a + b for a patches at +1, b at -1. */
  function setTypes(C, q) {
    const types = [];
    for (let a = 0; a <= C; a++)
      for (let b = 0; a + b <= C; b++) {
        const chance = binomial(C, a) * binomial(C - a, b) * (q / 2) ** (a + b) * (1 - q) ** (C - a - b);
        if (chance > 0) types.push({ n: a - b, r: a + b, chance });
      }
    return types;
  }

  /** The atoms of the law: each way to give L - 1 random sets a type, order aside, beside the signal set. */
  function atoms(C, L, q, degree) {
    const types = setTypes(C, q);
    const count = binomial(L - 1 + types.length - 1, types.length - 1);
    if (count > MAX_ATOMS)
      refuse(`With D = ${C * L}, C = ${C} the law has ${count.toLocaleString("en-US")} atoms, and a page that moves ` +
        `while you drag can take ${MAX_ATOMS.toLocaleString("en-US")}. Choose fewer patches.`);
    const names = [];
    for (let m = 1; m <= degree; m++) names.push(`P${m}`);
    for (let m = 0; m < degree - 1; m++) names.push(`Q${m}`);
    const own = types.map(({ n, r }) => names.map((s) => (s[0] === "P" ? 1 : r) * n ** Number(s[1])));
    const found = [];
    const place = (kind, left, sums, chance) => {
      if (kind === types.length - 1) {
        // All sets that are left take the last type; (L - 1)! / prod k! came as binomials.
        found.push({ sums: sums.map((s, m) => s + left * own[kind][m]), chance: chance * types[kind].chance ** left });
        return;
      }
      for (let k = 0; k <= left; k++)
        place(kind + 1, left - k, sums.map((s, m) => s + k * own[kind][m]),
          chance * binomial(left, k) * types[kind].chance ** k);
    };
    place(0, L - 1, names.map((s) => C * C ** Number(s[1]) / (s[0] === "P" ? C : 1)), 1);
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

  class PopulationRisk {
    /** D patches in sets of C; q; sigma(x) = x^degree + linear x. */
    constructor({ D, C, q, degree = 3, linear = 0.01 }) {
      whole("D", D, 1);
      whole("C", C, 1);
      if (D % C) refuse(`The sets must have equal sizes: C = ${C} does not divide D = ${D}.`);
      finite("q", q, 0, 1);
      whole("The degree", degree, 3);
      if (degree % 2 === 0 || degree > 9) refuse(`The degree must be 3, 5, 7 or 9; it is ${degree}.`);
      finite("linear", linear, 0);
      Object.assign(this, { D, C, q, degree, linear });
      const law = atoms(C, D / C, q, degree);
      this.terms = multiplyOut(D, C, degree);
      this.size = law.found.length;
      this.chance = Float64Array.from(law.found, (atom) => atom.chance);
      this.votes = Float64Array.from(law.found, (atom) => atom.sums[0]); // y M, the plain sum of all patches
      // The features of one atom stand side by side: a step reads them in the order of the memory.
      const wanted = [...this.terms.keys()].map((feature) => feature.split(",")).map(([power, sum]) => [Number(power), law.names.indexOf(sum)]);
      this.support = new Float64Array(this.size * wanted.length);
      law.found.forEach(({ sums }, n) => wanted.forEach(([power, column], m) => {
        this.support[n * wanted.length + m] = sums[0] ** power * sums[column];
      }));
    }

    /** P[y M < 0] + P[M = 0] / 2: what a sum of all patches gets wrong. */
    get voteError() {
      return this.chance.reduce((sum, p, n) => sum + p * (this.votes[n] < 0 ? 1 : this.votes[n] === 0 ? 0.5 : 0), 0);
    }

    /** The weight of each feature in y F, and its derivatives by alpha, gamma and rho. */
    weightsAndSlopes(alpha, beta, gamma, rho) {
      const { D, C, degree: p, linear } = this;
      if (C === 1) gamma = rho; // a value that no entry takes must not enter
      if (C === D) rho = gamma;
      const top = Math.max(beta, gamma, rho);
      const e = [beta, gamma, rho].map((x) => Math.exp(x - top));
      const Z = e[0] + (C - 1) * e[1] + (D - C) * e[2];
      const Gamma = e[1] / Z;
      const c = e[2] / Z;
      // exp(x) - exp(y) by expm1: no digits are lost where two scores are close.
      const difference = (x, y) => (x >= y ? -Math.exp(x - top) * Math.expm1(y - x) : Math.exp(y - top) * Math.expm1(x - y)) / Z;
      const a = difference(beta, gamma);
      const b = difference(gamma, rho);
      const [A, B, K] = [powers(a, p), powers(b, p), powers(c, p)];
      const f = (C - 1) * Gamma;
      const h = (D - C) * c;
      const byGamma = C > 1 ? [-a * f - Gamma, Gamma - b * f, -c * f] : [0, 0, 0];
      const byRho = C < D ? [-a * h, -b * h - c, c - c * h] : [0, 0, 0];
      const z = D * alpha;
      const scale = z ** p;
      const dscale = D * p * z ** (p - 1);
      const w = [];
      const dw = [[], [], []];
      for (const monomials of this.terms.values()) {
        let [value, gammas, rhos] = [0, 0, 0];
        for (const [factor, i, j, k] of monomials) {
          value += factor * A[i] * B[j] * K[k];
          const da = i ? factor * i * A[i - 1] * B[j] * K[k] : 0;
          const db = j ? factor * j * A[i] * B[j - 1] * K[k] : 0;
          const dc = k ? factor * k * A[i] * B[j] * K[k - 1] : 0;
          gammas += da * byGamma[0] + db * byGamma[1] + dc * byGamma[2];
          rhos += da * byRho[0] + db * byRho[1] + dc * byRho[2];
        }
        w.push(scale * value);
        dw[0].push(dscale * value);
        dw[1].push(scale * gammas);
        dw[2].push(scale * rhos);
      }
      w[0] += linear * z; // nu D alpha M, and M = P1 is the first feature
      dw[0][0] += linear * D;
      return { w, dw };
    }

    /** {loss, error, gradient: [by alpha, by gamma, by rho]} from one pass over the atoms. */
    at(alpha, beta, gamma, rho) {
      const { w, dw } = this.weightsAndSlopes(alpha, beta, gamma, rho);
      const features = w.length;
      const { support, chance } = this;
      const weight = Float64Array.from(w);
      const byWeight = new Float64Array(features);
      let loss = 0;
      let error = 0;
      for (let n = 0, first = 0; n < this.size; n++, first += features) {
        let F = 0;
        let size = 0;
        for (let m = 0; m < features; m++) {
          const term = weight[m] * support[first + m];
          F += term;
          size += Math.abs(term);
        }
        const p = chance[n];
        const small = Math.exp(-Math.abs(F));
        loss += p * (Math.max(-F, 0) + Math.log1p(small));
        if (Math.abs(F) <= TIE * size) error += p / 2;
        else if (F < 0) error += p;
        const slope = p * (F >= 0 ? small : 1) / (1 + small);
        for (let m = 0; m < features; m++) byWeight[m] -= slope * support[first + m];
      }
      const gradient = dw.map((row) => row.reduce((sum, x, m) => sum + x * byWeight[m], 0));
      return { loss, error, gradient };
    }
  }

  /** Gradient descent on the population risk from v = alpha w*, A = diagonal I, some steps at a time. */
  class Descent {
    static names = ["alpha", "gamma", "rho", "loss", "error"];

    constructor(setting) {
      const { D, C, diagonal, alpha, rate, score_rate, steps } = setting;
      this.risk = setting.risk ?? new PopulationRisk(setting);
      finite("The diagonal", diagonal);
      finite("alpha", alpha);
      finite("rate", rate, 0);
      finite("score_rate", score_rate, 0);
      whole("steps", steps, 0);
      if (steps > 100000) refuse(`A page can take 100,000 steps; it is asked for ${steps.toLocaleString("en-US")}.`);
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
        for (const [name, value] of Object.entries({ alpha, gamma, rho, loss, error })) this[name][this.done] = value;
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

  Object.assign(window.patchAssociation, { PopulationRisk, Descent });
})();
