"""Many workers against the oracle: random programs and histories on 1 to 5 workers, in orders that a seed decides."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import integers, sampled_from
from part_team import Kills, seeded_engine

from evaluate.recomputation import follow
from state_oracle import Entry
from strategies.budget import examples, note_seed
from strategies.epochs import Facts, History, histories
from strategies.programs import Features
from strategies.subject import Subject
from tidelog.epochs.changes import NetChange
from tidelog.epochs.report import EpochReport
from tidelog.errors import TidelogError
from tidelog.exchange.questions import FetchTuples, Tuples

JOINS = Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True)
KINDS = {"joins": JOINS, "everything": Features(derived_inputs=True)}


class ManySubject(Subject):
    """Many workers under test, each with dictionaries of its own."""

    def __init__(self, text: str, size: int, seed: int, strategy: str, kills: Kills | None = None) -> None:
        super().__init__(text, "batch")
        self.kills = kills or Kills(0, most=0)
        self.many_engine = seeded_engine(self.checked, size, seed, strategy, kills=kills)
        self.database = self.many_engine.database

    def bootstrap(self, facts: Facts) -> EpochReport:
        self.kills.begin()
        return self.many_engine.bootstrap(self.words(facts))

    def update(self, delete: Facts, insert: Facts) -> EpochReport:
        change = {
            side: {n: r for n, r in self.words(f).items() if len(r)} for side, f in (("d", delete), ("i", insert))
        }
        self.kills.begin()
        return self.many_engine.update(NetChange(change["d"], change["i"]))

    def state(self) -> dict[str, dict[tuple[Any, ...], Entry | None]]:
        self.kills.left = 0
        self.many_engine.count(next(iter(self.checked.relations)))  # if they were lost in the end, others are there now
        found: dict[str, dict[tuple[Any, ...], Entry | None]] = {}
        many = self.many_engine.many
        for name in self.checked.relations:
            if name in many.front.state.program.implicit:
                found[name] = dict.fromkeys(self.values(name, many.rows(name)))
                continue
            found[name] = {}
            for part in many._all(Tuples, FetchTuples(name, states=True)):
                assert part.iterations is not None
                assert part.counts is not None
                entries = [Entry(int(k), int(n)) for k, n in zip(part.iterations, part.counts, strict=True)]
                rows = self.values(name, part.rows)
                assert found[name].keys().isdisjoint(rows), f"{name} has tuples with two owners"
                found[name].update(zip(rows, entries, strict=True))
            assert len(found[name]) == many.count(name)
        return found

    def whole(self) -> set[str]:
        program = self.many_engine.many.front.state.program
        return {n for s in program.strata if s.whole for n in s.relations} | program.implicit


def compare(history: History, size: int, seed: int, strategy: str, kills: Kills | None = None) -> None:
    note_seed(history)
    try:
        subject = ManySubject(history.example.text, size, seed, strategy, kills)
    except TidelogError:
        return
    follow(subject, history)


@pytest.mark.parametrize("number", range(4))
def test_many_workers_have_the_state_of_one_after_every_epoch(number: int) -> None:
    kind = list(KINDS)[number % len(KINDS)]

    @examples(100, 4, number)
    @given(
        histories(KINDS[kind]), sampled_from([1, 2, 2, 3, 5]), integers(0, 10**6), sampled_from(["update", "elastic"])
    )
    def agrees(history: History, size: int, seed: int, strategy: str) -> None:
        compare(history, size, seed, strategy)

    agrees()


def test_workers_that_are_killed_at_any_step_leave_the_state_of_one() -> None:
    struck = 0

    @examples(40, 4, 99)
    @given(histories(KINDS["everything"]), sampled_from([2, 3]), integers(0, 10**6))
    def agrees(history: History, size: int, seed: int) -> None:
        nonlocal struck
        kills = Kills(seed)
        compare(history, size, seed, "elastic", kills)
        struck += kills.done

    agrees()
    assert struck > 10
