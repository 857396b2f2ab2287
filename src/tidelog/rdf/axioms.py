"""The triples of an ontology as something to look into: nodes, lists, property expressions, and the atoms of rules.

`VIOLATION` is the relation of what the `false` rules of OWL 2 RL find: the name of a rule and two triples that cannot
both be true, or one of them twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from tidelog.lang import tree
from tidelog.lang.rules import RDF, RDF_TYPE, TRIPLE, XSD
from tidelog.rdf.terms import OWL, RDFS, STRING, iri, is_blank, is_iri, parse_literal

Triple = tuple[str, str, str]
VIOLATION = "urn:tidelog:violation"
TYPE = iri(RDF_TYPE)
NIL = iri(RDF + "nil")
FIRST, REST = iri(RDF + "first"), iri(RDF + "rest")
THING, NOTHING = iri(OWL + "Thing"), iri(OWL + "Nothing")
SAME_AS = iri(OWL + "sameAs")


def owl(name: str) -> str:
    return iri(OWL + name)


def rdfs(name: str) -> str:
    return iri(RDFS + name)


def is_datatype(term: str) -> bool:
    return term.startswith(f"<{XSD}") or term in (rdfs("Literal"), iri(RDF + "langString"), iri(RDF + "PlainLiteral"))


class Outside(Exception):
    """A part of an axiom that OWL 2 RL does not have; the message says which."""


class PropertyExpression(NamedTuple):
    """A property, or the inverse of one."""

    name: str
    inverse: bool = False


class Axioms:
    """Triples by subject and predicate."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples = list(dict.fromkeys(triples))
        self._values: dict[tuple[str, str], list[str]] = {}
        for subject, predicate, term in self.triples:
            self._values.setdefault((subject, predicate), []).append(term)
        self._types: dict[str, set[str]] = {}
        for subject, predicate, term in self.triples:
            if predicate == TYPE:
                self._types.setdefault(subject, set()).add(term)

    def values(self, subject: str, predicate: str) -> list[str]:
        return self._values.get((subject, predicate), [])

    def value(self, subject: str, predicate: str) -> str | None:
        found = self.values(subject, predicate)
        return found[0] if found else None

    def is_a(self, term: str, kind: str) -> bool:
        return kind in self._types.get(term, ())

    def types(self, term: str) -> set[str]:
        return self._types.get(term, set())

    def items(self, node: str) -> list[str]:
        """The members of a list."""
        found: list[str] = []
        seen: set[str] = set()
        while node != NIL:
            first, rest = self.value(node, FIRST), self.value(node, REST)
            if first is None or rest is None or node in seen:
                raise Outside("a list that has no end")
            seen.add(node)
            found.append(first)
            node = rest
        return found

    def role(self, node: str) -> PropertyExpression:
        """The property that a node is."""
        if is_iri(node):
            return PropertyExpression(node)
        inverse = self.value(node, owl("inverseOf"))
        if inverse is None or not is_iri(inverse):
            raise Outside(f"a property expression `{node}`")
        return PropertyExpression(inverse, True)

    def is_data_property(self, role: PropertyExpression) -> bool:
        return self.is_a(role.name, owl("DatatypeProperty"))

    def number(self, node: str, predicate: str) -> int | None:
        """The number of a cardinality restriction."""
        term = self.value(node, predicate)
        found = None if term is None else parse_literal(term)
        return int(found.text) if found is not None and found.text.strip().isdigit() else None


def with_stable_labels(triples: Iterable[Triple]) -> list[Triple]:
    """The triples with blank nodes named by what is said of them, so that an expression has the same name in whatever
    file it stands. Nodes about which the same is said are one."""
    given = list(triples)
    said: dict[str, list[tuple[str, str]]] = {}
    for subject, predicate, term in given:
        if is_blank(subject):
            said.setdefault(subject, []).append((predicate, term))
    labels: dict[str, str] = {}

    def label(term: str, above: frozenset[str] = frozenset()) -> str:
        if not is_blank(term) or term in above or term not in said:
            return term
        if term not in labels:
            parts = sorted((p, label(t, above | {term})) for p, t in said[term])
            labels[term] = f"_:b{hashlib.blake2s(repr(parts).encode(), digest_size=8).hexdigest()}"
        return labels[term]

    return list(dict.fromkeys((label(s), p, label(t)) for s, p, t in given))


# ---- atoms


def term_node(term: str) -> tree.Term:
    """A constant of a rule. A rule cannot name a blank node."""
    if is_iri(term):
        return tree.Iri(term[1:-1])
    found = parse_literal(term)
    if found is None or is_blank(term):
        raise Outside(f"a blank node `{term}` in the place of an individual")
    if found.language:
        return tree.RdfLiteral(found.text, None, found.language)
    return tree.String(found.text) if found.datatype == STRING else tree.RdfLiteral(found.text, found.datatype)


def triple(subject: tree.Term, predicate: str, term: tree.Term) -> tree.Atom:
    return tree.Atom(TRIPLE, (subject, term_node(predicate), term))


def member(x: tree.Term, name: str) -> tree.Atom:
    return triple(x, TYPE, term_node(name))


def related(role: PropertyExpression, x: tree.Term, y: tree.Term) -> tree.Atom:
    return triple(y, role.name, x) if role.inverse else triple(x, role.name, y)


def differ(x: tree.Term, y: tree.Term) -> tree.Literal:
    """Two different terms, which is decided without looking at what they stand for."""
    return tree.Negation(
        tree.Comparison("=", tree.Functor("SAMETERM", (x, y)), tree.RdfLiteral("true", XSD + "boolean"))
    )


def violation(rule: str, one: tree.Atom, other: tree.Atom | None = None) -> tree.Atom:
    return tree.Atom(VIOLATION, (tree.String(rule), *one.args, *(other or one).args))
