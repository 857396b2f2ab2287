"""Which slots a step reads and writes, and which are still needed after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidelog.plan import steps
from tidelog.plan.steps import Operand, Slot


def _slots(operands: Iterable[Operand]) -> Iterator[int]:
    return (o.index for o in operands if isinstance(o, Slot))


def _of_match(match: steps.Match) -> Iterator[int]:
    yield from _slots(operand for _, operand in match.key)
    yield from _slots(bound.operand for bound in match.bounds)


def _row_of(match: steps.Match) -> set[int]:
    return set() if match.row is None else {match.row}


def reads(step: steps.Step) -> set[int]:
    """The slots whose values the step needs from before."""
    match step:
        case steps.Scan(match=m) | steps.Probe(match=m) | steps.Exists(match=m) | steps.Absent(match=m):
            return set(_of_match(m))
        case steps.Filter(left=left, right=right):
            return set(_slots((left, right)))
        case steps.Compute(args=args) | steps.Call(args=args) | steps.Generate(args=args) | steps.Emit(args=args):
            return set(_slots(args))
        case steps.Pack(fields=fields):
            return set(_slots(fields))
        case steps.File(args=args, parts=parts):
            return {*_slots(args), *(part.row for part in parts)}
        case steps.Fold(parts=parts, since=since):
            return {*(part.row for part in parts), *(since or ())}
        case steps.Tell(args=args, before=before, after=after):
            return {*_slots(args), before, after}
        case steps.Rank(value=value, parts=parts):
            return {*_slots(() if value is None else (value,)), *(part.row for part in parts)}
        case steps.Offer(args=args, before=before, after=after):
            return {*_slots(args), before.value, before.level, after.value, after.level}
        case steps.Send(slots=slots):
            return set(slots)
        case steps.AtHome(operand=operand):
            return set(_slots(() if operand is None else (operand,)))
        case steps.Unpack(record=record, checks=checks):
            return set(_slots((record, *(value for _, value in checks))))
        case steps.AggregateStep(value=value, body=body, distinct=distinct, init=init):
            inner = {*_slots(() if value is None else (value,)), *(distinct or ())}
            for inside in reversed(body):
                inner = (inner - writes(inside)) | reads(inside)
            return inner.union(_slots(() if init is None else (init,)))
    return set()


def writes(step: steps.Step) -> set[int]:
    """The slots that the step gives a value."""
    match step:
        case steps.Scan(match=m) | steps.Probe(match=m):
            return {slot for _, slot in m.outputs} | _row_of(m)
        case steps.Exists(match=m) | steps.Absent(match=m):
            return _row_of(m)
        case steps.Unpack(outputs=outputs):
            return {slot for _, slot in outputs}
        case steps.Receive(slots=slots):
            return set(slots)
        case steps.Fold(before=before, after=after):
            return {before, after}
        case steps.Rank(before=before, after=after):
            return {before.value, before.level, after.value, after.level}
        case (
            steps.Compute(target=target)
            | steps.Call(target=target)
            | steps.Generate(target=target)
            | steps.Pack(target=target)
            | steps.Fresh(target=target)
            | steps.CurrentIteration(target=target)
            | steps.AggregateStep(target=target)
        ):
            return {target}
    return set()


def needed_before(plan_steps: tuple[steps.Step, ...], at_end: Iterable[int] = ()) -> list[set[int]]:
    """For each step, and the end, the slots that must have a value when it begins."""
    needed = [set(at_end)]
    for step in reversed(plan_steps):
        needed.append((needed[-1] - writes(step)) | reads(step))
    return needed[::-1]
