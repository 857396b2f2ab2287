"""The rules of the paper's Algorithm 3, instrumented for its three terms (paper 002, sections 3.3, 4.1 and 4.2).

The changed tuples lie in relations of their own, as in section 4.1: `R@minus` and `R@plus` (the paper's diff_minus_R
and diff_plus_R) hold tuples of R, and as a last column the number of each tuple's row in R. For each rule there are

- deletion: per body atom, the derivations of the old state with that atom in diff_minus (diff_plus, if it is negated);
- insertion: the same in the new state, with diff_plus (diff_minus);
- re-discovery: the derivations, in the new state, of heads that are in diff_minus.

`Switches` are the choices of section 4.2. Each plan ends with `File`, which names the rows that its atoms matched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum

from tidelog.plain import dataclass
from tidelog.plan import core, steps
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.order import BodyScheduler
from tidelog.plan.steps import MatchedRow, Role, Slot, View
from tidelog.values import Kind

HEAD = -1
"""The position of an atom that is no positive atom of the body."""


@dataclass(frozen=True)
class Switches:
    """Section 4.2. Diffs are "eager" (exactly the tuples that are deleted and inserted) or "lazy" (all whose
    derivations changed, looked at when a rule meets them); the head of a re-discovery is filtered by "joined"
    diff_minus tuples or by "split" ones, a variable at a time; a rule begins with the diff ("diff-first") or is joined
    as written ("textual")."""

    diffs: str = "eager"
    rediscovery: str = "split"
    scheduling: str = "diff-first"


class PaperTerm(Enum):
    """The terms of line 10."""

    DELETION = "deletion"
    INSERTION = "insertion"
    REDISCOVERY = "re-discovery"


@dataclass(frozen=True, slots=True)
class TermPlan:
    """A plan for a term, which finds nothing while the diff `guard` is empty. `diff` is the part of the derivation that
    the diff holds; none where it holds the head."""

    term: PaperTerm
    plan: steps.Plan
    guard: str
    diff: int | None


def minus(relation: str) -> str:
    return f"{relation}@minus"


def plus(relation: str) -> str:
    return f"{relation}@plus"


def minus_column(relation: str, column: int) -> str:
    """The values that the diff has in one column."""
    return f"{relation}@minus.{column}"


def term_plans(rule: core.CoreRule, own: Collection[str], estimate: Estimate, switches: Switches) -> Iterator[TermPlan]:
    """The plans for a rule of the stratum whose relations are `own`."""
    for item in dict.fromkeys(rule.body):
        if isinstance(item, core.CoreAtom):
            yield _Instrumented(rule, own, estimate, switches, View.BEFORE).with_diff(PaperTerm.DELETION, item, minus)
            yield _Instrumented(rule, own, estimate, switches, View.AFTER).with_diff(PaperTerm.INSERTION, item, plus)
        elif isinstance(item, core.CoreAbsent):
            yield _Instrumented(rule, own, estimate, switches, View.BEFORE).with_diff(PaperTerm.DELETION, item, plus)
            yield _Instrumented(rule, own, estimate, switches, View.AFTER).with_diff(PaperTerm.INSERTION, item, minus)
    yield _Instrumented(rule, own, estimate, switches, View.AFTER).rediscovery()


class _Instrumented(BodyScheduler):
    """A rule in which a diff takes part. `filters` are atoms that bind nothing: they wait until what they name is
    bound."""

    def __init__(
        self, rule: core.CoreRule, own: Collection[str], estimate: Estimate, switches: Switches, state: View
    ) -> None:
        super().__init__(rule, {}, estimate, existential=False, state=state)
        self.own, self.switches = own, switches
        self.filters: tuple[core.CoreAtom, ...] = ()

    def with_diff(
        self, term: PaperTerm, pivot: core.CoreAtom | core.CoreAbsent, diff_name: Callable[[str], str]
    ) -> TermPlan:
        """The rule with one atom seen in a diff."""
        row = self.new_slot(Kind.NUMBER)
        self.uses[row] += 1
        position = pivot.position if isinstance(pivot, core.CoreAtom) else HEAD
        diff = core.CoreAtom(diff_name(pivot.relation), (*pivot.args, Slot(row)), position)
        body = [diff if item == pivot else item for item in dict.fromkeys(self.rule.body)]
        self.views[position] = View.ALL
        self.schedule(body, position if self.switches.scheduling == "diff-first" else None)
        self.rows[pivot] = row
        atoms = self.body_atoms()
        return TermPlan(term, self.finished(atoms, position), diff.relation, atoms.index(pivot))

    def rediscovery(self) -> TermPlan:
        """The rule with its head in diff_minus."""
        relation, args = self.rule.relation, self.rule.args
        if self.switches.rediscovery == "joined":
            heads = [core.CoreAtom(minus(relation), (*args, None), HEAD)]
        else:
            columns = {arg: column for column, arg in reversed(list(enumerate(args))) if isinstance(arg, Slot)}
            heads = [core.CoreAtom(minus_column(relation, c), (arg,), HEAD - c) for arg, c in columns.items()]
            heads.sort(key=lambda atom: (not self.is_joined(atom), -atom.position))
            self.filters = tuple(heads[1:])
        self.views.update((atom.position, View.ALL) for atom in heads)
        self.schedule([*heads, *dict.fromkeys(self.rule.body)], heads[0].position if heads else None)
        return TermPlan(PaperTerm.REDISCOVERY, self.finished(self.body_atoms(), HEAD), minus(relation), None)

    def is_joined(self, head: core.CoreAtom) -> bool:
        """Whether the variable occurs in an atom, so that beginning with it makes no cross product."""
        return any(set(core.slots_in(head.args)) & set(core.slots_in(atom.args)) for atom in self.rule.atoms())

    def body_atoms(self) -> list[core.CoreAtom | core.CoreAbsent]:
        return [i for i in dict.fromkeys(self.rule.body) if isinstance(i, core.CoreAtom | core.CoreAbsent)]

    def finished(self, atoms: list[core.CoreAtom | core.CoreAbsent], pivot: int) -> steps.Plan:
        parts = tuple(MatchedRow(self.rows[atom], atom.relation, self.role(atom)) for atom in atoms)
        self.steps.append(
            steps.File(self.state is View.AFTER, self.rule.relation, self.rule.args, parts, self.rule.number)
        )
        return steps.Plan(self.rule.number, pivot, tuple(self.steps), tuple(self.slots))

    def role(self, atom: core.CoreAtom | core.CoreAbsent) -> Role:
        if isinstance(atom, core.CoreAbsent):
            return Role.NEGATED
        return Role.OWN if atom.relation in self.own else Role.LOWER

    # ---- the order

    def atom_order(self, atoms: list[core.CoreAtom], others: Sequence[core.CoreItem]) -> Iterable[core.CoreAtom]:
        atoms = [atom for atom in atoms if atom not in self.filters]
        return atoms if self.switches.scheduling == "textual" else super().atom_order(atoms, others)

    def place_ready(self, pending: list[core.CoreItem]) -> bool:
        for atom in self.filters:
            if atom in pending and self.bound.issuperset(core.slots_in(atom.args)):
                self.place_atom(atom, pending)
                return True
        return super().place_ready(pending)
