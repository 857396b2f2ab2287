"""The paper's Update (paper 002, Algorithm 3, with section 3.3) for one stratum, two Spark actions per iteration.

The sets are those of `plan/paper_sets.py`, as filters over the stratum's transition, a frame with the iterations of
each tuple before (`_b`) and now (`_w`): N_k^o and N_k are the tuples with `_b` = k and with `_w` = k.

`_w` < k is final, and `_w` >= k still what it was, so N#_k begins as N#o_k. An iteration finds the heads of the three
terms (`plan/orders/paper_terms.py`) and then what they make of the states of these tuples: what is taken from a count,
and what is added. Plans whose diff is empty are left out. Only the tuples that have changed are written (`touched.py`);
all others are read where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from tidelog.epochs.budget import Allowance
from tidelog.plain import replace
from tidelog.plan.orders.paper_terms import PaperTerm, Switches, TermPlan, minus, plus, term_plans
from tidelog.plan.paper_sets import counted, in_minus, in_plus, wanted
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.steps import File, MatchedRow, Role, View
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.sql import TRUE, Select, Sql, SqlExpression, union
from tidelog.spark.dataframe.strata import FrameProgram, estimate
from tidelog.spark.dataframe.tables import BROADCAST, FEW, Table, in_one_task, is_small, tasks_for
from tidelog.spark.dataframe.touched import Touched
from tidelog.spark.dataframe.transitions import BEFORE_COUNT, NOW_COUNT, Transition, is_there
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW, Translation

SWITCHES = Switches(diffs="eager", rediscovery="joined", scheduling="diff-first")
TERMS = {PaperTerm.DELETION: "_deleted", PaperTerm.INSERTION: "_inserted", PaperTerm.REDISCOVERY: "_rediscovered"}
Diff = Callable[[int, SqlExpression, SqlExpression], SqlExpression]


class FramePaperUpdate:
    """Algorithm 3 for one stratum. `tables` are those before the epoch; `changes` has the transitions of the relations
    that changed below the stratum, `facts` that of the input facts if the stratum's own are among them."""

    def __init__(
        self,
        evaluation: Evaluation,
        program: FrameProgram,
        stratum: StatefulStratum,
        tables: Mapping[str, Table],
        changes: Mapping[str, Transition],
        facts: Transition | None,
        allowance: Allowance,
    ) -> None:
        self.evaluation, self.stratum, self.tables, self.changes = evaluation, stratum, tables, changes
        self.facts, self.allowance, self.work = facts, allowance, 0
        self.old = tables[stratum.relations[0]]
        self.layout = self.old.layout
        self.rows = sum(tables[name].counts[name] for name in (*stratum.inputs, *stratum.relations))
        sizes = estimate(program, {name: tables[name] for name in (*stratum.inputs, *stratum.relations)})
        self.diffs: dict[str, tuple[str, Diff]] = {}
        for name in program.kinds:
            self.diffs |= {minus(name): (name, in_minus), plus(name): (name, in_plus)}
        kinds = {diff: program.kinds[name] for diff, (name, _) in self.diffs.items()}
        sizes.arities |= {diff: len(columns) for diff, columns in kinds.items()}
        self.surroundings = replace(
            evaluation.surroundings, kinds={**program.kinds, **kinds}, tasks=tasks_for(self.rows)
        )
        self.plans = [p for rule in stratum.rules for p in term_plans(rule, stratum.relations, sizes, SWITCHES)]
        self.sizes: dict[str, int] = {}
        self.touched = Touched(evaluation.checkpoints, self.old, self.rows)

    def run(self) -> Transition:
        self.begin()
        for k in count(1):  # line 6
            self.evaluation.watch(k, self.old.size)
            self.iterate(k)
            if not self.stratum.recursive or not self.touched.is_level(k):  # line 16; without recursion N_2 is empty
                break
            self.allowance.look(k, self.work)
        return self.touched.transition(k)

    def begin(self) -> None:
        """N_0 of the new state; I_0^- <- E-, I_0^+ <- E+ (lines 1, 4, 5)."""
        for name in self.stratum.inputs:
            if name in self.changes:
                self.sizes[minus(name)] = self.changes[name].deleted[name]
                self.sizes[plus(name)] = self.changes[name].inserted[name]
        if self.facts is not None:
            for name in self.stratum.relations:
                self.sizes[minus(name)] = self.facts.deleted.get(name, 0)
                self.sizes[plus(name)] = self.facts.inserted.get(name, 0)
            self.enter(self.facts)

    def enter(self, facts: Transition) -> None:
        """The facts that came and went are touched."""
        layout, rows = self.layout, []
        names = [name for name in self.stratum.relations if name in facts.layout.kinds]
        for name in names:
            rows.append(layout.tagged(name, facts.rows_inserted(name), {"fact": "'inserted'"}))
            rows.append(layout.tagged(name, facts.rows_deleted(name), {"fact": "'deleted'"}))
        size = sum(facts.inserted[name] + facts.deleted[name] for name in names)
        found = self.touched.with_states(union(rows), size, {"fact": "''"}, {"fact": "max(fact)"})
        now = f"CASE fact WHEN 'inserted' THEN 0 WHEN 'deleted' THEN {NEVER} ELSE {NOW} END"
        number = f"CASE fact WHEN 'inserted' THEN 1L WHEN 'deleted' THEN 0L ELSE {NOW_COUNT} END"
        kept = {c: c for c in (*layout.columns, BEFORE, BEFORE_COUNT)}
        self.touched.take(found.select(kept | {NOW: now, NOW_COUNT: number}), {}, 0)

    # ---- an iteration

    def iterate(self, k: int) -> None:
        """Make N_k: by two actions, or one if nothing is derived in another way than before."""
        layout, found = self.layout, []
        for plan in self.plans:
            if self.sizes.get(plan.guard):
                marks = {name: str(int(plan.term is term)) for term, name in TERMS.items()}
                head = plan.plan.steps[-1]
                assert isinstance(head, File)
                found.append(layout.tagged(head.relation, self.heads(plan, k), marks))
        if not found:
            return
        sums = {name: f"sum({name})" for name in TERMS.values()}
        grouped = self.touched.together(found, self.touched.size).grouped(layout.columns, sums)
        work = " + ".join(TERMS.values())
        heads, counts = self.evaluation.checkpoints.take(grouped, {"heads": "count(1)", "work": f"sum({work})"})
        self.work += counts["work"]
        if not counts["heads"]:
            return
        rows = self.touched.with_states(heads, counts["heads"], dict.fromkeys(TERMS.values(), "0L"), sums)
        metrics = layout.counted(states(in_minus, k + 1), "I-") | layout.counted(states(in_plus, k + 1), "I+")
        counts = self.touched.take(make_N(layout.columns, rows, k), metrics, k)
        for name in self.stratum.relations:
            self.sizes[minus(name)], self.sizes[plus(name)] = counts[f"I-{name}"], counts[f"I+{name}"]

    def heads(self, plan: TermPlan, k: int) -> Select:
        """Line 10: the heads of a term's derivations."""
        translation = Translation(self.surroundings, plan.plan, self.views(k))
        return translation.filed(lambda parts: chosen(plan, parts, k))

    def views(self, k: int) -> Callable[[str, View], Select]:
        def view(name: str, seen: View) -> Select:
            if name in self.diffs:
                base, diff = self.diffs[name]
                rows = self.both_states(base, self.touched.rows).where(states(diff, k))
                sent = not is_small(self.rows) and self.sizes.get(name, 0) <= BROADCAST
                return rows.sent_to_all() if sent else in_one_task(rows, self.rows)
            rows = self.both_states(name, self.touched.known())
            if seen is not View.ALL:
                rows = rows.where(f"{BEFORE if seen is View.BEFORE else NOW} < {k}")
            if not is_small(self.rows) and self.tables[name].counts[name] <= FEW:
                return rows.sent_to_all()
            return in_one_task(rows, self.rows)

        return view

    def both_states(self, name: str, own: Select) -> Select:
        """The tuples of a relation before and now; those of lower strata are in iteration 0."""
        if name in self.stratum.relations:
            return self.layout.rows(name, own, BEFORE, NOW)
        if name not in self.changes:
            return self.tables[name].relation(name).adding({BEFORE: "0", NOW: "0"})
        change = self.changes[name]
        rows = change.layout.rows(name, change.rows, BEFORE, NOW)
        return rows.adding({c: f"IF({is_there(c)}, 0, {NEVER})" for c in (BEFORE, NOW)})


def states(diff: Diff, k: int) -> Sql:
    """Whether a tuple is in a diff, by its states."""
    return diff(k, SqlExpression(BEFORE), SqlExpression(NOW)).text


def chosen(plan: TermPlan, parts: tuple[MatchedRow, ...], k: int) -> Sql:
    """Which derivations of a plan the term has in iteration k."""
    before, now = ([SqlExpression(f"{state}{part.row}") for part in parts] for state in "bw")
    return wanted(plan, k, before, now, [part.role is Role.NEGATED for part in parts], TRUE, NEVER).text


def make_N(columns: tuple[str, ...], found: Select, k: int) -> Select:
    """Lines 10 to 13: N#_k from N#o_k and what the terms take from it and add."""
    less, more, again = (
        f"IF({counted(term, k, SqlExpression(BEFORE), SqlExpression(NOW)).text}, {name}, 0)"
        for term, name in TERMS.items()
    )
    more = f"({more} + {again})"
    touched = f"({NOW} >= {k} AND {less} + {more} > 0)"
    derived = f"(IF({NOW} = {k}, {NOW_COUNT}, 0) - {less} + {more})"
    return found.select(
        {c: c for c in (*columns, BEFORE, BEFORE_COUNT)}
        | {
            NOW: f"IF({touched}, IF({derived} > 0, {k}, {NEVER}), {NOW})",
            NOW_COUNT: f"IF({touched}, {derived}, {NOW_COUNT})",
        }
    )
