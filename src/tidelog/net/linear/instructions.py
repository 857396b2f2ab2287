"""The basic instructions of Fig. 2 of paper 004 as definitions: load, unload, loop, end; and move and copy.

load ⟨t⟩ l prog    ≜  ?^l (l t) ⅋ prog
unload l ⟨t⟩ prog  ≜  (l t)^⊥ ⊗ prog
loop l kprog prog  ≜  ∃v[(l v)^⊥ ⊗ (kprog v)(loop l kprog prog)] ⊕ !^{l̂} prog
end                ≜  ⊥
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tidelog.net.linear.formulas import (
    CONTINUATION,
    AtomFormula,
    Bang,
    Bottom,
    Continue,
    Definition,
    Dual,
    Formula,
    Par,
    Plus,
    Quest,
    Tensor,
    ThereIs,
)
from tidelog.net.linear.terms import ContextIndex, Var, hat, show_terms, substitute, variables
from tidelog.plain import dataclass

ELEMENT = "ℓ"
"""The variable of the loops that this package writes; no NDlog variable has this name."""


@dataclass(frozen=True)
class Load(Definition):
    positive = False
    args: tuple[Any, ...]
    index: ContextIndex
    then: Formula

    def unfold(self) -> Formula:
        return Par(Quest(self.index, AtomFormula(self.index, self.args)), self.then)

    @property
    def title(self) -> str:
        return f"load {show_terms(self.args)} {self.index}"

    def __str__(self) -> str:
        return f"{self.title}; {self.then}"


@dataclass(frozen=True)
class Unload(Definition):
    index: ContextIndex
    args: tuple[Any, ...]
    then: Formula

    def unfold(self) -> Formula:
        return Tensor(Dual(AtomFormula(self.index, self.args)), self.then)

    @property
    def title(self) -> str:
        return f"unload {self.index} {show_terms(self.args)}"

    def __str__(self) -> str:
        return f"{self.title}; {self.then}"


@dataclass(frozen=True)
class Loop(Definition):
    """`body` is kprog: it may use the variables `names` and the continuation κ."""

    index: ContextIndex
    names: tuple[str, ...]
    body: Formula
    then: Formula

    @cached_property
    def free(self) -> frozenset[str]:
        inner = self.body.free - {*self.names, CONTINUATION}
        return frozenset(variables(self.index)) | inner | self.then.free

    def substitute(self, values: Mapping[str, Any]) -> Formula:
        if self.free.isdisjoint(values):
            return self
        inner = {n: v for n, v in values.items() if n not in self.names and n != CONTINUATION}
        return Loop(
            substitute(self.index, values), self.names, self.body.substitute(inner), self.then.substitute(values)
        )

    def unfold(self) -> Formula:
        taken = Dual(AtomFormula(self.index, tuple(Var(n) for n in self.names)))
        again = Tensor(taken, self.body.substitute({CONTINUATION: self}))
        return Plus(ThereIs(self.names, again), Bang(hat(self.index), self.then))

    @property
    def title(self) -> str:
        return f"loop {self.index}"

    def __str__(self) -> str:
        return f"loop {self.index} (λ{','.join(self.names)}λκ. {self.body}); {self.then}"


@dataclass(frozen=True)
class End(Definition):
    positive = False

    def unfold(self) -> Formula:
        return Bottom()

    def __str__(self) -> str:
        return "end"


def move(source: ContextIndex, target: ContextIndex, then: Formula) -> Formula:
    """Moves all of one context to another (section 4.2)."""
    return Loop(source, (ELEMENT,), Load((Var(ELEMENT),), target, Continue()), then)


def copy(source: ContextIndex, scratch: ContextIndex, target: ContextIndex, then: Formula) -> Formula:
    """Adds all of a context to another and leaves it as it was; `scratch` is empty before and after."""
    both = Load((Var(ELEMENT),), scratch, Load((Var(ELEMENT),), target, Continue()))
    return Loop(source, (ELEMENT,), both, move(scratch, source, then))
