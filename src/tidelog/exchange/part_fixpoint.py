"""Evaluation from scratch on many workers, each with its part of the relations: the fixpoint of `evaluate/fixpoint.py`.

An iteration is one of all workers. Partial matches hop from worker to worker, a wave for each hop; in the last wave,
heads go to those who hold them. What a worker derives for others goes into an *outbox* first, a relation of its own, so
that a head is sent once however often, and in however many iterations, it is derived here: its owner knows it already.
With state, it is sent with the number of its derivations in its first iteration. Whether anything was new rides on the
markers of the next iteration's first wave. A stratum of which nothing travels runs inside of each store, to its end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.fixpoint import FIRST_LOOK, Fixpoint
from tidelog.evaluate.special import Gate
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.statistics import Statistics
from tidelog.exchange.agreement import Agreement
from tidelog.exchange.dictionaries import Entries, Extent, entries_since, learn
from tidelog.exchange.homes import FIRST, holders, with_homes
from tidelog.exchange.journeys import Journey, hops_of_matches, tells_others
from tidelog.exchange.waves import Waves
from tidelog.plain import dataclass, field, replace
from tidelog.plan import steps
from tidelog.plan.exchange.cut import Placements, cut, hops
from tidelog.plan.program import StratumPlan, plan_stratum
from tidelog.plan.steps import Emit, HoldersOf, Receive, Send
from tidelog.store import ArithmeticFault, Database, Relation

OUTBOX = "@out"
TEXTS, PLACES = -2, -1
"""The ports of new texts, and of where each begins; those of records are their arities."""


@dataclass
class Share:
    """What a worker has to do with the others: the waves, what is agreed on, where tuples are, and what values mean."""

    waves: Waves
    agreement: Agreement
    placed: Placements
    known: Extent = field(default_factory=Extent)
    """How far the dictionaries go that all workers have."""

    def held(self, name: str, rows: Words) -> Words:
        """Those of the rows that this worker holds."""
        return rows[holders(self.placed[name], rows, self.waves.size)[self.waves.me]]

    def tell_values(self, database: Database) -> None:
        """The first worker tells the others which texts and records it has made; all others have made none."""
        waves = self.waves
        waves.begin()
        if waves.me == FIRST:
            new = entries_since(database, self.known)
            for to in range(waves.size):
                if to != FIRST and new:
                    waves.send(to, 1, TEXTS, new.texts)
                    waves.send(to, 1, PLACES, new.places)
                    for arity, rows in new.records.items():
                        waves.send(to, 1, int(arity), rows)
            waves.end(1)
        else:
            waves.end(1)
            come = dict(waves.arrived(1))
            if come:
                records = {str(port): rows for port, rows in come.items() if port >= 0}
                learn(database, Entries(self.known, come[TEXTS], come[PLACES].astype(np.int64), records))
        self.known = Extent.of(database)


class PartFixpoint(Fixpoint):
    """See the module's docstring. What one worker evaluates for all, or each by itself, is not `together`."""

    share: Share
    together = True

    # ---- plans

    def reordered(self, stratum: StratumPlan) -> StratumPlan:
        if not self.together:
            return super().reordered(stratum)
        names = stratum.stratum.relations
        inputs = {atom.relation for rule in stratum.rules for atom in rule.atoms()}
        expected = max((self.database[name].count for name in inputs), default=0)
        local = Statistics(self.database, names, float(expected))
        planned = self.share.agreement.planned(
            local, lambda estimate: plan_stratum(stratum.stratum, stratum.rules, estimate, stratum.counted)
        )
        return replace(planned, gates=stratum.gates)

    def run_stratum(self, stratum: StratumPlan) -> None:
        if not self.together:
            super().run_stratum(stratum)
            return
        placed = self.share.placed
        starting, delta = ([cut(plan, placed) for plan in plans] for plans in (stratum.starting, stratum.delta))
        if any(hops(plan) for plan in (*starting, *delta)):
            self.drive_together(stratum, starting, delta)
            return
        facts = [plan for plan in stratum.once if plan not in stratum.starting]
        once = (*facts, *map(self._lowered, starting))
        super().run_stratum(replace(stratum, once=once, delta=tuple(map(self._lowered, delta))))

    def _lowered(self, plan: steps.Plan) -> steps.Plan:
        return with_homes(plan, self.share.waves.me, self.share.waves.size)

    def enter(self, facts: dict[str, Words], gates: dict[str, Gate]) -> None:
        held = {name: self.share.held(name, rows) for name, rows in facts.items()} if self.together else facts
        super().enter(held, gates)

    def run_native(self, stratum: StratumPlan, begin: Callable[[], None]) -> None:
        if not self.together:
            super().run_native(stratum, begin)
            return
        plans = (*stratum.starting, *stratum.delta)  # to the end with these: others are not asked for better ones
        self.together = False
        try:
            native = self.database.stratum(stratum.stratum.relations, plans)
            self.together = True
            native.run(self.watch, begin=begin)
        except ArithmeticFault as problem:
            raise self.context.fault(plans[problem.plan].rule, str(problem)) from None
        finally:
            self.together = True
        self.derivations += sum(native.derivations)
        self.effort += native.effort

    def watch(self, iteration: int, tuples: int) -> None:
        super().watch(iteration, tuples)
        self.share.waves.look()

    # ---- iterations of all

    def drive_together(self, stratum: StratumPlan, starting: list[steps.Plan], delta: list[steps.Plan]) -> None:
        relations = [self.database[name] for name in stratum.stratum.relations]
        outboxes = {
            r.name: self.database.unmounted(r.name + OUTBOX, r.arity, stateful=stratum.counted) for r in relations
        }
        facts = {name: self.encoded(rows) for name, rows in stratum.facts.items()}
        with self.database.mounted(list(outboxes.values())):
            for relation in (*relations, *outboxes.values()):
                relation.restart()
            self.enter(facts, {})
            if not stratum.counted:
                self._once(stratum, starting, outboxes)
                starting = []
                for relation in (*relations, *outboxes.values()):
                    relation.restart()
            self._iterate(stratum, starting, delta, relations, outboxes)
        for relation in outboxes.values():
            self.database.retire(relation)
        for relation in relations:
            relation.settle()

    def _once(self, stratum: StratumPlan, starting: list[steps.Plan], outboxes: dict[str, Relation]) -> None:
        if starting:
            self._round(Round(self, stratum, starting, outboxes), outboxes, 0)

    def _iterate(
        self,
        stratum: StratumPlan,
        starting: list[steps.Plan],
        delta: list[steps.Plan],
        relations: list[Relation],
        outboxes: dict[str, Relation],
    ) -> None:
        first, later = (Round(self, stratum, plans, outboxes) for plans in ([*starting, *delta], delta))
        iteration, new, look = 0, 0, FIRST_LOOK
        while True:
            iteration += 1
            self.context.iteration = iteration - 1
            self.watch(iteration, sum(relation.count for relation in relations))
            found = self._round(first if iteration == 1 else later, outboxes, new)
            if iteration > 1 and found == 0:
                return
            new = sum([relation.advance() for relation in relations])
            for outbox in outboxes.values():
                outbox.advance()
            if not delta:
                return
            if iteration == look:
                look *= 2
                better = [cut(plan, self.share.placed) for plan in self.reordered(stratum).delta]
                if better != delta:
                    delta, later = better, Round(self, stratum, better, outboxes)

    def _round(self, runs: Round, outboxes: dict[str, Relation], new: int) -> int:
        """One iteration; how many tuples all workers had found in the one before."""
        waves, last, total = self.share.waves, runs.waves, 0
        waves.begin()
        runs.start()
        for wave in range(1, last + 1):
            if wave == last:
                runs.send_heads(last)
            numbers = waves.end(wave, (new,) if wave == 1 else ())
            if wave == 1:
                total = sum(number for (number,) in numbers)
            for port, rows in waves.arrived(wave):
                runs.arrive(port, rows)
        return total


class Round:
    """What is run in an iteration: plans that travel and plans that do not, and outboxes that are emptied."""

    def __init__(
        self, fixpoint: PartFixpoint, stratum: StratumPlan, plans: list[steps.Plan], outboxes: dict[str, Relation]
    ) -> None:
        self.fixpoint, self.counted, self.outboxes = fixpoint, stratum.counted, outboxes
        share, changing = fixpoint.share, stratum.stratum.relations
        self.share = share
        self.names = list(outboxes)
        self.journeys: list[Journey | PlanRun] = []
        self._ports: list[tuple[Journey, int]] = []
        for plan in plans:
            plan = _through_outbox(plan)
            count = hops_of_matches(plan)
            if not count:
                run = PlanRun(fixpoint.context, fixpoint._lowered(plan), None, changing)
                self.journeys.append(run)
                continue
            port = len(self.names) + len(self._ports)
            journey = Journey(fixpoint.context, plan, share.waves, port, _no_heads, changing)
            self._ports += [(journey, hop) for hop in range(count)]
            self.journeys.append(journey)
        tells = any(tells_others(plan) for plan in plans)
        self.waves = max((hops_of_matches(plan) for plan in plans), default=0) + int(tells)
        self.waves = max(self.waves, 1)

    def start(self) -> None:
        for journey in self.journeys:
            before, effort = journey.derivations, journey.effort
            journey.run()
            self._add(journey.derivations - before, journey.effort - effort)

    def arrive(self, port: int, rows: Words) -> None:
        if port < len(self.names):
            self._take_heads(self.names[port], rows)
            return
        journey, hop = self._ports[port - len(self.names)]
        before, effort = journey.derivations, journey.effort
        journey.arrive(hop, rows)
        self._add(journey.derivations - before, journey.effort - effort)

    def _add(self, derivations: int, effort: int) -> None:
        self.fixpoint.derivations += derivations
        self.fixpoint.effort += effort

    def send_heads(self, wave: int) -> None:
        """What is new in the outboxes goes to those who hold it."""
        waves = self.share.waves
        for port, (name, outbox) in enumerate(self.outboxes.items()):
            start = outbox.delta_stop
            rows = outbox.rows()[start:]
            if not len(rows):
                continue
            held = holders(self.share.placed[name], rows, waves.size)
            if self.counted:
                rows = np.column_stack((rows, outbox.derived(slice(start, None))))
            for to in range(waves.size):
                if held[to].any():
                    waves.send(to, wave, port, rows[held[to]])

    def _take_heads(self, name: str, rows: Words) -> None:
        """Enter heads that have come, as often as they were derived."""
        relation = self.fixpoint.database[name]
        if not self.counted:
            relation.insert(rows)
            return
        heads, counts = rows[:, :-1], rows[:, -1].astype(np.int64)
        relation.insert(heads)
        often = np.flatnonzero(counts > 1)
        numbers = relation.find(heads[often])
        now = relation.now(numbers) == relation.iteration
        numbers = numbers[now]
        relation.set_derived(numbers, relation.derived(numbers) + counts[often][now] - 1)


def _through_outbox(plan: steps.Plan) -> steps.Plan:
    """The plan with its head in the outbox, from where it is sent."""
    *rest, last = plan.steps
    assert isinstance(last, Emit)
    if not tells_others(plan):
        return plan
    *inner, sent, received = rest
    assert isinstance(sent, Send)
    assert isinstance(received, Receive)
    assert isinstance(sent.route, HoldersOf)
    return replace(plan, steps=(*inner, replace(last, relation=last.relation + OUTBOX)))


def _no_heads(*_: object) -> None:
    raise AssertionError("heads go through the outbox")
