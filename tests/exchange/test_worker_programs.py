"""The suite of programs (`tests/program_cases.py`) with workers: on the seeded transport, and as processes."""

from __future__ import annotations

import os
import zlib
from typing import Any

import pytest
from part_team import SeededTeam

from program_cases import CASES, Case, lines, table_rows
from tidelog.analysis.check import check
from tidelog.analysis.names.inlining import inline_relations
from tidelog.exchange.part_worker import PartOrder
from tidelog.local import LocalSession, Settings
from tidelog.session import Session, checked_program

SIZES = (1, 2, 3, 5)
AS_PROCESSES = {"stratified_negation", "texts", "records", "equivalence", "nonlinear_closure", "sums_and_extremes"}


def follows(case: Case, session: Any) -> None:
    """Every epoch is as expected."""
    checked = case.checked
    session.bootstrap(case.facts(checked))
    names = checked.relations.keys() - inline_relations(checked.program)
    epochs = case.epochs(checked)
    for number in range(len(epochs) + 1):
        if number:
            delete, insert = epochs[number - 1]
            session.update(insert, delete)
        expected = case.expected(number)
        found = {}
        for name in (name for name in names if name in expected):
            relation = session.relation(name) if isinstance(session, LocalSession) else session[name]
            rows = table_rows(relation.to_arrow(), len(relation.attributes))
            assert len(relation) == len(rows)
            found[name] = lines(checked, name, rows)
        assert found == {name: expected[name] for name in found}, f"epoch {number}"
        assert found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_epoch_is_as_expected_on_the_seeded_transport(case: Case, size: int) -> None:
    seed = zlib.crc32(case.name.encode()) + size

    def team(order: PartOrder, size: int, watch: object) -> SeededTeam:
        return SeededTeam(check(order.program), size, seed, order.said)

    session = LocalSession(case.checked, Settings(workers=size), team=team)
    follows(case, session)
    session.close()


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name in AS_PROCESSES or os.environ.get("TIDELOG_FUZZ")],
    ids=lambda case: case.name,
)
def test_every_epoch_is_as_expected_with_two_processes(case: Case) -> None:
    with Session(case.checked, workers=2) as session:
        follows(case, session)


def test_what_a_journey_left_behind_is_not_asked_for_again() -> None:
    """The third journey of this rule needs no value; it takes one along that the second had."""
    program = """
        .decl e(a: number)
        .input e
        .decl p(a: number, b: number)
        .input p
        .decl q(a: number)
        q(0).
        p(v, 7) :- q(w), e(_), p(u, w), p(u, 1 + 4 / 2), q(v).
    """
    with Session(program) as alone:
        team = LocalSession(checked_program(program), Settings(workers=2), team=third)
        for session in (alone, team):
            session.bootstrap({"e": [(0,)], "p": [(5, 0), (5, 3)]})
        assert sorted(team.relation("p")) == sorted(alone["p"]) == [(0, 7), (5, 0), (5, 3)]


def third(order: PartOrder, size: int, watch: object) -> SeededTeam:
    return SeededTeam(check(order.program), size, 3, order.said)
