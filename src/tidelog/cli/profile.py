"""`tidelog profile`: a profile as a table or a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tidelog.errors import error


def profile(
    file: Annotated[Path, typer.Argument(help="What `tidelog run --profile` wrote.", show_default=False)],
    html: Annotated[Path | None, typer.Option(help="Write a page with charts to this file.")] = None,
    top: Annotated[int, typer.Option(help="How many rules to show.")] = 20,
) -> None:
    """Show where a run spent its time and memory."""
    data = _read(file)
    if html is not None:
        from tidelog.cli.profile_page import page

        html.write_text(page(data), encoding="utf-8")
        typer.echo(f"wrote {html}")
        return
    _print(data, top)


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["format"] != 1:
            raise error("TL0911", f"{file} has format {data['format']}; this version reads format 1")
    except OSError as problem:
        raise error("TL0910", f"cannot read {file}: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise error("TL0910", f"{file} is not a profile", help="make one with `tidelog run --profile`") from None
    return data  # type: ignore[no-any-return]


def totals(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Per rule: seconds, tuples, derivations, iterations; slowest first."""
    found: dict[str, dict[str, Any]] = {}
    for record in data["records"]:
        key = str(record["rule"])
        entry = found.setdefault(
            key, {**data["rules"][key], "rule": key, "seconds": 0.0, "tuples": 0, "derivations": 0, "iterations": 0}
        )
        for name in ("seconds", "tuples", "derivations"):
            entry[name] += record[name]
        entry["iterations"] = max(entry["iterations"], record["iteration"])
    return sorted(found.values(), key=lambda e: -e["seconds"])


def _print(data: dict[str, Any], top: int) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 240)  # in a pipe or a file, rules stay on one line
    console.print(f"{data['seconds']:.2f} s in all")
    rules = Table("seconds", "derivations", "new tuples", "iterations", "rule")
    entries = totals(data)
    for entry in entries[:top]:
        rules.add_row(
            f"{entry['seconds']:.3f}", f"{entry['derivations']:,}", f"{entry['tuples']:,}", f"{entry['iterations']:,}",
            entry["text"],
        )  # fmt: skip
    console.print(rules)
    if len(entries) > top:
        console.print(f"and {len(entries) - top} more rules (--top)")
    relations = Table("tuples", "bytes", "relation", "where")
    sized = sorted(data["relations"].items(), key=lambda item: -sum(item[1]["bytes"].values()))
    for name, entry in sized[:top]:
        parts = ", ".join(f"{part} {size:,}" for part, size in entry["bytes"].items() if size)
        relations.add_row(f"{entry['tuples']:,}", f"{sum(entry['bytes'].values()):,}", name, parts)
    console.print(relations)
