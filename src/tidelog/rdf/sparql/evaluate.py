"""SPARQL's algebra carried out on tables of term numbers.

Every operator gives a table of solutions. A pattern inside EXISTS is evaluated for all rows of the outside at once: it
begins with a *seed*, the distinct values that the rows have for the pattern's variables, each with a number; every
leaf of the pattern is joined with the seed, so that filters in it see the outside, and the numbers that are left say
for which rows something exists. At the top the seed is the one solution that binds nothing.

Cost: expressions are computed once for each distinct combination of their variables' terms; the rest is numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tidelog import deadline
from tidelog.errors import InternalError, error
from tidelog.rdf.sparql.aggregates import aggregated, grouped
from tidelog.rdf.sparql.compare import order_key, truth
from tidelog.rdf.sparql.dictionary import UNBOUND, Dictionary
from tidelog.rdf.sparql.expressions import Expression, QuerySetting, compile_expression
from tidelog.rdf.sparql.paths import FROM, TO, Paths
from tidelog.rdf.sparql.solutions import (
    Mask,
    Solutions,
    join,
    left_join_rows,
    minus,
    row_codes,
    union,
    with_unmatched,
)
from tidelog.rdf.sparql.terms import RdfTerm, boolean, from_rdflib
from tidelog.rdf.sparql.text import group_pattern
from tidelog.rdf.sparql.triples import Pattern, Place, Triples
from tidelog.store.memory import Array

ROW = "#row"
"""The column of a seed that numbers its rows."""


class QueryEvaluation:
    """The evaluation of one query over triples."""

    def __init__(self, triples: Triples, dictionary: Dictionary, setting: QuerySetting) -> None:
        self.triples, self.dictionary, self.setting = triples, dictionary, setting
        self.paths = Paths(triples, dictionary)
        self._compiled: dict[int, tuple[Any, Expression]] = {}
        self._operators: dict[str, Callable[[Any, Solutions], Solutions]] = {
            "BGP": self._patterns, "Join": self._join, "LeftJoin": self._left_join, "Filter": self._filter,
            "Union": self._union, "Minus": self._minus, "Extend": self._extend, "ToMultiSet": self._multiset,
            "values": self._values, "Project": self._project, "Distinct": self._distinct, "Reduced": self._distinct,
            "Slice": self._slice, "OrderBy": self._order, "AggregateJoin": self._aggregate,
        }  # fmt: skip

    def solutions(self, tree: Any, seed: Solutions | None = None) -> Solutions:
        """The solutions of a pattern."""
        deadline.check()
        operator = self._operators.get(tree.name)
        if operator is None:
            raise self._unknown(tree)
        return operator(tree, seed or Solutions.unit())

    def _unknown(self, tree: Any) -> Exception:
        if tree.name == "Graph":
            return error("TL1455", "SPARQL's GRAPH is not there: there is one graph, and a query is about that")
        if tree.name == "ServiceGraphPattern":
            return error("TL1455", "SPARQL's SERVICE is not there: no other endpoint is asked")
        return InternalError(f"a pattern of SPARQL that is not known: {tree.name}")

    # ---- leaves

    def _patterns(self, tree: Any, seed: Solutions) -> Solutions:
        """Triple patterns, then property paths, which begin with what is known of their ends."""
        import rdflib

        plain: list[Pattern] = []
        along: list[tuple[Any, Any, Any]] = []
        for s, p, o in tree.triples:
            if isinstance(p, rdflib.paths.Path):
                along.append((s, p, o))
            else:
                plain.append((self.place(s), self.place(p), self.place(o)))
        names = [place for pattern in plain for place in pattern if isinstance(place, str)]
        if any(isinstance(place, int) and place < 0 for pattern in plain for place in pattern):
            found = Solutions.none(list(dict.fromkeys(names)))  # a term that no triple has
        else:
            found = self.triples.match(plain) if plain else Solutions.unit()
        found = join(seed, found)
        for s, p, o in along:
            found = self._path(self.place(s), p, self.place(o), found)
        return found

    def place(self, node: Any) -> Place:
        import rdflib

        if _is_variable(node):
            return str(node)
        return f"_:{node}" if isinstance(node, rdflib.BNode) else self.dictionary.number(from_rdflib(node))

    def _path(self, start: Place, path: Any, end: Place, known: Solutions) -> Solutions:
        pairs = self.paths.between(path, self._known(start, known), self._known(end, known))
        columns: dict[str, Array] = {}
        keep = np.ones(pairs.count, np.bool_)
        for place, column in ((start, pairs.columns[FROM]), (end, pairs.columns[TO])):
            if isinstance(place, int):
                keep &= column == place
            elif place in columns:
                keep &= columns[place] == column
            else:
                columns[place] = column
        return join(known, Solutions(columns, pairs.count).take(keep))

    def _known(self, place: Place, known: Solutions) -> Array | None:
        """The terms that an end of a path can be, None if it can be any."""
        if isinstance(place, int):
            return np.array([place], np.int64)
        column = known.columns.get(place)
        return None if column is None or (column == UNBOUND).any() else column

    def _values(self, tree: Any, seed: Solutions) -> Solutions:
        rows = tree.res or []
        names = list(dict.fromkeys(str(name) for row in rows for name in row))
        columns = {name: np.full(len(rows), UNBOUND, np.int64) for name in names}
        for i, row in enumerate(rows):
            for name, node in row.items():
                if node != "UNDEF":
                    columns[str(name)][i] = self.dictionary.number(from_rdflib(node))
        return join(seed, Solutions(columns, len(rows)))

    def _multiset(self, tree: Any, seed: Solutions) -> Solutions:
        if isinstance(tree.p, list):  # VALUES without rows
            return Solutions.none(list(seed.columns))
        if tree.p.name == "values":
            return self._values(tree.p, seed)
        return join(seed, self.solutions(tree.p))  # a subquery sees nothing of the outside

    # ---- operators

    def _join(self, tree: Any, seed: Solutions) -> Solutions:
        return join(self.solutions(tree.p1, seed), self.solutions(tree.p2, seed))

    def _left_join(self, tree: Any, seed: Solutions) -> Solutions:
        left = self.solutions(tree.p1, seed)
        joined, rows = left_join_rows(left, self.solutions(tree.p2, seed))
        if tree.expr is not None and not _is_true(tree.expr):
            keep = self.holding(tree.expr, joined)
            joined, rows = joined.take(keep), rows[keep]
        return with_unmatched(left, joined, rows)

    def _filter(self, tree: Any, seed: Solutions) -> Solutions:
        found = self.solutions(tree.p, seed)
        return found.take(self.holding(tree.expr, found))

    def _union(self, tree: Any, seed: Solutions) -> Solutions:
        return union(self.solutions(tree.p1, seed), self.solutions(tree.p2, seed))

    def _minus(self, tree: Any, seed: Solutions) -> Solutions:
        left, right = self.solutions(tree.p1, seed), self.solutions(tree.p2, seed)
        return minus(left, right, [name for name in left.columns if name not in seed.columns])

    def _extend(self, tree: Any, seed: Solutions) -> Solutions:
        found = self.solutions(tree.p, seed)
        below = tree.p
        while below.name == "Extend":
            below = below.p
        return found.extended(str(tree.var), self.computed(tree.expr, found, scope=id(below)))

    def _project(self, tree: Any, seed: Solutions) -> Solutions:
        return self.solutions(tree.p, seed).project([str(name) for name in tree.PV if _is_variable(name)])

    def _distinct(self, tree: Any, seed: Solutions) -> Solutions:
        return self.solutions(tree.p, seed).distinct()

    def _slice(self, tree: Any, seed: Solutions) -> Solutions:
        start = int(tree.start or 0)
        return self.solutions(tree.p, seed).slice(start, None if tree.length is None else start + int(tree.length))

    def _order(self, tree: Any, seed: Solutions) -> Solutions:
        found = self.solutions(tree.p, seed)
        keys = []
        for condition in tree.expr:
            ranks = self._ranks(self.computed(condition.expr, found))
            keys.append(-ranks if condition.order == "DESC" else ranks)
        return found.take(np.lexsort(keys[::-1])) if keys else found

    def _ranks(self, column: Array) -> Array:
        """For each term its place among the others; terms that are equal in order have the same."""
        distinct, where = np.unique(column, return_inverse=True)
        keys = [order_key(term) for term in self.dictionary.terms(distinct)]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        ranks = np.empty(len(keys), np.int64)
        ranks[order] = np.arange(len(keys))
        return ranks[where]

    def _aggregate(self, tree: Any, seed: Solutions) -> Solutions:
        group = tree.p
        table = self.solutions(group.p, seed)
        expressions = list(group.expr or [])
        keys = [self.computed(expression, table) for expression in expressions]
        groups = grouped(keys, table.count)
        columns = {
            str(expression): key[groups.first]
            for expression, key in zip(expressions, keys, strict=True)
            if _is_variable(expression)
        }
        for one in tree.A:
            columns[str(one.res)] = aggregated(one, table, groups, lambda e: self.computed(e, table), self.dictionary)
        return Solutions(columns, groups.number)

    # ---- expressions

    def holding(self, tree: Any, table: Solutions) -> Mask:
        """For which rows an expression is true."""
        values = self.computed(tree, table)
        distinct, where = np.unique(values, return_inverse=True)
        true = np.array([truth(term) is True for term in self.dictionary.terms(distinct)], np.bool_)
        return true[where]

    def computed(self, tree: Any, table: Solutions, scope: int = 0) -> Array:
        """The term of an expression for each row, UNBOUND where it is an error."""
        expression = self._expression(tree)
        for name, exists in expression.exists.items():
            table = table.extended(name, self._exists(exists, table))
        columns = [table.column(name) for name in expression.variables]
        if expression.volatile:
            rows = (
                zip(*(self.dictionary.terms(column) for column in columns), strict=True)
                if columns
                else [()] * table.count
            )
            found = (expression.compute((*row, scope, i)) for i, row in enumerate(rows))  # type: ignore[arg-type]
            return self.dictionary.numbers(_in_time(found))
        if not columns:
            return np.repeat(self.dictionary.numbers([expression.compute(())]), table.count)
        _, first, where = np.unique(row_codes([columns])[0], return_index=True, return_inverse=True)
        terms = [self.dictionary.terms(column[first]) for column in columns]
        return self.dictionary.numbers(_in_time(map(expression.compute, zip(*terms, strict=True))))[where]

    def _expression(self, tree: Any) -> Expression:
        known = self._compiled.get(id(tree))
        if known is None:
            known = self._compiled[id(tree)] = tree, compile_expression(tree, self.setting)
        return known[1]

    def _exists(self, tree: Any, table: Solutions) -> Array:
        """For each row whether the pattern has a solution that fits."""
        pattern = group_pattern(tree.graph)
        names = [name for name in table.columns if not name.startswith("#")]
        outside = table.project(names)
        codes = row_codes([list(outside.columns.values())])[0] if names else np.zeros(table.count, np.int64)
        _, first, where = np.unique(codes, return_index=True, return_inverse=True)
        seed = outside.take(first).extended(ROW, np.arange(len(first)))
        found = self.solutions(pattern, seed).column(ROW)
        there = np.isin(np.arange(len(first)), found)
        wanted = tree.name == "Builtin_EXISTS"
        return self.dictionary.numbers([boolean(not wanted), boolean(wanted)])[there.astype(np.int64)][where]


def _in_time(computed: Iterable[RdfTerm | None]) -> Iterator[RdfTerm | None]:
    """The values, as long as there is time."""
    for number, term in enumerate(computed):
        if not number & 1023:
            deadline.check()
        yield term


def _is_true(tree: Any) -> bool:
    """Whether an OPTIONAL has no condition, for which rdflib writes a tree or a term that is true."""
    return getattr(tree, "name", "") == "TrueFilter"


def _is_variable(tree: Any) -> bool:
    import rdflib

    return isinstance(tree, rdflib.Variable)
