"""The commands as a user runs them: real processes, real files."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.command import tidelog
from reach import REACH


@pytest.fixture
def reach(tmp_path: Path) -> Path:
    (tmp_path / "reach.dl").write_text(REACH + ".printsize path\n")
    (tmp_path / "facts").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "facts" / "edge.facts").write_text("1\t2\n2\t3\n")
    return tmp_path


def test_run_reads_facts_and_writes_results(reach: Path) -> None:
    done = tidelog("run", "reach.dl", "-F", "facts", "-D", "out", "--local", cwd=reach)
    assert (done.returncode, done.stdout, done.stderr) == (0, "path\t3\n", "")
    assert (reach / "out" / "path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"


def test_run_prints_with_a_dash(reach: Path) -> None:
    done = tidelog("run", "reach.dl", "-F", "facts", "-D-", "--local", cwd=reach)
    assert done.returncode == 0
    frame = "---------------\npath\nfrom\tto\n===============\n1\t2\n1\t3\n2\t3\n===============\n"
    assert done.stdout == frame + "path\t3\n"


def test_running_twice_gives_the_same_files(reach: Path) -> None:
    first = tidelog("run", "reach.dl", "-F", "facts", "-D", "out", "-j", "2", "--local", cwd=reach)
    before = (reach / "out" / "path.csv").read_bytes()
    second = tidelog("run", "reach.dl", "-F", "facts", "-D", "out", "--local", cwd=reach)
    assert (first.returncode, second.returncode) == (0, 0)
    assert (reach / "out" / "path.csv").read_bytes() == before


def test_all_mistakes_are_shown_at_once_without_a_traceback(tmp_path: Path) -> None:
    program = tmp_path / "bad.dl"
    program.write_text(".decl p(x: number)\np(x) :- q(x).\np(y) :- p(x).\np(1, 2).\n")
    done = tidelog("run", program, "--local")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "relation `q` is not declared" in done.stderr
    assert "TL0203" in done.stderr
    assert done.stderr.count("error[") >= 3


def test_a_missing_program_is_named() -> None:
    done = tidelog("check", "nowhere.dl")
    assert done.returncode == 1
    assert "cannot read nowhere.dl: there is no such file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_fact_file_says_where_it_was_sought(reach: Path) -> None:
    (reach / "facts" / "edge.facts").unlink()
    done = tidelog("run", "reach.dl", "-F", "facts", "--local", cwd=reach)
    assert done.returncode == 1
    assert "facts/edge.facts" in done.stderr
    assert "-F" in done.stderr


def test_a_malformed_fact_is_shown_with_its_line(reach: Path) -> None:
    (reach / "facts" / "edge.facts").write_text("1\t2\n2\tx\n3\n4\t5\n")
    done = tidelog("run", "reach.dl", "-F", "facts", "-D", "out", "--local", cwd=reach)
    assert done.returncode == 1
    assert "facts/edge.facts:2:3" in done.stderr
    assert "facts/edge.facts:3" in done.stderr
    assert not (reach / "out" / "path.csv").exists()


def test_malformed_facts_can_be_skipped_and_are_counted(reach: Path) -> None:
    (reach / "facts" / "edge.facts").write_text("1\t2\n2\tx\n3\n4\t5\n")
    done = tidelog("run", "reach.dl", "-F", "facts", "-D", "out", "--skip-bad-rows", "--local", cwd=reach)
    assert done.returncode == 0
    assert "2" in done.stderr
    assert (reach / "out" / "path.csv").read_text() == "1\t2\n4\t5\n"


def test_check_says_that_all_is_well(reach: Path) -> None:
    done = tidelog("check", "reach.dl", cwd=reach)
    assert done.stdout == "reach.dl: 2 rules over 2 relations in 2 strata, no errors\n"


def test_macros_and_include_folders_reach_the_preprocessor(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "decls.dl").write_text(".decl p(x: number)\n")
    (tmp_path / "main.dl").write_text('.include "decls.dl"\n#ifdef EXTRA\np(VALUE).\n#endif\n.printsize p\n')
    done = tidelog("run", "main.dl", "-I", "inc", "-M", "EXTRA VALUE=7", "-w", "--local", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "p\t1\n")


def test_warnings_are_shown_unless_they_are_switched_off(tmp_path: Path) -> None:
    program = tmp_path / "warn.dl"
    program.write_text(".decl p(x: number)\n.decl q(x: number)\nq(x) :- p(x).\n")
    assert "warning[" in tidelog("check", program).stderr
    assert tidelog("check", "-w", program).stderr == ""


def test_the_rules_that_a_session_goes_by_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / "asks.dl").write_text(
        ".decl e(x: number, y: number)\n.input e\n.decl p(x: number, y: number)\np(x, y) :- e(x, y), e(y, _).\n"
    )
    done = tidelog("plan", "asks.dl", "--state", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "stratum e@(0) reads e\n  e@(0)(c0) :- e(c0, _).\nstratum p reads e, e@(0)\n  p(x, y) :- e(x, y), e@(0)(y).\n"
    )


def test_a_profile_is_written_and_shown(reach: Path) -> None:
    done = tidelog("run", "reach.dl", "-F", "facts", "-D", "out", "-p", "profile.json", "--local", cwd=reach)
    assert done.returncode == 0
    data = json.loads((reach / "profile.json").read_text())
    assert {task["text"] for task in data["tasks"]} == {
        "reading the facts", "path(x, y) :- edge(x, y).", "path(x, y) :- path(x, z), edge(z, y).", "reading edge",
        "entering the facts of edge", "planning", "bringing indexes up to date", "starting, and checking the program",
        "writing the results", "going from iteration to iteration",
    }  # fmt: skip
    assert sum(r["tuples"] for r in data["records"]) == 3
    shown = tidelog("profile", "profile.json", cwd=reach)
    assert shown.stdout.startswith("epoch 1, bootstrap (asked for): ")
    assert "path(x, y) :- path(x, z), edge(z, y)." in shown.stdout.replace("\n", "")
    page = tidelog("profile", "profile.json", "--html", "profile.html", cwd=reach)
    assert page.returncode == 0
    assert "<svg" in (reach / "profile.html").read_text()


def test_a_profile_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    done = tidelog("profile", "x.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "x.json is not a profile" in done.stderr


def test_functors_come_from_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def inc(x):\n    return x + 1\n")
    (tmp_path / "f.dl").write_text(".functor inc(x: number): number\n.decl p(x: number)\np(@inc(1)).\n.output p\n")
    done = tidelog("run", "f.dl", "--functors", "f.py", "-D-", "--local", cwd=tmp_path)
    assert done.returncode == 0
    assert "\n2\n" in done.stdout


def test_a_diverging_run_ends_at_its_time_limit(tmp_path: Path) -> None:
    (tmp_path / "count.dl").write_text(".decl n(x: number)\nn(0).\nn(x + 1) :- n(x).\n")
    done = tidelog("run", "count.dl", "--timeout", "1", "--local", cwd=tmp_path)
    assert done.returncode == 1
    assert "TL0902" in done.stderr
    assert "the time limit of 1 s was reached in iteration" in done.stderr


def test_a_run_that_outgrows_its_memory_ends_with_an_error_and_no_traceback(tmp_path: Path) -> None:
    rules = "n(0, 0).\nn(x + 1, y) :- n(x, y).\nn(x, y + 1) :- n(x, y).\n"
    (tmp_path / "count.dl").write_text(f".decl n(x: number, y: number)\n{rules}")
    done = tidelog("run", "count.dl", "--max-memory", "200M", "--local", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[TL0903]: the memory limit of 200 MiB was reached in iteration" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_limit_on_memory_that_is_none_is_refused_unless_it_is_called_none(tmp_path: Path) -> None:
    (tmp_path / "one.dl").write_text(".decl n(x: number)\nn(0).\n.output n\n")
    assert tidelog("run", "one.dl", "--max-memory", "none", "--local", cwd=tmp_path).returncode == 0
    done = tidelog("run", "one.dl", "--max-memory", "much", "--local", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[TL0911]: 'much' is no amount of memory" in done.stderr


def test_an_interrupt_ends_cleanly_and_says_how_far_it_got(tmp_path: Path) -> None:
    (tmp_path / "count.dl").write_text(".decl n(x: number)\nn(0).\nn(x + 1) :- n(x).\n.output n\n")
    command = [sys.executable, "-m", "tidelog.cli.main", "run", "count.dl", "--timeout", "60", "--local"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=_listen_to_interrupts)
    assert child.stderr is not None
    for line in child.stderr:  # progress appears after two seconds: now it certainly runs
        if "iteration" in line:
            break
    os.kill(child.pid, signal.SIGINT)
    deadline = time.monotonic() + 30
    rest = child.stderr.read()
    assert child.wait(timeout=max(1.0, deadline - time.monotonic())) == 130
    assert "interrupted after" in rest
    assert "Traceback" not in rest
    assert not (tmp_path / "n.csv").exists()


def _listen_to_interrupts() -> None:
    """A shell starts its background jobs deaf to interrupts, and their children would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_the_version_is_shown() -> None:
    done = tidelog("--version")
    assert done.stdout.startswith("tidelog 0.")


def test_the_plan_with_facts_has_the_orders_that_these_facts_get_and_the_indexes_that_were_built(
    tmp_path: Path,
) -> None:
    (tmp_path / "join.dl").write_text(
        ".decl big(x: number, y: number)\n.decl small(y: number, z: number)\n.input big, small\n"
        ".decl out(x: number, z: number)\n.output out\nout(x, z) :- big(x, y), small(y, z).\n"
    )
    rows = "".join(f"{n}\t{n % 50}\n" for n in range(3000))
    for large, other in (("big", "small"), ("small", "big")):
        (tmp_path / f"{large}.facts").write_text(rows)
        (tmp_path / f"{other}.facts").write_text("1\t2\n")
        done = tidelog("plan", "join.dl", "-F", ".", cwd=tmp_path)
        steps = [line.split("[")[0].strip() for line in done.stdout.splitlines() if "[" in line]
        assert steps == [f"scan {other}", f"probe {large}"]
        assert [line for line in done.stdout.splitlines() if line.startswith("index")] == [
            f"index {large}(y): 3,000 rows"
        ]


def test_the_plan_of_a_session_has_its_updates_and_says_what_is_evaluated_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "count.dl").write_text(
        ".decl e(x: number, y: number)\n.input e\n.decl n(c: number)\n.output n\nn(c) :- c = count : { e(_, _) }.\n"
        '.decl t(s: symbol)\n.output t\nt(cat("n", to_string(c))) :- n(c).\n'
        ".decl k(x: number, y: number) choice-domain x\nk(x, y) :- e(x, y).\n"
    )
    (tmp_path / "e.facts").write_text("1\t2\n1\t3\n")
    done = tidelog("plan", "count.dl", "-F", ".", "--strategy", "elastic", cwd=tmp_path)
    assert "evaluated as a whole: a choice-domain" in done.stdout
    assert "with steps in Python" in done.stdout
    assert "when tuples of n@count0.1 change" in done.stdout
    for strategy, occasion in (("update-paper", "scan n@plus["), ("counting", "when tuples come to n")):
        other = tidelog("plan", "count.dl", "-F", ".", "--strategy", strategy, cwd=tmp_path)
        assert (other.returncode, occasion in other.stdout) == (0, True), other.stdout + other.stderr
    refused = tidelog("plan", "count.dl", "--strategy", "elastic", cwd=tmp_path)
    assert refused.returncode != 0
    assert "depend on the facts" in refused.stderr


@pytest.mark.parametrize(
    ("command", "said", "advice"),
    [
        (
            ["run", "x.dl", "--timeout", "abc"],
            "invalid value for `--timeout`: it takes a number",
            "`tidelog run --help`",
        ),
        (["run", "x.dl", "--timeot", "3"], "no such option: --timeot", "did you mean `--timeout`?"),
        (["run"], "missing argument `program`", "`tidelog run --help` shows what it takes"),
        (["runn"], "no such command `runn`", "did you mean `run`?"),
        (["net", "chek"], "no such command `chek`", "did you mean `check`?"),
    ],
)
def test_a_command_that_is_none_is_refused_as_all_else(command: list[str], said: str, advice: str) -> None:
    done = tidelog(*command)
    first, second = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert first == f"error[TL1901]: {said}"
    assert second.startswith(f"  help: {advice}")


def test_a_number_of_threads_that_is_none_is_refused(reach: Path) -> None:
    done = tidelog("run", "reach.dl", "-j", "zero", "--local", cwd=reach)
    assert done.stderr == "error[TL1902]: `-j zero` is no number of threads\n  help: give 1, 2, … or auto\n"


def test_without_a_command_the_help_is_shown_once() -> None:
    done = tidelog()
    assert done.returncode == 2
    assert (done.stdout + done.stderr).count("Usage: tidelog [OPTIONS] COMMAND") == 1


def test_check_refuses_what_run_would_refuse(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text(".decl r(x: number)\n.input r\n.decl d = debug_delta(r)\n.output d\n")
    done = tidelog("check", program)
    assert done.returncode == 1
    assert "not supported yet: `debug_delta`" in done.stderr


def test_legacy_programs_are_told_by_a_pragma_or_an_option(tmp_path: Path) -> None:
    text = '.type Old\n.decl s(x: symbol)\ns("a").\n.decl old(x: Old)\nold(x) :- s(x).\n.output old\n'
    (tmp_path / "new.dl").write_text(text)
    (tmp_path / "old.dl").write_text('.pragma "legacy"\n' + text)
    assert "TL0321" in tidelog("check", "new.dl", cwd=tmp_path).stderr
    for arguments in (("new.dl", "--legacy"), ("old.dl",)):
        done = tidelog("run", *arguments, "-D-", "--local", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\na\n" in done.stdout


PARTS = """
.decl edge(a: number, b: number)
.input edge
.decl elsewhere(a: number)
.input elsewhere
.decl path(a: number, b: number)
path(a, b) :- edge(a, b).
path(a, c) :- path(a, b), edge(b, c).
.output path
.decl small(x: number) inline
small(x) :- elsewhere(x), x < 3.
.decl unasked(a: number)
path(a, a), unasked(a) :- edge(a, _), !edge(_, a).
unasked(1 / (a - a)) :- small(a).
unasked(1 / (a - a)) :- path(a, _).
"""


def test_a_run_reads_and_evaluates_only_what_its_outputs_need(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PARTS)
    (tmp_path / "edge.facts").write_text("1\t2\n")
    done = tidelog("run", "p.dl", "--local", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "path.csv").read_text() == "1\t1\n1\t2\n"
    told = tidelog("run", "p.dl", "--local", "-v", cwd=tmp_path)
    assert told.returncode == 0
    assert "no output needs 3 relations" in told.stderr
    assert "`elsewhere`, `small`, `unasked`" in told.stderr


def test_a_run_that_keeps_a_state_keeps_everything(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PARTS)
    (tmp_path / "edge.facts").write_text("1\t2\n")
    done = tidelog("run", "p.dl", "--local", "--state", "kept", cwd=tmp_path)
    assert done.returncode == 1
    assert "elsewhere.facts" in done.stderr
