"""Rules as evaluation with state goes by them, `tidelog plan --state`: `p(x) :- e(x, _), x != 0, p@part0.0(x).`"""

from __future__ import annotations

from tidelog.functors import FUNCTORS
from tidelog.lang.escapes import escape
from tidelog.plan import core
from tidelog.plan.core import AggregateRelation
from tidelog.plan.stateful import StatefulProgram
from tidelog.plan.steps import Slot

Slots = tuple[tuple[str, object], ...]


def show_stateful(program: StatefulProgram) -> str:
    lines = []
    for stratum in program.strata:
        if stratum.rules or stratum.aggregate:
            reads = f" reads {', '.join(stratum.inputs)}" if stratum.inputs else ""
            whole = f", whole: {stratum.whole}" if stratum.whole else ""
            best = f", by rank: {stratum.best.word} of {', '.join(stratum.best.columns)}" if stratum.best else ""
            lines.append(f"stratum {', '.join(stratum.relations)}{reads}{whole}{best}")
        if stratum.aggregate:
            lines.append(f"  {show_aggregate_relation(stratum.aggregate)}")
        lines += [f"  {show_rule(rule)}" for rule in stratum.rules]
    return "\n".join(lines) + "\n"


def show_rule(rule: core.CoreRule) -> str:
    head = f"{rule.relation}({_arguments(rule.args, rule.slots)})"
    body = show_body(rule.body, rule.slots)
    return f"{head} :- {body}." if body else f"{head}."


def show_aggregate_relation(relation: AggregateRelation) -> str:
    slots = relation.slots
    head = f"{relation.relation}({_arguments((*relation.groups, Slot(relation.result)), slots)})"
    domain = f"{relation.domain}({_arguments(relation.groups, slots)})"
    return f"{head} for each {domain}: {_expression(relation.aggregate, slots)}"


def show_body(body: tuple[core.CoreItem, ...], slots: Slots) -> str:
    return ", ".join(_item(item, slots) for item in body)


def _item(item: core.CoreItem, slots: Slots) -> str:
    match item:
        case core.CoreAtom(relation=relation, args=args):
            return f"{relation}({_arguments(args, slots)})"
        case core.CoreAbsent(relation=relation, args=args):
            return f"!{relation}({_arguments(args, slots)})"
        case core.CoreFilter(op=op, left=left, right=right):
            return f"{_argument(left, slots)} {op} {_argument(right, slots)}"
        case core.CoreDefine(slot=slot, expression=expression):
            return f"{_argument(Slot(slot), slots)} := {_expression(expression, slots)}"


def _expression(expression: core.Expression, slots: Slots) -> str:
    match expression:
        case core.Computed(op=op, args=(left, right)) if FUNCTORS[op].style == "infix":
            return f"{_argument(left, slots)} {op} {_argument(right, slots)}"
        case core.Computed(op=name, args=args) | core.Called(functor=name, args=args):
            return f"{name}({_arguments(args, slots)})"
        case core.Packed(fields=fields):
            return f"[{_arguments(fields, slots)}]"
        case core.Aggregated(op=op, value=value, body=body):
            what = "" if value is None else f" {_argument(value, slots)}"
            begin = "" if expression.init is None else f"{_argument(expression.init, slots)}, "
            return f"{op}{what} : {begin}{{ {show_body(body, slots)} }}"
    return type(expression).__name__


def _arguments(args: tuple[core.Argument, ...], slots: Slots) -> str:
    return ", ".join(_argument(arg, slots) for arg in args)


def _argument(arg: core.Argument, slots: Slots) -> str:
    if isinstance(arg, Slot):
        return slots[arg.index][0]
    if arg is None:
        return "_"
    return escape(arg.value) if isinstance(arg.value, str) else str(arg.value)
