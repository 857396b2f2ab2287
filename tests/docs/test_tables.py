"""The tables of measurements in the documentation are made by commands, which stand above them (`tools/tables.py`)."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))
from tools.tables import ROOT, commands, made_anew, run

PAGES = [ROOT / "docs" / name for name in ("benchmarks.md", "net/benchmarks.md", "elastic.md")]
MARKED = re.compile(r"^<!-- (?:made by|table): [^\n]+ -->$.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"\| *[\d.,]+ *(s|ms|M|MB|%)? *\|")
SAMPLE = """before
<!-- made by: python -c "print('said\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\nsaid')" -->
| a | b |
|---|---|
| 0 | 0 |
<!-- end -->
after
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_table_of_measurements_is_written_by_hand(page: Path) -> None:
    left = MARKED.sub("", page.read_text(encoding="utf-8"))
    assert [line for line in left.splitlines() if line.startswith("|") and FIGURE.search(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_command_of_a_table_is_there(page: Path) -> None:
    for command in commands(page.read_text(encoding="utf-8")):
        python, option, module, *_ = shlex.split(command)
        assert (python, option) == ("python", "-m")
        assert importlib.util.find_spec(module) is not None, command


def test_a_table_is_replaced_by_what_its_command_prints() -> None:
    assert made_anew(SAMPLE, run) == SAMPLE.replace("| 0 | 0 |", "| 1 | 2 |")
    assert made_anew(SAMPLE, run, "another command") == SAMPLE
