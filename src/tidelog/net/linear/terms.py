"""Terms of the logic, and the indexes of its subexponentials.

A term is a value of Network Datalog, a list (tuple) of terms, a variable, a function applied to terms, or the encoding
of a delta-rule, which is a constant. Functions are computed only where a function relation is decided (`evaluate`).

An index l names the context 𝒦[l]: for each relation p the view p, the updated view p^ν, the changed tuple Δp, the
auxiliary p_aux^i; the bags upd, picked, exec; rules, queryLoc; the maximal ∞ and minimal -∞; and for each set ℐ of
indexes the index `hat(ℐ)` that can only be banged when all contexts of ℐ are empty (paper 004, section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from tidelog.net.functions import FUNCTIONS
from tidelog.net.values import Value, show
from tidelog.plain import dataclass

Term: TypeAlias = "Value | Var | Apply | DeltaRule | tuple[Term, ...]"
INS, DEL = "INS", "DEL"
PRIME = "'"
"""Stands between a variable's name and the number that makes it different from all others."""


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class Apply:
    """A function of NDlog applied to terms; it has a value when its arguments have."""

    op: str
    args: tuple[Any, ...]


class ContextIndex(NamedTuple):
    """`of` is the relation (a name or a variable), or the indexes of a hat."""

    kind: str
    of: Any = None
    number: int = 0

    def __str__(self) -> str:
        name = show_term(self.of) if isinstance(self.of, Var) else self.of
        match self.kind:
            case "view":
                return str(name)
            case "ν":
                return f"{name}^ν"
            case "Δ":
                return f"Δ{name}"
            case "aux":
                return f"{name}_aux^{self.number}"
            case "hat":
                return "test" if self == TEST else f"hat({','.join(map(str, self.of))})"
        return self.kind


class ContextScan(NamedTuple):
    """A body atom of a delta-rule: the context that it reads and the pattern of its arguments."""

    source: ContextIndex
    pattern: tuple[Any, ...]


class Check(NamedTuple):
    """A function relation whose variables are all known: `left op right`."""

    op: str
    left: Any
    right: Any


class Assign(NamedTuple):
    """A function relation `name = value` that gives a variable its value."""

    name: str
    value: Any


@dataclass(frozen=True, eq=False)
class DeltaRule:
    """`sign(head) :- b_1^ν, …, Δb_i, …, b_n`; `name` is the rule's label and i."""

    name: str
    label: str
    sign: str
    head: str
    head_args: tuple[Any, ...]
    body: tuple[ContextScan | Check | Assign, ...]


UPD, PICKED, EXEC = ContextIndex("upd"), ContextIndex("picked"), ContextIndex("exec")
RULES, QUERY = ContextIndex("rules"), ContextIndex("queryLoc")
MAXIMAL, MINIMAL = ContextIndex("∞"), ContextIndex("-∞")
UNBOUNDED = frozenset({MAXIMAL, RULES})
"""The indexes that allow contraction and weakening; upward closed, as they must be."""


def view(name: Any) -> ContextIndex:
    return ContextIndex("view", name)


def updated(name: Any) -> ContextIndex:
    return ContextIndex("ν", name)


def delta(name: Any) -> ContextIndex:
    return ContextIndex("Δ", name)


def auxiliary(name: Any, number: int) -> ContextIndex:
    return ContextIndex("aux", name, number)


def hat(*indexes: ContextIndex) -> ContextIndex:
    """The index below all contexts but these."""
    return ContextIndex("hat", indexes)


TEST = hat(UPD, PICKED, EXEC)


def below(low: ContextIndex, high: ContextIndex) -> bool:
    """low ⪯ high. Not literally the paper's: a hat is not below -∞ or another hat, or it would be below everything."""
    if low in (high, MINIMAL) or high == MAXIMAL:
        return True
    return low.kind == "hat" and high.kind not in ("hat", "-∞") and high not in low.of


def is_value(term: Any) -> bool:
    """Whether the term holds no variable and no function."""
    if isinstance(term, tuple):
        return all(map(is_value, term))
    return not isinstance(term, (Var, Apply))


def variables(term: Any) -> list[str]:
    """The names of the variables in a term, in textual order, with repetitions."""
    found: list[str] = []
    pending = [term]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        elif isinstance(part, Var):
            found.append(part.name)
        elif isinstance(part, Apply):
            pending.append(part.args)
    return found


def substitute(term: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(term, Var):
        return values.get(term.name, term)
    if isinstance(term, ContextIndex):
        return ContextIndex(term.kind, substitute(term.of, values), term.number)
    if isinstance(term, tuple):
        return tuple(substitute(part, values) for part in term)
    if isinstance(term, Apply):
        return Apply(term.op, substitute(term.args, values))
    return term


def match(pattern: Any, value: Any) -> dict[str, Any] | None:
    """The values of the pattern's variables that make it this value; None if there are none."""
    found: dict[str, Any] = {}
    pending = [(pattern, value)]
    while pending:
        p, v = pending.pop()
        if isinstance(p, Var):
            if found.setdefault(p.name, v) != v:
                return None
        elif isinstance(p, tuple):
            if not isinstance(v, tuple) or len(p) != len(v):
                return None
            pending.extend(zip(p, v, strict=True))
        elif p != v:
            return None
    return found


def evaluate(term: Any) -> Value:
    """The value of a term without variables. `Undefined` or `WrongKind` if a function has none."""
    if isinstance(term, Apply):
        return FUNCTIONS[term.op].apply(*map(evaluate, term.args))
    if isinstance(term, tuple):
        return tuple(map(evaluate, term))
    return term  # type: ignore[no-any-return]


def show_term(term: Any) -> str:
    match term:
        case Var(name=name):
            return name.split(PRIME)[0]
        case DeltaRule(name=name):
            return name
        case tuple():
            return f"[{','.join(map(show_term, term))}]"
        case Apply(op=op, args=args):
            return f"{op}({','.join(map(show_term, args))})"
    return show(term) if term not in (INS, DEL) else str(term)


def show_terms(terms: Iterable[Any]) -> str:
    return f"⟨{', '.join(map(show_term, terms))}⟩"
