"""A program as phases of asynchronous evaluation, and its rules as plans whose matches may travel before any look-up.

A *phase* is a run of strata that are evaluated together, without rounds: it ends before a rule that negates what the
phase derives. Strata that are no sum of derivations, and aggregates, are phases of their own, which one worker
evaluates for all. In a phase every fact of its own relations is the *pivot* of each body atom that it fits, and the
other own atoms match facts that are earlier (before the pivot, in the order of the text) or not later (behind it). So
each instance of a rule is found once, from the first of its latest facts. A rule whose atoms are all of earlier phases
begins with the facts of one of them.

A *leg* of such a plan is what one worker does with a match: one look-up, and what can be computed behind it. The first
leg begins with the pivot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tidelog.plain import dataclass, replace
from tidelog.plan import core, steps
from tidelog.plan.liveness import needed_before, writes
from tidelog.plan.orders.delta import delta_views
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.order import order
from tidelog.plan.stateful import StatefulProgram, StatefulStratum
from tidelog.plan.steps import Match, Slot, View
from tidelog.values import Kind

Position = tuple[str, int]
"""A relation and a column of it."""


@dataclass(frozen=True)
class AsyncPhase:
    """Strata that are evaluated together, or one that is evaluated `whole`, by one worker, with the reason."""

    strata: tuple[StatefulStratum, ...]
    whole: str | None = None

    @property
    def relations(self) -> frozenset[str]:
        """Those that it derives facts of."""
        return frozenset(name for stratum in self.strata for name in stratum.relations)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Those of earlier phases that it reads."""
        found = (name for stratum in self.strata for name in stratum.inputs)
        return tuple(dict.fromkeys(name for name in found if name not in self.relations))

    @property
    def rules(self) -> tuple[core.CoreRule, ...]:
        return tuple(rule for stratum in self.strata for rule in stratum.rules)


NOTHING = AsyncPhase(())


def phases_of(program: StatefulProgram) -> list[AsyncPhase]:
    found: list[AsyncPhase] = []
    together: list[StatefulStratum] = []

    def close() -> None:
        if together:
            found.append(AsyncPhase(tuple(together)))
            together.clear()

    for stratum in program.strata:
        if not stratum.defined:
            continue
        if stratum.whole or stratum.best or stratum.aggregate or stratum.equivalence:
            close()
            found.append(AsyncPhase((stratum,), stratum.whole or ("the best" if stratum.best else "an aggregate")))
            continue
        derived = {name for other in together for name in other.relations}
        if not derived.isdisjoint(_negated(stratum.rules)):
            close()
        together.append(stratum)
    close()
    return found


def _negated(rules: Iterable[core.CoreRule]) -> Iterator[str]:
    return (item.relation for rule in rules for item in rule.body if isinstance(item, core.CoreAbsent))


def makes_values(rule: core.CoreRule) -> bool:
    """Whether the rule has values that no atom of it matches: computed ones, and records."""
    matched = {slot for atom in rule.atoms() for slot in core.slots_in(atom.args)}
    return any(slot not in matched for slot in core.slots_in(rule.args))


# Plans


@dataclass(frozen=True)
class Leg:
    """What a worker does with matches of the slots `begins`: a look-up (none in the first leg), then `steps` in which
    it is contained. Those of the slots `ends` go on. `earlier` says of a look-up that is held to the pivot's time
    whether its facts must be earlier, and not just not later."""

    look_up: Match | None
    negated: bool
    earlier: bool | None
    steps: tuple[steps.Step, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    carried: tuple[tuple[int, tuple[Position, ...]], ...]
    """For each slot that comes with its occurrences: the positions by which later legs look it up."""


@dataclass(frozen=True)
class PivotPlan:
    """A rule with a pivot, cut into legs. `pivot` is None for a rule without atoms. `time`, `prefix` and `row` are
    slots of their own: the pivot's time, how many rows of the relation it admits, and the row that matches."""

    rule: int
    pivot: Match | None
    legs: tuple[Leg, ...]
    head: steps.Emit
    slots: tuple[tuple[str, Kind], ...]
    time: int
    prefix: int
    row: int


def pivot_plans(rules: Sequence[core.CoreRule], own: Collection[str], estimate: Estimate) -> list[PivotPlan]:
    """All plans of a phase that derives facts of `own` relations."""
    found = []
    for rule in rules:
        places = [atom.position for atom in rule.atoms() if atom.relation in own]
        for place in places:
            found.append(_cut(order(rule, delta_views(rule, own, place), estimate, place, existential=False), own))
        if not places:
            first = _first_atom(rule, estimate)
            found.append(_cut(order(rule, {}, estimate, first, existential=False), own))
    return found


def _first_atom(rule: core.CoreRule, estimate: Estimate) -> int | None:
    """Where a rule begins that may begin anywhere: with the smallest relation."""
    sizes = [(estimate.size(atom.relation, View.ALL), atom.position) for atom in rule.atoms()]
    return min(sizes)[1] if sizes else None


def _cut(plan: steps.Plan, own: Collection[str]) -> PivotPlan:
    body, head = plan.steps[:-1], plan.steps[-1]
    assert isinstance(head, steps.Emit)
    time, prefix, row = (len(plan.slots) + n for n in range(3))
    slots = (*plan.slots, *((name, Kind.NUMBER) for name in ("(time)", "(prefix)", "(row)")))
    pivot: Match | None = None
    parts: list[list[steps.Step]] = [[]]
    for number, step in enumerate(body):
        if isinstance(step, steps.Scan | steps.Probe | steps.Absent):
            if number == 0 and plan.pivot is not None:
                pivot = step.match
                continue
            parts.append([])
        parts[-1].append(step)
    bound = set[int]() if pivot is None else {slot for _, slot in pivot.outputs}
    needed = _needed(parts, head)
    legs: list[Leg] = []
    for number, part in enumerate(parts):
        look_up, begins = None, tuple(sorted(bound & needed[number]))
        negated, earlier = False, None
        if number:
            first = part[0]
            assert isinstance(first, steps.Scan | steps.Probe | steps.Absent)
            look_up, negated = first.match, isinstance(first, steps.Absent)
            earlier = look_up.view is View.OLD if look_up.relation in own else None
            part = [*_timed(look_up, negated, earlier, prefix, row), *part[1:]]
        bound |= {slot for step in part for slot in writes(step)} - {row}
        ends = tuple(sorted(bound & needed[number + 1]))
        legs.append(Leg(look_up, negated, earlier, tuple(part), begins, ends, _carried(parts, number, begins, head)))
    return PivotPlan(plan.rule, pivot, tuple(legs), head, slots, time, prefix, row)


def _needed(parts: list[list[steps.Step]], head: steps.Emit) -> list[set[int]]:
    """For each part, and the end, the slots that are needed from there on."""
    found = needed_before((*(step for part in parts for step in part), head))
    places = [sum(map(len, parts[:number])) for number in range(len(parts) + 1)]
    return [found[place] for place in places]


def _timed(match: Match, negated: bool, earlier: bool | None, prefix: int, row: int) -> list[steps.Step]:
    """A look-up of what is there, and of rows within the prefix that the pivot's time admits."""
    plain = replace(match, view=View.ALL)
    if negated:
        return [steps.Absent(plain)]
    if earlier is None:
        return [steps.Probe(plain)]
    return [
        steps.Probe(replace(plain, row=row)),
        steps.Filter("<", Kind.NUMBER, Slot(row), Slot(prefix)),
    ]


def _carried(
    parts: list[list[steps.Step]], number: int, begins: tuple[int, ...], head: steps.Emit
) -> tuple[tuple[int, tuple[Position, ...]], ...]:
    found = []
    for slot in begins:
        positions: dict[Position, None] = {}
        for part in parts[number + 1 :]:
            match = part[0].match  # type: ignore[union-attr]
            positions |= {(match.relation, c): None for c, operand in match.key if operand == Slot(slot)}
        if positions or Slot(slot) in head.args:
            found.append((slot, tuple(positions)))
    return tuple(found)


def told_positions(
    plans: Sequence[PivotPlan], keys: Mapping[str, int]
) -> tuple[frozenset[Position], frozenset[Position]]:
    """The columns of which workers must know where a value occurs: those by which facts are looked up, but for key
    columns, whose value says who has the facts. And all columns from which a value may come into such a look-up,
    through any number of rules: whoever has a value there must be told where it occurs."""
    asked = {
        (leg.look_up.relation, column)
        for plan in plans
        for leg in plan.legs
        if leg.look_up is not None and not leg.negated
        for column, _ in leg.look_up.key
        if keys[leg.look_up.relation] not in (column, -1)
    }
    matter, before = set(asked), -1
    flows = [flow for plan in plans for flow in _flows(plan)]
    while len(matter) != before:
        before = len(matter)
        matter |= {source for source, target in flows if target in matter}
    return frozenset(asked), frozenset(matter)


def _flows(plan: PivotPlan) -> Iterator[tuple[Position, Position]]:
    """From the column that binds a slot, to each by which it is looked up, and to those of the head that have it."""
    sources: dict[int, Position] = {}
    if plan.pivot is not None:
        sources |= {slot: (plan.pivot.relation, column) for column, slot in plan.pivot.outputs}
    for leg in plan.legs:
        if leg.look_up is None:
            continue
        for column, operand in leg.look_up.key:
            if isinstance(operand, Slot) and operand.index in sources:
                yield sources[operand.index], (leg.look_up.relation, column)
        sources |= {slot: (leg.look_up.relation, column) for column, slot in leg.look_up.outputs}
    for column, operand in enumerate(plan.head.args):
        if isinstance(operand, Slot) and operand.index in sources:
            yield sources[operand.index], (plan.head.relation, column)
