"""A query over a program and its facts, without a session: only what the query asks for is read and derived.

The query becomes a rule of the program, whose head is all that is asked for. What it does not depend on is left away,
and the rest is derived as far as the values in the query ask for it (`plan/rewrites/magic_sets.py`), but for relations
that are declared `no_magic`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.analysis.needed import only_for
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Source
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.query import HEAD, query_program
from tidelog.lang import tree
from tidelog.lang.souffle import parse_query
from tidelog.local.local_session import LocalSession
from tidelog.local.settings import Settings
from tidelog.plain import replace
from tidelog.plan.rewrites.magic_sets import magic_sets

if TYPE_CHECKING:
    import pyarrow as pa


def answer_on_demand(
    query: Source, checked: Checked, settings: Settings, observer: Observer | None = None
) -> tuple[RelationInfo, pa.Table]:
    """The answers, and the types of their columns; facts come from the program's `.input` files."""
    session = LocalSession(program_on_demand(query, checked), replace(settings, strategy="batch"), observer)
    try:
        session.bootstrap()
        return session.checked.relations[HEAD], session.relation(HEAD).to_arrow()
    finally:
        session.close()


def program_on_demand(query: Source, checked: Checked) -> Checked:
    """The program that derives HEAD, the answers, and what they need."""
    decl = query_program(query, checked).relations[HEAD].decl
    head = tree.Atom(HEAD, tuple(tree.Variable(attribute.name) for attribute in decl.attributes))
    rule = tree.Rule((head,), parse_query(query))
    whole = check(tree.Program((*checked.program.items, decl, rule)))
    kept = {decl.name for decl in checked.program.of(tree.RelationDecl) if "no_magic" in decl.qualifiers}
    return magic_sets(only_for(whole, [HEAD]), [HEAD], lambda name: name not in kept)
