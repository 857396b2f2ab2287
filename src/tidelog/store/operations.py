"""Names of comparisons and functors, as the kernels number them, and which steps a pipeline can hold."""

from __future__ import annotations

from tidelog.plan.steps import (
    Absent,
    Compute,
    CurrentIteration,
    Emit,
    Exists,
    Filter,
    Fold,
    Generate,
    Offer,
    Pack,
    Probe,
    Rank,
    Scan,
    Step,
    Tell,
    Unpack,
)  # fmt: skip
from tidelog.store import codes
from tidelog.values import Kind

COMPARISONS = {
    "=": codes.EQ,
    "==": codes.EQ,
    "!=": codes.NE,
    "<": codes.LT,
    "<=": codes.LE,
    ">": codes.GT,
    ">=": codes.GE,
}
VALUE_KINDS = {
    Kind.NUMBER: codes.SIGNED,
    Kind.UNSIGNED: codes.UNSIGNED,
    Kind.FLOAT: codes.FLOAT,
    Kind.SYMBOL: codes.SIGNED,
    Kind.RECORD: codes.SIGNED,
}
OPERATIONS = (
    "+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl", "bshr", "bshru", "bnot", "land", "lor", "lxor",
    "lnot", "neg", "min", "max", "itou", "utoi", "itof", "utof", "ftoi", "ftou", "copy", "reread",
)  # fmt: skip
_CODES = {name: code for code, name in enumerate(OPERATIONS)}
COPY = _CODES["copy"]
_N, _U, _F = Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT
_CONVERSIONS = {
    ("to_number", _N): "copy", ("to_number", _U): "utoi", ("to_number", _F): "ftoi",
    ("to_unsigned", _N): "itou", ("to_unsigned", _U): "copy", ("to_unsigned", _F): "ftou",
    ("to_float", _N): "itof", ("to_float", _U): "utof", ("to_float", _F): "copy",
}  # fmt: skip


def operation(step: Compute) -> int | None:
    """The kernels' number of a functor, or None if they have none for these kinds."""
    kind = step.arg_kinds[0] if step.arg_kinds else step.kind
    name = _CONVERSIONS.get((step.op, kind), step.op)
    if name == "ord" and kind is not Kind.FLOAT:
        name = "copy"
    if kind is Kind.SYMBOL and name != "copy":
        return None
    return _CODES.get(name)


def is_native(step: Step) -> bool:
    """Whether a pipeline can hold the step."""
    match step:
        case Filter(op, kind):
            return op in COMPARISONS and (kind is not Kind.SYMBOL or COMPARISONS[op] in (codes.EQ, codes.NE))
        case Compute():
            return operation(step) is not None
        case Scan(m) | Probe(m) | Exists(m) | Absent(m):
            return all(b.kind is not Kind.SYMBOL for b in m.bounds)
    return isinstance(step, Emit | Fold | Generate | Pack | Unpack | CurrentIteration | Tell | Rank | Offer)
