"""Negated atoms with columns that nobody looks at become negated atoms of projections.

>>> from tidelog.plan.rewrites.example import example
>>> print(example("p(x) :- e(x), !q(x, _).", project_negations))
q@(0)(c0) :- q(c0, _).
p(x) :- e(x), !q@(0)(x).

After this rewrite every negated atom names one tuple, whose coming and going decides the negation; and the state of the
projection counts how many tuples of `q` stand behind each of its own. A projection is named after its relation and
columns, so that all rules share it; no identifier of a program contains an `@`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.plain import replace
from tidelog.plan import core
from tidelog.plan.rewrites.rewrite import Rewritten, RuleScope
from tidelog.plan.steps import Slot
from tidelog.values import Kind

Kinds = Mapping[str, tuple[Kind, ...]]


def project_negations(rule: core.CoreRule, scope: RuleScope) -> Rewritten:
    """The rule over projections, and the rules of those projections."""
    body: list[core.CoreItem] = []
    projections: list[core.CoreRule] = []
    for item in rule.body:
        if isinstance(item, core.CoreAbsent) and None in item.args:
            projections.append(projection(item, rule, scope.kinds))
            item = core.CoreAbsent(projections[-1].relation, tuple(a for a in item.args if a is not None))
        body.append(item)
    return Rewritten((replace(rule, body=tuple(body)),) if projections else (rule,), tuple(projections))


def projection(atom: core.CoreAbsent | core.CoreAtom, rule: core.CoreRule, kinds: Kinds) -> core.CoreRule:
    """The rule of the projection to the columns that an atom of the rule looks at."""
    columns = [column for column, arg in enumerate(atom.args) if arg is not None]
    args: list[core.Argument] = [None] * len(atom.args)
    for slot, column in enumerate(columns):
        args[column] = Slot(slot)
    return core.CoreRule(
        rule.number,
        f"{atom.relation}@({','.join(map(str, columns))})",
        tuple(Slot(slot) for slot in range(len(columns))),
        (core.CoreAtom(atom.relation, tuple(args)),),
        tuple((f"c{column}", kinds[atom.relation][column]) for column in columns),
        rule.clause,
    )
