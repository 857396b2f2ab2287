"""A checked NDlog program in the form that the algorithms work on: rules over flat atoms, locations, aggregates.

An aggregate rule `h(@S,D,min<C>) :- body` becomes two things: a rule whose head is the *contribution* relation `h*`
(one tuple per match of the body, stored where the head is), and an `Aggregation` that keeps `h` in step with `h*`.
Contributions count once however many derivations they have, so aggregates see sets. A count, sum or mean is taken over
the distinct values of the body's variables; for min and max the aggregated value alone is kept. A relation that is a
set (`plan.rewrites.localise.listeners`) is an aggregation that aggregates nothing: its contributions stay at the node
of the body, and only whether there are any is told to others. A derived relation with a key (`materialize`) is an
aggregation that chooses one contribution of each key, by an order of the facts and never by the order of events
(decision 24).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from tidelog.errors import Diagnostic, Report, Severity, Span, TidelogError, error, in_source_order
from tidelog.lang import ndlog, tree
from tidelog.net.checks import PERIODIC, atoms_of, check_program, chosen_keys, recursive_relations
from tidelog.net.functions import COMPARISONS, Undefined
from tidelog.net.terms import compile_term, variables_of
from tidelog.net.values import Fact, Update, Value, fact_of
from tidelog.plain import dataclass, field, replace
from tidelog.plan.rewrites import NETWORK
from tidelog.plan.rewrites.localise import listeners, localise
from tidelog.plan.rewrites.rewrite import ProgramRewrite, relations_of, rewritten

if TYPE_CHECKING:
    from tidelog.net.recursion import RecursiveComponent

Place: TypeAlias = "Value | None"
"""Where a fact is stored: the value behind its `@`; None in programs without locations."""

CONTRIBUTIONS = "*"
CHOICE = "choose"
"""The operator of the columns outside of a key: together they are those of the one fact that is chosen."""

Preference: TypeAlias = "tuple[int, str] | None"
"""The column that decides first which fact of a key is chosen, and how it moves along the recursion (`Measure.how`)."""


@dataclass(frozen=True, slots=True)
class NetLiteral:
    """An atom of a body; its arguments are variables, constants and wildcards."""

    name: str
    args: tuple[tree.Term, ...]
    negated: bool = False


@dataclass(frozen=True, eq=False)
class NetRule:
    """`head :- body, conditions`; `label` names it in messages."""

    number: int
    label: str
    head: str
    head_args: tuple[tree.Term, ...]
    body: tuple[NetLiteral, ...]
    conditions: tuple[tree.Comparison, ...]
    span: Span | None = None

    @cached_property
    def slots(self) -> dict[str, int]:
        """A place in the binding for each variable."""
        nodes = [*(a for b in self.body for a in b.args), *self.conditions, *self.head_args]
        return {name: i for i, name in enumerate(dict.fromkeys(v for n in nodes for v in variables_of(n)))}


@dataclass(frozen=True, slots=True)
class Aggregation:
    """`head` holds, for each group of contributions `source`, the aggregates of its columns (None: a group column)."""

    source: str
    head: str
    operators: tuple[str | None, ...]
    label: str
    span: Span | None = None
    preference: Preference = None

    @property
    def chooses(self) -> bool:
        return CHOICE in self.operators

    def group(self, contribution: Fact) -> tuple[Value, ...]:
        return tuple(v for v, op in zip(contribution.args, self.operators, strict=False) if op is None)


@dataclass(frozen=True, eq=False)
class NetProgram:
    """What the algorithms run. `tree` is the program as written (or as localised)."""

    tree: tree.Program
    rules: tuple[NetRule, ...]
    aggregations: dict[str, Aggregation]
    at: dict[str, int | None]
    arity: dict[str, int]
    facts: tuple[Fact, ...]
    warnings: tuple[Diagnostic, ...] = field(default=(), repr=False)
    listeners: frozenset[str] = frozenset()
    original: NetProgram | None = field(default=None, repr=False)
    entries: dict[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def keys(self) -> dict[str, tuple[int, ...]]:
        """The key columns of base relations that `materialize` gives one, with their location: tables are per node."""
        declared = {m.relation: m.keys for m in self.tree.of(tree.Materialize) if m.keys}
        return {
            name: tuple(i for i in range(self.arity[name]) if i + 1 in keys or i == self.at[name])
            for name, keys in declared.items() if name in self.arity and name not in self.derived
        }  # fmt: skip

    def preferring(self, preferences: Mapping[str, Preference]) -> NetProgram:
        """The program whose keyed relations choose by these columns first."""
        chosen = {
            name: replace(a, preference=preferences.get(a.head)) if a.chooses else a
            for name, a in self.aggregations.items()
        }  # fmt: skip
        return replace(self, aggregations=chosen)

    def entered(self, fact: Fact) -> Fact:
        """A fact that the user gives, as the program holds it: of a relation that is chosen, a contribution."""
        return Fact(self.entries[fact.name], fact.args) if fact.name in self.entries else fact

    def node(self, fact: Fact) -> Place:
        """Where the fact is stored."""
        at = self.at.get(fact.name)
        return None if at is None else fact.args[at]

    @cached_property
    def derived(self) -> frozenset[str]:
        """The relations that some rule derives; the others are base relations."""
        return frozenset({r.head for r in self.rules} | {a.head for a in self.aggregations.values()})

    @cached_property
    def negated(self) -> frozenset[str]:
        return frozenset(b.name for r in self.rules for b in r.body if b.negated)

    @cached_property
    def recursive(self) -> bool:
        return bool(recursive_relations(self.tree))

    @cached_property
    def components(self) -> tuple[RecursiveComponent, ...]:
        """What depends on itself, in the program as written: a localised one has the same cycles."""
        from tidelog.net.recursion import components

        return self.original.components if self.original else components(self)

    def is_hidden(self, name: str) -> bool:
        """Whether the relation is one of contributions, which users do not see."""
        return name.endswith(CONTRIBUTIONS)

    def visible(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        return (f for f in facts if not self.is_hidden(f.name))


def load(text: str, name: str = "<text>", local: bool = False) -> NetProgram:
    """The program that an NDlog text says, localised if asked; a TidelogError with everything that is wrong with it."""
    program = compile_program(ndlog.parse(text, name))
    return _localised(program, (localise,)) if local else program


def load_local(text: str, name: str = "<text>") -> NetProgram:
    """The program as nodes run it: localised, with conditions decided before anything is sent."""
    program = compile_program(ndlog.parse(text, name))
    return _localised(program, NETWORK)


def _localised(program: NetProgram, rewrites: Sequence[ProgramRewrite]) -> NetProgram:
    """The tree of a program after these rewrites, compiled."""
    local = rewritten(program.tree, *rewrites)
    made = _compile(local, listeners(local, relations_of(program.tree)))
    made = made.preferring({a.head: a.preference for a in program.aggregations.values()})
    return replace(made, warnings=program.warnings, original=program)


def compile_program(program: tree.Program) -> NetProgram:
    """The program in the form that the algorithms work on."""
    if is_timed(program):
        raise error(
            "TL1012", "this program is about time: it has lifetimes or `periodic`", _timed_span(program),
            help="load it with tidelog.net.timed.load; `tidelog net run` runs it",
        )  # fmt: skip
    made = _compile(program)
    chosen = {a.head for a in made.aggregations.values() if a.chooses}
    measures = [c.measure for c in made.components if c.measure and c.relations & chosen] if chosen else []
    return made.preferring({name: (i, m.how) for m in measures for name, i in m.columns}) if measures else made


def is_timed(program: tree.Program) -> bool:
    """Whether the program is about time: a relation has a lifetime, or a rule waits for `periodic`."""
    return _timed_span(program) is not None


def _timed_span(program: tree.Program) -> Span | None:
    soft = next((m for m in program.of(tree.Materialize) if m.lifetime is not None), None)
    if soft is not None:
        return soft.span
    return next((a.span for r in program.rules for a, _ in atoms_of(r) if a.name == PERIODIC), None)


def _compile(program: tree.Program, sets: frozenset[str] = frozenset()) -> NetProgram:
    """`sets` are relations without multiplicities."""
    report = Report()
    signatures = check_program(program, report)
    report.check()
    builder = RuleBuilder(signatures.arity, signatures.at, sets, chosen_keys(program, signatures))
    for rule in program.rules:
        builder.add(rule)
    return NetProgram(
        program, tuple(builder.rules), builder.aggregations, builder.at, builder.arity, tuple(builder.facts),
        tuple(in_source_order(d for d in report.diagnostics if d.severity is Severity.WARNING)), sets,
    )  # fmt: skip


def parse_facts(text: str, program: NetProgram, name: str = "<facts>") -> list[Fact]:
    """The facts of a text in NDlog; all must be of base relations of the program."""
    report, facts = Report(), []
    for rule in ndlog.parse(text, name).rules:
        head = rule.heads[0]
        fact = fact_of(head)
        if fact is None or rule.body is not None:
            report.error("TL1014", "a fact holds constants only and has no body", rule.span)
        else:
            _check_base(head, program, report)
            facts.append(fact)
    report.check()
    return facts


def parse_ground(text: str, program: NetProgram, name: str = "<fact>") -> Fact:
    """The fact that a text such as `path(@a,c)` states, of any relation of the program."""
    rules = ndlog.parse(text.strip().rstrip(".") + ".", name).rules
    fact = fact_of(rules[0].heads[0]) if len(rules) == 1 and rules[0].body is None else None
    if fact is None:
        raise error("TL1014", "a fact holds constants only and has no body", rules[0].span if rules else None)
    if program.arity.get(fact.name) != len(fact.args):
        raise error(
            "TL1040", f"the program has no relation `{fact.name}` with {len(fact.args)} arguments", rules[0].span
        )
    return fact


def parse_updates(text: str, program: NetProgram, name: str = "<updates>") -> list[Update]:
    """The updates of a text such as `+link(@a,b), -link(@b,c)`; all must be of base relations of the program."""
    report, updates = Report(), []
    for sign, atom in ndlog.parse_updates(text, name):
        fact = fact_of(atom)
        _check_base(atom, program, report)
        if fact is not None:
            updates.append(Update(1 if sign == "+" else -1, fact))
    report.check()
    return updates


def _check_base(atom: tree.Atom, program: NetProgram, report: Report) -> None:
    if atom.name not in program.arity:
        report.error("TL1040", f"the program has no relation `{atom.name}`", atom.name_span)
    elif atom.name in program.derived:
        report.error(
            "TL1041", f"`{atom.name}` is derived by rules, so it cannot be given", atom.name_span,
            help="give facts of base relations: those that no rule derives",
        )  # fmt: skip
    elif len(atom.args) != program.arity[atom.name]:
        report.error(
            "TL1001", f"`{atom.name}` has {program.arity[atom.name]} arguments in the program, here {len(atom.args)}",
            atom.span,
        )  # fmt: skip
    elif isinstance(atom.args[program.at[atom.name] or 0] if program.at[atom.name] is not None else None, tree.Record):
        report.error("TL1002", "a location is the name of a node, not a list", atom.span)
    elif atom.at is not None and atom.at != program.at[atom.name]:
        report.error("TL1002", f"the program writes the `@` of `{atom.name}` elsewhere", atom.span)


class RuleBuilder:
    def __init__(
        self,
        arity: dict[str, int],
        at: dict[str, int | None],
        sets: frozenset[str],
        keys: dict[str, frozenset[int]],
    ) -> None:
        self.arity, self.at, self.sets, self.keys = dict(arity), dict(at), sets, keys
        self.rules: list[NetRule] = []
        self.aggregations: dict[str, Aggregation] = {}
        self.facts: list[Fact] = []
        self._fresh = 0

    def add(self, rule: tree.Rule) -> None:
        head = rule.heads[0]
        literals = rule.body.parts if isinstance(rule.body, tree.Conjunction) else (rule.body,) if rule.body else ()
        if any(isinstance(b, tree.Boolean) and not b.value for b in literals):
            return
        body: list[NetLiteral] = []
        conditions = [b for b in literals if isinstance(b, tree.Comparison)]
        for literal in literals:
            negated = isinstance(literal, tree.Negation)
            atom = literal.body if isinstance(literal, tree.Negation) else literal
            if isinstance(atom, tree.Atom):
                body.append(NetLiteral(atom.name, self._flat(atom.args, conditions), negated))
        number = len(self.rules) + 1
        label = rule.label or f"{number}"
        made = NetRule(number, label, head.name, head.args, tuple(body), tuple(conditions), rule.span)
        if any(isinstance(arg, tree.HeadAggregate) for arg in head.args):
            made = self._contribution(made)
        elif head.name in self.keys:
            made = self._choice(made)
        elif head.name in self.sets and body:
            made = self._once(made)
        if body:
            self.rules.append(made)
        else:
            self.facts.extend(_constant(made))

    def _flat(self, args: tuple[tree.Term, ...], conditions: list[tree.Comparison]) -> tuple[tree.Term, ...]:
        """Computations inside body atoms become conditions on a fresh variable."""
        result: list[tree.Term] = []
        for arg in args:
            if isinstance(arg, tree.Functor) or (isinstance(arg, tree.Record) and any(variables_of(arg))):
                self._fresh += 1
                fresh = tree.Variable(f"_{self._fresh}", span=arg.span)
                conditions.append(tree.Comparison("=", fresh, arg, span=arg.span))
                arg = fresh
            result.append(arg)
        return tuple(result)

    def _contribution(self, rule: NetRule) -> NetRule:
        """The rule for the contributions of an aggregate; the aggregation itself is noted."""
        operators = tuple(a.op if isinstance(a, tree.HeadAggregate) else None for a in rule.head_args)
        columns = [_aggregated(a) if isinstance(a, tree.HeadAggregate) else a for a in rule.head_args]
        if {"count", "sum", "mean"} & {op for op in operators if op}:
            nodes = [*(a for b in rule.body for a in b.args), *rule.conditions]
            columns += [tree.Variable(v) for v in dict.fromkeys(v for n in nodes for v in variables_of(n))]
        name = rule.head + CONTRIBUTIONS
        self.arity[name], self.at[name] = len(columns), self.at[rule.head]
        self.aggregations[name] = Aggregation(name, rule.head, operators, rule.label, rule.span)
        return replace(rule, head=name, head_args=tuple(columns))

    def _choice(self, rule: NetRule) -> NetRule:
        """The rule for a derived relation with a key: of its contributions one of each key is chosen."""
        name, key = rule.head + CONTRIBUTIONS, self.keys[rule.head]
        self.arity[name], self.at[name] = len(rule.head_args), self.at[rule.head]
        operators = tuple(None if i in key else CHOICE for i in range(len(rule.head_args)))
        self.aggregations.setdefault(name, Aggregation(name, rule.head, operators, rule.label, rule.span))
        return replace(rule, head=name)

    def _once(self, rule: NetRule) -> NetRule:
        """The rule for a relation that is a set: the matches of the body, at its node if the head names it."""
        name, first = rule.head + CONTRIBUTIONS, rule.body[0]
        at = self.at[first.name]
        place = None if at is None else first.args[at]
        self.arity[name] = len(rule.head_args)
        self.at[name] = rule.head_args.index(place) if place in rule.head_args else self.at[rule.head]
        operators = (None,) * len(rule.head_args)
        self.aggregations[name] = Aggregation(name, rule.head, operators, rule.label, rule.span)
        return replace(rule, head=name)


def _aggregated(column: tree.HeadAggregate) -> tree.Term:
    """What a contribution holds in the column of an aggregate."""
    return tree.Number(1) if column.variable == "*" else tree.Variable(column.variable)


def _constant(rule: NetRule) -> Iterator[Fact]:
    """The fact of a rule without atoms, if its conditions hold."""
    from tidelog.net.join import order_conditions

    binding: list[Value | None] = [None] * len(rule.slots)
    try:
        for step in order_conditions(rule, set()):
            if step.slot is not None:
                binding[step.slot] = step.right(binding)
            elif not COMPARISONS[step.op](step.left(binding), step.right(binding)):
                return
        yield Fact(rule.head, tuple(compile_term(arg, rule.slots)(binding) for arg in rule.head_args))
    except Undefined:
        return


def error_in(rule: NetRule, problem: str) -> TidelogError:
    return TidelogError(Diagnostic("TL1031", f"rule `{rule.label}` cannot be evaluated: {problem}", rule.span))
