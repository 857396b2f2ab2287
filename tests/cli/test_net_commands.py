"""`tidelog net` as a user runs it: real processes, real files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cli.command import tidelog

EXAMPLES = Path(__file__).parents[2] / "examples" / "net"
HOP = "hop(@X,Y) :- link(@X,Z), link(@Z,Y), X != Y.\n"


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What it says on standard error but the progress of a slow run."""
    return [line for line in done.stderr.splitlines() if not line.startswith("…")]


def columns(line: str) -> list[str]:
    return line.split()[:-1]  # without the seconds


@pytest.fixture
def hop(tmp_path: Path) -> Path:
    (tmp_path / "hop.ndlog").write_text(HOP)
    (tmp_path / "hop.updates").write_text("-link(@n0,n1)\n-link(@n1,n0)\n\n+link(@n0,n1), +link(@n1,n0)\n")
    return tmp_path / "hop.ndlog"


def test_a_network_converges_at_the_start_and_after_each_burst(hop: Path) -> None:
    done = tidelog("net", "run", hop, "--topology", "ring:4", "--updates", hop.with_suffix(".updates"),
                   "--schedule", "random", "--seed", 7, "--show", "hop")  # fmt: skip
    assert (done.returncode, complaints(done)) == (0, [])
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["burst", "updates", "messages", "bytes", "rounds", "seconds"]
    assert columns(lines[1])[0] == "start"
    assert [columns(line)[0] for line in lines[2:4]] == ["1", "2"]
    assert lines[4] == "converged on 4 nodes (PSN, random): hop 4, link 8"
    assert lines[5:] == ["hop(n0,n2)", "hop(n1,n3)", "hop(n2,n0)", "hop(n3,n1)"]


UNTIMED = sorted(p.stem for p in EXAMPLES.glob("*.ndlog") if "periodic" not in p.read_text())


@pytest.mark.parametrize("stem", UNTIMED)
def test_every_example_runs_in_one_process_and_in_two(stem: str) -> None:
    files = [
        EXAMPLES / f"{stem}.ndlog",
        "--facts",
        EXAMPLES / f"{stem}.facts",
        "--updates",
        EXAMPLES / f"{stem}.updates",
    ]
    one = tidelog("net", "run", *files, "-w", "--schedule", "random", "--seed", 7)
    two = tidelog("net", "run", *files, "-w", "--schedule", "random", "--seed", 7, "--processes", 2)
    assert (one.returncode, complaints(one), two.returncode, complaints(two)) == (0, [], 0, [])
    ends = [run.stdout.splitlines()[-1].replace(", 2 processes", "") for run in (one, two)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_leaves_a_trace_and_a_page(hop: Path, processes: int) -> None:
    trace, page = hop.with_suffix(".jsonl"), hop.with_suffix(".html")
    done = tidelog("net", "run", hop, "-t", "ring:4", "--trace", trace, "--html", page, "--processes", processes)
    assert (done.returncode, complaints(done)) == (0, [])
    records = [json.loads(line) for line in trace.read_text().splitlines()]
    assert (records[0]["kind"], records[-1]["kind"]) == ("network", "converged")
    assert page.read_text().startswith("<!doctype html>")


def test_messages_over_slow_links_arrive_later(tmp_path: Path) -> None:
    """Three neighbours tell a; the delays say in which order it hears them."""
    program = tmp_path / "tell.ndlog"
    program.write_text("heard(@Y,X) :- link(@X,Y).\nlink(@b,a).\nlink(@c,a).\nlink(@d,a).\n")
    (tmp_path / "delays.txt").write_text("directed\nb a 5\nc a 0.5\n")
    trace = tmp_path / "run.jsonl"
    done = tidelog("net", "run", program, "--schedule", "delays", "--delays", tmp_path / "delays.txt", "--trace", trace)
    assert (done.returncode, complaints(done)) == (0, [])
    steps = [r for r in map(json.loads, trace.read_text().splitlines()) if r.get("node") == "a"]
    assert [update for step in steps for update in step["picked"]] == ["+heard(a,c)", "+heard(a,d)", "+heard(a,b)"]


def test_the_checker_says_that_all_runs_end_alike(tmp_path: Path) -> None:
    (tmp_path / "one.updates").write_text("-link(@b,c)\n")
    done = tidelog("net", "check", EXAMPLES / "reachability.ndlog", "--facts", EXAMPLES / "reachability.facts",
                   "--updates", tmp_path / "one.updates")  # fmt: skip
    note = "note: the recursion of `reachable`: no column is shown to move on around every cycle of rules"
    assert (done.returncode, complaints(done)) == (0, [note])
    assert done.stdout.startswith("all runs reach the state of evaluation from scratch")


def test_the_checker_shows_a_run_that_goes_wrong_and_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "p.ndlog").write_text("p(@X) :- t(@X), t(@X).\n")
    (tmp_path / "p.updates").write_text("+t(@a)\n")
    done = tidelog("net", "check", tmp_path / "p.ndlog", "-U", tmp_path / "p.updates", "-a", "original")
    assert (done.returncode, complaints(done)) == (2, [])
    assert done.stdout.startswith("a run of original does not reach the state of SN")
    assert "+t(a)  ⟶  {p(a) × 2, t(a)}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--topology", "ring:x"], "TL1050"),
        (["--topology", "nowhere.json"], "TL1050"),
        (["--topology", "ring:3", "--link", "edge"], "TL1052"),
        (["--topology", "ring:3", "--schedule", "best"], "TL1042"),
        (["--topology", "ring:3", "--schedule", "starve"], "TL1042"),
        (["--topology", "ring:3", "--schedule", "starve", "--starve", "n9"], "TL1042"),
        (["--topology", "ring:3", "--algorithm", "guess"], "TL1044"),
        (["--topology", "ring:3", "--updates", "nowhere.updates"], "TL0115"),
        (["--topology", "ring:3", "--show", "hops"], "TL1040"),
        (["--topology", "ring:3", "--trace", "/nowhere/run.jsonl"], "TL1056"),
        (["--topology", "ring:3", "--limit", "5"], "TL1030"),
        (["--topology", "ring:3", "--limit", "5", "--processes", "2"], "TL1030"),
        (["--topology", "ring:3", "--schedule", "delays", "--delays", "nowhere.txt"], "TL1050"),
        (["--topology", "ring:3", "--delays", "nowhere.txt"], "TL1042"),
        ([], "TL1054"),
    ],
)
def test_a_mistake_ends_with_its_code_and_no_traceback(hop: Path, arguments: list[str], code: str) -> None:
    done = tidelog("net", "run", hop, *arguments)
    assert done.returncode == 1
    assert f"error[{code}]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistake_in_a_later_burst_shows_its_line(hop: Path) -> None:
    hop.with_suffix(".updates").write_text("+link(@a,b)\n\n// second\n\n+hop(@a,b)\n")
    done = tidelog("net", "run", hop, "-t", "ring:3", "-U", hop.with_suffix(".updates"))
    assert done.returncode == 1
    assert "hop.updates:5:2" in done.stderr


def test_the_checker_takes_a_topology_and_several_bursts(hop: Path) -> None:
    done = tidelog("net", "check", hop, "-t", "ring:3", "-U", hop.with_suffix(".updates"))
    assert (done.returncode, complaints(done)) == (0, [])
    assert done.stdout.startswith("all runs reach the state of evaluation from scratch")
    assert "hop(n0,n1)" in done.stdout
    none = tidelog("net", "check", hop, "-t", "ring:3")
    assert none.returncode == 1
    assert "error[TL1055]" in none.stderr


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_deletion_of_what_is_not_there_is_told_and_swallows_nothing(hop: Path, command: str) -> None:
    hop.with_suffix(".updates").write_text("-link(@n0,n7)\n\n+link(@n0,n7)\n")
    done = tidelog("net", command, hop, "-t", "ring:3", "-U", hop.with_suffix(".updates"))
    assert done.returncode == 0
    assert complaints(done) == ["  left out: -link(n0,n7), because the fact is not there"]
    assert "link 7" in done.stdout if command == "run" else "link(n0,n7)" in done.stdout


def test_a_key_makes_an_insertion_replace_the_fact_with_the_same_key(tmp_path: Path) -> None:
    program = tmp_path / "key.ndlog"
    program.write_text("materialize(link, infinity, infinity, keys(1,2)).\nout(@X,Y,C) :- link(@X,Y,C).\n")
    (tmp_path / "facts").write_text("link(@a,b,1). link(@a,c,1).")
    (tmp_path / "updates").write_text("+link(@a,b,5)\n\n-link(@a,b,5), +link(@a,c,2)\n")
    files = ["-F", tmp_path / "facts", "-U", tmp_path / "updates"]
    done = tidelog("net", "run", program, *files, "--show", "out")
    assert (done.returncode, complaints(done), done.stdout.splitlines()[-1]) == (0, [], "out(a,c,2)")
    assert tidelog("net", "check", program, *files).stdout.count("out(") == 1


def test_the_plan_of_a_network_program_is_what_its_nodes_run(hop: Path) -> None:
    done = tidelog("plan", hop)
    assert (done.returncode, complaints(done)) == (0, [])
    assert "aux(@X, Z, Y) :- link(@Z, Y), co_link(@Z, X), X != Y." in done.stdout


@pytest.mark.parametrize("processes", [1, 2])
def test_modules_of_the_working_folder_are_not_run(hop: Path, processes: int) -> None:
    for name in ("zmq", "random", "json", "tidelog"):
        (hop.parent / f"{name}.py").write_text("open('was_run', 'w').close()\nraise SystemExit('no')\n")
    done = tidelog("net", "run", hop.name, "-t", "ring:3", "--processes", processes, cwd=hop.parent)
    assert (done.returncode, complaints(done)) == (0, [])
    assert not (hop.parent / "was_run").exists()


def test_check_finds_what_is_wrong_with_a_network_program(tmp_path: Path) -> None:
    good, bad, far = (tmp_path / f"{name}.ndlog" for name in ("good", "bad", "far"))
    good.write_text(HOP)
    bad.write_text("p(@X,Y) :- q(@X).\nr(@X) :- q(@X), f_nothing(X) = 1.\n")
    far.write_text("p(@X) :- q(@X), r(@Y).\n")
    assert tidelog("check", good).stdout == f"{good}: 1 rules over 2 relations, no errors\n"
    wrong = tidelog("check", bad)
    assert wrong.returncode == 1
    assert "error[TL1003]" in wrong.stderr
    assert "error[TL1004]" in wrong.stderr
    assert "error[TL1020]" in tidelog("check", far).stderr


def test_a_lost_message_breaks_the_end_and_the_page_replays_it(tmp_path: Path) -> None:
    (tmp_path / "p.ndlog").write_text("p(@Y) :- e(@X,Y).")
    (tmp_path / "p.updates").write_text("+e(@a,b)")
    page = tmp_path / "lost.html"
    done = tidelog(
        "net", "check", tmp_path / "p.ndlog", "--updates", tmp_path / "p.updates", "--lose", 1, "--html", page
    )
    assert done.returncode == 2
    assert done.stdout.splitlines()[-2:] == [
        "  3. +p(b) from a to b is lost  ⟶  {e(a,b)}",
        "expected:  {e(a,b), p(b)}",
    ]
    assert "broken: finally" in page.read_text()
    fine = tidelog("net", "check", tmp_path / "p.ndlog", "--updates", tmp_path / "p.updates", "--eventually", "p(@b)")
    assert (fine.returncode, fine.stdout) == (
        0, "in all runs: eventually p(@b) (4 configurations, 3 transitions)\n"
    )  # fmt: skip


def test_a_program_about_time_that_breaks_a_property_ends_with_exit_code_2(tmp_path: Path) -> None:
    stem = EXAMPLES / "multicast_tree"
    files = (f"{stem}.ndlog", "--facts", f"{stem}.facts", "--updates", f"{stem}.updates", "--until", 30, "--seed", 7)
    done = tidelog("net", "run", *files, "--finally", "got(@e,again)", "--finally", "got(@e,hello)")
    assert done.returncode == 2
    assert done.stdout.splitlines()[-2:] == [
        "holds: finally got(@e,hello)", "broken: finally got(@e,again) does not hold at the end, at 30.00"
    ]  # fmt: skip


def test_faults_of_a_program_that_is_not_about_time_are_for_the_checker(hop: Path) -> None:
    done = tidelog("net", "run", hop, "--topology", "ring:3", "--lose", 0.5)
    assert done.returncode == 1
    assert "TL1068" in done.stderr


def test_prove_prints_the_derivation_of_a_fact_after_an_update(hop: Path, tmp_path: Path) -> None:
    (tmp_path / "facts").write_text("link(@a,b). link(@b,c).\n")
    (tmp_path / "updates").write_text("-link(@b,c), +link(@b,d)\n")
    given = ("net", "prove", hop, "--facts", tmp_path / "facts", "--updates", tmp_path / "updates")
    done = tidelog(*given, "--query", "hop(@a,d)")
    assert done.returncode == 0, done.stderr
    assert "pick -link(b,c)" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("rules, checked one by one")
    assert tidelog(*given, "--query", "hop(@a,c)").returncode == 2


def test_prove_says_when_there_is_nothing_to_derive_or_no_end_of_it(hop: Path, tmp_path: Path) -> None:
    nothing = tidelog("net", "prove", hop)
    assert (nothing.returncode, "TL1093" in nothing.stderr) == (1, True)
    (tmp_path / "reach.ndlog").write_text("r1 p(@X,Y) :- e(@X,Y).\nr2 p(@X,Y) :- e(@X,Z), p(@Z,Y).\n")
    (tmp_path / "cycle").write_text("e(@a,b). e(@b,a).\n")
    endless = tidelog("net", "prove", tmp_path / "reach.ndlog", "--facts", tmp_path / "cycle", "--limit", 1000)
    assert (endless.returncode, "TL1030" in endless.stderr) == (1, True)
