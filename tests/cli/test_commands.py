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


def test_a_profile_is_written_and_shown(reach: Path) -> None:
    done = tidelog("run", "reach.dl", "-F", "facts", "-D", "out", "-p", "profile.json", "--local", cwd=reach)
    assert done.returncode == 0
    data = json.loads((reach / "profile.json").read_text())
    assert {r["rule"] for r in data["records"]} == {0, 1}
    assert sum(r["tuples"] for r in data["records"]) == 3
    shown = tidelog("profile", "profile.json", cwd=reach)
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
