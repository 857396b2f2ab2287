"""Restrictions on `inline` relations, whose rules are put in place of their atoms.

They are Soufflé's, also where another way of evaluating could do without one.
"""

from __future__ import annotations

from itertools import islice

from tidelog.analysis.clauses.uses import ClauseUses, ProgramUses, Uses, collect
from tidelog.analysis.names.directives import directives_of
from tidelog.analysis.names.orders import dependencies
from tidelog.analysis.names.relations import Declared
from tidelog.analysis.recursion import component_numbers
from tidelog.errors import Report
from tidelog.lang import tree


def inline_relations(program: tree.Program) -> set[str]:
    """Relations declared `inline`, unless `no_inline` or the pragma "inline-exclude" takes it back."""
    excluded: set[str] = set()
    for pragma in program.of(tree.Pragma):
        if pragma.key == "inline-exclude":
            excluded.update(pragma.value.split(","))
    return {
        relation.name
        for relation in program.of(tree.RelationDecl)
        if "inline" in relation.qualifiers and "no_inline" not in relation.qualifiers and relation.name not in excluded
    }


def check_inlining(program: tree.Program, declared: Declared, uses: ProgramUses, report: Report) -> None:
    inlined = {name: declared.relations[name] for name in inline_relations(program)}
    if not inlined:
        return
    for directive in directives_of(program):
        if directive.relation in inlined and directive.kind != "limitsize":
            report.error(
                "TL0240",
                f"relation `{directive.relation}` is inline and has no tuples to put in or out",
                inlined[directive.relation].span,
                notes=((f"its `.{directive.kind}` is here", directive.span),),
                help="drop the qualifier `inline`",
            )
    own = [clause for clause in uses.clauses if clause.clause.head.name in inlined]
    _check_cycles(inlined, own, report)
    for clause in own:
        for literal in clause.all():
            _refuse_counters(literal, "a counter in a rule of an inline relation", report)
    new_variables = {clause.clause.head.name for clause in own if clause.names() - clause.head.names()}
    bodies = {id(literal): literal for clause in uses.clauses for literal in clause.literals}
    heads = {id(clause.head): clause.head for clause in uses.clauses if clause.head.aggregates}
    for literal in bodies.values():
        _check_level(literal, inlined, new_variables, report)
    for literal in (*bodies.values(), *heads.values()):
        for level in islice(literal.levels(), 1, None):
            _check_level(level, inlined, new_variables, report)
            for atom in level.atoms:
                if atom.name in inlined:
                    _refuse(atom, "inside of an aggregate", report)


def _check_cycles(inlined: dict[str, tree.RelationDecl], own: list[ClauseUses], report: Report) -> None:
    graph = {name: {n for n in found if n in inlined} for name, found in dependencies(own).items()}
    numbers = component_numbers(graph)
    members: dict[int, list[str]] = {}
    for name, number in numbers.items():
        members.setdefault(number, []).append(name)
    for names in members.values():
        if len(names) > 1 or names[0] in graph.get(names[0], ()):
            together = ", ".join(f"`{name}`" for name in sorted(names))
            report.error(
                "TL0241",
                f"inline relation{'s' if len(names) > 1 else ''} {together} cannot be recursive",
                inlined[min(names, key=lambda name: _start(inlined[name]))].span,
                help="drop the qualifier `inline` of one of them" if len(names) > 1 else "drop the qualifier `inline`",
            )


def _start(node: tree.SyntaxNode) -> int:
    return node.span.start if node.span else -1


def _refuse_counters(uses: Uses, message: str, report: Report) -> None:
    for level in uses.levels():
        for counter in level.counters:
            report.error("TL0242", message, counter.span, help="drop the qualifier `inline`")


def _check_level(level: Uses, inlined: dict[str, tree.RelationDecl], new_variables: set[str], report: Report) -> None:
    """Atoms in a body; `new_variables` are relations with a rule whose body has variables that its head lacks."""
    for atom in level.atoms:
        if atom.name in inlined:
            _refuse_counters(collect(atom.args), "a counter as an argument of an inline relation", report)
    for atom in level.negated:
        if atom.name in new_variables:
            _refuse(atom, "negated, because its rules have variables of their own", report)
        elif atom.name in inlined:
            arguments = collect(atom.args)
            if arguments.wildcards or arguments.field_wildcards:
                _refuse(atom, "negated with `_` as an argument", report)


def _refuse(atom: tree.Atom, where: str, report: Report) -> None:
    report.error(
        "TL0243", f"inline relation `{atom.name}` cannot be used {where}", atom.span, help="drop the qualifier `inline`"
    )
