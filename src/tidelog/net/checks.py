"""Static checks of an NDlog program: arities, locations, safety, functions, aggregates, stratification.

Everything wrong is collected in the report. What passes can be compiled by `program.compile_program` and evaluated
without surprises, but for functions that produce ever new values: those only show when the program runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tidelog.analysis.recursion import component_numbers
from tidelog.analysis.suggest import did_you_mean
from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.net.functions import FUNCTIONS
from tidelog.net.terms import variables_of


@dataclass
class Signatures:
    """For each relation its number of arguments and the place of its `@` (None: it has no location)."""

    arity: dict[str, int] = field(default_factory=dict)
    at: dict[str, int | None] = field(default_factory=dict)
    first: dict[str, tree.Atom] = field(default_factory=dict)


def check_program(program: tree.Program, report: Report) -> Signatures:
    """Checks the whole program; the signatures of its relations."""
    signatures = Signatures()
    for rule in program.rules:
        for atom in (*rule.heads, *(a for a, _ in atoms_of(rule))):
            _check_signature(atom, signatures, report)
        _check_rule(rule, report)
    _check_aggregates(program, report)
    _check_strata(program, report)
    _check_materialize(program, signatures, report)
    return signatures


def literals_of(rule: tree.Rule) -> tuple[tree.Literal, ...]:
    if rule.body is None:
        return ()
    return rule.body.parts if isinstance(rule.body, tree.Conjunction) else (rule.body,)


def atoms_of(rule: tree.Rule) -> Iterator[tuple[tree.Atom, bool]]:
    """The atoms of the body, each with whether it is negated."""
    for literal in literals_of(rule):
        if isinstance(literal, tree.Atom):
            yield literal, False
        elif isinstance(literal, tree.Negation) and isinstance(literal.body, tree.Atom):
            yield literal.body, True


def _check_signature(atom: tree.Atom, known: Signatures, report: Report) -> None:
    if atom.name not in known.arity:
        known.arity[atom.name], known.at[atom.name] = len(atom.args), atom.at
        known.first[atom.name] = atom
        return
    notes = ((f"`{atom.name}` was first used here", known.first[atom.name].span),)
    if known.arity[atom.name] != len(atom.args):
        expected = known.arity[atom.name]
        report.error(
            "TL1001", f"`{atom.name}` has {expected} arguments elsewhere, here {len(atom.args)}", atom.span,
            notes=notes, help="relations with different numbers of arguments need different names",
        )  # fmt: skip
    elif known.at[atom.name] != atom.at:
        report.error(
            "TL1002", f"the location of `{atom.name}` is not where it is elsewhere", atom.span, notes=notes,
            help="write `@` before the same argument everywhere: it says at which node the fact is stored",
        )  # fmt: skip


def _check_rule(rule: tree.Rule, report: Report) -> None:
    head = rule.heads[0]
    _check_functions(rule, report)
    _check_locations(rule, report)
    bound = bound_variables(rule)
    for node in head.walk():
        if isinstance(node, tree.Wildcard):
            report.error("TL1009", "`_` in a head stands for no value", node.span, help="write a variable of the body")
        elif isinstance(node, tree.Variable) and node.name not in bound:
            if rule.body is None:
                report.error(
                    "TL1014", f"a fact holds constants only, not the variable `{node.name}`", node.span,
                    help="constants start with a lower-case letter or are quoted",
                )  # fmt: skip
            else:
                _unsafe(node.name, node.span, report)
    for literal in literals_of(rule):
        negated = isinstance(literal, tree.Negation)
        for node in literal.walk():
            if isinstance(node, tree.Wildcard) and (negated or isinstance(literal, tree.Comparison)):
                report.error(
                    "TL1009", "`_` cannot stand in a negation or a comparison", node.span,
                    help="derive a relation without that argument in a rule of its own, and use it here",
                )  # fmt: skip
            elif isinstance(node, tree.Variable) and node.name not in bound:
                _unsafe(node.name, node.span, report)


def _unsafe(name: str, span: Span | None, report: Report) -> None:
    report.error(
        "TL1003", f"the variable `{name}` has no value", span,
        help="every variable must stand in a positive atom of the body, or be computed from such variables with `=`",
    )  # fmt: skip


def bound_variables(rule: tree.Rule) -> set[str]:
    """The variables that positive atoms bind, and those computed from them."""
    bound: set[str] = set()
    for atom, negated in atoms_of(rule):
        if not negated:
            bound.update(a.name for a in atom.args if isinstance(a, tree.Variable))
    equations = [c for c in literals_of(rule) if isinstance(c, tree.Comparison) and c.op == "="]
    progress = True
    while progress:
        progress = False
        for equation in equations:
            for target, source in ((equation.left, equation.right), (equation.right, equation.left)):
                new = isinstance(target, tree.Variable) and target.name not in bound
                if new and bound.issuperset(variables_of(source)) and not _has_wildcard(source):
                    bound.add(target.name)  # type: ignore[attr-defined]
                    progress = True
    return bound


def _has_wildcard(term: tree.Term) -> bool:
    return any(isinstance(n, tree.Wildcard) for n in term.walk())


def _check_functions(rule: tree.Rule, report: Report) -> None:
    for node in rule.walk():
        if not isinstance(node, tree.Functor):
            continue
        known = FUNCTIONS.get(node.op)
        if known is None:
            names = sorted(f for f in FUNCTIONS if f.startswith("f_"))
            report.error(
                "TL1004", f"unknown function `{node.op}`", node.span,
                help=did_you_mean(node.op, names) or f"there are {', '.join(names)}",
            )  # fmt: skip
        elif known.arity != len(node.args):
            report.error(
                "TL1005", f"`{node.op}` takes {known.arity} arguments, here {len(node.args)}", node.span,
                help=f"it is written `{known.written}`",
            )  # fmt: skip


def _check_locations(rule: tree.Rule, report: Report) -> None:
    """Either every atom of a rule has a location or none has."""
    atoms = [*rule.heads, *(a for a, _ in atoms_of(rule))]
    located = [a for a in atoms if a.at is not None]
    if located and len(located) < len(atoms):
        bare = next(a for a in atoms if a.at is None)
        report.error(
            "TL1010", f"`{bare.name}` has no location, but `{located[0].name}` in the same rule has one", bare.span,
            help="write `@` before the argument that says where the fact is stored",
        )  # fmt: skip
    for atom in located:
        place = atom.args[atom.at or 0]
        computed = atom is rule.heads[0] and isinstance(place, tree.Functor)
        if not computed and not isinstance(place, (tree.Variable, tree.String, tree.Number)):
            report.error("TL1002", "a location is a variable or the name of a node", place.span or atom.span)


def _check_aggregates(program: tree.Program, report: Report) -> None:
    rules: dict[str, list[tree.Rule]] = {}
    for rule in program.rules:
        rules.setdefault(rule.heads[0].name, []).append(rule)
    for name, same in rules.items():
        for rule in same:
            aggregates = [a for a in rule.heads[0].args if isinstance(a, tree.HeadAggregate)]
            if not aggregates:
                continue
            if len(same) > 1:
                report.error(
                    "TL1006", f"`{name}` is an aggregate, so it has one rule, not {len(same)}", rule.heads[0].span,
                    help="derive the values in a relation of their own, with any number of rules, and aggregate that",
                )  # fmt: skip
            bound = bound_variables(rule)
            for aggregate in aggregates:
                if aggregate.variable != "*" and aggregate.variable not in bound:
                    _unsafe(aggregate.variable, aggregate.span, report)
            at = rule.heads[0].at
            if at is not None and isinstance(rule.heads[0].args[at], tree.HeadAggregate):
                report.error("TL1006", "a location cannot be an aggregate", rule.heads[0].span)


def _graph(program: tree.Program) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for rule in program.rules:
        graph.setdefault(rule.heads[0].name, set()).update(a.name for a, _ in atoms_of(rule))
        for atom, _ in atoms_of(rule):
            graph.setdefault(atom.name, set())
    return graph


def recursive_relations(program: tree.Program) -> frozenset[str]:
    """The relations that depend on themselves."""
    graph = _graph(program)
    numbers = component_numbers(graph)
    sizes: dict[int, int] = {}
    for number in numbers.values():
        sizes[number] = sizes.get(number, 0) + 1
    return frozenset(n for n in graph if sizes[numbers[n]] > 1 or n in graph[n])


def _check_strata(program: tree.Program, report: Report) -> None:
    """Recursion through negation, count, sum or mean has no meaning here; through min and max it deserves a warning."""
    numbers = component_numbers(_graph(program))
    for rule in program.rules:
        head = rule.heads[0]
        operators = {a.op for a in head.args if isinstance(a, tree.HeadAggregate)}
        for atom, negated in atoms_of(rule):
            if numbers[atom.name] != numbers[head.name]:
                continue
            if negated:
                report.error(
                    "TL1007", f"`{head.name}` depends on its own absence, through `!{atom.name}`", atom.span,
                    help="a negated relation must be complete before it is used: it may not depend on this head",
                )  # fmt: skip
            elif operators - {"min", "max"}:
                report.error(
                    "TL1008", f"`{head.name}` aggregates over itself, through `{atom.name}`", atom.span,
                    help="only `min` and `max` may be recursive, as in `bestPath`",
                )  # fmt: skip
            elif operators:
                report.warn(
                    "TL1013", f"`{head.name}` is a {'/'.join(sorted(operators))} of what depends on it", head.span,
                    help="it settles if each step makes the value worse (a cost that grows); else the run may not end",
                )  # fmt: skip


def _check_materialize(program: tree.Program, signatures: Signatures, report: Report) -> None:
    for item in program.of(tree.Materialize):
        arity = signatures.arity.get(item.relation)
        if arity is None:
            report.warn("TL1011", f"`{item.relation}` is declared but not used", item.span)
        elif any(key > arity for key in item.keys):
            report.error("TL1011", f"`{item.relation}` has {arity} arguments; a key is beyond them", item.span)
        if item.lifetime is not None or item.size is not None:
            report.warn(
                "TL1012", f"facts of `{item.relation}` do not expire: lifetime and size are not enforced", item.span,
                help="write `infinity`",
            )  # fmt: skip
