"""A checked NDlog program in the form that the algorithms work on: rules over flat atoms, locations, aggregates.

An aggregate rule `h(@S,D,min<C>) :- body` becomes two things: a rule whose head is the *contribution* relation `h*`
(one tuple per match of the body, stored where the head is), and an `Aggregation` that keeps `h` in step with `h*`.
Contributions count once however many derivations they have, so aggregates see sets. A count, sum or mean is taken over
the distinct values of the body's variables; for min and max the aggregated value alone is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from tidelog.errors import Diagnostic, Report, Severity, Span, TidelogError, in_source_order
from tidelog.lang import ndlog, tree
from tidelog.net.checks import check_program, recursive_relations
from tidelog.net.functions import COMPARISONS, Undefined
from tidelog.net.terms import compile_term, variables_of
from tidelog.net.values import Fact, Update, Value, fact_of
from tidelog.plan.localise import localise
from tidelog.plan.push_conditions import push_conditions

Node: TypeAlias = "Value | None"
"""Where a fact is stored: the value behind its `@`; None in programs without locations."""

CONTRIBUTIONS = "*"


@dataclass(frozen=True, slots=True)
class Literal:
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
    body: tuple[Literal, ...]
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

    def node(self, fact: Fact) -> Node:
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

    def is_hidden(self, name: str) -> bool:
        """Whether the relation is one of contributions, which users do not see."""
        return name.endswith(CONTRIBUTIONS)

    def visible(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        return (f for f in facts if not self.is_hidden(f.name))


def load(text: str, name: str = "<text>", local: bool = False) -> NetProgram:
    """The program that an NDlog text says, localised if asked; a TidelogError with everything that is wrong with it."""
    program = compile_program(ndlog.parse(text, name))
    return compile_program(localise(program.tree)) if local else program


def load_local(text: str, name: str = "<text>") -> NetProgram:
    """The program as nodes run it: localised, with conditions decided before anything is sent."""
    program = compile_program(ndlog.parse(text, name))
    local = compile_program(push_conditions(localise(program.tree), program.tree))
    return replace(local, warnings=program.warnings)


def compile_program(program: tree.Program) -> NetProgram:
    report = Report()
    signatures = check_program(program, report)
    report.check()
    builder = _Builder(signatures.arity, signatures.at)
    for rule in program.rules:
        builder.add(rule)
    return NetProgram(
        program, tuple(builder.rules), builder.aggregations, builder.at, builder.arity, tuple(builder.facts),
        tuple(in_source_order(d for d in report.diagnostics if d.severity is Severity.WARNING)),
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
    elif atom.at is not None and atom.at != program.at[atom.name]:
        report.error("TL1002", f"the program writes the `@` of `{atom.name}` elsewhere", atom.span)


class _Builder:
    def __init__(self, arity: dict[str, int], at: dict[str, int | None]) -> None:
        self.arity, self.at = dict(arity), dict(at)
        self.rules: list[NetRule] = []
        self.aggregations: dict[str, Aggregation] = {}
        self.facts: list[Fact] = []
        self._fresh = 0

    def add(self, rule: tree.Rule) -> None:
        head = rule.heads[0]
        literals = rule.body.parts if isinstance(rule.body, tree.Conjunction) else (rule.body,) if rule.body else ()
        if any(isinstance(b, tree.Boolean) and not b.value for b in literals):
            return
        body: list[Literal] = []
        conditions = [b for b in literals if isinstance(b, tree.Comparison)]
        for literal in literals:
            negated = isinstance(literal, tree.Negation)
            atom = literal.body if isinstance(literal, tree.Negation) else literal
            if isinstance(atom, tree.Atom):
                body.append(Literal(atom.name, self._flat(atom.args, conditions), negated))
        number = len(self.rules) + 1
        label = rule.label or f"{number}"
        made = NetRule(number, label, head.name, head.args, tuple(body), tuple(conditions), rule.span)
        if any(isinstance(arg, tree.HeadAggregate) for arg in head.args):
            made = self._contribution(made)
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
