"""The figures of `maintenance`: what a burst costs, by the size of the network and by the size of the burst.

A figure has a row of panels per protocol: messages, bytes, rounds, CPU seconds. DRed is one process without nodes or
inboxes, so its CPU time would say nothing and is not drawn. Needs matplotlib (`pip install -e '.[bench]'`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from benchmarks.network.maintenance import Row

MEASURES = {"messages": "messages", "bytes": "bytes", "rounds": "rounds", "seconds": "CPU seconds"}
STYLES = {"recomputation": ("#c0392b", "^-"), "incremental": ("#1a7f4b", "o-"), "DRed": ("#e8a317", "s--")}


def by_size(rows: Sequence[Row], file: Path) -> None:
    """One link in a hundred fails, on growing networks."""
    chosen = [row for row in rows if row.share == 0.01 and row.burst.startswith("-")]
    _figure(chosen, "nodes", "nodes", "One link in a hundred fails", file)


def by_burst(rows: Sequence[Row], file: Path) -> None:
    """More and more links fail, on the largest network."""
    largest = max(row.nodes for row in rows)
    chosen = [row for row in rows if row.nodes == largest and row.burst.startswith("-")]
    _figure(chosen, "links", "links that fail", f"More links fail, of {largest:,} nodes", file)


def _figure(rows: list[Row], along: str, label: str, title: str, file: Path) -> None:
    protocols = list(dict.fromkeys(row.protocol for row in rows))
    figure, grid = pyplot.subplots(
        len(protocols), len(MEASURES), figsize=(13, 2.9 * len(protocols)), squeeze=False, layout="constrained"
    )
    for panels, protocol in zip(grid, protocols, strict=True):
        own = sorted((row for row in rows if row.protocol == protocol), key=lambda row: getattr(row, along))
        for panel, (measure, heading) in zip(panels, MEASURES.items(), strict=True):
            _panel(panel, own, along, measure)
            panel.set_title(f"{protocol}: {heading}", fontsize=10)
            panel.set_xlabel(label, fontsize=9)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(STYLES), frameon=False)
    figure.suptitle(title)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _panel(panel: Axes, rows: list[Row], along: str, measure: str) -> None:
    xs = [getattr(row, along) for row in rows]
    for way, (colour, style) in STYLES.items():
        if measure == "seconds" and way == "DRed":
            continue
        panel.plot(xs, [getattr(row.ways[way], measure) for row in rows], style, color=colour, label=way, markersize=5)
    panel.set_xscale("log")
    panel.set_xticks(xs, [f"{x:,}" for x in xs])
    panel.minorticks_off()
    if measure == "rounds":
        panel.set_ylim(0, 1.15 * max(way.rounds for row in rows for way in row.ways.values()))
    else:
        panel.set_yscale("log")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", alpha=0.25)
