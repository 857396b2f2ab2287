"""A checked program as rules whose derivations can be counted one by one, for evaluation that keeps its state.

What is always true of a stratum without a reason to be `whole`: the bodies of its rules are positive atoms, negated
atoms with every column bound, filters and definitions without aggregates; its negated atoms and aggregates are over
strata before it. Projections (`projections.py`), aggregates and their domains (`aggregate_relations.py`) are strata of
their own, each before the first that reads it.

A `whole` stratum keeps its rules as they are. What it holds is no sum of derivations, or depends on the order in which
they are found, so that a change which reaches it evaluates it anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tidelog.analysis.check import Checked
from tidelog.analysis.graph import Stratum
from tidelog.lang.depth import deep_recursion
from tidelog.plan import core
from tidelog.plan.aggregate_relations import AggregateRelation, extract_aggregates
from tidelog.plan.flatten import flatten
from tidelog.plan.projections import project_negations
from tidelog.plan.steps import Const, Operand
from tidelog.plan.text_facts import gather_facts
from tidelog.values import Kind

RECURSIVE_GROUPS = "an aggregate whose groups the recursion finds"


@dataclass(frozen=True, slots=True)
class StatefulStratum:
    """Relations that depend on each other, and what defines them: rules, or one aggregate.

    `whole` says why a change evaluates the stratum anew. `inputs` are the relations of other strata that it reads.
    """

    relations: tuple[str, ...]
    inputs: tuple[str, ...]
    rules: tuple[core.CoreRule, ...] = ()
    aggregate: AggregateRelation | None = None
    whole: str | None = None
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class StatefulProgram:
    """The strata in order of evaluation, and the kinds of the columns of every relation, auxiliary ones included."""

    checked: Checked
    strata: tuple[StatefulStratum, ...]
    kinds: Mapping[str, tuple[Kind, ...]]

    @property
    def arities(self) -> dict[str, int]:
        return {name: len(kinds) for name, kinds in self.kinds.items()}

    @property
    def auxiliaries(self) -> tuple[str, ...]:
        """The relations that are not the user's."""
        return tuple(name for name in self.kinds if name not in self.checked.relations)


def stateful_program(checked: Checked) -> StatefulProgram:
    """The program's rules, rewritten; everything they define is as before."""
    rewrite = _Rewrite(checked)
    with deep_recursion():
        for stratum in checked.strata:
            rewrite.add(stratum)
    return StatefulProgram(checked, tuple(rewrite.strata), rewrite.kinds)


def relations_in(body: Iterable[core.CoreItem]) -> Iterator[str]:
    """The relations that a body reads, those inside aggregates too."""
    for item in body:
        match item:
            case core.CoreAtom(relation=name) | core.CoreAbsent(relation=name):
                yield name
            case core.CoreDefine(expression=core.Aggregated(body=inner)):
                yield from relations_in(inner)


class _Rewrite:
    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.strata: list[StatefulStratum] = []
        self.kinds = {name: info.kinds for name, info in checked.relations.items()}
        self.limited = {directive.relation for directive in checked.directives("limitsize")}

    def add(self, stratum: Stratum) -> None:
        rules = [flatten(number, self.checked.clause_types[number]) for number in stratum.clauses]
        reason = self.reason_to_be_whole(stratum, rules)
        extracted = [] if reason else [extract_aggregates(rule, stratum.relations) for rule in rules]
        if None in extracted:
            reason = RECURSIVE_GROUPS
        if not reason:
            rules, gathered = gather_facts(rules, self.kinds)
            for name, facts in gathered.items():
                self.kinds[name] = (Kind.NUMBER, *self.kinds[facts[0].relation.removesuffix("@text")])
                self.strata.append(StatefulStratum((name,), (), tuple(facts)))
            extracted = [extract_aggregates(rule, stratum.relations) for rule in rules]
            for made in (made for found in extracted if found for made in found[1]):
                self.add_auxiliary(made)
            rules = [self.projected(found[0]) for found in extracted if found]
        inputs = _inputs(rules, stratum.relations)
        self.strata.append(
            StatefulStratum(stratum.relations, inputs, tuple(rules), whole=reason, recursive=stratum.recursive)
        )

    def add_auxiliary(self, made: core.CoreRule | AggregateRelation) -> None:
        """A stratum for one auxiliary relation, once."""
        if made.relation in self.kinds:
            return
        names = (made.relation,)
        if isinstance(made, AggregateRelation):
            self.kinds[made.relation] = made.kinds
            self.strata.append(StatefulStratum(names, _inputs([made.rule()], names), aggregate=made))
        else:
            self.kinds[made.relation] = tuple(_kind_of(arg, made) for arg in made.args)
            rule = self.projected(made)
            self.strata.append(StatefulStratum(names, _inputs([rule], names), (rule,)))

    def projected(self, rule: core.CoreRule) -> core.CoreRule:
        rule, projections = project_negations(rule, self.kinds)
        for projection in projections:
            self.add_auxiliary(projection)
        return rule

    def reason_to_be_whole(self, stratum: Stratum, rules: list[core.CoreRule]) -> str | None:
        declared = [self.checked.relations[name].decl for name in stratum.relations]
        expressions = {type(e) for rule in rules for e in _expressions(rule.body)}
        reasons = {
            "an eqrel": any("eqrel" in decl.qualifiers for decl in declared),
            "a choice-domain": any(decl.choice for decl in declared),
            "subsumption": any(rule.subsumes for rule in rules),
            "a .limitsize": not self.limited.isdisjoint(stratum.relations),
            "autoinc()": core.Counted in expressions,
            "the number of the iteration": core.Iterated in expressions,
        }
        return next((reason for reason, holds in reasons.items() if holds), None)


def _inputs(rules: Iterable[core.CoreRule], own: Collection[str]) -> tuple[str, ...]:
    read = (name for rule in rules for name in relations_in(rule.body))
    return tuple(dict.fromkeys(name for name in read if name not in own))


def _expressions(body: Iterable[core.CoreItem]) -> Iterator[core.Expression]:
    for item in body:
        if isinstance(item, core.CoreDefine):
            yield item.expression
            if isinstance(item.expression, core.Aggregated):
                yield from _expressions(item.expression.body)


def _kind_of(operand: Operand, rule: core.CoreRule) -> Kind:
    return operand.kind if isinstance(operand, Const) else rule.slots[operand.index][1]
