"""Rules as clauses: one head, a flat body.

Several heads become several clauses, a disjunction becomes one clause per alternative, and negation is pushed
inward until it stands before atoms only (`!(a, b)` is `!a ; !b`, `!(x < y)` is `x >= y`). The bodies of
aggregates are flattened in the same way; a disjunction there is refused, as in Soufflé.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, TypeVar

from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.lang.souffle_printer import show
from tidelog.plain import dataclass, fields, replace

N = TypeVar("N", bound=tree.SyntaxNode)

NEGATED = {
    "=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
    "match": "not_match", "not_match": "match", "contains": "not_contains", "not_contains": "contains",
}  # fmt: skip

MOST_ALTERNATIVES = 4096
MOST_ATOMS = 1000


@dataclass(frozen=True, slots=True)
class Clause:
    """`head :- body`, the body a flat tuple of Atom, Negation(Atom), Comparison and Boolean.

    For a subsumption clause, `head` is the tuple that is dropped and `greater` the one that stays; neither is
    repeated in the body.
    """

    head: tree.Atom
    body: tuple[tree.Literal, ...]
    origin: tree.Rule | tree.Subsumption
    greater: tree.Atom | None = None

    @property
    def span(self) -> Span | None:
        return self.origin.span

    @property
    def plan(self) -> tree.ExecutionPlan | None:
        return self.origin.plan

    @property
    def text(self) -> str:
        """The rule on one line."""
        drop = "" if self.greater is None else f" <= {show(self.greater)}"
        body = ", ".join(map(show, self.body))
        return f"{show(self.head)}{drop} :- {body}." if body else f"{show(self.head)}{drop}."

    @property
    def is_fact(self) -> bool:
        return not self.body and self.greater is None

    def literals(self) -> tuple[tree.Literal, ...]:
        """What must hold for the clause to fire; for a subsumption both tuples are part of it."""
        return self.body if self.greater is None else (self.head, self.greater, *self.body)

    def atoms(self) -> Iterator[tree.Atom]:
        """The positive atoms of the body (not those inside aggregates)."""
        return (literal for literal in self.literals() if isinstance(literal, tree.Atom))


def clauses_of(program: tree.Program, report: Report) -> list[Clause]:
    """All clauses of a program whose components are expanded."""
    result: list[Clause] = []
    for item in program.items:
        if isinstance(item, tree.Rule):
            heads = [_flatten_terms(head, report) for head in item.heads]
            for body in _alternatives(item.body, item, report):
                if sum(isinstance(literal, (tree.Atom, tree.Negation)) for literal in body) > MOST_ATOMS:
                    too_long(f"the body of this rule has more than {MOST_ATOMS:,} atoms", item.span, report)
                    continue
                result.extend(Clause(head, body, item) for head in heads)
        elif isinstance(item, tree.Subsumption):
            less, greater = _flatten_terms(item.less, report), _flatten_terms(item.greater, report)
            for body in _alternatives(item.body, item, report):
                result.append(Clause(less, body, item, greater))
    return result


def too_long(what: str, span: Span | None, report: Report) -> None:
    """For a rule whose join orders would take for ever to choose."""
    report.error("TL0192", what, span, help="give a part of it a relation of its own")


def _alternatives(
    body: tree.Literal | None, item: tree.Rule | tree.Subsumption, report: Report
) -> list[tuple[tree.Literal, ...]]:
    if body is None:
        return [()]
    found = _expand(body, False, report)
    if len(found) > MOST_ALTERNATIVES:
        report.error(
            "TL0109",
            f"the disjunctions of this rule multiply to more than {MOST_ALTERNATIVES} alternatives",
            item.span,
            help="give the disjunctions relations of their own",
        )
        return found[:1]
    return found


def _expand(literal: tree.Literal, negated: bool, report: Report) -> list[tuple[tree.Literal, ...]]:
    """The disjunctive normal form of a body: alternatives, each a flat conjunction."""
    match literal:
        case tree.Negation(body=inner):
            return _expand(inner, not negated, report)
        case tree.Boolean(value=value):
            return [(replace(literal, value=value != negated),)]
        case tree.Comparison():
            flat = _flatten_terms(literal, report)
            return [(replace(flat, op=NEGATED[flat.op]) if negated else flat,)]
        case tree.Conjunction(parts=parts) | tree.Disjunction(parts=parts):
            branches = [_expand(part, negated, report) for part in parts]
            if isinstance(literal, tree.Conjunction) == negated:
                return [alternative for branch in branches for alternative in branch]
            result: list[tuple[tree.Literal, ...]] = [()]
            for branch in branches:
                result = [left + right for left, right in product(result, branch)]
                if len(result) > MOST_ALTERNATIVES:
                    return result
            return result
        case tree.Atom():
            atom = _flatten_terms(literal, report)
            return [(tree.Negation(atom, span=literal.span) if negated else atom,)]
        case _:
            return [(tree.Negation(literal, span=literal.span) if negated else literal,)]


def _flatten_terms(node: N, report: Report) -> N:
    """The node with the bodies of the aggregates inside it flattened; itself if it has none."""
    if not any(isinstance(n, (tree.Aggregate, tree.UserAggregate)) for n in node.walk()):
        return node
    return _rebuild(node, report)


def _rebuild(node: N, report: Report) -> N:
    changes: dict[str, Any] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(node, (tree.Aggregate, tree.UserAggregate)) and f.name == "body":
            alternatives = _expand(value, False, report)
            if len(alternatives) != 1:
                report.error(
                    "TL0110",
                    "an aggregate's body cannot contain a disjunction",
                    node.span,
                    help="give the disjunction a relation of its own and aggregate over that",
                )
            changes["body"] = tree.Conjunction(alternatives[0], span=value.span)
        elif isinstance(value, tree.SyntaxNode):
            changes[f.name] = _rebuild(value, report)
        elif isinstance(value, tuple) and any(isinstance(item, tree.SyntaxNode) for item in value):
            changes[f.name] = tuple(_rebuild(i, report) if isinstance(i, tree.SyntaxNode) else i for i in value)
    return replace(node, **changes) if changes else node
