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

from tidelog.plan.paper_terms import Switches, Term, TermPlan, minus, plus, term_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.steps import File, Part, Role, View
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.sql import Query, Sql, conjunction, union
from tidelog.spark.dataframe.strata import Program, estimate
from tidelog.spark.dataframe.tables import Table, in_one_task
from tidelog.spark.dataframe.transitions import (
    ABSENT,
    BEFORE_COUNT,
    MERGED,
    NOW_COUNT,
    STATES,
    Transition,
    is_there,
    unchanged,
)
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW, Translation
from tidelog.store.update import OverBudget

SWITCHES = Switches(diffs="eager", rediscovery="joined", scheduling="diff-first")
TERMS = {Term.DELETION: "_deleted", Term.INSERTION: "_inserted", Term.REDISCOVERY: "_rediscovered"}
WORK = "_work"
Diff = Callable[[int, Sql, Sql], Sql]


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
        rows = self.begin()
        for k in count(1):  # line 6
            self.evaluation.watch(k, self.old.size)
            rows, counts = self.iterate(rows, k)
            if self.work > self.budget:
                raise OverBudget
            if counts["N_k"] == 0 or not self.stratum.recursive:  # line 16; without recursion N_2 is empty
                break
        return Transition.of(self.layout, end_with(rows, self.layout.columns, k), counts)

    def begin(self) -> Query:
        """N_0 of the new state; I_0^- <- E-, I_0^+ <- E+ (lines 1, 4, 5)."""
        for name in self.stratum.inputs:
            if name in self.changes:
                self.sizes[minus(name)] = self.changes[name].deleted[name]
                self.sizes[plus(name)] = self.changes[name].inserted[name]
        rows = unchanged(self.old)
        if self.facts is None:
            return rows
        for name in self.stratum.relations:
            self.sizes[minus(name)] = self.facts.deleted.get(name, 0)
            self.sizes[plus(name)] = self.facts.inserted.get(name, 0)
        return self.with_facts(rows, self.facts)

    def with_facts(self, known: Query, facts: Transition) -> Query:
        layout = self.layout
        rows = [known.adding({"fact": "''"})]
        for name in (name for name in self.stratum.relations if name in facts.layout.kinds):
            rows.append(layout.tagged(name, facts.rows_inserted(name), ABSENT | {"fact": "'inserted'"}))
            rows.append(layout.tagged(name, facts.rows_deleted(name), ABSENT | {"fact": "'deleted'"}))
        found = in_one_task(union(rows), self.rows).grouped(layout.columns, MERGED | {"fact": "max(fact)"})
        now = f"CASE fact WHEN 'inserted' THEN 0 WHEN 'deleted' THEN {NEVER} ELSE {NOW} END"
        number = f"CASE fact WHEN 'inserted' THEN 1L WHEN 'deleted' THEN 0L ELSE {NOW_COUNT} END"
        kept = {c: c for c in (*layout.columns, BEFORE, BEFORE_COUNT)}
        return found.select(kept | {NOW: now, NOW_COUNT: number})

    # ---- an iteration

    def iterate(self, known: Query, k: int) -> tuple[Query, dict[str, int]]:
        """The transition with N_k made, and what was counted of it as if N_k were the last."""
        layout = self.layout
        rows = [known.only((*layout.columns, *STATES)).adding(dict.fromkeys(TERMS.values(), "0"))]
        for plan in self.plans:
            if self.sizes.get(plan.guard):
                marks = {name: str(int(plan.term is term)) for term, name in TERMS.items()}
                head = plan.plan.steps[-1]
                assert isinstance(head, File)
                rows.append(layout.tagged(head.relation, self.heads(plan, known, k), ABSENT | marks))
        made = make_N(layout.columns, in_one_task(union(rows), self.rows), k)
        metrics = {"N_k": f"count_if({NOW} = {k})", WORK: f"sum({WORK})"} | Transition.counted(layout, ended(k))
        metrics |= layout.counted(in_minus(k + 1, BEFORE, NOW), "I-") | layout.counted(
            in_plus(k + 1, BEFORE, NOW), "I+"
        )
        taken, counts = self.evaluation.checkpoints.take(made, metrics)
        self.work += counts[WORK]
        for name in self.stratum.relations:
            self.sizes[minus(name)], self.sizes[plus(name)] = counts[f"I-{name}"], counts[f"I+{name}"]
        return taken, counts

    def heads(self, plan: TermPlan, known: Query, k: int) -> Query:
        """Line 10: the heads of a term's derivations."""
        translation = Translation(self.surroundings, plan.plan, self.views(known, k))
        return translation.filed(lambda parts: chosen(plan, parts, k))

    def views(self, known: Query, k: int) -> Callable[[str, View], Query]:
        def view(name: str, seen: View) -> Query:
            base, diff = self.diffs.get(name, (name, None))
            rows = self.both_states(base, known)
            if diff is not None:
                rows = rows.where(diff(k, BEFORE, NOW))
            elif seen is not View.ALL:
                rows = rows.where(f"{BEFORE if seen is View.BEFORE else NOW} < {k}")
            return in_one_task(rows, self.rows)

        return view

    def both_states(self, name: str, known: Query) -> Query:
        """The tuples of a relation before and now; those of lower strata are in iteration 0."""
        if name in self.stratum.relations:
            return self.layout.rows(name, known, BEFORE, NOW)
        if name not in self.changes:
            return self.tables[name].relation(name).adding({BEFORE: "0", NOW: "0"})
        change = self.changes[name]
        rows = change.layout.rows(name, change.rows, BEFORE, NOW)
        return rows.adding({c: f"IF({is_there(c)}, 0, {NEVER})" for c in (BEFORE, NOW)})


def chosen(plan: TermPlan, parts: tuple[Part, ...], k: int) -> Sql:
    """Which derivations of a plan the term has in iteration k."""
    before, now = [f"b{part.row}" for part in parts], [f"w{part.row}" for part in parts]
    negated = [part.role is Role.NEGATED for part in parts]
    match plan.term:
        case Term.DELETION:  # Pi#[I_{k-1}^o | N_{k-1}^o | I_{k-1}^-, I_0^+]
            diffs = [(in_plus if n else in_minus)(k, b, w) for n, b, w in zip(negated, before, now, strict=True)]
            return conjunction((f"{level(before, negated)} = {k - 1}", *is_first(diffs, plan.diff)))
        case Term.INSERTION:  # Pi#[I_{k-1} | N_{k-1} | I_{k-1}^+, I_0^-]
            diffs = [(in_minus if n else in_plus)(k, b, w) for n, b, w in zip(negated, before, now, strict=True)]
            return conjunction((f"{level(now, negated)} = {k - 1}", *is_first(diffs, plan.diff)))
    # Pi#[I_{k-1}^o and I_{k-1} | N_{k-1}], where no negated tuple is in either
    absent = [f"{b} = {NEVER}" for n, b in zip(negated, before, strict=True) if n]
    return conjunction((f"{level(now, negated)} = {k - 1}", f"{level(before, negated)} < {k}", *absent))


def make_N(columns: tuple[str, ...], rows: Query, k: int) -> Query:
    """Lines 10 to 13: N#_k from N#o_k and what the terms take from it and add."""
    deleted, inserted, rediscovered = TERMS.values()
    found = rows.grouped(columns, MERGED | {name: f"sum({name})" for name in TERMS.values()})
    less = f"IF({BEFORE} >= {k}, {deleted}, 0)"  # without I_{k-1}^o
    more = f"({inserted} + IF({BEFORE} < {k}, {rediscovered}, 0))"  # found again: of I_{k-1}^-
    touched = f"({NOW} >= {k} AND {less} + {more} > 0)"  # without I_{k-1}
    derived = f"(IF({NOW} = {k}, {NOW_COUNT}, 0) - {less} + {more})"
    return found.select(
        {c: c for c in (*columns, BEFORE, BEFORE_COUNT)}
        | {
            NOW: f"IF({touched}, IF({derived} > 0, {k}, {NEVER}), {NOW})",
            NOW_COUNT: f"IF({touched}, {derived}, {NOW_COUNT})",
            WORK: f"{deleted} + {inserted} + {rediscovered}",
        }
    )


def end_with(rows: Query, columns: tuple[str, ...], k: int) -> Query:
    """N# ends with N_k: what is left of later N#o is no part of it."""
    kept = {c: c for c in (*columns, BEFORE, BEFORE_COUNT)}
    return rows.select(kept | {NOW: ended(k), NOW_COUNT: f"IF({NOW} > {k}, 0L, {NOW_COUNT})"})


def ended(k: int) -> Sql:
    """The iteration of a tuple now, if there are none after k."""
    return f"IF({NOW} > {k}, {NEVER}, {NOW})"


# ---- sets, by the iterations of tuples before and now


def in_minus(k: int, before: Sql, now: Sql) -> Sql:
    """I_{k-1}^-"""
    return f"({before} < {k} AND {now} >= {k})"


def in_plus(k: int, before: Sql, now: Sql) -> Sql:
    """I_{k-1}^+"""
    return f"({now} < {k} AND {before} >= {k})"


def level(iterations: list[Sql], negated: list[bool]) -> Sql:
    """The greatest iteration of a derivation's positive parts; 0 if it has none."""
    return f"greatest(0, 0, {', '.join(i for i, n in zip(iterations, negated, strict=True) if not n) or 0})"


def is_first(in_diff: list[Sql], part: int | None) -> list[Sql]:
    """That this part is the first that is in the diff: so that a derivation with several is counted once."""
    assert part is not None
    return [in_diff[part], *(f"NOT {earlier}" for earlier in in_diff[:part])]
