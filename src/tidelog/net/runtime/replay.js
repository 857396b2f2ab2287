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

function parse(update) {
  const [, sign, fact, copies] = /^([+-])(.*?)(?: × (\d+))?$/s.exec(update);
  return { sign, fact, copies: Number(copies || 1) };
}

function apply(record) {
  for (const [number, from, to, update] of record.sent || []) flight.set(number, { from, to, update });
  for (const number of record.lost || []) flight.delete(number);
  if (record.forgets) state.set(record.node, { facts: new Map(), waiting: [] });
  if (record.kind !== "step") return;
  const node = state.get(record.node);
  for (const number of record.received) flight.delete(number);
  for (const update of record.picked) {
    const { sign, fact, copies } = parse(update);
    const count = (node.facts.get(fact) || 0) + (sign === "+" ? 1 : -1) * copies;
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

// ---- what is shown: only what concerns the nodes and relations asked for

const asked = { node: "", relation: "" };
const relationOf = (fact) => /^[^(@]*/.exec(fact)[0];
const aboutNode = (...ends) => !asked.node || ends.some((name) => name !== null && name === asked.node)
  || (!state.has(asked.node) && ends.some((name) => name !== null && String(name).includes(asked.node)));
const aboutFact = (fact) => !asked.relation || relationOf(fact).includes(asked.relation);
const aboutUpdate = (update) => aboutFact(parse(update).fact);

// ---- one fact: every record in which it comes, goes, is sent or lost

function historyOf(fact) {
  const found = [], messages = new Map();
  events.forEach((record, i) => {
    const step = i + 1, when = record.time === undefined ? `${step}` : `${step}, at ${record.time}`;
    const same = (update) => parse(update).fact === fact;
    for (const update of record.picked || []) if (same(update)) {
      const came = (record.received || []).map((n) => messages.get(n)).filter((m) => m);
      const by = came.find((m) => same(m.update)) ?? came[0];
      const told = !by ? "" : !same(by.update) ? `, when ${by.update} came from ${by.from ?? "the user"} (step ${by.step})`
        : by.from === null ? ", given by the user" : by.from === record.node ? `, made here in step ${by.step}${by.cause}`
        : `, brought by message ${by.number} of ${by.from} (step ${by.step})`;
      found.push([step, `${when}: ${record.node} ${update[0] === "+" ? "gains" : "loses"} it${told}`, kindOf(update)]);
    }
    for (const [number, from, to, update] of record.sent || []) {
      const causes = (record.picked || []).filter((u) => !same(u)).slice(0, 3).join(", ");
      const cause = causes ? `, because of ${causes}` : "";
      messages.set(number, { number, from, step, cause, update });
      if (same(update) && from !== to) found.push([step, `${when}: ${from ?? "the user"} sends ${update[0]} to ${to} (message ${number})${cause}`, kindOf(update)]);
    }
    for (const number of record.lost || []) if (messages.has(number) && same(messages.get(number).update)) found.push([step, `${when}: message ${number} is lost`, "minus"]);
  });
  return found;
}

function showHistory(fact) {
  $("search").value = fact;
  const names_ = factNames();
  const wanted = fact && !names_.has(fact) ? [...names_].filter((f) => f.includes(fact)) : fact ? [fact] : [];
  $("fact").textContent = wanted.length === 1 ? wanted[0] : fact ? `${wanted.length} facts` : "";
  if (wanted.length === 1) list("history", historyOf(wanted[0]).map(([step, text, kind]) => [text, kind, () => { play(false); go(step); }]));
  else list("history", wanted.slice(0, MOST_LISTED).map((f) => [f, "", () => showHistory(f)]));
}

let knownFacts = null;
function factNames() {
  knownFacts ??= new Set(events.flatMap((r) => [...(r.picked || []), ...(r.sent || []).map((m) => m[3])]).map((u) => parse(u).fact));
  return knownFacts;
}

// ---- drawing

const radius = Math.max(2, Math.min(18, 110 / Math.sqrt(names.length + 1)));
const where = layout(names, [...pairs.values()]), nodeElements = new Map();
let messages, drawn = [], view = { x: 0, y: 0, width: 1000, height: 800 };

function zoom(factor, x, y) {
  const width = Math.max(20, Math.min(1000, view.width * factor)), by = width / view.width;
  view = { x: x - (x - view.x) * by, y: y - (y - view.y) * by, width, height: width * 0.8 };
  look();
}

// What is shown of the picture. Names appear when there is room for them, and stay as large as they are.
function look() {
  const map = $("map"), scale = view.width / 1000;
  map.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  map.classList.toggle("named", radius / scale > 8);
  map.style.setProperty("--label", `${11 * Math.min(1, scale)}px`);
}

function centre(name) {
  const [x, y] = where.get(name), width = Math.min(view.width, names.length > 60 ? 250 : 1000);
  if (width < 1000) { view = { x: x - width / 2, y: y - width * 0.4, width, height: width * 0.8 }; look(); }
}

function element(kind, attributes, parent) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

function scene() {
  const map = $("map");
  for (const [a, b] of pairs.values()) {
    const [x1, y1] = where.get(a), [x2, y2] = where.get(b);
    element("line", { class: "link", x1, y1, x2, y2 }, map);
  }
  for (const name of names) {
    const [x, y] = where.get(name), group = element("g", { class: "node", transform: `translate(${x},${y})` }, map);
    element("circle", { r: radius }, group);
    element("text", {}, group).textContent = name;
    element("title", {}, group).textContent = name;
    group.addEventListener("click", () => { chosen = name; draw(); });
    nodeElements.set(name, group);
  }
  messages = element("g", {}, map);
  look();
}

function drawMessages() {
  messages.replaceChildren();
  const groups = new Map();
  for (const { from, to, update } of flight.values()) {
    if (!aboutNode(from, to) || !aboutUpdate(update)) continue;
    const key = JSON.stringify([from, to, update[0]]);
    groups.set(key, (groups.get(key) || 0) + 1);
  }
  for (const [key, count] of groups) {
    const [from, to, sign] = JSON.parse(key), [x2, y2] = where.get(to);
    if (names.length > 300 && (from === null || from === to)) continue; // what travels is what there is room for
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
  const shown = lines.slice(0, MOST_LISTED).map(([text, kind, act]) => {
    const item = document.createElement("li");
    item.textContent = text;
    item.className = kind || "";
    if (act) { item.classList.add("act"); item.addEventListener("click", act); }
    return item;
  });
  if (lines.length > MOST_LISTED) {
    const more = document.createElement("li");
    more.textContent = `… and ${lines.length - MOST_LISTED} more`;
    shown.push(more);
  }
  $(target).replaceChildren(...shown);
}

const follow = (update) => () => showHistory(parse(update).fact);
const kindOf = (update) => (update[0] === "+" ? "plus" : "minus");

function describe(record) {
  if (!record) return [["before the first burst", "soft"]];
  if (record.kind === "burst") return [[record.burst ? `burst ${record.burst}` : "the facts at the start"],
    ...record.sent.filter(([, , to, u]) => aboutNode(to) && aboutUpdate(u)).map(([, , to, u]) => [`${u} to ${to}`, kindOf(u), follow(u)])];
  if (record.kind === "fault") return [[record.what, "minus"], ...(record.sent || []).map(([, , to, u]) => [`${u} to ${to} again`, kindOf(u)])];
  if (record.kind === "converged") return [[`converged: ${record.updates} updates, ${record.messages} messages, ` +
    `${record.bytes} bytes, ${record.rounds} rounds`]];
  return [[`node ${record.node} receives ${record.received.length}`],
    ...record.picked.filter(aboutUpdate).map((u) => [`picks ${u}`, kindOf(u), follow(u)]),
    ...(record.cancelled ? [[`${record.cancelled} opposite pairs vanish`, "soft"]] : []),
    ...record.sent.filter((m) => aboutUpdate(m[3])).map(([, , to, u]) => [to === record.node ? `makes ${u}` : `sends ${u} to ${to}`, kindOf(u), follow(u)]),
    ...record.waiting.map((u) => [`${u} waits for its fact`, "soft"])];
}

function draw() {
  const record = events[at - 1];
  for (const name of new Set([...drawn, record?.node, chosen]))
    nodeElements.get(name)?.setAttribute("class", `node${record?.node === name ? " active" : ""}${name === chosen ? " chosen" : ""}`);
  drawn = [record?.node, chosen];
  drawMessages();
  $("where").textContent = `step ${at} of ${events.length}`;
  $("time").textContent = record?.time === undefined ? "" : `time ${record.time.toFixed(2)}`;
  $("slider").value = at;
  list("event", describe(record));
  $("flying").textContent = flight.size;
  list("flight", [...flight.values()].filter(({ from, to, update }) => aboutNode(from, to) && aboutUpdate(update))
    .map(({ from, to, update }) => [`${from ?? "user"} → ${to}  ${update}`, kindOf(update), follow(update)]));
  $("chosen").textContent = chosen ?? "";
  const node = state.get(chosen) || { facts: new Map(), waiting: [] };
  list("state", [...[...node.facts].filter(([fact]) => aboutFact(fact)).sort()
    .map(([fact, n]) => [n > 1 ? `${fact} ×${n}` : fact, "", () => showHistory(fact)]),
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
  if (id && !["SELECT", "INPUT"].includes(e.target.tagName)) { e.preventDefault(); $(id).click(); }
});

$("search").addEventListener("input", () => showHistory($("search").value.trim()));
for (const what of ["node", "relation"]) $(what).addEventListener("input", () => {
  asked[what] = $(what).value.trim();
  if (what === "node" && where.has(asked.node)) { chosen = asked.node; centre(chosen); }
  draw();
});
const point = (e) => {
  const box = $("map").getBoundingClientRect(), unit = Math.max(view.width / box.width, view.height / box.height);
  return [view.x + view.width / 2 + (e.clientX - box.x - box.width / 2) * unit,
    view.y + view.height / 2 + (e.clientY - box.y - box.height / 2) * unit];
};
$("map").addEventListener("wheel", (e) => { e.preventDefault(); zoom(e.deltaY > 0 ? 1.2 : 1 / 1.2, ...point(e)); }, { passive: false });
$("map").addEventListener("pointermove", (e) => {
  if (!(e.buttons & 1)) return;
  const box = $("map").getBoundingClientRect(), unit = Math.max(view.width / box.width, view.height / box.height);
  view.x -= e.movementX * unit; view.y -= e.movementY * unit;
  look();
});
$("in").addEventListener("click", () => zoom(1 / 1.5, view.x + view.width / 2, view.y + view.height / 2));
$("out").addEventListener("click", () => zoom(1.5, view.x + view.width / 2, view.y + view.height / 2));
$("whole").addEventListener("click", () => { view = { x: 0, y: 0, width: 1000, height: 800 }; look(); });

$("slider").max = events.length;
if (leftOut) $("note").textContent = `${leftOut} later records of the run are not on this page`;
scene();
reset();
go(0);
