"""The targets: each a ratio of two measurements of one run, what it may be at most, and whether it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.elastic.runner import Record
from benchmarks.elastic.summary import Results, Span, ok, outcome, seconds, span, total, whole

CHAIN_GROWTH = 2.0
"""How much more a fact that disappears may cost on the longest chain than on the shortest: as for the copies."""


@dataclass(frozen=True)
class Target:
    """`value` is None if it could not be measured."""

    what: str
    workload: str
    value: float | None
    limit: float
    note: str = ""
    strictly: bool = False  # less than the limit, not only at most

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        met = self.value < self.limit if self.strictly else self.value <= self.limit
        return "met" if met else "MISSED"


def targets(results: Results) -> list[Target]:
    return [
        *bootstrap_targets(results), *small_targets(results), *chain_targets(results), *copies_targets(results),
        *mixed_targets(results), *agreement_targets(results),
    ]  # fmt: skip


def ratio(a: Span, b: Span) -> float | None:
    return a.median / b.median if a and b else None


def bootstrap_targets(results: Results) -> Iterator[Target]:
    for workload in results.workloads("bootstrap"):
        plain, elastic = (
            results.where(experiment="bootstrap", workload=workload, strategy=s) for s in ("plain", "elastic")
        )
        missing = "" if ok(plain) and ok(elastic) else outcome([*plain, *elastic])
        times = span(elastic), span(plain)
        note = f"{seconds(times[0].median)} / {seconds(times[1].median)}" if all(times) else missing
        yield Target("Bootstrap / batch, time", workload, ratio(*times), 1.5, note)
        readied = span(elastic, whole), span(plain, whole)
        note = "with the indexes that only updates need, built in the background"
        yield Target("the same until ready for updates (no target)", workload, ratio(*readied), float("inf"), note)
        peaks = span(elastic, "peak"), span(plain, "peak")
        note = " / ".join(f"{p.median / 2**20:,.0f} MiB" for p in peaks) if all(peaks) else missing
        yield Target("Bootstrap / batch, peak memory", workload, ratio(*peaks), 2.5, note)
        grown = span(elastic, growth), span(plain, growth)
        note = " / ".join(f"{p.median / 2**20:,.0f} MiB" for p in grown) if all(grown) else missing
        value = ratio(*grown) if all(grown) and grown[1].median else None
        yield Target("Bootstrap / batch, memory beyond facts and process", workload, value, 2.5, note)


def growth(record: Record) -> float:
    """The memory that evaluation took: the peak less what the process had when the facts were read."""
    return float(record["peak"] - record["before"])


def small_targets(results: Results) -> Iterator[Target]:
    for workload in results.workloads("small"):
        records = results.where(experiment="small", workload=workload)
        start = span(r for r in records if r["step"] == "bootstrap")
        changes = [r for r in records if r["step"] != "bootstrap"]
        for step in ("delete", "insert"):
            found = span(r for r in changes if r["step"] == step)
            note = f"{seconds(found.median)} of {seconds(start.median)}, {len(found.values)} sets" if found else ""
            yield Target(f"{step} 10 facts / Bootstrap, median", workload, ratio(found, start), 0.01, note)
        found, readied = span(changes, whole), span((r for r in records if r["step"] == "bootstrap"), whole)
        slowest = max(ok(changes), key=whole, default=None)
        note = (
            f"{seconds(found.most)}, {slowest['ended']}, of {seconds(readied.median)}" if slowest else outcome(records)
        )
        value = found.most / readied.median if found and readied else None
        yield Target("change 10 facts / Bootstrap, slowest, until ready again", workload, value, 1.2, note)


def chain_targets(results: Results) -> Iterator[Target]:
    """Only the strategies update and elastic have a target; the curve is for all."""
    chains = results.workloads("chain")
    for strategy in ("update", "elastic"):
        costs = {}
        for workload in chains:
            deleted = ok(results.where(experiment="chain", workload=workload, strategy=strategy, step="delete"))
            if deleted:
                costs[workload] = span(deleted, per_fact)
        if not costs:
            continue
        first, last = chains[0], chains[-1]
        note = ", ".join(f"{c.removeprefix('chain')}: {1e9 * costs[c].median:,.0f} ns" for c in costs)
        yield Target(
            f"{strategy}: seconds per fact that disappears, longest / shortest chain", f"{first}–{last}",
            ratio(costs[last], costs[first]) if first in costs and last in costs else None, CHAIN_GROWTH, note,
        )  # fmt: skip


def per_fact(record: Record) -> float:
    return float(record["seconds"]) / max(record["impact"] or 0, 1)


def copies_targets(results: Results) -> Iterator[Target]:
    names = results.workloads("copies")
    for strategy in ("update", "elastic"):
        records = {n: results.where(experiment="copies", workload=n, strategy=strategy) for n in names}
        for step in ("delete", "insert"):
            costs = {n: span(r for r in found if r["step"] == step) for n, found in records.items()}
            measured = {n: c for n, c in costs.items() if c}
            if not measured:
                continue
            note = ", ".join(f"{n.removeprefix('copies')}x: {seconds(c.median)}" for n, c in measured.items())
            medians = [c.median for c in measured.values()]
            value = max(medians) / min(medians) if len(measured) == len(names) else None
            yield Target(f"{strategy}: {step} 10 facts, dearest / cheapest number of copies",
                         f"{names[0]}–{names[-1]}", value, 2.0, note)  # fmt: skip


def mixed_targets(results: Results) -> Iterator[Target]:
    for workload in results.workloads("mixed"):
        records = {s: results.where(experiment="mixed", workload=workload, strategy=s) for s in
                   ("elastic", "plain", "batch", "counting")}  # fmt: skip
        elastic = total(records["elastic"])
        for other in ("plain", "batch", "counting"):
            if not records[other]:
                continue
            theirs = total(records[other])
            what = {"plain": "batch (evaluation alone)", "batch": "batch (with its change)"}.get(other, other)
            value = elastic / theirs if elastic is not None and theirs else None
            note = f"{seconds(elastic)} / {seconds(theirs)}" if value is not None and elastic and theirs else ""
            if elastic is not None and theirs is None and outcome(records[other]) == "timeout":
                limit = max(r.get("limit", 0.0) for r in records[other])
                value, note = elastic / limit, f"at most: {seconds(elastic)}, and {other} timed out at {seconds(limit)}"
            elif value is None:
                note = f"elastic: {outcome(records['elastic'])}, {other}: {outcome(records[other])}"
            yield Target(f"mixed workload: elastic / {what}", workload, value, 1.0, note, strictly=True)


def agreement_targets(results: Results) -> Iterator[Target]:
    """Strategies that saw the same changes must have found the same impact and the same number of tuples."""
    for workload in dict.fromkeys((*results.workloads("cycles"), *results.workloads("mixed"))):
        seen: dict[tuple[object, ...], set[object]] = {}
        for r in ok(results.where(workload=workload)):
            if r["experiment"] in ("cycles", "mixed"):
                key = (r["kind"], r["size"], r["number"], r["step"])
                seen.setdefault((*key, "tuples"), set()).add(r["tuples"])
                if r["impact"] is not None:
                    seen.setdefault((*key, "impact"), set()).add(r["impact"])
        differ = [key for key, values in seen.items() if len(values) > 1]
        note = f"of {len(seen)} figures" + (f"; first: {differ[0]}" if differ else "")
        yield Target("figures on which strategies disagree", workload, float(len(differ)) if seen else None, 0.0, note)


def table(found: list[Target]) -> str:
    lines = ["| target | workload | measured | at most | verdict | |", "|---|---|---:|---:|---|---|"]
    for target in found:
        value = "" if target.value is None else f"{target.value:.3g}"
        if target.limit == float("inf"):
            limit, verdict = "", "" if target.value is not None else "not measured"
        else:
            limit, verdict = ("< " if target.strictly else "") + f"{target.limit:g}", target.verdict
        lines.append(f"| {target.what} | {target.workload} | {value} | {limit} | {verdict} | {target.note} |")
    return "\n".join(lines)
