"""A stratum from scratch: semi-naive evaluation, one Spark action per iteration.

The plans of all rules of an iteration are united into one frame of heads. Grouped, a head's rows are its derivations;
with the table of what is known in the same group, the same aggregation leaves out what is not new (small tables), or an
anti-join does (large ones). A stratum that is `counted` begins with all plans over its facts (iteration 1 of the
paper's Bootstrap); any other one begins with the plans that have no pivot and then takes all for new, as batch does.

What is always true between iterations: the table holds each tuple once, with the iteration that found it first and the
number of derivations it had then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from tidelog.analysis.size_limits import SizeLimits
from tidelog.evaluate.context import recorded
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.profile import Recorder
from tidelog.plain import dataclass, replace
from tidelog.plan import steps
from tidelog.plan.program import StratumPlan
from tidelog.plan.steps import View
from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.sql import Select, union
from tidelog.spark.dataframe.tables import (
    BROADCAST,
    COUNT,
    FEW,
    ITERATION,
    Table,
    TablePart,
    among,
    in_one_task,
    input_view,
    is_small,
    spread,
    tasks_for,
)
from tidelog.spark.dataframe.text_facts import Row, rows_of
from tidelog.spark.dataframe.translate import Surroundings, Translation

MOST_PARTS = 8
"""A large table with more parts than this has its old parts merged."""

NO_FACTS: Mapping[str, list[Row]] = {}

FrameGate = Callable[[Table, int], Select]
"""The rows that shall stay of a table to which this iteration has added, or more."""


@dataclass
class Evaluation:
    """What the evaluation of all strata shares. `sizes` are the `.limitsize` directives."""

    surroundings: Surroundings
    checkpoints: Checkpoints
    limits: Limits
    sizes: SizeLimits
    observer: Observer
    recorder: Recorder | None = None  # for a profile

    def watch(self, iteration: int, tuples: int) -> None:
        self.observer.progress(iteration, tuples)
        self.limits.check(iteration, tuples)


class FrameFixpoint:
    """One stratum; `inputs` hold the relations below it, complete."""

    def __init__(
        self, evaluation: Evaluation, stratum: StratumPlan, inputs: Mapping[str, Table], gates: Iterable[FrameGate] = ()
    ) -> None:
        self.evaluation, self.stratum, self.inputs, self.gates = evaluation, stratum, inputs, tuple(gates)
        self.below = sum(table.counts[name] for name, table in inputs.items())
        self.own = frozenset(stratum.stratum.relations)
        self.known: Table
        self.fresh = 0

    def run(self, facts: Table) -> Table:
        """The table of the stratum, whose relations have these facts, in iteration 0."""
        self.known = facts
        counted, starting, delta = self.stratum.counted, self.stratum.starting, self.stratum.delta
        iteration = 1 if counted else 0
        self.iterate(iteration, (*starting, *delta) if counted else starting, self.stratum.facts)
        while delta and (self.fresh or iteration == 0):
            iteration += 1
            self.evaluation.watch(iteration, self.known.size)
            self.iterate(iteration, delta)
            if self.full():
                break
        return self.known

    def full(self) -> bool:
        return self.evaluation.sizes.reached(self.own, self.known.counts.__getitem__)

    # ---- an iteration

    def iterate(self, iteration: int, plans: tuple[steps.Plan, ...], facts: Mapping[str, list[Row]] = NO_FACTS) -> None:
        """Add what the plans find, and these facts."""
        names = ", ".join(self.stratum.stratum.relations)
        told = f"telling new tuples from known ones: {names}"
        with recorded(self.evaluation.recorder, told, iteration, lambda: self.fresh):
            self.add_heads(iteration, plans, facts)

    def add_heads(self, iteration: int, plans: tuple[steps.Plan, ...], facts: Mapping[str, list[Row]]) -> None:
        heads = self.heads(iteration, plans, facts)
        if heads is not None:
            if is_small(self.known.size) or self.gates:
                self.take_all(self.merged(heads, iteration), iteration)
            else:
                self.add_part(heads, iteration)
        for gate in self.gates:
            self.take_all(gate(self.known, iteration), iteration)

    def heads(self, iteration: int, plans: Iterable[steps.Plan], facts: Mapping[str, list[Row]]) -> Select | None:
        """The heads of all plans, each as often as it is derived, as rows of the table."""
        layout, surroundings, found = self.known.layout, self.evaluation.surroundings, []
        for name, rows in facts.items():
            found.append(layout.tagged(name, rows_of(rows, layout.kinds[name], surroundings.spark)))
        for plan in plans:
            heads = Translation(surroundings, plan, self.views(iteration), max(0, iteration - 1)).heads()
            if any(isinstance(step, steps.Fresh) for step in plan.steps):
                heads = self.numbered(heads)
            head = plan.steps[-1]
            assert isinstance(head, steps.Emit)
            found.append(layout.tagged(head.relation, self.profiled(plan, iteration, heads)))
        return union(found) if found else None

    def profiled(self, plan: steps.Plan, iteration: int, heads: Select) -> Select:
        """For a profile, the heads of each plan are an action of their own: what a rule costs cannot be told else."""
        recorder = self.evaluation.recorder
        if recorder is None:
            return heads
        start = time.perf_counter()
        taken, counted = self.evaluation.checkpoints.take(heads, {"rows": "count(1)"})
        recorder.rule(plan.rule, iteration, time.perf_counter() - start, 0, counted["rows"])
        return taken

    def numbered(self, heads: Select) -> Select:
        """Heads with numbers of the counter: the next plan must know how many."""
        taken, counted = self.evaluation.checkpoints.take(heads, {"rows": "count(1)"})
        self.evaluation.surroundings.counter += counted["rows"]
        return taken

    def views(self, iteration: int) -> Callable[[str, View], Select]:
        size = self.below + self.known.size
        self.evaluation.surroundings.tasks = tasks_for(size)

        def view(name: str, seen: View) -> Select:
            if name in self.own:
                rows = in_one_task(self.known.view(name, seen, iteration), size)
                sent = seen is View.DELTA and not is_small(size) and self.few(iteration)
                return rows.sent_to_all() if sent else rows
            return input_view(self.inputs[name], name, size)

        return view

    # ---- small tables: one part

    def merged(self, heads: Select, iteration: int) -> Select:
        """The table with the heads: of a group, what is known is one row, and each derivation another."""
        columns = self.known.layout.columns
        derived = heads.adding({ITERATION: str(iteration), COUNT: "0L"})
        both = in_one_task(union([self.known.rows, derived]), self.below + self.known.size)
        count = f"CASE WHEN max({COUNT}) > 0 THEN max({COUNT}) ELSE count(1) END"
        return both.grouped(columns, {ITERATION: f"min({ITERATION})", COUNT: count})

    def take_all(self, rows: Select, iteration: int) -> None:
        taken, counts = self.take(rows, iteration)
        self.fresh, derivations = counts.pop("@fresh"), counts.pop("@derivations")
        self.known = Table(self.known.layout, (TablePart(taken, 0, iteration),), counts, derivations)

    # ---- large tables: one more part

    def add_part(self, heads: Select, iteration: int) -> None:
        fresh = self.new_of_few(heads) if self.few(iteration) else self.new_of_many(heads)
        taken, counts = self.take(fresh.adding({ITERATION: str(iteration)}), iteration)
        self.fresh, derivations = counts.pop("@fresh"), counts.pop("@derivations")
        self.compact()
        known = self.known
        self.known = Table(
            known.layout,
            (*known.parts, TablePart(taken, iteration, iteration)),
            {name: known.counts[name] + more for name, more in counts.items()},
            known.derivations + derivations,
        )

    def few(self, iteration: int) -> bool:
        """Whether this iteration begins with few tuples, so that few heads are to be expected; the first has all."""
        return iteration > 1 and self.fresh <= FEW

    def new_of_many(self, heads: Select) -> Select:
        """The heads that are not known, with their derivations: both sides are moved once."""
        layout, size = self.known.layout, self.known.size
        found = spread(heads, layout.keys, size).grouped(layout.columns, {COUNT: "count(1)"})
        return found.matching(spread(self.known.rows, layout.keys, size), layout.keys, "LEFT ANTI", "SHUFFLE_HASH")

    def new_of_few(self, heads: Select) -> Select:
        """The same by two actions, of which the first says how many heads there are: if they are few indeed, they are
        sent to where the known tuples are, and only those that are known come back."""
        layout, keys = self.known.layout, self.known.layout.keys
        found = spread(heads, keys, 0).grouped(layout.columns, {COUNT: "count(1)"})
        taken, counts = self.evaluation.checkpoints.take(found, {"heads": "count(1)"})
        sizes = self.known.size, counts["heads"]
        if sizes[1] > BROADCAST:
            return among(taken, self.known.rows, keys, "LEFT ANTI", (sizes[1], sizes[0]))
        known = among(self.known.rows.only(layout.columns), taken, keys, "LEFT SEMI", sizes)
        return among(taken, known, keys, "LEFT ANTI", (sizes[1], sizes[1]))

    def compact(self) -> None:
        """If the table has many parts, make one of them."""
        known = self.known
        if len(known.parts) > MOST_PARTS:
            taken, _ = self.evaluation.checkpoints.take(known.rows, {})
            self.known = replace(known, parts=(TablePart(taken, 0, known.parts[-1].last),))

    def take(self, rows: Select, iteration: int) -> tuple[Select, dict[str, int]]:
        counted = self.known.layout.counted("true")
        counted |= {"@fresh": f"count_if({ITERATION} = {iteration})", "@derivations": f"sum({COUNT})"}
        return self.evaluation.checkpoints.take(rows, counted)
