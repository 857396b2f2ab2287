"""What a run needs: the relations on which its outputs depend. The rest is neither read nor evaluated.

Soufflé drops what no output needs as well, so that programs have inputs for which there are no files. A program without
outputs is left as it is: whoever runs it wants to know how it runs. Sessions keep everything, since they may be asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from tidelog.analysis.checked import Checked
from tidelog.analysis.strata import Stratum
from tidelog.lang import tree
from tidelog.plain import replace


def only_needed(checked: Checked) -> Checked:
    """The program without what its `.output` and `.printsize` do not need."""
    asked = {directive.relation for directive in checked.directives("output", "printsize")}
    return only_for(checked, asked) if asked else checked


def only_for(checked: Checked, asked: Iterable[str]) -> Checked:
    """The program without what these relations do not depend on."""
    needed = _reached(asked, checked.program)
    if needed.issuperset(checked.relations):
        return checked
    program = replace(checked.program, items=tuple(_kept(checked.program, needed)))
    types = copy(checked.types)
    types.relations = {name: info for name, info in types.relations.items() if name in needed}
    numbers = [n for n, clause in enumerate(checked.clauses) if clause.head.name in needed]
    place = {number: i for i, number in enumerate(numbers)}
    strata = [
        Stratum(stratum.relations, tuple(place[number] for number in stratum.clauses), stratum.recursive)
        for stratum in checked.strata
        if needed.issuperset(stratum.relations)
    ]
    clauses, clause_types = [checked.clauses[n] for n in numbers], [checked.clause_types[n] for n in numbers]
    return Checked(program, types, clauses, clause_types, strata, checked.warnings)


def _reached(asked: Iterable[str], program: tree.Program) -> set[str]:
    """The relations that can be reached from some along the rules as they are written, inline ones included."""
    reads: dict[str, set[str]] = {}
    for item in program.items:
        if isinstance(item, tree.Rule):
            body = set() if item.body is None else _atoms(item.body)
            for head in item.heads:
                reads.setdefault(head.name, set()).update(body, *map(_atoms, head.args))
        elif isinstance(item, tree.Subsumption):
            reads.setdefault(item.less.name, set()).update(_atoms(item))
        elif isinstance(item, tree.RelationDecl) and item.delta_of is not None:
            reads.setdefault(item.name, set()).add(item.delta_of)
    found, pending = set(asked), list(asked)
    while pending:
        for name in reads.get(pending.pop(), ()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return found


def _atoms(node: tree.SyntaxNode) -> set[str]:
    return {inner.name for inner in node.walk() if isinstance(inner, tree.Atom)}


def _kept(program: tree.Program, needed: set[str]) -> Iterable[tree.Item]:
    for item in program.items:
        match item:
            case tree.Rule(heads=heads):
                wanted = tuple(head for head in heads if head.name in needed)
                if wanted:
                    yield item if len(wanted) == len(heads) else replace(item, heads=wanted)
            case tree.Subsumption(less=atom):
                if atom.name in needed:
                    yield item
            case tree.RelationDecl(name=name) | tree.Directive(relation=name):
                if name in needed:
                    yield item
            case _:
                yield item
