"""The trace and the page that replays it: in a real browser, stepping by clicking its own buttons."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path

import net_browser
import pytest

from tidelog.net import Update, scheduler
from tidelog.net.program import load_local
from tidelog.net.runtime import InProcess, Network
from tidelog.net.runtime.launch import Setting
from tidelog.net.runtime.pool import Pool
from tidelog.net.runtime.processes import ManyProcesses
from tidelog.net.runtime.replay_page import page
from tidelog.net.runtime.topologies import topology
from tidelog.net.runtime.trace import Trace

HOP = "hop(@X,Y) :- link(@X,Z), link(@Z,Y), X != Y."

CLICKS = """
(() => {
const seen = [];
const look = () => seen.push({
  where: $("where").textContent, flying: Number($("flying").textContent), chosen: $("chosen").textContent,
  state: [...document.querySelectorAll("#state li")].map((li) => li.textContent),
  dots: document.querySelectorAll(".message").length, nodes: document.querySelectorAll(".node").length,
  active: [...document.querySelectorAll(".node.active title")].map((t) => t.textContent),
});
look();
for (let i = 0; i < 200 && seen.at(-1).where !== `step ${events.length} of ${events.length}`; i++) {
  $("next").click();
  look();
}
$("back").click(); look();
$("first").click(); look();
$("last").click(); look();
return seen;
})()
"""


RING = topology("ring:5")


def bursts() -> list[list[Update]]:
    links = [Update(1, f) for f in RING.facts(load_local(HOP))]
    return [links, [Update(-1, links[0].fact)]]


def begun(out: io.StringIO, keep: int) -> Trace:
    trace = Trace(out, keep)
    trace.network(RING.nodes, [(a, b) for a, b, _ in RING.links], program=HOP, schedule="random", seed=7)
    return trace


def traced(keep: int = 10_000) -> tuple[Network, Trace, str]:
    out = io.StringIO()
    trace = begun(out, keep)
    network = Network(load_local(HOP), InProcess(scheduler("random", 7)), watcher=trace)
    for burst in bursts():
        network.burst(burst)
    return network, trace, out.getvalue()


def traced_in_processes(tmp_path: Path) -> Trace:
    (tmp_path / "hop.ndlog").write_text(HOP)
    setting = Setting.load(tmp_path / "hop.ndlog", schedule="random", seed=7, processes=2)
    trace = begun(io.StringIO(), 10_000)
    with Pool(2) as pool:
        network = ManyProcesses(setting, pool, trace)
        for burst in bursts():
            network.burst(burst)
    return trace


def test_the_sum_of_what_a_node_picked_is_its_state_and_every_message_is_received_once() -> None:
    network, _, text = traced()
    records = [json.loads(line) for line in text.splitlines()]
    assert [r["kind"] for r in records if r["kind"] != "step"] == [
        "network", "burst", "converged", "burst", "converged"
    ]  # fmt: skip
    state: Counter[tuple[str, str]] = Counter()
    sent, received = [], []
    for record in records:
        sent += [m[0] for m in record.get("sent", ())]
        received += record.get("received", ())
        for update in record.get("picked", ()):
            text, _, copies = update[1:].partition(" × ")
            state[record["node"], text] += int(copies or 1) if update[0] == "+" else -int(copies or 1)
    assert sorted(sent) == sorted(received)
    held = {(str(place), str(f)) for place, node in network.nodes.items() for f in node.facts()}
    assert {key for key, n in state.items() if n} == held


def test_a_page_needs_nothing_from_elsewhere_and_says_what_it_leaves_out() -> None:
    _, trace, _ = traced(keep=5)
    text = page(trace.records, "</script><b>", trace.left_out)
    assert not re.search(r"""(src|href)\s*=|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)""", text)
    assert "&lt;/script&gt;&lt;b&gt;" in text
    assert trace.left_out > 0
    assert f'"leftOut": {trace.left_out}' in text


@pytest.fixture(scope="module")
def browser() -> Path:
    try:
        return net_browser.find()
    except net_browser.NoBrowser as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_browser_steps_through_the_page(processes: int, browser: Path, tmp_path: Path) -> None:
    network, trace, _ = traced()
    if processes > 1:
        trace = traced_in_processes(tmp_path)
    file = tmp_path / "run.html"
    file.write_text(page(trace.records, "hop"))
    with net_browser.browse(file.as_uri(), tmp_path / "profile", browser) as shown:
        seen = shown.evaluate(CLICKS)
    events = [r for r in trace.records if r["kind"] != "network"]
    *steps, back, first, last = seen
    assert [s["where"] for s in steps] == [f"step {i} of {len(events)}" for i in range(len(events) + 1)]
    flying = 0
    for record, step in zip(events, steps[1:], strict=True):
        flying += len(record.get("sent", ())) - len(record.get("received", ()))
        assert step["flying"] == flying
        assert (step["dots"] > 0) == (flying > 0)
        assert step["active"] == ([record["node"]] if record["kind"] == "step" else [])
    assert steps[0]["nodes"] == 5
    assert steps[-1]["state"] == sorted(map(str, network.nodes["n0"].facts()))
    assert (back, first, last) == (steps[-2], steps[0], steps[-1])


LOOKS = """
(() => {
$("last").click();
const texts = (id) => [...document.querySelectorAll(`#${id} li`)].map((li) => li.textContent);
const out = {};
$("search").value = "hop(n0,n2)"; $("search").dispatchEvent(new Event("input"));
out.history = texts("history");
document.querySelector("#history li").click();
out.step = at;
$("search").value = "hop(n0"; $("search").dispatchEvent(new Event("input"));
out.found = texts("history").sort();
$("last").click();
$("node").value = "n0"; $("node").dispatchEvent(new Event("input"));
$("relation").value = "hop"; $("relation").dispatchEvent(new Event("input"));
out.state = texts("state");
const before = $("map").getAttribute("viewBox");
$("in").click();
out.closer = before !== $("map").getAttribute("viewBox");
$("whole").click();
out.whole = $("map").getAttribute("viewBox");
return out;
})()
"""


def test_the_page_shows_what_happened_to_a_fact_and_only_what_was_asked_for(browser: Path, tmp_path: Path) -> None:
    _, trace, _ = traced()
    file = tmp_path / "run.html"
    file.write_text(page(trace.records, "hop"))
    with net_browser.browse(file.as_uri(), tmp_path / "profile", browser) as shown:
        seen = shown.evaluate(LOOKS)
    assert any("gains it" in line for line in seen["history"])
    assert all("message" in line or "made here" in line or "given" in line for line in seen["history"])
    assert seen["step"] > 0
    assert seen["found"] == ["hop(n0,n2)", "hop(n0,n3)"]
    assert all(line.startswith("hop") for line in seen["state"])
    assert seen["closer"] is True
    assert seen["whole"] == "0 0 1000 800"


THOUSAND = """
(() => { $("last").click();
const place = (n) => n.getAttribute("transform").match(/[-\\d.]+/g).map(Number);
const places = [...document.querySelectorAll(".node")].map(place);
const far = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]);
let apart = 0;
for (let i = 0; i < 1000; i++) {
  let near = Infinity;
  for (let j = 0; j < 1000; j++) if (i !== j) near = Math.min(near, far(places[i], places[j]));
  apart += near > 2 * radius;
}
const label = document.querySelector(".node:not(.chosen) text");
return { nodes: places.length, apart, names: getComputedStyle(label).display };
})()
"""


def test_a_thousand_nodes_lie_apart_and_have_their_names_when_looked_at_closely(browser: Path, tmp_path: Path) -> None:
    large = topology("ba:1000:1", 7)
    trace = Trace(None, 10)
    trace.network(large.nodes, [(a, b) for a, b, _ in large.links], program=HOP, schedule="fifo", seed=7)
    file = tmp_path / "large.html"
    file.write_text(page(trace.records, "large"))
    with net_browser.browse(file.as_uri(), tmp_path / "profile", browser) as shown:
        seen = shown.evaluate(THOUSAND)
        assert (
            shown.evaluate(
                "(() => { centre('n7'); centre('n7'); zoom(0.3, ...where.get('n7')); "
                "return getComputedStyle(document.querySelector('.node:not(.chosen) text')).display; })()"
            )
            == "block"
        )
    assert seen["nodes"] == 1000
    assert seen["names"] == "none"
    assert seen["apart"] > 800
