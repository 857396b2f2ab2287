"""Clauses: one head, a flat body (`flat.py`). `scopes.py` says which variables a body binds and `uses.py` what a clause
mentions, for all checks; `inline.py` puts the rules of inline relations in place of their atoms."""

from tidelog.analysis.clauses.flat import Clause, clauses_of

__all__ = ["Clause", "clauses_of"]
