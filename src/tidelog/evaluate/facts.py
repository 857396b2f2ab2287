"""Facts on their way into a database: words, or a relation that was filled beforehand (`Engine.gather`)."""

from __future__ import annotations

from typing import TypeAlias

from tidelog.evaluate.bindings import Words
from tidelog.store import Database, Relation

Facts: TypeAlias = Words | Relation


def enter(database: Database, name: str, facts: Facts, given: Relation) -> None:
    """Into the empty relation of their name and into that which tells them from what rules derive, if it is another."""
    if isinstance(facts, Relation):
        database.install(facts)
    else:
        database[name].insert(facts)
    relation = database[name]
    relation.settle()
    if given.name != name:
        given.insert(relation.rows())
        given.settle()
