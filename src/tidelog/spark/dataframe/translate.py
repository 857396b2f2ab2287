"""Plans to queries: every step of `plan/steps.py` is a relational operation.

Bindings are a query with a column `s3` for slot 3; a slot for the number of a row is two columns, `b3` and `w3`: in
which iterations the tuple is before the update and now. A match renames what it needs of the relation, so that no two
columns of a join have the same name. Nothing runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from tidelog.errors import InternalError
from tidelog.evaluate.user_functors import FunctorTypes
from tidelog.plain import dataclass, field, replace
from tidelog.plan import steps
from tidelog.plan.liveness import reads
from tidelog.plan.steps import Operand, Slot, View
from tidelog.spark.dataframe import arithmetic, functors
from tidelog.spark.dataframe.aggregates import fold, has_value_without_matches
from tidelog.spark.dataframe.records import is_record, pack, unpack
from tidelog.spark.dataframe.sql import Select, Sql, conjunction, of_frame, one_row
from tidelog.spark.dataframe.tables import ALONE, column
from tidelog.spark.dataframe.values import NOTHING, SPARK_TYPES, constant
from tidelog.values import Kind

BEFORE, NOW = "_b", "_w"
NEVER = 2**31 - 1
"""The iteration of a tuple that is not there."""

Relations = Callable[[str, View], Select]
"""The tuples that a plan sees of a relation, with columns c0, c1, …; in an update also `_b` and `_w`, and ALL are then
the tuples of both states."""


@dataclass
class Surroundings:
    """What the plans of a program share. `counter` is the next number of autoinc(); `tasks` is among how many tasks a
    join divides its rows, 0 if Spark is to say."""

    spark: SparkSession
    kinds: Mapping[str, tuple[Kind, ...]]
    functors: Mapping[str, Callable[..., Any]]
    functor_types: Mapping[str, FunctorTypes]
    counter: int = 0
    tasks: int = 0
    names: Any = field(default_factory=count)


ONE = one_row({ALONE: "true"})
"""One binding of nothing."""


class Translation:
    """One plan over some relations, in an iteration."""

    def __init__(self, surroundings: Surroundings, plan: steps.Plan, relations: Relations, iteration: int = 0) -> None:
        self.surroundings, self.plan, self.relations, self.iteration = surroundings, plan, relations, iteration
        self.kinds = [kind for _, kind in plan.slots]

    def heads(self) -> Select:
        """The tuples that the plan derives, each as often as it does: columns c0, c1, …"""
        bindings = self.run(self.plan.steps[:-1], ONE)
        last = self.plan.steps[-1]
        assert isinstance(last, steps.Emit)
        return self.emitted(bindings, last.args)

    def filed(self, keep: Callable[[tuple[steps.MatchedRow, ...]], Sql]) -> Select:
        """The heads of those derivations that `keep` chooses by their parts' iterations."""
        bindings = self.run(self.plan.steps[:-1], ONE)
        last = self.plan.steps[-1]
        assert isinstance(last, steps.File)
        parts = last.parts
        return self.emitted(bindings.where(keep(parts)), last.args)

    def emitted(self, bindings: Select, args: tuple[Operand, ...]) -> Select:
        return bindings.select({column(i): self.value(arg) for i, arg in enumerate(args)} or {ALONE: "true"})

    def run(self, plan_steps: tuple[steps.Step, ...], bindings: Select) -> Select:
        """The bindings after the steps."""
        for step in plan_steps:
            if isinstance(step, steps.Scan) and bindings is ONE:
                bindings = self.matched(step.match, {})
            else:
                bindings = self.step(step, bindings)
        return bindings

    def step(self, step: steps.Step, bindings: Select) -> Select:
        match step:
            case steps.Scan(match=match) | steps.Probe(match=match):
                return self.join(bindings, match, "INNER")
            case steps.Exists(match=match):
                return self.join(bindings, match, "LEFT SEMI")
            case steps.Absent(match=match):
                return self.absent(bindings, match)
            case steps.Filter():
                return self.filtered(bindings, step)
            case steps.Compute():
                return self.computed(bindings, step)
            case steps.Call(target=target, functor=name, args=args):
                return self.bind(bindings, target, self.called(name, args))
            case steps.Generate(target=target, kind=kind, args=args):
                return self.generated(bindings, target, kind, [self.value(arg) for arg in args])
            case steps.Pack(target=target, fields=fields):
                kinds = [self.kind(f) for f in fields]
                return self.bind(bindings, target, pack([self.value(f) for f in fields], kinds))
            case steps.Unpack():
                return self.unpacked(bindings, step)
            case steps.Fresh(target=target):
                return self.numbered(bindings, target)
            case steps.CurrentIteration(target=target):
                return self.bind(bindings, target, f"{self.iteration}L")
            case steps.AggregateStep():
                return self.aggregated(bindings, step)
        raise InternalError(f"{type(step).__name__} inside a plan")

    # ---- values

    def kind(self, operand: Operand) -> Kind:
        return self.kinds[operand.index] if isinstance(operand, Slot) else operand.kind

    def value(self, operand: Operand) -> Sql:
        return f"s{operand.index}" if isinstance(operand, Slot) else constant(operand)

    def bind(self, bindings: Select, target: int, value: Sql | Column) -> Select:
        """One more slot; a Python function, which has no text, is a step of its own."""
        if isinstance(value, Sql):
            return bindings.adding({f"s{target}": value})
        frame = bindings.frame(self.surroundings.spark).withColumn(f"s{target}", value)
        return of_frame(frame, (*bindings.columns, f"s{target}"), bindings.single)

    def filtered(self, bindings: Select, step: steps.Filter) -> Select:
        left, right = self.value(step.left), self.value(step.right)
        condition = arithmetic.compare(step.op, step.kind, left, right)
        if condition is not None:
            return bindings.where(condition)
        frame = bindings.frame(self.surroundings.spark).where(functors.matches(step.op, left, right))
        return of_frame(frame, bindings.columns, bindings.single)

    def computed(self, bindings: Select, step: steps.Compute) -> Select:
        values = [self.value(arg) for arg in step.args]
        kinds = (*step.arg_kinds, *step.arg_kinds[-1:] * (len(values) - len(step.arg_kinds)))  # the last may repeat
        found = arithmetic.compute(self.plan.rule, step.op, step.kind, values, kinds)
        python = functors.compute(self.plan.rule, step.op, step.kind, values, kinds) if found is None else found
        return self.bind(bindings, step.target, python)

    def called(self, name: str, args: tuple[Operand, ...]) -> Column:
        types = self.surroundings.functor_types[name]
        function, values = self.surroundings.functors[name], [self.value(arg) for arg in args]
        return functors.call(self.plan.rule, name, function, values, types.kinds, types.result.kind)

    def generated(self, bindings: Select, target: int, kind: Kind, args: list[Sql]) -> Select:
        if kind is Kind.NUMBER:
            values = arithmetic.numbers(args[0], args[1], args[2] if len(args) > 2 else None)
            return self.bind(bindings, target, f"explode({values})")
        return self.bind(bindings, target, F.explode(functors.values_in_range(kind, args)))

    def unpacked(self, bindings: Select, step: steps.Unpack) -> Select:
        record = self.value(step.record)
        conditions = [is_record(record, step.arity)]
        for place, operand in step.checks:
            conditions.append(f"{unpack(record, step.arity, place, self.kind(operand))} = {self.value(operand)}")
        taken = {f"s{s}": unpack(record, step.arity, i, self.kinds[s]) for i, s in step.outputs}
        return bindings.where(conjunction(conditions)).adding(taken)

    def numbered(self, bindings: Select, target: int) -> Select:
        """Numbers of the counter, in the order of the bindings: the same bindings get the same numbers."""
        order = ", ".join(bindings.columns)
        number = f"cast(row_number() OVER (ORDER BY {order}) + {self.surroundings.counter - 1} AS bigint)"
        return self.bind(bindings, target, number)

    # ---- atoms

    def matched(self, match: steps.Match, keys: Mapping[int, str]) -> Select:
        """The tuples that fit what is constant in a match: its outputs, and the key columns under other names."""
        conditions = [
            f"{column(place)} = {constant(operand)}" for place, operand in match.key if not isinstance(operand, Slot)
        ]
        conditions += [f"{column(one)} = {column(other)}" for one, other in match.same]
        conditions += [
            _holds(bound, column(bound.column), constant(bound.operand))
            for bound in match.bounds
            if not isinstance(bound.operand, Slot)
        ]
        found = self.relations(match.relation, match.view)
        if conditions:
            found = found.where(conjunction(conditions))
        columns = {name: column(place) for place, name in keys.items()} | self.outputs(match)
        return found.select(columns or {f"a{next(self.surroundings.names)}": "true"})

    def outputs(self, match: steps.Match) -> dict[str, Sql]:
        arity = len(self.surroundings.kinds[match.relation])
        found = {f"s{slot}": column(place) for place, slot in match.outputs if place < arity}
        rows = [slot for place, slot in match.outputs if place == arity]  # of a diff the last column is a row's number
        if match.row is not None:
            rows.append(match.row)
        for row in rows:
            found |= {f"b{row}": BEFORE, f"w{row}": NOW}
        return found

    def join(self, bindings: Select, match: steps.Match, how: str) -> Select:
        number = next(self.surroundings.names)
        needed = {place for place, operand in match.key if isinstance(operand, Slot)}
        needed |= {bound.column for bound in match.bounds if isinstance(bound.operand, Slot)}
        keys = {place: f"k{number}_{place}" for place in sorted(needed)}
        found = self.matched(match, keys)
        equal = [(f"s{o.index}", keys[place]) for place, o in match.key if isinstance(o, Slot)]
        sent = found.sent or (bindings.sent and how == "INNER")  # other joins can only send the right side
        if equal and self.surroundings.tasks and not sent:
            bindings = bindings.partitioned(self.surroundings.tasks, [slot for slot, _ in equal])
            found = found.partitioned(self.surroundings.tasks, [key for _, key in equal])
        conditions = [f"{slot} = {key}" for slot, key in equal]
        conditions += [
            _holds(bound, keys[bound.column], self.value(bound.operand))
            for bound in match.bounds
            if isinstance(bound.operand, Slot)
        ]
        if conditions:
            return bindings.join(found, conjunction(conditions), how, keys.values())
        if how == "INNER":
            return bindings.join(found, None)
        return bindings.join(found.limit(1), "true", how)

    def absent(self, bindings: Select, match: steps.Match) -> Select:
        if match.row is None:
            return self.join(bindings, match, "LEFT ANTI")
        joined = self.join(bindings, replace(match, view=View.ALL), "LEFT")
        filled = {f"{c}{match.row}": f"coalesce({c}{match.row}, {NEVER})" for c in "bw"}
        seen = "b" if match.view is View.BEFORE else "w"
        return joined.adding(filled).where(f"{seen}{match.row} = {NEVER}")

    # ---- aggregates

    def aggregated(self, bindings: Select, step: steps.AggregateStep) -> Select:
        """The matches of the body for each distinct group, folded, and joined with the bindings."""
        target = f"s{step.target}"
        injected = [f"s{slot}" for slot in sorted(reads(step))]
        matches = self.run(step.body, bindings.only(injected).distinct() if injected else ONE)
        if step.distinct is not None:
            value = [step.value.index] if isinstance(step.value, Slot) else []
            columns = dict.fromkeys((*injected, *(f"s{slot}" for slot in (*step.distinct, *value))))
            matches = matches.only(columns).distinct() if columns else matches.limit(1)
        folded = fold(step.op, step.kind, None if step.value is None else self.value(step.value))
        if not injected:
            return bindings.join(matches.grouped((), {target: folded}).where(f"{target} IS NOT NULL"), None)
        number = next(self.surroundings.names)
        keys = {f"g{number}_{name}": name for name in injected}
        values = matches.grouped(injected, {target: folded}).select({**keys, target: target})
        same = conjunction(f"{name} = {key}" for key, name in keys.items())
        if not has_value_without_matches(step.op):
            return bindings.join(values.where(f"{target} IS NOT NULL"), same, "INNER", keys)
        zero = NOTHING[SPARK_TYPES[Kind.NUMBER if step.op == "count" else step.kind]]
        return bindings.join(values, same, "LEFT", keys).adding({target: f"coalesce({target}, {zero})"})


def _holds(bound: steps.Bound, value: Sql, operand: Sql) -> Sql:
    found = arithmetic.compare(bound.op, bound.kind, value, operand)
    assert found is not None
    return found
