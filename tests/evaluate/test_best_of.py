"""Recursion for the best: random programs against their meaning after every epoch, in every strategy."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from evaluate.best_of_faults import OF_KERNELS, OF_PLANS, ROOT, found
from strategies.best_of_programs import (
    WITH_VALUE,
    BestProgram,
    Fact,
    Values,
    meaning,
    random_pool,
    random_program,
    state,
)
from tidelog import Session
from tidelog.epochs.engine import STRATEGIES
from tidelog.epochs.one_store import OneStore
from tidelog.store import NEVER

CASES = int(os.environ.get("TIDELOG_FUZZ", "400"))
Given = dict[str, list[tuple[int, ...]]]


def by_relation(facts: set[Fact]) -> Given:
    return {name: sorted(row for other, row in facts if other == name) for name in "egn"}


def expected_rows(program: BestProgram, cost: Values, name: str) -> set[tuple[int, ...]]:
    found = {row: value for (other, row), value in cost.items() if other == name}
    if name in WITH_VALUE:
        return {(*row, int(program.sign * value)) for row, value in found.items()}
    return set(found)


def held_state(session: Any, name: str) -> dict[tuple[int, ...], tuple[int, int]]:
    """Level and count of each key of a relation."""
    relation = session._backend.engine.query_database()[name]
    rows, now, derived = relation.rows().tolist(), relation.now().tolist(), relation.derived().tolist()
    return {
        tuple(row[:-1] if name in WITH_VALUE else row): (level - 1, count)
        for row, level, count in zip(rows, now, derived, strict=True)
        if level != NEVER
    }


class Interruption(Exception):
    """Something that goes wrong at the end of an epoch."""


def fail(session: Any, come: Given, gone: Given) -> None:
    """An epoch that does all of its work, and is then undone."""
    holder = session._backend.engine.holder

    def interrupted(*_: Any) -> None:
        raise Interruption

    holder.report_changes = interrupted
    try:
        with pytest.raises(Interruption):
            session.update(insert=come, delete=gone)
    finally:
        del holder.report_changes


def check(seed: int, strategy: str, failing: bool = False) -> int:
    """Run a random program through some epochs, each of which fails before if that is wanted; how many were updates of
    the recursion."""
    rnd = random.Random(seed)
    program = random_program(rnd)
    domain, pool = random_pool(rnd, program)
    facts, updates = {fact for fact in pool if rnd.random() < 0.7}, 0
    session = None
    for _ in range(5):
        cost, superior = meaning(program, domain, facts)
        if cost is None:
            return updates  # it gains for ever
        if session is None:
            session = Session(program.text(), strategy=strategy)
            session.bootstrap(by_relation(facts))
        else:
            gone, come = before - facts, facts - before  # noqa: F821
            if failing:
                fail(session, by_relation(come), by_relation(gone))
                fail(session, by_relation(set(pool) - before), by_relation(before))  # noqa: F821
            report = session.update(insert=by_relation(come), delete=by_relation(gone))
            updates += sum("a" in s.relations and s.strategy == "update" for s in report.strata)
        for name in "abst":
            assert set(session[name]) == expected_rows(program, cost, name), (seed, name, program.text(), facts)
        if superior and isinstance(session._backend.engine.holder, OneStore) and is_followed(session):
            known = state(program, domain, facts, cost)
            for name in own_of(session):
                wanted = {row: entry for (other, row), entry in known.items() if other == name}
                assert held_state(session, name) == wanted, (seed, name, program.text(), facts)
        before = facts
        flips = {fact for fact in pool if rnd.random() < rnd.choice((0.0, 0.1, 0.3))} or {rnd.choice(pool)}
        facts = facts ^ flips
    if session is not None:
        if superior and isinstance(session._backend.engine.holder, OneStore):
            compare_with_fresh(session, Session(program.text(), strategy=strategy), by_relation(before), seed)
        session.close()
    return updates


def compare_with_fresh(session: Any, fresh: Any, facts: Given, seed: int) -> None:
    """The state is that of a session that begins with these facts."""
    fresh.bootstrap(facts)
    for stratum in strata_of(session):
        for name in stratum.relations:
            assert held_state(session, name) == held_state(fresh, name), (seed, name)
    fresh.close()


def strata_of(session: Any) -> list[Any]:
    return [s for s in session._backend.engine.holder.strata if s.best is not None]


def is_followed(session: Any) -> bool:
    return bool(strata_of(session))


def own_of(session: Any) -> list[str]:
    """Relations of strata by rank, but for those that read relations which a rewrite has made: their counts differ."""
    return [n for s in strata_of(session) for n in s.relations if {*s.relations, *s.inputs} <= set("abstegn")]


@pytest.mark.parametrize("part", range(4))
def test_random_programs_mean_what_they_say_after_every_epoch(part: int) -> None:
    updates = sum(check(seed, "update") for seed in range(part, CASES, 4))
    assert updates > CASES // 8


def test_an_epoch_that_fails_leaves_everything_as_it_was() -> None:
    for seed in range(2 * 10**6, 2 * 10**6 + max(CASES // 5, 40)):
        check(seed, "update", failing=True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_in_every_strategy(strategy: str) -> None:
    for seed in range(10**6, 10**6 + max(CASES // 20, 20)):
        check(seed, strategy)


@pytest.mark.parametrize("name", OF_PLANS)
def test_planted_faults_are_found(name: str) -> None:
    assert found(name, OF_PLANS[name], cases=200)


@pytest.mark.parametrize("name", OF_KERNELS)
def test_what_a_fault_replaces_is_still_there(name: str) -> None:
    fault = OF_KERNELS[name]
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.right) == 1
