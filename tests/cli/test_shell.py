"""`tidelog shell` as a user runs it: scripts on standard input, and a person at a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.command import tidelog
from reach import REACH
from tidelog.cli.interpreter import Interpreter
from tidelog.cli.shell_help import meant
from tidelog.cli.statements import Statements
from tidelog.errors import TidelogError
from tidelog.session import Session

CITIES = """
.decl Edge(s: symbol, t: symbol)
.input Edge
.decl Path(s1: symbol, s2: symbol)
.output Path
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, w), Edge(w, z).
"""
COMMAND = [sys.executable, "-m", "tidelog.cli.main", "shell"]


def shell(program: str, script: str, folder: Path, *args: str | Path) -> subprocess.CompletedProcess[str]:
    (folder / "p.dl").write_text(program)
    return tidelog("shell", "p.dl", *args, cwd=folder, stdin=script)


def printed(program: str, script: str, folder: Path, *args: str | Path) -> str:
    done = shell(program, script, folder, *args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# ---- scripts


def test_a_long_chain_of_equals_is_no_trouble(tmp_path: Path) -> None:
    """All pairs of it would take 6.4 GB."""
    program = """
    .decl link(x: number, y: number) .input link
    .decl same(x: number, y: number) eqrel
    same(x, y) :- link(x, y).
    .decl friends(n: number) .output friends
    friends(n) :- n = count : { same(7, _) }.
    """
    (tmp_path / "link.facts").write_text("".join(f"{i}\t{i + 1}\n" for i in range(19_999)))
    script = "start; delete link(4999, 5000); commit; dump friends; same(0, X), X > 4997?\n"
    out = printed(program, script, tmp_path, "-F", tmp_path, "--max-memory", "1G")
    assert "friends{.n = 5000}" in out
    assert "4999" in out


def test_a_script_of_ddlog_runs_and_prints_what_ddlog_prints(tmp_path: Path) -> None:
    script = """# the example of DDlog's tutorial
start;

insert Edge("Palo Alto", "Palo Alto"),
insert Edge("Palo Alto", "Redwood City"),
insert Edge("Redwood City", "San Bruno");

commit;
dump;
echo Printing Path relation only;
dump Path;
start; delete Edge(.t = "San Bruno", .s = "Redwood City"), insert Edge["a \\"b\\"; #", "c"];
"""
    script = script.replace('Edge["a \\"b\\"; #", "c"]', 'Edge[("a \\"b\\"; #", "c")]') + "commit dump_changes;\n"
    assert printed(CITIES, script, tmp_path) == (
        "Path:\n"
        'Path{.s1 = "Palo Alto", .s2 = "Palo Alto"}\n'
        'Path{.s1 = "Palo Alto", .s2 = "Redwood City"}\n'
        'Path{.s1 = "Palo Alto", .s2 = "San Bruno"}\n'
        'Path{.s1 = "Redwood City", .s2 = "San Bruno"}\n'
        "\n"
        "Printing Path relation only\n"
        'Path{.s1 = "Palo Alto", .s2 = "Palo Alto"}\n'
        'Path{.s1 = "Palo Alto", .s2 = "Redwood City"}\n'
        'Path{.s1 = "Palo Alto", .s2 = "San Bruno"}\n'
        'Path{.s1 = "Redwood City", .s2 = "San Bruno"}\n'
        "Path:\n"
        'Path{.s1 = "Palo Alto", .s2 = "San Bruno"}: -1\n'
        'Path{.s1 = "Redwood City", .s2 = "San Bruno"}: -1\n'
        'Path{.s1 = "a \\"b\\"; #", .s2 = "c"}: +1\n'
    )


def test_the_last_thing_said_about_a_fact_counts(tmp_path: Path) -> None:
    script = """
    start; insert edge(1, 2); delete edge(1, 2); insert edge(3, 4), delete edge(3, 4), insert edge(3, 4), commit;
    dump edge;
    start; delete edge(3, 4), insert edge(3, 4); commit dump_changes; dump edge;
    """
    assert printed(REACH, script, tmp_path) == "edge{.from = 3, .to = 4}\n" * 2


def test_a_transaction_can_be_rolled_back(tmp_path: Path) -> None:
    script = "start; insert edge(1, 2); rollback; start; insert edge(2, 3); commit; dump path;"
    assert printed(REACH, script, tmp_path) == "path{.from = 2, .to = 3}\n"


def test_clearing_a_relation_forgets_its_facts_and_what_was_said_before(tmp_path: Path) -> None:
    script = """
    start; insert edge(1, 2), insert edge(2, 3); commit;
    start; insert edge(7, 8); clear edge; insert edge(2, 3), insert edge(5, 6); commit dump_changes;
    """
    assert printed(REACH, script, tmp_path) == (
        "path:\npath{.from = 1, .to = 2}: -1\npath{.from = 1, .to = 3}: -1\npath{.from = 5, .to = 6}: +1\n"
    )


def test_queries_end_with_a_question_mark_or_begin_with_one(tmp_path: Path) -> None:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "edge.facts").write_text("1\t2\n2\t3\n")
    script = 'path(1, X)?\n?- path(X, Y),\n   X > 1.\npath(1, 3)? path(3, 1)?\npath(9, X)?\nX = cat("a", ".b?")?\n'
    assert printed(REACH, script, tmp_path, "-F", "facts") == (
        'X = 2\nX = 3\nX = 2, Y = 3\ntrue\nfalse\nfalse\nX = "a.b?"\n'
    )


def test_values_of_every_kind(tmp_path: Path) -> None:
    program = """
    .type List = [head: number, tail: List]
    .type Shape = Point {} | Box {width: number, name: symbol}
    .decl r(n: number, u: unsigned, f: float, s: symbol, l: List, b: Shape)
    .input r
    """
    (tmp_path / "long.txt").write_text("from a file")
    script = """start;
    insert r(-1_000, 0xff, 1.5e1, "tab\\t", (1, [2, nil]), Box{.name = "x", .width = 3}),
    insert r(true, 1, 2, %"long.txt", nil, Point),
    insert r(3, 1, .5, "", List{.head = 7, .tail = nil}, $Box(4, "y")),
    insert r(4, 1, 0.0, @json"\\"j\\"", @json"[8, null]", $Point);
    commit; dump r;
    """
    assert printed(program, script, tmp_path) == (
        'r{.n = -1000, .u = 255, .f = 15.0, .s = "tab\\t", .l = [1, [2, nil]], .b = $Box(3, x)}\n'
        'r{.n = 1, .u = 1, .f = 2.0, .s = "from a file", .l = nil, .b = $Point}\n'
        'r{.n = 3, .u = 1, .f = 0.5, .s = "", .l = [7, nil], .b = $Box(4, y)}\n'
        'r{.n = 4, .u = 1, .f = 0.0, .s = "j", .l = [8, nil], .b = $Point}\n'
    )


def test_relations_without_attributes(tmp_path: Path) -> None:
    program = ".decl on()\n.input on\n.decl off()\noff() :- !on().\n"
    script = "off()? start; insert on(); commit dump_changes; off()? dump;"
    assert printed(program, script, tmp_path) == "true\non:\non{}: +1\noff:\noff{}: -1\nfalse\non:\non{}\n\noff:\n\n"


def test_smaller_commands(tmp_path: Path) -> None:
    script = "echo;echo a  b; timestamp; sleep 1; mssleep 1; ; profile; exit; echo never;"
    lines = printed(REACH, script, tmp_path).splitlines()
    assert lines[:2] == ["", "a  b"]
    assert re.fullmatch(r"Timestamp: [0-9]+", lines[2])
    assert lines[3:] == ["Profile:", "edge: 0 tuples", "path: 0 tuples"]


def test_commits_are_reported_from_log_level_one_on(tmp_path: Path) -> None:
    script = "start; insert edge(1, 2); commit; log_level 1; start; insert edge(1, 2), insert edge(2, 3); commit;"
    done = shell(REACH, script, tmp_path, "--strategy", "batch")
    assert done.returncode == 0
    assert re.fullmatch(
        r"epoch 3: batch \(.*\), [0-9]+ derivations in .* ms; edge \+1, path \+2; 1 changes ignored\n", done.stderr
    )


def test_functors_macros_and_strictness_come_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def inc(x):\n    return x + 1\n")
    program = ".functor inc(x: number): number\n.decl p(x: number)\n.input p\n.decl q(x: number)\nq(@inc(N)) :- p(_).\n"
    script = "start; insert p(1); commit; q(X)? start; insert p(1); commit;"
    done = shell(program, script, tmp_path, "--functors", "f.py", "-M", "N=41", "--strict")
    assert (done.returncode, done.stdout) == (1, "X = 42\n")
    assert "error[TL1105]: p(1) was to be inserted and is there already" in done.stderr


def test_help_lists_the_commands_and_the_relations(tmp_path: Path) -> None:
    shown = printed(REACH, "help;", tmp_path)
    assert "commit dump_changes;" in shown
    assert shown.endswith("Facts are given to: edge.\nResults are: path.\n")


def test_quit_is_exit_and_show_is_dump(tmp_path: Path) -> None:
    script = "start; insert edge(1, 2); commit; show path; quit; echo not reached;"
    assert printed(REACH, script, tmp_path) == "path{.from = 1, .to = 2}\n"


def test_a_query_may_have_a_semicolon_behind_it(tmp_path: Path) -> None:
    assert (
        printed(REACH, "start; insert edge(1, 2); commit; edge(1, X)?; ?- edge(1, X).;", tmp_path) == "X = 2\nX = 2\n"
    )


@pytest.mark.parametrize(
    ("said", "meaning"),
    [("exit", "exit;"), (".help", "help;"), ("quit()", "exit;"), ("?", "help;"), ("edge(1, 2)", "edge(1, 2)")],
)
def test_a_word_at_the_prompt_needs_no_semicolon(said: str, meaning: str) -> None:
    assert meant(said) == meaning


# ---- mistakes in scripts


@pytest.mark.parametrize(
    ("script", "message", "place"),
    [
        ("start;\ninsert edge(1 2);", "unexpected", "<stdin>:2:15"),
        ("start; comit;", "there is no command `comit`", "<stdin>:1:8"),
        ("path(1, X);", "there is no command `path`", "<stdin>:1:1"),
        ("\n  insert edge(1, 2);", "no transaction is open", "<stdin>:2:3"),
        ("start;\nstart;", "a transaction is open already", "<stdin>:2:1"),
        ("commit;", "no transaction is open", "<stdin>:1:1"),
        ('start;\n\ninsert edge(1, "a");', "'a' is not a number", "<stdin>:3:1"),
        ("start; insert edge(x, 2);", "x is not a number", "<stdin>:1:8"),
        ("start; insert edg(1, 2);", "did you mean `edge`?", "<stdin>:1:8"),
        ("start; insert path(1, 2);", "is not an input", "<stdin>:1:8"),
        ("start; insert edge(.from = 1, .too = 2);", "no column `to`, an unknown column `too`", "<stdin>:1:8"),
        ("start; clear path;", "is not an input", "<stdin>:1:8"),
        ("dump pth;", "did you mean `path`?", "<stdin>:1:1"),
        ("echo x;\n  path(1, Y), Z > 2?", "unsafe variable `Z`", "<stdin>:2:15"),
        ("start; insert_or_update edge(1, 2);", "needs a primary key", "<stdin>:1:8"),
        ("clear;", "`clear edge;`", "<stdin>:1:1"),
        ("edge(1, 2).", "`start; insert edge(1, 2); commit;`", "<stdin>:1:1"),
        ("path(x, y) :- edge(x, y).", "belongs into the program", "<stdin>:1:1"),
        (".help;", "did you mean `help`?", "<stdin>:1:1"),
        ("query_index e(1);", "needs a declared index", "<stdin>:1:1"),
        ('start; insert edge(%"none.txt", 2);', "cannot read none.txt", "<stdin>:1:20"),
    ],
)
def test_an_error_names_its_line_and_column(script: str, message: str, place: str) -> None:
    with Session(REACH) as session:
        session.bootstrap({})
        interpreter, statements = Interpreter(session), Statements("<stdin>")
        found = list(statements.feed(script + "\n"))
        for statement in found[:-1]:
            interpreter.run(statement)
        with pytest.raises(TidelogError) as raised:
            interpreter.run(found[-1])
        assert message in str(raised.value)
        assert place in str(raised.value)


def test_a_script_ends_at_its_first_error(tmp_path: Path) -> None:
    done = shell(REACH, "echo before;\nstart; insert edge(1 2);\necho after;\n", tmp_path)
    assert (done.returncode, done.stdout) == (1, "before\n")
    assert "<stdin>:2:22" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("script", ["start; insert edge(1, 2)", 'echo x; path("a'])
def test_a_script_that_ends_inside_a_command_is_an_error(tmp_path: Path, script: str) -> None:
    done = shell(REACH, script, tmp_path)
    assert done.returncode == 1
    assert "the script ends inside a command" in done.stderr
    assert f"<stdin>:1:{script.index(';') + 3}" in done.stderr


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (b'start; insert p("\xff", nil);', "has characters that are not valid text"),
        (b'start; insert p("a", ' + b"[1," * 5000 + b"nil" + b"]" * 5000 + b");", "nested too deeply"),
        (b'start; insert p("a", @json"' + b"[" * 100_000 + b'");', "nested too deeply"),
        (b"start; insert p(" + b"9" * 5000 + b", nil);", "this number has more than 1000 digits"),
        (b"\xfe\xff;", "there is no command"),
        (b"p(" + b"(" * 2000 + b"1?\n", "TL01"),
    ],
    ids=["bytes", "nested", "json", "digits", "command", "query"],
)
def test_nonsense_gets_an_error_and_no_traceback(tmp_path: Path, script: bytes, message: str) -> None:
    (tmp_path / "p.dl").write_text(".type L = [n: number, l: L]\n.decl p(s: symbol, l: L)\n.input p\n")
    done = tidelog("shell", "p.dl", cwd=tmp_path, stdin=script)
    assert (done.returncode, message in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr


def test_all_errors_of_a_list_of_changes_are_shown_and_none_of_it_is_applied(tmp_path: Path) -> None:
    script = 'start;\ninsert edge(1, 2),\ninsert edge("a", 2),\ninsert edg(1, 2),\ninsert edge(1);\n'
    done = shell(REACH, script, tmp_path)
    assert done.returncode == 1
    assert [place in done.stderr for place in ("<stdin>:2", "<stdin>:3", "<stdin>:4", "<stdin>:5")] == [
        False, True, True, True,
    ]  # fmt: skip


def test_uncommitted_changes_are_lost_with_a_word(tmp_path: Path) -> None:
    done = shell(REACH, "start; insert edge(1, 2), insert edge(2, 3);", tmp_path)
    assert (done.returncode, done.stderr) == (0, "2 changes were not committed and are lost\n")


def test_mistakes_in_the_program_or_the_options_are_told_like_everywhere(tmp_path: Path) -> None:
    done = shell(REACH + "path(z, 1) :- edge(1, 2).\n", "", tmp_path)
    assert done.returncode == 1
    assert "TL0203" in done.stderr
    done = shell(REACH, "", tmp_path, "--strategy", "elastik")
    assert (done.returncode, "did you mean `elastic`?" in done.stderr) == (1, True)
    done = shell(REACH, "", tmp_path, "-F", "nowhere")
    assert (done.returncode, "nowhere/edge.facts" in done.stderr) == (1, True)


def test_results_come_while_the_script_is_still_being_written(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(REACH)
    child = subprocess.Popen(
        [*COMMAND, "p.dl"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert child.stdin is not None
    assert child.stdout is not None
    for number in range(3):
        child.stdin.write(f"start; insert edge({number}, {number + 1}); commit dump_changes; echo done;\n")
        assert "done\n" in iter(child.stdout.readline, "")
    child.stdin.close()
    assert child.wait(timeout=60) == 0


# ---- where statements end


@pytest.mark.parametrize("cut", ["whole", "lines", "characters"])
def test_statements_are_found_however_the_script_arrives(cut: str) -> None:
    script = (
        'start;\n# a; comment\ninsert e(1, "a;,?"), # b;\ninsert e([1,\n2], x), echo "a, b; p(X), q(y?)?\n'
        "?- a.b(X), X > 1.5.\n"
    )
    pieces = {"whole": [script], "lines": script.splitlines(keepends=True), "characters": list(script)}[cut]
    statements = Statements("s")
    found = [(s.text.strip(), s.mark, s.is_query) for piece in pieces for s in statements.feed(piece)]
    assert found == [
        ("start", ";", False),
        ('insert e(1, "a;,?")', ",", False),
        ("insert e([1,\n2], x)", ",", False),
        ('echo "a, b', ";", False),
        ("p(X), q(y?)", "?", True),
        ("a.b(X), X > 1.5", ".", True),
    ]
    assert statements.unfinished is None


# ---- a person at a terminal


class Terminal:
    """A shell on a pseudo-terminal."""

    def __init__(self, folder: Path, *, plain: bool = False) -> None:
        environment = {**os.environ, "TERM": "dumb", "TIDELOG_HISTORY": str(folder / "history"), "NO_COLOR": "1"}
        command = [*COMMAND, "p.dl"]
        if plain:  # as where prompt_toolkit is not installed
            code = "import sys; sys.modules['prompt_toolkit'] = None; from tidelog.cli.main import main; main()"
            command = [sys.executable, "-c", code, "shell", "p.dl"]
        self.seen = ""
        self.child, self.screen = pty.fork()
        if self.child == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test run in the background is deaf to interrupts
            os.chdir(folder)
            os.execvpe(command[0], command, environment)

    def say(self, line: str) -> None:
        os.write(self.screen, line.encode())

    def expect(self, pattern: str) -> None:
        """Wait until the pattern is on the screen, behind what was expected before."""
        while (found := re.search(pattern, self.seen)) is None:
            assert self._more(), f"waited for {pattern!r}, saw {self.seen!r}"
        self.seen = self.seen[found.end() :]

    def wait(self) -> int:
        """Wait until the shell has ended; its exit code."""
        while self._more():
            pass
        _, status = os.waitpid(self.child, 0)
        os.close(self.screen)
        return os.waitstatus_to_exitcode(status)

    def _more(self) -> bool:
        """Read on; False when the shell has ended. One that says nothing for a minute is ended."""
        ready, _, _ = select.select([self.screen], [], [], 60)
        if not ready:
            os.kill(self.child, signal.SIGKILL)
            pytest.fail(f"no answer; on the screen is {self.seen!r}")
        try:
            data = os.read(self.screen, 4096)
        except OSError:  # the other side is closed
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)


@pytest.mark.parametrize("plain", [False, True], ids=["prompt_toolkit", "readline"])
def test_a_conversation(tmp_path: Path, plain: bool) -> None:
    (tmp_path / "p.dl").write_text(REACH)
    terminal = Terminal(tmp_path, plain=plain)
    terminal.expect("epoch 1: bootstrap")
    terminal.expect(">> ")
    terminal.say("start; insert edge(1, 2),\r")
    terminal.expect(">> ")
    terminal.say("insert edge(2,\r")
    terminal.expect(r"\.\. ")
    terminal.say("3); commit;\r")
    terminal.expect(r"epoch 2: .*derivations.*edge \+2, path \+3")
    terminal.say("path(1, Z)?\r")
    terminal.expect("Z = 2\r+\n.*Z = 3")
    terminal.say("dmup path;\r")
    terminal.expect("there is no command `dmup`")
    terminal.expect(">> ")
    terminal.say("insert edge(4")
    terminal.expect(r"edge\(4")
    time.sleep(0.5)  # Python's readline misses a signal that comes while it is at work on a key
    terminal.say("\x03")
    terminal.expect("interrupted")
    terminal.say("path(1, 3)?\r")
    terminal.expect("true")
    terminal.expect(">> ")
    terminal.say("exit;\r")
    assert terminal.wait() == 0
    assert "dmup path;" in (tmp_path / "history").read_text()


def test_an_interrupt_stops_a_commit_and_keeps_the_session(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(
        ".decl top(n: number)\n.input top\n.decl n(x: number)\nn(0).\nn(x + 1) :- n(x), top(t), x < t.\n"
    )
    terminal = Terminal(tmp_path)
    terminal.expect("epoch 1")
    terminal.say("start; insert top(1000000000000000); commit;\r")
    terminal.expect(r"iteration [0-9,]+")  # progress appears after two seconds: now it certainly runs
    os.kill(terminal.child, signal.SIGINT)
    terminal.expect("interrupted; the session is as it was after the last commit")
    terminal.say("rollback; X = count : { n(_) }?\r")
    terminal.expect("X = 1")
    terminal.say("exit;\r")
    assert terminal.wait() == 0
