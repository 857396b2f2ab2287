"""Property paths: the pairs of terms that a path leads between.

A path is followed forwards from some terms, or from everywhere; to go backwards is to follow the inverted path. `*` and
`+` are small recursive programs, run by the store:

    reach(x, y) :- start(x), edge(x, y).        reach(x, z) :- reach(x, y), edge(y, z).

Sequences and alternatives keep their duplicates, as SPARQL has it; the other paths give each pair once. A path of
length zero leads from every subject and object of the graph, and from any term that is named, to itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog import deadline
from tidelog.plain import dataclass
from tidelog.plan.steps import Emit, Exists, Match, Plan, Probe, Scan, Slot, View
from tidelog.rdf.sparql.dictionary import Dictionary
from tidelog.rdf.sparql.solutions import Solutions, join
from tidelog.rdf.sparql.terms import from_rdflib
from tidelog.rdf.sparql.triples import Triples
from tidelog.store import Database
from tidelog.store.memory import Array
from tidelog.values import Kind

_NUMBERS = (("x", Kind.NUMBER), ("y", Kind.NUMBER), ("z", Kind.NUMBER))
_EDGE = Match("edge", View.ALL, (), ((0, 0), (1, 1)))
_FIRST = Plan(
    0,
    None,
    (Scan(_EDGE), Exists(Match("start", View.ALL, ((0, Slot(0)),))), Emit("reach", (Slot(0), Slot(1)))),
    _NUMBERS,
)
_FURTHER = Plan(
    1, 0,
    (
        Scan(Match("reach", View.DELTA, (), ((0, 0), (1, 1)))),
        Probe(Match("edge", View.ALL, ((0, Slot(1)),), ((1, 2),))),
        Emit("reach", (Slot(0), Slot(2))),
    ),
    _NUMBERS,
)  # fmt: skip

FROM, TO = "#from", "#to"


@dataclass
class Paths:
    """Follows paths through some triples."""

    triples: Triples
    dictionary: Dictionary

    def between(self, path: Any, starts: Array | None, ends: Array | None) -> Solutions:
        """Pairs (FROM, TO) of a path, at least all those from `starts` to `ends`; None is everywhere."""
        if starts is None and ends is not None:
            found = self._forward(inverted(path), np.unique(ends))
            return Solutions({FROM: found.columns[TO], TO: found.columns[FROM]}, found.count)
        return self._forward(path, None if starts is None else np.unique(starts))

    def _forward(self, path: Any, starts: Array | None) -> Solutions:
        from rdflib import paths

        if isinstance(path, paths.SequencePath):
            return self._sequence(path.args, starts)
        if isinstance(path, paths.AlternativePath):
            return _together([self._forward(part, starts) for part in path.args])
        if isinstance(path, paths.MulPath):
            return self._repeated(path, starts)
        if isinstance(path, paths.NegatedPath):
            return self._negated(path, starts)
        if not isinstance(path, paths.InvPath):
            return self._link(path, starts)
        if isinstance(path.arg, paths.Path):
            return self._forward(inverted(path.arg), starts)
        return self._link(path.arg, starts, backwards=True)

    def _sequence(self, parts: list[Any], starts: Array | None) -> Solutions:
        found = self._forward(parts[0], starts)
        for part in parts[1:]:
            middle = found.columns[TO]
            then = self._forward(part, np.unique(middle))
            both = join(
                Solutions({FROM: found.columns[FROM], "#middle": middle}, found.count),
                Solutions({"#middle": then.columns[FROM], TO: then.columns[TO]}, then.count),
            )
            found = both.project([FROM, TO])
        return found

    def _link(self, predicate: Any, starts: Array | None, backwards: bool = False) -> Solutions:
        """The triples with a predicate."""
        number = self.dictionary.number(from_rdflib(predicate))
        if number < 0:
            return _pairs(np.zeros((0, 2), np.int64))
        found = self.triples.match([(FROM, number, TO)])
        if backwards:
            found = Solutions({FROM: found.columns[TO], TO: found.columns[FROM]}, found.count)
        return _starting(found, starts)

    def _negated(self, path: Any, starts: Array | None) -> Solutions:
        """Triples with any other predicate; those with inverse predicates from object to subject."""
        forwards = [part for part in path.args if not _is_inverse(part)]
        backwards = [_inner(part) for part in path.args if _is_inverse(part)]
        every = self.triples.match([(FROM, "#by", TO)])
        found = []
        for parts, turned in ((forwards, False), (backwards, True)):
            if parts:
                wrong = self.dictionary.numbers([from_rdflib(part) for part in parts])
                kept = every.take(~np.isin(every.columns["#by"], wrong))
                ends = kept.columns[FROM], kept.columns[TO]
                found.append(
                    Solutions(dict(zip((FROM, TO), reversed(ends) if turned else ends, strict=True)), kept.count)
                )
        return _starting(_together(found), starts)

    def _repeated(self, path: Any, starts: Array | None) -> Solutions:
        found = self._closure(path.path, starts) if path.more else self._forward(path.path, starts)
        if path.zero:
            nodes = self.nodes() if starts is None else starts
            found = _together([found, Solutions({FROM: nodes, TO: nodes}, len(nodes))])
        return found.distinct()

    def _closure(self, path: Any, starts: Array | None) -> Solutions:
        """One step or more."""
        edges = self._forward(path, None)
        database = Database()
        start = np.unique(edges.columns[FROM]) if starts is None else starts
        for name, rows in (
            ("start", start.reshape(-1, 1)),
            ("edge", np.stack([edges.columns[FROM], edges.columns[TO]], 1)),
        ):
            database.create(name, rows.shape[1]).insert(np.ascontiguousarray(rows))
            database[name].settle()
        database.create("reach", 2)
        database.stratum(["reach"], [_FIRST, _FURTHER]).run(lambda *_: deadline.check())
        return _pairs(database["reach"].rows().astype(np.int64))

    def nodes(self) -> Array:
        """Every subject and object."""
        every = self.triples.match([(FROM, "#by", TO)])
        return np.unique(np.concatenate([every.columns[FROM], every.columns[TO]]))


def inverted(path: Any) -> Any:
    """The path that leads the other way."""
    from rdflib import paths

    if isinstance(path, paths.InvPath):
        return path.arg
    if isinstance(path, paths.SequencePath):
        return paths.SequencePath(*(inverted(part) for part in reversed(path.args)))
    if isinstance(path, paths.AlternativePath):
        return paths.AlternativePath(*(inverted(part) for part in path.args))
    if isinstance(path, paths.MulPath):
        return paths.MulPath(inverted(path.path), path.mod)
    if isinstance(path, paths.NegatedPath):
        turned: Any = paths.NegatedPath(paths.AlternativePath())
        turned.args = [_inner(part) if _is_inverse(part) else paths.InvPath(part) for part in path.args]
        return turned
    return paths.InvPath(path)


def _is_inverse(part: Any) -> bool:
    """Whether a member of a negated set is an inverse: rdflib's path, or its parser's tree."""
    return hasattr(part, "arg") or getattr(part, "name", "") == "InversePath"


def _inner(part: Any) -> Any:
    return part.part if getattr(part, "name", "") == "InversePath" else part.arg


def _pairs(rows: Array) -> Solutions:
    return Solutions({FROM: rows[:, 0], TO: rows[:, 1]}, len(rows))


def _starting(found: Solutions, starts: Array | None) -> Solutions:
    return found if starts is None else found.take(np.isin(found.columns[FROM], starts))


def _together(parts: list[Solutions]) -> Solutions:
    return Solutions(
        {end: np.concatenate([part.columns[end] for part in parts]) for end in (FROM, TO)},
        sum(part.count for part in parts),
    )
