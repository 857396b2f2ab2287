"""Safety: every variable has a value by the time it is needed.

What binds variables is in `clauses.scopes`. Here every use is checked: the head, negated atoms, comparisons, the
arguments of functors, what an aggregate aggregates. Each unsafe variable of a clause is reported once, at its first
use.

Left to others: facts with variables, `_` in heads and comparisons (`names`), witnesses of aggregates
(`names.aggregates`, `unsupported`). Like Soufflé, except that aggregates which need each other's results are always
refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.scopes import (
    AnyAggregate,
    Needs,
    VariableScope,
    body_of,
    bound_names,
    inner_terms,
    needs_of,
    outer_terms,
    scopes_of,
)
from tidelog.errors import Report, Span
from tidelog.lang import tree

CONSTANT = (tree.String, tree.Number, tree.Unsigned, tree.Float, tree.Nil, tree.Iri, tree.RdfLiteral)


def check_grounded(clauses: Iterable[Clause], report: Report, inline: Collection[str] = ()) -> None:
    """Report the unsafe variables (TL0203) of all clauses. `inline` names the relations that are expanded where they
    are used: the arguments of their heads are bound by the caller."""
    for clause in clauses:
        if not _is_plain_fact(clause):
            _ClauseCheck(clause, clause.head.name in inline, report).run()


def _is_plain_fact(clause: Clause) -> bool:
    """A fact in Soufflé's sense: one whose head aggregates nothing."""
    if not clause.is_fact or clause.origin.body is not None:
        return False
    return not any(isinstance(node, (tree.Aggregate, tree.UserAggregate)) for node in clause.head.walk())


class _ClauseCheck:
    def __init__(self, clause: Clause, inline: bool, report: Report) -> None:
        self.clause = clause
        self.inline = inline
        self.report = report
        self._reported: set[str] = set()
        self._scopes: dict[int, VariableScope] | None = None

    @property
    def scopes(self) -> dict[int, VariableScope]:
        if self._scopes is None:
            self._scopes = scopes_of(self.clause, self.inline)
        return self._scopes

    def run(self) -> None:
        clause = self.clause
        literals = (clause.head, *clause.body) if self.inline else clause.literals()
        scope = _ScopeCheck(self, bound_names(literals))
        if clause.greater is None:
            for arg in clause.head.args:
                scope.use(arg, "head")
        scope.check_literals(clause.literals())
        if scope.aggregates:
            self._check_aggregates(scope, literals, frozenset())

    def _check_aggregates(
        self, outer: _ScopeCheck, literals: tuple[tree.Literal, ...], inherited: frozenset[str]
    ) -> None:
        """Check the aggregates that were met in a scope, and those inside them."""
        needs: dict[int, Needs] = {id(a): self.scopes[id(a)].injected for a in outer.aggregates}
        late = outer.bound - bound_names(literals, inherited, needs)
        if late:
            self._report_cycle([a for a in outer.aggregates if self.scopes[id(a)].injected & late], sorted(late))
        for aggregate in outer.aggregates:
            body = body_of(aggregate)
            injected = self.scopes[id(aggregate)].injected
            inner = _ScopeCheck(self, bound_names(body, injected), aggregate)
            for term in inner_terms(aggregate):
                inner.use(term, "target")
            inner.check_literals(body)
            if inner.aggregates:
                self._check_aggregates(inner, body, injected)

    def _report_cycle(self, aggregates: list[AnyAggregate], names: list[str]) -> None:
        if any(d.code == "TL0228" for d in self.report.diagnostics) or not aggregates:
            return  # names has seen it
        self.report.error(
            "TL0229",
            f"the value of this aggregate depends on itself, through {' and '.join(f'`{n}`' for n in names)}",
            aggregates[0].span,
            notes=tuple(("together with this aggregate", a.span) for a in aggregates[1:]),
            help="bind one of these variables without an aggregate",
        )

    def unsafe(self, variable: tree.Variable, scope: _ScopeCheck, where: str) -> None:
        name = variable.name
        if name in self._reported:
            return
        self._reported.add(name)
        if any(name in s.witnesses for s in self.scopes.values()):
            return  # refused elsewhere, with an explanation
        message = f"unsafe variable `{name}`: nothing gives it a value"
        if scope.aggregate is not None:
            message = f"unsafe variable `{name}`: neither this aggregate nor the rule around it gives it a value"
        self.report.error("TL0203", message, variable.span, help=self._help(name, where), notes=self._alternative())

    def _help(self, name: str, where: str) -> str:
        for literal in self.clause.literals():
            for node in literal.walk():
                if isinstance(node, (tree.Functor, tree.UserFunctor, tree.Cast)) and any(
                    isinstance(a, tree.Variable) and a.name == name for a in node.children()
                ):
                    what = "casts" if isinstance(node, tree.Cast) else "functors"
                    return f"{what} are not solved for their arguments; bind `{name}` in a positive atom of the body"
        if where == "negation":
            return f"a negated atom gives no values; bind `{name}` in a positive atom of the body, or write `_` for it"
        return (
            f"bind `{name}` in a positive atom of the body, or with `{name} = ...` and an expression that has a value"
        )

    def _alternative(self) -> tuple[tuple[str, Span | None], ...]:
        """For a rule with disjunctions: a part of the alternative in which the variable is unsafe."""
        body = self.clause.origin.body
        if body is None or not any(isinstance(n, tree.Disjunction) for n in body.walk()):
            return ()
        span = next((literal.span for literal in reversed(self.clause.body) if literal.span is not None), None)
        return (("in the alternative of the body that has this", span),) if span is not None else ()


class _ScopeCheck:
    """The uses in one scope: a clause, or an aggregate in it."""

    def __init__(self, parent: _ClauseCheck, bound: set[str], aggregate: AnyAggregate | None = None) -> None:
        self.parent = parent
        self.bound = bound
        self.aggregate = aggregate
        self.aggregates: list[AnyAggregate] = []

    def check_literals(self, literals: Iterable[tree.Literal]) -> None:
        for literal in literals:
            if isinstance(literal, tree.Atom):
                for arg in literal.args:
                    if not isinstance(arg, (tree.Variable, tree.Wildcard)):
                        self.use(arg, "atom", pattern=True)
            elif isinstance(literal, tree.Negation):
                if isinstance(literal.body, tree.Atom):
                    for arg in literal.body.args:
                        if not isinstance(arg, tree.Wildcard):
                            self.use(arg, "negation")
            elif isinstance(literal, tree.Comparison):
                self._comparison(literal)

    def _comparison(self, literal: tree.Comparison) -> None:
        if literal.op != "=":
            self.use(literal.left, "comparison")
            self.use(literal.right, "comparison")
            return
        pending = [(literal.left, literal.right)]
        while pending:
            left, right = pending.pop()
            if isinstance(left, tree.Record) and isinstance(right, tree.Record) and len(left.args) == len(right.args):
                pending.extend(reversed(tuple(zip(left.args, right.args, strict=True))))
                continue
            left_has_value, right_has_value = self._has_value(left), self._has_value(right)
            self.use(left, "comparison", pattern=right_has_value)
            self.use(right, "comparison", pattern=left_has_value)

    def _has_value(self, term: tree.Term) -> bool:
        if isinstance(term, tree.Variable):
            return term.name in self.bound
        needed = needs_of(term, {})
        return needed is not None and needed <= self.bound

    def use(self, term: tree.Term, where: str, pattern: bool = False) -> None:
        """Check what a term needs. In a pattern, `_` stands for any value; inside a functor it cannot."""
        if isinstance(term, tree.Variable):
            if term.name not in self.bound:
                self.parent.unsafe(term, self, where)
            return
        if isinstance(term, (tree.Wildcard, *CONSTANT)) and where != "target":
            return
        where = "inside" if where == "negation" else where
        pending = [(term, pattern)]
        while pending:
            current, free = pending.pop()
            match current:
                case tree.Variable():
                    if current.name not in self.bound:
                        self.parent.unsafe(current, self, where)
                case tree.Wildcard():
                    if not free and where != "head":
                        self._no_value(current)
                case tree.Record(args=args) | tree.Branch(args=args):
                    pending.extend((arg, free) for arg in reversed(args))
                case tree.Functor(args=args) | tree.UserFunctor(args=args):
                    inside = where != "comparison"  # names reports those
                    pending.extend((a, False) for a in reversed(args) if inside or not isinstance(a, tree.Wildcard))
                case tree.Cast(term=inner):
                    pending.append((inner, False))
                case tree.Aggregate() | tree.UserAggregate():
                    self.aggregates.append(current)
                    pending.extend((arg, False) for arg in outer_terms(current))

    def _no_value(self, wildcard: tree.Wildcard) -> None:
        self.parent.report.error(
            "TL0203",
            "`_` has no value here",
            wildcard.span,
            help="`_` may stand for an argument of an atom, or a field of a record or branch that is taken apart",
        )
