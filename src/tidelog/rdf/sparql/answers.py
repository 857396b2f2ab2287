"""A query asked: solutions for SELECT, yes or no for ASK, triples for CONSTRUCT and DESCRIBE."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from tidelog.plain import dataclass
from tidelog.rdf.sparql.dictionary import UNBOUND, Dictionary
from tidelog.rdf.sparql.evaluate import QueryEvaluation
from tidelog.rdf.sparql.expressions import QuerySetting
from tidelog.rdf.sparql.moments import DATE_TIME
from tidelog.rdf.sparql.solutions import Solutions, row_codes
from tidelog.rdf.sparql.terms import RdfTerm, TermKind, from_rdflib, literal
from tidelog.rdf.sparql.text import Query, parse_query
from tidelog.rdf.sparql.triples import Triples
from tidelog.store.memory import Array


@dataclass
class SolutionRows:
    """The solutions of a SELECT, in order: for each variable a column of term numbers."""

    names: list[str]
    found: Solutions
    dictionary: Dictionary

    def __len__(self) -> int:
        return self.found.count

    def to_arrow(self) -> Any:
        """A table of texts: terms in canonical N-Triples, null where a variable is unbound."""
        columns = [self.dictionary.texts(self.found.column(name)) for name in self.names]
        return pa.Table.from_arrays(columns, names=self.names)

    def terms(self) -> Iterable[tuple[RdfTerm | None, ...]]:
        """The rows as terms."""
        if not self.names:
            return [()] * self.found.count
        return zip(*(self.dictionary.terms(self.found.column(name)) for name in self.names), strict=True)


@dataclass
class MadeTriples:
    """The distinct triples of a CONSTRUCT or DESCRIBE."""

    words: Array
    dictionary: Dictionary

    def __len__(self) -> int:
        return len(self.words)

    def to_arrow(self) -> Any:
        """A table of texts, as `write.write_texts` takes it."""
        columns = [self.dictionary.texts(self.words[:, i]) for i in range(3)]
        columns.append(pa.repeat(pa.scalar("", pa.large_string()), len(self.words)))
        return pa.Table.from_arrays(columns, names=["subject", "predicate", "object", "graph"])


Answer: TypeAlias = SolutionRows | MadeTriples | bool


def ask(text: str, triples: Triples) -> Answer:
    """The answer to a query."""
    query = parse_query(text)
    dictionary = Dictionary(triples.symbols, triples.one)
    evaluation = new_evaluation(triples, dictionary, query.base)
    match query.form:
        case "SELECT":
            return SolutionRows(query.variables, evaluation.solutions(query.pattern), dictionary)
        case "ASK":
            return evaluation.solutions(query.pattern).count > 0
        case "CONSTRUCT":
            found = evaluation.solutions(query.pattern)
            return MadeTriples(distinct(made(query.template, found, evaluation)), dictionary)
    return MadeTriples(_described(query, evaluation), dictionary)


def new_evaluation(triples: Triples, dictionary: Dictionary, base: str) -> QueryEvaluation:
    now = literal(datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"), DATE_TIME)
    return QueryEvaluation(triples, dictionary, QuerySetting(now, base, dictionary.named))


def made(template: list[tuple[Any, Any, Any]], found: Solutions, evaluation: QueryEvaluation) -> Array:
    """The triples of a template for each solution: those that are no triples are left out, and each solution has its
    own blank nodes."""
    import rdflib

    blanks: dict[str, Array] = {}
    parts = [np.zeros((0, 3), np.int64)]
    for triple in template:
        columns = []
        for node in triple:
            if isinstance(node, rdflib.Variable):
                columns.append(found.column(str(node)))
            elif isinstance(node, rdflib.BNode):
                if str(node) not in blanks:
                    fresh = [evaluation.setting.fresh_blank() for _ in range(found.count)]
                    blanks[str(node)] = evaluation.dictionary.numbers(fresh)
                columns.append(blanks[str(node)])
            else:
                number = evaluation.dictionary.number(from_rdflib(node))
                columns.append(np.full(found.count, number, np.int64))
        rows = np.stack(columns, 1)
        kinds = [_kinds(column, evaluation.dictionary) for column in columns]
        good = (kinds[0] != TermKind.LITERAL) & (kinds[1] == TermKind.IRI) & (rows != UNBOUND).all(1)
        parts.append(rows[good])
    return np.concatenate(parts)


def _kinds(column: Array, dictionary: Dictionary) -> Array:
    distinct_terms, where = np.unique(column, return_inverse=True)
    kinds = [0 if term is None else int(term.kind) for term in dictionary.terms(distinct_terms)]
    return np.array(kinds, np.int64)[where]


def distinct(words: Array) -> Array:
    """Each triple once, where it is first."""
    if not len(words):
        return words
    _, first = np.unique(row_codes([list(words.T)])[0], return_index=True)
    return words[np.sort(first)]


def _described(query: Query, evaluation: QueryEvaluation) -> Array:
    """The triples that terms are the subjects of, and so on through the blank nodes that are their objects."""
    found = evaluation.solutions(query.pattern) if query.pattern is not None else Solutions.unit()
    asked = [evaluation.place(node) for node in query.described]
    columns = [found.column(place) if isinstance(place, str) else np.array([place]) for place in asked]
    todo = np.unique(np.concatenate([np.zeros(0, np.int64), *columns]))
    todo, done, parts = todo[todo >= 0], np.zeros(0, np.int64), [np.zeros((0, 3), np.int64)]
    while len(todo):
        rows = [evaluation.triples.match([(number, "p", "o")]) for number in todo.tolist()]
        for number, row in zip(todo.tolist(), rows, strict=True):
            parts.append(np.stack([np.full(row.count, number), row.column("p"), row.column("o")], 1))
        done = np.concatenate([done, todo])
        objects = np.unique(np.concatenate([row.column("o") for row in rows]))
        blank = objects[_kinds(objects, evaluation.dictionary) == TermKind.BLANK]
        todo = np.setdiff1d(blank, done)
    return distinct(np.concatenate(parts))
