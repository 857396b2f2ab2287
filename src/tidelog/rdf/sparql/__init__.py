"""SPARQL over triples that are held as columns of words.

`text.py` reads a query (rdflib's grammar and algebra; `syntax.py` is stricter), `evaluate.py` carries out the algebra
on tables of term numbers (`solutions.py`), basic graph patterns are matched by whoever holds the triples
(`triples.py`; of a graph, `graph_triples.py`), `paths.py` follows property paths, `aggregates.py` groups.
`expressions.py`, `functions.py` and `casts.py` compute with terms, which a query knows by number (`dictionary.py`)
and whose values (`terms.py`, `numbers.py`, `moments.py`, `compare.py`) are made once per term. `answers.py` is what a
query gives, `results.py` writes it, `update.py` turns updates into changes.

    from tidelog.rdf.sparql import query, update
    query("SELECT ?x { ?x a <http://a.org/Person> }", graph).to_arrow()
    update("INSERT DATA { <http://a.org/x> a <http://a.org/Person> }", graph)
"""

from tidelog.rdf.sparql.graph_triples import query
from tidelog.rdf.sparql.update import update

__all__ = ["query", "update"]
