"""Plots of the records, as PNG files: Fig. 5 and Fig. 6 of the paper for each workload, the chain, the copies."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.elastic.jobs import MIXED
from benchmarks.elastic.runner import Record
from benchmarks.elastic.summary import Results, ok, seconds, span, total, whole
from benchmarks.elastic.tables import broken, how

COLOURS = {
    "plain": "#9a9a9a", "batch": "#4d4d4d", "counting": "#d08a00", "update-paper": "#b0413e", "update": "#2f7fc1",
    "elastic": "#1b8a4c",
}  # fmt: skip
MARKERS = {"plain": "_", "batch": "s", "counting": "D", "update-paper": "v", "update": "o", "elastic": "^"}
LABELS = {"plain": "plain (batch, evaluation alone)", "batch": "batch (with its change)"}


def plot_all(results: Results, folder: Path) -> dict[str, Path]:
    """Write the plots for which there are records; their files, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for name, draw in (("cycles", draw_cycles), ("mixed", draw_mixed), ("chain", draw_chain), ("copies", draw_copies)):
        if any(r["experiment"] == name for r in ok(results.epochs)):
            figure = draw(results)
            path = folder / f"elastic-{name}.png"
            figure.savefig(path, dpi=120)
            plt.close(figure)
            made[name] = path
    return made


def panels(number: int, height: float, legend: float = 0.5) -> tuple[Any, list[Any]]:
    """A figure with that many panels, two in a row, and room for a legend below."""
    columns = min(2, number)
    lines = -(-number // columns)
    size = (5.6 * columns + (2.2 if columns == 1 else 0), height * lines + legend)
    figure, axes = plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    for left_over in list(axes.flat)[number:]:
        left_over.axis("off")
    return figure, list(axes.flat)[:number]


def time_axis(axis: Any, what: str, which: str = "y") -> None:
    side = axis.yaxis if which == "y" else axis.xaxis
    side.set_major_formatter(FuncFormatter(lambda value, _: seconds(value) if value > 0 else "0"))
    side.set_minor_formatter(NullFormatter())
    (axis.set_ylabel if which == "y" else axis.set_xlabel)(what)
    axis.grid(which="major", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def draw_cycles(results: Results) -> Any:
    """Fig. 5: for each set of facts, the seconds of a cycle; a timeout is an arrow."""
    names = [w for w in results.workloads("cycles") if ok(results.where(experiment="cycles", workload=w))]
    figure, axes = panels(len(names), 3.5, 0.7)
    shown: dict[str, Any] = {}
    for axis, workload in zip(axes, names, strict=True):
        draw_cycles_of(axis, results, workload, shown)
    handles = [*shown.values()]
    if any(r["status"] == "timeout" for r in results.where(experiment="cycles")):
        handles.append(Line2D([], [], color="black", marker=r"$\uparrow$", linestyle="", label="timeout"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_cycles_of(axis: Any, results: Results, workload: str, shown: dict[str, Any]) -> None:
    found = results.where(experiment="cycles", workload=workload)
    sizes = sorted({r["size"] for r in found if r["size"]})
    strategies = results.strategies("cycles", workload)
    offsets = {s: (i - (len(strategies) - 1) / 2) * 0.11 for i, s in enumerate(strategies)}
    late: list[tuple[float, str]] = []
    for strategy in strategies:
        own = [r for r in found if r["strategy"] == strategy]
        points: list[tuple[float, float]] = []
        medians: list[tuple[float, float]] = []
        for place, size in enumerate(sizes):
            cycles = cycle_times([r for r in own if r["size"] == size])
            points += [(place + offsets[strategy], value) for value in cycles]
            if cycles:
                medians.append((place + offsets[strategy], statistics.median(cycles)))
            if any(r["size"] == size and r["status"] == "timeout" for r in own):
                late.append((place + offsets[strategy], strategy))
        colour = COLOURS[strategy]
        if strategy == "plain":
            twice = span(r for r in own if r["size"])
            if twice:
                axis.axhline(2 * twice.median, color=colour, linestyle="--", linewidth=1.2)
                shown[strategy] = Line2D([], [], color=colour, linestyle="--", label=LABELS[strategy])
        elif points:
            axis.plot(*zip(*medians, strict=True), color=colour, linewidth=0.9, alpha=0.6)
            axis.scatter(*zip(*points, strict=True), color=colour, marker=MARKERS[strategy], s=20, alpha=0.85, zorder=3)
            label = LABELS.get(strategy, strategy)
            shown[strategy] = Line2D([], [], color=colour, marker=MARKERS[strategy], markersize=5, label=label)
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    if late:
        axis.set_ylim(low, high * 4)
    for where, strategy in late:
        axis.annotate("", (where, high * 3.4), (where, high * 1.3), annotation_clip=False,
                      arrowprops={"arrowstyle": "->", "color": COLOURS[strategy], "linewidth": 1.5})  # fmt: skip
    axis.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axis.set_xlim(-0.6, len(sizes) - 0.4)
    axis.set_xlabel("facts deleted and inserted again")
    axis.set_title(workload, fontsize=11)
    time_axis(axis, "time of a cycle")


def cycle_times(records: list[Record]) -> list[float]:
    """The seconds of each cycle both of whose epochs were measured."""
    times: dict[int, list[float]] = {}
    for record in ok(records):
        times.setdefault(record["number"], []).append(whole(record))
    return [sum(both) for both in times.values() if len(both) == 2]


def draw_mixed(results: Results) -> Any:
    """Fig. 6: the epochs of each strategy on top of each other."""
    names = [w for w in results.workloads("mixed") if ok(results.where(experiment="mixed", workload=w))]
    figure, axes = panels(len(names), 2.9, 0.6)
    kinds = {"start": "#b8b8b8", "small changes": "#5fa8d3", "large changes": "#e0914c"}
    for axis, workload in zip(axes, names, strict=True):
        strategies = results.strategies("mixed", workload)[::-1]
        widest = width(results, workload)
        for place, strategy in enumerate(strategies):
            found = results.where(experiment="mixed", workload=workload, strategy=strategy)
            left = 0.0
            for r in sorted(ok(found), key=lambda r: int(r["step"])):
                kind = "start" if r["step"] == "0" else "large changes" if is_large(r["step"]) else "small changes"
                hatch = "////" if how(r).startswith("switched") else None
                axis.barh(
                    place, max(0.0, min(whole(r), widest - left)), left=left, height=0.62, color=kinds[kind],
                    edgecolor="white", linewidth=0.3, hatch=hatch,
                )  # fmt: skip
                left += whole(r)
            ended = total(found)
            text = seconds(ended) if ended is not None else outcome_text(found)
            cut = "→ " if left > widest else ""
            axis.text(min(left, widest), place, f" {cut}{text}", va="center", fontsize=9)
        axis.set_yticks(range(len(strategies)), strategies)
        axis.set_xlim(0, widest * 1.25)
        large = max((r["size"] for r in results.where(experiment="mixed", workload=workload)), default=0)
        axis.set_title(f"{workload}: large changes of {large:,} facts", fontsize=11)
        time_axis(axis, "time of the 13 epochs", "x")
        axis.grid(axis="y", visible=False)
        axis.tick_params(axis="x", labelsize=8)
    handles = [Patch(color=colour, label=kind) for kind, colour in kinds.items()]
    handles.append(Patch(facecolor="#e0914c", edgecolor="white", hatch="////", label="switched to Bootstrap"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def width(results: Results, workload: str) -> float:
    """Where bars are cut off: a strategy that takes very long must not hide the others."""
    times = {
        s: sum(map(whole, ok(results.where(experiment="mixed", workload=workload, strategy=s))))
        for s in results.strategies("mixed", workload)
    }
    usual = max((times[s] for s in ("plain", "batch", "elastic") if s in times), default=0.0)
    return min(max(times.values()), 4 * usual) or max(times.values())


def is_large(step: str) -> bool:
    return MIXED[int(step)].startswith("L")


def outcome_text(records: list[Any]) -> str:
    return next((r["status"] for r in records if r["status"] != "ok"), "")


def draw_chain(results: Results) -> Any:
    """Seconds, and seconds per fact, against the facts that disappear."""
    figure, (left, right) = panels(2, 3.6, 0.6)
    handles = []
    lengths = [int(workload.removeprefix("chain")) for workload in results.workloads("chain")]
    for strategy in COLOURS:
        points = []
        for nodes in lengths:
            found = span(results.where(experiment="chain", workload=f"chain{nodes}", strategy=strategy, step="delete"))
            if found:
                points.append((broken(nodes), found.median))
        if points:
            facts, times = zip(*points, strict=True)
            style = {"color": COLOURS[strategy], "marker": MARKERS[strategy], "markersize": 5, "linewidth": 1.3}
            handles += left.plot(facts, times, label=LABELS.get(strategy, strategy), **style)
            right.plot(facts, [time / number for number, time in points], **style)
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks([broken(n) for n in lengths], [f"{broken(n):,}\n({n:,} nodes)" for n in lengths])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.tick_params(axis="x", which="minor", length=0)
        axis.set_xlabel("facts that disappear")
    time_axis(left, "time to delete the middle edge")
    time_axis(right, "time per fact that disappears")
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    return figure


def draw_copies(results: Results) -> Any:
    """Median and quartiles of small changes against the number of copies."""
    figure, axes = panels(2, 3.6, 0.6)
    handles: dict[str, Any] = {}
    names = results.workloads("copies")
    strategies = [s for s in COLOURS if ok(results.where(experiment="copies", strategy=s))]
    for axis, step in zip(axes, ("delete", "insert"), strict=True):
        for shift, strategy in enumerate(strategies):
            places, medians, low, high = [], [], [], []
            for place, workload in enumerate(names):
                found = span(results.where(experiment="copies", workload=workload, strategy=strategy, step=step))
                if found:
                    values = sorted(found.values)
                    places.append(place + (shift - (len(strategies) - 1) / 2) * 0.08)
                    medians.append(found.median)
                    low.append(found.median - values[len(values) // 4])
                    high.append(values[3 * len(values) // 4] - found.median)
            if places:
                handles[strategy] = axis.errorbar(
                    places, medians, [low, high], color=COLOURS[strategy], marker=MARKERS[strategy], markersize=5,
                    capsize=3, linewidth=1.3, label=strategy,
                )  # fmt: skip
        axis.set_xticks(range(len(names)), [n.removeprefix("copies") + "×" for n in names])
        axis.set_xlim(-0.5, len(names) - 0.5)
        axis.set_yscale("log")
        axis.set_xlabel("disjoint copies of the graph")
        time_axis(axis, f"time to {step} 10 facts")
    figure.legend(handles=list(handles.values()), loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("medians; bars from the first to the third quartile", fontsize=9)
    return figure
