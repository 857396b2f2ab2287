"""Parts of a body that have nothing to do with each other are joined once each, not with each other.

>>> from tidelog.plan.rewrites.example import example
>>> print(example("p(x) :- a(x), b(y, z), c(z, w).", separate_parts))
p@part0.0() :- b(y, z), c(z, w).
p(x) :- a(x), p@part0.0().

>>> print(example("q(x, y) :- a(x, y), b(y, u), c(u, v).", separate_parts))
q@part0.0(y) :- a(_, y), b(y, u), c(u, v).
q(x, y) :- a(x, y), q@part0.0(y).

Once the head is fixed, its body falls into parts between which no variable is shared. A match of each is needed, and
which one it is does not matter; but a join makes every combination of them. So a part of several atoms that at most one
variable ties to the rest becomes a relation over that variable, no larger than a column of one of its atoms; of two
equal parts one is left out. Its rule has an atom of the rest that has the variable, too, so that matches are looked for
only where somebody asks. One part stays as it is if the whole head follows from it: then there are no more derivations
than it has matches. A part that two variables or more tie to the rest stays as well: it may have many more tuples than
the head.

Other parts of one atom are no matter here: evaluation in batch asks whether they hold, and `ask_projections.py` sees to
them in evaluation with state.
"""

from __future__ import annotations

from collections.abc import Collection

from tidelog.plain import replace
from tidelog.plan import core
from tidelog.plan.rewrites.parts import Keys, RulePart, canonical, determined_by, parts_of
from tidelog.plan.rewrites.rewrite import Rewritten, RuleScope
from tidelog.plan.steps import Slot


def separate_parts(rule: core.CoreRule, scope: RuleScope) -> Rewritten:
    """The rule over relations for its independent parts, and the rules of these."""
    head = frozenset(core.slots_in(rule.args))
    found = parts_of(rule.body, head) if len(rule.body) > 1 else []
    if len(found) < 2:
        return Rewritten((rule,))
    found = _different(found, rule)
    several = [part for part in found if part.inner and _joins(part)]
    enough = [part for part in several if _determines(part, head, rule, scope.keys)]
    staying = max(enough, key=lambda p: (any(a.relation in scope.own for a in p.atoms), len(p.atoms)), default=None)
    made: list[core.CoreRule] = []
    body: list[core.CoreItem] = []
    for part in found:
        if part in several and part is not staying and len(part.boundary) < 2 and part.can_move:
            asked_for = _context(part, [p for p in found if p is not part], scope.own)
            relation = scope.parts.relation(rule, (*asked_for, *part.items), part.boundary)
            if scope.allowed(relation):
                made.append(relation)
                body.append(core.CoreAtom(relation.relation, relation.args))
                continue
        body += part.items
    if not made and len(body) == len(rule.body):
        return Rewritten((rule,))
    return Rewritten((replace(rule, body=tuple(core.positioned(body))),), tuple(made))


def _joins(part: RulePart) -> bool:
    """Whether it takes more than a look at one relation to see that the part holds, or a condition on it that nothing
    else depends on."""
    return len(part.atoms) > 1 or (len(part.items) > 1 and not part.boundary)


def _different(parts: list[RulePart], rule: core.CoreRule) -> list[RulePart]:
    """The parts without those that equal an earlier one but for the names of their own variables."""
    found: dict[object, RulePart] = {}
    for part in parts:
        key = canonical(tuple(map(Slot, part.boundary)), part.items, rule.slots)
        found.setdefault((part.boundary, key), part)
    return list(found.values())


def _determines(part: RulePart, head: frozenset[int], rule: core.CoreRule, keys: Keys) -> bool:
    slots = (slot for atom in part.atoms for slot in core.slots_in(atom.args))
    return head <= determined_by(slots, rule.body, keys)


def _context(part: RulePart, others: list[RulePart], own: Collection[str]) -> list[core.CoreItem]:
    """Atoms of the rest that restrict the boundary: all that have nothing but it, or else one, without what it has
    beside; rather one of a lower stratum than one of the rule's own."""
    if not part.boundary:
        return []
    (slot,) = part.boundary
    atoms = [atom for other in others for atom in other.atoms if slot in core.slots_in(atom.args)]
    bare = {atom: replace(atom, args=tuple(_unless_other(arg, slot) for arg in atom.args)) for atom in atoms}
    exact = [atom for atom in atoms if bare[atom] == atom and None not in atom.args]
    return [bare[atom] for atom in exact or sorted(atoms, key=lambda atom: atom.relation in own)[:1]]


def _unless_other(arg: core.Argument, slot: int) -> core.Argument:
    return None if isinstance(arg, Slot) and arg.index != slot else arg
