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
            state[record["node"], update[1:]] += 1 if update[0] == "+" else -1
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
