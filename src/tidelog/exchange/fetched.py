"""A database of relations that are with workers: each is brought here when somebody first looks at it."""

from __future__ import annotations

from collections.abc import Callable

from tidelog.evaluate.bindings import Words
from tidelog.exchange.front import Front
from tidelog.store import Database, Relation


class Fetched(Database):
    """See the module's docstring. It has the dictionaries of the front, and what the relations had when they were
    asked for: it is one of an epoch."""

    def __init__(self, front: Front, fetch: Callable[[str], Words]) -> None:
        super().__init__()
        self.share_dictionaries(front.database)
        program = front.state.program
        self.relations = _Relations(program.arities, self._brought)
        self._fetch = fetch
        for name in program.implicit:
            self.view_equivalence(name)

    def _brought(self, name: str, arity: int) -> Relation:
        relation = self.unmounted(name, arity)
        relation.insert(self._fetch(name))
        relation.settle()
        return relation


class _Relations(dict[str, Relation]):
    """By name; those that are not there yet are made."""

    def __init__(self, arities: dict[str, int], make: Callable[[str, int], Relation]) -> None:
        super().__init__()
        self._arities, self._make = arities, make

    def __missing__(self, name: str) -> Relation:
        if name not in self._arities:
            raise KeyError(name)
        self[name] = self._make(name, self._arities[name])
        return self[name]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._arities
