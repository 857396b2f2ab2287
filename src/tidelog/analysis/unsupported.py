"""What the language has and no evaluation can do yet: refused before planning, with the name of the construct."""

from __future__ import annotations

from tidelog.analysis.clauses import Clause
from tidelog.analysis.uses import ProgramUses
from tidelog.errors import Report, Span
from tidelog.lang import tree


def refuse_unsupported(program: tree.Program, clauses: list[Clause], report: Report) -> None:
    """One TL0701 for each use of a construct that a later version will evaluate."""
    for item in program.items:
        match item:
            case tree.LatticeDecl():
                _refuse(f"`.lattice` `{item.name}`", item.span, report)
            case tree.FunctorDecl(stateful=True):
                _refuse(f"stateful functor `{item.name}`", item.span, report)
            case tree.RelationDecl():
                if item.delta_of is not None:
                    _refuse("`debug_delta`", item.span, report)
                for attribute in item.attributes:
                    if attribute.lattice:
                        _refuse(f"lattice attribute `{attribute.name}`", attribute.span, report)
    for clause in ProgramUses(clauses).clauses:
        witnessed = clause.may_have_witnesses
        for aggregate in clause.aggregates:
            node = aggregate.node
            if isinstance(node, tree.UserAggregate):
                _refuse(f"user-defined aggregate `@@{node.name}`", node.span, report)
            for name in sorted(clause.scopes[id(node)].witnesses) if witnessed else ():
                variable = next((v for v in aggregate.uses.variables if v.name == name), None)
                _refuse(f"witness `{name}` of an aggregate", variable.span if variable else node.span, report)


def _refuse(what: str, span: Span | None, report: Report) -> None:
    report.error("TL0701", f"not supported yet: {what}", span)
