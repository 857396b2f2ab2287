"""SPARQL updates as change sets.

An operation is one change set: what it deletes, then what it inserts, both from the triples before it. Operations that
need nothing of those before them share a change set; one with a WHERE begins with the epoch that the ones before it
make. What is deleted are given triples: a triple that only follows from others stays as long as it follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tidelog.errors import TidelogError, error
from tidelog.plain import dataclass, field
from tidelog.rdf.graph import Graph
from tidelog.rdf.sparql.answers import made, new_evaluation
from tidelog.rdf.sparql.dictionary import Dictionary
from tidelog.rdf.sparql.evaluate import QueryEvaluation
from tidelog.rdf.sparql.expressions import QuerySetting
from tidelog.rdf.sparql.graph_triples import GraphTriples, in_time
from tidelog.rdf.sparql.terms import RdfTerm, from_rdflib
from tidelog.rdf.sparql.text import parse_update
from tidelog.store.memory import Array

Triple = tuple[str, str, str]


class Updated(NamedTuple):
    """What an update did: its epochs, and how many triples it asked to insert and to delete."""

    epochs: int
    inserted: int
    deleted: int

    def __str__(self) -> str:
        epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs:,} epochs"
        return f"{epochs}: {self.inserted:,} triples to insert, {self.deleted:,} to delete"


@dataclass
class _Change:
    """The last word on each triple: whether it is to be there."""

    wanted: dict[Triple, bool] = field(default_factory=dict)

    def add(self, triples: Iterable[Triple], inserted: bool) -> None:
        for triple in triples:
            self.wanted.pop(triple, None)
            self.wanted[triple] = inserted

    def part(self, inserted: bool) -> list[Triple]:
        return [triple for triple, there in self.wanted.items() if there is inserted]


def update(text: str, graph: Graph, timeout: float | None = None) -> Updated:
    """Carry out the operations of an update, in order. A WHERE that takes longer than `timeout` seconds is an error;
    what the operations before it did stays."""
    operations, base = parse_update(text)
    for operation in operations:
        _check(operation)
    change = _Change()
    done: list[_Change] = []
    names: dict[str, RdfTerm] = {}
    for operation in operations:
        if operation.name in ("InsertData", "DeleteData"):
            inserted = operation.name == "InsertData"
            change.add(_data(operation.triples, names), inserted)
            continue
        change = _applied(change, graph, done)
        if operation.name in ("Clear", "Drop"):
            for words in graph.given():
                change.add(_texts(words[:, :3], Dictionary(graph.symbols)), False)
        else:
            with in_time(timeout):
                _modify(operation, graph, base, change)
    _applied(change, graph, done)
    return Updated(len(done), *(sum(len(one.part(there)) for one in done) for there in (True, False)))


def _applied(change: _Change, graph: Graph, done: list[_Change]) -> _Change:
    """Make an epoch of a change, if it is one, and begin another."""
    if change.wanted:
        graph.update(insert=change.part(True) or None, delete=change.part(False) or None)
        done.append(change)
    return _Change()


def _modify(operation: Any, graph: Graph, base: str, change: _Change) -> None:
    """DELETE and INSERT for every solution of WHERE; DELETE WHERE deletes its own pattern."""
    triples = GraphTriples(graph)
    evaluation = new_evaluation(triples, Dictionary(triples.symbols, triples.one), base)
    if operation.name == "DeleteWhere":
        found = evaluation.solutions(_pattern(operation.triples))
        change.add(graph.said(_made(operation.triples, found, evaluation)), False)
        return
    found = evaluation.solutions(operation.where)
    for clause, inserted in ((operation.delete, False), (operation.insert, True)):
        if clause:
            made = _made(clause.triples or [], found, evaluation)
            change.add(made if inserted else graph.said(made), inserted)


def _pattern(triples: Any) -> Any:
    from rdflib.plugins.sparql.parserutils import CompValue

    return CompValue("BGP", triples=list(triples))


def _made(template: Any, found: Any, evaluation: QueryEvaluation) -> list[Triple]:
    return _texts(made(list(template), found, evaluation), evaluation.dictionary)


def _texts(words: Array, dictionary: Dictionary) -> list[Triple]:
    columns = [dictionary.texts(words[:, i]).to_pylist() for i in range(3)]
    return list(zip(*columns, strict=True))


def _data(triples: Any, names: dict[str, RdfTerm]) -> list[Triple]:
    """The triples of INSERT DATA or DELETE DATA; a label stands for one new blank node throughout the update."""
    import rdflib

    setting = QuerySetting(from_rdflib(rdflib.Literal("")))

    def text(node: Any) -> str:
        if not isinstance(node, rdflib.BNode):
            return from_rdflib(node).text
        return names.setdefault(str(node), setting.fresh_blank()).text

    return [(text(s), text(p), text(o)) for s, p, o in triples]


def _check(operation: Any) -> None:
    """Refuse what is about other graphs or other places, before anything is changed."""
    if operation.name in ("Clear", "Drop"):
        if str(operation.graphiri) not in ("ALL", "DEFAULT"):
            raise _refused("a named graph")
        return
    if operation.name not in ("InsertData", "DeleteData", "DeleteWhere", "Modify"):
        raise error("TL1455", f"SPARQL's {operation.name.upper()} is not there", help="tidelog rdf update takes files")
    parts = [operation, operation.delete, operation.insert]
    if any(part and part.quads for part in parts) or operation.withClause or operation.using:
        raise _refused("GRAPH, WITH or USING")
    if operation.name in ("InsertData", "DeleteData"):
        _check_data(operation)
    if operation.name == "DeleteWhere" or operation.delete:
        import rdflib

        template = operation.triples if operation.name == "DeleteWhere" else operation.delete.triples or []
        if any(isinstance(node, rdflib.BNode) for triple in template for node in triple):
            raise error("TL1454", "this is no SPARQL update: a blank node in what is to be deleted",
                        help="use a variable")  # fmt: skip


def _check_data(operation: Any) -> None:
    import rdflib

    nodes = {type(node) for triple in operation.triples for node in triple}
    if rdflib.Variable in nodes:
        raise error("TL1454", "this is no SPARQL update: data has a variable", help="INSERT { … } WHERE { … } binds it")
    if rdflib.BNode in nodes and operation.name == "DeleteData":
        raise error("TL1454", "this is no SPARQL update: a blank node in DELETE DATA",
                    help="DELETE WHERE finds it by what is said of it")  # fmt: skip


def _refused(what: str) -> TidelogError:
    return error("TL1455", f"an update of {what}: there is one graph, and an update is about that")
