"use strict";
// Where the nodes of a network are drawn, for thousands of them: distances to a few pivots give the rough picture (pivot
// multidimensional scaling), then springs within a grid give it air. Always the same picture for the same network.

function neighbours(n, edges) {
  const near = Array.from({ length: n }, () => []);
  for (const [a, b] of edges) { near[a].push(b); near[b].push(a); }
  return near;
}

function distances(near, from) {
  const far = new Array(near.length).fill(-1), queue = [from];
  far[from] = 0;
  for (let i = 0; i < queue.length; i++)
    for (const next of near[queue[i]]) if (far[next] < 0) { far[next] = far[queue[i]] + 1; queue.push(next); }
  const most = Math.max(...far) + 2; // what is not connected is a little farther than all that is
  return far.map((d) => (d < 0 ? most : d));
}

// The two main directions of the squared distances to pivots that are far from each other.
function roughPlaces(n, edges) {
  const near = neighbours(n, edges), k = Math.min(n, 24), columns = [];
  let least = new Array(n).fill(Infinity), pivot = 0;
  for (let j = 0; j < k; j++) {
    const d = distances(near, pivot);
    columns.push(d.map((x) => x * x));
    least = least.map((x, i) => Math.min(x, d[i]));
    pivot = least.indexOf(Math.max(...least));
  }
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  const rows = Array.from({ length: n }, (_, i) => mean(columns.map((c) => c[i]))), all = mean(rows);
  const centred = columns.map((c) => { const m = mean(c); return c.map((x, i) => -0.5 * (x - m - rows[i] + all)); });
  const axes = [];
  for (let axis = 0; axis < 2; axis++) {
    let v = centred.map((_, j) => Math.cos(1 + j * (axis + 1.3)));
    for (let round = 0; round < 60; round++) {
      for (const u of axes) { const p = v.reduce((s, x, j) => s + x * u[j], 0); v = v.map((x, j) => x - p * u[j]); }
      const y = Array.from({ length: n }, (_, i) => centred.reduce((s, c, j) => s + c[i] * v[j], 0));
      v = centred.map((c) => c.reduce((s, x, i) => s + x * y[i], 0));
      const size = Math.hypot(...v) || 1;
      v = v.map((x) => x / size);
    }
    axes.push(v);
  }
  const place = Array.from({ length: n }, (_, i) => axes.map((v) => centred.reduce((s, c, j) => s + c[i] * v[j], 0)));
  const spread = Math.max(1e-9, ...place.flat().map(Math.abs));
  return place.map(([x, y], i) => [x / spread + 1e-3 * Math.cos(i), y / spread + 1e-3 * Math.sin(i * 1.7)]);
}

// Springs along the links; nodes push each other away if they are in the same or a neighbouring cell.
function relax(place, edges, rounds) {
  const n = place.length, ideal = 1.7 / Math.sqrt(n), reach = 4 * ideal;
  for (let round = 0; round < rounds; round++) {
    const force = place.map(() => [0, 0]), cells = new Map();
    const key = (x, y) => x * 100003 + y, cell = (p) => [Math.floor(p[0] / reach), Math.floor(p[1] / reach)];
    place.forEach((p, i) => { const c = key(...cell(p)); if (cells.has(c)) cells.get(c).push(i); else cells.set(c, [i]); });
    place.forEach((p, i) => {
      const [cx, cy] = cell(p);
      for (let dx = -1; dx <= 1; dx++) for (let dy = -1; dy <= 1; dy++)
        for (const j of cells.get(key(cx + dx, cy + dy)) || []) if (j !== i) {
          const x = p[0] - place[j][0], y = p[1] - place[j][1], d2 = x * x + y * y + 1e-7;
          const f = Math.max(0, 1 - Math.sqrt(d2) / reach) * ideal * ideal / d2; // nothing at the edge of the cells
          force[i][0] += x * f; force[i][1] += y * f;
        }
    });
    for (const [a, b] of edges) {
      const x = place[a][0] - place[b][0], y = place[a][1] - place[b][1], f = Math.hypot(x, y) / ideal;
      force[a][0] -= x * f; force[a][1] -= y * f; force[b][0] += x * f; force[b][1] += y * f;
    }
    const heat = 2 * ideal * (1 - round / rounds);
    place.forEach((p, i) => {
      const size = Math.hypot(...force[i]) || 1, move = Math.min(size, heat) / size;
      p[0] += force[i][0] * move; p[1] += force[i][1] * move;
    });
  }
  return place;
}

// A point of a 1000 by 800 picture for each name.
function layout(names, pairs) {
  const n = names.length, index = new Map(names.map((name, i) => [name, i]));
  const edges = pairs.map(([a, b]) => [index.get(a), index.get(b)]).filter(([a, b]) => a !== b);
  const degree = Array(n).fill(0);
  for (const [a, b] of edges) { degree[a]++; degree[b]++; }
  const ring = !edges.length || (edges.length === n && degree.every((d) => d === 2));
  const circle = names.map((_, i) => [Math.cos(2 * Math.PI * i / n), Math.sin(2 * Math.PI * i / n)]);
  const place = ring || n < 3 ? circle : relax(roughPlaces(n, edges), edges, n > 2000 ? 100 : 300);
  const low = [0, 1].map((k) => place.reduce((m, p) => Math.min(m, p[k]), Infinity));
  const high = [0, 1].map((k) => place.reduce((m, p) => Math.max(m, p[k]), -Infinity));
  const fit = (p, k) => 50 + 900 * (high[k] > low[k] ? (p[k] - low[k]) / (high[k] - low[k]) : 0.5);
  return new Map(names.map((name, i) => [name, [fit(place[i], 0), fit(place[i], 1) * 0.8]]));
}
