"""Update as the paper has it: Algorithm 3, with negation and constraints (section 3.3), to the letter.

It is the specification that `update.py` is measured against and tested with, and no more than that: every iteration
evaluates its three terms over everything that has changed so far. The paper's sets, for one stratum, in the store:

- E, E-, E+: the stratum's input before the epoch and its change: the tuples of lower strata, and its own facts;
- N_k^o, N_k: the tuples of iteration k, before (`Relation.before` is k) and now (`now` is k); `derived` is their
  count in N#_k. Input tuples are in N_0. A tuple that is nowhere has the iteration NEVER;
- I_k^o, I_k: those with `before` <= k, and those with `now` <= k;
- I_k^-, I_k^+: the diffs, I_k^o without I_k and the other way round. They are relations of their own
  (`plan/orders/paper_terms.py`), since the rules are joined with them;
- Pi#[I | N | D]: plans find derivations over the whole state before (or after) with a part in D; that their parts are
  in I_{k-1}, and one of them in N_{k-1}, is asked afterwards (`plan/paper_sets.py`).

When iteration k begins, `now` < k is final and `now` >= k is still what it was: so N#_k begins as N#o_k. Where the text
of the paper and its proof differ, see `docs/dev/decisions/0005-update-paper.md`.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.state import RowChange, State
from tidelog.evaluate.statistics import Statistics
from tidelog.evaluate.updates.derivation_rows import DerivationRows, Found, Iterations, is_negated, prepare
from tidelog.evaluate.updates.diffs import Diffs
from tidelog.plan import steps
from tidelog.plan.orders.paper_terms import PaperTerm, Switches, TermPlan, term_plans
from tidelog.plan.paper_sets import counted, wanted
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import NEVER
from tidelog.store.index import Index
from tidelog.store.update import UNLIMITED, OverBudget, Watch, changed_rows

Bits = NDArray[np.bool_]
Tally = dict[str, list[tuple[Words, int]]]
"""Heads by row number, once per derivation, and what a derivation adds to their count."""


class PaperUpdate:
    """Algorithm 3 for one stratum."""

    def __init__(self, state: State, stratum: StatefulStratum, switches: Switches) -> None:
        self.state, self.stratum = state, stratum
        self.relations = [state.database[name] for name in (*stratum.inputs, *stratum.relations)]
        self.iterations = Iterations(state, stratum.relations)
        plans = [
            plan
            for rule in stratum.rules
            for plan in term_plans(rule, stratum.relations, Statistics(state.database), switches)
        ]
        self.diffs = Diffs(state, stratum, plans, eager=switches.diffs == "eager")
        self.rules = [(plan, DerivationRows(state, plan.plan, stratum.relations)) for plan in plans]

    @property
    def stale(self) -> bool:
        return any(self.state.database.relations.get(r.name) is not r for r in self.relations)

    @property
    def plans(self) -> list[steps.Plan]:
        return [term.plan for term, _ in self.rules]

    def prepare(self) -> list[Index]:
        prepare(self.state, [rows for _, rows in self.rules])
        return []

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        """Update the stratum by what changed below it and among its facts; the work done."""
        effort_before = self.effort
        try:
            self.diffs.begin()  # lines 4, 5: I_0^- <- E-, I_0^+ <- E+ (1: `apply_facts` has made N_0)
            sizes = self.sizes()
            for k in count(1):  # line 6
                work = self.effort - effort_before
                if work > budget:
                    raise OverBudget
                if watch is not None:
                    watch(k, work)
                changed = {name: self.make_N(k, name, found, sizes) for name, found in self.evaluate_rules(k).items()}
                self.diffs.advance(k, changed)  # lines 14, 15
                if sizes[k] == 0:  # line 16
                    break
            self.end_with(k)  # line 17
        finally:
            self.diffs.forget()
        for name in self.stratum.relations:
            self.state.epoch.changes[name] = RowChange(*changed_rows(self.state.database[name]))
        return self.effort - effort_before

    @property
    def effort(self) -> int:
        return sum(rows.effort for _, rows in self.rules)

    def sizes(self) -> Counter[int]:
        """How many tuples each N_k has."""
        sizes: Counter[int] = Counter()
        for name in self.stratum.relations:
            now = self.state.database[name].now()
            sizes.update(dict(enumerate(np.bincount(now[now != NEVER]).tolist())))
        return sizes

    # ---- line 10: rule evaluation

    def evaluate_rules(self, k: int) -> Tally:
        """The heads of the three terms: what is taken from N#o_k, and what is added."""
        tally: Tally = {}
        for term, rows in self.rules:
            if self.diffs.is_empty(term.guard):
                continue
            change = self.heads(k, term, rows), -1 if term.term is PaperTerm.DELETION else 1
            tally.setdefault(rows.relation, []).append(change)
        return tally

    def heads(self, k: int, term: TermPlan, rows: DerivationRows) -> Words:
        """The heads of a term's derivations whose count it changes, once for each."""

        def chosen(found: Found) -> Bits:
            before, now = self.iterations.of_parts(found)
            always = np.ones(len(found), np.bool_)
            return cast(Bits, wanted(term, k, before.T, now.T, is_negated(found), always, NEVER))

        relation, tuples = self.state.database[rows.relation], rows.run(chosen).heads
        heads = relation.enter_absent(tuples) if term.term is PaperTerm.INSERTION else relation.find(tuples)
        return heads[counted(term.term, k, *self.iterations.of(rows.relation, heads))]

    # ---- lines 10 to 13: the new N_k

    def make_N(self, k: int, name: str, found: list[tuple[Words, int]], sizes: Counter[int]) -> Words:
        """N#_k from N#o_k and the terms; the rows that these name."""
        relation = self.state.database[name]
        rows, which = np.unique(np.concatenate([heads for heads, _ in found]), return_inverse=True)
        added = np.concatenate([np.full(len(heads), number) for heads, number in found])
        change = np.bincount(which, added, len(rows)).astype(np.int64)
        _, now = self.iterations.of(name, rows)
        kept = now >= k  # line 11: not those of I_{k-1}^+; they have left N_k when they came into their earlier N
        rows, change, now = rows[kept], change[kept], now[kept]
        derived = np.where(now == k, relation.derived(rows), 0) + change
        then = np.where(derived > 0, k, NEVER)
        relation.remember(rows)
        relation.set_now(rows, then)
        relation.set_derived(rows, derived)
        relation.dirty = True
        sizes.subtract(now.tolist())
        sizes.update(then.tolist())
        return rows

    def end_with(self, k: int) -> None:
        """N# ends with N_k: what is left of later N#o is no part of it."""
        for name in self.stratum.relations:
            relation = self.state.database[name]
            now = relation.now()
            rows = np.flatnonzero((now > k) & (now != NEVER))
            relation.remember(rows)
            relation.set_now(rows, NEVER)
            relation.set_derived(rows, 0)
