"""Witnesses of aggregates: `who(n, m) :- m = max a : { age(n, a) }.` asks whose age it is.

A variable that only the body of a `min` or `max` binds, and that is used outside of it, takes the values for which the
extreme is reached: all of them, where there are several. The clause gets a copy of the aggregate's body whose target
equals the result, and inside of the aggregate the variable becomes another one:

    who(n, m) :- m = max a : { age(n, a) }.
    who(n, m) :- m = w^1, w^1 = max a : { age(n^2, a) }, age(n, a^3), a^3 = w^1.

What is always true: aggregates that share a witness are computed first and joined afterwards, as in Soufflé. A witness
of an aggregate inside an aggregate belongs to the outermost body that uses it. Clauses without them are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count
from typing import TypeVar

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.scopes import (
    VariableScope,
    aggregates_in,
    body_of,
    bound_names,
    inner_terms,
    walk_scope,
)
from tidelog.analysis.clauses.uses import ProgramUses
from tidelog.errors import Report
from tidelog.lang import tree

N = TypeVar("N", bound=tree.SyntaxNode)
Names = Mapping[str, str]

WITNESSED = ("min", "max")
"""The aggregates whose value is that of one of the matches."""


def bind_witnesses(clauses: list[Clause], report: Report) -> list[Clause]:
    """The clauses, with literals that bind the witnesses of their aggregates."""
    return [
        _Binding(uses.clause, uses.scopes, report).clause() if uses.may_have_witnesses else uses.clause
        for uses in ProgramUses(clauses).clauses
    ]


class _Binding:
    """One clause. `additions` has what the body of each aggregate gets, by its id; under None what the clause gets."""

    def __init__(self, clause: Clause, scopes: Mapping[int, VariableScope], report: Report) -> None:
        self.original = clause
        self.scopes = scopes
        self.report = report
        self.numbers = count(1)
        self.homes: dict[int, int | None] = {}  # of an aggregate with witnesses, whose body binds them
        self.parents: dict[int, int | None] = {}
        self.additions: dict[int | None, list[tree.Literal]] = {None: []}

    def clause(self) -> Clause:
        clause = self.original
        roots = (clause.head, *clause.literals())
        self._find(roots, clause.literals(), frozenset(), None, [(None, _level_names(roots))])
        if not self.homes:
            return clause
        head = self.visit(clause.head, {}, True) if clause.greater is None else clause.head
        body = tuple(self.visit(literal, {}, True) for literal in clause.body)
        return replace(clause, head=head, body=(*body, *self.additions[None]))

    def _find(
        self,
        nodes: Iterable[tree.SyntaxNode],
        literals: tuple[tree.Literal, ...],
        inherited: frozenset[str],
        level: int | None,
        users: list[tuple[int | None, frozenset[str]]],
    ) -> None:
        """Where the witnesses of all aggregates below are to be bound. `users` are the levels around, with the names
        that each uses."""
        for aggregate in aggregates_in(nodes):
            scope, key = self.scopes[id(aggregate)], id(aggregate)
            self.parents[key] = level
            if scope.witnesses and isinstance(aggregate, tree.Aggregate) and aggregate.op in WITNESSED:
                home = next(user for user, names in users if names & scope.witnesses)
                if home == level or not self._depends(aggregate, scope, literals, inherited):
                    self.homes[key] = home
                    self.additions.setdefault(home, [])
            body = body_of(aggregate)
            inside = (*body, *inner_terms(aggregate))
            self._find(inside, body, scope.injected, key, [*users, (key, _level_names(inside))])

    def _depends(
        self,
        aggregate: tree.Aggregate,
        scope: VariableScope,
        literals: tuple[tree.Literal, ...],
        inherited: frozenset[str],
    ) -> bool:
        """Whether an inner aggregate, whose witness is used further out, takes values from the one around it."""
        if scope.injected <= inherited or not scope.injected & bound_names(literals):
            return False
        witness = min(scope.witnesses)
        self.report.error(
            "TL0227",
            f"the variable `{witness}` is a witness of an aggregate that depends on the aggregate around it",
            aggregate.span,
            help=f"compute the inner `{aggregate.op}` in a rule of its own",
        )
        return True

    def fresh(self, name: str) -> str:
        return f"{name}^{next(self.numbers)}"

    def visit(self, node: N, names: Names, adding: bool) -> N:
        """A copy with variables renamed, and with witnesses made local to their aggregates. `adding` says whether the
        literals that bind them are still to be added."""
        if isinstance(node, tree.Variable):
            return replace(node, name=names.get(node.name, node.name))
        if id(node) in self.homes and isinstance(node, tree.Aggregate):
            return self.witnessed(node, names, adding)  # type: ignore[return-value]
        made = node.with_children(lambda child: self.visit(child, names, adding))
        if isinstance(node, tree.Aggregate | tree.UserAggregate):
            return self.extended(id(node), made) if adding else made  # type: ignore[return-value]
        return made

    def witnessed(self, node: tree.Aggregate, names: Names, adding: bool) -> tree.Term:
        """The aggregate, or a variable with its value where that is computed beside."""
        scope = self.scopes[id(node)]
        inside = {**names, **{name: self.fresh(name) for name in sorted(scope.witnesses)}}
        made = node.with_children(lambda child: self.visit(child, inside, adding))
        if not adding:
            return made
        made = self.extended(id(node), made)
        home = self.homes[id(node)]
        result = tree.Variable(self.fresh("w"), span=node.span)
        local = {**names, **{name: self.fresh(name) for name in sorted(scope.local)}}
        assert node.target is not None, "min and max have a target"
        self.additions[home] += [
            tree.Comparison("=", result, made, span=node.span),
            *(self.visit(literal, local, False) for literal in body_of(node)),
            tree.Comparison("=", self.visit(node.target, local, False), result, span=node.span),
        ]
        if home == self.parents[id(node)]:
            return result
        return node.with_children(lambda child: self.visit(child, inside, False))  # a second one, further in

    def extended(self, key: int, aggregate: N) -> N:
        """The aggregate with what its body gets."""
        assert isinstance(aggregate, tree.Aggregate | tree.UserAggregate)
        more = self.additions.get(key)
        if not more:
            return aggregate  # type: ignore[return-value]
        body = tree.Conjunction((*body_of(aggregate), *more), span=aggregate.body.span)
        return replace(aggregate, body=body)  # type: ignore[return-value]


def _level_names(nodes: Iterable[tree.SyntaxNode]) -> frozenset[str]:
    """The variables that are used directly at a level, outside of aggregates."""
    return frozenset(n.name for node in nodes for n in walk_scope(node) if isinstance(n, tree.Variable))
