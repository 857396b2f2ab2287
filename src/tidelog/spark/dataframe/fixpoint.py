"""A stratum from scratch: semi-naive evaluation, one Spark action per iteration.

The plans of all rules of an iteration are united into one frame of heads. Grouped, a head's rows are its derivations;
with the table of what is known in the same group, the same aggregation leaves out what is not new (small tables), or an
anti-join does (large ones). A stratum that is `counted` begins with all plans over its facts (iteration 1 of the
paper's Bootstrap); any other one begins with the plans that have no pivot and then takes all for new, as batch does.

What is always true between iterations: the table holds each tuple once, with the iteration that found it first and the
number of derivations it had then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from tidelog.evaluate.limits import Limits, Observer
from tidelog.plan import steps
from tidelog.plan.program import StratumPlan
from tidelog.plan.steps import View
from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.sql import Query, conjunction, union
from tidelog.spark.dataframe.tables import (
    COUNT,
    ITERATION,
    SMALL,
    Part,
    Table,
    in_one_task,
    input_view,
)
from tidelog.spark.dataframe.text_facts import rows_of, split_facts
from tidelog.spark.dataframe.translate import Surroundings, Translation

MOST_PARTS = 8
"""A large table with more parts than this has its old parts merged."""

Gate = Callable[[Table, int], Query]
"""The rows that shall stay of a table to which this iteration has added, or more."""


@dataclass
class Evaluation:
    """What the evaluation of all strata shares. `sizes` are the `.limitsize` directives."""

    surroundings: Surroundings
    checkpoints: Checkpoints
    limits: Limits
    sizes: Mapping[str, int]
    observer: Observer

    def watch(self, iteration: int, tuples: int) -> None:
        self.observer.progress(iteration, tuples)
        self.limits.check(iteration, tuples)


class Fixpoint:
    """One stratum; `inputs` hold the relations below it, complete."""

    def __init__(
        self, evaluation: Evaluation, stratum: StratumPlan, inputs: Mapping[str, Table], gates: Iterable[Gate] = ()
    ) -> None:
        self.evaluation, self.stratum, self.inputs, self.gates = evaluation, stratum, inputs, tuple(gates)
        self.below = sum(table.counts[name] for name, table in inputs.items())
        self.own = frozenset(stratum.stratum.relations)
        self.known: Table
        self.fresh = 0

    def run(self, facts: Table) -> Table:
        """The table of the stratum, whose relations have these facts, in iteration 0."""
        self.known = facts
        counted, delta = self.stratum.counted, self.stratum.delta
        iteration = 1 if counted else 0
        self.iterate(iteration, (*self.stratum.once, *delta) if counted else self.stratum.once)
        while delta and (self.fresh or iteration == 0):
            iteration += 1
            self.evaluation.watch(iteration, self.known.size)
            self.iterate(iteration, delta)
            if self.full():
                break
        return self.known

    def full(self) -> bool:
        """Whether a `.limitsize` of the stratum is reached."""
        return any(self.known.counts[name] >= self.evaluation.sizes.get(name, 1 << 62) for name in self.own)

    # ---- an iteration

    def iterate(self, iteration: int, plans: tuple[steps.Plan, ...]) -> None:
        """Add what the plans find."""
        heads = self.heads(iteration, plans)
        if heads is not None:
            if self.known.size <= SMALL or self.gates:
                self.take_all(self.merged(heads, iteration), iteration)
            else:
                self.add_part(heads, iteration)
        for gate in self.gates:
            self.take_all(gate(self.known, iteration), iteration)

    def heads(self, iteration: int, plans: Iterable[steps.Plan]) -> Query | None:
        """The heads of all plans, each as often as it is derived, as rows of the table."""
        layout, surroundings, found = self.known.layout, self.evaluation.surroundings, []
        facts, plans = split_facts(plans)
        for name, rows in facts.items():
            found.append(layout.tagged(name, rows_of(rows, layout.kinds[name], surroundings.spark)))
        for plan in plans:
            heads = Translation(surroundings, plan, self.views(iteration), max(0, iteration - 1)).heads()
            if any(isinstance(step, steps.Fresh) for step in plan.steps):
                heads = self.numbered(heads)
            head = plan.steps[-1]
            assert isinstance(head, steps.Emit)
            found.append(layout.tagged(head.relation, heads))
        return union(found) if found else None

    def numbered(self, heads: Query) -> Query:
        """Heads with numbers of the counter: the next plan must know how many."""
        taken, counted = self.evaluation.checkpoints.take(heads, {"rows": "count(1)"})
        self.evaluation.surroundings.counter += counted["rows"]
        return taken

    def views(self, iteration: int) -> Callable[[str, View], Query]:
        size = self.below + self.known.size

        def view(name: str, seen: View) -> Query:
            if name in self.own:
                return in_one_task(self.known.view(name, seen, iteration), size)
            return input_view(self.inputs[name], name, size)

        return view

    # ---- small tables: one part

    def merged(self, heads: Query, iteration: int) -> Query:
        """The table with the heads: of a group, what is known is one row, and each derivation another."""
        columns = self.known.layout.columns
        derived = heads.adding({ITERATION: str(iteration), COUNT: "0L"})
        both = in_one_task(union([self.known.rows, derived]), self.below + self.known.size)
        count = f"CASE WHEN max({COUNT}) > 0 THEN max({COUNT}) ELSE count(1) END"
        return both.grouped(columns, {ITERATION: f"min({ITERATION})", COUNT: count})

    def take_all(self, rows: Query, iteration: int) -> None:
        taken, counts = self.take(rows, iteration)
        self.fresh, derivations = counts.pop("@fresh"), counts.pop("@derivations")
        self.known = Table(self.known.layout, (Part(taken, 0, iteration),), counts, derivations)

    # ---- large tables: one more part

    def add_part(self, heads: Query, iteration: int) -> None:
        columns = self.known.layout.columns
        found = heads.grouped(columns, {COUNT: "count(1)"})
        there = self.known.rows.select({f"k{c}": c for c in columns})
        fresh = found.join(there, conjunction(f"{c} = k{c}" for c in columns), "LEFT ANTI")
        taken, counts = self.take(fresh.adding({ITERATION: str(iteration)}), iteration)
        self.fresh, derivations = counts.pop("@fresh"), counts.pop("@derivations")
        self.compact()
        known = self.known
        self.known = Table(
            known.layout,
            (*known.parts, Part(taken, iteration, iteration)),
            {name: known.counts[name] + more for name, more in counts.items()},
            known.derivations + derivations,
        )

    def compact(self) -> None:
        """If the table has many parts, make one of them."""
        known = self.known
        if len(known.parts) > MOST_PARTS:
            taken, _ = self.evaluation.checkpoints.take(known.rows, {})
            self.known = replace(known, parts=(Part(taken, 0, known.parts[-1].last),))

    def take(self, rows: Query, iteration: int) -> tuple[Query, dict[str, int]]:
        counted = self.known.layout.counted("true")
        counted |= {"@fresh": f"count_if({ITERATION} = {iteration})", "@derivations": f"sum({COUNT})"}
        return self.evaluation.checkpoints.take(rows, counted)
