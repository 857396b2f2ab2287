"""What a command imports: only what it uses, so that it starts at once. Figures: `python -m benchmarks.start_up`."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
from typer.main import get_command

from tidelog.cli.command_line import COMMANDS, SUMMARIES, command_line
from tidelog.cli.plain_options import plain_run
from tidelog.cli.running import run_program

FAMILY = Path(__file__).parents[2] / "benchmarks" / "start_up_program"
CHECK = ["check", str(FAMILY / "family.dl")]
RUN = ["run", str(FAMILY / "family.dl"), "-F", str(FAMILY / "facts"), "-D", "-", "--local"]
IMPORTED = """
import sys
from tidelog.cli.main import run_command
from tidelog.cli.plain_options import plain_run
assert run_command(sys.argv[1:], plain_run(sys.argv[1:])) == 0
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
        (CHECK, 360, {"numpy", "pyarrow", "pyspark", "pandas", "rich", "lark", "tidelog.store", "tidelog.session"}),
        (
            RUN,
            430,
            {
                "numba",
                "llvmlite",
                "pyspark",
                "pandas",
                "rich",
                "zmq",
                "pyarrow.parquet",
                "pyarrow.dataset",
                "pyarrow.compute",
                "numpy.ma",
                "lark",
                "typer",
                "pydantic",
                "concurrent.futures",
                "difflib",
            },
        ),
    ],
    ids=["help", "check", "run"],
)
def test_a_command_imports_only_what_it_uses(arguments: list[str], most: int, without: set[str]) -> None:
    imported(arguments)  # after this one the program is kept as it was parsed
    modules = imported(arguments)
    assert sorted(without & modules) == []
    assert len(modules) <= most, f"{len(modules)} modules; what is new, and is it needed?"


@pytest.mark.parametrize(
    "arguments",
    [
        "run p.dl --local", "run --local p.dl -F facts -D out", "run p.dl -F f --local -D - -j 2 -w -p prof.json -v",
        "run p.dl --fact-dir f --output-dir - --jobs auto --no-warn --profile x --verbose --local",
    ],
)  # fmt: skip
def test_plain_options_mean_what_typer_makes_of_them(arguments: str) -> None:
    words = arguments.split()
    plain = plain_run(words)
    assert plain is not None
    command = get_command(command_line(words)).commands["run"]
    parsed = command.make_context("run", words[1:]).params
    defaults = command.make_context("run", ["p.dl"]).params
    assert plain == {name: value for name, value in parsed.items() if value != defaults[name] or name in plain}
    ours = {name: one.default for name, one in signature(run_program).parameters.items() if name != "program"}
    assert ours == {name: None if value == () else value for name, value in defaults.items() if name != "program"}


@pytest.mark.parametrize(
    "arguments",
    [
        "run p.dl", "run --local", "run p.dl q.dl --local", "run p.dl --local -F", "run p.dl --local -F a -F b",
        "run p.dl --local --help", "run p.dl --local -Ffacts", "run p.dl --local -j -2", "check p.dl --local", "",
        "run p.dl --local --state s", "run -- p.dl --local",
    ],
)  # fmt: skip
def test_whatever_is_unusual_is_left_to_typer(arguments: str) -> None:
    assert plain_run(arguments.split()) is None


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    assert list(SUMMARIES) == list(COMMANDS)
    for name in COMMANDS:
        (real,) = get_command(command_line([name, "…"])).commands.values()
        listed = get_command(command_line(["--help"])).commands[name]
        assert listed.get_short_help_str(300) == real.get_short_help_str(300)
