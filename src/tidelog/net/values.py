"""Ground values, facts and updates of Network Datalog.

A value is a number, a text, or a list of values (a path is a list of nodes). Truth is the text `true` or `false`, as
in the papers' `f_inPath(P2,S)=false`. One number is one value: a float without a fraction is the integer, so that two
facts are equal exactly when they look equal. An update ⟨U,p⟩ (paper 000, section 2.3) inserts or deletes one copy of a
fact; with the algorithm of section 5 it carries the annotation (S,H) of that copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from tidelog.errors import InternalError
from tidelog.lang import tree
from tidelog.lang.ndlog_printer import print_term

Value: TypeAlias = "int | float | str | tuple[Value, ...]"

TRUE, FALSE = "true", "false"


class Fact(NamedTuple):
    """A ground atom."""

    name: str
    args: tuple[Value, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(show, self.args))})" if self.args else self.name


class Annotation(NamedTuple):
    """The derivation set S and the infinite-count set H of section 5, as numbers of a `sets.FactSets`.

    `worst` is the worst value of a recursive min or max that the derivation needs (see `supports`).
    """

    support: int
    infinite: int
    worst: Value | None = None


class Update(NamedTuple):
    """⟨+,p⟩ or ⟨-,p⟩; `sign` is +1 or -1."""

    sign: int
    fact: Fact
    tag: Annotation | None = None

    @property
    def complement(self) -> Update:
        """ū of section 4.3: the update that undoes this one."""
        return Update(-self.sign, self.fact, self.tag)

    def __str__(self) -> str:
        return f"{'+' if self.sign > 0 else '-'}{self.fact}"


def normal(value: float | int) -> float | int:
    """The one representation of a number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def truth(holds: bool) -> str:
    return TRUE if holds else FALSE


def show(value: Value) -> str:
    """The value as the NDlog dialect writes it."""
    return print_term(term_of(value))


def term_of(value: Value) -> tree.Term:
    match value:
        case str():
            return tree.String(value)
        case tuple():
            return tree.Record(tuple(map(term_of, value)))
        case int():
            return tree.Number(value)
        case float():
            return tree.Float(value)
    raise InternalError(f"{value!r} is no value")


def value_of(term: tree.Term) -> Value | None:
    """The value of a constant term; None if the term is not constant."""
    match term:
        case tree.String(value=text):
            return text
        case tree.Number(value=number) | tree.Float(value=number):
            return normal(number)
        case tree.Record(args=args):
            values = tuple(map(value_of, args))
            return None if any(v is None for v in values) else values  # type: ignore[return-value]
    return None


def fact_of(atom: tree.Atom) -> Fact | None:
    """The fact that an atom without variables states; None if it has any."""
    values = tuple(map(value_of, atom.args))
    return None if any(v is None for v in values) else Fact(atom.name, values)  # type: ignore[arg-type]


def order_key(value: Value) -> tuple[int, object]:
    """Sorts values of all kinds: numbers, texts, lists."""
    if isinstance(value, str):
        return 1, value
    if isinstance(value, tuple):
        return 2, tuple(map(order_key, value))
    return 0, value


def fact_order(fact: Fact) -> tuple[str, tuple[tuple[int, object], ...]]:
    return fact.name, tuple(map(order_key, fact.args))


def show_counts(facts: Mapping[Fact, int]) -> str:
    """`{p(a), q(b) × 3}`."""
    return "{" + ", ".join(sorted(str(f) if n == 1 else f"{f} × {n}" for f, n in facts.items())) + "}"
