"""Tables of pages, made by the commands above them: `python -m tools.tables docs/benchmarks.md [WORD]`.

In a page a table of measurements stands between two comments, of which the first has the command:

    <!-- made by: python -m benchmarks.batch -->
    | workload | … |
    <!-- end -->

The commands of a page (with a WORD, those that have it in them) are run one after the other in the checkout, and the
table that each prints takes the place of the old one. `benchmarks.elastic.report` fills `docs/elastic.md`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
MADE = re.compile(r"(^<!-- made by: (?P<command>[^\n]+) -->\n)(?P<table>.*?)(^<!-- end -->$)", re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    """The commands that make the tables of a page."""
    return [found["command"] for found in MADE.finditer(page)]


def table_in(printed: str) -> str:
    """The lines of a table, of all that a command prints."""
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    if len(lines) < 3:
        raise SystemExit(f"no table was printed:\n{printed}")
    return "\n".join(lines) + "\n"


def made_anew(page: str, run: Callable[[str], str], word: str = "") -> str:
    """The page with the tables that its commands print now."""

    def made(found: re.Match[str]) -> str:
        if word not in found["command"]:
            return found[0]
        return found[1] + table_in(run(found["command"])) + found[4]

    return MADE.sub(made, page)


def run(command: str) -> str:
    """What a command of a page prints; `python` is this one."""
    print(f"$ {command}", file=sys.stderr, flush=True)
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> None:
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    page = Path(sys.argv[1])
    page.write_text(made_anew(page.read_text(encoding="utf-8"), run, "".join(sys.argv[2:])), encoding="utf-8")


if __name__ == "__main__":
    main()
