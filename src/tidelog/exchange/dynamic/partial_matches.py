"""Matching the rules of a phase at one worker, leg by leg (the paper's Algorithm 2).

What comes in are facts as pivots, and partial matches (PAR); what goes out are partial matches for the workers that may
have a fact for the next look-up, and derived facts for their owners. A batch may be of many pivots of many times: each
match has its own, and the rows that it may meet are a prefix of the relation's. Cost: one native pipeline per leg; in
numpy, what is said of distinct values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Bindings, Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.stages import PlanRun
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.bits import Masks
from tidelog.exchange.dynamic.clocks import LamportClock
from tidelog.exchange.dynamic.known_places import IN_HEAD, KnownPlaces, Use, from_wire, to_wire, united
from tidelog.exchange.dynamic.messages import PartialMatches
from tidelog.exchange.dynamic.occurrences import UNTOLD, Occurrences, Positions
from tidelog.exchange.dynamic.partition import Partition
from tidelog.exchange.homes import FIRST
from tidelog.exchange.waves import narrow
from tidelog.plain import dataclass
from tidelog.plan import steps
from tidelog.plan.exchange.phases import Leg, PivotPlan
from tidelog.plan.steps import Const, Match, Operand, Slot

COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass
class Held:
    """Whatever a worker has, and matching reads: its relations and what it knows of others."""

    context: Context
    clock: LamportClock
    occurrences: Occurrences
    positions: Positions
    partition: Partition
    keys: Mapping[str, int]
    """The column of each relation whose value says who owns a fact; -1 for a relation without columns."""
    met: Words | None
    """The values that are always told to their meeting worker, in ascending order; None: all."""
    me: int
    size: int

    def meeting(self, values: Words) -> Masks:
        """For each value, its meeting worker, if it has one."""
        found = bits.of(self.partition.owners(values), self.size)
        if self.met is not None:
            found[~np.isin(values, self.met)] = 0
        return found

    def knows(self, values: Words) -> NDArray[np.bool_]:
        """For each value, whether the map has all of its occurrences: it is local, or meets here. (What the map has of
        others may be old.)"""
        found = self.occurrences.local(self.occurrences.find(values))
        return found | bits.has(self.meeting(values), self.me)

    def owners(self, relation: str, rows: Words) -> bits.Places:
        key = self.keys[relation]
        return np.full(len(rows), FIRST, np.int64) if key < 0 else self.partition.owners(rows[:, key])


@dataclass
class Derived:
    """Heads of a plan, with what is known of the values in each column."""

    relation: str
    rows: Words
    known: dict[int, KnownPlaces]


Outgoing = tuple[int, PartialMatches] | Derived
"""Partial matches for a worker, this one perhaps, or heads."""


class Matching:
    """The plans of a phase at one worker."""

    def __init__(self, held: Held, phase: int, plans: Sequence[PivotPlan], changing: Sequence[str]) -> None:
        self.held, self.plans, self._phase = held, plans, phase
        self._changing = changing
        self._runs: dict[tuple[int, int], PlanRun] = {}
        self.by_pivot: dict[str, list[int]] = {}
        for number, plan in enumerate(plans):
            if plan.pivot is not None:
                self.by_pivot.setdefault(plan.pivot.relation, []).append(number)

    # ---- what comes in

    def start(self, number: int) -> Iterator[Outgoing]:
        """A rule without atoms."""
        plan = self.plans[number]
        yield from self._leg(number, 0, Bindings(1, {plan.time: np.zeros(1, np.int64)}), {})

    def pivots(self, number: int, rows: Words, times: bits.Places) -> Iterator[Outgoing]:
        """Facts as the pivot of a plan (PROCESSFACT)."""
        plan = self.plans[number]
        assert plan.pivot is not None
        fits = self._fits(plan.pivot, rows)
        if not fits.all():
            rows, times = rows[fits], times[fits]
        columns = {slot: rows[:, column].astype(np.int64) for column, slot in plan.pivot.outputs}
        yield from self._leg(number, 0, Bindings(len(rows), {**columns, plan.time: times}), {})

    def _fits(self, match: Match, rows: Words) -> NDArray[np.bool_]:
        found = np.ones(len(rows), np.bool_)
        for column, operand in match.key:
            found &= rows[:, column] == self._word(operand)
        for one, other in match.same:
            found &= rows[:, one] == rows[:, other]
        for bound in match.bounds:
            found &= COMPARED[bound.op](rows[:, bound.column], self._word(bound.operand))
        return found

    def arrive(self, messages: Sequence[PartialMatches]) -> Iterator[Outgoing]:
        """Partial matches of one plan that have come as far as here (PROCESSMESSAGE for PAR); the clock is past their
        pivots' times."""
        number, hop = messages[0].plan, messages[0].hop
        plan, leg = self.plans[number], self.plans[number].legs[hop]
        wanted = self._wanted(plan, leg)
        uses = [*wanted.values()]
        told = [from_wire(m.values, m.lengths, m.masks, uses, self.held.size) for m in messages]
        known = told[0] if len(told) == 1 else [united(each) for each in zip(*told, strict=True)]
        times = np.concatenate([message.times for message in messages])
        rows = np.concatenate([m.rows.reshape(len(m.times), len(leg.begins)) for m in messages]).astype(np.int64)
        bindings = Bindings.from_rows(rows, leg.begins)
        bindings.bind(plan.time, times)
        if leg.earlier is not None and leg.look_up is not None:
            bindings.bind(plan.prefix, self.prefix(leg.look_up.relation, times, leg.earlier))
        yield from self._leg(number, hop, bindings, dict(zip(wanted, known, strict=True)))

    def prefix(self, relation: str, times: bits.Places, earlier: bool) -> bits.Places:
        """How many rows of a relation each match may meet."""
        return self.held.clock.times[relation].prefix(times, earlier)

    # ---- legs

    def _leg(self, number: int, hop: int, bindings: Bindings, known: dict[int, KnownPlaces]) -> Iterator[Outgoing]:
        for piece in self._run(number, hop).results(bindings):
            if piece.count:
                yield from self._finish(number, hop, piece, known)

    def _run(self, number: int, hop: int) -> PlanRun:
        if (number, hop) not in self._runs:
            plan, leg = self.plans[number], self.plans[number].legs[hop]
            begins = [*leg.begins, plan.time, *([plan.prefix] if leg.earlier is not None else [])]
            inner = steps.Plan(plan.rule, None, leg.steps, plan.slots)
            ends = (*self.ends(plan, leg), plan.time)
            self._runs[number, hop] = PlanRun(self.held.context, inner, None, self._changing, known=begins, at_end=ends)
        return self._runs[number, hop]

    def ends(self, plan: PivotPlan, leg: Leg) -> tuple[int, ...]:
        return leg.ends

    def _finish(self, number: int, hop: int, bindings: Bindings, known: dict[int, KnownPlaces]) -> Iterator[Outgoing]:
        """FINISHMATCH: where the next look-up may find something, or what has been derived."""
        plan = self.plans[number]
        if hop + 1 == len(plan.legs):
            yield self._derive(plan, bindings, known)
            return
        leg = plan.legs[hop + 1]
        assert leg.look_up is not None
        wanted = self._wanted(plan, leg)
        asked = dict(wanted)
        for column, operand in leg.look_up.key:
            if isinstance(operand, Slot) and self._asks(leg, column):
                asked[operand.index] = (*asked.get(operand.index, ()), (leg.look_up.relation, column))
        here = {
            slot: known[slot] if slot in known else self.places(bindings.columns[slot], uses)
            for slot, uses in asked.items()
        }
        candidates = self._candidates(leg, bindings, here)
        for to in bits.members(bits.union(candidates)):
            chosen = bits.has(candidates, to)
            part = bindings if chosen.all() else bindings.keep(chosen)
            told = [here[slot].only(part.columns[slot], uses) for slot, uses in wanted.items()]
            values, lengths, masks = to_wire(told, self.held.size)
            rows = part.rows(leg.begins)
            times = np.ascontiguousarray(part.columns[plan.time])
            yield to, PartialMatches(self._phase, number, hop + 1, times, narrow(rows), values, lengths, masks)

    def _asks(self, leg: Leg, column: int) -> bool:
        """Whether the map is asked about a look-up's column: of a key column, the value says who has facts, and so it
        does for one that must not be there."""
        assert leg.look_up is not None
        relation = leg.look_up.relation
        return not leg.negated and column != self.held.keys[relation]

    def _wanted(self, plan: PivotPlan, leg: Leg) -> dict[int, tuple[Use, ...]]:
        """The uses of slots in what comes to a leg: by later look-ups, and for heads of which others are told."""
        found: dict[int, tuple[Use, ...]] = {}
        head, told = plan.head.relation, self.held.positions
        for slot, positions in leg.carried:
            uses: list[Use] = [p for p in positions if told[p] != UNTOLD and p[1] != self.held.keys[p[0]]]
            if any(arg == Slot(slot) and told[head, c] != UNTOLD for c, arg in enumerate(plan.head.args)):
                uses.append(IN_HEAD)
            if uses:
                found[slot] = tuple(uses)
        return found

    def places(self, column: Words, uses: Sequence[Use]) -> KnownPlaces:
        """Where the values of a column occur, as far as that is known here; of what is not known here, anywhere."""
        held, values = self.held, np.unique(column)
        numbers, knows = held.occurrences.find(values), held.knows(values)
        known = knows & (numbers >= 0)
        sets: dict[Use, Masks] = {}
        for use in uses:
            if use is IN_HEAD:
                masks = bits.none(held.size, len(values))
                masks[known] = held.occurrences.reach(numbers[known])
            else:
                masks = np.repeat(bits.everyone(held.size)[None], len(values), axis=0)
                masks[known] = held.occurrences.masks[numbers[known], held.positions[use]]
                masks[knows & ~known] = 0
            sets[use] = masks
        return KnownPlaces(values, sets)

    def _candidates(self, leg: Leg, bindings: Bindings, here: Mapping[int, KnownPlaces]) -> Masks:
        """For each match, the workers that may have a fact for the look-up: those where all of its values occur."""
        held, match = self.held, leg.look_up
        assert match is not None
        candidates = np.repeat(bits.everyone(held.size)[None], bindings.count, axis=0)
        key = held.keys[match.relation]
        if key < 0:
            return candidates & bits.of(FIRST, held.size)
        for column, operand in match.key:
            values = self._column(operand, bindings)
            if column == key:
                candidates &= bits.of(held.partition.owners(values), held.size)
            if not self._asks(leg, column):
                continue
            position = match.relation, column
            if isinstance(operand, Slot):
                candidates &= here[operand.index].of(values, position)
            else:
                candidates &= self.places(values[:1], (position,)).of(values, position)
        return candidates

    def _derive(self, plan: PivotPlan, bindings: Bindings, known: dict[int, KnownPlaces]) -> Derived:
        args = plan.head.args
        rows = np.empty((bindings.count, len(args)), np.int64)
        found: dict[int, KnownPlaces] = {}
        for column, operand in enumerate(args):
            rows[:, column] = self._column(operand, bindings)
            if not isinstance(operand, Slot) or self.held.positions[plan.head.relation, column] == UNTOLD:
                continue
            if operand.index in known:
                found[column] = known[operand.index]
            else:
                found[column] = self.places(rows[:, column], (IN_HEAD,))
        return Derived(plan.head.relation, rows, found)

    def _column(self, operand: Operand, bindings: Bindings) -> Words:
        if isinstance(operand, Slot):
            return np.asarray(bindings.columns[operand.index], np.int64)
        return np.full(bindings.count, self._word(operand), np.int64)

    def _word(self, operand: Operand) -> int:
        assert isinstance(operand, Const)
        return int(self.held.context.database.encode(operand))
