"""The strata of a program as this executor evaluates them, and their evaluation from scratch.

With state, they are those of `plan/stateful.py`, whose derivations are counted one by one; without (strategy "batch"),
those of the checked program. Join orders are chosen when a stratum begins, by the sizes of the relations below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidelog.analysis.checked import Checked
from tidelog.analysis.strata import Stratum
from tidelog.lang.depth import deep_recursion
from tidelog.plain import dataclass
from tidelog.plan import core
from tidelog.plan.gates import GatePlan, gates_of
from tidelog.plan.orders.estimate import Guess
from tidelog.plan.program import plan_stratum
from tidelog.plan.stateful import RECURSIVE_GROUPS, StatefulStratum, flat_rules, stateful_program
from tidelog.plan.steps import View
from tidelog.spark.dataframe.fixpoint import Evaluation, FrameFixpoint, FrameGate
from tidelog.spark.dataframe.special import choice, equivalence, subsumption
from tidelog.spark.dataframe.sql import union
from tidelog.spark.dataframe.tables import COUNT, ITERATION, Table, TableLayout, TablePart
from tidelog.values import Kind

STATELESS = "no state is kept"


@dataclass(frozen=True)
class FrameProgram:
    """The strata in order, and the kinds of all relations' columns, auxiliary ones included."""

    checked: Checked
    strata: tuple[StatefulStratum, ...]
    kinds: Mapping[str, tuple[Kind, ...]]


def program_of(checked: Checked, counted: bool) -> FrameProgram:
    """The program with or without state."""
    stateful = stateful_program(checked)
    if counted:
        return FrameProgram(checked, in_waves(stateful.strata), stateful.kinds)
    reasons = {s.relations: s.whole for s in stateful.strata if s.whole and s.whole != RECURSIVE_GROUPS}
    with deep_recursion():
        strata = [_plain(checked, stratum, reasons.get(stratum.relations, STATELESS)) for stratum in checked.strata]
    return FrameProgram(checked, in_waves(strata), {name: info.kinds for name, info in checked.relations.items()})


def _plain(checked: Checked, stratum: Stratum, reason: str) -> StatefulStratum:
    rules = flat_rules(checked, stratum)
    read = dict.fromkeys(name for rule in rules for name in core.relations_in(rule.body))
    inputs = tuple(name for name in read if name not in stratum.relations)
    gates = gates_of(checked, stratum.relations, rules)
    return StatefulStratum(stratum.relations, inputs, rules, whole=reason, recursive=stratum.recursive, gates=gates)


def in_waves(strata: Iterable[StatefulStratum]) -> tuple[StatefulStratum, ...]:
    """The strata by how many others they must wait for; those without recursion that wait for the same number are one,
    so that one Spark job evaluates them."""
    depth: dict[str, int] = {}
    waves: dict[int, list[StatefulStratum]] = {}
    for stratum in strata:
        level = 1 + max((depth[name] for name in stratum.inputs), default=0)
        depth.update(dict.fromkeys(stratum.relations, level))
        waves.setdefault(level, []).append(stratum)
    return tuple(made for _, wave in sorted(waves.items()) for made in _joined(wave))


def _joined(wave: list[StatefulStratum]) -> list[StatefulStratum]:
    simple = [s for s in wave if s.rules and not s.recursive and s.whole in (None, STATELESS)]
    if len(simple) < 2:
        return wave
    joined = StatefulStratum(
        tuple(name for s in simple for name in s.relations),
        tuple(dict.fromkeys(name for s in simple for name in s.inputs)),
        tuple(rule for s in simple for rule in s.rules),
        whole=simple[0].whole,
    )
    return [*(s for s in wave if s not in simple), joined]


class Sizes(Guess):
    """An estimate by the sizes of the relations that are complete; each bound column divides them equally."""

    def __init__(self, arities: dict[str, int], counts: Mapping[str, int]) -> None:
        super().__init__(arities)
        self.counts = counts

    def size(self, relation: str, view: View) -> float:
        if view is View.DELTA or relation not in self.counts:
            return super().size(relation, view)
        return float(max(1, self.counts[relation]))

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        return float(self.size(relation, view) ** (1 - len(columns) / max(1, self.arities[relation])))


def estimate(program: FrameProgram, tables: Mapping[str, Table]) -> Sizes:
    arities = {name: len(kinds) for name, kinds in program.kinds.items()}
    return Sizes(arities, {name: table.counts[name] for name, table in tables.items()})


def evaluate(
    evaluation: Evaluation, program: FrameProgram, stratum: StatefulStratum, tables: Mapping[str, Table]
) -> Table:
    """The table of a stratum, from its facts (in `tables`, under its own names) and the relations below."""
    inputs = {name: tables[name] for name in stratum.inputs}
    sizes = estimate(program, inputs)
    rules = stratum.rules if stratum.aggregate is None else (stratum.aggregate.rule(),)
    relations = Stratum(stratum.relations, (), stratum.recursive)
    plan = plan_stratum(relations, rules, sizes, counted=not stratum.whole)
    facts = facts_of(program, stratum.relations, tables)
    fixpoint = FrameFixpoint(evaluation, plan, inputs)
    fixpoint.gates = tuple(_gate(gate, fixpoint, facts, sizes) for gate in stratum.gates)
    return fixpoint.run(facts)


def _gate(plan: GatePlan, fixpoint: FrameFixpoint, facts: Table, sizes: Sizes) -> FrameGate:
    checkpoints, name = fixpoint.evaluation.checkpoints, plan.relation
    if plan.subsumptions:
        return subsumption(fixpoint, name, plan.subsumptions, sizes)
    return choice(checkpoints, name, plan.keys, facts) if plan.keys else equivalence(checkpoints, name)


def facts_of(program: FrameProgram, relations: tuple[str, ...], given: Mapping[str, Table]) -> Table:
    """The facts of a stratum's relations as a table of it: iteration 0, count 1."""
    layout = TableLayout({name: program.kinds[name] for name in relations})
    state = {ITERATION: "0", COUNT: "1L"}
    rows = [layout.tagged(name, given[name].relation(name), state) for name in relations if name in given]
    counts = {name: given[name].counts[name] if name in given else 0 for name in relations}
    return Table(layout, (TablePart(union(rows or [layout.empty()]), 0, 0),), counts, sum(counts.values()))
