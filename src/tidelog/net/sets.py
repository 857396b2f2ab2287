"""Sets of facts that share their structure: the derivation sets S and infinite-count sets H of paper 000, section 5.

Facts are numbered. A set is a number too: of a node in a hash-consed binary trie whose leaves are masks of 1024 facts,
so a set exists once, equal sets have equal numbers, and sets that differ in few facts share all the rest: a set made
from another by adding a few neighbouring facts costs one leaf and the path to it. Unions are remembered, the last ones
only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidelog.net.values import Fact

EMPTY = 0
_LEAF_BITS = 10
_IN_LEAF = (1 << _LEAF_BITS) - 1
_MOST_UNIONS = 4_096


class FactSets:
    """All sets of one run. A node is (low prefix, height, left, right), or (prefix, 0, mask, 0) for a leaf."""

    def __init__(self) -> None:
        self._numbers: dict[Fact, int] = {}
        self._facts: list[Fact] = []
        self._nodes: list[tuple[int, int, int, int]] = [(0, -1, 0, 0)]
        self._known: dict[tuple[int, int, int, int], int] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self._sizes: dict[int, int] = {EMPTY: 0}

    def number(self, fact: Fact) -> int:
        number = self._numbers.get(fact)
        if number is None:
            number = self._numbers[fact] = len(self._facts)
            self._facts.append(fact)
        return number

    def of(self, facts: Iterable[Fact]) -> int:
        result = EMPTY
        for fact in facts:
            result = self.add(result, fact)
        return result

    def add(self, a: int, fact: Fact) -> int:
        number = self.number(fact)
        return self.union(a, self._leaf(number >> _LEAF_BITS, 1 << (number & _IN_LEAF)))

    def contains(self, a: int, fact: Fact) -> bool:
        number = self._numbers.get(fact)
        if number is None or a == EMPTY:
            return False
        chunk = number >> _LEAF_BITS
        while True:
            prefix, height, left, right = self._nodes[a]
            if chunk >> height != prefix:
                return False
            if height == 0:
                return bool(left >> (number & _IN_LEAF) & 1)
            a = right if chunk >> (height - 1) & 1 else left

    def union(self, a: int, b: int) -> int:
        if a == b or b == EMPTY:
            return a
        if a == EMPTY:
            return b
        key = (a, b) if a < b else (b, a)
        known = self._unions.get(key)
        if known is None:
            if len(self._unions) >= _MOST_UNIONS:
                self._unions.clear()
            known = self._unions[key] = self._union(*key)
        return known

    def parts(self, a: int) -> tuple[tuple[int, ...], list[Fact]]:
        """The smaller sets, shared with others, that make up this one, and the facts that it holds itself."""
        _, height, left, right = self._nodes[a]
        return ((left, right), []) if height > 0 else ((), [self._facts[n] for n in self._bits(a)])

    def members(self, a: int) -> frozenset[Fact]:
        return frozenset(self._facts[n] for n in self._bits(a))

    def size(self, a: int) -> int:
        found = self._sizes.get(a)
        if found is None:
            found = self._sizes[a] = sum(1 for _ in self._bits(a))
        return found

    def show(self, a: int) -> str:
        """The set as the papers write it."""
        return "{" + ",".join(str(self._facts[n]) for n in self._bits(a)) + "}" if a else "∅"

    @property
    def nodes(self) -> int:
        """How many nodes all the sets of this run share."""
        return len(self._nodes)

    def _bits(self, a: int) -> Iterator[int]:
        pending = [a] if a else []
        while pending:
            prefix, height, left, right = self._nodes[pending.pop()]
            if height:
                pending += [right, left]
                continue
            while left:
                low = left & -left
                yield (prefix << _LEAF_BITS) + low.bit_length() - 1
                left ^= low

    def _leaf(self, chunk: int, mask: int) -> int:
        return self._node((chunk, 0, mask, 0))

    def _node(self, node: tuple[int, int, int, int]) -> int:
        number = self._known.get(node)
        if number is None:
            number = self._known[node] = len(self._nodes)
            self._nodes.append(node)
        return number

    def _union(self, a: int, b: int) -> int:
        """Two tries merged: of different places side by side, of the same place part by part (Okasaki and Gill)."""
        p, h, left, right = self._nodes[a]
        q, g, left2, right2 = self._nodes[b]
        if h < g or (h == g and p > q):
            a, b, p, h, left, right, q, g, left2, right2 = b, a, q, g, left2, right2, p, h, left, right
        if q >> (h - g) != p:
            height = h + (q >> (h - g) ^ p).bit_length()
            parent = p >> (height - h)
            pair = (a, b) if p >> (height - h - 1) & 1 == 0 else (b, a)
            return self._node((parent, height, *pair))
        if h == g:
            if h == 0:
                return self._leaf(p, left | left2)
            return self._node((p, h, self.union(left, left2), self.union(right, right2)))
        if q >> (h - 1 - g) & 1:
            return self._node((p, h, left, self.union(right, b)))
        return self._node((p, h, self.union(left, b), right))
