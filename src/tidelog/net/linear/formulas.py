"""Formulas of linear logic with subexponentials, in negation normal form, as data.

Atoms are negative and their negations positive, so that focusing on (l t)^⊥ must find l t in its context at once: this
is what makes `unload` a step of an algorithm. An atom's predicate is the index of the context it is stored in, as in
Fig. 2 of paper 004. Formulas compare by content; substitution never captures, because only values are put in.

Beyond the connectives there are equality and the tests that decide function relations (positive, provable like 1 when
they hold) and definitions, which stand for the formula that `unfold` gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, ClassVar

from tidelog.net.functions import COMPARISONS, Undefined
from tidelog.net.linear.terms import (
    ContextIndex,
    evaluate,
    is_value,
    match,
    show_term,
    show_terms,
    substitute,
    variables,
)
from tidelog.plain import dataclass, fields

CONTINUATION = "κ"


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


@dataclass(frozen=True)
class Formula:
    positive: ClassVar[bool | None] = True
    """Whether focus stays on it; None for a definition that is unfolded wherever it is met."""

    def _names(self) -> tuple[str, ...]:
        kind: Any = type(self)
        return _field_names(kind)

    @property
    def bound(self) -> frozenset[str]:
        return frozenset()

    @cached_property
    def free(self) -> frozenset[str]:
        """The names of the variables that are free in it, the continuation included."""
        found: set[str] = set()
        for name in self._names():
            value = getattr(self, name)
            found.update(value.free if isinstance(value, Formula) else variables(value))
        return frozenset(found) - self.bound

    @property
    def title(self) -> str:
        """The formula, or for a definition its name and arguments without what comes after it."""
        return str(self)

    def substitute(self, values: Mapping[str, Any]) -> Formula:
        """The formula with these terms (for the continuation: this formula) in place of its free variables."""
        if self.free.isdisjoint(values):
            return self
        inner = {n: v for n, v in values.items() if n not in self.bound}
        return type(self)(*(_put(getattr(self, name), inner) for name in self._names()))


def _put(value: Any, values: Mapping[str, Any]) -> Any:
    return value.substitute(values) if isinstance(value, Formula) else substitute(value, values)


@dataclass(frozen=True)
class AtomFormula(Formula):
    """l t_1 … t_n"""

    positive = False
    index: ContextIndex
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.index}{show_terms(self.args)}" if self.args else str(self.index)


@dataclass(frozen=True)
class Dual(Formula):
    """(l t_1 … t_n)^⊥"""

    atom: AtomFormula

    def __str__(self) -> str:
        return f"({self.atom})^⊥"


@dataclass(frozen=True)
class One(Formula):
    def __str__(self) -> str:
        return "1"


@dataclass(frozen=True)
class Zero(Formula):
    def __str__(self) -> str:
        return "0"


@dataclass(frozen=True)
class Bottom(Formula):
    positive = False

    def __str__(self) -> str:
        return "⊥"


@dataclass(frozen=True)
class Top(Formula):
    positive = False

    def __str__(self) -> str:
        return "⊤"


@dataclass(frozen=True)
class _Binary(Formula):
    sign: ClassVar[str]
    left: Formula
    right: Formula

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


@dataclass(frozen=True)
class Tensor(_Binary):
    sign = "⊗"


@dataclass(frozen=True)
class Plus(_Binary):
    sign = "⊕"


@dataclass(frozen=True)
class Par(_Binary):
    positive = False
    sign = "⅋"


@dataclass(frozen=True)
class With(_Binary):
    positive = False
    sign = "&"


@dataclass(frozen=True)
class _Quantified(Formula):
    sign: ClassVar[str]
    names: tuple[str, ...]
    body: Formula

    @property
    def bound(self) -> frozenset[str]:
        return frozenset(self.names)

    def __str__(self) -> str:
        return f"{self.sign}{','.join(self.names)}.{self.body}"


@dataclass(frozen=True)
class ThereIs(_Quantified):
    sign = "∃"


@dataclass(frozen=True)
class Forall(_Quantified):
    positive = False
    sign = "∀"


@dataclass(frozen=True)
class _Exponential(Formula):
    sign: ClassVar[str]
    index: ContextIndex
    body: Formula

    def __str__(self) -> str:
        return f"{self.sign}^{{{self.index}}} {self.body}"


@dataclass(frozen=True)
class Bang(_Exponential):
    sign = "!"


@dataclass(frozen=True)
class Quest(_Exponential):
    positive = False
    sign = "?"


@dataclass(frozen=True)
class Test(Formula):
    """Something decided, not derived: provable from nothing when it holds, for the values that `solve` gives.

    `rule` is the label of the NDlog rule that it is part of, for messages.
    """

    __test__ = False  # not a test of pytest

    @property
    def label(self) -> str | None:
        return getattr(self, "rule", None)

    def solve(self) -> dict[str, Any] | None:
        raise NotImplementedError


@dataclass(frozen=True)
class Equal(Test):
    """`left = right` after computing the functions in them; variables of the right take what makes them equal."""

    left: Any
    right: Any
    rule: str | None = None

    def solve(self) -> dict[str, Any] | None:
        try:
            return match(self.right if is_value(self.right) else _computed(self.right), evaluate(self.left))
        except Undefined:
            return None

    def __str__(self) -> str:
        return f"{show_term(self.right)} = {show_term(self.left)}"


def _computed(pattern: Any) -> Any:
    return pattern if variables(pattern) else evaluate(pattern)


@dataclass(frozen=True)
class Unmatched(Test):
    """`left ≢ right`: no values of the variables of the right, which are bound here, make it equal to the left."""

    left: Any
    right: Any

    @property
    def bound(self) -> frozenset[str]:
        return frozenset(variables(self.right))

    def solve(self) -> dict[str, Any] | None:
        return {} if match(self.right, self.left) is None else None

    def __str__(self) -> str:
        return f"{show_term(self.right)} ≢ {show_term(self.left)}"


@dataclass(frozen=True)
class Compared(Test):
    """A function relation `left op right` that must hold or, if not `holds`, must not hold or have no value."""

    op: str
    left: Any
    right: Any
    holds: bool = True
    rule: str | None = None

    def solve(self) -> dict[str, Any] | None:
        try:
            return {} if COMPARISONS[self.op](evaluate(self.left), evaluate(self.right)) is self.holds else None
        except Undefined:
            return None if self.holds else {}

    def __str__(self) -> str:
        text = f"{show_term(self.left)} {self.op} {show_term(self.right)}"
        return text if self.holds else f"not {text}"


@dataclass(frozen=True)
class NoValue(Test):
    """The term's functions have no value here."""

    term: Any
    rule: str | None = None

    def solve(self) -> dict[str, Any] | None:
        try:
            evaluate(self.term)
        except Undefined:
            return {}
        return None

    def __str__(self) -> str:
        return f"{show_term(self.term)} undefined"


@dataclass(frozen=True)
class Continue(Formula):
    """The continuation that a loop passes to its body."""

    positive = None

    @cached_property
    def free(self) -> frozenset[str]:
        return frozenset({CONTINUATION})

    def substitute(self, values: Mapping[str, Any]) -> Formula:
        found = values.get(CONTINUATION, self)
        return found if isinstance(found, Formula) else self

    def __str__(self) -> str:
        return CONTINUATION


@dataclass(frozen=True)
class Definition(Formula):
    """A name for a formula; the rule `def` replaces it."""

    @cached_property
    def unfolded(self) -> Formula:
        """What `unfold` gives, made once: a loop meets itself again in every round."""
        return self.unfold()

    def unfold(self) -> Formula:
        raise NotImplementedError
