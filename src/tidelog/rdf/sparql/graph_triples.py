"""A graph's triples, as queries ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tidelog import deadline
from tidelog.errors import error
from tidelog.rdf.graph import Graph
from tidelog.rdf.sparql.answers import Answer, ask
from tidelog.rdf.sparql.solutions import Solutions
from tidelog.rdf.sparql.triples import Pattern, Place
from tidelog.store.symbols import Symbols


class GraphTriples:
    """The triples of a graph, given and derived. Patterns become one compiled plan over its relations."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.symbols: Symbols = graph.symbols
        self.one = graph.one

    def match(self, patterns: Sequence[Pattern]) -> Solutions:
        names = list(dict.fromkeys(place for pattern in patterns for place in pattern if isinstance(place, str)))
        given = {name: f"?{number}" for number, name in enumerate(names)}
        asked = [tuple(self._text(place, given) for place in pattern) for pattern in patterns]
        found = self.graph.match(asked)  # type: ignore[arg-type]
        columns = {names[int(number)]: found.rows[:, i] for i, number in enumerate(found.names)}
        return Solutions(columns, len(found.rows))

    def _text(self, place: Place, names: dict[str, str]) -> str:
        return names[place] if isinstance(place, str) else self.symbols.text(place)


def query(text: str, graph: Graph, timeout: float | None = None) -> Answer:
    """The answer of a graph to a SPARQL query: rows for SELECT, true or false for ASK, triples for the others. One that
    takes longer than `timeout` seconds is an error."""
    with graph.limited("while answering a query"), in_time(timeout):
        return ask(text, GraphTriples(graph))


@contextmanager
def in_time(timeout: float | None) -> Iterator[None]:
    """Meanwhile a query is answered; it is an error if that takes longer."""
    try:
        with deadline.within(timeout):
            yield
    except deadline.TimeIsUp:
        raise error(
            "TL1462", f"the query takes longer than {timeout:g} s", help="ask for less, or allow it more time"
        ) from None
