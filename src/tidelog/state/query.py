"""A query over a state directory, without a session: only the relations that it mentions are loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from tidelog.analysis.checked import Checked
from tidelog.analysis.names.inlining import inline_relations
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Source
from tidelog.evaluate.query import answer
from tidelog.io.codec import decode
from tidelog.lang import tree
from tidelog.lang.souffle import parse_query
from tidelog.plan.rewrites.read_classes import implicit_equivalences
from tidelog.state.columns import RELATION, Shape
from tidelog.state.files import Files
from tidelog.state.load import Loader
from tidelog.state.manifest import Manifest
from tidelog.state.program_text import program_of
from tidelog.state.reader import read_consistently
from tidelog.store import Database


def query_state(
    place: str | os.PathLike[str], query: Source, functors: Mapping[str, Callable[..., Any]]
) -> tuple[RelationInfo, pa.Table]:
    """The answers at the last epoch, and the types of their columns; needs no lock."""

    def ask(files: Files, manifest: Manifest) -> tuple[RelationInfo, pa.Table]:
        checked = program_of(manifest.program)
        database = Database()
        loader = Loader(files, checked.types, database)
        implicit = implicit_equivalences(checked)
        for name in _needed(query, checked):
            relation = database.create(name, checked.relations[name].arity, stateful=True)
            loader.load(Shape(RELATION, checked.relations[name]), manifest.relations[name], relation)
            if relation.dirty:
                relation.compact()
            if name in implicit:
                database.complete_equivalence(name)
        found = answer(query, checked, database, functors)
        return found.info, decode(found.rows, found.info, checked.types, database)

    return read_consistently(Files.at(place), ask)


def _needed(query: Source, checked: Checked) -> list[str]:
    """The relations that a query reads; all, if it mentions one that stands for rules, or one that is not there."""
    inlined = inline_relations(checked.program)
    mentioned = {node.name for node in parse_query(query).walk() if isinstance(node, tree.Atom)}
    stored = [name for name in checked.relations if name not in inlined]
    return [name for name in stored if name in mentioned] if mentioned <= set(stored) else stored
