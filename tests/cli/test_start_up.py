"""What a command imports: only what it uses, so that it starts at once. Figures: `python -m benchmarks.start_up`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from tidelog.cli.main import COMMANDS, SUMMARIES, command_line

REACH = Path(__file__).parents[2] / "examples" / "reach"
CHECK = ["check", str(REACH / "reach.dl")]
RUN = ["run", str(REACH / "reach.dl"), "-F", str(REACH / "facts"), "-D", "-", "--local"]
IMPORTED = """
import sys
sys.argv[0] = "tidelog"
from tidelog.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def imported(arguments: list[str]) -> set[str]:
    command = [sys.executable, "-c", IMPORTED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


@pytest.mark.parametrize(
    ("arguments", "most", "without"),
    [
        (["--help"], 330, {"numpy", "pyarrow", "lark", "pydantic", "tidelog.analysis.check", "tidelog.session"}),
        (CHECK, 420, {"numpy", "pyarrow", "pyspark", "pandas", "rich", "tidelog.store", "tidelog.session"}),
        (RUN, 640, {"numba", "llvmlite", "pyspark", "pandas", "rich", "zmq", "pyarrow.parquet", "pyarrow.dataset"}),
    ],
    ids=["help", "check", "run"],
)
def test_a_command_imports_only_what_it_uses(arguments: list[str], most: int, without: set[str]) -> None:
    modules = imported(arguments)
    assert sorted(without & modules) == []
    assert len(modules) <= most, f"{len(modules)} modules; what is new, and is it needed?"


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    assert list(SUMMARIES) == list(COMMANDS)
    for name in COMMANDS:
        (real,) = get_command(command_line([name, "…"])).commands.values()
        listed = get_command(command_line(["--help"])).commands[name]
        assert listed.get_short_help_str(300) == real.get_short_help_str(300)
