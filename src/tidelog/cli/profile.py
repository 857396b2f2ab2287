"""`tidelog profile`: a profile as a table or a page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidelog.evaluate.profile import Profile

if TYPE_CHECKING:
    from rich.table import Table

_WIDTH = 60


def profile(
    file: Annotated[Path, typer.Argument(help="What `tidelog run --profile` wrote.", show_default=False)],
    html: Annotated[Path | None, typer.Option(help="Write a page with charts to this file.")] = None,
    top: Annotated[int, typer.Option(help="How many rules to show.")] = 20,
) -> None:
    """Show where a run spent its time and memory."""
    found = Profile.read(file)
    if html is not None:
        from tidelog.cli.profile_page import page

        html.write_text(page(found), encoding="utf-8")
        typer.echo(f"wrote {html}")
        return
    _print(found, top)


def _print(found: Profile, top: int) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 240)  # in a pipe or a file, rules stay on one line
    console.print(f"epoch {found.epoch}, {found.strategy} ({found.why}): {found.seconds:.2f} s in all")
    console.print(_shares(found.stages(), found.seconds, "s", 1))
    tasks = Table("seconds", "derivations", "new tuples", "iterations", "rule")
    totals = found.totals()
    for total in totals[:top]:
        tasks.add_row(
            f"{total.seconds:.3f}", f"{total.derivations:,}", f"{total.tuples:,}", f"{total.iterations:,}",
            total.task.text,
        )  # fmt: skip
    console.print(tasks)
    if len(totals) > top:
        console.print(f"and {len(totals) - top} more rules (--top)")
    relations = Table("tuples", "bytes", "relation", "where")
    for name, size in found.sizes()[:top]:
        parts = ", ".join(f"{part} {bytes:,}" for part, bytes in size.bytes.items() if bytes)
        relations.add_row(f"{size.tuples:,}", f"{size.total:,}", name, parts)
    console.print(relations)
    if found.memory:
        size_of_all = sum(found.memory.values())
        console.print(f"{size_of_all / 2**20:,.0f} MB at the end")
        console.print(_shares(found.memory, size_of_all, "MB", 2**20))


def _shares(parts: Mapping[str, float], whole: float, unit: str, size: float) -> Table:
    """What each part has of the whole, as bars that go on where the one before ended; they add up."""
    from rich.table import Table

    table, before = Table("part", unit, "of all", ""), 0.0
    for part, value in parts.items():
        start, stop = (round(_WIDTH * at / whole) if whole else 0 for at in (before, before + value))
        share = f"{value / whole:.0%}" if whole else ""
        table.add_row(part, f"{value / size:,.3f}", share, " " * start + "█" * max(stop - start, 0))
        before += value
    return table
