"""Plans as people read them (`tidelog plan`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tidelog.functors import FUNCTORS
from tidelog.lang.escapes import escape
from tidelog.lang.souffle_printer import show as show_node
from tidelog.plain import dataclass, field
from tidelog.plan import core, steps
from tidelog.plan.program import StratumPlan
from tidelog.plan.show.rules import show_rule
from tidelog.plan.steps import View

Native = Callable[[steps.Step], bool]
"""Whether the store runs a step by itself; others are in Python, and cut the plan."""


@dataclass
class StratumPlans:
    """The plans of a stratum: the first, and those that were ordered anew while it ran; and those of updates. `whole`
    says why a change evaluates it from scratch."""

    ordered: list[StratumPlan]
    updates: list[steps.Plan] = field(default_factory=list)
    whole: str | None = None


@dataclass(frozen=True)
class PlannedIndex:
    """An index of a relation by some columns, whose entries may be `sorted_by` another; `rows` are in it."""

    relation: str
    columns: tuple[str, ...]
    sorted_by: str | None = None
    rows: int | None = None


@dataclass(frozen=True)
class ProgramPlans:
    """All plans of a program, and the indexes that they have the store make."""

    strata: list[StratumPlans]
    indexes: list[PlannedIndex]


def show_plans(plans: ProgramPlans, native: Native) -> str:
    return "\n".join(_program_lines(plans, native)) + "\n"


def _program_lines(plans: ProgramPlans, native: Native) -> Iterator[str]:
    for number, stratum in enumerate(plans.strata):
        first = stratum.ordered[0]
        how = ["recursive" if first.stratum.recursive else "once"]
        if not all(native(step) for plan in (*first.once, *first.delta) for step in plan.steps):
            how.append("with steps in Python")
        if first.best is not None:
            how.append(f"by rank: of {', '.join(first.best.columns)} the {first.best.word} value of each key")
        if stratum.whole:
            how.append(f"evaluated as a whole: {stratum.whole}")
        yield f"stratum {number} ({', '.join(how)}): {', '.join(first.stratum.relations)}"
        yield from ("  " + line for line in _stratum_lines(stratum, native))
    for index in plans.indexes:
        by = f" sorted by {index.sorted_by}" if index.sorted_by else ""
        yield f"index {index.relation}({', '.join(index.columns)}){by}{_filled(index)}"


def _filled(index: PlannedIndex) -> str:
    if index.rows is None:
        return ""
    return f": {index.rows:,} rows" if index.rows else ", filled when it is first needed"


def _stratum_lines(stratum: StratumPlans, native: Native) -> Iterator[str]:
    first = stratum.ordered[0]
    yield from _plans_by_rule(first.rules, [*first.once, *first.delta], native)
    known = set(first.delta)
    for again in stratum.ordered[1:]:
        changed = [plan for plan in again.delta if plan not in known]
        known.update(changed)
        if changed:
            yield "in another order, once relations had grown:"
            yield from ("  " + line for line in _plans_by_rule(again.rules, changed, native, without=False))
    if stratum.updates:
        yield "updates:"
        yield from ("  " + line for line in _plans_by_rule(first.rules, stratum.updates, native, without=False))
        heads = {rule.relation for rule in first.rules}
        for plan in (plan for plan in stratum.updates if _head(plan) not in heads):  # of the groups of an aggregate
            yield from ("  " + line for line in _plan_lines(plan, native))


def _plans_by_rule(
    rules: tuple[core.CoreRule, ...], plans: list[steps.Plan], native: Native, without: bool = True
) -> Iterator[str]:
    """Each rule, and its plans; rules `without` plans are named as well if that is asked for."""
    found: dict[tuple[int, str], list[core.CoreRule]] = {}
    for rule in rules:
        found.setdefault((rule.number, rule.relation), []).append(rule)
    for (number, relation), same in sorted(found.items()):
        own = [plan for plan in plans if (plan.rule, _head(plan)) == (number, relation)]
        if not own and not without:
            continue
        if relation == same[0].clause.head.name:
            yield f"rule {number}: {_clause_text(same[0])}"
        else:
            yield from (f"for rule {number}: {show_rule(rule)}" for rule in same)
        for plan in own:
            yield from ("  " + line for line in _plan_lines(plan, native))


def _plan_lines(plan: steps.Plan, native: Native) -> Iterator[str]:
    yield occasion(plan)
    yield from ("  " + line for line in step_lines(plan.steps, plan.slots, native))


def _head(plan: steps.Plan) -> str:
    last = plan.steps[-1]
    return last.relation if isinstance(last, (steps.Emit, steps.File, steps.Tell, steps.Offer)) else ""


_OCCASIONS = {
    View.LEFT: "when tuples leave {}", View.CAME: "when tuples come to {}", View.MOVED: "when tuples of {} change",
    View.LOST: "to find {} again",
}  # fmt: skip


def occasion(plan: steps.Plan) -> str:
    """When a plan is run."""
    first = plan.steps[0]
    if isinstance(first, steps.Scan) and first.match.view in _OCCASIONS:
        return _OCCASIONS[first.match.view].format(first.match.relation)
    if isinstance(first, steps.Scan) and plan.pivot is not None and plan.pivot < 0:  # a negated atom, or the head
        return f"when there are tuples in {first.match.relation}"
    return "once" if plan.pivot is None else f"when atom {plan.pivot + 1} changes"


def _clause_text(rule: core.CoreRule) -> str:
    clause = rule.clause
    head = show_node(clause.head)
    if clause.greater is not None:
        head += f" <= {show_node(clause.greater)}"
    body = ", ".join(map(show_node, clause.body))
    return f"{head} :- {body}." if body else f"{head}."


Slots = tuple[tuple[str, object], ...]


_VIEWS = {
    View.ALL: "", View.DELTA: "Δ", View.OLD: "old ", View.BEFORE: "before ", View.AFTER: "after ", View.LEFT: "left ",
    View.CAME: "came ", View.LOST: "lost ", View.MOVED: "moved ", View.EITHER: "before or after ",
    View.BOTH: "before and after ", View.STILL: "unmoved ",
}  # fmt: skip


def step_lines(plan_steps: tuple[steps.Step, ...], slots: Slots, native: Native = lambda step: True) -> Iterator[str]:
    """One line a step, which says so if it is in Python; the body of an aggregate is indented below it."""
    for step in plan_steps:
        lines = _step_lines(step, slots, native)
        yield next(lines) + ("" if native(step) else "  (in Python)")
        yield from lines


def _step_lines(step: steps.Step, slots: Slots, native: Native) -> Iterator[str]:

    def operand(value: steps.Operand) -> str:
        if isinstance(value, steps.Slot):
            return name(value.index)
        return escape(value.value) if isinstance(value.value, str) else str(value.value)

    def name(slot: int) -> str:
        text = slots[slot][0]
        doubles = sum(1 for other, _ in slots if other == text)
        return f"{text}#{slot}" if doubles > 1 or text == "_" else text

    def lookup(found: steps.Match) -> str:
        columns = [f"{c}={operand(v)}" for c, v in found.key]
        columns += [f"{c}->{name(s)}" for c, s in found.outputs]
        columns += [f"{a}=={b}" for a, b in found.same]
        columns += [f"{b.column}{b.op}{operand(b.operand)}" for b in found.bounds]
        return f"{_VIEWS[found.view]}{found.relation}[{', '.join(columns)}]"

    def arguments(args: tuple[steps.Operand, ...]) -> str:
        return ", ".join(map(operand, args))

    match step:
        case steps.Scan(match=m):
            yield f"scan {lookup(m)}"
        case steps.Probe(match=m):
            yield f"probe {lookup(m)}"
        case steps.Exists(match=m):
            yield f"exists {lookup(m)}"
        case steps.Absent(match=m):
            yield f"absent {lookup(m)}"
        case steps.Filter(op=op, left=left, right=right):
            yield f"filter {operand(left)} {op} {operand(right)}"
        case steps.Compute(target=target, op=op, args=args):
            if FUNCTORS[op].style == "infix":
                yield f"compute {name(target)} := {operand(args[0])} {op} {operand(args[1])}"
            else:
                yield f"compute {name(target)} := {op}({arguments(args)})"
        case steps.Call(target=target, functor=functor, args=args):
            yield f"call {name(target)} := @{functor}({arguments(args)})"
        case steps.Generate(target=target, args=args):
            yield f"generate {name(target)} in range({arguments(args)})"
        case steps.Pack(target=target, fields=fields):
            yield f"pack {name(target)} := [{arguments(fields)}]"
        case steps.Unpack(record=record, outputs=outputs, checks=checks):
            parts = [f"{f}->{name(s)}" for f, s in outputs] + [f"{f}={operand(v)}" for f, v in checks]
            yield f"unpack {operand(record)} [{', '.join(parts)}]"
        case steps.Fresh(target=target):
            yield f"count {name(target)} := autoinc()"
        case steps.CurrentIteration(target=target):
            yield f"compute {name(target)} := iteration"
        case steps.AggregateStep(target=target, op=op, value=value, body=body):
            what = "" if value is None else f" {operand(value)}"
            among = "" if step.distinct is None else f" distinct ({', '.join(map(name, step.distinct))}) of"
            yield f"aggregate {name(target)} := {op}{what} over{among}"
            yield from ("  " + line for line in step_lines(body, slots, native))
        case steps.Emit(relation=relation, args=args):
            yield f"emit {relation}({arguments(args)})"
        case steps.Fold(before=before, after=after):
            yield f"levels {name(before)}, {name(after)}, if they differ"
        case steps.Tell(relation=relation, args=args):
            yield f"tell {relation}({arguments(args)})"
        case steps.Send(route=route, slots=travelling):
            yield f"send {', '.join(map(name, travelling))} {_route(route, operand)}"
        case steps.Receive(slots=come):
            yield f"receive {', '.join(map(name, come))}"
        case steps.AtHome(operand=None):
            yield "at the first worker"
        case steps.AtHome(operand=steps.Slot() | steps.Const() as value):
            yield f"at the home of {operand(value)}"
        case steps.Rank(before=before, after=after):
            yield f"ranks {name(before.value)}, {name(after.value)}, if they differ"
        case steps.Offer(relation=relation, args=args):
            yield f"tell {relation}({arguments(args)})"
        case steps.File(arrives=arrives, relation=relation, args=args):
            yield f"{'gains' if arrives else 'loses'} a derivation: {relation}({arguments(args)})"


def _route(route: steps.Route, operand: Callable[[steps.Operand], str]) -> str:
    match route:
        case steps.HomeOf(operand=value):
            return f"to the home of {operand(value)}"
        case steps.FirstWorker():
            return "to the first worker"
        case steps.Everyone():
            return "to all workers"
        case steps.HoldersOf(relation=relation, args=args):
            return f"to those who hold {relation}({', '.join(map(operand, args))})"
