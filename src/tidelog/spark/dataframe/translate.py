"""Plans to DataFrames: every step of `plan/steps.py` is a DataFrame operation.

Bindings are a frame with a column `s3` for slot 3; a slot for the number of a row is two columns, `b3` and `w3`: in
which iterations the tuple is before the update and now. A match renames what it needs of the relation, so that no two
columns of a join have the same name. Nothing runs here: the frame that comes out is lazy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from tidelog.errors import InternalError
from tidelog.plan import steps
from tidelog.plan.liveness import reads
from tidelog.plan.steps import Operand, Slot, View
from tidelog.spark.dataframe import arithmetic, functors
from tidelog.spark.dataframe.aggregates import fold, has_value_without_matches
from tidelog.spark.dataframe.records import is_record, pack, unpack
from tidelog.spark.dataframe.tables import ALONE, column
from tidelog.spark.dataframe.values import SPARK_TYPES, constant
from tidelog.values import Kind

BEFORE, NOW = "_b", "_w"
NEVER = 2**31 - 1
"""The iteration of a tuple that is not there."""

Relations = Callable[[str, View], DataFrame]
"""The tuples that a plan sees of a relation: columns c0, c1, …, and in an update `_b` and `_w`. There, ALL are the tuples
of both states."""


@dataclass
class Surroundings:
    """What the plans of a program share. `counter` is the next number of autoinc()."""

    spark: SparkSession
    kinds: Mapping[str, tuple[Kind, ...]]
    functors: Mapping[str, Callable[..., Any]]
    functor_kinds: Mapping[str, tuple[tuple[Kind, ...], Kind]]
    counter: int = 0
    names: Any = field(default_factory=count)

    def one(self) -> DataFrame:
        """One binding of nothing."""
        return self.spark.range(0, 1, 1, 1).select(F.lit(True).alias(ALONE))


class Translation:
    """One plan over some relations, in an iteration."""

    def __init__(self, surroundings: Surroundings, plan: steps.Plan, relations: Relations, iteration: int = 0) -> None:
        self.surroundings, self.plan, self.relations, self.iteration = surroundings, plan, relations, iteration
        self.kinds = [kind for _, kind in plan.slots]

    def heads(self) -> DataFrame:
        """The tuples that the plan derives, each as often as it does: columns c0, c1, …"""
        bindings = self.run(self.plan.steps[:-1], None)
        last = self.plan.steps[-1]
        assert isinstance(last, steps.Emit)
        return self.emitted(bindings, last.args)

    def filed(self, keep: Callable[[tuple[steps.Part, ...]], Column]) -> DataFrame:
        """The heads of those derivations that `keep` chooses by their parts' iterations."""
        bindings = self.run(self.plan.steps[:-1], None)
        last = self.plan.steps[-1]
        assert isinstance(last, steps.File)
        parts = tuple(part for part in last.parts if part.role is not steps.Role.VALUE)
        return self.emitted(bindings.where(keep(parts)), last.args)

    def emitted(self, bindings: DataFrame, args: tuple[Operand, ...]) -> DataFrame:
        columns = [self.value(arg).alias(column(i)) for i, arg in enumerate(args)]
        return bindings.select(*(columns or [F.lit(True).alias(ALONE)]))

    def run(self, plan_steps: tuple[steps.Step, ...], bindings: DataFrame | None) -> DataFrame:
        """The bindings after the steps; None stands for one binding of nothing."""
        for step in plan_steps:
            if isinstance(step, steps.Scan) and bindings is None:
                bindings = self.matched(step.match)
            else:
                bindings = self.step(step, self.surroundings.one() if bindings is None else bindings)
        return self.surroundings.one() if bindings is None else bindings

    def step(self, step: steps.Step, bindings: DataFrame) -> DataFrame:
        match step:
            case steps.Scan(match=match) | steps.Probe(match=match):
                return self.join(bindings, match, "inner")
            case steps.Exists(match=match):
                return self.join(bindings, match, "left_semi")
            case steps.Absent(match=match):
                return self.absent(bindings, match)
            case steps.Filter():
                return bindings.where(self.condition(step))
            case steps.Compute(target=target, op=op, kind=kind, args=args, arg_kinds=kinds):
                return self.bind(bindings, target, self.computed(op, kind, args, kinds))
            case steps.Call(target=target, functor=name, args=args):
                return self.bind(bindings, target, self.called(name, args))
            case steps.Generate(target=target, kind=kind, args=args):
                return self.bind(bindings, target, F.explode(self.generated(kind, args)))
            case steps.Pack(target=target, fields=fields):
                kinds = tuple(map(self.kind, fields))
                return self.bind(bindings, target, pack([self.value(f) for f in fields], kinds))
            case steps.Unpack():
                return self.unpacked(bindings, step)
            case steps.Fresh(target=target):
                return self.numbered(bindings, target)
            case steps.CurrentIteration(target=target):
                return self.bind(bindings, target, F.lit(self.iteration).cast("bigint"))
            case steps.Aggregate():
                return self.aggregated(bindings, step)
        raise InternalError(f"{type(step).__name__} inside a plan")

    # ---- values

    def kind(self, operand: Operand) -> Kind:
        return self.kinds[operand.index] if isinstance(operand, Slot) else operand.kind

    def value(self, operand: Operand) -> Column:
        return F.col(f"s{operand.index}") if isinstance(operand, Slot) else constant(operand)

    def bind(self, bindings: DataFrame, target: int, value: Column) -> DataFrame:
        return bindings.select("*", value.alias(f"s{target}"))

    def condition(self, step: steps.Filter) -> Column:
        left, right = self.value(step.left), self.value(step.right)
        found = arithmetic.compare(step.op, step.kind, left, right)
        return functors.matches(step.op, left, right) if found is None else found

    def computed(self, op: str, kind: Kind, args: tuple[Operand, ...], kinds: tuple[Kind, ...]) -> Column:
        values = [self.value(arg) for arg in args]
        kinds = (*kinds, *kinds[-1:] * (len(args) - len(kinds)))  # the last parameter may be repeated
        found = arithmetic.compute(self.plan.rule, op, kind, values, kinds)
        return functors.compute(self.plan.rule, op, kind, values, kinds) if found is None else found

    def called(self, name: str, args: tuple[Operand, ...]) -> Column:
        kinds, result = self.surroundings.functor_kinds[name]
        function = self.surroundings.functors[name]
        return functors.call(self.plan.rule, name, function, [self.value(arg) for arg in args], kinds, result)

    def generated(self, kind: Kind, args: tuple[Operand, ...]) -> Column:
        values = [self.value(arg) for arg in args]
        if kind is Kind.NUMBER:
            return arithmetic.numbers(values[0], values[1], values[2] if len(values) > 2 else None)
        return functors.floats_in_range(kind, values)

    def unpacked(self, bindings: DataFrame, step: steps.Unpack) -> DataFrame:
        record = self.value(step.record)
        found = bindings.where(is_record(record, step.arity))
        for place, operand in step.checks:
            found = found.where(unpack(record, step.arity, place, self.kind(operand)) == self.value(operand))
        taken = [unpack(record, step.arity, i, self.kinds[s]).alias(f"s{s}") for i, s in step.outputs]
        return found.select("*", *taken)

    def numbered(self, bindings: DataFrame, target: int) -> DataFrame:
        """Numbers of the counter, in the order of the bindings: the same bindings get the same numbers."""
        bound = {operand.index for step in self.plan.steps for operand in _written(step)} - {target}
        order = [F.col(f"s{slot}") for slot in sorted(bound)] or [F.lit(0)]
        number = F.row_number().over(Window.orderBy(*order)) + F.lit(self.surroundings.counter - 1)
        return self.bind(bindings, target, number.cast("bigint"))

    # ---- atoms

    def matched(self, match: steps.Match, keys: Mapping[int, str] | None = None) -> DataFrame:
        """The tuples that fit what is constant in a match: its outputs, and the key columns under other names."""
        found = self.relations(match.relation, match.view)
        for place, operand in match.key:
            if not isinstance(operand, Slot):
                found = found.where(F.col(column(place)) == constant(operand))
        for one, other in match.same:
            found = found.where(F.col(column(one)) == F.col(column(other)))
        for bound in match.bounds:
            if not isinstance(bound.operand, Slot):
                found = found.where(_holds(bound, F.col(column(bound.column)), constant(bound.operand)))
        columns = [F.col(column(place)).alias(name) for place, name in (keys or {}).items()]
        columns += self.outputs(match)
        return found.select(*(columns or [F.lit(True).alias(f"a{next(self.surroundings.names)}")]))

    def outputs(self, match: steps.Match) -> list[Column]:
        arity = len(self.surroundings.kinds[match.relation])
        found = [F.col(column(c)).alias(f"s{slot}") for c, slot in match.outputs if c < arity]
        rows = [slot for c, slot in match.outputs if c == arity]  # a diff has the number of the row as last column
        if match.row is not None:
            rows.append(match.row)
        return found + [F.col(name).alias(f"{name[1]}{row}") for row in rows for name in (BEFORE, NOW)]

    def join(self, bindings: DataFrame, match: steps.Match, how: str) -> DataFrame:
        number = next(self.surroundings.names)
        needed = {place for place, operand in match.key if isinstance(operand, Slot)}
        needed |= {bound.column for bound in match.bounds if isinstance(bound.operand, Slot)}
        keys = {place: f"k{number}_{place}" for place in sorted(needed)}
        found = self.matched(match, keys)
        conditions = [
            self.value(operand) == F.col(keys[place]) for place, operand in match.key if isinstance(operand, Slot)
        ]
        conditions += [
            _holds(bound, F.col(keys[bound.column]), self.value(bound.operand))
            for bound in match.bounds
            if isinstance(bound.operand, Slot)
        ]
        if not conditions:
            return self.unconditional(bindings, found, how)
        joined = bindings.join(found, reduce(Column.__and__, conditions), how)
        return joined.drop(*keys.values()) if how not in ("left_semi", "left_anti") else joined

    def unconditional(self, bindings: DataFrame, found: DataFrame, how: str) -> DataFrame:
        if how == "inner":
            return bindings.crossJoin(found)
        return bindings.join(found.limit(1), F.lit(True), how)

    def absent(self, bindings: DataFrame, match: steps.Match) -> DataFrame:
        if match.row is None:
            return self.join(bindings, match, "left_anti")
        before, now = f"b{match.row}", f"w{match.row}"
        joined = self.join(bindings, replace(match, view=View.ALL), "left")
        seen = before if match.view is View.BEFORE else now
        filled = {c: F.coalesce(F.col(c), F.lit(NEVER)) for c in (before, now)}
        return joined.withColumns(filled).where(F.col(seen) == NEVER)

    # ---- aggregates

    def aggregated(self, bindings: DataFrame, step: steps.Aggregate) -> DataFrame:
        """The matches of the body for each distinct group, folded, and joined with the bindings."""
        injected = [f"s{slot}" for slot in sorted(reads(step))]
        groups = bindings.select(*injected).distinct() if injected else self.surroundings.one()
        matches = self.run(step.body, groups)
        value = None if step.value is None else self.value(step.value)
        folded = fold(step.op, step.kind, value).alias(f"s{step.target}")
        if not injected:
            return bindings.crossJoin(matches.agg(folded).where(F.col(f"s{step.target}").isNotNull()))
        number = next(self.surroundings.names)
        keys = {name: f"g{number}_{name}" for name in injected}
        values = matches.groupBy(*(F.col(name).alias(key) for name, key in keys.items())).agg(folded)
        same = reduce(Column.__and__, (F.col(name) == F.col(key) for name, key in keys.items()))
        if not has_value_without_matches(step.op):
            return bindings.join(values, same, "inner").drop(*keys.values())
        joined = bindings.join(values, same, "left").drop(*keys.values())
        zero = F.lit(0).cast(SPARK_TYPES[Kind.NUMBER if step.op == "count" else step.kind])
        return joined.withColumn(f"s{step.target}", F.coalesce(F.col(f"s{step.target}"), zero))


def _holds(bound: steps.Bound, value: Column, operand: Column) -> Column:
    found = arithmetic.compare(bound.op, bound.kind, value, operand)
    assert found is not None
    return found


def _written(step: steps.Step) -> list[Slot]:
    """The slots that a plan binds at its top level."""
    match step:
        case steps.Scan(match=match) | steps.Probe(match=match):
            return [Slot(slot) for _, slot in match.outputs]
        case steps.Unpack(outputs=outputs):
            return [Slot(slot) for _, slot in outputs]
    target = getattr(step, "target", None)
    return [] if target is None else [Slot(target)]
