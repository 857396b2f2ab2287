"""The built-in functors: their names, how they are written, and their typed variants.

One table serves the parsers, the type checker and every executor. A functor with several signatures is
overloaded; the checker picks the signature whose kinds fit.
"""

from __future__ import annotations

from tidelog.plain import dataclass
from tidelog.values import Kind

N, U, F, S, R = Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL, Kind.RECORD


@dataclass(frozen=True, slots=True)
class Signature:
    params: tuple[Kind, ...]
    result: Kind
    variadic: bool = False  # the last parameter may be repeated


@dataclass(frozen=True, slots=True)
class FunctorInfo:
    """`style` is infix, prefix or call; `many` marks functors that give several values (range)."""

    name: str
    signatures: tuple[Signature, ...]
    style: str = "call"
    many: bool = False


def _same(kinds: tuple[Kind, ...], arity: int, variadic: bool = False) -> tuple[Signature, ...]:
    return tuple(Signature((k,) * arity, k, variadic) for k in kinds)


NUMERIC = (N, U, F)
INTEGER = (N, U)

MATHEMATICAL = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "log", "exp",
)  # fmt: skip
"""Not keywords: relations, variables and attributes may have these names."""

FUNCTORS: dict[str, FunctorInfo] = {
    f.name: f
    for f in (
        FunctorInfo("+", _same((*NUMERIC, S), 2), "infix"),  # of symbols: one after the other
        *(FunctorInfo(op, _same(NUMERIC, 2), "infix") for op in ("-", "*", "/", "^")),
        FunctorInfo("%", _same(INTEGER, 2), "infix"),
        *(FunctorInfo(op, _same(INTEGER, 2), "infix") for op in ("band", "bor", "bxor", "bshl", "bshr", "bshru")),
        *(FunctorInfo(op, _same(INTEGER, 2), "infix") for op in ("land", "lor", "lxor")),
        FunctorInfo("neg", _same((N, F), 1), "prefix"),  # written "-"
        FunctorInfo("bnot", _same(INTEGER, 1), "prefix"),
        FunctorInfo("lnot", _same(INTEGER, 1), "prefix"),
        *(FunctorInfo(op, _same((*NUMERIC, S), 2, variadic=True)) for op in ("min", "max")),
        FunctorInfo("cat", (Signature((S,), S, variadic=True),)),
        FunctorInfo("strlen", (Signature((S,), N),)),
        FunctorInfo("substr", (Signature((S, N, N), S),)),
        FunctorInfo("ord", tuple(Signature((k,), N) for k in (S, N, U, F, R))),
        FunctorInfo("to_number", tuple(Signature((k,), N) for k in (S, N, U, F))),
        FunctorInfo("to_unsigned", tuple(Signature((k,), U) for k in (S, N, U, F))),
        FunctorInfo("to_float", tuple(Signature((k,), F) for k in (S, N, U, F))),
        FunctorInfo("to_string", tuple(Signature((k,), S) for k in (S, N, U, F))),
        FunctorInfo("itou", (Signature((N,), U),)),
        FunctorInfo("itof", (Signature((N,), F),)),
        FunctorInfo("utoi", (Signature((U,), N),)),
        FunctorInfo("utof", (Signature((U,), F),)),
        FunctorInfo("ftoi", (Signature((F,), N),)),
        FunctorInfo("ftou", (Signature((F,), U),)),
        *(FunctorInfo(name, _same(NUMERIC, 1)) for name in MATHEMATICAL),
        FunctorInfo("range", tuple(Signature((k, k), k, variadic=True) for k in NUMERIC), many=True),
    )
}

AGGREGATES = ("count", "sum", "min", "max", "mean")
"""count takes no target; sum, min and max give the target's kind, mean a float."""
