// Gradient descent of model (T) on samples: the twin of `training/gradients.py` where the noise is left out, with no
// page in it. Noise is orthogonal to w* in Assumption 1 and only blurs what v sees; without it v stays alpha w*, and an
// input is its D coefficients <w*, X_j> in {-1, 0, 1}. As F is odd, each input is taken times its label: y = +1.
(() => {
  "use strict";
  const { refuse, finite, whole } = window.patchAssociation;

  /** Uniform numbers from a seed (mulberry32): the same on every machine. */
  function uniform(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** Standard normal numbers from uniform ones (Box and Muller). */
  const normal = (random) => () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

  /** The same things in a random order (Fisher and Yates). */
  function shuffled(things, random) {
    const order = [...things];
    for (let k = order.length - 1; k > 0; k--) {
      const other = Math.floor(random() * (k + 1));
      [order[k], order[other]] = [order[other], order[k]];
    }
    return order;
  }

  /** Which set each patch is in, checked: sets of one size. */
  function checkedSets(sets) {
    const sizes = new Map();
    for (const set of sets) sizes.set(set, (sizes.get(set) ?? 0) + 1);
    const [first, ...rest] = sizes.values();
    if (rest.some((size) => size !== first))
      refuse(`All sets must have the same size; they have ${[...sizes.values()].join(", ")}.`);
    return { C: first, names: [...sizes.keys()] };
  }

  /** `count` inputs of Assumption 1 as coefficients: the signal set says +1, any other patch +1 or -1 with chance q. */
  function drawInputs(sets, q, count, random) {
    const { names } = checkedSets(sets);
    return Array.from({ length: count }, () => {
      const signal = names[Math.floor(random() * names.length)];
      return Int8Array.from(sets, (set) => {
        if (set === signal) return 1;
        const u = random();
        return u < q / 2 ? 1 : u < q ? -1 : 0;
      });
    });
  }

  class SampleDescent {
    constructor({ sets, q, linear = 0.01, degree = 3, diagonal = 1, alpha, rate, score_rate }) {
      Object.assign(this, checkedSets(sets), {
        sets,
        D: sets.length,
        q,
        linear,
        degree,
        diagonal,
        rate,
        score_rate,
        step: 0,
      });
      finite("q", q, 0, 1);
      whole("The degree", degree, 3);
      this.alpha = alpha ?? linear ** (1 / (degree - 1));
      this.A = new Float64Array(this.D ** 2);
      for (let i = 0; i < this.D; i++) this.A[i * this.D + i] = diagonal;
    }

    softmax() {
      const { A, D } = this;
      const S = new Float64Array(D * D);
      for (let i = 0; i < D; i++) {
        let top = -Infinity;
        for (let j = 0; j < D; j++) top = Math.max(top, A[i * D + j]);
        let sum = 0;
        for (let j = 0; j < D; j++) sum += S[i * D + j] = Math.exp(A[i * D + j] - top);
        for (let j = 0; j < D; j++) S[i * D + j] /= sum;
      }
      return S;
    }

    /** {loss, error, dalpha, dA} on these inputs. */
    gradients(inputs) {
      const { D, alpha, degree: p, linear } = this;
      const S = this.softmax();
      const columns = Array.from({ length: D }, (_, j) =>
        Float64Array.from({ length: D }, (_, i) => S[i * D + j]),
      );
      const K = Array.from({ length: D }, () => new Float64Array(D)); // K[j][i], a column a patch
      const heard = new Float64Array(D); // (S s)_i
      const pull = new Float64Array(D);
      let [loss, error, dalpha] = [0, 0, 0];
      for (const s of inputs) {
        heard.fill(0);
        for (let j = 0; j < D; j++) {
          if (s[j] === 0) continue;
          const column = columns[j];
          for (let i = 0; i < D; i++) heard[i] += s[j] * column[i];
        }
        let F = 0;
        for (let i = 0; i < D; i++) {
          const z = D * alpha * heard[i];
          F += z ** p + linear * z;
          pull[i] = (p * z ** (p - 1) + linear) * D;
        }
        const small = Math.exp(-Math.abs(F));
        loss += Math.max(-F, 0) + Math.log1p(small);
        error += F < 0 ? 1 : F === 0 ? 0.5 : 0;
        const slope = -(F >= 0 ? small : 1) / (1 + small) / inputs.length;
        for (let i = 0; i < D; i++) {
          pull[i] *= slope;
          dalpha += pull[i] * heard[i];
        }
        for (let j = 0; j < D; j++) {
          if (s[j] === 0) continue;
          const u = alpha * s[j];
          const column = K[j];
          for (let i = 0; i < D; i++) column[i] += u * pull[i];
        }
      }
      const dA = new Float64Array(D * D);
      for (let i = 0; i < D; i++) {
        let mean = 0;
        for (let j = 0; j < D; j++) mean += columns[j][i] * K[j][i];
        for (let j = 0; j < D; j++) if (j !== i) dA[i * D + j] = columns[j][i] * (K[j][i] - mean);
      }
      return { loss: loss / inputs.length, error: error / inputs.length, dalpha, dA };
    }

    /** One step on these inputs; what was measured before it. */
    advance(inputs) {
      const { loss, error, dalpha, dA } = this.gradients(inputs);
      if (!Number.isFinite(loss))
        refuse(`At step ${this.step} the risk leaves all bounds: these rates are too large.`);
      this.alpha -= this.rate * dalpha;
      for (let k = 0; k < dA.length; k++) this.A[k] -= this.score_rate * dA[k];
      this.step += 1;
      return { loss, error };
    }

    /** recall: the share of companions among each row's C - 1 largest scores; margin: the least gap of a row. */
    association() {
      const { A, D, C, sets } = this;
      let [hits, margin] = [0, Infinity];
      for (let i = 0; i < D; i++) {
        const row = Array.from({ length: D }, (_, j) => j).filter((j) => j !== i);
        const worst = Math.min(...row.filter((j) => sets[j] === sets[i]).map((j) => A[i * D + j]));
        const best = Math.max(...row.filter((j) => sets[j] !== sets[i]).map((j) => A[i * D + j]));
        margin = Math.min(margin, worst - best);
        row.sort((j, k) => A[i * D + k] - A[i * D + j]);
        hits += row.slice(0, C - 1).filter((j) => sets[j] === sets[i]).length;
      }
      return { recall: hits / (D * (C - 1)), margin, exact: margin > 0 };
    }
  }

  Object.assign(window.patchAssociation, { uniform, normal, shuffled, drawInputs, SampleDescent });
})();
