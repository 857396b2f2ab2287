"""A tree with its relations and types renamed: what instantiating a component does to its content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tidelog.lang import tree
from tidelog.plain import fields, replace

N = TypeVar("N", bound=tree.SyntaxNode)

Names = Mapping[str, str]

_RELATION_FIELDS: dict[type[tree.SyntaxNode], tuple[str, ...]] = {
    tree.Atom: ("name",),
    tree.RelationDecl: ("name", "delta_of"),
    tree.Directive: ("relation",),
}
_TYPE_FIELDS: dict[type[tree.SyntaxNode], tuple[str, ...]] = {
    tree.Branch: ("name",),
    tree.Cast: ("type",),
    tree.Attribute: ("type",),
    tree.SubsetDefinition: ("name", "base"),
    tree.UnionDefinition: ("name",),
    tree.RecordDefinition: ("name",),
    tree.AlgebraicType: ("name",),
    tree.BranchDecl: ("name",),
    tree.LatticeDecl: ("name",),
}
_CHILD_FIELDS: dict[type[tree.SyntaxNode], tuple[str, ...]] = {}


def renamed(node: N, relations: Names, types: Names) -> N:
    """The node with every name that the mappings know replaced; itself if there is none.

    Branches of algebraic data types share the names of the types, as in Soufflé.
    """
    kind = type(node)
    changes: dict[str, Any] = {}
    for names, places in ((relations, _RELATION_FIELDS), (types, _TYPE_FIELDS)):
        for place in places.get(kind, ()):
            new = names.get(getattr(node, place))
            if new is not None:
                changes[place] = new
    if isinstance(node, tree.UnionDefinition):
        members = tuple(types.get(member, member) for member in node.members)
        if members != node.members:
            changes["members"] = members
    elif isinstance(node, tree.LatticeDecl):
        changes["operators"] = tuple((op, renamed(term, relations, types)) for op, term in node.operators)
    for place in _children(kind):
        value = getattr(node, place)
        if isinstance(value, tree.SyntaxNode):
            new_child = renamed(value, relations, types)
            if new_child is not value:
                changes[place] = new_child
        elif value.__class__ is tuple and value and isinstance(value[0], tree.SyntaxNode):
            new_children = tuple([renamed(child, relations, types) for child in value])
            if any(new is not old for new, old in zip(new_children, value, strict=True)):
                changes[place] = new_children
    return replace(node, **changes) if changes else node


def _children(kind: type[tree.SyntaxNode]) -> tuple[str, ...]:
    """The fields that can hold nodes; looked up once for each class."""
    places = _CHILD_FIELDS.get(kind)
    if places is None:
        plain = {"span", "name_span", *_RELATION_FIELDS.get(kind, ()), *_TYPE_FIELDS.get(kind, ())}
        places = tuple(f.name for f in fields(kind) if f.name not in plain)
        _CHILD_FIELDS[kind] = places
    return places
