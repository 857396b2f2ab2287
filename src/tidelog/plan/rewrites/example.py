"""What rewrites do to the rules of a text: for the examples in their documentation, and for whoever writes one.

>>> from tidelog.plan.rewrites.drop_implied import drop_implied
>>> print(example("p(x) :- e(x, y), e(x, _).", drop_implied))
p(x) :- e(x, _).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tidelog.analysis.check import check
from tidelog.lang import ndlog, tree
from tidelog.lang.ndlog_printer import print_program
from tidelog.lang.souffle import parse
from tidelog.plain import replace
from tidelog.plan.rewrites.magic_sets import magic_sets
from tidelog.plan.rewrites.read_classes import implicit_equivalences
from tidelog.plan.rewrites.rewrite import ProgramRewrite, Rewrite, rewritten
from tidelog.plan.show.rules import show_aggregate_relation, show_rule
from tidelog.plan.stateful import Rewriting


def example(text: str, *rewrites: Rewrite) -> str:
    """The rules of a text after these rewrites, a line each, what was made before what reads it. Relations that the
    text does not declare have columns of numbers."""
    checked = check(with_declarations(parse(text)))
    rewriting = Rewriting(checked, rewrites, implicit_equivalences(checked), with_state=True)
    for stratum in checked.strata:
        rewriting.add(stratum)
    lines = []
    for found in rewriting.strata:
        if found.aggregate is not None:
            lines.append(show_aggregate_relation(found.aggregate))
        lines += map(show_rule, found.rules)
    return "\n".join(lines)


def magic_example(text: str, asked: Collection[str]) -> str:
    """The rules of a text when these relations are asked for, and others only as far as they are needed."""
    checked = magic_sets(check(with_declarations(parse(text))), asked, lambda name: True)
    return "\n".join(clause.text for clause in checked.clauses)


def network_example(text: str, *rewrites: ProgramRewrite) -> str:
    """The rules of a text in Network Datalog after these rewrites."""
    return print_program(rewritten(ndlog.parse(text), *rewrites)).rstrip()


def with_declarations(program: tree.Program) -> tree.Program:
    """The program with columns of numbers for what it does not declare."""
    declared = {decl.name for decl in program.of(tree.RelationDecl)}
    missing = {atom.name: atom for atom in _atoms(program) if atom.name not in declared}
    made = [tree.RelationDecl(name, _numbers(atom)) for name, atom in missing.items()]
    return replace(program, items=(*made, *program.items))


def _atoms(program: tree.Program) -> Iterator[tree.Atom]:
    return (node for item in program.items for node in item.walk() if isinstance(node, tree.Atom))


def _numbers(atom: tree.Atom) -> tuple[tree.Attribute, ...]:
    return tuple(tree.Attribute(f"c{column}", "number") for column in range(len(atom.args)))
