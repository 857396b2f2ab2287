"use strict";
// Replays the records of a trace (see trace.py): state is always what holds after the record shown.
const { records, leftOut } = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const MOST_LISTED = 200;

const about = records[0]?.kind === "network" ? records[0] : { nodes: [], links: [] };
const events = records.filter((r) => r.kind !== "network");
const names = [...new Set([...about.nodes, ...events.flatMap((r) => [
  ...(r.node ? [r.node] : []), ...(r.sent || []).map((m) => m[2])])])];
const pairs = new Map(about.links.map(([a, b]) => [JSON.stringify([a, b].sort()), [a, b]]));
if (!pairs.size) // no topology given: who speaks to whom is drawn
  for (const r of events) for (const [, from, to] of r.sent || [])
    if (from !== null && from !== to) pairs.set(JSON.stringify([from, to].sort()), [from, to]);

let at = 0, chosen = names[0], timer = null, state, flight;

function reset() {
  at = 0;
  state = new Map(names.map((n) => [n, { facts: new Map(), waiting: [] }]));
  flight = new Map();
}

function apply(record) {
  for (const [number, from, to, update] of record.sent || []) flight.set(number, { from, to, update });
  if (record.kind !== "step") return;
  const node = state.get(record.node);
  for (const number of record.received) flight.delete(number);
  for (const update of record.picked) {
    const fact = update.slice(1), count = (node.facts.get(fact) || 0) + (update[0] === "+" ? 1 : -1);
    if (count) node.facts.set(fact, count); else node.facts.delete(fact);
  }
  node.waiting = record.waiting;
}

function go(step) {
  step = Math.max(0, Math.min(events.length, step));
  if (step < at) reset();
  while (at < step) apply(events[at++]);
  const record = events[at - 1];
  if (record?.kind === "step" && !names.includes(chosen)) chosen = record.node;
  draw();
}

// ---- where the nodes are: a circle, then springs if there are few enough

function layout() {
  const n = names.length, place = names.map((_, i) => [Math.cos(2 * Math.PI * i / n), Math.sin(2 * Math.PI * i / n)]);
  const index = new Map(names.map((name, i) => [name, i]));
  const edges = [...pairs.values()].map(([a, b]) => [index.get(a), index.get(b)]).filter(([a, b]) => a !== b);
  const degree = Array(n).fill(0);
  for (const [a, b] of edges) { degree[a]++; degree[b]++; }
  if (n <= 300 && edges.length && !(edges.length === n && degree.every((d) => d === 2))) {
    const ideal = 1.6 / Math.sqrt(n);
    for (let round = 0; round < 250; round++) {
      const force = place.map(() => [0, 0]);
      for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) {
        const x = place[i][0] - place[j][0], y = place[i][1] - place[j][1], d2 = x * x + y * y + 1e-6;
        const f = ideal * ideal / d2;
        force[i][0] += x * f; force[i][1] += y * f; force[j][0] -= x * f; force[j][1] -= y * f;
      }
      for (const [a, b] of edges) {
        const x = place[a][0] - place[b][0], y = place[a][1] - place[b][1], f = Math.hypot(x, y) / ideal;
        force[a][0] -= x * f; force[a][1] -= y * f; force[b][0] += x * f; force[b][1] += y * f;
      }
      const heat = 0.12 * (1 - round / 250);
      place.forEach((p, i) => {
        const size = Math.hypot(...force[i]) || 1, move = Math.min(size, heat) / size;
        p[0] += force[i][0] * move; p[1] += force[i][1] * move;
      });
    }
  }
  const low = [0, 1].map((k) => Math.min(...place.map((p) => p[k]))), high = [0, 1].map((k) => Math.max(...place.map((p) => p[k])));
  const fit = (p, k) => 50 + 900 * (high[k] > low[k] ? (p[k] - low[k]) / (high[k] - low[k]) : 0.5);
  return new Map(names.map((name, i) => [name, [fit(place[i], 0), fit(place[i], 1) * 0.8]]));
}

// ---- drawing

const radius = Math.max(4, Math.min(18, 260 / Math.sqrt(names.length + 1)));
const where = layout(), nodeElements = new Map();
let messages;

function element(kind, attributes, parent) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

function scene() {
  const map = $("map");
  map.setAttribute("viewBox", "0 0 1000 800");
  for (const [a, b] of pairs.values()) {
    const [x1, y1] = where.get(a), [x2, y2] = where.get(b);
    element("line", { class: "link", x1, y1, x2, y2 }, map);
  }
  for (const name of names) {
    const [x, y] = where.get(name), group = element("g", { class: "node", transform: `translate(${x},${y})` }, map);
    element("circle", { r: radius }, group);
    if (radius > 8) element("text", {}, group).textContent = name;
    element("title", {}, group).textContent = name;
    group.addEventListener("click", () => { chosen = name; draw(); });
    nodeElements.set(name, group);
  }
  messages = element("g", {}, map);
}

function drawMessages() {
  messages.replaceChildren();
  const groups = new Map();
  for (const { from, to, update } of flight.values()) {
    const key = JSON.stringify([from, to, update[0]]);
    groups.set(key, (groups.get(key) || 0) + 1);
  }
  for (const [key, count] of groups) {
    const [from, to, sign] = JSON.parse(key), [x2, y2] = where.get(to);
    const plus = sign === "+", side = plus ? 1 : -1;
    let x = x2 + side * radius, y = y2 - radius * 1.4; // of the user, or to itself: above the node
    if (from !== null && from !== to) {
      const [x1, y1] = where.get(from), d = Math.hypot(x2 - x1, y2 - y1) || 1;
      x = x1 + (x2 - x1) * (plus ? 0.62 : 0.42) - (y2 - y1) / d * 6;
      y = y1 + (y2 - y1) * (plus ? 0.62 : 0.42) + (x2 - x1) / d * 6;
    }
    const group = element("g", { class: `message ${plus ? "plus" : "minus"}`, transform: `translate(${x},${y})` }, messages);
    element("circle", { r: Math.min(9, radius * 0.6) }, group);
    if (radius > 8) element("text", {}, group).textContent = count;
  }
}

function list(target, lines) {
  const shown = lines.slice(0, MOST_LISTED).map(([text, kind]) => {
    const item = document.createElement("li");
    item.textContent = text;
    item.className = kind || "";
    return item;
  });
  if (lines.length > MOST_LISTED) {
    const more = document.createElement("li");
    more.textContent = `… and ${lines.length - MOST_LISTED} more`;
    shown.push(more);
  }
  $(target).replaceChildren(...shown);
}

const kindOf = (update) => (update[0] === "+" ? "plus" : "minus");

function describe(record) {
  if (!record) return [["before the first burst", "soft"]];
  if (record.kind === "burst") return [[record.burst ? `burst ${record.burst}` : "the facts at the start"],
    ...record.sent.map(([, , to, u]) => [`${u} to ${to}`, kindOf(u)])];
  if (record.kind === "converged") return [[`converged: ${record.updates} updates, ${record.messages} messages, ` +
    `${record.bytes} bytes, ${record.rounds} rounds`]];
  return [[`node ${record.node} receives ${record.received.length}`],
    ...record.picked.map((u) => [`picks ${u}`, kindOf(u)]),
    ...(record.cancelled ? [[`${record.cancelled} opposite pairs vanish`, "soft"]] : []),
    ...record.sent.map(([, , to, u]) => [to === record.node ? `makes ${u}` : `sends ${u} to ${to}`, kindOf(u)]),
    ...record.waiting.map((u) => [`${u} waits for its fact`, "soft"])];
}

function draw() {
  const record = events[at - 1];
  for (const [name, group] of nodeElements)
    group.setAttribute("class", `node${record?.node === name ? " active" : ""}${name === chosen ? " chosen" : ""}`);
  drawMessages();
  $("where").textContent = `step ${at} of ${events.length}`;
  $("slider").value = at;
  list("event", describe(record));
  $("flying").textContent = flight.size;
  list("flight", [...flight.values()].map(({ from, to, update }) => [`${from ?? "user"} → ${to}  ${update}`, kindOf(update)]));
  $("chosen").textContent = chosen ?? "";
  const node = state.get(chosen) || { facts: new Map(), waiting: [] };
  list("state", [...[...node.facts].sort().map(([fact, n]) => [n > 1 ? `${fact} ×${n}` : fact]),
    ...node.waiting.map((u) => [`${u} waits`, "soft"])]);
}

// ---- controls

function play(on) {
  clearInterval(timer);
  timer = null;
  if (on) timer = setInterval(() => { go(at + 1); if (at === events.length) play(false); }, Number($("speed").value));
  $("play").textContent = timer ? "pause" : "play";
}

const moves = { first: () => 0, back: () => at - 1, next: () => at + 1, last: () => events.length };
for (const [id, target] of Object.entries(moves)) $(id).addEventListener("click", () => { play(false); go(target()); });
$("play").addEventListener("click", () => play(!timer));
$("speed").addEventListener("change", () => timer && play(true));
$("slider").addEventListener("input", () => { play(false); go(Number($("slider").value)); });
document.addEventListener("keydown", (e) => {
  const id = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" }[e.key];
  if (id && e.target.tagName !== "SELECT") { e.preventDefault(); $(id).click(); }
});

$("slider").max = events.length;
if (leftOut) $("note").textContent = `${leftOut} later records of the run are not on this page`;
scene();
reset();
go(0);
