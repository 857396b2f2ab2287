"""A plan ready to run: native pipelines, and between them the steps that need Python.

What it holds: a list of stages, each from a batch of bindings to a batch. Runs of native steps become one pipeline
of the store; a plan of native steps only is a single pipeline from its scan to its emit, and no batch is ever made.
Elsewhere a pipeline hands its bindings on in pieces, as they come: no more than some million are in memory at a time
(but inside of an aggregate, which bounds its groups instead).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tidelog.errors import InternalError
from tidelog.evaluate import functors, user_functors
from tidelog.evaluate.aggregates import distinct_groups, everywhere, fold
from tidelog.evaluate.bindings import Bindings, Words
from tidelog.evaluate.context import Context
from tidelog.plan import steps
from tidelog.plan.liveness import needed_before, reads, writes
from tidelog.plan.steps import Operand, Slot
from tidelog.store import ArithmeticFault, is_native
from tidelog.store.distinct import distinct_rows

Stage = Callable[[Bindings], Bindings]
Sink = Callable[[Words], None]

GROUPS_AT_ONCE = 1 << 16
"""How many groups of an aggregate are evaluated together: it bounds the matches held in memory."""


class NativeStage:
    """A pipeline of the store, from bindings of some slots to bindings of others, or (None) of its relations to none
    that go on."""

    def __init__(self, pipeline: Any, inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None) -> None:
        self.pipeline, self.inputs, self.outputs = pipeline, inputs, outputs

    def __call__(self, bindings: Bindings) -> Bindings:
        rows = self.pipeline.run(self._batch(bindings))
        return Bindings(0) if self.outputs is None else Bindings.from_rows(rows, self.outputs)

    def pieces(self, bindings: Bindings) -> Iterator[Bindings]:
        assert self.outputs is not None, "a pipeline with output"
        for rows in self.pipeline.pieces(self._batch(bindings)):
            yield Bindings.from_rows(rows, self.outputs)

    def _batch(self, bindings: Bindings) -> Words | None:
        return None if self.inputs is None else bindings.rows(self.inputs)


class PlanRun:
    """One plan over one database.

    `sink` receives the emitted rows when they do not go to a relation as they are; `changing` names the relations that
    grow while the plan is run again and again. Of a plan that is cut, its steps may begin with bindings of `known`
    slots, and end with some that are wanted `at_end`.
    """

    def __init__(
        self,
        context: Context,
        plan: steps.Plan,
        sink: Sink | None = None,
        changing: Sequence[str] = (),
        pending: Any = None,
        known: Sequence[int] | None = None,
        at_end: tuple[int, ...] = (),
    ) -> None:
        self.context = context
        self.plan = plan
        self.sink = sink
        self.changing = changing
        self.pending = pending
        self.emitted = 0
        self.pipelines: list[Any] = []
        self.slots = len(plan.slots)
        self.stages = self._stages(plan.steps, at_end, None if known is None else frozenset(known))

    @property
    def derivations(self) -> int:
        return self.emitted + sum(p.derivations for p in self.pipelines)

    @property
    def effort(self) -> int:
        return self.emitted + sum(p.effort for p in self.pipelines)

    def run(self) -> None:
        for _ in self.results(Bindings.one()):
            pass

    def results(self, bindings: Bindings) -> Iterator[Bindings]:
        """What comes of some bindings, in pieces."""
        try:
            yield from self._in_pieces(self.stages, bindings)
        except (functors.Fault, ArithmeticFault) as problem:
            raise self.context.fault(self.plan.rule, str(problem)) from None

    def _in_pieces(self, stages: list[Stage], bindings: Bindings) -> Iterator[Bindings]:
        if not bindings.count:
            return
        if not stages:
            yield bindings
            return
        first, *rest = stages
        if isinstance(first, NativeStage) and first.outputs is not None:
            for piece in first.pieces(bindings):
                yield from self._in_pieces(rest, piece)
        else:
            yield from self._in_pieces(rest, first(bindings))

    def _run(self, stages: list[Stage], bindings: Bindings) -> Bindings:
        """All at once: for those who want to see the bindings at the end."""
        for stage in stages:
            bindings = stage(bindings)
            if bindings.count == 0:
                break
        return bindings

    # ---- building

    def _stages(
        self, plan_steps: tuple[steps.Step, ...], at_end: tuple[int, ...], known: frozenset[int] | None = None
    ) -> list[Stage]:
        """Stages for the steps; `at_end` are the slots wanted afterwards, `known` those there before (None: there are
        no bindings before)."""
        needed = needed_before(plan_steps, at_end)
        bound = set(known or ())
        stages: list[Stage] = []
        position = 0
        while position < len(plan_steps):
            stop = position
            while stop < len(plan_steps) and self._native(plan_steps[stop]):
                bound |= writes(plan_steps[stop])
                stop += 1
            if stop > position:
                first = position == 0 and known is None
                inputs = tuple(sorted(needed[position]))
                outputs = tuple(sorted(needed[stop] & bound))
                stages.append(self._pipeline(plan_steps[position:stop], None if first else inputs, outputs))
            else:
                stages.append(self._python(plan_steps[position], needed[position + 1]))
                bound |= writes(plan_steps[position])
                stop += 1
            position = stop
        return stages

    def _native(self, step: steps.Step) -> bool:
        if isinstance(step, steps.Emit) and self.sink is not None:
            return False
        return is_native(step)

    def _pipeline(
        self, part: tuple[steps.Step, ...], inputs: tuple[int, ...] | None, outputs: tuple[int, ...]
    ) -> Stage:
        emits = isinstance(part[-1], steps.Emit | steps.Tell | steps.Offer)
        options: dict[str, Any] = {"changing": self.changing, "pending": self.pending}
        if inputs is not None:
            options["inputs"] = inputs
        if not emits:
            options["outputs"] = outputs
        pipeline = self.context.database.pipeline(part, **options)
        self.pipelines.append(pipeline)
        return NativeStage(pipeline, inputs, None if emits else outputs)

    def _python(self, step: steps.Step, needed: set[int]) -> Stage:
        """A step in Python; afterwards only the needed slots are kept."""
        action: Stage
        match step:
            case steps.Filter():
                action = self._filter(step)
            case steps.Compute():
                action = self._bind(step.target, lambda b: self._compute(b, step))
            case steps.Call():
                action = self._bind(step.target, lambda b: self._call(b, step))
            case steps.Fresh():
                action = self._bind(step.target, self._fresh)
            case steps.AggregateStep():
                action = self._aggregate(step)
            case steps.Emit():
                action = self._emit(step)
            case _:
                raise InternalError(f"{type(step).__name__} must be native")
        return lambda bindings: action(bindings).only(needed)

    # ---- steps

    def _column(self, bindings: Bindings, operand: Operand) -> Words:
        if isinstance(operand, Slot):
            return np.ascontiguousarray(bindings.columns[operand.index])
        return np.full(bindings.count, self.context.database.encode(operand), np.int64)

    def _bind(self, target: int, value: Callable[[Bindings], Words]) -> Stage:
        def stage(bindings: Bindings) -> Bindings:
            bindings.bind(target, value(bindings))
            return bindings

        return stage

    def _filter(self, step: steps.Filter) -> Stage:
        def stage(bindings: Bindings) -> Bindings:
            left, right = self._column(bindings, step.left), self._column(bindings, step.right)
            return bindings.keep(functors.compare(self.context.decoder, step.op, step.kind, left, right))

        return stage

    def _compute(self, bindings: Bindings, step: steps.Compute) -> Words:
        args = [self._column(bindings, a) for a in step.args]
        return functors.compute(self.context.decoder, step.op, step.kind, args, step.arg_kinds)

    def _call(self, bindings: Bindings, step: steps.Call) -> Words:
        return user_functors.call(self.context, step.functor, [self._column(bindings, a) for a in step.args])

    def _fresh(self, bindings: Bindings) -> Words:
        start = self.context.counter
        self.context.counter += bindings.count
        return np.arange(start, self.context.counter, dtype=np.int64)

    def _aggregate(self, step: steps.AggregateStep) -> Stage:
        row = self.slots  # one more slot, for the number of the group
        self.slots += 1
        injected = tuple(sorted(reads(step)))
        value = step.value
        found = {row, *(step.distinct or ()), *([value.index] if isinstance(value, Slot) else ())}
        wanted = tuple(sorted(found))
        inner = self._stages(step.body, wanted, frozenset((*injected, row)))

        def folded(groups: Bindings) -> tuple[Words, Any]:
            groups = Bindings(groups.count, dict(groups.columns))
            groups.bind(row, np.arange(groups.count, dtype=np.int64))
            matches = self._run(inner, groups)
            if matches.count == 0:
                matches = Bindings(0, {slot: np.empty(0, np.int64) for slot in wanted})
            if step.distinct is not None:
                matches = Bindings.from_rows(distinct_rows(matches.rows(wanted))[0], wanted)
            values = None if value is None else self._column(matches, value)
            group = np.ascontiguousarray(matches.columns[row])
            if step.init is not None:
                assert values is not None, "a functor folds values"
                begin = self._column(groups, step.init)
                return user_functors.fold(self.context, step.op[1:], begin, group, values), everywhere(groups.count)
            return fold(step.op, step.kind, groups.count, group, values)

        def stage(bindings: Bindings) -> Bindings:
            groups, member = distinct_groups(bindings, injected)
            results = np.empty(groups.count, np.int64)
            has = np.empty(groups.count, np.bool_)
            for start in range(0, groups.count, GROUPS_AT_ONCE):
                part = slice(start, min(start + GROUPS_AT_ONCE, groups.count))
                chunk = Bindings(part.stop - start, {slot: c[part] for slot, c in groups.columns.items()})
                results[part], has[part] = folded(chunk)
            bindings.bind(step.target, results[member])
            present = has[member]
            return bindings if present.all() else bindings.keep(present)

        return stage

    def _emit(self, step: steps.Emit) -> Stage:
        def stage(bindings: Bindings) -> Bindings:
            rows = np.empty((bindings.count, len(step.args)), np.int64)
            for i, operand in enumerate(step.args):
                rows[:, i] = self._column(bindings, operand)
            self.emitted += len(rows)
            if self.sink is not None:
                self.sink(rows)
            else:
                self.context.database[step.relation].insert(rows)
            return Bindings(0)

        return stage
