"""Many stores as the holder of a program's relations: every question is asked of all workers at once.

The answers add up, or hold if they hold for one. What an epoch is, and what is decided from the answers, is said once,
in `epochs/driver.py`, which does not know that there are many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np

from tidelog.epochs.budget import Allowance, CostAnew
from tidelog.epochs.changes import NetChange
from tidelog.epochs.one_store import OneStore
from tidelog.epochs.report import EpochReport
from tidelog.evaluate.bindings import Words
from tidelog.exchange.homes import holders
from tidelog.exchange.part_store import PartStore
from tidelog.plan.exchange.cut import Placements
from tidelog.plan.stateful import StatefulStratum

Answer = TypeVar("Answer")


class Stores(Protocol):
    """The stores of all workers."""

    size: int

    def each(self, ask: Callable[[PartStore, int], Answer]) -> list[Answer]:
        """What all stores answer to a question, asked of each with its number, all at the same time."""
        ...


class Many:
    """See the module's docstring, and `holder.Holder`. Changes and facts come whole, and are shared out."""

    least_budget, few_changes = OneStore.least_budget, OneStore.few_changes

    def __init__(self, stores: Stores, strata: Sequence[StatefulStratum], placed: Placements) -> None:
        self._stores, self.strata, self._placed = stores, strata, placed

    def _shares(self, facts: Mapping[str, Words]) -> list[dict[str, Words]]:
        shares: list[dict[str, Words]] = [{} for _ in range(self._stores.size)]
        for name, rows in facts.items():
            held = holders(self._placed[name], rows, self._stores.size)
            for share, mask in zip(shares, held, strict=True):
                share[name] = rows[mask]
        return shares

    @contextmanager
    def epoch(self, doing: str = "") -> Iterator[None]:
        yield

    def start_over(self, facts: Mapping[str, Words]) -> int:
        shares = self._shares(facts)
        return sum(self._stores.each(lambda store, me: store.start_over(shares[me])))

    def facts_after(self, change: NetChange) -> dict[str, Words]:
        def owned(store: PartStore, me: int) -> dict[str, Words]:
            after = store.facts_after(self._share(change, me))
            return {name: np.asarray(rows)[store.owned(name, np.asarray(rows))] for name, rows in after.items()}

        parts = self._stores.each(owned)
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _share(self, change: NetChange, me: int) -> NetChange:
        return NetChange(self._shares(change.delete)[me], self._shares(change.insert)[me], change.batch)

    def apply(self, change: NetChange) -> None:
        deleted, inserted = self._shares(change.delete), self._shares(change.insert)
        self._stores.each(lambda store, me: store.apply(NetChange(deleted[me], inserted[me], change.batch)))

    def reached(self, stratum: StatefulStratum) -> bool:
        return any(self._stores.each(lambda store, _: store.reached(self._of(store, stratum))))

    def _of(self, store: PartStore, stratum: StatefulStratum) -> StatefulStratum:
        return store.strata[self._number(stratum)]

    def _number(self, stratum: StatefulStratum) -> int:
        return next(n for n, other in enumerate(self.strata) if other is stratum)

    def pass_by(self, stratum: StatefulStratum) -> None:
        self._stores.each(lambda store, _: store.pass_by(self._of(store, stratum)))

    def changed(self, stratum: StatefulStratum) -> int:
        return sum(self._stores.each(lambda store, _: store.changed(self._of(store, stratum))))

    def read(self, stratum: StatefulStratum) -> int:
        return sum(self._stores.each(lambda store, _: store.read(self._of(store, stratum))))

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        return CostAnew(sum(c.work for c in self._stores.each(lambda s, _: s.cost(self._of(s, stratum)))))

    def take_facts(self, stratum: StatefulStratum) -> None:
        self._stores.each(lambda store, _: store.take_facts(self._of(store, stratum)))

    def update(self, stratum: StatefulStratum, allowance: Allowance) -> int:
        """Together they may do what one might; who gives up, does so with all others."""
        work = allowance.work

        def updated(store: PartStore, _: int) -> int:
            return store.update_within(self._of(store, stratum), work)

        done = sum(self._stores.each(updated))
        allowance.done = done
        return done

    def give_up(self, stratum: StatefulStratum) -> None:
        self._stores.each(lambda store, _: store.give_up(self._of(store, stratum)))

    def evaluate(self, stratum: StatefulStratum) -> int:
        return sum(self._stores.each(lambda store, _: store.evaluate(self._of(store, stratum))))

    def new_report(self, epoch: int, strategy: str, why: str) -> EpochReport:
        return EpochReport(epoch, strategy, why, 0.0, 0)

    def report_changes(self, report: EpochReport) -> None:
        def changes(store: PartStore, _: int) -> EpochReport:
            part = EpochReport(0, "", "", 0.0, 0)
            store.report_changes(part)
            return part

        parts = self._stores.each(changes)
        for side in ("inserted", "deleted"):
            merged: dict[str, list[Any]] = {}
            for part in parts:
                for name, rows in getattr(part, side).items():
                    if len(rows):
                        merged.setdefault(name, []).append(np.asarray(rows))
            getattr(report, side).update({name: np.concatenate(some) for name, some in merged.items()})

    def effects(self) -> None:
        """Nobody keeps them yet."""

    def commit(self) -> None:
        self._stores.each(lambda store, _: store.commit())

    def undo(self) -> None:
        self._stores.each(lambda store, _: store.undo())

    # ---- contents

    def rows(self, name: str) -> Words:
        return np.concatenate(self._stores.each(lambda store, _: np.asarray(store.owned_rows(name))))

    def count(self, name: str) -> int:
        return len(self.rows(name))
