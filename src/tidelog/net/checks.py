"""Static checks of an NDlog program: arities, locations, safety, functions, aggregates, stratification.

Everything wrong is collected in the report. What passes can be compiled by `program.compile_program` and evaluated
without surprises, but for functions that produce ever new values: those only show when the program runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.analysis.recursion import component_numbers
from tidelog.analysis.suggest import did_you_mean
from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.net.functions import FUNCTIONS
from tidelog.net.terms import variables_of
from tidelog.plain import dataclass, field

MOST_ATOMS = 64
PERIODIC = "periodic"


@dataclass
class Signatures:
    """For each relation its number of arguments and the place of its `@` (None: it has no location)."""

    arity: dict[str, int] = field(default_factory=dict)
    at: dict[str, int | None] = field(default_factory=dict)
    first: dict[str, tree.Atom] = field(default_factory=dict)


def check_program(program: tree.Program, report: Report, timed: bool = False) -> Signatures:
    """Checks the whole program; the signatures of its relations.

    What a program about time does (`timed`) is in order by its clock, not by strata, and sizes hold.
    """
    signatures = Signatures()
    for rule in program.rules:
        for atom in (*rule.heads, *(a for a, _ in atoms_of(rule))):
            _check_signature(atom, signatures, report)
        _check_rule(rule, report)
    _check_aggregates(program, report)
    if not timed:
        check_strata(program, report)
    _check_materialize(program, signatures, report, timed)
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
    if sum(1 for _ in atoms_of(rule)) > MOST_ATOMS:
        report.error(
            "TL1059", f"the body has more than {MOST_ATOMS} atoms", rule.span,
            help="derive parts of it in rules of their own: each atom is a delta-rule that joins all the others",
        )  # fmt: skip
    signs = [negated for _, negated in atoms_of(rule)]
    if signs and all(signs):
        report.error(
            "TL1061", "a body needs an atom that is not negated", rule.span,
            help="a rule fires when a fact comes or goes; that something never came is no event: add the fact that "
            "says for whom the rule holds, such as `node(@X)`",
        )  # fmt: skip
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


def check_strata(program: tree.Program, report: Report) -> None:
    """Recursion through negation, count, sum or mean has no meaning here; min and max: see `recursion`."""
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


def chosen_keys(program: tree.Program, signatures: Signatures) -> dict[str, frozenset[int]]:
    """The key columns, counted from 0, of derived relations of which rules may derive several facts with one key."""
    groups, aggregates = _groups(program), _aggregates(program)
    found: dict[str, frozenset[int]] = {}
    for item in program.of(tree.Materialize):
        if item.keys and item.relation in groups and item.relation not in aggregates:
            key = {*item.keys, *_location(item, signatures)}
            if len(key) < signatures.arity[item.relation]:
                found[item.relation] = frozenset(i - 1 for i in key)
    return found


def _groups(program: tree.Program) -> dict[str, tuple[int, set[int]]]:
    """Of each derived relation the number of its columns, and which of them, counted from 1, no aggregate fills."""
    return {
        rule.heads[0].name: (
            len(rule.heads[0].args),
            {i for i, a in enumerate(rule.heads[0].args, 1) if not isinstance(a, tree.HeadAggregate)},
        )
        for rule in program.rules if rule.body is not None
    }  # fmt: skip


def _aggregates(program: tree.Program) -> set[str]:
    return {r.heads[0].name for r in program.rules if any(isinstance(a, tree.HeadAggregate) for a in r.heads[0].args)}


def _location(item: tree.Materialize, signatures: Signatures) -> set[int]:
    """The column of the location, counted from 1: tables are per node, so it is part of every key."""
    at = signatures.at.get(item.relation)
    return set() if at is None else {at + 1}


def _check_materialize(program: tree.Program, signatures: Signatures, report: Report, timed: bool) -> None:
    groups = _groups(program)
    for item in program.of(tree.Materialize):
        group = groups.get(item.relation, (0, set()))[1]
        if (
            item.keys
            and item.relation in _aggregates(program)
            and not group <= {*item.keys, *_location(item, signatures)}
        ):
            report.error(
                "TL1060", f"`{item.relation}` is an aggregate, a fact for each group; its key is less than that",
                item.span, help="choose among its facts in a relation of its own, or give the whole group as the key",
            )  # fmt: skip
    for item in program.of(tree.Materialize):
        arity = signatures.arity.get(item.relation)
        if arity is None:
            report.warn("TL1011", f"`{item.relation}` is declared but not used", item.span)
        elif any(key > arity for key in item.keys):
            report.error("TL1011", f"`{item.relation}` has {arity} arguments; a key is beyond them", item.span)
        if item.size is not None and not timed:
            report.warn(
                "TL1012", f"the size of `{item.relation}` is not enforced: which facts stay would depend on the order "
                "of events", item.span, help="write `infinity`, or give the relation a lifetime",
            )  # fmt: skip
