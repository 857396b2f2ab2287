"""Markdown tables of the records, each as in the paper where it has one."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.elastic.jobs import MIXED
from benchmarks.elastic.runner import Record
from benchmarks.elastic.summary import Results, Span, mebibytes, ok, outcome, seconds, span, total, whole
from benchmarks.elastic.targets import growth, targets
from benchmarks.elastic.targets import table as target_table


def rows(header: str, aligned: str, lines: list[str]) -> str:
    return "\n".join([header, aligned, *lines]) if lines else "Not measured."


def least_median_most(values: Span, form: object = seconds) -> str:
    assert callable(form)
    return " · ".join(form(v) for v in (values.least, values.median, values.most))


def count(value: float) -> str:
    return f"{value:,.0f}"


def each(results: Results, experiment: str) -> Iterator[tuple[str, str, list[Record]]]:
    """The workloads and strategies of an experiment, with their records."""
    for workload in results.workloads(experiment):
        for strategy in results.strategies(experiment, workload):
            yield workload, strategy, results.where(experiment=experiment, workload=workload, strategy=strategy)


def run_table(results: Results) -> str:
    """Which runs the figures are from."""
    lines = [
        f"| {r['run']} | {r['commit']} | {r['machine']}, {r['cores']} cores | {r['load'][0]:.1f} | "
        f"`{' '.join(r['arguments'])}` |"
        for r in results.runs
    ]
    return rows("| run | version | machine | load at its start | arguments |", "|---|---|---|---:|---|", lines)


def cycles_table(results: Results) -> str:
    """Fig. 5 and Table 4."""
    lines = []
    for workload, strategy, found in each(results, "cycles"):
        start = [r for r in found if r["step"] == "bootstrap"]
        for size in dict.fromkeys(r["size"] for r in found if r["size"]):
            cells = [seconds(span(start).median) if span(start) else outcome(start)]
            for step in ("delete", "insert"):
                own = [r for r in found if r["size"] == size and r["step"] == step]
                cells.append(least_median_most(span(own)) if span(own) else outcome(own))
            own = [r for r in found if r["size"] == size]
            cells.append(count(span(own, "derivations").median) if span(own) else "")
            cells.append(ends(own))
            lines.append(f"| {workload} | {strategy} | {size:,} | {' | '.join(cells)} |")
    return rows(
        "| workload | strategy | facts | first epoch | delete: least · median · most | insert: least · median · most "
        "| work, median | measured, and how they ended |",
        "|---|---|---:|---:|---:|---:|---:|---|", lines,
    )  # fmt: skip


def ends(records: list[Record]) -> str:
    """How many epochs were measured, and how they ended."""
    ended = [how(r) for r in ok(records)]
    kinds = ", ".join(f"{ended.count(kind)} {kind}" for kind in dict.fromkeys(ended))
    missing = [r["status"] for r in records if r["status"] != "ok"]
    return ", ".join([kinds] * bool(kinds) + [f"{missing.count(s)} {s}" for s in dict.fromkeys(missing)])


def how(record: Record) -> str:
    """Which strategy an epoch ended with."""
    if record["anew"] and record["ended"] == "update":
        return f"switched ({record['anew']} of {record['strata']} strata anew)"
    return "switched (all anew)" if record["ended"] == "bootstrap" and record["size"] else record["ended"]


def impact_table(results: Results) -> str:
    """Table 2: the impact of a cycle, deleting and inserting together."""
    lines = []
    for workload in results.workloads("cycles"):
        found = [r for r in ok(results.where(experiment="cycles", workload=workload)) if r["impact"] is not None]
        cells = []
        for size in dict.fromkeys(r["size"] for r in found if r["size"]):
            cycles: dict[object, int] = {}
            for number, step, impact in {(r["number"], r["step"], r["impact"]) for r in found if r["size"] == size}:
                cycles[number] = cycles.get(number, 0) + (impact if step != "bootstrap" else 0)
            if cycles:
                cells.append(f"{size:,}: {min(cycles.values()):,} – {max(cycles.values()):,}")
        starts = [r["tuples"] for r in found if r["step"] == "bootstrap"]
        if cells:
            lines.append(f"| {workload} | {max(starts):,} | {'; '.join(cells)} |")
    return rows("| workload | derived tuples | facts changed: impact, least – most |", "|---|---:|---|", lines)


def memory_table(results: Results) -> str:
    """Table 3."""
    lines = []
    first: dict[str, float] = {}  # the growth in the first row of each workload
    for workload, strategy, found in each(results, "cycles"):
        good = ok(found)
        if not good:
            lines.append(f"| {workload} | {strategy} | {outcome(found)} | | | | |")
            continue
        start = span((r for r in good if r["step"] == "bootstrap"), "peak")
        before, peak, grown = (span(good, what) for what in ("before", "peak", growth))
        base = first.setdefault(workload, grown.most)
        lines.append(
            f"| {workload} | {strategy} | {mebibytes(before.median)} | {mebibytes(start.median)} | "
            f"{mebibytes(peak.most)} | {mebibytes(grown.most)} | {grown.most / base if base else 0:.2f} |"
        )
    return rows(
        "| workload | strategy | facts read, MiB | first epoch, peak | all, peak | growth | growth / the first row |",
        "|---|---|---:|---:|---:|---:|---:|", lines,
    )  # fmt: skip


def mixed_table(results: Results) -> str:
    """Fig. 6."""
    lines = []
    for workload, strategy, found in each(results, "mixed"):
        by_step = {r["step"]: r for r in found}
        cells = [cell(by_step.get(str(number))) for number in range(len(MIXED))]
        sum_of = total(found)
        lines.append(
            f"| {workload} | {strategy} | {seconds(sum_of) if sum_of is not None else outcome(found)} | "
            f"{' | '.join(cells)} |"
        )
    names = " | ".join(
        f"{n} {'start' if not n else ('large ' if MIXED[n].startswith('L') else '') + MIXED[n][-1]}"
        for n in range(len(MIXED))
    )
    return rows(f"| workload | strategy | total | {names} |", "|---|---|" + "---:|" * (len(MIXED) + 1), lines)


def cell(record: Record | None) -> str:
    if record is None or record["status"] != "ok":
        return record["status"] if record else ""
    return seconds(whole(record)) + ("*" if how(record).startswith("switched") else "")


def chain_table(results: Results) -> str:
    lines = []
    for workload, strategy, found in each(results, "chain"):
        deleted = [r for r in found if r["step"] == "delete"]
        start = span(r for r in found if r["step"] == "bootstrap")
        nodes = int(workload.removeprefix("chain"))
        if not ok(deleted):
            lines.append(f"| {nodes:,} | {strategy} | | | {outcome(deleted)} | | |")
            continue
        impact = broken(nodes)
        lines.append(
            f"| {nodes:,} | {strategy} | {impact:,} | {seconds(start.median)} | {seconds(span(deleted).median)} | "
            f"{1e9 * span(deleted).median / impact:,.0f} ns | {how(ok(deleted)[0])} |"
        )
    return rows(
        "| nodes | strategy | facts that disappear | first epoch | delete the middle edge | per fact | ended |",
        "|---:|---|---:|---:|---:|---:|---|", lines,
    )  # fmt: skip


def broken(nodes: int) -> int:
    """How many pairs of a chain are connected through the edge in its middle."""
    return (nodes // 2) * (nodes - nodes // 2)


def copies_table(results: Results) -> str:
    lines = []
    for workload, strategy, found in each(results, "copies"):
        changes = [r for r in found if r["size"]]
        cells = []
        for step in ("delete", "insert"):
            own = span(r for r in changes if r["step"] == step)
            cells.append(least_median_most(own) if own else outcome(changes))
        good = ok(found)
        tuples, work = (f"{good[0]['tuples']:,}", count(span(changes, "derivations").median)) if good else ("", "")
        lines.append(
            f"| {workload.removeprefix('copies')} | {tuples} | {strategy} | {cells[0]} | {cells[1]} | {work} |"
        )
    return rows(
        "| copies | derived tuples | strategy | delete: least · median · most | insert: least · median · most | work |",
        "|---:|---:|---|---:|---:|---:|", lines,
    )  # fmt: skip


def switches_table(results: Results) -> str:
    lines = []
    for workload in results.workloads("switches"):
        found = results.where(experiment="switches", workload=workload)
        for variant in dict.fromkeys(r["variant"] for r in found if r["kind"] == "cycles"):
            own = [r for r in found if r["variant"] == variant and r["kind"] == "cycles"]
            for size in dict.fromkeys(r["size"] for r in own if r["size"]):
                cells = []
                for step in ("delete", "insert"):
                    some = [r for r in own if r["size"] == size and r["step"] == step]
                    cells.append(seconds(span(some).median) if span(some) else outcome(some))
                work = span((r for r in own if r["size"] == size), "derivations")
                lines.append(
                    f"| {workload} | update-paper | {variant or 'eager, split, diff-first'} | {size:,} facts: delete "
                    f"{cells[0]}, insert {cells[1]} | {count(work.median) if work else ''} |"
                )
        for variant in dict.fromkeys(r["variant"] for r in found if r["kind"] == "mixed"):
            own = [r for r in found if r["variant"] == variant and r["kind"] == "mixed"]
            sum_of = total(own)
            switched = sum(how(r).startswith("switched") for r in ok(own))
            lines.append(
                f"| {workload} | elastic | {variant or 'switch=0.2, switching=stratum, budget=derivations'} | mixed: "
                f"{seconds(sum_of) if sum_of is not None else outcome(own)}, {switched} of 12 switched | "
                f"{count(sum(r['derivations'] for r in ok(own)))} |"
            )
    return rows("| workload | strategy | options | median, or total | work |", "|---|---|---|---|---:|", lines)


TABLES = {
    "runs": run_table,
    "targets": lambda results: target_table(targets(results)),
    "cycles": cycles_table,
    "impact": impact_table,
    "memory": memory_table,
    "mixed": mixed_table,
    "chain": chain_table,
    "copies": copies_table,
    "switches": switches_table,
}
