"""Plans as people read them (`tidelog plan`)."""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.functors import FUNCTORS
from tidelog.lang.parsing import escape
from tidelog.lang.souffle_printer import show as show_node
from tidelog.plan import core, steps
from tidelog.plan.program import ProgramPlan, StratumPlan


def show_program(plan: ProgramPlan) -> str:
    return "\n".join(_program_lines(plan)) + "\n"


def _program_lines(plan: ProgramPlan) -> Iterator[str]:
    for number, stratum in enumerate(plan.strata):
        how = "recursive" if stratum.stratum.recursive else "once"
        yield f"stratum {number} ({how}): {', '.join(stratum.stratum.relations)}"
        yield from ("  " + line for line in _stratum_lines(stratum))
    all_columns = plan.columns
    for name, indexes in plan.indexes.items():
        columns = all_columns[name]
        for index in indexes:
            serves = " ".join("{" + ", ".join(columns[c] for c in sorted(s)) + "}" for s in index.serves)
            yield f"index {name}({', '.join(columns[c] for c in index.order)}) serves {serves}"


def _stratum_lines(stratum: StratumPlan) -> Iterator[str]:
    plans: dict[int, list[steps.Plan]] = {}
    for plan in (*stratum.once, *stratum.delta):
        plans.setdefault(plan.rule, []).append(plan)
    for rule in {rule.number: rule for rule in stratum.rules}.values():  # a rewrite may have made several of one
        yield f"rule {rule.number}: {_clause_text(rule)}"
        for plan in plans.get(rule.number, ()):
            yield "  once" if plan.pivot is None else f"  when atom {plan.pivot + 1} changes"
            yield from ("    " + line for line in step_lines(plan.steps, plan.slots))


def _clause_text(rule: core.CoreRule) -> str:
    clause = rule.clause
    head = show_node(clause.head)
    if clause.greater is not None:
        head += f" <= {show_node(clause.greater)}"
    body = ", ".join(map(show_node, clause.body))
    return f"{head} :- {body}." if body else f"{head}."


Slots = tuple[tuple[str, object], ...]


def step_lines(plan_steps: tuple[steps.Step, ...], slots: Slots) -> Iterator[str]:
    """One line a step; the body of an aggregate is indented below it."""

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
        view = {"<=": "", "=": "Δ", "<": "old "}[found.view.value]
        return f"{view}{found.relation}[{', '.join(columns)}]"

    def arguments(args: tuple[steps.Operand, ...]) -> str:
        return ", ".join(map(operand, args))

    for step in plan_steps:
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
            case steps.Aggregate(target=target, op=op, value=value, body=body):
                what = "" if value is None else f" {operand(value)}"
                yield f"aggregate {name(target)} := {op}{what} over"
                yield from ("  " + line for line in step_lines(body, slots))
            case steps.Emit(relation=relation, args=args):
                yield f"emit {relation}({arguments(args)})"
