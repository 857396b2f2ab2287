"""Inline relations: their rules put in place of their atoms.

    .decl twice(x: number, y: number) inline
    twice(x, y) :- y = 2 * x.                 p(a, b) :- q(a), twice(a, b).
                                      gives   p(a, b) :- q(a), a = x', b = y', y' = 2 * x'.

An atom with several rules gives several clauses; a negated atom becomes the conjunction of its rules' negations,
which is possible because such rules have no variables of their own (checked by `names.inlining`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from math import prod
from typing import Any, TypeVar

from tidelog.analysis.clauses.flat import NEGATED, Clause
from tidelog.analysis.recursion import component_numbers
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.plain import fields, replace

N = TypeVar("N", bound=tree.SyntaxNode)
Alternatives = list[tuple[tree.Literal, ...]]

MOST_RULES = 1024
"""To how many rules one may grow."""


def inline(clauses: list[Clause], relations: set[str], report: Report) -> list[Clause]:
    """The clauses of all other relations, with the atoms of the given relations replaced.

    Inline relations come after those that they use, so that each of their rules is expanded once.
    """
    if not relations:
        return clauses
    rules: dict[str, list[Clause]] = {name: [] for name in relations}
    for clause in clauses:
        if clause.head.name in relations:
            rules[clause.head.name].append(clause)
    expander = _Expander(rules, report)
    for name in _inner_first(rules):
        rules[name] = [new for clause in rules[name] for new in expander.expand(clause)]
    return [new for clause in clauses if clause.head.name not in relations for new in expander.expand(clause)]


def _inner_first(rules: dict[str, list[Clause]]) -> list[str]:
    uses: dict[str, list[str]] = {name: [] for name in rules}
    for name, found in rules.items():
        for literal in (literal for rule in found for literal in rule.body):
            used = relation_of(literal)
            if used in rules:
                uses[name].append(used)
    numbers = component_numbers(uses)
    return sorted(rules, key=numbers.__getitem__)


class _Expander:
    def __init__(self, rules: dict[str, list[Clause]], report: Report) -> None:
        self.rules = rules
        self.report = report
        self.refused = False
        self.copies = 0
        self.wildcards = 0

    def expand(self, clause: Clause) -> Iterator[Clause]:
        if not any(relation_of(literal) in self.rules for literal in clause.body):
            yield clause
            return
        parts = [self.literal(literal) for literal in clause.body]
        if prod(map(len, parts)) > MOST_RULES and not self.refused:
            self.refused = True
            self.report.error(
                "TL0109",
                f"the inline relations of this rule multiply to more than {MOST_RULES} rules",
                clause.span,
                help="drop the qualifier `inline` from one of them",
            )
        if self.refused:
            parts = [part[:1] for part in parts]
        for choice in product(*parts):
            yield replace(clause, body=tuple(x for part in choice for x in part))

    def literal(self, literal: tree.Literal) -> Alternatives:
        if isinstance(literal, tree.Atom) and literal.name in self.rules:
            return [self.instance(rule, literal) for rule in self.rules_of(literal)]
        if isinstance(literal, tree.Negation) and relation_of(literal) in self.rules:
            atom = literal.body
            assert isinstance(atom, tree.Atom)
            negations = [[_negate(part) for part in self.instance(rule, atom)] for rule in self.rules_of(atom)]
            return list(islice(product(*negations), MOST_RULES + 1))
        return [(literal,)]

    def rules_of(self, atom: tree.Atom) -> list[Clause]:
        return self.rules[atom.name][: 1 if self.refused else MOST_RULES + 1]

    def instance(self, rule: Clause, atom: tree.Atom) -> tuple[tree.Literal, ...]:
        """The body of the rule for the arguments of the atom: head variables replaced, others renamed."""
        self.copies += 1
        names: dict[str, tree.Term] = {}
        equations: list[tuple[tree.Term, tree.Term]] = []
        for formal, given in zip(rule.head.args, atom.args, strict=True):
            actual = self.named(given)
            if isinstance(formal, tree.Variable) and formal.name not in names:
                names[formal.name] = actual
            elif not isinstance(given, tree.Wildcard):
                equations.append((formal, actual))
        rename = _Renamer(names, self.copies)
        equal = tuple(tree.Comparison("=", rename(f), a, span=a.span) for f, a in equations)
        return equal + tuple(rename(literal) for literal in rule.body)

    def named(self, term: tree.Term) -> tree.Term:
        """The term with a variable for each `_` in it: where it is put, it may stand more than once."""
        if isinstance(term, tree.Wildcard):
            self.wildcards += 1
            return tree.Variable(f"_'{self.wildcards}", span=term.span)
        if isinstance(term, (tree.Record, tree.Branch)):
            return replace(term, args=tuple(self.named(arg) for arg in term.args))
        return term


class _Renamer:
    """Replaces variables; those it does not know become fresh ones."""

    def __init__(self, names: dict[str, tree.Term], copy: int) -> None:
        self.names = names
        self.copy = copy

    def __call__(self, node: N) -> N:
        if isinstance(node, tree.Variable):
            if node.name not in self.names:
                self.names[node.name] = replace(node, name=f"{node.name}'{self.copy}")
            return self.names[node.name]  # type: ignore[return-value]
        changes: dict[str, Any] = {}
        for f in fields(node):
            value = getattr(node, f.name)
            if isinstance(value, tree.SyntaxNode):
                changes[f.name] = self(value)
            elif isinstance(value, tuple) and any(isinstance(item, tree.SyntaxNode) for item in value):
                changes[f.name] = tuple(self(item) if isinstance(item, tree.SyntaxNode) else item for item in value)
        return replace(node, **changes) if changes else node


def _negate(literal: tree.Literal) -> tree.Literal:
    match literal:
        case tree.Negation(body=inner):
            return inner
        case tree.Comparison(op=op):
            return replace(literal, op=NEGATED[op])
        case tree.Boolean(value=value):
            return replace(literal, value=not value)
    return tree.Negation(literal, span=literal.span)


def relation_of(literal: tree.Literal) -> str | None:
    """The relation of an atom or a negated atom."""
    if isinstance(literal, tree.Negation):
        literal = literal.body
    return literal.name if isinstance(literal, tree.Atom) else None
