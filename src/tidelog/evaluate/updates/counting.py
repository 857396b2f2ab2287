"""Counting: the baseline that keeps a count per tuple and iteration, for every iteration in which it has derivations.

This is how Soufflé's counting mode and differential dataflow maintain a fixpoint (paper 002, sections 1 and 5): a tuple
belongs to the least iteration with a positive count, and when that falls to zero the next one is at hand, so that
nothing ever needs to be discovered again. The price is the state, O(m |I|), and a Bootstrap that counts all derivations
and not only the first ones of each tuple.

Bootstrap: that of `bootstrap.py`, then each derivation of a stratum is counted under its level + 1 (its *level* is the
greatest iteration of its body). Update, bucket by bucket: when a tuple's iteration changes, the derivations that it
took part in are filed as departures under their old level + 1, and those that it takes part in as arrivals under their
level, as known so far, + 1. When bucket k is reached, everything of an iteration < k is final, and

- a departure counts if the tuple that filed it was the last of its changed parts to become known as changed;
- an arrival counts if it still has level k - 1 and the tuple that filed it was the last of its changed parts to arrive,

so that each derivation is counted once. Rows of the state hold the least iteration and its count, as for the other
strategies. Cost of an update: the derivations of changed tuples, whether or not their heads change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tidelog.analysis.checked import Checked
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap
from tidelog.evaluate.facts import Facts
from tidelog.evaluate.profile import Recorder
from tidelog.evaluate.state import RowChange, State
from tidelog.evaluate.statistics import Statistics
from tidelog.evaluate.updates.derivation_rows import DerivationRows, Found, Iterations, level, prepare
from tidelog.evaluate.updates.level_counts import LevelCounts, Numbers, merged, words
from tidelog.plain import dataclass, field
from tidelog.plan import steps
from tidelog.plan.orders.derivations import all_derivations, change_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.steps import View
from tidelog.store import NEVER, Relation
from tidelog.store.index import Index
from tidelog.store.update import UNLIMITED, OverBudget, Watch, changed_rows

EMPTY = np.empty(0, np.int64)
AT_ONCE = 1 << 21
"""About how many derivations Bootstrap counts at a time."""


class CountingState(State):
    """A state with the counts of all iterations beside it, by relation."""

    def __init__(
        self,
        checked: Checked,
        functors: Mapping[str, Callable[..., Any]],
        recorder: Recorder | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(checked, functors, recorder, threads=threads)
        self.counts: dict[str, LevelCounts] = {}
        self.replaced_counts: dict[str, LevelCounts] | None = None  # of an epoch that is evaluated from scratch

    def commit(self) -> None:
        for counts in self.counts.values():
            counts.commit()
        self.replaced_counts = None
        super().commit()

    def undo(self) -> None:
        if self.replaced_counts is not None:
            self.counts, self.replaced_counts = self.replaced_counts, None
        for counts in self.counts.values():
            counts.undo()
        super().undo()

    def _compact(self, relation: Relation) -> None:
        alive = relation.now() != NEVER
        super()._compact(relation)
        if relation.count < len(alive) and relation.name in self.counts:
            self.counts[relation.name].renumber(alive)


# ---- Bootstrap


class CountingBootstrap(Bootstrap):
    """Bootstrap, and then a count of all derivations."""

    state: CountingState

    def run(self, facts: Mapping[str, Facts]) -> None:
        self.state.replaced_counts, self.state.counts = self.state.counts, {}
        super().run(facts)

    def evaluate(self, strata: Sequence[StatefulStratum]) -> None:
        super().evaluate(strata)
        for stratum in strata:
            if stratum.rules and not (stratum.whole or stratum.best):
                self.state.counts |= count_derivations(self.state, stratum)


def count_derivations(state: State, stratum: StatefulStratum) -> dict[str, LevelCounts]:
    """The counts of a stratum whose tuples and iterations are known."""
    sums = {name: _Sum() for name in stratum.relations}
    iterations = Iterations(state, stratum.relations)
    for rule in stratum.rules:
        plan = all_derivations(rule, stratum.relations, Statistics(state.database))
        for found in in_portions(state, plan, DerivationRows(state, plan, stratum.relations)):
            heads = state.database[rule.relation].find(found.heads)
            _, now = iterations.of_parts(found)
            sums[rule.relation].add(words(heads, level(found, now) + 1))
    return {name: total.counts() for name, total in sums.items()}


def in_portions(state: State, plan: steps.Plan, derivations: DerivationRows) -> Iterator[Found]:
    """The derivations that a plan finds, some million at a time if it begins with a list."""
    first = plan.steps[0]
    if not isinstance(first, steps.Scan):
        yield derivations.run()
        return
    relation = state.database[first.match.relation]
    start, portion = 0, 1 << 12
    while start < relation.count:
        stop = min(start + portion, relation.count)
        relation.list_rows(View.CAME, start + np.flatnonzero(relation.now(slice(start, stop)) != NEVER))
        found = derivations.run()
        yield found
        start = stop
        portion = max(256, min(2 * portion, portion * AT_ONCE // max(len(found), 1)))
    relation.list_rows(View.CAME, EMPTY)


class _Sum:
    """Adds up words, many at a time: parts of similar size are merged, so that each word is sorted a few times."""

    def __init__(self) -> None:
        self.parts: list[tuple[Words, Numbers]] = []

    def add(self, keys: Words) -> None:
        distinct, numbers = np.unique(keys, return_counts=True)
        self.parts.append((distinct, numbers.astype(np.int64)))
        while len(self.parts) > 1 and len(self.parts[-2][0]) < 2 * len(self.parts[-1][0]):
            last = merged(self.parts[-2:])
            self.parts[-2:] = [last]

    def counts(self) -> LevelCounts:
        if not self.parts:
            return LevelCounts()
        return LevelCounts(*merged(self.parts))


# ---- Update


@dataclass
class Filed:
    """Derivations that one plan found at one time, and wait for their bucket."""

    relation: str
    arrives: bool
    time: int  # the bucket in which the tuples changed that filed them
    heads: Words
    found: Found

    def keep(self, chosen: np.ndarray) -> Filed:
        return Filed(self.relation, self.arrives, self.time, self.heads[chosen], self.found.keep(chosen))


@dataclass
class Moved:
    """The rows of a relation that left their place in the state before, and those that came to one in the new."""

    left: Words
    came: Words


@dataclass
class Buckets:
    """What waits: derivations, and rows that have derivations in an iteration should they not be found before."""

    filed: defaultdict[int, list[Filed]] = field(default_factory=lambda: defaultdict(list))
    candidates: defaultdict[int, list[tuple[str, Words]]] = field(default_factory=lambda: defaultdict(list))

    def next(self) -> int | None:
        return min((*self.filed, *self.candidates), default=None)


class CountingUpdate:
    """Keeps one stratum up to date."""

    def __init__(self, state: CountingState, stratum: StatefulStratum) -> None:
        self.state, self.stratum = state, stratum
        self.relations = [state.database[name] for name in (*stratum.inputs, *stratum.relations)]
        self.iterations = Iterations(state, stratum.relations)
        self.buckets = Buckets()
        plans = [
            plan for rule in stratum.rules for plan in change_plans(rule, stratum.relations, Statistics(state.database))
        ]
        self.plans = plans
        self.scans = [(scanned(plan), DerivationRows(state, plan, stratum.relations)) for plan in plans]

    @property
    def stale(self) -> bool:
        return any(self.state.database.relations.get(r.name) is not r for r in self.relations)

    def prepare(self) -> list[Index]:
        prepare(self.state, [derivations for _, derivations in self.scans])
        return []

    @property
    def effort(self) -> int:
        return sum(derivations.effort for _, derivations in self.scans)

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        """Update the stratum by what changed below it and among its facts; the work done."""
        effort_before = self.effort
        self.buckets = Buckets()
        self.file(0, self.settle_facts())
        while (k := self.buckets.next()) is not None:
            work = self.effort - effort_before
            if work > budget:
                raise OverBudget
            if watch is not None:
                watch(k, work)
            self.file(k, self.settle(k))
        for name in self.stratum.relations:
            self.state.epoch.changes[name] = RowChange(*changed_rows(self.state.database[name]))
        return self.effort - effort_before

    # ---- filing

    def file(self, time: int, moved: Mapping[str, Moved]) -> None:
        """File the derivations of the tuples that moved in bucket `time`."""
        database = self.state.database
        for name, rows in moved.items():
            database[name].list_rows(View.LEFT, rows.left)
            database[name].list_rows(View.CAME, rows.came)
        for scan, derivations in self.scans:
            rows = moved.get(scan.relation, NOTHING)
            if len(rows.left if scan.view is View.LEFT else rows.came):
                pivot = next(i for i, part in enumerate(derivations.parts) if part.row == scan.row)
                self.file_found(time, pivot, derivations)
        for name in moved:
            database[name].list_rows(View.LEFT, EMPTY)
            database[name].list_rows(View.CAME, EMPTY)

    def file_found(self, time: int, pivot: int, derivations: DerivationRows) -> None:
        found = derivations.run()
        before, now = self.iterations.of_parts(found)
        by = known_as_changed(before, now, derivations.arrives) == time
        found = found.keep(by[:, pivot] & ~by[:, :pivot].any(axis=1))
        buckets = level(found, self.iterations.of_parts(found)[derivations.arrives]) + 1
        relation = self.state.database[derivations.relation]
        heads = relation.enter_absent(found.heads) if derivations.arrives else relation.find(found.heads)
        filed = Filed(derivations.relation, derivations.arrives, time, heads, found)
        for bucket in np.unique(buckets).tolist():
            self.buckets.filed[bucket].append(filed.keep(buckets == bucket))

    # ---- settling

    def settle_facts(self) -> dict[str, Moved]:
        """Bucket 0: what changed below the stratum, and among its facts."""
        moved = {}
        for name in self.stratum.inputs:
            change = self.state.epoch.changes.get(name)
            if change:
                moved[name] = Moved(change.deleted, change.inserted)
        for name in self.stratum.relations:
            rows = self.state.database[name].changed()
            before, now = self.iterations.of(name, rows)
            self.expect(name, rows[now == NEVER], 0)
            moved[name] = Moved(rows[(before != NEVER) & (before != now)], rows[(now == 0) & (before != 0)])
        return moved

    def settle(self, k: int) -> dict[str, Moved]:
        """Make iteration k that of the new state; the rows that moved."""
        heads: defaultdict[str, list[tuple[Words, int]]] = defaultdict(list)
        for filed in self.buckets.filed.pop(k, []):
            heads[filed.relation].append((filed.heads[self.counts(filed, k)], 1 if filed.arrives else -1))
        candidates: defaultdict[str, list[Words]] = defaultdict(list)
        for name, rows in self.buckets.candidates.pop(k, []):
            candidates[name].append(rows)
        return {
            name: self.settle_relation(k, name, heads[name], np.concatenate([EMPTY, *candidates[name]]))
            for name in self.stratum.relations
            if heads[name] or candidates[name]
        }

    def counts(self, filed: Filed, k: int) -> np.ndarray:
        """Whether filed derivations count, now that their bucket is reached."""
        before, now = self.iterations.of_parts(filed.found)
        counted = known_as_changed(before, now, filed.arrives).max(axis=1, initial=-1) == filed.time
        return counted & (level(filed.found, now) == k - 1) if filed.arrives else counted

    def settle_relation(self, k: int, name: str, heads: list[tuple[Words, int]], candidates: Words) -> Moved:
        relation, counts = self.state.database[name], self.state.counts[name]
        found, which = np.unique(np.concatenate([EMPTY, *(rows for rows, _ in heads)]), return_inverse=True)
        signs = np.concatenate([EMPTY, *(np.full(len(rows), sign) for rows, sign in heads)])
        change = np.bincount(which, signs, len(found)).astype(np.int64)
        counts.add(found[change != 0], k, change[change != 0])
        rows = np.union1d(found[change != 0], candidates)
        number, (_, now) = counts.get(rows, k), self.iterations.of(name, rows)
        came, lost = (number > 0) & (now > k), (number == 0) & (now == k)
        written = (number > 0) & (now >= k) | lost
        relation.remember(rows[written])
        relation.set_now(rows[written], np.where(lost, NEVER, k)[written])
        relation.set_derived(rows[written], number[written])
        relation.dirty = True
        waiting = np.isin(rows, candidates) & (number == 0) & (now == NEVER)
        self.expect(name, rows[lost | waiting], k)
        return Moved(rows[lost | (came & (now != NEVER))], rows[came])

    def expect(self, name: str, rows: Words, k: int) -> None:
        """Rows that have no derivation in iteration k, nor before: look at them where they have some."""
        iterations = self.state.counts[name].next_after(rows, k)
        for bucket in np.unique(iterations[iterations != NEVER]).tolist():
            self.buckets.candidates[bucket].append((name, rows[iterations == bucket]))


NOTHING = Moved(EMPTY, EMPTY)


def scanned(plan: steps.Plan) -> steps.Match:
    """The list that a plan begins with."""
    first = plan.steps[0]
    assert isinstance(first, steps.Scan)
    return first.match


def known_as_changed(before: Words, now: Words, arrives: bool) -> Words:
    """The bucket in which each part left its old place, or (`arrives`) came to its new one; -1 if it has not changed.

    A negated part that is gone has come to be absent, like all that happens below the stratum, in bucket 0.
    """
    came = np.where(now == NEVER, before, now)
    return np.where(before == now, -1, came if arrives else np.minimum(before, now))
