"""Steps evaluated one binding at a time, in Python: obviously correct, and what the pipelines are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tidelog.plan.steps import (
    Absent,
    Compute,
    Const,
    CurrentIteration,
    Emit,
    Exists,
    Filter,
    Generate,
    Kind,
    Match,
    Operand,
    Pack,
    Probe,
    Scan,
    Slot,
    Step,
    Unpack,
    View,
)  # fmt: skip

Row = tuple[int, ...]
Binding = dict[int, int]
LIMIT = 2**64


def wrap(value: int) -> int:
    return (value + 2**63) % LIMIT - 2**63


def compare(op: str, kind: Kind, a: int, b: int) -> bool:
    if kind is Kind.UNSIGNED:
        a, b = a % LIMIT, b % LIMIT
    return {"=": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]


def numbers(start: int, stop: int, step: int) -> Iterable[int]:
    """Soufflé's range: a step of zero gives the start alone."""
    if step == 0:
        return [start] if start != stop else []
    return range(start, stop, step)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def compute(op: str, kind: Kind, args: Sequence[int]) -> int:
    a, b = args[0], args[-1]
    if kind is Kind.UNSIGNED:
        args = [x % LIMIT for x in args]
        a, b = args[0], args[-1]
    table = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: quotient(a, b),
        "%": lambda: a - quotient(a, b) * b, "band": lambda: a & b, "bor": lambda: a | b, "bxor": lambda: a ^ b,
        "bshl": lambda: a << (b & 63), "bshr": lambda: a >> (b & 63), "bshru": lambda: (a % LIMIT) >> (b & 63),
        "bnot": lambda: ~a, "land": lambda: int(bool(a) and bool(b)), "lor": lambda: int(bool(a) or bool(b)),
        "lxor": lambda: int(bool(a) != bool(b)), "lnot": lambda: int(not a), "neg": lambda: -a,
        "min": lambda: min(args), "max": lambda: max(args), "^": lambda: pow(a, b, LIMIT),
    }  # fmt: skip
    return wrap(table[op]())


class Naive:
    """Relations as (old, delta, running) lists of rows."""

    def __init__(self, relations: dict[str, tuple[list[Row], list[Row], list[Row]]]) -> None:
        self.relations = relations
        self.records: list[Row] = [()]
        self.derived: list[tuple[str, Row]] = []

    def rows(self, match: Match) -> list[Row]:
        old, delta, _ = self.relations[match.relation]
        return {View.OLD: old, View.DELTA: delta, View.ALL: old + delta}[match.view]

    def value(self, operand: Operand, binding: Binding) -> int:
        return wrap(int(operand.value)) if isinstance(operand, Const) else binding[operand.index]

    def matches(self, match: Match, binding: Binding) -> Iterator[Row]:
        for row in self.rows(match):
            if (
                all(row[c] == self.value(o, binding) for c, o in match.key)
                and all(row[a] == row[b] for a, b in match.same)
                and all(compare(b.op, b.kind, row[b.column], self.value(b.operand, binding)) for b in match.bounds)
            ):
                yield row

    def run(self, steps: Sequence[Step], bindings: Sequence[Binding] = ({},)) -> list[Binding]:
        now = list(bindings)
        for step in steps:
            now = [b for binding in now for b in self.step(step, binding)]
        return now

    def step(self, step: Step, binding: Binding) -> Iterator[Binding]:
        match step:
            case Scan(m) | Probe(m):
                for row in self.matches(m, binding):
                    yield binding | {s: row[c] for c, s in m.outputs}
            case Exists(m):
                if any(True for _ in self.matches(m, binding)):
                    yield binding
            case Absent(m):
                if not any(True for _ in self.matches(m, binding)):
                    yield binding
            case Filter(op, kind, left, right):
                if compare(op, kind, self.value(left, binding), self.value(right, binding)):
                    yield binding
            case Compute(target, op, kind, args):
                yield binding | {target: compute(op, kind, [self.value(a, binding) for a in args])}
            case Generate(target, _, args):
                start, stop, *by = (self.value(a, binding) for a in args)
                for v in numbers(start, stop, by[0] if by else 1 if start <= stop else -1):
                    yield binding | {target: v}
            case Pack(target, fields):
                row = tuple(self.value(f, binding) for f in fields)
                if row not in self.records:
                    self.records.append(row)
                yield binding | {target: self.records.index(row)}
            case Unpack(record, arity, outputs, checks):
                number = self.value(record, binding)
                if 0 < number < len(self.records):
                    row = self.records[number]
                    if len(row) == arity and all(row[f] == self.value(o, binding) for f, o in checks):
                        yield binding | {s: row[f] for f, s in outputs}
            case CurrentIteration(target):
                yield binding | {target: 0}
            case Emit(relation, args):
                self.derived.append((relation, tuple(self.value(a, binding) for a in args)))
            case _:
                raise TypeError(step)


def all_slots(count: int) -> tuple[Slot, ...]:
    return tuple(Slot(i) for i in range(count))
