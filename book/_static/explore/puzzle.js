// A puzzle put together from similarities alone: the twin of `images/puzzle.py`, with no page in it.
(() => {
  "use strict";
  const { refuse, whole } = window.patchAssociation;

  /** The numbers behind a text such as "f2:19306:...": half precision, as a record keeps them. */
  function decodeHalf(text) {
    const bytes = atob(text.slice(text.lastIndexOf(":") + 1));
    return Float64Array.from({ length: bytes.length / 2 }, (_, k) => {
      const bits = bytes.charCodeAt(2 * k) + 256 * bytes.charCodeAt(2 * k + 1);
      const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
      const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
      return bits & 0x8000 ? -size : size;
    });
  }

  /** A symmetric matrix from its upper triangle, row by row with the diagonal. */
  function symmetric(upper, N) {
    if (upper.length !== (N * (N + 1)) / 2)
      refuse(`A triangle of ${N} rows has ${(N * (N + 1)) / 2} numbers; it has ${upper.length}.`);
    const A = new Float64Array(N * N);
    let k = 0;
    for (let i = 0; i < N; i++) for (let j = i; j < N; j++) A[i * N + j] = A[j * N + i] = upper[k++];
    return A;
  }

  /** In place: every row and every column with mean zero. */
  function center(A, N) {
    const mean = Float64Array.from(
      { length: N },
      (_, i) => A.subarray(i * N, (i + 1) * N).reduce((a, b) => a + b, 0) / N,
    );
    const all = mean.reduce((a, b) => a + b, 0) / N;
    for (let i = 0; i < N; i++) for (let j = 0; j < N; j++) A[i * N + j] += all - mean[i] - mean[j];
    return A;
  }

  /** Similarities of centered encodings, divided by both lengths. */
  function cosines(similarities, N) {
    const A = center(Float64Array.from(similarities), N);
    const length = Float64Array.from({ length: N }, (_, i) => Math.sqrt(A[i * N + i]));
    for (let i = 0; i < N; i++) for (let j = 0; j < N; j++) A[i * N + j] /= length[i] * length[j];
    return A;
  }

  /** All pairs [i, j], i < j, the most similar first. */
  function pairs(K, N) {
    const found = [];
    for (let i = 0; i < N; i++) for (let j = i + 1; j < N; j++) found.push([i, j]);
    return found.sort(([a, b], [c, d]) => K[c * N + d] - K[a * N + b]);
  }

  /** The number of links on the shortest way; without a way, one more than the longest. */
  function hops(links, N) {
    const beside = Array.from({ length: N }, () => []);
    for (const [i, j] of links) {
      beside[i].push(j);
      beside[j].push(i);
    }
    const D = new Float64Array(N * N).fill(-1);
    let longest = 0;
    for (let start = 0; start < N; start++) {
      const queue = [start];
      D[start * N + start] = 0;
      for (const i of queue)
        for (const j of beside[i])
          if (D[start * N + j] < 0) {
            D[start * N + j] = D[start * N + i] + 1;
            longest = Math.max(longest, D[start * N + j]);
            queue.push(j);
          }
    }
    return D.map((d) => (d < 0 ? longest + 1 : d));
  }

  /** Classical scaling to a plane: two columns, the top eigenvectors times the roots of their eigenvalues. */
  function scaled(D, N) {
    const B = center(
      D.map((d) => -0.5 * d * d),
      N,
    );
    const times = (v) =>
      Float64Array.from({ length: N }, (_, i) => {
        let sum = 0;
        for (let j = 0; j < N; j++) sum += B[i * N + j] * v[j];
        return sum;
      });
    const dot = (u, v) => u.reduce((sum, x, k) => sum + x * v[k], 0);
    const unit = (v) => {
      const size = Math.sqrt(dot(v, v)) || 1;
      return v.map((x) => x / size);
    };
    let [u, v] = [1, 2].map((k) =>
      unit(Float64Array.from({ length: N }, (_, i) => Math.sin(k * 12.9898 * (i + 1)))),
    );
    let shift = 0; // makes every eigenvalue of B + shift positive, so that the largest two win
    for (let k = 0, w = u; k < 30; k++) {
      w = times(w);
      shift = Math.max(shift, Math.sqrt(dot(w, w)));
      w = unit(w);
    }
    let settled = Infinity; // what is measured is the error squared: as many steps again
    for (let k = 0; k < Math.min(5000, 2 * settled + 20); k++) {
      const next = [u, v].map((w) => times(w).map((x, i) => x + shift * w[i]));
      const first = unit(next[0]);
      const along = dot(first, next[1]);
      const second = unit(next[1].map((x, i) => x - along * first[i]));
      // How far the plane has turned: what of the new vectors lies outside the old plane.
      const outside = [first, second].reduce((sum, w) => sum + 1 - dot(w, u) ** 2 - dot(w, v) ** 2, 0);
      [u, v] = [first, second];
      if (outside < 1e-15) settled = Math.min(settled, k);
    }
    const [Bu, Bv] = [times(u), times(v)];
    const [a, b, c] = [dot(u, Bu), dot(u, Bv), dot(v, Bv)];
    const turn = 0.5 * Math.atan2(2 * b, a - c);
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    const values = [
      a * cos * cos + 2 * b * cos * sin + c * sin * sin,
      a * sin * sin - 2 * b * cos * sin + c * cos * cos,
    ];
    const [r, s] = values.map((value) => Math.sqrt(Math.max(value, 0)));
    return {
      values,
      points: Array.from(u, (x, i) => [r * (cos * x + sin * v[i]), s * (cos * v[i] - sin * x)]),
    };
  }

  /** The cheapest way to give each row a column of its own (the Hungarian method, with potentials). */
  function assignment(cost, N) {
    const [u, v] = [new Float64Array(N + 1), new Float64Array(N + 1)];
    const [row, way] = [new Int32Array(N + 1), new Int32Array(N + 1)];
    for (let i = 1; i <= N; i++) {
      row[0] = i;
      let here = 0;
      const least = new Float64Array(N + 1).fill(Infinity);
      const used = new Uint8Array(N + 1);
      do {
        used[here] = 1;
        let [delta, next] = [Infinity, 0];
        for (let j = 1; j <= N; j++) {
          if (used[j]) continue;
          const now = cost[(row[here] - 1) * N + j - 1] - u[row[here]] - v[j];
          if (now < least[j]) [least[j], way[j]] = [now, here];
          if (least[j] < delta) [delta, next] = [least[j], j];
        }
        for (let j = 0; j <= N; j++)
          if (used[j]) {
            u[row[j]] += delta;
            v[j] -= delta;
          } else least[j] -= delta;
        here = next;
      } while (row[here] !== 0);
      do {
        row[here] = row[way[here]];
        here = way[here];
      } while (here);
    }
    const found = new Int32Array(N);
    for (let j = 1; j <= N; j++) found[row[j] - 1] = j - 1;
    return found;
  }

  function checkLinks(links, N) {
    whole("links", links, 1);
    const most = (N * (N - 1)) / 2;
    if (links > most)
      refuse(
        `links must be at most ${most.toLocaleString("en-US")}, the pairs of ${N} patches; it is ${links}.`,
      );
  }

  /** Put the pieces together from the pairs in the order of their similarity; see `assemble` in Python. */
  function assemble(order, N, links) {
    const g = Math.round(Math.sqrt(N));
    checkLinks(links, N);
    const linked = order.slice(0, links);
    const D = hops(linked, N);
    const { values, points } = scaled(D, N);
    let [re, im] = [0, 0]; // of the sum of z^4: a filled square has least fourth moments along its sides
    for (const [x, y] of points) {
      const [a, b] = [x * x - y * y, 2 * x * y];
      re += a * a - b * b;
      im += 2 * a * b;
    }
    const turn = -0.25 * (Math.atan2(im, re) + Math.PI);
    const middle = (g - 1) / 2;
    const size = points.reduce((sum, [x, y]) => sum + x * x + y * y, 0) / N;
    const stretch = Math.sqrt((2 * (g * g - 1)) / 12 / size);
    const plane = points.map(([x, y]) => [
      stretch * (x * Math.cos(turn) - y * Math.sin(turn)),
      stretch * (x * Math.sin(turn) + y * Math.cos(turn)),
    ]);
    const place = (k) => [Math.floor(k / g) - middle, (k % g) - middle];
    const cost = new Float64Array(N * N);
    for (let i = 0; i < N; i++)
      for (let k = 0; k < N; k++)
        cost[i * N + k] = (plane[i][0] - place(k)[0]) ** 2 + (plane[i][1] - place(k)[1]) ** 2;
    const given = Array.from(assignment(cost, N), place);
    // No similarity can tell the grid's eight turns and mirror images apart: the one that fits best is shown.
    let best = { right: -1 };
    for (const flip of [false, true])
      for (const [p, q] of [
        [1, 1],
        [1, -1],
        [-1, 1],
        [-1, -1],
      ]) {
        const turned = ([r, c]) => (flip ? [p * c, q * r] : [p * r, q * c]);
        const right = given.filter((at, k) => turned(at).every((x, side) => x === place(k)[side])).length;
        if (right > best.right) best = { right, turned };
      }
    const back = (at) => best.turned(at).map((x) => x + middle);
    const places = given.map((at) => back(at).map(Math.round));
    let [kept, all] = [0, 0];
    for (let i = 0; i < N; i++)
      for (const j of [(i % g) + 1 < g ? i + 1 : -1, i + g < N ? i + g : -1]) {
        if (j < 0) continue;
        all += 1;
        kept += Math.abs(places[i][0] - places[j][0]) + Math.abs(places[i][1] - places[j][1]) === 1;
      }
    const joined = linked.filter(
      ([i, j]) => Math.abs(Math.floor(i / g) - Math.floor(j / g)) + Math.abs((i % g) - (j % g)) === 1,
    ).length;
    return { hops: D, values, plane: plane.map(back), places, right: best.right, beside: kept / all, joined };
  }

  Object.assign(window.patchAssociation, { decodeHalf, symmetric, cosines, pairs, checkLinks, assemble });
})();
