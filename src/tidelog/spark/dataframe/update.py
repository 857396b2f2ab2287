"""The paper's Update (paper 002, Algorithm 3, with section 3.3) for one stratum, one Spark action per iteration.

The sets of `evaluate/update_paper.py`, as filters over the stratum's transition, a frame with the iterations of each
tuple before (`_b`) and now (`_w`), at the beginning of iteration k:

    N_k^o, N_k        _b = k, _w = k             I_{k-1}^o, I_{k-1}   _b < k, _w < k
    I_{k-1}^-         _b < k and not _w < k      I_{k-1}^+            _w < k and not _b < k

`_w` < k is final, and `_w` >= k still what it was, so N#_k begins as N#o_k. An iteration unites the heads of the three
terms (`plan/paper_terms.py`; decision 0005 says where they depart from the printed text) with the transition, and one
aggregation makes the next: what is taken from a count, and what is added. Plans whose diff is empty are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidelog.plan.paper_terms import Switches, Term, TermPlan, minus, plus, term_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.steps import Part, Role, View
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.strata import Program, estimate
from tidelog.spark.dataframe.tables import Table, in_one_task, united
from tidelog.spark.dataframe.transitions import BEFORE_COUNT, NOW_COUNT, STATES, Transition, is_there, unchanged
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW, Translation
from tidelog.store.update import OverBudget

SWITCHES = Switches(diffs="eager", rediscovery="joined", scheduling="diff-first")
TERMS = {Term.DELETION: "_deleted", Term.INSERTION: "_inserted", Term.REDISCOVERY: "_rediscovered"}
WORK = "_work"
Diff = Callable[[int, Column, Column], Column]


class PaperUpdate:
    """Algorithm 3 for one stratum. `tables` are those before the epoch; `changes` has the transitions of the relations
    that changed below the stratum, `facts` that of the input facts if the stratum's own are among them."""

    def __init__(
        self,
        evaluation: Evaluation,
        program: Program,
        stratum: StatefulStratum,
        tables: Mapping[str, Table],
        changes: Mapping[str, Transition],
        facts: Transition | None,
        budget: int,
    ) -> None:
        self.evaluation, self.stratum, self.tables, self.changes = evaluation, stratum, tables, changes
        self.facts, self.budget, self.work = facts, budget, 0
        self.old = tables[stratum.relations[0]]
        self.layout = self.old.layout
        self.rows = sum(tables[name].counts[name] for name in (*stratum.inputs, *stratum.relations))
        sizes = estimate(program, {name: tables[name] for name in (*stratum.inputs, *stratum.relations)})
        self.diffs: dict[str, tuple[str, Diff]] = {}
        for name in program.kinds:
            self.diffs |= {minus(name): (name, in_minus), plus(name): (name, in_plus)}
        kinds = {diff: program.kinds[name] for diff, (name, _) in self.diffs.items()}
        sizes.arities |= {diff: len(columns) for diff, columns in kinds.items()}
        self.surroundings = replace(evaluation.surroundings, kinds={**program.kinds, **kinds})
        self.plans = [p for rule in stratum.rules for p in term_plans(rule, stratum.relations, sizes, SWITCHES)]
        self.sizes: dict[str, int] = {}

    def run(self) -> Transition:
        frame = self.begin()
        for k in count(1):  # line 6
            self.evaluation.watch(k, self.old.rows)
            frame, last = self.iterate(frame, k)
            if self.work > self.budget:
                raise OverBudget
            if last:  # line 16
                break
        return Transition.take(self.evaluation.checkpoints, self.layout, end_with(frame, k))[0]  # line 17

    def begin(self) -> DataFrame:
        """N_0 of the new state; I_0^- <- E-, I_0^+ <- E+ (lines 1, 4, 5)."""
        for name in self.stratum.inputs:
            if name in self.changes:
                self.sizes[minus(name)] = self.changes[name].deleted[name]
                self.sizes[plus(name)] = self.changes[name].inserted[name]
        frame = unchanged(self.old)
        if self.facts is None:
            return frame
        for name in self.stratum.relations:
            self.sizes[minus(name)] = self.facts.deleted.get(name, 0)
            self.sizes[plus(name)] = self.facts.inserted.get(name, 0)
        return self.with_facts(frame, self.facts)

    def with_facts(self, frame: DataFrame, facts: Transition) -> DataFrame:
        layout, never, none = self.layout, F.lit(NEVER), F.lit(0).cast("bigint")
        rows = [frame.select(*layout.columns, *STATES, F.lit(0).alias("_fact"))]
        for name in (name for name in self.stratum.relations if name in facts.layout.kinds):
            for changed, fact in ((facts.rows_inserted(name), 1), (facts.rows_deleted(name), 2)):
                rows.append(layout.tagged(name, changed, never, none, never, none, F.lit(fact)))
        grouped = in_one_task(united(rows), self.rows).groupBy(*layout.columns)
        found = grouped.agg(
            *(F.min(name).alias(name) for name in (BEFORE, NOW)),
            *(F.max(name).alias(name) for name in (BEFORE_COUNT, NOW_COUNT)),
            F.max("_fact").alias("_fact"),
        )
        mark = F.col("_fact")
        now = F.when(mark == 0, F.col(NOW)).when(mark == 1, F.lit(0)).otherwise(never)
        number = F.when(mark == 0, F.col(NOW_COUNT)).when(mark == 1, F.lit(1)).otherwise(none)
        return found.select(*layout.columns, BEFORE, BEFORE_COUNT, now.alias(NOW), number.alias(NOW_COUNT))

    # ---- an iteration

    def iterate(self, frame: DataFrame, k: int) -> tuple[DataFrame, bool]:
        """The transition with N_k made, and whether N_k is empty."""
        layout, never, none = self.layout, F.lit(NEVER), F.lit(0).cast("bigint")
        rows = [frame.select(*layout.columns, *STATES, *(F.lit(0).alias(name) for name in TERMS.values()))]
        for plan in self.plans:
            if self.sizes.get(plan.guard):
                marks = (F.lit(int(plan.term is term)) for term in TERMS)
                heads = self.heads(plan, frame, k)
                rows.append(layout.tagged(plan.plan.steps[-1].relation, heads, never, none, never, none, *marks))  # type: ignore[union-attr]
        made = make_N(layout.columns, in_one_task(united(rows), self.rows), k)
        later = layout.counted(in_minus(k + 1, F.col(BEFORE), F.col(NOW)), "-") | layout.counted(
            in_plus(k + 1, F.col(BEFORE), F.col(NOW)), "+"
        )
        metrics = {"N_k": F.sum((F.col(NOW) == k).cast("bigint")), WORK: F.sum(WORK), **later}
        taken, counts = self.evaluation.checkpoints.take(made, metrics)
        self.work += counts[WORK]
        for name in self.stratum.relations:
            self.sizes[minus(name)], self.sizes[plus(name)] = counts[f"-{name}"], counts[f"+{name}"]
        return taken, counts["N_k"] == 0

    def heads(self, plan: TermPlan, frame: DataFrame, k: int) -> DataFrame:
        """Line 10: the heads of a term's derivations."""
        translation = Translation(self.surroundings, plan.plan, self.views(frame, k))
        return translation.filed(lambda parts: chosen(plan, parts, k))

    def views(self, frame: DataFrame, k: int) -> Callable[[str, View], DataFrame]:
        def view(name: str, seen: View) -> DataFrame:
            before, now = F.col(BEFORE), F.col(NOW)
            base, diff = self.diffs.get(name, (name, None))
            rows = self.both_states(base, frame)
            if diff is not None:
                rows = rows.where(diff(k, before, now))
            elif seen is not View.ALL:
                rows = rows.where((before if seen is View.BEFORE else now) < k)
            return in_one_task(rows, self.rows)

        return view

    def both_states(self, name: str, frame: DataFrame) -> DataFrame:
        """The tuples of a relation before and now; those of lower strata are in iteration 0."""
        if name in self.stratum.relations:
            return self.layout.rows(name, frame, BEFORE, NOW)
        if name not in self.changes:
            return self.tables[name].relation(name).select("*", F.lit(0).alias(BEFORE), F.lit(0).alias(NOW))
        change = self.changes[name]
        rows = change.layout.rows(name, change.frame, BEFORE, NOW)
        return rows.withColumns({c: F.when(is_there(c), F.lit(0)).otherwise(F.lit(NEVER)) for c in (BEFORE, NOW)})


def chosen(plan: TermPlan, parts: tuple[Part, ...], k: int) -> Column:
    """Which derivations of a plan the term has in iteration k."""
    before = [F.col(f"b{part.row}") for part in parts]
    now = [F.col(f"w{part.row}") for part in parts]
    negated = [part.role is Role.NEGATED for part in parts]
    match plan.term:
        case Term.DELETION:  # Pi#[I_{k-1}^o | N_{k-1}^o | I_{k-1}^-, I_0^+]
            diffs = [(in_plus if n else in_minus)(k, b, w) for n, b, w in zip(negated, before, now, strict=True)]
            return (level(before, negated) == k - 1) & is_first(diffs, plan.diff)
        case Term.INSERTION:  # Pi#[I_{k-1} | N_{k-1} | I_{k-1}^+, I_0^-]
            diffs = [(in_minus if n else in_plus)(k, b, w) for n, b, w in zip(negated, before, now, strict=True)]
            return (level(now, negated) == k - 1) & is_first(diffs, plan.diff)
    found = (level(now, negated) == k - 1) & (level(before, negated) < k)  # Pi#[I_{k-1}^o and I_{k-1} | N_{k-1}]
    for b in (b for n, b in zip(negated, before, strict=True) if n):
        found = found & (b == NEVER)
    return found


def make_N(columns: tuple[str, ...], rows: DataFrame, k: int) -> DataFrame:
    """Lines 10 to 13: N#_k from N#o_k and what the terms take from it and add."""
    found = rows.groupBy(*columns).agg(
        *(F.min(name).alias(name) for name in (BEFORE, NOW)),
        *(F.max(name).alias(name) for name in (BEFORE_COUNT, NOW_COUNT)),
        *(F.sum(name).alias(name) for name in TERMS.values()),
    )
    deleted, inserted, rediscovered = (F.col(name) for name in TERMS.values())
    was_later, was_found = F.col(BEFORE) >= k, F.col(BEFORE) < k
    less = F.when(was_later, deleted).otherwise(0)  # without I_{k-1}^o
    again = F.when(was_found, rediscovered).otherwise(0)  # of I_{k-1}^-
    touched = (F.col(NOW) >= k) & (less + inserted + again > 0)  # without I_{k-1}
    derived = F.when(F.col(NOW) == k, F.col(NOW_COUNT)).otherwise(0) - less + inserted + again
    now = F.when(touched, F.when(derived > 0, F.lit(k)).otherwise(F.lit(NEVER))).otherwise(F.col(NOW))
    number = F.when(touched, derived).otherwise(F.col(NOW_COUNT))
    work = deleted + inserted + rediscovered
    return found.select(
        *columns, BEFORE, BEFORE_COUNT, now.alias(NOW), number.cast("bigint").alias(NOW_COUNT), work.alias(WORK)
    )


def end_with(frame: DataFrame, k: int) -> DataFrame:
    """N# ends with N_k: what is left of later N#o is no part of it."""
    later = F.col(NOW) > k
    ended = {
        NOW: F.when(later, F.lit(NEVER)).otherwise(F.col(NOW)),
        NOW_COUNT: F.when(later, 0).otherwise(F.col(NOW_COUNT)),
    }
    return frame.drop(WORK).withColumns(ended)


# ---- sets, by the iterations of tuples before and now


def in_minus(k: int, before: Column, now: Column) -> Column:
    """I_{k-1}^-"""
    return (before < k) & (now >= k)


def in_plus(k: int, before: Column, now: Column) -> Column:
    """I_{k-1}^+"""
    return (now < k) & (before >= k)


def level(iterations: list[Column], negated: list[bool]) -> Column:
    """The greatest iteration of a derivation's positive parts; 0 if it has none."""
    own = [column for column, n in zip(iterations, negated, strict=True) if not n]
    return F.greatest(F.lit(0), F.lit(0), *own)


def is_first(in_diff: list[Column], part: int | None) -> Column:
    """Whether this part is the first that is in the diff: so that a derivation with several is counted once."""
    assert part is not None
    found = in_diff[part]
    for earlier in in_diff[:part]:
        found = found & ~earlier
    return found
