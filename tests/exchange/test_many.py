"""Many stores against the oracle: random programs and histories on 1 to 5 workers, in orders that a seed decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, sampled_from

import interpreter
from state_oracle import Entry
from strategies.budget import examples, note_seed
from strategies.epochs import Facts, History, histories
from strategies.programs import Features
from strategies.subject import Subject
from tidelog.epochs.budget import Policy
from tidelog.epochs.changes import NetChange
from tidelog.epochs.driver import Driver
from tidelog.epochs.report import EpochReport
from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits
from tidelog.exchange.homes import owners
from tidelog.exchange.many import Many
from tidelog.exchange.part_store import PartStore
from tidelog.exchange.seeded import Seeded
from tidelog.exchange.turns import SeededLine, in_turns
from tidelog.plan.exchange.placement import place
from tidelog.plan.stateful import stateful_program
from tidelog.store import NEVER

JOINS = Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True)
KINDS = {"joins": JOINS, "everything": Features(derived_inputs=True)}


class InTurns:
    """The stores of workers on the seeded transport, which share one dictionary."""

    def __init__(self, subject: Subject, size: int, seed: int) -> None:
        self.size, self.seeded, self.tasks = size, Seeded(size, seed), 0
        self.lines = [SeededLine(transport) for transport in self.seeded.transports]
        self.placed = place(stateful_program(subject.checked, by_classes=True))
        self.stores = [PartStore(subject.checked, {}, Limits(), line, self.placed) for line in self.lines]
        for store in self.stores:
            store.database.share_dictionaries(subject.database)

    def each(self, ask: Callable[[PartStore, int], Any]) -> list[Any]:
        self.tasks += 1

        def work(store: PartStore, me: int) -> Callable[[], Any]:
            def run() -> Any:
                with store.task(self.tasks):
                    return ask(store, me)

            return run

        return in_turns(self.seeded, self.lines, [work(store, me) for me, store in enumerate(self.stores)])


class ManySubject(Subject):
    """Many stores under test."""

    def __init__(self, text: str, size: int, seed: int, strategy: str) -> None:
        super().__init__(text, "batch")
        self.workers = InTurns(self, size, seed)
        holder = Many(self.workers, self.workers.stores[0].strata, self.workers.placed)
        self.driver = Driver(holder, Policy(strategy))

    def bootstrap(self, facts: Facts) -> EpochReport:
        return self.driver.bootstrap(self.words(facts))

    def update(self, delete: Facts, insert: Facts) -> EpochReport:
        change = {
            side: {n: r for n, r in self.words(f).items() if len(r)} for side, f in (("d", delete), ("i", insert))
        }
        return self.driver.update(NetChange(change["d"], change["i"]))

    def state(self) -> dict[str, dict[tuple[Any, ...], Entry | None]]:
        found: dict[str, dict[tuple[Any, ...], Entry | None]] = {}
        for name in self.checked.relations:
            found[name] = {}
            for me, store in enumerate(self.workers.stores):
                if name in store.database.views:
                    if me == 0:
                        found[name] = dict.fromkeys(self.values(name, store.state.rows(name)))
                    continue
                relation = store.database[name]
                there = np.flatnonzero(relation.now() != NEVER)
                rows = relation.rows()[there]
                mine = owners(self.workers.placed[name], rows, self.workers.size) == me
                there, rows = there[mine], rows[mine]
                entries = [
                    Entry(int(k), int(n)) for k, n in zip(relation.now(there), relation.derived(there), strict=True)
                ]
                found[name].update(zip(self.values(name, rows), entries, strict=True))
        return found

    def whole(self) -> set[str]:
        store = self.workers.stores[0]
        return {n for s in store.strata if s.whole for n in s.relations} | set(store.database.views)


def net(before: Facts, after: Facts) -> tuple[Facts, Facts]:
    return {n: before[n] - after[n] for n in before}, {n: after[n] - before[n] for n in before}


def compare(history: History, size: int, seed: int, strategy: str) -> None:
    note_seed(history)
    try:
        subject = ManySubject(history.example.text, size, seed, strategy)
    except TidelogError:
        return
    before: Facts = {}
    known: dict[str, set[Any]] = {name: set() for name in subject.checked.relations}
    for facts in history.facts():
        wanted = interpreter.state(subject.checked, facts, by_classes=True)
        report = subject.update(*net(before, facts)) if before else subject.bootstrap(facts)
        found = subject.state()
        for name, rows in wanted.items():
            if name in subject.whole():
                assert set(found[name]) == set(rows), name
            else:
                assert found[name] == rows, name
            inserted = set(subject.values(name, report.inserted.get(name, np.empty((0, 0), np.int64))))
            deleted = set(subject.values(name, report.deleted.get(name, np.empty((0, 0), np.int64))))
            assert (inserted, deleted) == (set(rows) - known[name], known[name] - set(rows)), f"change of {name}"
            known[name] = set(rows)
        before = facts


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
