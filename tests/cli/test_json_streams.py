"""`IO=json`: facts from standard input, results to standard output, as in Soufflé."""

from pathlib import Path

from cli.command import tidelog

PROGRAM = """
.decl edge(x: number, name: symbol)
.input edge(IO=json)
.decl r(x: number, name: symbol)
r(x + 1, n) :- edge(x, n).
.output r(IO=json, format=object)
"""


def test_json_goes_in_and_out(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PROGRAM)
    done = tidelog("run", "--local", "p.dl", cwd=tmp_path, stdin='[[1, "a"], [7, "b"]]')
    assert (done.returncode, done.stdout) == (0, '[{"x": 2, "name": "a"},\n{"x": 8, "name": "b"}]\n')


def test_it_stays_json_where_everything_is_printed(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PROGRAM)
    done = tidelog("run", "--local", "-D-", "p.dl", cwd=tmp_path, stdin="[]")
    assert done.stdout == "[]\n"
