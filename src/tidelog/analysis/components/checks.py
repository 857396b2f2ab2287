"""Checks of component declarations that need no instance: references, inheritance, overrides, names."""

from __future__ import annotations

from tidelog.analysis.components.scopes import ComponentScope, Scopes
from tidelog.errors import Report
from tidelog.lang import tree

MOST_PARENTS = 200
"""How many components above one are looked at; far more than any of its instances may have."""


def check_components(program: tree.Program, scopes: Scopes, report: Report) -> None:
    """Every component, used or not; the outermost instances are checked when they are expanded."""
    for scope in scopes.all:
        for base in scope.node.bases:
            scopes.resolve(base, scope.outer, scope.unbound, base.span or scope.node.span)
        for init in scope.inits:
            scopes.resolve(init.component, scope, scope.unbound, init.span)
        parents, complete = _parents(scope, scopes)
        if scope in parents:
            report.error(
                "TL0503", f"component `{scope.name}` inherits from itself", scope.node.type.span or scope.node.span
            )
        _check_overrides(scope, parents, complete, report)


def _parents(scope: ComponentScope, scopes: Scopes) -> tuple[list[ComponentScope], bool]:
    """All components that this one inherits from, and whether type parameters hide none of them."""
    found: dict[int, ComponentScope] = {}
    complete = True
    pending = [scope]
    while pending and len(found) < MOST_PARENTS:
        current = pending.pop()
        unbound = current.unbound
        for base in current.node.bases:
            above = None if base.name in unbound else scopes.lookup(current.outer, base.name, unbound)
            if above is None:
                complete = False
            elif id(above) not in found:
                found[id(above)] = above
                pending.append(above)
    return list(found.values()), complete and not pending


def _check_overrides(scope: ComponentScope, parents: list[ComponentScope], complete: bool, report: Report) -> None:
    for name, override in scope.overrides.items():
        if name in scope.relations:
            report.error(
                "TL0505",
                f"override of relation `{name}`, which component `{scope.name}` declares itself",
                override.span,
                notes=(("it is declared here", scope.relations[name].span),),
                help="only a relation of a base component can be overridden",
            )
        inherited = [parent.relations[name] for parent in parents if name in parent.relations]
        for relation in inherited:
            if "overridable" not in relation.qualifiers:
                report.error(
                    "TL0504",
                    f"override of relation `{name}`, which is not overridable",
                    override.span,
                    notes=(("it is declared here", relation.span),),
                    help=f"add the qualifier `overridable` to the declaration of `{name}`",
                )
        if not inherited and name not in scope.relations and complete:
            report.warn(
                "TL0506",
                f"override of relation `{name}`, which no base component of `{scope.name}` declares",
                override.span,
                help="it has no effect",
            )


def check_component_names(program: tree.Program, report: Report) -> set[int]:
    """Outermost components and instances share one space of names with types and relations.

    Returns the ids of instances whose name another instance has: expanding them would repeat its declarations.
    """
    names: dict[str, tree.SyntaxNode] = {}
    for type_ in program.of(tree.TypeDecl):
        names.setdefault(type_.name, type_)
    for relation in program.of(tree.RelationDecl):
        names.setdefault(relation.name, relation)
    for component in program.of(tree.Component):
        _claim(names, "component", component.type.name, component.type if component.type.span else component, report)
    repeated: set[int] = set()
    for init in program.of(tree.ComponentInit):
        if isinstance(_claim(names, "instance", init.name, init, report), tree.ComponentInit):
            repeated.add(id(init))
    return repeated


def _claim(
    names: dict[str, tree.SyntaxNode], what: str, name: str, node: tree.SyntaxNode, report: Report
) -> tree.SyntaxNode | None:
    """What has the name already, if anything has."""
    previous = names.setdefault(name, node)
    if previous is node:
        return None
    report.error(
        "TL0507",
        f"the name `{name}` of this {what} is already taken",
        node.span,
        notes=(("it is taken here", previous.span),),
    )
    return previous
