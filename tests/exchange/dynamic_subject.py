"""Asynchronous runs under watch: every check of the model in `docs/dynamic-exchange.md`, on real stores.

What is checked while it runs: Lemma 1 whenever facts get their time; Lemma 2 whenever a fact is stored; that a phase is
said to be over only when it is.
Afterwards: every fact is on exactly one worker, the one that owns it; each rule has fired for exactly the instances
that one store finds over the final relations, each of them once; and nobody waits for anything.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from strategies.engine import column_types, value_of, word_of
from strategies.epochs import Facts
from tidelog.analysis.checked import Checked
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.stages import PlanRun
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.materialise import Cluster, SharedProgram
from tidelog.exchange.dynamic.messages import PartialMatches, Work
from tidelog.exchange.dynamic.partial_matches import Derived
from tidelog.exchange.dynamic.partition import ByHash, ByMap, Partition
from tidelog.exchange.dynamic.server import Server, Tally
from tidelog.exchange.seeded import Seeded
from tidelog.plan.exchange.phases import PivotPlan
from tidelog.plan.orders.estimate import Guess
from tidelog.plan.orders.order import order
from tidelog.store import Database

MOST_STEPS = 60_000
Instances = Counter[tuple[int, str, tuple[int, ...]]]
"""How often rules have derived heads: (rule, relation, row)."""


class Wrong(Exception):
    """A check has failed."""


def claim(name: str, holds: Any) -> None:
    if not holds:
        raise Wrong(name)


class Watch(Tally):
    """Sees what the workers of a run do."""

    def __init__(self, run: WatchedRun) -> None:
        super().__init__()
        self.run = run

    def stored(self, server: Server, relation: str, before: int) -> None:
        rows = np.asarray(server.held.context.database[relation].rows()[before:], np.int64)
        self.run.note(server.held.me, relation, rows)
        self.run.bound_times(server, relation, before, rows)

    def fired(self, server: Server, plan: PivotPlan, derived: Derived) -> None:
        super().fired(server, plan, derived)
        for row in derived.rows.tolist():
            self.run.fired[plan.rule, derived.relation, tuple(row)] += 1


class AnyOrder(Server):
    """A worker that takes what it has to do in any order, some of it at a time."""

    run: WatchedRun
    latest = latest_matches = -1
    """Times of the latest pivot that was here, as a fact or in partial matches; and of the latest in those."""

    def act(self) -> bool:
        acted = super().act()
        self.run.check_times(self)
        return acted

    def go_on(self, messages: Sequence[PartialMatches]) -> None:
        if self.run.random.random() < 0.3:  # one by one
            self._matches += messages[1:]
            messages = messages[:1]
        self.latest_matches = max(self.latest_matches, *(int(message.times.max()) for message in messages))
        self.latest = max(self.latest, self.latest_matches)
        super().go_on(messages)

    def order(self) -> list[Any]:
        kinds = super().order()
        self.run.random.shuffle(kinds)
        return kinds

    def own(self) -> bool:
        waits, self._facts = self._facts, self._some(self._facts)
        found, taken = bool(waits), {id(message) for message in self._facts}
        for message in self._facts:
            self.run.come_home(self, self.names[message.relation], message.rows)
        super().own()
        self._facts += [message for message in waits if id(message) not in taken]
        return found

    def answer(self) -> bool:
        waits, self._announcements = self._announcements, self._some(self._announcements)
        found, taken = bool(waits), {id(message) for message in self._announcements}
        for sender, message in self._announcements:
            self.run.come_by(self, sender, message.values, message.positions)
        super().answer()
        self._announcements += [message for message in waits if id(message) not in taken]
        return found

    def match(self) -> bool:
        self.run.random.shuffle(self._matches)
        return super().match()

    def begin_with(self, name: str, most: int) -> None:
        super().begin_with(name, self.run.random.choice((1, 3, most)))
        times = self.held.clock.times[name].of(np.arange(self.pivoted[name]))
        self.latest = max(self.latest, int(times[-1]))

    def _some(self, messages: list[Any]) -> list[Any]:
        return [m for m in messages if self.run.random.random() < 0.7] or messages[:1]

    def _look_for_the_end(self) -> bool:
        if not self.done and self.detector.ended:
            claim("ends too early", self.run.quiet(self.phase))
        return super()._look_for_the_end()


class WatchedRun:
    """One program on some workers, in an order that a seed decides."""

    cluster_class: type[Cluster] = Cluster
    server_class: type[AnyOrder] = AnyOrder

    def __init__(self, checked: Checked, size: int, seed: int) -> None:
        self.checked, self.random = checked, random.Random(seed)
        self.fired: Instances = Counter()
        self.present: list[defaultdict[int, set[int]]] = [defaultdict(set) for _ in range(size)]
        self.floors: defaultdict[tuple[int, int, int], int] = defaultdict(lambda: -1)  # of (owner, value, position)
        self.home: dict[tuple[str, tuple[int, ...]], int] = {}
        self.later_than: dict[tuple[int, str, int], int] = {}  # (worker, relation, row), not stamped yet
        self.database = Database()
        arities = {name: info.arity for name, info in checked.relations.items()}
        keys = {name: self.random.randrange(arity) for name, arity in arities.items() if arity}
        self.program = self.make_program(keys)
        self.seeded = Seeded(size, seed)
        self.partition = self.make_partition(size)
        server_class = type("Watched", (self.server_class,), {"run": self})
        cluster_class = type("WatchedCluster", (self.cluster_class,), {"server_class": server_class})
        self.cluster = cluster_class(
            self.program,
            self.partition,
            self.seeded.transports,
            self.database,
            termination=self.random.choice(("ring", "tree")),
            tallies=[Watch(self) for _ in range(size)],
        )

    def make_program(self, keys: dict[str, int]) -> SharedProgram:
        return SharedProgram(self.checked, keys=keys)

    def make_partition(self, size: int) -> Partition:
        """By hash, or anyhow."""
        if self.random.random() < 0.5:
            return ByHash(size)
        values = np.array(sorted({*range(-3, 12), *self.random.sample(range(100), 20)}), np.int64)
        some = range(size) if self.random.random() < 0.8 else [0]
        return ByMap(size, values, np.array([self.random.choice(some) for _ in values], np.int64))

    # ---- the run

    def materialise(self, facts: Facts) -> None:
        self.cluster.load(self.words(facts), introduced=self.random.random() < 0.7)
        for me, held in enumerate(self.cluster.held):
            for name in self.program.arities:
                self.note(me, name, np.asarray(held.context.database[name].rows(), np.int64), check=False)
        claim("never ends", self.seeded.run(self.cluster.servers, MOST_STEPS))
        self.check_end()

    def words(self, facts: Facts) -> dict[str, np.ndarray]:
        found = {}
        for name, rows in facts.items():
            types = column_types(self, self.checked.relations[name])
            words = [[word_of(v, t, self.database) for v, t in zip(row, types, strict=True)] for row in rows]
            found[name] = np.array(words, np.int64).reshape(len(rows), len(types))
        return found

    def contents(self, name: str) -> set[tuple[Any, ...]]:
        types = column_types(self, self.checked.relations[name])
        rows = self.cluster.rows(name).tolist()
        return {tuple(value_of(w, t, self.database) for w, t in zip(row, types, strict=True)) for row in rows}

    # ---- checks

    def quiet(self, phase: int) -> bool:
        """Whether nobody has work in a phase, and none is under way."""
        under_way = [m for channel in self.seeded.channels.values() for m in channel]
        under_way += [m for transport in self.seeded.transports for _, m in transport.inbox]
        if any(isinstance(m, Work) for m in under_way):
            return False
        for server in self.cluster.servers:
            database = server.held.context.database
            pivots = any(server.pivoted[n] < database[n].count for n in server.matching.by_pivot)
            queues = server._facts, server._announcements, server._answers, server._matches, server._starting
            queues = (*queues, server._later.get(phase))
            if server.phase != phase or pivots or any(queues) or server.owned.waiting:
                return False
        return True

    def note(self, me: int, relation: str, rows: np.ndarray, check: bool = True) -> None:
        """Lemma 2. Maps only grow, so it can begin to fail only where a fact is stored, and for its values."""
        positions = self.program.positions
        values = set()
        for column in range(rows.shape[1]):
            for value in rows[:, column].tolist() if positions[relation, column] >= 0 else ():
                self.present[me][value].add(positions[relation, column])
                values.add(value)
        if check:
            for value in values:
                self.check_occurrences(value)

    def come_by(self, server: AnyOrder, owner: int, values: np.ndarray, positions: np.ndarray) -> None:
        """What is announced is later than any pivot that has been where it comes by."""
        for item, position in np.argwhere(positions).tolist():
            at = owner, int(values[item]), position
            self.floors[at] = max(self.floors[at], server.latest)

    def come_home(self, server: AnyOrder, relation: str, rows: np.ndarray) -> None:
        """A fact is later than any pivot that was on its owner before it came."""
        for row in rows.tolist():
            self.home.setdefault((relation, tuple(row)), server.latest)

    def bound_times(self, server: Any, relation: str, before: int, rows: np.ndarray) -> None:
        me = server.held.me
        for number, row in enumerate(rows.tolist(), before):
            told = [self.floors[me, v, self.program.positions[relation, c]] for c, v in enumerate(row)]
            came = self.home.get((relation, tuple(row)), -1)
            self.later_than[me, relation, number] = max(server.latest_matches, came, *told)

    def check_times(self, server: AnyOrder) -> None:
        """Lemma 1."""
        for me, relation, number in [at for at in self.later_than if at[0] == server.held.me]:
            times = server.held.clock.times[relation]
            if number < times.stamped:
                claim("Lemma 1", times.of(np.array([number]))[0] > self.later_than.pop((me, relation, number)))

    def check_occurrences(self, value: int) -> None:
        size = len(self.present)
        real = [(position, k) for k in range(size) for position in self.present[k].get(value, ())]
        for k, held in enumerate(self.cluster.held):
            if value in self.present[k]:
                number = held.occurrences.find(np.array([value]))[0]
                claim("Lemma 2", number >= 0)
                for position, other in real:
                    claim("Lemma 2", bits.has(held.occurrences.masks[number, position], other))

    def check_end(self) -> None:
        for name in self.program.arities:
            rows = self.cluster.rows(name)
            claim("one server", len(set(map(tuple, rows.tolist()))) == len(rows))
            for me, held in enumerate(self.cluster.held):
                mine = np.asarray(held.context.database[name].rows(), np.int64)
                claim("one server", (held.owners(name, mine) == me).all())
        for server in self.cluster.servers:
            claim("somebody waits", not server.owned.waiting)
        wanted = self.instances()
        claim("nonrepetition", not self.fired - wanted)
        claim("instance lost", not wanted - self.fired)

    def instances(self) -> Instances:
        """What one store finds over the final relations."""
        database, found = self.database.sibling(), Counter[tuple[int, str, tuple[int, ...]]]()
        for name, arity in self.program.arities.items():
            database.create(name, arity).insert(self.cluster.rows(name))
            database[name].settle()
        context = Prepared(self.checked, {}).context(database)
        for planned in self.program.phases:
            for rule in () if planned.phase.whole else planned.phase.rules:

                def count(rows: np.ndarray, number: int = rule.number, name: str = rule.relation) -> None:
                    found.update((number, name, tuple(row)) for row in rows.tolist())

                PlanRun(context, order(rule, {}, Guess(self.program.arities), existential=False), count).run()
        return found
