"""Random change sets, epoch after epoch: whatever the strategy, a session holds what evaluation from nothing finds, and
its reports are the differences."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.analysis.check import check
from tidelog.epochs.engine import STRATEGIES
from tidelog.lang.souffle import parse
from tidelog.session import Session

PROGRAM = check(
    parse("""
    .decl edge(a: number, b: number)
    .input edge
    .decl label(a: number, s: symbol)
    .input label
    .decl off()
    .input off
    .decl path(a: number, b: number)
    path(a, b) :- edge(a, b).
    path(a, c) :- path(a, b), edge(b, c).
    .decl label2(s: symbol, n: number)
    label2(s, n) :- label(_, s), n = count : { label(_, s) }.
    edge(a, a) :- label(a, "loop"), !off().
    .decl lonely(a: number)
    lonely(a) :- label(a, _), !path(a, _).
""")
)
INPUTS = ("edge", "label", "off")

node = st.integers(0, 4)
facts = st.fixed_dictionaries(
    {},
    optional={
        "edge": st.lists(st.tuples(node, node), max_size=4),
        "label": st.lists(st.tuples(node, st.sampled_from(["loop", "a", "b"])), max_size=3),
        "off": st.lists(st.just(()), max_size=2),
    },
)
changes = st.tuples(facts, facts, st.lists(st.sampled_from(INPUTS), max_size=1))


def rows(table: pa.Table) -> set[tuple[Any, ...]]:
    if not table.num_columns:
        return {()} if table.num_rows else set()
    return set(zip(*(column.to_pylist() for column in table.columns), strict=True))


def state(session: Session) -> dict[str, set[tuple[Any, ...]]]:
    return {name: set(session[name]) for name in session.relations}


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None, max_examples=25)
@given(first=facts, epochs=st.lists(changes, max_size=5))
def test_every_epoch_is_what_evaluation_from_nothing_finds(strategy: str, first: Any, epochs: Any) -> None:
    model = {name: set(first.get(name, ())) for name in INPUTS}
    with Session(PROGRAM, strategy=strategy) as session, Session(PROGRAM, strategy="batch") as fresh:
        session.bootstrap(first)
        for delete, insert, clear in epochs:
            before = state(session)
            gone = {n: model[n] if n in clear else model[n] & set(delete.get(n, ())) for n in INPUTS}
            absent = {n: len(set(delete.get(n, ())) - model[n]) for n in delete if n not in clear}
            present = {n: len((set(insert.get(n, ())) & model[n]) - gone[n]) for n in insert}
            model = {n: (model[n] - gone[n]) | set(insert.get(n, ())) for n in INPUTS}
            epoch = session.update(insert, delete, clear)
            fresh.bootstrap({n: list(r) for n, r in model.items()})
            after = state(session)
            assert after == state(fresh)
            for name in session.relations:
                assert rows(epoch.inserted[name]) == after[name] - before[name]
                assert rows(epoch.deleted[name]) == before[name] - after[name]
            assert epoch.ignored_deletes == {n: count for n, count in absent.items() if count}
            assert epoch.ignored_inserts == {n: count for n, count in present.items() if count}


def test_a_deleted_tuple_is_not_in_its_relation() -> None:
    text = ".decl e(x: number)\n.input e\n.decl p(x: number)\np(x + 1) :- e(x).\n"
    with Session(text) as session:
        session.bootstrap({"e": [(1,), (2,)]})
        session.update(delete={"e": [(1,)]})
        assert [(1,) in session["e"], (2,) in session["e"], (2,) in session["p"]] == [False, True, False]
