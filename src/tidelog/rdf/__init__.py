"""RDF: triples as facts. A term is a symbol, its canonical N-Triples text: `<iri>`, `"text"@en`, `_:label`.

`graph.Graph` is where to begin: triples, what rules derive from them, kept up to date and asked by patterns. On the
way there: `files.read_triples` reads files of any RDF format into words of a database (`lines.py` is the fast way for
N-Triples and N-Quads, `grammar.py` the whole grammar of every format, which is pyoxigraph's), `rules.py` makes triple
rules an ordinary program, `ontology.py` makes an ontology rules, `plan/rewrites/specialise.py` gives predicates and
classes relations of their own, `placing.py` splits triples between them, and `program.py` puts all of it together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidelog.rdf.graph import Graph

__all__ = ["Graph"]


def __getattr__(name: str) -> Any:
    """`Graph`, loaded when it is first asked for: tasks of Spark that only read files have no use for it."""
    if name != "Graph":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tidelog.rdf.graph import Graph

    return Graph
