"""Columns that nobody looks at are left open, and an atom that holds whenever another does is left out.

>>> from tidelog.plan.rewrites.example import example
>>> print(example("p(x) :- e(x, y), e(x, z), f(y), e(x, _).", drop_implied))
p(x) :- e(x, y), f(y).

A variable that occurs once asks for nothing: it becomes None, as `_` is. An atom is implied by another one of its
relation that has the same argument in every column that the atom asks about; to leave it out may make a variable occur
once, and so on. The tuples of the head are the same, and so are their iterations: the tuple that matches the other atom
matches this one, and is no later. Only derivations that differ in nothing but the tuple behind a `_` are fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tidelog.plain import replace
from tidelog.plan import core
from tidelog.plan.rewrites.rewrite import Rewritten, RuleScope
from tidelog.plan.steps import Slot


def drop_implied(rule: core.CoreRule, scope: RuleScope) -> Rewritten:
    """The rule without the atoms that others imply."""
    body: Sequence[core.CoreItem] = rule.body
    while True:
        kept = _without_implied(_open_columns(body, rule.args))
        if len(kept) == len(body):
            return Rewritten((replace(rule, body=tuple(core.positioned(kept))),))
        body = kept


def _open_columns(body: Sequence[core.CoreItem], head: tuple[core.Argument, ...]) -> list[core.CoreItem]:
    """The body with None for every variable of an atom that occurs nowhere else."""
    uses = Counter(core.slots_in(head))
    for item in body:
        uses.update(core.mentions(item))

    def opened(arg: core.Argument) -> core.Argument:
        return None if isinstance(arg, Slot) and uses[arg.index] == 1 else arg

    return [replace(i, args=tuple(map(opened, i.args))) if isinstance(i, core.CoreAtom) else i for i in body]


def _without_implied(body: Iterable[core.CoreItem]) -> list[core.CoreItem]:
    """The body without atoms that another atom of it implies; of several that imply each other the first stays."""
    waiting, kept = list(body), list[core.CoreItem]()
    while waiting:
        item = waiting.pop(0)
        implied = any(_implies(other, item) for other in kept) or any(
            _implies(other, item) and not _implies(item, other) for other in waiting
        )
        if not implied:
            kept.append(item)
    return kept


def _implies(one: core.CoreItem, other: core.CoreItem) -> bool:
    return (
        isinstance(one, core.CoreAtom)
        and isinstance(other, core.CoreAtom)
        and one.relation == other.relation
        and all(asked is None or asked == given for given, asked in zip(one.args, other.args, strict=True))
    )
