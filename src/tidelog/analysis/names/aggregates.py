"""Checks of aggregates: what they may export, and on what they may depend."""

from __future__ import annotations

from tidelog.analysis.clauses.scopes import bound_names
from tidelog.analysis.clauses.uses import ClauseUses, Uses
from tidelog.analysis.clauses.witnesses import WITNESSED
from tidelog.errors import Report
from tidelog.lang import tree


def check_aggregates(clause: ClauseUses, report: Report) -> None:
    if clause.aggregates:
        if clause.may_have_witnesses:
            _check_witnesses(clause, report)
        _check_mutual_dependence(clause, report)


def _check_witnesses(clause: ClauseUses, report: Report) -> None:
    """Only min and max have a tuple that witnesses their value; the others would have to invent one."""
    for aggregate in clause.aggregates:
        node = aggregate.node
        if isinstance(node, tree.Aggregate) and node.op in WITNESSED:
            continue
        what = f"@@{node.name}" if isinstance(node, tree.UserAggregate) else node.op
        witnesses = clause.scopes[id(node)].witnesses
        for variable in aggregate.uses.variables if witnesses else ():
            if variable.name in witnesses:
                report.error(
                    "TL0227",
                    f"the variable `{variable.name}` is bound only inside of this `{what}`, but used outside of it",
                    variable.span,
                    help="bind it outside too, or give it another name inside",
                )
                break


def _check_mutual_dependence(clause: ClauseUses, report: Report) -> None:
    """Two literals with aggregates, each needing a variable that only the other one binds.

    As in Soufflé, the literals are judged by themselves: that a third one binds both variables does not help.
    """
    mentioned = zip((clause.clause.head, *clause.clause.literals()), clause.all(), strict=True)
    literals = [(literal, uses) for literal, uses in mentioned if uses.aggregates]
    if len(literals) < 2:
        return
    needed: list[set[str]] = []
    binders: dict[str, set[int]] = {}
    for index, (literal, uses) in enumerate(literals):
        levels = list(uses.levels())
        names = {name for level in levels for name in level.names()}
        bound = _bound_anywhere(literal, uses)
        needed.append(names - bound)
        for name in names & bound:
            binders.setdefault(name, set()).add(index)
    depends = [{index for name in names for index in binders.get(name, ())} for names in needed]
    for index, (_, uses) in enumerate(literals):
        for other in sorted(depends[index]):
            if index < other and index in depends[other]:
                report.error(
                    "TL0228",
                    "this aggregate and another one of the clause depend on each other",
                    uses.aggregates[0].node.span,
                    notes=(("the other one is here", literals[other][1].aggregates[0].node.span),),
                    help="compute one of them in a rule of its own",
                )
                break


def _bound_anywhere(literal: tree.Literal, uses: Uses) -> set[str]:
    """The variables that a literal binds by itself, those inside its aggregates included."""
    inside = [part for outer in uses.aggregates for nested in outer.with_nested() for part in nested.body]
    own = (literal,) if isinstance(literal, tree.Comparison) else ()
    return bound_names((*own, *inside))
