"""Which variables a body binds, and which variables an aggregate shares with its surroundings.

A positive atom binds the variables among its arguments, and those inside records and branches there. An equality
binds one side when the other is bound: a variable, or the variables of a record or branch that is taken apart.
Functors are computed forwards only. Within a scope (a clause, or an aggregate's body) order does not matter.

A variable of an aggregate is *injected* when the enclosing scope binds it (without this aggregate's help) and it
is not aggregated over; otherwise it is *local*, a different variable even if the enclosing scope has one of the
same name. A *witness* is bound only inside but used outside.

Cost: linear in the size of the clause, times the number of aggregates of a scope when there are any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from tidelog.analysis.clauses.flat import Clause
from tidelog.lang import tree
from tidelog.plain import dataclass

AnyAggregate: TypeAlias = tree.Aggregate | tree.UserAggregate
Needs: TypeAlias = frozenset[str] | None  # the names a term needs to have a value; None: it never has one

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class VariableScope:
    """The variables of an aggregate, by where they live."""

    injected: frozenset[str]
    local: frozenset[str]
    witnesses: frozenset[str]


def body_of(aggregate: AnyAggregate) -> tuple[tree.Literal, ...]:
    """The literals of an aggregate's (flattened) body."""
    body = aggregate.body
    return body.parts if isinstance(body, tree.Conjunction) else (body,)


def inner_terms(aggregate: AnyAggregate) -> tuple[tree.Term, ...]:
    """The terms that an aggregate evaluates in its own scope, besides its body."""
    return () if aggregate.target is None else (aggregate.target,)


def outer_terms(aggregate: AnyAggregate) -> tuple[tree.Term, ...]:
    """The terms of an aggregate that belong to the enclosing scope."""
    return (aggregate.init,) if isinstance(aggregate, tree.UserAggregate) else ()


def walk_scope(node: tree.SyntaxNode) -> Iterator[tree.SyntaxNode]:
    """The node and everything below it in the same scope; an aggregate is given, but not entered."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if isinstance(current, (tree.Aggregate, tree.UserAggregate)):
            pending.extend(outer_terms(current))
        elif not isinstance(current, tree.Variable):
            pending.extend(reversed(tuple(current.children())))


def counts_named_values(aggregate: AnyAggregate) -> bool:
    """Whether an aggregate is over the values of its named variables, each combination once, and not over the tuples
    behind its `_`. As in Soufflé it is where a body is more than a look at one relation: with several atoms, a range or
    an aggregate in it, or one variable twice in its atom. (Without a `_` there is no difference, and False is said.)"""
    nodes = [n for literal in body_of(aggregate) for n in walk_scope(literal) if not isinstance(literal, tree.Negation)]
    if not any(isinstance(node, tree.Wildcard) for node in nodes):
        return False
    nodes += [n for term in inner_terms(aggregate) for n in walk_scope(term)]
    atoms = [node for node in nodes if isinstance(node, tree.Atom)]
    if len(atoms) > 1 or any(isinstance(n, (tree.Aggregate, tree.UserAggregate)) or _is_range(n) for n in nodes):
        return True
    names = [n.name for atom in atoms for n in atom.walk() if isinstance(n, tree.Variable)]
    return len(names) > len(set(names))


def _is_range(node: tree.SyntaxNode) -> bool:
    return isinstance(node, tree.Functor) and node.op == "range"


def names_in(nodes: Iterable[tree.SyntaxNode]) -> frozenset[str]:
    return frozenset(n.name for node in nodes for n in node.walk() if isinstance(n, tree.Variable))


def aggregates_in(nodes: Iterable[tree.SyntaxNode]) -> list[AnyAggregate]:
    """The aggregates of a scope, without those inside other aggregates."""
    return [n for node in nodes for n in walk_scope(node) if isinstance(n, (tree.Aggregate, tree.UserAggregate))]


def pattern_names(term: tree.Term) -> Iterator[str]:
    """The variables that get a value when the whole term has one."""
    pending = [term]
    while pending:
        current = pending.pop()
        if isinstance(current, tree.Variable):
            yield current.name
        elif isinstance(current, (tree.Record, tree.Branch)):
            pending.extend(current.args)


def needs_of(term: tree.Term, aggregates: Mapping[int, Needs]) -> Needs:
    """The names that must be bound for the term to have a value.

    `aggregates` says what the aggregates of the scope need; one that is not listed needs nothing.
    """
    if isinstance(term, tree.Variable):
        return frozenset((term.name,))
    names: set[str] = set()
    for node in walk_scope(term):
        if isinstance(node, tree.Variable):
            names.add(node.name)
        elif isinstance(node, tree.Wildcard):
            return None
        elif isinstance(node, (tree.Aggregate, tree.UserAggregate)):
            needed = aggregates.get(id(node), NOTHING)
            if needed is None:
                return None
            names |= needed
    return frozenset(names)


def equalities(literals: Iterable[tree.Literal]) -> Iterator[tuple[tree.Term, tree.Term]]:
    """The pairs that must be equal; two records of one size are compared field by field."""
    for literal in literals:
        if not isinstance(literal, tree.Comparison) or literal.op != "=":
            continue
        pending = [(literal.left, literal.right)]
        while pending:
            left, right = pending.pop()
            if isinstance(left, tree.Record) and isinstance(right, tree.Record) and len(left.args) == len(right.args):
                pending.extend(zip(left.args, right.args, strict=True))
            else:
                yield left, right


def bound_names(
    literals: Iterable[tree.Literal],
    already: Iterable[str] = (),
    aggregates: Mapping[int, Needs] | None = None,
) -> set[str]:
    """The variables that a body binds, given those that are bound already."""
    bound = set(already)
    literals = tuple(literals)
    has_equality = False
    for literal in literals:
        if isinstance(literal, tree.Atom):
            for arg in literal.args:
                if isinstance(arg, tree.Variable):
                    bound.add(arg.name)
                else:
                    bound.update(pattern_names(arg))
        elif isinstance(literal, tree.Comparison):
            has_equality = has_equality or literal.op == "="
        elif isinstance(literal, tree.GroupedAggregate):
            bound.update(literal.group)
            bound.update(binding.result for binding in literal.bindings)
    if has_equality:
        _propagate(literals, bound, aggregates or {})
    return bound


def _propagate(literals: Iterable[tree.Literal], bound: set[str], aggregates: Mapping[int, Needs]) -> None:
    """Add what equalities bind. Each side waits, in the lists of the names it needs, until all are bound."""
    waiting: dict[str, list[int]] = {}
    missing: list[int] = []
    targets: list[tree.Term] = []
    ready: deque[int] = deque()
    for left, right in equalities(literals):
        for source, target in ((left, right), (right, left)):
            needed = needs_of(source, aggregates)
            if needed is None:
                continue
            still = needed - bound
            for name in still:
                waiting.setdefault(name, []).append(len(missing))
            if not still:
                ready.append(len(missing))
            missing.append(len(still))
            targets.append(target)
    while ready:
        for name in pattern_names(targets[ready.popleft()]):
            if name in bound:
                continue
            bound.add(name)
            for entry in waiting.get(name, ()):
                missing[entry] -= 1
                if not missing[entry]:
                    ready.append(entry)


def clause_bound(clause: Clause, inline: bool, aggregates: Mapping[int, Needs] | None = None) -> set[str]:
    """What a clause binds. The head of an inline relation binds too: its callers give the values."""
    literals = (clause.head, *clause.body) if inline else clause.literals()
    return bound_names(literals, (), aggregates)


def scopes_of(clause: Clause, inline: bool = False) -> dict[int, VariableScope]:
    """The scope of every aggregate of a clause, by the aggregate's id."""
    result: dict[int, VariableScope] = {}
    roots: tuple[tree.SyntaxNode, ...] = (
        (clause.head, *clause.literals()) if clause.greater is None else clause.literals()
    )
    binding = (clause.head, *clause.body) if inline else clause.literals()
    pending = [_Surroundings(roots, binding, NOTHING, NOTHING)]
    while pending:
        around = pending.pop()
        found = aggregates_in(around.nodes)
        if not found:
            continue
        bound = bound_names(around.literals, around.inherited)
        used = frozenset(n.name for node in around.nodes for n in walk_scope(node) if isinstance(n, tree.Variable))
        wanted = (around.wanted | used).difference(bound)
        for aggregate in found:
            scope = _scope_of(aggregate, around, wanted)
            result[id(aggregate)] = scope
            body = body_of(aggregate)
            pending.append(_Surroundings((*body, *inner_terms(aggregate)), body, scope.injected, wanted))
    return result


class _Surroundings(NamedTuple):
    """A scope in which aggregates stand."""

    nodes: tuple[tree.SyntaxNode, ...]
    literals: tuple[tree.Literal, ...]  # those that bind
    inherited: frozenset[str]  # bound further out
    wanted: frozenset[str]  # used further out, but not bound there


def _scope_of(aggregate: AnyAggregate, around: _Surroundings, wanted: frozenset[str]) -> VariableScope:
    body = body_of(aggregate)
    names = names_in((*body, *inner_terms(aggregate)))
    without = bound_names(around.literals, around.inherited, {id(aggregate): None})
    aggregated: Iterable[str] = ()
    if isinstance(aggregate.target, tree.Variable):
        aggregated = (aggregate.target.name,)
    elif aggregate.target is not None:
        aggregated = names_in((aggregate.target,)) & bound_names(body)
    injected = (names & without).difference(aggregated)
    witnesses = (names & wanted & bound_names(body, injected)) - injected
    return VariableScope(injected, names - injected - witnesses, witnesses)
