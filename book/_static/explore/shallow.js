// Model (1) of the second theory on its exact population without token noise: the twin of `shallow/network.py`,
// with no page in it. A token is its pattern, so an input is the fractions of its M patterns; with fixed counts there are
// two inputs, one of each class. The patterns are the first M basis vectors: column j of a matrix is what it does to
// pattern j. A matrix is a list of rows.
(() => {
  "use strict";
  const { refuse, whole, finite, uniform, normal } = window.patchAssociation;

  const table = (rows, columns, value) =>
    Array.from({ length: rows }, (_, i) => Float64Array.from({ length: columns }, (_, j) => value(i, j)));
  const dot = (u, v) => {
    let sum = 0;
    for (let k = 0; k < u.length; k++) sum += u[k] * v[k];
    return sum;
  };

  /** Rows of length 1: random directions. */
  const directions = (d, draw) =>
    table(d, d, draw).map((row) => {
      const size = Math.sqrt(dot(row, row));
      return row.map((x) => x / size);
    });
  const transposed = (A) => table(A[0].length, A.length, (i, j) => A[j][i]);

  /** A random orthonormal matrix (Gram and Schmidt). */
  function orthonormal(d, draw) {
    const rows = [];
    for (let row of table(d, d, draw)) {
      for (let again = 0; again < 2; again++)
        for (const other of rows) {
          const along = dot(row, other);
          row = row.map((x, k) => x - along * other[k]);
        }
      const size = Math.sqrt(dot(row, row));
      rows.push(row.map((x) => x / size));
    }
    return rows;
  }

  /** The start of Algorithm 1 with Assumption 1 taken literally; the law of `initial_weights`, another draw. */
  function drawWeights({ seed, neurons, dim = 10, valueError = 0.1, scoreError = 0.2, outputStd = 0.01 }) {
    const random = uniform(7919 * seed);
    const draw = normal(random);
    const columns = () => transposed(directions(dim, draw));
    const near = (A, size) => {
      const E = columns();
      return A.map((row, i) => row.map((x, j) => x + size * E[i][j]));
    };
    const one = table(dim, dim, (i, j) => Number(i === j));
    return {
      head: Float64Array.from({ length: neurons }, () => (random() < 0.5 ? -1 : 1) / Math.sqrt(neurons)),
      output: table(neurons, dim, () => outputStd * draw()),
      value: near(orthonormal(dim, draw), valueError),
      key: near(one, scoreError),
      query: near(one, scoreError),
    };
  }

  const copy = (weights) =>
    Object.fromEntries(
      Object.entries(weights).map(([name, A]) => [name, name === "head" ? A : A.map((row) => row.slice())]),
    );
  const column = (A, j) => Float64Array.from(A, (row) => row[j]);

  /** What tokens of M patterns hear and say: scores, values, and for one input its map, output and neurons. */
  function forward(weights, share) {
    const M = share.length;
    const [K, Q, V] = ["key", "query", "value"].map((name) =>
      Array.from({ length: M }, (_, j) => column(weights[name], j)),
    );
    const S = table(M, M, () => 0); // S[i][l]: key i, query l
    for (let l = 0; l < M; l++) {
      const scores = K.map((k) => dot(k, Q[l]));
      const top = scores.reduce((most, x, i) => (share[i] > 0 && x > most ? x : most), -Infinity);
      let sum = 0;
      for (let i = 0; i < M; i++) sum += S[i][l] = share[i] > 0 ? share[i] * Math.exp(scores[i] - top) : 0;
      for (let i = 0; i < M; i++) S[i][l] /= sum;
    }
    const { head, output } = weights;
    const d = output[0].length;
    const Z = Array.from({ length: M }, (_, l) =>
      Float64Array.from({ length: d }, (_, a) => {
        let sum = 0;
        for (let i = 0; i < M; i++) sum += S[i][l] * V[i][a];
        return sum;
      }),
    );
    const g = Z.map(() => new Float64Array(d));
    const active = Z.map(() => new Uint8Array(head.length));
    let F = 0;
    for (let l = 0; l < M; l++) {
      for (let r = 0; r < head.length; r++) {
        if (!(dot(output[r], Z[l]) > 0)) continue;
        active[l][r] = 1;
        for (let a = 0; a < d; a++) g[l][a] += head[r] * output[r][a];
      }
      F += share[l] * dot(g[l], Z[l]);
    }
    return { F, S, Z, V, g, active };
  }

  /** The value of a loss at y F, and its slope by y F. */
  const LOSSES = {
    hinge: (yF) => (yF < 1 ? [1 - yF, -1] : [0, 0]),
    logistic: (yF) => [
      Math.max(-yF, 0) + Math.log1p(Math.exp(-Math.abs(yF))),
      yF >= 0 ? -Math.exp(-yF) / (1 + Math.exp(-yF)) : -1 / (1 + Math.exp(yF)),
    ],
  };

  /** Of the two classes: risk (hinge), error, attention masses and the least margin; `passed` one forward pass each. */
  function measured(inputs, passed) {
    const found = { risk: 0, error: 0, mass: 0, confused: 0, margin: Infinity };
    inputs.forEach(({ share, y }, n) => {
      const { F, S } = passed[n];
      const paid = S.map((row) => dot(row, share)); // what an average query pays to each pattern
      found.risk += 0.5 * LOSSES.hinge(y * F)[0];
      found.error += y * F < 0 ? 0.5 : y * F === 0 ? 0.25 : 0;
      found.mass += 0.5 * paid[y > 0 ? 0 : 1];
      found.confused += 0.5 * paid[y > 0 ? 1 : 0];
      found.margin = Math.min(found.margin, y * F);
    });
    return found;
  }

  /** One step of descent on the mean loss, in place; whether anything moved. */
  function move(weights, inputs, passed, loss, rate) {
    const { head, output, value, key, query } = weights;
    const d = output[0].length;
    const M = inputs[0].share.length;
    const dOutput = output.map(() => new Float64Array(d));
    const heard = Array.from({ length: M }, () => new Float64Array(d));
    const E = table(M, M, () => 0);
    let moved = false;
    inputs.forEach(({ share, y }, n) => {
      const { S, Z, V, g, active, F } = passed[n];
      const slope = 0.5 * y * LOSSES[loss](y * F)[1];
      if (slope === 0) return;
      moved = true;
      for (let l = 0; l < M; l++) {
        const by = slope * share[l];
        if (by === 0) continue;
        for (let r = 0; r < head.length; r++)
          if (active[l][r]) for (let a = 0; a < d; a++) dOutput[r][a] += by * head[r] * Z[l][a];
        const along = dot(g[l], Z[l]);
        for (let i = 0; i < M; i++) {
          for (let a = 0; a < d; a++) heard[i][a] += S[i][l] * by * g[l][a];
          E[i][l] += by * S[i][l] * (dot(V[i], g[l]) - along);
        }
      }
    });
    if (!moved) return false;
    output.forEach((row, r) => {
      for (let a = 0; a < d; a++) row[a] -= rate * dOutput[r][a];
    });
    value.forEach((row, a) => {
      for (let j = 0; j < M; j++) row[j] -= rate * heard[j][a];
    });
    for (let b = 0; b < d; b++) {
      const [k, q] = [key[b].slice(), query[b].slice()];
      for (let i = 0; i < M; i++)
        for (let l = 0; l < M; l++) {
          key[b][i] -= rate * q[l] * E[i][l];
          query[b][l] -= rate * k[i] * E[i][l];
        }
    }
    return true;
  }

  /** The two inputs of a law: counts of the patterns in the class +1; in the class -1 the first two change places. */
  function twoInputs(counts) {
    const total = counts.reduce((a, b) => a + b, 0);
    const share = Float64Array.from(counts, (n) => n / total);
    return [
      { share, y: 1 },
      { share: Float64Array.from([share[1], share[0], ...share.slice(2)]), y: -1 },
    ];
  }

  /** Exact descent on the population of section 3.2, in pieces; the weights are kept every `stride` steps. */
  class ShallowDescent {
    constructor({
      counts,
      neurons,
      seed,
      rate,
      steps,
      loss,
      stride = 1,
      weights = drawWeights({ seed, neurons }),
    }) {
      whole("steps", steps, 0);
      finite("rate", rate, 0);
      Object.assign(this, { inputs: twoInputs(counts), weights: copy(weights), rate, steps, loss, stride });
      Object.assign(this, {
        kept: [],
        found: { risk: [], error: [], mass: [], confused: [], margin: [] },
        fittedAt: null,
        step: 0,
      });
    }

    get finished() {
      return this.found.risk.length > this.steps || this.fittedAt !== null;
    }

    /** Work until a moment, or to the end. */
    advance(until = Infinity) {
      while (!this.finished) {
        const passed = this.inputs.map(({ share }) => forward(this.weights, share));
        const now = measured(this.inputs, passed);
        if (!Number.isFinite(now.risk) || now.risk > 1e6)
          refuse(`At step ${this.step} the risk leaves all bounds: the rate is too large.`);
        for (const [name, x] of Object.entries(now)) this.found[name].push(x);
        const before = this.step % this.stride === 0 || this.step === this.steps ? copy(this.weights) : null;
        const moved = this.step < this.steps && move(this.weights, this.inputs, passed, this.loss, this.rate);
        if (!moved && this.step < this.steps) this.fittedAt = this.step;
        if (before || !moved) this.kept.push({ step: this.step, weights: before ?? copy(this.weights) });
        if (!moved) break;
        this.step += 1;
        if (performance.now() > until) break;
      }
    }

    /** The weights at a step: the last ones kept before it. */
    at(step) {
      return this.kept.findLast((one) => one.step <= step).weights;
    }
  }

  /** How much attention label-relevant tokens can get with fixed counts, whatever the keys and queries are. */
  function ceiling(a, b) {
    if (b === 0) return 1;
    const r = a / b;
    const t = (r + Math.sqrt(r) + 1) / Math.sqrt(r);
    return ((1 - a - b) * r) / (1 + r) + (a * r * t) / (r * t + 1) + (b * r) / (r + t);
  }

  Object.assign(window.patchAssociation, { drawWeights, forward, ShallowDescent, ceiling });
})();
