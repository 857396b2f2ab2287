"""`tidelog profile`: a profile as a table or a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidelog.evaluate.profile import Profile


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
