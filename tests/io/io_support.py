"""What the tests of `tidelog.io` share: declarations, and a stand-in for the store's dictionaries."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tidelog.analysis.check import check
from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.lang import tree
from tidelog.lang.souffle import parse

TYPES = """
.type List = [head: number, tail: List]
.type Pair = [name: symbol, weight: float]
.type Color = Red {} | Green {} | Blue {}
.type Tree = Leaf {} | Node {left: Tree, value: number, right: Tree} | Tag {name: symbol}
.type Mixed = [l: List, c: Color, t: Tree, u: unsigned]
.type Small <: number
.type Name <: symbol
"""


def declare(text: str) -> tuple[RelationInfo, TypeSystem, tree.Directive | None]:
    """The last relation of a program, its types, and its last directive."""
    program = parse(TYPES + text)
    found = check(program)
    directives = program.of(tree.Directive)
    return list(found.relations.values())[-1], found.types, directives[-1] if directives else None


class _Symbols:
    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def encode(self, array: pa.Array) -> np.ndarray:
        return np.array([self.known.setdefault(t, len(self.known)) for t in array.to_pylist()], np.int64)

    def decode(self, ids: np.ndarray) -> pa.Array:
        texts = list(self.known)
        return pa.array([texts[i] for i in ids], pa.large_string())


class _Records:
    """Numbered separately for each arity, as in the store."""

    def __init__(self) -> None:
        self.known: dict[int, dict[tuple[int, ...], int]] = {}
        self.rows: dict[int, list[tuple[int, ...]]] = {}

    def pack(self, fields: np.ndarray) -> np.ndarray:
        arity = fields.shape[1]
        known, rows = self.known.setdefault(arity, {}), self.rows.setdefault(arity, [()])
        for row in map(tuple, fields.tolist()):
            if row not in known:
                known[row] = len(rows)
                rows.append(row)
        return np.array([known[tuple(row)] for row in fields.tolist()], np.int64)

    def unpack(self, ids: np.ndarray, arity: int) -> np.ndarray:
        return np.array([self.rows[arity][i] for i in ids], np.int64).reshape(len(ids), arity)


class StandIn:
    """Symbols and records without kernels."""

    def __init__(self) -> None:
        self.symbols = _Symbols()
        self.records = _Records()
