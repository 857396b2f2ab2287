"""A plan is cut where its matches must travel (design section 5).

A match is at the home of one of its values, or with the first worker, or anywhere. The next atom is looked up here if
its tuples are everywhere, or if the value is one that says where they are; else the match travels: to the home of a
value that says so, to the first worker, or, if no such value is known yet, to all. At the end it goes to those who hold
its head. Of the tuples that several workers hold, one begins: that at whose place a plan travels least.

In an update, a match travels with its levels just before the round and after it, folded as far as it has come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tidelog.errors import InternalError
from tidelog.plain import dataclass, replace
from tidelog.plan import steps
from tidelog.plan.exchange.placement import Placement
from tidelog.plan.liveness import needed_before, writes
from tidelog.plan.steps import (
    AtHome,
    Everyone,
    FirstWorker,
    HoldersOf,
    HomeOf,
    Match,
    Operand,
    Receive,
    Send,
    Slot,
)
from tidelog.values import Kind

Placements = Mapping[str, Placement]
AT_FIRST: frozenset[Operand | None] = frozenset((None,))
"""Where a match is that the first worker has; elsewhere, the values whose home that is."""


def cut(plan: steps.Plan, placed: Placements) -> steps.Plan:
    """The plan with its journeys, in the way in which it travels least."""
    return min((found.plan() for found in _ways(plan, placed)), key=lambda way: len(hops(way)))


def hops(plan: steps.Plan) -> list[Send]:
    return [step for step in plan.steps if isinstance(step, Send)]


def legs(plan: steps.Plan) -> list[tuple[steps.Step, ...]]:
    """The steps between two journeys; each leg but the last ends with a `Send`, each but the first begins with a
    `Receive`."""
    found: list[list[steps.Step]] = [[]]
    for step in plan.steps:
        if isinstance(step, Receive):
            found.append([])
        found[-1].append(step)
    return [tuple(leg) for leg in found]


@dataclass(frozen=True)
class _Way:
    """A plan that is being cut: the steps so far, and the values whose home the match is at."""

    original: steps.Plan
    done: tuple[steps.Step, ...] = ()
    here: frozenset[Operand | None] = frozenset()
    slots: tuple[tuple[str, Kind], ...] = ()

    def then(self, *more: steps.Step, here: frozenset[Operand | None] | None = None) -> _Way:
        return replace(self, done=(*self.done, *more), here=self.here if here is None else here)

    def travels(self, route: steps.Route, here: frozenset[Operand | None]) -> _Way:
        port = sum(isinstance(step, Send) for step in self.done)
        return self.then(Send(port, route, ()), Receive(port, ()), here=here)

    def new_slot(self, kind: Kind) -> tuple[_Way, int]:
        slot = len(self.slots)
        return replace(self, slots=(*self.slots, (f"t{slot}", kind))), slot

    def plan(self) -> steps.Plan:
        """The finished plan: levels are folded where it is cut, and what is needed later travels."""
        made = _with_levels(replace(self.original, steps=self.done, slots=self.slots))
        return replace(made, steps=_with_slots(made.steps))


def _ways(plan: steps.Plan, placed: Placements) -> Iterator[_Way]:
    """All ways to cut the plan that differ in where they begin and whom they ask."""
    ways = [_Way(plan, slots=plan.slots)]
    begun = False
    for step in plan.steps:
        match step:
            case steps.Scan(match=m) | steps.Probe(match=m) | steps.Exists(match=m) | steps.Absent(match=m):
                follow = _begin if not begun else _look_up
                ways = [found for way in ways for found in follow(way, step, m, placed[m.relation])]
                begun = True
            case steps.Emit(relation=name, args=args) | steps.Tell(relation=name, args=args):
                if not begun:  # without an atom: one worker says it for all
                    ways = [way.then(AtHome(None), here=AT_FIRST) for way in ways]
                ways = [_tell(way, step, name, args, placed[name]) for way in ways]
            case _:
                ways = [way.then(step) for way in ways]
    yield from ways


def _begin(way: _Way, step: steps.Step, match: Match, held: Placement) -> Iterator[_Way]:
    """The first atom: of a tuple that several hold, one begins. Of one that must not be there, who would hold it."""
    if isinstance(step, steps.Absent):
        known = [operand for column, operand in match.key if column in held.columns]
        home = known[0] if known else None
        yield way.then(AtHome(home), step, here=frozenset((home,)))
        return
    values = dict((*match.key, *((c, Slot(s)) for c, s in match.outputs)))
    if held.alone:
        (column,) = held.columns
        yield way.then(step, here=frozenset((values[column],)) if column in values else frozenset())
    elif held.columns or held.everywhere:
        some = [column for column in (held.columns or range(way_arity(match))) if column in values]
        for column in some:
            here = values[column]
            yield way.then(step, AtHome(here), here=frozenset((here,)))
        if not some and held.columns:
            yield _with_column(way, step, match, held.columns[0])
        elif not some:
            yield way.then(step, AtHome(None), here=AT_FIRST)
    else:
        yield way.then(step, here=AT_FIRST)


def way_arity(match: Match) -> int:
    """One more than the greatest column that the match mentions."""
    columns = [*(c for c, _ in match.key), *(c for c, _ in match.outputs)]
    return 1 + max(columns, default=-1)


def _with_column(way: _Way, step: steps.Step, match: Match, column: int) -> _Way:
    """The look-up, which also gives the column by which it is decided who holds what it finds, and only that of the
    owner."""
    way, slot = way.new_slot(Kind.NUMBER)
    seen = replace(match, outputs=tuple(sorted((*match.outputs, (column, slot)))))
    looked_up: steps.Step = steps.Scan(seen) if isinstance(step, steps.Scan) else steps.Probe(seen)
    return way.then(looked_up, AtHome(Slot(slot)), here=frozenset((Slot(slot),)))


def _look_up(way: _Way, step: steps.Step, match: Match, held: Placement) -> Iterator[_Way]:
    known = {column: operand for column, operand in match.key if column in held.columns}
    if held.everywhere or way.here & {*known.values()} or (held.first and None in way.here):
        yield way.then(step)
    elif known:
        for operand in dict.fromkeys(known.values()):
            yield way.travels(HomeOf(operand), frozenset((operand,))).then(step)
    elif not held.columns:
        yield way.travels(FirstWorker(), AT_FIRST).then(step)
    else:
        yield from _ask_all(way, step, match, held)


def _ask_all(way: _Way, step: steps.Step, match: Match, held: Placement) -> Iterator[_Way]:
    if isinstance(step, steps.Absent):
        raise InternalError(f"who holds a tuple of {match.relation} cannot be told, and all were asked for none")
    asked = way.travels(Everyone(), frozenset())
    outputs = {column: Slot(slot) for column, slot in match.outputs}
    owner = held.columns[0]
    if owner not in outputs:
        yield asked.then(step) if held.alone else _with_column(asked, step, match, owner)
    elif held.alone:
        yield asked.then(step, here=frozenset((outputs[owner],)))
    else:
        yield asked.then(step, AtHome(outputs[owner]), here=frozenset((outputs[owner],)))


def _tell(way: _Way, step: steps.Step, relation: str, args: tuple[Operand, ...], held: Placement) -> _Way:
    at_home = held.alone and args[held.columns[0]] in way.here
    if at_home or (held.first and not held.columns and None in way.here):
        return way.then(step)
    return way.travels(HoldersOf(relation, args), frozenset()).then(step)


# What travels


def _with_slots(plan_steps: tuple[steps.Step, ...]) -> tuple[steps.Step, ...]:
    """Each journey takes what is needed behind it, and at least something: how many bindings there are counts."""
    bare = [step for step in plan_steps if not isinstance(step, Send | Receive)]
    needed, bound, found, place = needed_before(tuple(bare)), set[int](), list[steps.Step](), 0
    for step in plan_steps:
        if isinstance(step, Send):
            wanted = needed[place] & bound | _routed_by(step.route)
            found.append(replace(step, slots=tuple(sorted(wanted or set(sorted(bound)[:1])))))
        elif isinstance(step, Receive):
            sent = found[-1]
            assert isinstance(sent, Send)
            found.append(replace(step, slots=sent.slots))
            bound = set(sent.slots)
        else:
            bound |= writes(step)
            found.append(step)
            place += 1
    return tuple(found)


def _routed_by(route: steps.Route) -> set[int]:
    match route:
        case HomeOf(operand=Slot(index=index)):
            return {index}
        case HoldersOf(args=args):
            return {arg.index for arg in args if isinstance(arg, Slot)}
    return set()


def _with_levels(plan: steps.Plan) -> steps.Plan:
    """The plan of an update, with the levels folded before each journey."""
    folds = [step for step in plan.steps if isinstance(step, steps.Fold)]
    if not folds:
        return plan
    (fold,) = folds
    waiting = {part.row: part for part in fold.parts}
    matched: list[steps.MatchedRow] = []
    done: list[steps.Step] = []
    slots, since, complete = list(plan.slots), None, False
    for step in plan.steps:
        matched += [waiting.pop(slot) for slot in sorted(writes(step) & waiting.keys())]
        if isinstance(step, steps.Fold):
            done.append(replace(fold, parts=tuple(matched), since=since))
            complete = True
            continue
        if isinstance(step, Send) and not complete:
            since_then = len(slots), len(slots) + 1
            slots += [(f"t{slot}", Kind.NUMBER) for slot in since_then]
            done.append(steps.Fold(*since_then, tuple(matched), fold.asked, since, last=False))
            matched, since = [], since_then
        done.append(step)
    return replace(plan, steps=tuple(done), slots=tuple(slots))
