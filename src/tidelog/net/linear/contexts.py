"""Subexponential contexts 𝒦 and stable sequents ⊢ 𝒦 : Γ ⇑ · (paper 004, section 4.1).

𝒦 maps each index to a multiset of formulas. Contexts are values: every operation gives a new one. A stable sequent has
nothing left to do but to decide on a formula; it is what stands between two macro-rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import Any

from tidelog.errors import InternalError
from tidelog.net.linear.formulas import AtomFormula, Formula
from tidelog.net.linear.terms import MAXIMAL, MINIMAL, QUERY, RULES, UNBOUNDED, ContextIndex, below, show_term

Multiset = dict[Formula, int]
NEVER_HOLD = ("hat", "-∞")
"""Kinds of indexes that only stand under a bang: nothing is stored there."""


class Contexts:
    """Empty contexts are not kept. `compound` are the indexes whose contexts may hold other formulas than atoms."""

    def __init__(
        self, contents: dict[ContextIndex, Multiset] | None = None, compound: frozenset[ContextIndex] = frozenset()
    ) -> None:
        self._contents = contents or {}
        self.compound = compound

    @staticmethod
    def of(formulas: Iterable[tuple[ContextIndex, Formula, int]]) -> Contexts:
        """The context that holds each formula so many times."""
        contents: dict[ContextIndex, Multiset] = {}
        compound: set[ContextIndex] = set()
        for index, formula, count in formulas:
            if index.kind in NEVER_HOLD or (isinstance(formula, AtomFormula) and formula.index != index):
                raise InternalError(f"{formula} cannot be stored in {index}")
            inside = contents.setdefault(index, {})
            inside[formula] = 1 if index in UNBOUNDED else inside.get(formula, 0) + count
            if not isinstance(formula, AtomFormula):
                compound.add(index)
        return Contexts(contents, frozenset(compound))

    def __getitem__(self, index: ContextIndex) -> Multiset:
        return self._contents.get(index, {})

    def __iter__(self) -> Iterator[ContextIndex]:
        return iter(self._contents)

    def add(self, index: ContextIndex, formula: Formula, count: int = 1) -> Contexts:
        """𝒦 +_l F. An atom must be stored in the context that it is named after."""
        one = Contexts.of([(index, formula, count)])
        inside = dict(self[index])
        inside[formula] = 1 if index in UNBOUNDED else inside.get(formula, 0) + count
        return self._with(index, inside, self.compound | one.compound)

    def remove(self, index: ContextIndex, formula: Formula) -> Contexts:
        """The context after the formula was used: the same, if its index allows contraction."""
        if index in UNBOUNDED:
            return self
        inside = dict(self[index])
        inside[formula] -= 1
        if not inside[formula]:
            del inside[formula]
        return self._with(index, inside, self.compound)

    def _with(self, index: ContextIndex, inside: Multiset, compound: frozenset[ContextIndex]) -> Contexts:
        contents = self._contents.copy()
        if inside:
            contents[index] = inside
        else:
            del contents[index]
        return Contexts(contents, compound)

    def above(self, index: ContextIndex) -> Contexts | None:
        """𝒦 ≤_l, the premise of a bang: what l is below stays; if anything linear would have to go, None."""
        if index == MINIMAL:
            return self
        if index.kind == "hat" and UNBOUNDED.isdisjoint(index.of):
            return None if any(self[i] for i in index.of) else self
        kept = [i for i in self._contents if below(index, i)]
        if any(i not in UNBOUNDED for i in self._contents if i not in kept):
            return None
        return Contexts({i: self._contents[i] for i in kept}, self.compound)

    @property
    def spent(self) -> bool:
        """Whether no linear formula is left, as the initial rule and the rules for 1 and = demand."""
        return all(i in UNBOUNDED for i in self._contents)

    def linear(self) -> list[tuple[ContextIndex, Formula, int]]:
        return [(i, f, n) for i, m in self._contents.items() if i not in UNBOUNDED for f, n in m.items()]

    @cached_property
    def key(self) -> frozenset[Any]:
        return frozenset((i, frozenset(m.items())) for i, m in self._contents.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contexts) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        """The contexts that change, in a fixed order; rules, query and commands are left out."""
        hidden = (RULES, QUERY, MAXIMAL)
        shown = sorted((_ORDER.get(i.kind, 9), str(i), m) for i, m in self._contents.items() if i not in hidden)
        return "  ".join(f"{name}{_braces(m)}" for _, name, m in shown) or "∅"


_ORDER = {"upd": 0, "picked": 1, "exec": 2, "view": 3, "ν": 4, "Δ": 5, "aux": 6}


def _braces(inside: Multiset) -> str:
    texts = (_element(formula) for formula, count in inside.items() for _ in range(count))
    return "{" + ", ".join(sorted(texts)) + "}"


def _element(formula: Formula) -> str:
    """An atom without the name of its context: an update as `INS p(a)`, a tuple as its values or a dot."""
    match formula:
        case AtomFormula(args=()) | AtomFormula(args=((),)):
            return "·"
        case AtomFormula(args=((value,),)):
            return show_term(value)
        case AtomFormula(args=((*values,),)):
            return f"({','.join(map(show_term, values))})"
        case AtomFormula(args=(str() as name, (*values,), str() as sign)):
            return f"{sign} {name}({','.join(map(show_term, values))})" if values else f"{sign} {name}"
        case AtomFormula(args=args):
            return ",".join(map(show_term, args))
    return str(formula)


class Sequent:
    """⊢ 𝒦 : Γ ⇑ ·"""

    def __init__(self, context: Contexts, linear: Iterable[Formula] = ()) -> None:
        self.context = context
        self.linear = tuple(linear)

    @cached_property
    def key(self) -> tuple[Contexts, frozenset[Any]]:
        return self.context, frozenset(Counter(self.linear).items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequent) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def splits(context: Contexts, linear: tuple[Formula, ...]) -> Iterator[tuple[Sequent, Sequent]]:
    """Every way to share the linear resources out between the two premises of ⊗; both get the unbounded ones."""
    shared = Contexts({i: context[i] for i in context if i in UNBOUNDED})
    stored = context.linear()
    loose = list(Counter(linear).items())
    for counts in product(*(range(n + 1) for *_, n in stored), *(range(n + 1) for _, n in loose)):
        sides: list[Sequent] = []
        for first in (True, False):
            side, rest = shared, list[Formula]()
            for (index, formula, n), taken in zip(stored, counts, strict=False):
                mine = taken if first else n - taken
                side = side.add(index, formula, mine) if mine else side
            for (formula, n), taken in zip(loose, counts[len(stored) :], strict=True):
                rest += [formula] * (taken if first else n - taken)
            sides.append(Sequent(side, rest))
        yield sides[0], sides[1]
