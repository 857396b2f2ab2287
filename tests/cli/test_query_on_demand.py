"""`tidelog query program.dl -F facts '…'` and `.pragma "magic-transform"`: only what is asked for is derived."""

from pathlib import Path

import pytest

from cli.command import tidelog

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, y) :- path(x, z), edge(z, y).
.output path
.decl other(x: symbol)
.input other
.decl lonely(x: number) inline
lonely(x) :- edge(x, _), !path(x, x).
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "edge.facts").write_text("".join(f"{n}\t{n + 1}\n" for n in range(3000)))
    return tmp_path


def ask(folder: Path, query: str) -> str:
    done = tidelog("query", "p.dl", query, "-F", "facts", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_query_over_a_program_derives_what_it_asks_for(folder: Path) -> None:
    assert ask(folder, "path(2997, X)") == "X = 2998\nX = 2999\nX = 3000\n"  # all 4.5 million paths would take a while
    assert ask(folder, "path(2997, 2999)") == "true\n"
    assert ask(folder, "path(2999, X), X > 3000") == "false\n"
    assert ask(folder, "path(2998, X), !edge(X, _)") == "X = 3000\n"


def test_what_is_wrong_with_a_query_is_shown(folder: Path) -> None:
    done = tidelog("query", "p.dl", "paht(1, X)", "-F", "facts", cwd=folder)
    assert done.returncode == 1
    assert "did you mean `path`?" in done.stderr


def test_inline_relations_can_be_asked(folder: Path) -> None:
    (folder / "facts" / "edge.facts").write_text("1\t2\n2\t1\n3\t1\n")
    assert ask(folder, "lonely(X)") == "X = 3\n"


def test_same_generation_of_two_leaves_is_linear_with_magic_sets(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(
        '.pragma "magic-transform" "*"\n'
        ".decl node(x: number) .input node\n.decl parent(x: number, y: number) .input parent\n"
        ".decl same(x: number, y: number)\n"
        "same(x, x) :- node(x).\n"
        "same(x, y) :- parent(x, a), same(a, b), parent(y, b).\n"
        ".decl query() .output query\nquery() :- same(16384, 32767).\n"
    )
    (tmp_path / "node.facts").write_text("".join(f"{n}\n" for n in range(1, 32768)))
    (tmp_path / "parent.facts").write_text("".join(f"{n}\t{n // 2}\n" for n in range(2, 32768)))
    done = tidelog("run", "--local", "--max-memory", "300M", "p.dl", cwd=tmp_path)  # without, it takes a gigabyte
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "query.csv").read_text() == "()\n"
