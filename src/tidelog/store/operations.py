"""Names of comparisons and functors, as the kernels number them, and which steps a pipeline can hold."""

from __future__ import annotations

from tidelog.plan.steps import (
    Absent,
    Compute,
    CurrentIteration,
    Emit,
    Exists,
    File,
    Filter,
    Generate,
    Pack,
    Probe,
    Scan,
    Step,
    Unpack,
)  # fmt: skip
from tidelog.store import layout as y
from tidelog.values import Kind

COMPARISONS = {"=": y.EQ, "==": y.EQ, "!=": y.NE, "<": y.LT, "<=": y.LE, ">": y.GT, ">=": y.GE}
VALUE_KINDS = {
    Kind.NUMBER: y.SIGNED,
    Kind.UNSIGNED: y.UNSIGNED,
    Kind.FLOAT: y.FLOAT,
    Kind.SYMBOL: y.SIGNED,
    Kind.RECORD: y.SIGNED,
}
OPERATIONS = (
    "+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl", "bshr", "bshru", "bnot", "land", "lor", "lxor",
    "lnot", "neg", "min", "max", "itou", "utoi", "itof", "utof", "ftoi", "ftou", "copy",
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
            return op in COMPARISONS and (kind is not Kind.SYMBOL or COMPARISONS[op] in (y.EQ, y.NE))
        case Compute():
            return operation(step) is not None
        case Scan(m) | Probe(m) | Exists(m) | Absent(m):
            return all(b.kind is not Kind.SYMBOL for b in m.bounds)
    return isinstance(step, Emit | File | Generate | Pack | Unpack | CurrentIteration)
