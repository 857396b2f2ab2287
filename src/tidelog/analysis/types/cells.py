"""The unknowns of type inference: a cell per variable and per term, holding the types it may still have.

A cell's choice of types only ever shrinks: None (any type), then a set, at worst the empty one, which is a conflict.
Cells that must have equal types are merged (union-find). A log of what narrowed which cell explains conflicts by
two places of the program; it is read only then. Every other operation takes near constant time.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple, TypeAlias

from tidelog.analysis.types.system import Type, TypeSystem
from tidelog.errors import Span
from tidelog.lang import tree
from tidelog.values import Kind

Choice: TypeAlias = frozenset[Type] | None

NONE: frozenset[Type] = frozenset()
LITERAL = ("literal",)
ORDER = (Kind.SYMBOL, Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.RECORD)
"""Soufflé's order of kinds, in which it decides what nothing else decides."""


class Evidence(NamedTuple):
    """Why a cell is of a type: the place, and a reason such as ("attribute", "x", "edge")."""

    type: Type
    span: Span | None
    reason: tuple[str, ...]


class Conflict(NamedTuple):
    """No type is left for a term: `first` and `second` contradict each other; `comparison` brought them together."""

    term: tree.Term
    first: Evidence
    second: Evidence
    comparison: tree.Comparison | None = None


MOST_CONFLICTS = 20
"""In one clause; more would not help anyone."""


class Cells:
    def __init__(self, system: TypeSystem) -> None:
        self.system = system
        self.conflicts: list[Conflict] = []
        self._parent: list[int] = []
        self._choice: list[Choice] = []
        self.changed: list[int] = []  # cells that were narrowed since this list was last emptied
        self._log: list[tuple[int, frozenset[Type], tree.Term, tuple[str, ...]]] = []

    def new(self, choice: Choice = None) -> int:
        parent = self._parent
        parent.append(len(parent))
        self._choice.append(choice)
        return len(parent) - 1

    def root(self, cell: int) -> int:
        parent = self._parent
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    def choice(self, cell: int) -> Choice:
        return self._choice[self.root(cell)]

    def kinds(self, cell: int) -> frozenset[Kind] | None:
        choice = self._choice[self.root(cell)]
        return None if choice is None else self.system.kinds(choice)

    def evidence(self, cell: int) -> Iterator[Evidence]:
        """What narrowed the cell, in the order in which it was found."""
        root = self.root(cell)
        for other, types, term, reason in self._log:
            if self.root(other) == root:
                for found in types:
                    yield Evidence(found, term.span, reason)

    def learn(self, cell: int, types: frozenset[Type], term: tree.Term, reason: tuple[str, ...]) -> None:
        """The cell's types are subtypes of `types`, because of `reason` at `term`."""
        root = self.root(cell)
        old = self._choice[root]
        if old is types:
            return
        if old is None:
            new = types
        else:
            new = self.system.meet(old, types)
            if new is old:
                return
            if not new and old:
                second = Evidence(next(iter(types)), term.span, reason)
                self._conflict(term, root, second)
        self._choice[root] = new
        self.changed.append(root)
        self._log.append((root, types, term, reason))

    def restrict(self, cell: int, kinds: Set[Kind], term: tree.Term, reason: tuple[str, ...]) -> None:
        """The cell's types are of one of these kinds. The caller knows that at least one is possible."""
        root = self.root(cell)
        old = self._choice[root]
        if old is None:
            if Kind.RECORD in kinds:
                return
            new = frozenset(self.system.constants[k] for k in kinds)
        else:
            if self.system.kinds(old) <= kinds:
                return
            new = frozenset(t for t in old if t.kind in kinds)
        self._choice[root] = new
        self.changed.append(root)
        self._log.append((root, new, term, reason))

    def settle(self, cell: int, choice: frozenset[Type]) -> None:
        """Give a cell of which nothing is known its types."""
        root = self.root(cell)
        if self._choice[root] is None:
            self._choice[root] = choice

    def spoil(self, cell: int) -> None:
        """What the cell is for was found wrong; nothing more shall be said about it."""
        root = self.root(cell)
        self._choice[root] = NONE
        self.changed.append(root)

    def merge(self, a: int, b: int, left: tree.Term, comparison: tree.Comparison | None) -> None:
        """Both cells have the same types, because their terms are compared."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return
        old_a, old_b = self._choice[a], self._choice[b]
        if old_a is None or old_b is None:
            new = old_b if old_a is None else old_a
        else:
            new = self.system.meet(old_a, old_b)
            if not new and old_a and old_b:
                second = next(self.evidence(b), None) or Evidence(
                    min(old_b, key=lambda t: ORDER.index(t.kind)), None, LITERAL
                )
                self._conflict(left, a, second, comparison)
        self._parent[b] = a
        self._choice[a] = new

    def _conflict(
        self, term: tree.Term, root: int, second: Evidence, comparison: tree.Comparison | None = None
    ) -> None:
        if len(self.conflicts) < MOST_CONFLICTS:
            self.conflicts.append(Conflict(term, self._against(root, second.type), second, comparison))

    def _against(self, root: int, found: Type) -> Evidence:
        """The evidence for the cell's types that the new one contradicts; a literal is its own evidence."""
        first = None
        for evidence in self.evidence(root):
            first = first or evidence
            if not self.system.common(evidence.type, found):
                return evidence
        choice = self._choice[root] or NONE
        return first or Evidence(min(choice, key=lambda t: ORDER.index(t.kind)), None, LITERAL)
