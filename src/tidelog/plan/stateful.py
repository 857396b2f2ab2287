"""A checked program as rules whose derivations can be counted one by one, for evaluation that keeps its state.

What is always true of a stratum without a reason to be `whole`: the bodies of its rules are positive atoms, negated
atoms with every column bound, filters and definitions without aggregates; its negated atoms and aggregates are over
strata before it. Of the tuples that an atom matches, at most one atom of a body has several that differ in nothing that
the rule looks at. Projections, parts, aggregates and their domains are strata of their own, each before the first that
reads it; but a projection or a part that reads a relation of the stratum which asks for it belongs to that stratum.

Where equivalences are to be held `by_classes`, an `eqrel` that its own stratum does not read has the pairs that were
given and derived, and no others; a stratum behind it has the classes that follow from them, and rules read those
(`read_classes.py`). Elsewhere its stratum is whole.

Where ranks are to be kept (`by_ranks`), a stratum of recursion for the best (`best_of.py`) is not whole: its rules are
rewritten like others, and it has an order besides. It keeps its gates for data that do not fit what its rules say.

A `whole` stratum keeps its rules as they are. What it holds is no sum of derivations, or depends on the order in which
they are found, so that a change which reaches it evaluates it anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from tidelog.analysis.checked import Checked
from tidelog.analysis.strata import Stratum
from tidelog.lang.depth import deep_recursion
from tidelog.plain import dataclass
from tidelog.plan import core
from tidelog.plan.best_of import BestOf, NotShown, best_of
from tidelog.plan.flatten import flatten
from tidelog.plan.gates import GatePlan, choice_keys, gates_of
from tidelog.plan.rewrites import STATEFUL, WHOLE
from tidelog.plan.rewrites.extract_aggregates import extract_aggregates, groups_are_recursive
from tidelog.plan.rewrites.parts import PartRelations
from tidelog.plan.rewrites.read_classes import classes_of, implicit_equivalences, sizes_of
from tidelog.plan.rewrites.rewrite import Made, Rewrite, RuleScope, applied
from tidelog.plan.steps import Const, Operand
from tidelog.plan.text_facts import FEW, gather_facts
from tidelog.plan.whole import SUBSUMPTION, reasons_to_be_whole
from tidelog.values import Kind

RECURSIVE_GROUPS = "an aggregate whose groups the recursion finds"


@dataclass(frozen=True, slots=True)
class StatefulStratum:
    """Relations that depend on each other, and what defines them: rules, one aggregate, or the `equivalence` whose
    classes they are.

    `whole` says why a change evaluates the stratum anew, and `best` in which order only the best counts. `inputs` are
    the relations of other strata that it reads, `gates` what its derived tuples go through.
    """

    relations: tuple[str, ...]
    inputs: tuple[str, ...]
    rules: tuple[core.CoreRule, ...] = ()
    aggregate: core.AggregateRelation | None = None
    whole: str | None = None
    recursive: bool = False
    equivalence: str | None = None
    gates: tuple[GatePlan, ...] = ()
    best: BestOf | None = None

    @property
    def defined(self) -> bool:
        """Whether it holds more than facts."""
        return bool(self.rules or self.aggregate or self.equivalence)


@dataclass(frozen=True, slots=True)
class StatefulProgram:
    """The strata in order of evaluation; the kinds of the columns of every relation, auxiliary ones included, and the
    names of their types, where those are known; and the `implicit` equivalences, which are known by their classes."""

    checked: Checked
    strata: tuple[StatefulStratum, ...]
    kinds: Mapping[str, tuple[Kind, ...]]
    types: Mapping[str, tuple[str, ...]]
    implicit: frozenset[str] = frozenset()

    @property
    def arities(self) -> dict[str, int]:
        return {name: len(kinds) for name, kinds in self.kinds.items()}

    @property
    def auxiliaries(self) -> tuple[str, ...]:
        """The relations that are not the user's."""
        return tuple(name for name in self.kinds if name not in self.checked.relations)


def stateful_program(
    checked: Checked, by_classes: bool = False, rewrites: Sequence[Rewrite] = STATEFUL, by_ranks: bool = False
) -> StatefulProgram:
    """The program's rules, rewritten; everything they define is as before."""
    implicit = implicit_equivalences(checked) if by_classes else frozenset[str]()
    rewriting = Rewriting(checked, rewrites, implicit, with_state=True, by_ranks=by_ranks)
    with deep_recursion():
        for stratum in checked.strata:
            rewriting.add(stratum)
            for name in sorted(implicit.intersection(stratum.relations)):
                rewriting.add_classes(name)
    return StatefulProgram(checked, tuple(rewriting.strata), rewriting.kinds, rewriting.types, implicit)


def flat_rules(checked: Checked, stratum: Stratum) -> tuple[core.CoreRule, ...]:
    """The rules of a stratum as they are written."""
    return tuple(flatten(number, checked.clause_types[number]) for number in stratum.clauses)


class Rewriting:
    """A program's strata on their way through a list of rewrites. Relations that are made become strata of their own,
    in `strata`, before the one that asked for them; `kinds` and `types` are the columns of all relations."""

    def __init__(
        self,
        checked: Checked,
        rewrites: Sequence[Rewrite],
        implicit: frozenset[str],
        with_state: bool,
        by_ranks: bool = False,
    ) -> None:
        self.checked, self.rewrites, self.implicit, self.with_state = checked, rewrites, implicit, with_state
        self.by_ranks = by_ranks
        self.strata: list[StatefulStratum] = []
        self.kinds = {name: info.kinds for name, info in checked.relations.items()}
        self.types = {name: tuple(info.types) for name, info in checked.relations.items()}
        chosen = {name: choice_keys(info) for name, info in checked.relations.items() if info.decl.choice}
        self.keys = chosen if with_state else {}
        self.parts = PartRelations()

    def add(self, stratum: Stratum) -> None:
        flat = flat_rules(self.checked, stratum)
        relations, rules = stratum.relations, self.as_whole(flat)
        reasons = reasons_to_be_whole(self.checked, stratum, rules, self.implicit)
        reason = next(iter(reasons), None)
        if self.by_ranks and reasons == [SUBSUMPTION]:
            try:
                self.strata.append(self.as_best(stratum, flat, rules))
                return
            except NotShown as problem:
                reason = f"{SUBSUMPTION} ({problem})"
        if not reason and extract_aggregates in self.rewrites:
            recursive = any(groups_are_recursive(rule, stratum.relations) for rule in rules)
            reason = RECURSIVE_GROUPS if recursive else None
        if not reason:
            relations, rules = self.rewritten(self.without_facts(flat), stratum.relations)
        inputs = _inputs(rules, relations)
        gates = gates_of(self.checked, relations, rules, self.implicit) if reason else ()
        self.strata.append(
            StatefulStratum(relations, inputs, rules, whole=reason, recursive=stratum.recursive, gates=gates)
        )

    def as_best(
        self, stratum: Stratum, flat: Sequence[core.CoreRule], whole: Sequence[core.CoreRule]
    ) -> StatefulStratum:
        """A stratum of recursion for the best; NotShown, and nothing has changed, if it is none."""
        order = best_of(whole, stratum.relations)
        given = sorted(directive.relation for directive in self.checked.directives("input"))
        for name in order.columns:
            if name in given:
                raise NotShown(f"{name} is given as facts as well")
        if any(groups_are_recursive(rule, stratum.relations) for rule in flat if not rule.subsumes):
            raise NotShown(RECURSIVE_GROUPS)
        held = list(self.strata), dict(self.kinds), dict(self.types), dict(self.keys)
        subsumptions = [rule for rule in flat if rule.subsumes]
        for name in order.columns:
            self.keys[name] = [order.key_columns(name, len(self.kinds[name]))]
        relations, rules = stratum.relations, tuple(whole)
        if self.with_state:
            counted = self.without_facts([rule for rule in flat if not rule.subsumes], few=0)
            relations, found = self.rewritten(counted, stratum.relations)
            rules = (*found, *subsumptions)
        try:
            order = best_of(rules, relations)
        except NotShown:
            self.strata, self.kinds, self.types, self.keys = held
            raise
        gates = gates_of(self.checked, relations, rules, self.implicit)
        inputs = _inputs(rules, relations)
        return StatefulStratum(relations, inputs, rules, recursive=stratum.recursive, gates=gates, best=order)

    def as_whole(self, rules: Iterable[core.CoreRule]) -> tuple[core.CoreRule, ...]:
        """The rules of a stratum that is evaluated as a whole."""
        scope = RuleScope((), implicit=self.implicit)
        rewrites = [rewrite for rewrite in self.rewrites if rewrite in WHOLE]
        return tuple(found for rule in rules for found in applied(rewrites, rule, scope))

    def without_facts(self, rules: Iterable[core.CoreRule], few: int = FEW) -> Iterable[core.CoreRule]:
        """The rules, with more than a few facts in a stratum of their own if each is to be counted."""
        if not self.with_state:
            return rules
        rest, gathered = gather_facts(list(rules), self.kinds, few)
        for name, facts in gathered.items():
            self.know(name, (Kind.NUMBER, *self.kinds[facts[0].relation.removesuffix("@text")]))
            self.strata.append(StatefulStratum((name,), (), tuple(facts)))
        return rest

    def add_classes(self, name: str) -> None:
        """A stratum for the classes of an equivalence, behind that of its pairs."""
        classes, sizes = classes_of(name), sizes_of(name)
        self.know(classes, (self.kinds[name][0], Kind.NUMBER), (self.types[name][0], Kind.NUMBER.value))
        self.know(sizes, (Kind.NUMBER, Kind.NUMBER))
        self.keys[classes] = self.keys[sizes] = [(0,)]
        self.strata.append(StatefulStratum((classes, sizes), (name,), equivalence=name))

    def rewritten(
        self, rules: Iterable[core.CoreRule], own: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[core.CoreRule, ...]]:
        """The relations and rules of a stratum after all rewrites, with relations that were made for it and read it;
        others are added before it."""
        relations, waiting, done = dict.fromkeys(own), deque(rules), list[core.CoreRule]()
        allowed = self.storable(relations) if self.with_state else lambda made: True
        scope = RuleScope(relations.keys(), self.kinds, self.keys, self.implicit, self.parts, allowed)
        while waiting:
            found = [waiting.popleft()]
            for rewrite in self.rewrites:
                results = [rewrite(rule, scope) for rule in found]
                found = [rule for result in results for rule in result.rules]
                for made in (made for result in results for made in result.made if made.relation not in self.kinds):
                    self.know_made(made)
                    if relations.keys().isdisjoint(core.relations_in(_rule_of(made).body)):
                        self.add_auxiliary(made)
                    else:
                        relations[made.relation] = None
                        waiting.append(_rule_of(made))
            done += found
        return tuple(relations), tuple(done)

    def add_auxiliary(self, made: Made) -> None:
        """A stratum for one relation that was made."""
        names = (made.relation,)
        if isinstance(made, core.AggregateRelation):
            self.strata.append(StatefulStratum(names, _inputs([made.rule()], names), aggregate=made))
        else:
            relations, rules = self.rewritten([made], names)
            self.strata.append(StatefulStratum(relations, _inputs(rules, relations), rules))

    def know_made(self, made: Made) -> None:
        if isinstance(made, core.AggregateRelation):
            self.know(made.relation, made.kinds)
            self.keys[made.relation] = [tuple(range(len(made.group)))]
        else:
            self.know(made.relation, tuple(_kind_of(arg, made) for arg in made.args), self.types_of(made))

    def storable(self, own: Mapping[str, None]) -> Callable[[core.CoreRule], bool]:
        """Whether a made relation can be kept in files: one that is part of a recursion cannot be made again from the
        relations that are."""
        return lambda made: own.keys().isdisjoint(core.relations_in(made.body)) or self.types_of(made) is not None

    def know(self, name: str, kinds: tuple[Kind, ...], types: tuple[str, ...] | None = None) -> None:
        self.kinds[name] = kinds
        if types is None and Kind.RECORD not in kinds:
            types = tuple(kind.value for kind in kinds)
        if types is not None:
            self.types[name] = types

    def types_of(self, made: core.CoreRule) -> tuple[str, ...] | None:
        """The names of the types of a made relation's columns: those of the atoms that bind them. None if a record's
        type has no name."""
        found: dict[Operand, str] = {}
        for atom in made.atoms():
            for arg, name in zip(atom.args, self.types.get(atom.relation, ()), strict=False):
                if arg is not None:
                    found.setdefault(arg, name)
        names = [found.get(arg) or _plain_name(_kind_of(arg, made)) for arg in made.args]
        return None if None in names else tuple(name for name in names if name is not None)


def _rule_of(made: Made) -> core.CoreRule:
    return made.rule() if isinstance(made, core.AggregateRelation) else made


def _plain_name(kind: Kind) -> str | None:
    return None if kind is Kind.RECORD else kind.value


def _inputs(rules: Iterable[core.CoreRule], own: Collection[str]) -> tuple[str, ...]:
    read = (name for rule in rules for name in core.relations_in(rule.body))
    return tuple(dict.fromkeys(name for name in read if name not in own))


def _kind_of(operand: Operand, rule: core.CoreRule) -> Kind:
    return operand.kind if isinstance(operand, Const) else rule.slots[operand.index][1]
