"""Workers that evaluate without rounds, as those of a session: on the seeded transport and in processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, sampled_from
from test_worker_programs import follows

import oracle
import tidelog
from program_cases import CASES, Case
from state_oracle import Patient
from strategies.budget import examples, note_seed
from strategies.engine import checked_program
from strategies.programs import Example, Features, programs
from strategies.subject import Subject
from tidelog.analysis.check import check
from tidelog.epochs.budget import Policy
from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits
from tidelog.exchange.dynamic.async_worker import AsyncWorker, alone, refuse_async
from tidelog.exchange.front import Front
from tidelog.exchange.many_anew import ManyAnew
from tidelog.exchange.part_worker import PartOrder
from tidelog.exchange.seeded import Seeded
from tidelog.exchange.turns import SeededLine, in_turns
from tidelog.exchange.workers_engine import WorkersEngine
from tidelog.local import LocalSession, Settings, teams
from tidelog.wire.messages import Message

PROGRAM = """
.decl edge(a: symbol, b: symbol)
.input edge
.decl path(a: symbol, b: symbol)
.decl lonely(a: symbol)
.decl number(n: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
lonely(y) :- edge(_, y), !path(y, y).
number(n) :- n = count : { path(_, _) }.
"""
REFUSED = {
    "algebraic_types", "conversions", "equivalence", "equivalence_of_a_long_chain", "lists", "records",
    "records_as_facts", "texts", "texts_with_quotes_and_braces",
}  # fmt: skip
"""Programs that make texts or records, or have an eqrel."""
EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("x", "y")]


class InTurns:
    """Workers on the seeded transport."""

    def __init__(self, checked: Any, size: int, seed: int) -> None:
        self.size, self._seeded = size, Seeded(size, seed)
        self._lines = [SeededLine(transport) for transport in self._seeded.transports]
        self._workers = [AsyncWorker(checked, {}, Limits(), line, {}) for line in self._lines]

    def ask(self, questions: Sequence[Message]) -> list[Message]:
        asked = zip(self._workers, questions, strict=True)
        return in_turns(
            self._seeded, self._lines, [lambda w=worker, q=question: w.answer(q) for worker, question in asked]
        )

    def close(self) -> None:
        pass


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_epoch_of_the_suite_is_as_expected_or_refused(
    case: Case, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_turns_here(size: int, factory: Any, order: PartOrder, kinds: Any) -> InTurns:
        return InTurns(check(order.program), size, 7 * size)

    monkeypatch.setattr(teams, "process_workers", in_turns_here)
    settings = Settings("async", workers=size)
    if case.name in REFUSED:
        with pytest.raises(TidelogError, match="TL1286"):
            LocalSession(case.checked, settings)
        return
    session = LocalSession(case.checked, settings)
    follows(case, session)
    session.close()


def contents(relation: Any) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in relation.to_arrow().to_pylist()}


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_workers_that_take_turns_have_what_one_process_has(size: int, seed: int) -> None:
    text = PROGRAM.replace("symbol", "number")
    checked = checked_program(text)
    front = Front(checked, {})
    workers = InTurns(checked, size, seed)
    engine = WorkersEngine(ManyAnew(lambda: workers, front, alone(front.state.program, {}), Limits()), Policy("batch"))
    edges = [(ord(a), ord(b)) for a, b in EDGES]
    engine.bootstrap({"edge": np.array(edges, np.int64)})
    with tidelog.Session(text, strategy="batch") as one:
        one.bootstrap({"edge": edges})
        for name in ("edge", "path", "lonely", "number"):
            assert {tuple(row) for row in engine.rows(name).tolist()} == contents(one[name])


@pytest.mark.parametrize("kind", ["numbers", "everything"])
def test_workers_of_random_programs_find_what_the_oracle_finds(kind: str) -> None:
    features = {
        "numbers": Features(types=("number", "unsigned", "float"), derived_inputs=True),
        "everything": Features(derived_inputs=True),
    }[kind]

    @examples(60, 2, int(kind == "everything"))
    @given(programs(features), sampled_from([1, 2, 3]), integers(0, 10**6))
    def agrees(example: Example, size: int, seed: int) -> None:
        note_seed(example)
        try:
            subject = Subject(example.text, "batch")
            front = Front(subject.checked, {})
            refuse_async(subject.checked, front.state.program, {})
        except TidelogError:
            return
        plain = checked_program(example.text.replace(" inline", ""))
        wanted = oracle.evaluate(plain, example.facts, Patient)
        workers = InTurns(subject.checked, size, seed)
        engine = WorkersEngine(
            ManyAnew(lambda: workers, front, alone(front.state.program, {}), Limits()), Policy("batch")
        )
        subject.database = front.database
        engine.bootstrap(subject.words(example.facts))
        for name, rows in wanted.items():
            if name not in example.inlined:
                assert set(subject.values(name, engine.rows(name))) == rows, name

    agrees()


def test_a_session_without_rounds_has_what_one_process_has() -> None:
    with (
        tidelog.Session(PROGRAM, strategy="async", workers=2) as many,
        tidelog.Session(PROGRAM, strategy="batch") as one,
    ):
        for session in (many, one):
            session.bootstrap({"edge": EDGES})
            session.update(insert={"edge": [("e", "x")]}, delete={"edge": [("c", "a")]})
        for name in ("path", "lonely", "number"):
            assert contents(many[name]) == contents(one[name])


def test_what_workers_without_rounds_cannot_do_is_refused() -> None:
    makes = '.decl a(x: symbol)\n.input a\n.decl b(x: symbol)\nb(cat(x, "!")) :- a(x).\n'
    with pytest.raises(TidelogError, match="TL1286"):
        tidelog.Session(makes, strategy="async", workers=2)
    with pytest.raises(TidelogError, match="TL1286"):
        tidelog.Session(PROGRAM, strategy="async", workers=2, placement={"edge": "replicate"})
    with pytest.raises(TidelogError, match="several workers"):
        tidelog.Session(PROGRAM, strategy="async")
