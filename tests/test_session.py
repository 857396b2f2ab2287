"""The Python API: what a user does with a session, and what it answers to mistakes."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tidelog
from reach import REACH
from tidelog.errors import Report, TidelogError
from tidelog.evaluate.limits import Limits
from tidelog.lang.load import parse_program

NAMES = """
.decl calls(caller: symbol, callee: symbol)
.input calls
.decl down(service: symbol)
.input down
.decl flag()
.input flag
.decl affected(service: symbol)
affected(s) :- calls(s, d), down(d), !flag().
affected(s) :- calls(s, d), affected(d).
"""


def rows(table: pa.Table) -> set[tuple[Any, ...]]:
    if not table.num_columns:
        return {()} if table.num_rows else set()
    return set(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.fixture
def reach():
    with tidelog.Session(REACH) as session:
        session.bootstrap({"edge": [(1, 2), (2, 3), (3, 4)]})
        yield session


# ---- where programs and facts come from


def test_importing_tidelog_imports_nothing_heavy() -> None:
    code = "import sys, tidelog; assert not {'numpy', 'pyarrow', 'lark', 'numba'} & set(sys.modules); tidelog.Session"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_program_is_a_path_a_text_or_parsed_before(tmp_path: Path) -> None:
    (tmp_path / "reach.dl").write_text(REACH)
    parsed = parse_program(REACH, Report())
    for program in (tmp_path / "reach.dl", str(tmp_path / "reach.dl"), REACH, parsed):
        with tidelog.Session(program) as session:
            session.bootstrap({"edge": [(1, 2)]})
            assert rows(session["path"].to_arrow()) == {(1, 2)}


def test_a_missing_program_is_named() -> None:
    with pytest.raises(TidelogError, match=r"TL0115.*cannot read nowhere\.dl"):
        tidelog.Session("nowhere.dl")


def test_a_network_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.ndlog").write_text("r1 a(@X) :- b(@X).\n")
    with pytest.raises(TidelogError, match=r"TL0702[\s\S]*run it with `tidelog net run`"):
        tidelog.Session(tmp_path / "p.ndlog")


def test_facts_come_in_many_shapes(tmp_path: Path) -> None:
    import pandas
    import polars

    pairs = [(1, 2), (2, 3)]
    columns = {"from": [1, 2], "to": [2, 3]}
    (tmp_path / "tabs.facts").write_text("1\t2\n2\t3\n")
    (tmp_path / "tabs.csv").write_text("1\t2\n2\t3\n")
    (tmp_path / "commas.csv").write_text("1,2\n2,3\n")
    (tmp_path / "facts.json").write_text("[[1, 2], [2, 3]]")
    polars.DataFrame(columns).write_parquet(tmp_path / "facts.parquet")
    given = [
        pairs, columns, np.array(pairs), pa.table(columns), pandas.DataFrame(columns), polars.DataFrame(columns),
        tmp_path / "tabs.facts", str(tmp_path / "tabs.csv"), tmp_path / "commas.csv", tmp_path / "facts.json",
        tmp_path / "facts.parquet",
    ]  # fmt: skip
    with tidelog.Session(REACH) as session:
        for facts in given:
            session.bootstrap({"edge": facts})
            assert rows(session["path"].to_arrow()) == {(1, 2), (2, 3), (1, 3)}, facts


def test_without_an_argument_the_input_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    with tidelog.Session(REACH, facts=tmp_path) as session:
        epoch = session.bootstrap()
        assert (epoch.number, epoch.strategy) == (1, "bootstrap")
        assert session["path"].count() == 3


def test_the_layout_of_a_text_file_is_that_of_the_relations_own_directive(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("from|to\n1|2\n")
    program = REACH.replace(".input edge", '.input edge(delimiter="|", headers=true)')
    with tidelog.Session(program) as session:
        session.bootstrap({"edge": tmp_path / "e.txt"})
        assert rows(session["edge"].to_arrow()) == {(1, 2)}


def test_malformed_facts_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\nx\t3\n")
    with tidelog.Session(REACH, facts=tmp_path, skip_bad_rows=True) as session:
        epoch = session.bootstrap()
        assert [d.code for d in epoch.warnings] == ["TL0636"]
        assert session["path"].count() == 1


# ---- epochs


def test_an_update_reports_its_net_change(reach: tidelog.Session) -> None:
    epoch = reach.update(insert={"edge": [(4, 5)]}, delete={"edge": [(1, 2)]})
    assert epoch.number == 2
    assert rows(epoch.inserted["edge"]) == {(4, 5)}
    assert rows(epoch.inserted["path"]) == {(2, 5), (3, 5), (4, 5)}
    assert rows(epoch.deleted["path"]) == {(1, 2), (1, 3), (1, 4)}
    assert epoch.seconds > 0
    assert epoch.why
    assert "edge +1 -1, path +3 -3" in str(epoch)
    assert set(reach["path"]) == {(2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5)}


def test_a_relation_that_did_not_change_has_an_empty_table(reach: tidelog.Session) -> None:
    epoch = reach.update(insert={"edge": [(1, 2)]})
    assert "path" not in epoch.inserted
    assert epoch.inserted["path"].num_rows == 0
    assert epoch.inserted["path"].column_names == ["from", "to"]
    assert dict(epoch.inserted) == {}
    with pytest.raises(TidelogError, match="TL1103"):
        epoch.inserted["pth"]


def test_needless_changes_are_ignored_and_counted(reach: tidelog.Session) -> None:
    epoch = reach.update(insert={"edge": [(1, 2), (7, 8), (7, 8)]}, delete={"edge": [(9, 9), (9, 9), (8, 8)]})
    assert (epoch.ignored_inserts, epoch.ignored_deletes) == ({"edge": 1}, {"edge": 2})
    assert rows(epoch.inserted["edge"]) == {(7, 8)}
    assert "3 changes ignored" in str(epoch)


def test_a_strict_session_refuses_needless_changes() -> None:
    reach = tidelog.Session(REACH, strict=True)
    reach.bootstrap({"edge": [(1, 2), (2, 3), (3, 4)]})
    with pytest.raises(TidelogError) as raised:
        reach.update(insert={"edge": [(1, 2), (5, 6)]}, delete={"edge": [(9, 9), (8, 8)]})
    assert raised.value.codes == ("TL1105", "TL1105")
    assert "edge(8, 8) was to be deleted and is not there, and 1 more like it" in str(raised.value)
    assert "edge(1, 2) was to be inserted and is there already" in str(raised.value)
    assert set(reach["edge"]) == {(1, 2), (2, 3), (3, 4)}
    assert reach.epoch == 1


def test_the_deletions_of_a_change_set_are_applied_first(reach: tidelog.Session) -> None:
    both = {"edge": [(1, 2), (5, 6)]}  # one that is there, one that is not
    epoch = reach.update(insert=both, delete=both)
    assert {(1, 2), (5, 6)} <= set(reach["edge"])
    assert rows(epoch.inserted["edge"]) == {(5, 6)}
    assert rows(epoch.deleted["edge"]) == set()
    assert (epoch.ignored_inserts, epoch.ignored_deletes) == ({}, {"edge": 1})


def test_all_facts_of_a_relation_can_be_cleared_and_others_given(reach: tidelog.Session) -> None:
    epoch = reach.update(clear=["edge"], insert={"edge": [(1, 2), (8, 9)]})
    assert set(reach["edge"]) == {(1, 2), (8, 9)}
    assert rows(epoch.deleted["edge"]) == {(2, 3), (3, 4)}
    assert (epoch.ignored_inserts, epoch.ignored_deletes) == ({}, {})


def test_a_second_bootstrap_replaces_everything(reach: tidelog.Session) -> None:
    epoch = reach.bootstrap({"edge": [(3, 4), (8, 9)]})
    assert (epoch.number, epoch.strategy) == (2, "bootstrap")
    assert set(reach["path"]) == {(3, 4), (8, 9)}
    assert rows(epoch.deleted["path"]) == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4)}


def test_an_empty_update_is_an_epoch_that_changes_nothing(reach: tidelog.Session) -> None:
    epoch = reach.update()
    assert (epoch.number, dict(epoch.inserted), dict(epoch.deleted)) == (2, {}, {})
    assert "nothing changed" in str(epoch)


def test_an_input_relation_with_rules_tells_given_facts_from_derived_ones() -> None:
    program = ".decl p(x: number)\n.input p\np(1).\np(x + 1) :- p(x), x < 3.\n"
    with tidelog.Session(program) as session:
        session.bootstrap({"p": [(7,)]})
        assert set(session["p"]) == {(1,), (2,), (3,), (7,)}
        epoch = session.update(insert={"p": [(2,)]}, delete={"p": [(3,), (7,)]})
        assert (epoch.ignored_deletes, epoch.ignored_inserts) == ({"p": 1}, {})  # 3 was never given, 2 was only derived
        assert set(session["p"]) == {(1,), (2,), (3,)}
        epoch = session.update(delete={"p": [(2,)]})
        assert epoch.ignored_deletes == {}
        assert dict(epoch.deleted) == {}  # it still follows from the rules


def test_symbols_and_relations_without_attributes() -> None:
    with tidelog.Session(NAMES) as session:
        session.bootstrap({"calls": [("web", "api"), ("api", "db")], "down": ["db"]})
        assert set(session["affected"]) == {("api",), ("web",)}
        epoch = session.update(insert={"flag": [()]})
        assert rows(epoch.deleted["affected"]) == {("api",), ("web",)}
        assert epoch.inserted["flag"].num_rows == 1
        assert () in session["flag"]
        assert session.update(delete={"flag": [()]}).inserted["affected"].num_rows == 2
        assert len(session["flag"]) == 0


def test_records_and_branches_mean_the_same_in_every_epoch() -> None:
    program = """
    .type List = [head: number, tail: List]
    .type Shape = Point {} | Box {width: number, name: symbol}
    .decl item(l: List, s: Shape)
    .input item
    .decl longer(l: List, s: Shape)
    longer([0, l], s) :- item(l, s).
    """
    with tidelog.Session(program) as session:
        session.bootstrap({"item": [((1, None), "$Point")]})
        for number in range(2, 6):
            epoch = session.update(
                insert={"item": [((number, (1, None)), ("$Box", number, "b"))]},
                delete={"item": [("[1, nil]", "$Point")]},
            )
            assert rows(epoch.inserted["longer"]) == {(f"[0, [{number}, [1, nil]]]", f"$Box({number}, b)")}
        assert session["longer"].count() == 4
        assert ((0, (3, (1, None))), ("$Box", 3, "b")) in session["longer"]


def test_functors_come_from_a_mapping_or_a_file(tmp_path: Path) -> None:
    program = (
        ".functor twice(x: number): number\n.decl p(x: number)\n.input p\n.decl q(x: number)\nq(@twice(x)) :- p(x).\n"
    )
    (tmp_path / "f.py").write_text("def twice(x):\n    return 2 * x\n")
    for functors in ({"twice": lambda x: 2 * x}, tmp_path / "f.py"):
        with tidelog.Session(program, functors=functors) as session:
            session.bootstrap({"p": [(4,)]})
            assert set(session["q"]) == {(8,)}
            assert rows(session.query("p(X), Y = @twice(X)")) == {(4, 8)}
    with pytest.raises(TidelogError, match="TL0812"):
        tidelog.Session(program)


# ---- mistakes


def test_everything_wrong_with_a_change_set_is_said_at_once_and_nothing_changes(reach: tidelog.Session) -> None:
    with pytest.raises(TidelogError) as raised:
        reach.update(
            insert={"edge": [(1, "a"), (1, 2, 3)], "edg": [(1, 2)], "path": [(1, 2)]}, delete={"edge": [(2**63, 1)]}
        )
    assert str(raised.value) == (
        "error[TL0633]: facts of relation `edge`, row 1: attribute `from`: "
        "9223372036854775808 does not fit into 64 bits\n"
        "error[TL0631]: facts of relation `edge`, row 2: 3 values for 2 attributes\n"
        "error[TL0632]: facts of relation `edge`, row 1: attribute `to`: 'a' is not a number\n"
        "error[TL1103]: there is no relation `edg`\n"
        "  help: did you mean `edge`?\n"
        "error[TL1104]: relation `path` is not an input: its tuples follow from rules\n"
        "  help: only facts of `.input` relations can be given; to make it one, write `.input path`"
    )
    assert (reach.epoch, reach["edge"].count()) == (1, 3)


def test_wrong_names_in_a_bootstrap_or_a_clear(reach: tidelog.Session) -> None:
    with pytest.raises(TidelogError, match=r"TL1103.*there is no relation `nodes`(.|\n)*the program has edge, path"):
        reach.bootstrap({"nodes": []})
    with pytest.raises(TidelogError, match="TL1104"):
        reach.update(clear="path")
    with pytest.raises(TidelogError, match=r"TL1108.*facts are given by relation, not as a list"):
        reach.update([(1, 2)])  # type: ignore[arg-type]
    with pytest.raises(TidelogError, match="TL1103"):
        reach["pth"]


def test_a_session_without_facts_says_what_to_do() -> None:
    with tidelog.Session(REACH) as session:
        for use in (lambda: session.update(), lambda: session["path"], lambda: session.query("path(1, X)")):
            with pytest.raises(TidelogError, match=r"TL1102(.|\n)*call bootstrap\(\)"):
                use()


def test_a_closed_session_says_so_but_what_it_gave_stays_valid() -> None:
    with tidelog.Session(NAMES) as session:
        epoch = session.bootstrap({"calls": [("a", "b")], "down": ["b"]})
        relation = session["affected"]
    for use in (lambda: session.update(), lambda: session.bootstrap({}), lambda: session["down"], relation.to_arrow):
        with pytest.raises(TidelogError, match="TL1101"):
            use()
    assert rows(epoch.inserted["affected"]) == {("a",)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategy": "elastik"}, "did you mean `elastic`?"),
        ({"switch": -1.0}, "the switch -1.0 is negative"),
        ({"budget": "minutes"}, "derivations or seconds"),
        ({"threads": 0}, "0 threads are too few"),
        ({"state": ""}, "'' is no state directory"),
        ({"state": 7}, "7 is no state directory"),
        ({"state": "nowhere://x/y"}, "the state directory nowhere://x/y is in no file system that is known"),
        ({"limits": {"timeout": 1}}, "`limits=` takes a tidelog.Limits, not a dict"),
        ({"limits": tidelog.Limits(timeout=-1)}, "the limit timeout=-1"),
        ({"limits": tidelog.Limits(timeout="1 s")}, "the limit timeout='1 s'"),
        ({"limits": tidelog.Limits(max_iterations=1.5)}, "the limit max_iterations=1.5"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(TidelogError) as raised:
        tidelog.Session(REACH, **settings)
    assert message in str(raised.value)


def test_a_negative_amount_of_memory_is_no_limit() -> None:
    with pytest.raises(TidelogError, match="-5"):
        tidelog.Session(REACH, limits=tidelog.Limits(max_memory=-5))


COUNTING = ".decl top(n: number)\n.input top\n.decl n(x: number)\nn(0).\nn(x + 1) :- n(x), top(t), x < t.\n"


def test_an_update_that_fails_leaves_the_last_epoch() -> None:
    with tidelog.Session(COUNTING, limits=Limits(max_iterations=100)) as session:
        session.bootstrap({"top": [(10,)]})
        with pytest.raises(TidelogError, match="TL0901"):
            session.update(insert={"top": [(1000,)]})
        assert (session.epoch, session["n"].count(), set(session["top"])) == (1, 11, {(10,)})
        assert session.update(insert={"top": [(20,)]}).number == 2
        assert session["n"].count() == 21


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_update_leaves_the_last_epoch() -> None:
    with tidelog.Session(COUNTING, limits=Limits(timeout=60)) as session:
        session.bootstrap({"top": [(10,)]})
        timer = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.update(insert={"top": [(10**15,)]})
        timer.join()
        assert (session.epoch, session["n"].count(), set(session["top"])) == (1, 11, {(10,)})


# ---- reading


def test_a_relation_can_be_counted_iterated_and_asked(reach: tidelog.Session) -> None:
    path = reach["path"]
    assert (len(path), path.count(), path.name, path.attributes) == (6, 6, "path", ("from", "to"))
    assert (1, 4) in path
    assert (4, 1) not in path
    assert path.to_pandas()["to"].sum() == 2 + 3 + 4 + 3 + 4 + 4
    assert repr(path) == "<relation path(from, to), 6 tuples>"
    with pytest.raises(TidelogError, match="TL0631"):
        assert (1,) in path
    reach.update(clear=["edge"])
    assert len(path) == 0  # it shows the session as it is now


def test_what_a_session_has(reach: tidelog.Session) -> None:
    assert (reach.relations, reach.inputs, reach.outputs) == (("edge", "path"), ("edge",), ("path",))
    assert "edge" in reach
    assert "node" not in reach
    assert reach.warnings == ()


@pytest.mark.parametrize(
    ("query", "columns", "answers"),
    [
        ("path(1, X)", ["X"], {(2,), (3,), (4,)}),
        ("path(1, X).", ["X"], {(2,), (3,), (4,)}),
        ("path(X, Y), !edge(X, Y)", ["X", "Y"], {(1, 3), (1, 4), (2, 4)}),
        ("path(1, X), X > 2, Y = X * 10", ["X", "Y"], {(3, 30), (4, 40)}),
        ("edge(X, Y), edge(Y, Z)", ["X", "Y", "Z"], {(1, 2, 3), (2, 3, 4)}),
        ("edge(X, _y), edge(_y, _)", ["X"], {(1,), (2,)}),
        ("path(X, X)", ["X"], set()),
        ("path(1, 4)", [], {()}),
        ("path(4, 1)", [], set()),
        ("!path(4, 1)", [], {()}),
        ("N = count : { path(1, _) }", ["N"], {(3,)}),
        ("edge(X, 2) ; edge(2, X)", ["X"], {(1,), (3,)}),
    ],
)
def test_queries(reach: tidelog.Session, query: str, columns: list[str], answers: set[tuple[int, ...]]) -> None:
    table = reach.query(query)
    assert (table.column_names, rows(table), table.num_rows) == (columns, answers, len(answers))


def test_queries_over_symbols_records_and_inline_relations() -> None:
    program = """
    .type Name <: symbol
    .type Pair = [a: Name, b: number]
    .decl age(n: Name, a: number)
    .input age
    .decl both(p: Pair)
    both([n, a]) :- age(n, a).
    .decl older(a: Name, b: Name) inline
    older(a, b) :- age(a, x), age(b, y), x > y.
    """
    with tidelog.Session(program) as session:
        session.bootstrap({"age": [("ann", 40), ("bob", 30)]})
        assert rows(session.query('age("ann", X)')) == {(40,)}
        assert rows(session.query('age("nobody", X)')) == set()
        assert rows(session.query("older(X, Y)")) == {("ann", "bob")}
        assert session.relations == ("age", "both")
        with pytest.raises(TidelogError, match=r"TL1107(.|\n)*ask a query"):
            session["older"]
        assert rows(session.query("both(P)")) == {("[ann, 40]",), ("[bob, 30]",)}
        assert rows(session.query("both([N, A]), A < 35")) == {("bob", 30)}
        assert rows(session.query('age(N, _), match("a.*", N)')) == {("ann",)}


def test_a_query_leaves_nothing_behind(reach: tidelog.Session) -> None:
    for _ in range(3):
        reach.query("path(X, Y), edge(Y, X)")
        with pytest.raises(TidelogError):
            reach.query("path(X, Y), Y = Z / 0, Z = X - X")
    assert reach["path"].count() == 6


@pytest.mark.parametrize(
    ("query", "code", "picture"),
    [
        ("pth(1, X)", "TL0201", "did you mean `path`?"),
        ("path(1, X, Y)", "TL0202", "<query>:1:1"),
        ('path("a", X)', "TL0322", "<query>:1:6"),
        ("path(1, X), Z < 3", "TL0203", "<query>:1:13"),
        ("routes(1, X)", "TL0201", "help: the program has edge, path"),
        ("path(1, X", "TL0102", "<query>:1:9"),
        ("path(1, X). path(X, 2)", "TL0101", "<query>:1:13"),
        ("", "TL0102", ""),
        ("edge(A, B), [A, B] = R", "TL1120", "which record type `R` has"),
    ],
)
def test_queries_that_mean_nothing(reach: tidelog.Session, query: str, code: str, picture: str) -> None:
    with pytest.raises(TidelogError) as raised:
        reach.query(query)
    assert code in raised.value.codes
    assert picture in str(raised.value)


def test_a_session_takes_macros_and_folders_of_includes(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "part.dl").write_text(".decl r(x: number)\n#ifdef MANY\nr(MANY).\n#endif\n")
    text = '.include "part.dl"\n#ifdef MANY\nr(1).\n#endif\n'
    (tmp_path / "whole.dl").write_text(text)
    for program in (text, tmp_path / "whole.dl"):
        with tidelog.Session(program, macros={"MANY": "2"}, include=[tmp_path / "inner"]) as session:
            session.bootstrap({})
            assert sorted(session["r"]) == [(1,), (2,)]
