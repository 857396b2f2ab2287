"""Many facts in the program's text become a relation of their own and one rule, so that they need no plan each.

    color(1). color(2). … :  color(x) :- color@text(_, x).  color@text(n, x): fact number n

A fact is a rule without a body, and as such a derivation of its own: two equal ones are two derivations.
"""

from __future__ import annotations

from tidelog.plain import replace
from tidelog.plan import core
from tidelog.plan.steps import Const, Slot
from tidelog.values import Kind

FEW = 8
"""Facts of a relation that may stay rules."""


def is_fact(rule: core.CoreRule) -> bool:
    return not rule.body and not rule.subsumes and all(isinstance(arg, Const) for arg in rule.args)


def gather_facts(
    rules: list[core.CoreRule], kinds: dict[str, tuple[Kind, ...]], few: int = FEW
) -> tuple[list[core.CoreRule], dict[str, list[core.CoreRule]]]:
    """The rules with one rule in the place of more than a `few` facts, and for each relation of such facts what defines
    it."""
    by_head: dict[str, list[core.CoreRule]] = {}
    for rule in rules:
        if is_fact(rule):
            by_head.setdefault(rule.relation, []).append(rule)
    many = {name: facts for name, facts in by_head.items() if len(facts) > few}
    rest = [rule for rule in rules if not (is_fact(rule) and rule.relation in many)]
    gathered: dict[str, list[core.CoreRule]] = {}
    for name, facts in many.items():
        text = f"{name}@text"
        gathered[text] = [
            replace(fact, relation=text, args=(Const(Kind.NUMBER, number), *fact.args))
            for number, fact in enumerate(facts)
        ]
        slots = tuple((f"c{column}", kind) for column, kind in enumerate(kinds[name]))
        args = tuple(map(Slot, range(len(slots))))
        body = (core.CoreAtom(text, (None, *args)),)
        rest.append(replace(facts[0], args=args, body=body, slots=slots))
    return rest, gathered
