"""Overloaded functors and aggregates: which signature a call has.

A signature is possible as long as every argument, and the result, may still be of the kind that it asks for. The
kinds that no possible signature has are taken from the arguments and the result, until one signature is left.
"""

from __future__ import annotations

from functools import lru_cache

from tidelog.analysis.types.cells import ORDER, Cells, Evidence
from tidelog.functors import FUNCTORS, NUMERIC, Signature
from tidelog.lang import tree
from tidelog.plain import dataclass, field
from tidelog.values import Kind

MOST_ARGUMENTS = {"range": 3}
ANY_NUMBER = ("min", "max", "cat")

_AGGREGATES = {
    op: tuple(Signature((k,), k) for k in ((Kind.FLOAT,) if op == "mean" else NUMERIC))
    for op in ("sum", "min", "max", "mean")
}


def possible_signatures(aggregate: bool, op: str) -> tuple[Signature, ...]:
    """All signatures of a functor or aggregate, before anything is known."""
    if aggregate:
        return _AGGREGATES[op]
    info = FUNCTORS.get(op)
    return info.signatures if info is not None else ()


@lru_cache(maxsize=1024)
def _fitting(aggregate: bool, op: str, count: int) -> tuple[Signature, ...]:
    return tuple(s for s in possible_signatures(aggregate, op) if fits_arity(op, s, count))


@lru_cache(maxsize=1024)
def fixed_result(op: str) -> Kind | None:
    """The kind that all signatures of a functor give, if they agree."""
    results = {s.result for s in possible_signatures(False, op)}
    return results.pop() if len(results) == 1 else None


def fits_arity(op: str, signature: Signature, count: int) -> bool:
    """Whether a call with so many arguments can have this signature."""
    if signature.variadic:
        least = 1 if op in ANY_NUMBER else len(signature.params)
        return least <= count <= MOST_ARGUMENTS.get(op, count)
    return count == len(signature.params)


@dataclass(eq=False, slots=True)
class FunctorCall:
    """A functor or aggregate with the signatures that are still possible; none is left if it is wrong."""

    node: tree.Functor | tree.Aggregate
    args: tuple[tree.Term, ...]
    result: int
    cells: list[int]
    candidates: list[Signature] = field(init=False)
    wrong_arity: bool = False
    done: bool = False
    kinds: list[frozenset[Kind] | None] = field(default_factory=list)  # of the arguments, when it went wrong
    expected: Evidence | None = None  # of the result, when that is what went wrong

    def __post_init__(self) -> None:
        count = len(self.args)
        self.candidates = list(_fitting(isinstance(self.node, tree.Aggregate), self.op, count))
        self.done = self.wrong_arity = not self.candidates

    @property
    def op(self) -> str:
        return self.node.op

    @property
    def is_open(self) -> bool:
        return len(self.candidates) > 1

    def signature(self) -> Signature:
        """The chosen signature, with as many parameters as there are arguments."""
        chosen = self.candidates[0]
        return Signature(self._params(chosen), chosen.result)

    def _params(self, signature: Signature) -> tuple[Kind, ...]:
        count = len(self.args)
        return (signature.params + signature.params[-1:] * (count - len(signature.params)))[:count]

    def narrow(self, cells: Cells) -> None:
        """Drop the signatures that have become impossible, and from the cells the kinds that none has."""
        if self.done:
            return
        kinds = [cells.kinds(c) for c in self.cells]
        result = cells.kinds(self.result)
        if result == frozenset() or frozenset() in kinds:
            self.done = True  # a conflict that is reported elsewhere
            self.candidates = self.candidates[:1]
            return
        takes = [
            s for s in self.candidates if all(k is None or p in k for p, k in zip(self._params(s), kinds, strict=True))
        ]
        possible = [s for s in takes if result is None or s.result in result]
        self.candidates = possible
        if not possible:
            self.done = True
            self.kinds = kinds
            self.expected = next(cells.evidence(self.result), None) if takes else None
            cells.spoil(self.result)
            return
        cells.restrict(self.result, {s.result for s in possible}, self.node, ("functor", self.op))
        columns = zip(*(self._params(s) for s in possible), strict=True)
        for arg, cell, column in zip(self.args, self.cells, columns, strict=True):
            cells.restrict(cell, set(column), arg, ("functor", self.op))
        self.done = len(possible) == 1

    def decide(self, cells: Cells) -> None:
        """Nothing else can tell: take the first signature in Soufflé's order."""
        self.candidates.sort(key=lambda s: (ORDER.index(s.result), [ORDER.index(p) for p in s.params]))
        if self.op == "ord" and isinstance(self.args[0], (tree.Record, tree.Nil)):
            self.candidates.reverse()
        del self.candidates[1:]
        self.done = False
        self.narrow(cells)
