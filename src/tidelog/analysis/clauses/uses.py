"""What the clauses of a program mention, found in one walk over them.

A `Uses` covers one level of a head or literal: everything outside of aggregates. Each aggregate directly below has a
`Uses` of its own for its target and body. Alternatives of a disjunction share their literals, so each literal is
walked once, however many clauses it is part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.scopes import VariableScope, scopes_of
from tidelog.lang import tree
from tidelog.plain import dataclass

T = TypeVar("T")

NONE: tuple[()] = ()


@dataclass(slots=True, eq=False)
class Uses:
    """The parts of one level, each in textual order."""

    atoms: Sequence[tree.Atom] = NONE
    negated: Sequence[tree.Atom] = NONE  # these are among the atoms too
    comparisons: Sequence[tree.Comparison] = NONE
    variables: Sequence[tree.Variable] = NONE
    wildcards: Sequence[tree.Wildcard] = NONE
    field_wildcards: Sequence[tree.Wildcard] = NONE  # directly inside a record or branch
    functors: Sequence[tree.Functor | tree.UserFunctor] = NONE
    counters: Sequence[tree.Counter] = NONE
    aggregates: Sequence[AggregateUses] = NONE

    def names(self) -> set[str]:
        """The variables of this level."""
        return {variable.name for variable in self.variables}

    def levels(self) -> Iterator[Uses]:
        """This level and those of all aggregates below."""
        yield self
        for aggregate in self.aggregates:
            yield from aggregate.uses.levels()


@dataclass(slots=True, eq=False)
class AggregateUses:
    """An aggregate, the literals of its body, and what its target and body mention."""

    node: tree.Aggregate | tree.UserAggregate
    body: tuple[tree.Literal, ...]
    uses: Uses

    def with_nested(self) -> Iterator[AggregateUses]:
        yield self
        for aggregate in self.uses.aggregates:
            yield from aggregate.with_nested()


@dataclass(eq=False)
class ClauseUses:
    """A clause with what its head and the literals that must hold mention."""

    clause: Clause
    head: Uses
    literals: list[Uses]

    def all(self) -> Iterator[Uses]:
        yield self.head
        yield from self.literals

    def names(self) -> set[str]:
        """The variables of the literals, those of aggregates included."""
        return {name for uses in self.literals for level in uses.levels() for name in level.names()}

    def relations(self) -> set[str]:
        """The relations that the clause depends on, negated and aggregated ones included."""
        found = {atom.name for uses in self.literals for level in uses.levels() for atom in level.atoms}
        for aggregate in self.head.aggregates:
            found.update(atom.name for level in aggregate.uses.levels() for atom in level.atoms)
        return found

    @cached_property
    def aggregates(self) -> list[AggregateUses]:
        """All aggregates of the clause, nested ones after those around them."""
        return [nested for uses in self.all() for outer in uses.aggregates for nested in outer.with_nested()]

    @property
    def may_have_witnesses(self) -> bool:
        """False if it is plain to see that atoms bind all that aggregates share with their surroundings."""
        if not self.aggregates:
            return False
        if any(aggregate.uses.aggregates for aggregate in self.aggregates):
            return True
        bound = {
            arg.name
            for literal in self.clause.literals()
            if isinstance(literal, tree.Atom)
            for arg in literal.args
            if isinstance(arg, tree.Variable)
        }
        unbound = {name for uses in self.all() for name in uses.names()} - bound
        return any(unbound & aggregate.uses.names() for aggregate in self.aggregates)

    @cached_property
    def scopes(self) -> dict[int, VariableScope]:
        """For the id of each aggregate, which of its variables are its own."""
        return scopes_of(self.clause)


class ProgramUses:
    """All clauses with what they mention, and each distinct head and literal once."""

    def __init__(self, clauses: Iterable[Clause]) -> None:
        self._known: dict[int, Uses] = {}
        self.clauses = [
            ClauseUses(clause, self._of(clause.head), [self._of(literal) for literal in clause.literals()])
            for clause in clauses
        ]
        self.distinct = list(self._known.values())
        self.has_counters = any(level.counters for uses in self.distinct for level in uses.levels())

    def _of(self, node: tree.Atom | tree.Literal) -> Uses:
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = collect((node,))
        return found


def collect(roots: Iterable[tree.SyntaxNode]) -> Uses:
    """What these nodes mention together."""
    atoms: list[tree.Atom] = []
    variables: list[tree.Variable] = []
    uses = Uses(atoms=atoms, variables=variables)
    pending = list(roots)
    pending.reverse()
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind is tree.Variable:
            variables.append(node)  # type: ignore[arg-type]
        elif isinstance(node, tree.Atom):
            atoms.append(node)
            pending.extend(node.args[::-1])
        elif isinstance(node, tree.Wildcard):
            uses.wildcards = _more(uses.wildcards, node)
        elif isinstance(node, tree.Comparison):
            uses.comparisons = _more(uses.comparisons, node)
            pending += (node.right, node.left)
        elif isinstance(node, tree.Negation):
            if isinstance(node.body, tree.Atom):
                uses.negated = _more(uses.negated, node.body)
            pending.append(node.body)
        else:
            _collect_term(node, uses, pending)
    return uses


def _collect_term(node: tree.SyntaxNode, uses: Uses, pending: list[tree.SyntaxNode]) -> None:
    """The rarer kinds of nodes."""
    match node:
        case tree.Functor() | tree.UserFunctor():
            uses.functors = _more(uses.functors, node)
            pending.extend(node.args[::-1])
        case tree.Record() | tree.Branch():
            for arg in node.args:
                if isinstance(arg, tree.Wildcard):
                    uses.field_wildcards = _more(uses.field_wildcards, arg)
            pending.extend(arg for arg in reversed(node.args) if not isinstance(arg, tree.Wildcard))
        case tree.Counter():
            uses.counters = _more(uses.counters, node)
        case tree.Aggregate() | tree.UserAggregate():
            uses.aggregates = _more(uses.aggregates, _aggregate(node))
            if isinstance(node, tree.UserAggregate):
                pending.append(node.init)
        case tree.Cast():
            pending.append(node.term)
        case tree.Conjunction() | tree.Disjunction():
            pending.extend(node.parts[::-1])


def _more(found: Sequence[T], new: T) -> Sequence[T]:
    """Appends in place, once there is a list to append to: most levels have none of most things."""
    if isinstance(found, list):
        found.append(new)
        return found
    return [new]


def _aggregate(node: tree.Aggregate | tree.UserAggregate) -> AggregateUses:
    body = node.body.parts if isinstance(node.body, tree.Conjunction) else (node.body,)
    target = () if node.target is None else (node.target,)
    return AggregateUses(node, body, collect((*target, *body)))
