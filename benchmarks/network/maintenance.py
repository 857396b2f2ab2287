"""What a burst costs a network: incremental maintenance against recomputation and DRed (paper 000, sections 2.3 and 6).

Two protocols on random networks with three links per node on average: path vectors of at most three hops, where a path
has one derivation, and nodes within three hops, where a fact has many. A burst takes links away, both directions, and
the next one brings them back. Incremental maintenance is PSN on the network (`net.runtime`); recomputation is the same
network from nothing with the links after the burst; DRed is the exhibit, which counts what it would send.
Run: python -m benchmarks.network.maintenance [nodes ...] [--plot FILE]
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from random import Random
from typing import Any

from tidelog.net import Fact, Update, scheduler
from tidelog.net.exhibits.dred import Dred
from tidelog.net.program import NetProgram, load_local
from tidelog.net.runtime import InProcess, Network, wire
from tidelog.net.runtime.topologies import topology

SEED = 7
PROTOCOLS = {
    "path vector": """
r1: path(@S,D,P,C) :- link(@S,D,C), P=f_init(S,D).
r2: path(@S,D,P,C) :- link(@S,Z,C1), path(@Z,D,P2,C2), f_size(P2) < 4, f_inPath(P2,S)=false, C=C1+C2, P=f_concat(S,P2).
""",
    "within hops": """
r1: near(@S,D,1) :- link(@S,D,C).
r2: near(@S,D,H) :- link(@S,Z,C), near(@Z,D,H2), H2 < 3, H=H2+1.
""",
}
Row = dict[str, Any]


class CountedDred(Dred):
    """DRed that adds up the bytes of what it sends."""

    sent = 0

    def _crosses(self, head: Fact, body: tuple[Fact | None, ...]) -> bool:
        crosses = super()._crosses(head, body)
        if crosses:
            self.sent += wire.size(Update(1, head))
        return crosses


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def network(program: NetProgram) -> Network:
    return Network(program, InProcess(scheduler("random", SEED)))


def bursts(links: list[tuple[Any, ...]]) -> list[tuple[str, list[Update]]]:
    """One link, then one in a hundred; away and back."""
    found = []
    for count in dict.fromkeys((1, max(1, len(links) // 100))):
        chosen = Random(SEED).sample(links, count)
        both = [Fact("link", ends) for a, b, c in chosen for ends in ((a, b, c), (b, a, c))]
        found += [(f"-{count} links", [Update(-1, f) for f in both]), (f"+{count} links", [Update(1, f) for f in both])]
    return found


def measure(name: str, nodes: int) -> list[Row]:
    program = load_local(PROTOCOLS[name])
    made = topology(f"random:{nodes}:{3 / nodes}", SEED)
    state = dict.fromkeys(made.facts(program))
    running = network(program)
    took, cost = seconds(lambda: running.burst(Update(1, f) for f in state))
    rows = [{"protocol": name, "nodes": nodes, "burst": "start", "wall": cost.seconds, "psn": (cost, took)}]
    dred = CountedDred(program, list(state))
    for label, burst in bursts(list(made.links)):
        for update in burst:
            if update.sign > 0:
                state[update.fact] = None
            else:
                del state[update.fact]
        took, cost = seconds(lambda burst=burst: running.burst(burst))
        fresh = network(program)
        again, whole = seconds(lambda fresh=fresh: fresh.burst(Update(1, f) for f in state))
        dred.sent = 0
        dred_took, dred_cost = seconds(lambda burst=burst: dred.update(burst))
        assert running.facts() == fresh.facts() == dred.facts
        rows.append({
            "protocol": name, "nodes": nodes, "burst": label, "wall": cost.seconds, "psn": (cost, took),
            "again": (whole, again), "dred": (dred_cost, dred.sent, dred_took),
        })  # fmt: skip
        del fresh
        gc.collect()
    return rows


def show(row: Row) -> str:
    cost, took = row["psn"]
    start = [row["protocol"], f"{row['nodes']:,}", row["burst"], f"{cost.messages:,}", f"{cost.bytes:,}"]
    start += [str(cost.rounds), f"{took:.3f}"]
    if "again" not in row:
        return "| " + " | ".join([*start, *["–"] * 8]) + " |"
    whole, again = row["again"]
    dred, size, dred_took = row["dred"]
    rest = [f"{whole.messages:,}", f"{whole.bytes:,}", str(whole.rounds), f"{again:.2f}"]
    rest += [f"{dred.messages:,}", f"{size:,}", f"{len(dred.rederived):,}", f"{dred_took:.2f}"]
    return "| " + " | ".join([*start, *rest]) + " |"


def plot(rows: list[Row], file: str) -> None:
    """Messages of a burst of one link in a hundred, by the size of the network."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(PROTOCOLS), figsize=(10, 4), sharey=True)
    for axis, name in zip(axes, PROTOCOLS, strict=True):
        largest: dict[int, Row] = {}
        for row in rows:
            if row["protocol"] == name and row["burst"].startswith("-"):
                largest[row["nodes"]] = row
        xs = sorted(largest)
        axis.loglog(xs, [largest[x]["psn"][0].messages for x in xs], "o-", label="incremental (PSN)")
        axis.loglog(xs, [largest[x]["dred"][0].messages for x in xs], "s-", label="DRed")
        axis.loglog(xs, [largest[x]["again"][0].messages for x in xs], "^-", label="recomputation")
        axis.set(title=name, xlabel="nodes")
    axes[0].set_ylabel("messages, 1 % of links removed")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(file)


def main() -> None:
    gc.disable()
    arguments = sys.argv[1:]
    file = arguments[arguments.index("--plot") + 1] if "--plot" in arguments else None
    sizes = [int(a) for a in arguments if a.isdigit()] or [100, 1_000, 5_000]
    print("| protocol | nodes | burst | messages | bytes | rounds | CPU s | again: messages | bytes | rounds | CPU s "
          "| DRed: messages | bytes | re-derived | CPU s |")  # fmt: skip
    print("|---|---:|---|" + "---:|" * 12)
    rows = []
    for name in PROTOCOLS:
        for nodes in sizes:
            for row in measure(name, nodes):
                rows.append(row)
                print(show(row), flush=True)
                if row["burst"] == "start":
                    print(f"{name}, {nodes:,} nodes: converged after {row['wall']:.1f} s of wall time", file=sys.stderr)
    if file:
        plot(rows, file)


if __name__ == "__main__":
    main()
