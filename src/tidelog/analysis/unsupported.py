"""What the language has and no evaluation can do yet: refused before planning, with the name of the construct."""

from __future__ import annotations

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.uses import ProgramUses
from tidelog.errors import Report, Span
from tidelog.lang import tree


def refuse_unsupported(program: tree.Program, clauses: list[Clause], report: Report) -> None:
    """One TL0701 for each use of a construct that a later version will evaluate."""
    for item in program.items:
        match item:
            case tree.LatticeDecl():
                _refuse(f"`.lattice` `{item.name}`", item.span, report)
            case tree.RelationDecl():
                if item.delta_of is not None:
                    _refuse("`debug_delta`", item.span, report)
                for attribute in item.attributes:
                    if attribute.lattice:
                        _refuse(f"lattice attribute `{attribute.name}`", attribute.span, report)
    for clause in ProgramUses(filter(_may_aggregate, clauses)).clauses:
        witnessed = clause.may_have_witnesses
        for aggregate in clause.aggregates:
            node = aggregate.node
            if isinstance(node, tree.UserAggregate):
                _refuse(f"user-defined aggregate `@@{node.name}`", node.span, report)
            for name in sorted(clause.scopes[id(node)].witnesses) if witnessed else ():
                variable = next((v for v in aggregate.uses.variables if v.name == name), None)
                _refuse(f"witness `{name}` of an aggregate", variable.span if variable else node.span, report)


def _may_aggregate(clause: Clause) -> bool:
    """False where it is plain to see that there is no aggregate, as in nearly all clauses."""
    for literal in (clause.head, *clause.literals()):
        terms = literal.args if isinstance(literal, tree.Atom) else tuple(literal.children())
        if any(not isinstance(term, (tree.Variable, tree.Wildcard, tree.Number, tree.String)) for term in terms):
            return True
    return False


def _refuse(what: str, span: Span | None, report: Report) -> None:
    report.error("TL0701", f"not supported yet: {what}", span)
