"""Atoms with columns that nobody looks at ask a projection whether they hold.

>>> from tidelog.plan.rewrites.example import example
>>> print(example("p(x, y) :- e(x, y), f(y, _).", ask_projections))
f@(0)(c0) :- f(c0, _).
p(x, y) :- e(x, y), f@(0)(y).

>>> print(example("q(x, y) :- e(x, y), f(x, z), z > 3.", ask_projections))
q@part0.0(x) :- f(x, z), z > 3.
q(x, y) :- e(x, y), q@part0.0(x).

With state, every tuple that a `_` matches would be a derivation of its own, and several such atoms multiply. After this
rewrite, only one atom of a body may have matches that differ in what nobody looks at, and no projection is made that
gains nothing. One atom stays as it is

- if all variables follow from it: the rule has no more derivations than the atom has tuples, nor has its projection; or
- if it is joined with others, and binds a variable that they do not or ties them together, as `assign(_, _, from, to)`
  of an instruction does: evaluation in batch goes through its tuples as well, and few of them may be expected to differ
  in open columns only.

All others are asked whether they hold. The same for variables that only conditions on the same atom mention.
Projections without conditions and constants are those of `project_negations.py`, which negated atoms use as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tidelog.plain import replace
from tidelog.plan import core
from tidelog.plan.rewrites.parts import Keys, RulePart, determined_by, has_key, parts_of, pieces
from tidelog.plan.rewrites.project_negations import projection
from tidelog.plan.rewrites.rewrite import Rewritten, RuleScope
from tidelog.plan.steps import Slot


def ask_projections(rule: core.CoreRule, scope: RuleScope) -> Rewritten:
    """The rule over projections, and the rules of these."""
    if len(rule.body) < 2:
        return Rewritten((rule,))
    times = Counter(slot for atom in rule.atoms() for slot in set(core.slots_in(atom.args)))
    outer = {slot for slot, number in times.items() if number > 1}.union(core.slots_in(rule.args))
    found = parts_of(rule.body, outer)
    questions = [part for part in found if _asks(part, outer, scope.keys)]
    if not questions:
        return Rewritten((rule,))
    staying = _staying(questions, rule, scope.keys, scope.own)
    made: list[core.CoreRule] = []
    body: list[core.CoreItem] = []
    for part in found:
        if part in questions and part is not staying:
            relation = _relation(part, rule, scope)
            if scope.allowed(relation):
                made.append(relation)
                body.append(core.CoreAtom(relation.relation, tuple(map(Slot, part.boundary))))
                continue
        body += part.items
    if not made:
        return Rewritten((rule,))
    return Rewritten((replace(rule, body=tuple(core.positioned(body))),), tuple(made))


def _asks(part: RulePart, outer: Collection[int], keys: Keys) -> bool:
    """Whether a part is one atom, perhaps with conditions, that may have several matches where the rest has one."""
    if len(part.atoms) != 1 or not part.can_move:
        return False
    return not has_key(part.atoms[0], determined_by(outer, part.items, {}), keys)


def _staying(questions: list[RulePart], rule: core.CoreRule, keys: Keys, own: Collection[str]) -> RulePart | None:
    """The part that stays as it is: one from which all follows that the rule then looks at, or else one that the
    join needs; rather one of the stratum itself, and one that leaves few columns open."""
    asked = frozenset[int]().union(*(part.inner for part in questions))
    looked_at = frozenset(s for item in rule.body for s in core.mentions(item)).union(core.slots_in(rule.args)) - asked
    likely = sorted(questions, key=lambda p: (p.atoms[0].relation not in own, p.atoms[0].args.count(None)))
    for part in likely:
        if looked_at <= determined_by(core.slots_in(part.atoms[0].args), rule.body, keys):
            return part
    return next((part for part in likely if _is_needed(part, rule)), None)


def _is_needed(part: RulePart, rule: core.CoreRule) -> bool:
    """Whether the part is joined with others, and binds a variable that they do not, or ties them together."""
    rest = [item for item in rule.body if item not in part.items]
    others = {slot for item in rest if isinstance(item, core.CoreAtom) for slot in core.slots_in(item.args)}
    shared = others.intersection(part.boundary)
    return bool(shared) and (len(shared) < len(part.boundary) or pieces(rest) > pieces(rule.body))


def _relation(part: RulePart, rule: core.CoreRule, scope: RuleScope) -> core.CoreRule:
    """The rule of the relation that the part becomes: a plain projection, if it is one."""
    (atom,) = part.atoms
    if len(part.items) == 1 and [arg for arg in atom.args if arg is not None] == list(map(Slot, part.boundary)):
        return projection(atom, rule, scope.kinds)
    return scope.parts.relation(rule, part.items, part.boundary)
