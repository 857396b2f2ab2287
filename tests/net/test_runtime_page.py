"""The trace and the page that replays it: in a real browser, stepping by clicking its own buttons."""

from __future__ import annotations

import html
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tidelog.net import Update, scheduler
from tidelog.net.program import load_local
from tidelog.net.runtime import InProcess, Network
from tidelog.net.runtime.replay_page import page
from tidelog.net.runtime.topologies import topology
from tidelog.net.runtime.trace import Trace

HOP = "hop(@X,Y) :- link(@X,Z), link(@Z,Y), X != Y."
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

CLICKS = """
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
const result = document.createElement("pre");
result.id = "seen";
result.textContent = JSON.stringify(seen);
document.body.append(result);
"""


def traced(keep: int = 10_000) -> tuple[Network, Trace, str]:
    program = load_local(HOP)
    out = io.StringIO()
    trace = Trace(out, keep)
    ring = topology("ring:5")
    trace.network(ring.nodes, [(a, b) for a, b, _ in ring.links], program=HOP, schedule="random", seed=7)
    network = Network(program, InProcess(scheduler("random", 7)), watcher=trace)
    links = [Update(1, f) for f in ring.facts(program)]
    network.burst(links)
    network.burst([Update(-1, links[0].fact)])
    return network, trace, out.getvalue()


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


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (Debian: apt-get install chromium)")
def test_a_browser_steps_through_the_page(tmp_path: Path) -> None:
    network, trace, _ = traced()
    file = tmp_path / "run.html"
    file.write_text(page(trace.records, "hop").replace("</body>", f"<script>{CLICKS}</script></body>"))
    assert BROWSER is not None
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    seen = json.loads(html.unescape(found.group(1)))
    events = [r for r in trace.records if r["kind"] != "network"]
    *steps, back, first, last = seen
    assert [s["where"] for s in steps] == [f"step {i} of {len(events)}" for i in range(len(events) + 1)]
    flying = 0
    for record, shown in zip(events, steps[1:], strict=True):
        flying += len(record.get("sent", ())) - len(record.get("received", ()))
        assert shown["flying"] == flying
        assert (shown["dots"] > 0) == (flying > 0)
        assert shown["active"] == ([record["node"]] if record["kind"] == "step" else [])
    assert steps[0]["nodes"] == 5
    assert steps[-1]["state"] == sorted(map(str, network.nodes["n0"].facts()))
    assert (back, first, last) == (steps[-2], steps[0], steps[-1])
