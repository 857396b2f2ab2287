"""Equality, order and truth of terms, as SPARQL's operators and ORDER BY see them.

Three values: a comparison that is a type error is None. Where SPARQL leaves room, terms of different known types are
unequal rather than an error, texts with the same language are ordered, and every term is as large as itself.
"""

from __future__ import annotations

from typing import Any

from tidelog.rdf.sparql.moments import Moment
from tidelog.rdf.sparql.moments import compared as compared_moments
from tidelog.rdf.sparql.numbers import NUMERIC, Number, is_true, promoted
from tidelog.rdf.sparql.terms import BOOLEAN, LANG_STRING, STRING, RdfTerm, Strange, TermKind


def equal(a: RdfTerm, b: RdfTerm) -> bool | None:
    """a = b."""
    x, y = a.number, b.number
    if x is not None and y is not None:
        p, q = promoted(x, y)
        return p == q
    if a.text == b.text:
        return True
    if a.kind is not TermKind.LITERAL or b.kind is not TermKind.LITERAL:
        return False
    if LANG_STRING in (a.datatype, b.datatype):
        return False
    u, v = a.value, b.value
    if isinstance(u, Strange) or isinstance(v, Strange):
        return None
    if isinstance(u, Moment) and isinstance(v, Moment):
        order = compared_moments(u, v)
        return order == 0 if order is not None or u.kind != v.kind else None
    return type(u) is type(v) and u == v


def compared(a: RdfTerm, b: RdfTerm) -> int | None:
    """-1, 0 or 1 as a is before, like or behind b; None if they have no order, as not-a-number has none."""
    x, y = a.number, b.number
    if x is not None and y is not None:
        p, q = promoted(x, y)
        return (p > q) - (p < q) if p == p and q == q else None  # type: ignore[operator]
    if a.text == b.text:
        return 0
    if a.kind is not TermKind.LITERAL or b.kind is not TermKind.LITERAL:
        return None
    u, v = a.value, b.value
    if isinstance(u, Moment) and isinstance(v, Moment):
        return compared_moments(u, v)
    if a.datatype == b.datatype and a.datatype in (STRING, BOOLEAN, LANG_STRING) and a.language == b.language:
        if isinstance(u, Strange) or isinstance(v, Strange):
            return None
        return (u > v) - (u < v)  # type: ignore[operator]
    return None


def holds(op: str, a: RdfTerm, b: RdfTerm) -> bool | None:
    """a op b, for = != < > <= >=."""
    if op in ("=", "!="):
        same = equal(a, b)
        return same if same is None or op == "=" else not same
    x, y = a.number, b.number
    if x is not None and y is not None and (x != x or y != y):
        return False
    order = compared(a, b)
    if order is None:
        return None
    return {"<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0}[op]


def truth(term: RdfTerm | None) -> bool | None:
    """The effective boolean value."""
    if term is None or term.kind is not TermKind.LITERAL:
        return None
    if term.datatype == BOOLEAN:
        return term.value is True
    if term.datatype in NUMERIC:
        value = term.number
        return value is not None and is_true(value)
    return bool(term.lexical) if term.datatype == STRING else None


def order_key(term: RdfTerm | None) -> tuple[Any, ...]:
    """For ORDER BY: what is unbound, blank nodes, IRIs, literals; literals first by type, so that every two compare."""
    if term is None:
        return (0,)
    if term.kind is not TermKind.LITERAL:
        return (term.kind, term.lexical)
    value = term.value
    if isinstance(value, Moment):
        return (TermKind.LITERAL, 3, value.kind, value.seconds, term.text)
    if isinstance(value, Strange):
        return (TermKind.LITERAL, 5, term.datatype, term.lexical)
    if isinstance(value, bool):
        return (TermKind.LITERAL, 4, value)
    if term.datatype in NUMERIC:
        return (TermKind.LITERAL, 0, *_number_key(value), term.text)  # type: ignore[arg-type]
    return (TermKind.LITERAL, 2, term.language, value) if term.language else (TermKind.LITERAL, 1, value)


def _number_key(value: Number) -> tuple[int, Number]:
    return (0, 0) if value != value else (1, value)
