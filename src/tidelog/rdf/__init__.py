"""RDF: triples as facts. A term is a symbol, its canonical N-Triples text: `<iri>`, `"text"@en`, `_:label`.

`graph.Graph` is where to begin: triples, what rules derive from them, kept up to date and asked by patterns. On the
way there, in the order of reading:

- Triples in and out: `files.read_triples` reads files of any RDF format into words of a database (`lines.py` is the
  fast way for N-Triples and N-Quads, `grammar.py` the whole grammar of every format, which is pyoxigraph's,
  `threads.py` both side by side); `load.py` takes triples from wherever a user has them, `rdflib_graph.py` and
  `write.py` give them back; `source.py` makes a DataFrame of files.
- What follows from them: `terms.py` and `values.py` are terms and what they stand for; `rules.py` makes triple rules
  an ordinary program, with `functions.py`; `ontology.py` makes an ontology rules, with `axioms.py`; `tables/` has
  rule tables that read an ontology as data; `same_as.py` and
  `representatives.py` are for equal resources.
- As a program: `plan/rewrites/specialise.py` gives predicates and classes relations of their own, `placing.py` splits
  triples between them, and `program.py` puts all of it together; `graph.py` keeps it (`graph_told.py` is what it says
  of a change), `on_spark.py` on Spark.
- Asking: `patterns.py`, `sparql/`, and `serve/` over HTTP.
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
