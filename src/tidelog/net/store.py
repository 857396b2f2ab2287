"""𝒦: the multiset of facts p and the updated multiset of facts p^ν (paper 000, section 2.3), with hash indexes.

A store holds two multisets, OLD (facts without ν) and NEW (facts with ν). Each maps a fact to its copies: a count per
annotation (the annotation is None in the algorithms that have none). A fact is in a multiset exactly when it has a
positive count there. Indexes are made when a rule first asks for them, and hold every fact that is in either multiset.
Looking up costs the number of facts found; changing a count costs one step per index of the relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any, TypeAlias

from tidelog.errors import InternalError
from tidelog.net.values import Annotation, Fact, Value

Tag: TypeAlias = Annotation | None
Copies: TypeAlias = dict[Tag, int]
OLD, NEW = 0, 1


class Store:
    def __init__(self) -> None:
        self.views: tuple[dict[Fact, Copies], dict[Fact, Copies]] = ({}, {})
        self._facts: dict[str, dict[Fact, None]] = {}
        self._indexes: dict[str, dict[tuple[int, ...], _Index]] = {}

    def change(self, view: int, fact: Fact, tag: Tag, change: int) -> None:
        """Adds so many copies, or takes them away if `change` is negative."""
        copies = self.views[view].get(fact)
        if copies is None:
            copies = self.views[view][fact] = {}
            if fact not in self.views[1 - view]:
                self._enter(fact)
        count = copies.get(tag, 0) + change
        if count < 0:
            raise InternalError(f"there is no copy of {fact} to delete")
        if count:
            copies[tag] = count
            return
        del copies[tag]
        if not copies:
            del self.views[view][fact]
            if fact not in self.views[1 - view]:
                self._leave(fact)

    def count(self, view: int, fact: Fact, tag: Tag) -> int:
        return self.views[view].get(fact, {}).get(tag, 0)

    def copies(self, view: int, fact: Fact) -> Copies:
        return self.views[view].get(fact, {})

    def find(self, name: str, columns: tuple[int, ...], key: Any, view: int) -> list[Fact]:
        """The facts of a view whose columns have these values (`key` is a bare value for a single column)."""
        found: Iterable[Fact]
        if not columns:
            found = self._facts.get(name, ())
        else:
            by_columns = self._indexes.setdefault(name, {})
            index = by_columns.get(columns)
            if index is None:
                index = by_columns[columns] = _Index(columns, self._facts.get(name, ()))
            found = index.entries.get(key, ())
        present = self.views[view]
        return [fact for fact in found if fact in present]

    def facts(self, view: int = OLD) -> Iterator[Fact]:
        return iter(self.views[view])

    def multiset(self, view: int = OLD) -> Counter[tuple[Fact, Tag]]:
        return Counter({(f, tag): n for f, copies in self.views[view].items() for tag, n in copies.items()})

    def copy(self) -> Store:
        other = Store()
        for mine, theirs in zip(self.views, other.views, strict=True):
            theirs.update((f, dict(c)) for f, c in mine.items())
        other._facts = {name: dict(facts) for name, facts in self._facts.items()}
        return other

    def _enter(self, fact: Fact) -> None:
        self._facts.setdefault(fact.name, {})[fact] = None
        for index in self._indexes.get(fact.name, {}).values():
            index.add(fact)

    def _leave(self, fact: Fact) -> None:
        del self._facts[fact.name][fact]
        for index in self._indexes.get(fact.name, {}).values():
            index.remove(fact)


class _Index:
    def __init__(self, columns: tuple[int, ...], facts: Iterable[Fact]) -> None:
        self.entries: dict[Any, dict[Fact, None]] = {}
        self._key: Callable[[tuple[Value, ...]], Any] = itemgetter(*columns)
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        self.entries.setdefault(self._key(fact.args), {})[fact] = None

    def remove(self, fact: Fact) -> None:
        key = self._key(fact.args)
        entry = self.entries[key]
        del entry[fact]
        if not entry:
            del self.entries[key]
