"""Negated atoms with columns that nobody looks at become negated atoms of projections.

p(x) :- e(x), !q(x, _).
p(x) :- e(x), !q@(0)(x).    q@(0)(x) :- q(x, _).

After this rewrite every negated atom names one tuple, whose coming and going decides the negation; and the state of the
projection counts how many tuples of `q` stand behind each of its own. A projection is named after its relation and
columns, so that all rules share it; no identifier of a program contains an `@`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tidelog.plan import core
from tidelog.plan.steps import Slot
from tidelog.values import Kind

Kinds = Mapping[str, tuple[Kind, ...]]


def project_negations(rule: core.CoreRule, kinds: Kinds) -> tuple[core.CoreRule, list[core.CoreRule]]:
    """The rule over projections, and the rules of those projections; `kinds` has the columns of every relation."""
    body: list[core.CoreItem] = []
    projections: list[core.CoreRule] = []
    for item in rule.body:
        if isinstance(item, core.CoreAbsent) and None in item.args:
            projections.append(_projection(item, rule, kinds))
            item = core.CoreAbsent(projections[-1].relation, tuple(a for a in item.args if a is not None))
        body.append(item)
    return replace(rule, body=tuple(body)), projections


def _projection(absent: core.CoreAbsent, rule: core.CoreRule, kinds: Kinds) -> core.CoreRule:
    columns = [column for column, arg in enumerate(absent.args) if arg is not None]
    args: list[core.Argument] = [None] * len(absent.args)
    for slot, column in enumerate(columns):
        args[column] = Slot(slot)
    return core.CoreRule(
        rule.number,
        f"{absent.relation}@({','.join(map(str, columns))})",
        tuple(Slot(slot) for slot in range(len(columns))),
        (core.CoreAtom(absent.relation, tuple(args)),),
        tuple((f"c{column}", kinds[absent.relation][column]) for column in columns),
        rule.clause,
    )
