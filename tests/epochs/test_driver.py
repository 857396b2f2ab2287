"""The driver over several stores at once: what it asks adds up, so that many are driven as one is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.budget import examples
from strategies.engine import checked_program
from tidelog.epochs.budget import Allowance, CostAnew, Policy
from tidelog.epochs.changes import NetChange, net_change
from tidelog.epochs.driver import Driver
from tidelog.epochs.engine import EngineOptions, make_engine
from tidelog.epochs.one_store import OneStore
from tidelog.epochs.report import EpochReport
from tidelog.plan.stateful import StatefulStratum

PROGRAM = """
.decl edge(g: number, x: number, y: number)
.input edge
.decl path(g: number, x: number, y: number)
path(g, x, y) :- edge(g, x, y).
path(g, x, z) :- path(g, x, y), edge(g, y, z).
.decl sink(g: number, x: number)
sink(g, x) :- edge(g, _, x), !edge(g, x, _).
.decl reached(g: number, n: number)
reached(g, n) :- edge(g, _, _), n = count : { path(g, _, _) }.
"""
"""Every rule stays within one g, so that stores which share the facts by g need not tell each other anything."""


class Shared:
    """A holder of several stores, each with the facts of some g."""

    few_changes = 0

    def __init__(self, number: int, least_budget: int) -> None:
        options = EngineOptions()
        self.stores = [OneStore(checked_program(PROGRAM), {}, options.limits) for _ in range(number)]
        self.least_budget = least_budget

    @property
    def strata(self) -> Sequence[StatefulStratum]:
        return self.stores[0].strata

    @contextmanager
    def epoch(self, doing: str = "") -> Iterator[None]:
        with ExitStack() as stack:
            for store in self.stores:
                stack.enter_context(store.epoch(doing))
            yield

    def _shares(self, facts: dict[str, Any]) -> list[dict[str, Any]]:
        n = len(self.stores)
        return [{name: rows[rows[:, 0] % n == i] for name, rows in facts.items()} for i in range(n)]

    def _changes(self, change: NetChange) -> list[NetChange]:
        return [NetChange(*both) for both in zip(self._shares(change.delete), self._shares(change.insert), strict=True)]

    def start_over(self, facts: dict[str, Any]) -> int:
        return sum(store.start_over(share) for store, share in zip(self.stores, self._shares(facts), strict=True))

    def facts_after(self, change: NetChange) -> dict[str, Any]:
        found = [store.facts_after(share) for store, share in zip(self.stores, self._changes(change), strict=True)]
        return {name: np.concatenate([facts[name] for facts in found]) for name in found[0]}

    def apply(self, change: NetChange) -> None:
        for store, share in zip(self.stores, self._changes(change), strict=True):
            store.apply(share)

    def reached(self, stratum: StatefulStratum) -> bool:
        return any(store.reached(stratum) for store in self.stores)

    def pass_by(self, stratum: StatefulStratum) -> None:
        for store in self.stores:
            store.pass_by(stratum)

    def changed(self, stratum: StatefulStratum) -> int:
        return sum(store.changed(stratum) for store in self.stores)

    def read(self, stratum: StatefulStratum) -> int:
        return sum(store.read(stratum) for store in self.stores)

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        return CostAnew(sum(store.cost(stratum).work for store in self.stores))

    def take_facts(self, stratum: StatefulStratum) -> None:
        for store in self.stores:
            store.take_facts(stratum)

    def update(self, stratum: StatefulStratum, allowance: Allowance) -> int:
        work = 0
        for store in self.stores:
            work += store.update(stratum, Allowance())
        allowance.look(1, work)
        return work

    def give_up(self, stratum: StatefulStratum) -> None:
        for store in self.stores:
            store.give_up(stratum)

    def evaluate(self, stratum: StatefulStratum) -> int:
        return sum(store.evaluate(stratum) for store in self.stores)

    def new_report(self, epoch: int, strategy: str, why: str) -> EpochReport:
        return EpochReport(epoch, strategy, why, 0.0, 0)

    def report_changes(self, report: EpochReport) -> None:
        for store in self.stores:
            part = store.new_report(report.epoch, "", "")
            store.report_changes(part)
            for whole, side in ((report.inserted, part.inserted), (report.deleted, part.deleted)):
                for name, rows in side.items():
                    whole[name] = np.concatenate((whole[name], rows)) if name in whole else rows

    def effects(self) -> None:
        """Nobody keeps them."""

    def commit(self) -> None:
        for store in self.stores:
            store.commit()

    def undo(self) -> None:
        for store in self.stores:
            store.undo()


def told(side: dict[str, Any]) -> dict[str, set[tuple[int, ...]]]:
    return {name: set(map(tuple, np.asarray(rows).tolist())) for name, rows in side.items()}


EDGES = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)), max_size=12)


def rows_of(edges: set[tuple[int, int, int]]) -> dict[str, Any]:
    return {"edge": np.array(sorted(edges), np.int64).reshape(-1, 3)}


@pytest.mark.parametrize(("switching", "least"), [("stratum", 1 << 20), ("stratum", 5), ("program", 5)])
def test_several_stores_are_driven_as_one_is(switching: str, least: int) -> None:
    done: Counter[str] = Counter()

    @examples(40)
    @given(st.lists(EDGES, min_size=2, max_size=5))
    def agrees(history: list[set[tuple[int, int, int]]]) -> None:
        holder = Shared(3, least)
        several = Driver(holder, Policy(switch=0.0, switching=switching))
        one = make_engine(checked_program(PROGRAM), EngineOptions(), "update")
        several.bootstrap(rows_of(history[0]))
        one.bootstrap(rows_of(history[0]))
        for before, after in pairwise(history):
            change = net_change(rows_of(before - after), rows_of(after - before), one.contains)
            report, wanted = several.update(change), one.update(change)
            done[report.strategy] += 1
            assert told(report.inserted) == told(wanted.inserted)
            assert told(report.deleted) == told(wanted.deleted)
            for name in ("edge", "path", "sink", "reached"):
                found = np.concatenate([store.rows(name) for store in holder.stores])
                assert told({name: found}) == told({name: one.rows(name)})
                assert len(found) == one.count(name)

    agrees()
    assert done["update"]
    assert bool(done["bootstrap"] + done["mixed"]) is (least == 5)
