"""`python -m benchmarks.elastic.report`: the records as tables in docs/elastic.md and plots beside it.

The page is written by hand; what stands between `<!-- table: name -->` or `<!-- plot: name -->` and `<!-- end -->` is
replaced. Plots need matplotlib, which the extra `bench` brings; without it there are only tables.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Collection
from pathlib import Path

from benchmarks.batch.workloads import REPOSITORY
from benchmarks.elastic.__main__ import RESULTS
from benchmarks.elastic.runner import Records
from benchmarks.elastic.summary import Results
from benchmarks.elastic.tables import TABLES

PAGE = REPOSITORY / "docs" / "elastic.md"
_BLOCK = re.compile(r"(<!-- (table|plot): (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, results: Results, plots: Collection[str] = ()) -> str:
    """The page with the tables of these results, and with links to the plots of these names."""

    def block(found: re.Match[str]) -> str:
        start, kind, name, end = found.groups()
        if kind == "table":
            return f"{start}{TABLES[name](results)}\n{end}"
        return f"{start}![{name}](images/elastic-{name}.png)\n{end}" if name in plots else start + end

    return _BLOCK.sub(block, page)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elastic.report", description=__doc__)
    parser.add_argument("records", nargs="?", type=Path, default=RESULTS, help="the folder that the benchmark wrote to")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write, if not docs/elastic.md")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="whose seconds to show")
    options = parser.parse_args(arguments)
    records = Records(options.records / "elastic.jsonl")
    if not records.path.is_file():
        sys.exit(f"there are no records in {options.records}: run `python -m benchmarks.elastic` first")
    results = Results.of(records.read(), options.clock)
    plots: dict[str, Path] = {}
    if importlib.util.find_spec("matplotlib") is None:
        print("matplotlib is not installed, so there are no plots: pip install 'tidelog[bench]'", file=sys.stderr)
    else:
        from benchmarks.elastic.plots import plot_all

        plots = plot_all(results, options.page.parent / "images")
    text = (options.page if options.page.is_file() else PAGE).read_text(encoding="utf-8")
    options.page.write_text(filled(text, results, plots), encoding="utf-8")
    for path in (*plots.values(), options.page):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
