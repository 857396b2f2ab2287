"""A program about time: what is stored and for how long, what is an event, and what each rule does.

A relation that `materialize` declares is a *table*: its facts stay for ever (`infinity`) or for a lifetime from when
they last came. One that is not declared, or has the lifetime 0, is an *event*: it is there for the instant in which it
comes, and not stored. `periodic(@N,E,T)` is the event that comes at every node N every T units of time; E numbers it.

- A *view* has only tables in its body, and its head is a table without a lifetime. It is kept as in programs that are
  not about time: derived while its body holds, taken back when it does not, by counting or supports.
- A *trigger* has one event in its body. It fires when the event comes, with the tables as they are then. Its head is an
  event, or a table into which the fact is put: it stays until its lifetime ends, another fact with its key replaces it,
  or the user deletes it.
- An *alarm* has only tables in its body, and its head is an event: it fires when its body comes to hold.

A table with a lifetime is filled by triggers and the user only: what a view derives must not end before its body does.
No table is filled by views and triggers both. So what a node holds is, at every instant, a function of what came and
when; the facts of one table with one key are never two.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tidelog.errors import Diagnostic, Report, Severity, in_source_order
from tidelog.lang import ndlog, tree
from tidelog.net.algorithms import Method, choose
from tidelog.net.checks import (
    PERIODIC,
    Signatures,
    atoms_of,
    check_program,
    check_strata,
    chosen_keys,
)
from tidelog.net.program import Aggregation, NetProgram, NetRule, RuleBuilder, compile_program
from tidelog.net.values import Fact, Value
from tidelog.plain import dataclass, field, replace
from tidelog.plan.rewrites import NETWORK
from tidelog.plan.rewrites.localise import is_local, listeners
from tidelog.plan.rewrites.rewrite import relations_of, rewritten


@dataclass(frozen=True, eq=False)
class Action:
    """A trigger or an alarm: its rule, and its aggregation if it has one, which is over what fires together."""

    rule: NetRule
    pivots: tuple[int, ...]
    aggregation: Aggregation | None = None


@dataclass(frozen=True, eq=False)
class TimedProgram:
    """`views` is the program that nodes keep up to date; its arities and locations are those of all relations."""

    tree: tree.Program
    views: NetProgram
    actions: tuple[Action, ...]
    events: frozenset[str]
    lifetimes: dict[str, int]
    sizes: dict[str, int]
    keys: dict[str, tuple[int, ...]]
    periods: tuple[int | float, ...]
    written: frozenset[str]
    warnings: tuple[Diagnostic, ...] = field(default=(), repr=False)

    @cached_property
    def method(self) -> Method:
        """How the views are kept up to date, whatever the facts are."""
        return choose("auto", self.views)

    def key(self, fact: Fact) -> tuple[Value, ...]:
        """What no two facts of its table have in common at a node."""
        columns = self.keys.get(fact.name)
        return fact.args if columns is None else tuple(fact.args[i] for i in columns)


def load(text: str, name: str = "<text>") -> TimedProgram:
    """The program about time that an NDlog text says; a TidelogError with everything that is wrong with it."""
    return compile_timed(ndlog.parse(text, name), Report())


def compile_timed(program: tree.Program, report: Report) -> TimedProgram:
    """The program about time of a tree; an error with all that the report then holds, if there is anything wrong."""
    signatures = check_program(program, report, timed=True)
    kinds = Kinds(program)
    for rule in program.rules:
        kinds.check(rule, report)
    check_strata(replace(program, items=tuple(r for r in program.rules if kinds.is_view(r))), report)
    kinds.check_tables(report)
    report.check()
    local = rewritten(program, *NETWORK)
    warnings = tuple(in_source_order(d for d in report.diagnostics if d.severity is Severity.WARNING))
    return _compile(program, local, kinds, signatures, warnings)


class Kinds:
    """What the declarations make of each relation and rule."""

    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.declared = {m.relation: m for m in program.of(tree.Materialize)}
        used = {a.name for r in program.rules for a in (*r.heads, *(b for b, _ in atoms_of(r)))}
        self.events = frozenset(
            n for n in used if n not in self.declared or self.declared[n].lifetime == 0
        )  # fmt: skip
        self.lifetimes = {n: m.lifetime for n, m in self.declared.items() if m.lifetime}

    def event_of(self, rule: tree.Rule) -> tree.Atom | None:
        return next((a for a, negated in atoms_of(rule) if not negated and a.name in self.events), None)

    def is_view(self, rule: tree.Rule) -> bool:
        """Whether the rule is kept up to date; rules that localisation makes are."""
        name = rule.heads[0].name
        stored = name not in self.events and name not in self.lifetimes
        return rule.body is not None and stored and self.event_of(rule) is None

    def check(self, rule: tree.Rule, report: Report) -> None:
        head, events = rule.heads[0], [a for a, negated in atoms_of(rule) if a.name in self.events and not negated]
        if head.name == PERIODIC:
            report.error("TL1062", "`periodic` is the clock: no rule derives it", head.span)
        for atom, negated in atoms_of(rule):
            if negated and atom.name in self.events:
                report.error(
                    "TL1063", f"`{atom.name}` is an event: that it does not come is not known at any instant",
                    atom.span, help="remember it in a table, with a lifetime, and ask whether that is empty",
                )  # fmt: skip
            if atom.name == PERIODIC:
                _check_period(atom, report)
        if len(events) > 1:
            report.error(
                "TL1063", f"`{events[0].name}` and `{events[1].name}` are both events, and no two come together",
                events[1].span, help="put one of them into a table: declare it with `materialize` and a lifetime",
            )  # fmt: skip
        if rule.body is None:
            return
        if events and not is_local(rule):
            report.error(
                "TL1064", f"the event `{events[0].name}` is over before the rest is known: the body spans nodes",
                rule.span, help="send the event on in a rule of its own, and go on at the other node when it comes",
            )  # fmt: skip
        if not events and head.name in self.lifetimes:
            report.error(
                "TL1065", f"`{head.name}` has a lifetime, and nothing in this rule makes facts come again", head.span,
                help=f"add an event such as `periodic(@N,_,{max(1, self.lifetimes[head.name] // 3)})` to the body, or "
                f"declare `{head.name}` with `infinity`: then its facts stay exactly as long as the body holds",
            )  # fmt: skip
        aggregate = any(isinstance(a, tree.HeadAggregate) for a in head.args)
        if aggregate and not events and head.name in self.events:
            report.error(
                "TL1065", f"an aggregate over tables is a table: `{head.name}` is not declared", head.span,
                help=f"declare it: materialize({head.name}, infinity, infinity, keys(…))",
            )  # fmt: skip

    def check_tables(self, report: Report) -> None:
        """No table is filled by views and by triggers both."""
        views = {r.heads[0].name for r in self.program.rules if self.is_view(r)}
        for rule in self.program.rules:
            name = rule.heads[0].name
            if name in views and not self.is_view(rule) and name not in self.events:
                report.error(
                    "TL1066", f"`{name}` is kept up to date by other rules: nothing can be put into it", rule.span,
                    help="put it into a table of its own, and derive both in one relation",
                )  # fmt: skip
        for name in sorted(views & set(self.declared)):
            if self.declared[name].size is not None:
                report.error(
                    "TL1066", f"`{name}` is derived, so its size is that of what is derived", self.declared[name].span,
                    help="write `infinity` for its size",
                )  # fmt: skip


def _check_period(atom: tree.Atom, report: Report) -> None:
    fine = len(atom.args) == 3 and atom.at == 0 and isinstance(atom.args[2], (tree.Number, tree.Float))
    if not fine or atom.args[2].value <= 0:  # type: ignore[attr-defined]
        report.error(
            "TL1062", "the clock is `periodic(@N,E,T)`: a node, the number of the tick, and how often, a constant",
            atom.span, help="for example `periodic(@N,E,5)`",
        )  # fmt: skip


def _compile(
    program: tree.Program,
    local: tree.Program,
    kinds: Kinds,
    signatures: Signatures,
    warnings: tuple[Diagnostic, ...],
) -> TimedProgram:
    def split(items: Iterable[tree.Item]) -> tuple[list[tree.Item], list[tree.Rule]]:
        rules = [i for i in items if isinstance(i, tree.Rule)]
        kept: list[tree.Item] = [r for r in rules if r.body is None or kinds.is_view(r)]
        return kept, [r for r in rules if r.body is not None and not kinds.is_view(r)]

    written = _tables_of_views(program, kinds)
    views_as_written = compile_program(replace(program, items=(*written, *split(program.items)[0])))
    made = check_program(local, Report(), timed=True)
    kept, fired = split(local.items)
    view_tree = replace(local, items=(*written, *kept))
    sets = listeners(view_tree, relations_of(program))
    builder = RuleBuilder(made.arity, made.at, sets, chosen_keys(view_tree, made))
    for item in kept:
        assert isinstance(item, tree.Rule)
        builder.add(item)
    views = NetProgram(
        view_tree, tuple(builder.rules), builder.aggregations, builder.at, builder.arity, tuple(builder.facts),
        warnings, sets, views_as_written,
    )  # fmt: skip
    views = views.preferring({a.head: a.preference for a in views_as_written.aggregations.values()})
    keys = {
        name: tuple(i for i in range(made.arity[name]) if i + 1 in m.keys or i == made.at[name])
        for name, m in kinds.declared.items() if m.keys and name in made.arity and name not in views.derived
    }  # fmt: skip
    return TimedProgram(
        program, views, tuple(_action(rule, kinds, made, len(builder.rules) + i) for i, rule in enumerate(fired, 1)),
        kinds.events, dict(kinds.lifetimes),
        {n: m.size for n, m in kinds.declared.items() if m.size is not None}, keys, _periods(program),
        frozenset(signatures.arity) - {PERIODIC}, warnings,
    )  # fmt: skip


def _tables_of_views(program: tree.Program, kinds: Kinds) -> tuple[tree.Materialize, ...]:
    views = {r.heads[0].name for r in program.rules if kinds.is_view(r)}
    return tuple(m for m in program.of(tree.Materialize) if m.relation in views)


def _action(rule: tree.Rule, kinds: Kinds, signatures: Signatures, number: int) -> Action:
    builder = RuleBuilder(signatures.arity, signatures.at, frozenset(), {})
    builder.add(rule)
    made = replace(builder.rules[0], number=number, label=rule.label or f"{number}")
    events = [i for i, b in enumerate(made.body) if b.name in kinds.events and not b.negated]
    pivots = events or [i for i, b in enumerate(made.body) if not b.negated]
    return Action(made, tuple(pivots), next(iter(builder.aggregations.values()), None))


def _periods(program: tree.Program) -> tuple[int | float, ...]:
    found = {a.args[2].value for r in program.rules for a, _ in atoms_of(r) if a.name == PERIODIC}  # type: ignore[attr-defined]
    return tuple(sorted(found))
