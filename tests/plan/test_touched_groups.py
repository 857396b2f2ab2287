"""The groups of an aggregate that a change touches: none is missed, and their new values are found."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

import interpreter
from interpreter import Relations, Row
from strategies.budget import examples, note_seed
from strategies.engine import checked_program
from strategies.epochs import History, histories
from strategies.programs import Features
from tidelog.errors import TidelogError
from tidelog.plan.core import AggregateRelation
from tidelog.plan.orders.estimate import Guess
from tidelog.plan.orders.touched_groups import TOUCHED, VALUES, changed, plan_for_recompute, plans_for_touched
from tidelog.plan.show.plans import step_lines
from tidelog.plan.stateful import StatefulProgram, stateful_program


def contents(program: StatefulProgram, facts: Relations) -> Relations:
    """The tuples of every relation."""
    state = interpreter.bootstrap_all(program, facts, Guess(program.arities))
    return {name: set(rows) for name, rows in state.items()}


def touched(program: StatefulProgram, aggregate: AggregateRelation, old: Relations, new: Relations) -> set[Row]:
    """The touched groups, as `touched_groups.py` says that they are found."""
    groups: set[Row] = set()
    for found in plans_for_touched(aggregate, Guess(program.arities)):
        deleted, inserted = old[found.relation] - new[found.relation], new[found.relation] - old[found.relation]
        if found.negated:
            deleted, inserted = inserted, deleted
        for state, rows in ((old, deleted), (new, inserted)):
            known = {**state, changed(found.relation): rows}
            groups |= set(interpreter.emits(found.plan, lambda name, _: known[name]))  # noqa: B023
    return groups


def recomputed(program: StatefulProgram, aggregate: AggregateRelation, groups: set[Row], new: Relations) -> set[Row]:
    plan = plan_for_recompute(aggregate, Guess(program.arities))
    known = {**new, TOUCHED: groups}
    return set(interpreter.emits(plan, lambda name, _: known[name]))


@examples(300)
@given(histories(Features(most_groups=2)))
def test_recomputing_the_touched_groups_gives_the_new_relation(history: History) -> None:
    note_seed(history)
    try:
        program = stateful_program(checked_program(history.example.text))
    except TidelogError:
        return
    aggregates = [stratum.aggregate for stratum in program.strata if stratum.aggregate]
    if not aggregates:
        return
    states = [contents(program, facts) for facts in history.facts()]
    for old, new in pairwise(states):
        for aggregate in aggregates:
            groups = touched(program, aggregate, old, new)
            kept = {row for row in old[aggregate.relation] if row[:-1] not in groups}
            assert kept | recomputed(program, aggregate, groups, new) == new[aggregate.relation]


PROGRAM = """
.decl shop(s: number)
.input shop
.decl sale(s: number, a: number)
.input sale
.decl void(a: number, why: number)
.input void
.decl total(s: number, t: number)
total(s, t) :- shop(s), t = sum a : { sale(s, a), !void(a, _) }.
"""
OLD: Relations = {"shop": {(1,), (2,), (3,), (4,)}, "sale": {(1, 10), (1, 20), (2, 10), (9, 10)}, "void": {(20, 0)}}


def touched_by(**change: set[Row]) -> tuple[set[Row], set[Row]]:
    """The touched groups and their new values when relations become other than in OLD."""
    program = stateful_program(checked_program(PROGRAM))
    (aggregate,) = (stratum.aggregate for stratum in program.strata if stratum.aggregate)
    old, new = contents(program, OLD), contents(program, {**OLD, **change})
    groups = touched(program, aggregate, old, new)
    return groups, recomputed(program, aggregate, groups, new)


def test_without_a_change_no_group_is_touched() -> None:
    assert touched_by() == (set(), set())


def test_a_new_match_touches_its_group() -> None:
    assert touched_by(sale=OLD["sale"] | {(3, 5)}) == ({(3,)}, {(3, 5)})


def test_the_last_match_of_a_group_leaves_a_sum_of_zero() -> None:
    assert touched_by(sale=OLD["sale"] - {(2, 10)}) == ({(2,)}, {(2, 0)})


def test_a_row_that_is_in_no_match_touches_nothing() -> None:
    assert touched_by(sale=OLD["sale"] | {(1, 30), (9, 30)}, void=OLD["void"] | {(30, 1)}) == (set(), set())


def test_groups_that_come_and_go_are_touched_and_those_that_are_gone_have_no_value() -> None:
    assert touched_by(shop={(1,), (2,), (3,), (9,)}) == ({(4,), (9,)}, {(9, 10)})


def test_a_negated_row_touches_the_groups_of_the_matches_it_excludes() -> None:
    assert touched_by(void={(20, 0), (10, 0)}) == ({(1,), (2,)}, {(1, 0), (2, 0)})
    assert touched_by(void=set()) == ({(1,)}, {(1, 30)})


def test_matches_of_rows_that_are_deleted_together_are_found() -> None:
    assert touched_by(sale={(2, 10)}, void=set()) == ({(1,)}, {(1, 0)})


def test_the_plans_begin_with_the_change() -> None:
    program = stateful_program(checked_program(PROGRAM))
    (aggregate,) = (stratum.aggregate for stratum in program.strata if stratum.aggregate)
    estimate = Guess(program.arities)
    plans = [found.plan for found in plans_for_touched(aggregate, estimate)]
    shown = [list(step_lines(plan.steps, plan.slots)) for plan in (*plans, plan_for_recompute(aggregate, estimate))]
    assert shown == [
        ["scan Δtotal@groups0.0[0->s]", f"emit {TOUCHED}(s)"],
        ["scan Δsale[0->s, 1->a]", "absent void[0=a]", "exists total@groups0.0[0=s]", f"emit {TOUCHED}(s)"],
        ["scan Δvoid[0->a]", "probe sale[1=a, 0->s]", "exists total@groups0.0[0=s]", f"emit {TOUCHED}(s)"],
        [
            f"scan {TOUCHED}[0->s]",
            "exists total@groups0.0[0=s]",
            "aggregate t#3 := sum a over",
            "  probe sale[0=s, 1->a]",
            "  absent void[0=a]",
            f"emit {VALUES}(s, t#3)",
        ],
    ]
