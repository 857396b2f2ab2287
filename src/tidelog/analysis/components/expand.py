"""Components: every `.init` becomes the declarations and rules that it stands for.

An instance named `i` of a component gives its content (that of its base components first, then its own, nested
instances included) with each relation and type that it declares renamed to `i.name`. What it does not declare keeps
its name and is looked up again one level further out, so a name always means the innermost enclosing declaration.

A component that is never instantiated is checked for its references to other components only, as in Soufflé.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from tidelog.analysis.components.checks import check_component_names, check_components
from tidelog.analysis.components.renaming import renamed
from tidelog.analysis.components.scopes import Binding, ComponentScope, Scopes
from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.plain import dataclass, field, replace

MOST_LEVELS = 100
MOST_INSTANCES = 10_000
MOST_ITEMS = 500_000

Key: TypeAlias = tuple[int, tuple[tuple[str, str | None], ...]]


def expand(program: tree.Program, report: Report) -> tree.Program:
    """The program without components: no Component, ComponentInit or Override is left."""
    if not program.of(tree.Component, tree.ComponentInit, tree.Override):
        return program
    scopes = Scopes(program, report)
    check_components(program, scopes, report)
    repeated = check_component_names(program, report)
    expansion = _Expansion(scopes, report)
    items: list[tree.Item] = []
    for item in program.items:
        if isinstance(item, tree.ComponentInit):
            if id(item) in repeated:
                continue
            items.extend(expansion.instance(item, None, {}, ()).items)
        elif isinstance(item, tree.Override):
            report.error("TL0512", "`.override` outside of a component", item.span)
        elif not isinstance(item, tree.Component):
            items.append(item)
    return replace(program, items=tuple(items))


@dataclass
class _Content:
    """What an instance stands for, before or after its names were qualified."""

    items: list[tree.Item] = field(default_factory=list)
    relations: dict[str, tree.SyntaxNode] = field(default_factory=dict)
    types: dict[str, tree.SyntaxNode] = field(default_factory=dict)
    branches: set[str] = field(default_factory=set)
    directives: dict[tuple[str, str], tree.SyntaxNode] = field(default_factory=dict)

    def add(self, item: tree.Item, report: Report) -> None:
        """Adds an item; of two declarations of one name only the first is kept."""
        match item:
            case tree.RelationDecl(name=name):
                if not _define(self.relations, "relation", name, item, report):
                    return
            case tree.TypeDecl(name=name):
                if not _define(self.types, "type", name, item, report):
                    return
                if isinstance(item, tree.AlgebraicType):
                    self.branches.update(branch.name for branch in item.branches)
            case tree.Directive(kind=kind, relation=name):
                _direct(self.directives, kind, name, item, report)
        self.items.append(item)

    def qualified(self, instance: str) -> _Content:
        """The content as it looks from outside: names declared in it start with the instance's."""
        relations = {name: f"{instance}.{name}" for name in self.relations}
        types = {name: f"{instance}.{name}" for name in (*self.types, *self.branches)}
        return _Content(
            [renamed(item, relations, types) for item in self.items],
            {relations[name]: node for name, node in self.relations.items()},
            {types[name]: node for name, node in self.types.items()},
            {types[name] for name in self.branches},
            {(kind, relations.get(name, name)): node for (kind, name), node in self.directives.items()},
        )

    def absorb(self, other: _Content, init: tree.ComponentInit, report: Report) -> None:
        """Takes over the content of a nested instance."""
        lost = {
            name
            for what, known, new in (("relation", self.relations, other.relations), ("type", self.types, other.types))
            for name, node in new.items()
            if not _define(known, what, name, node, report, init.span)
        }
        if not lost:
            for (kind, name), node in other.directives.items():
                _direct(self.directives, kind, name, node, report)
        self.branches |= other.branches
        self.items.extend(
            item
            for item in other.items
            if not lost or not isinstance(item, (tree.RelationDecl, tree.TypeDecl)) or item.name not in lost
        )


def _define(
    known: dict[str, tree.SyntaxNode],
    what: str,
    name: str,
    item: tree.SyntaxNode,
    report: Report,
    span: Span | None = None,
) -> bool:
    """Takes the name for the item; False, and an error, if it is not free."""
    if name not in known:
        known[name] = item
        return True
    previous = known[name]
    report.error(
        "TL0508",
        f"redefinition of {what} `{name}` inside a component",
        span or item.span,
        notes=(("the previous definition is here", previous.span),),
        help="a component also has the declarations of its base components",
    )
    return False


def _direct(
    known: dict[tuple[str, str], tree.SyntaxNode], kind: str, relation: str, item: tree.SyntaxNode, report: Report
) -> None:
    if (kind, relation) in known and kind != "output":
        report.error(
            "TL0509",
            f"a second `.{kind}` of relation `{relation}` in the same component",
            item.span,
            notes=(("the first one is here", known[kind, relation].span),),
        )
    known.setdefault((kind, relation), item)


@dataclass(frozen=True)
class _Member:
    """A component that an instance is made of: itself or a base, with its type arguments."""

    scope: ComponentScope
    binding: Binding
    overridden: frozenset[str]


class _Expansion:
    """Instantiates components, within limits on depth and size that no honest program meets."""

    def __init__(self, scopes: Scopes, report: Report) -> None:
        self._scopes = scopes
        self._report = report
        self._instances = 0
        self._items = 0
        self._refused = False

    def instance(
        self, init: tree.ComponentInit, scope: ComponentScope | None, binding: Binding, active: tuple[Key, ...]
    ) -> _Content:
        """The qualified content of one `.init` that stands in `scope`; `active` are the instances around it."""
        content = _Content()
        component = self._scopes.resolve(init.component, scope, binding, init.span)
        if component is None:
            return content
        inner = self._scopes.bind(component, init.component, binding)
        key = _key(component, inner)
        if key in active or len(active) >= MOST_LEVELS:
            self._report.error(
                "TL0510",
                f"component `{component.name}` instantiates itself without end",
                init.span,
                notes=(("the component is declared here", component.node.type.span or component.node.span),),
            )
            return content
        if not self._within_limits(init):
            return content
        for member in self._lineage(component, inner, init):
            for nested in member.scope.inits:
                inside = self.instance(nested, member.scope, member.binding, (*active, key))
                content.absorb(inside, nested, self._report)
            for item in _own_items(member):
                content.add(item, self._report)
        self._items += len(content.items)
        return content.qualified(init.name)

    def _within_limits(self, init: tree.ComponentInit) -> bool:
        self._instances += 1
        if self._instances <= MOST_INSTANCES and self._items <= MOST_ITEMS:
            return True
        if not self._refused:
            self._refused = True
            self._report.error(
                "TL0511",
                f"the components of this program expand to more than {MOST_INSTANCES:,} instances "
                f"or {MOST_ITEMS:,} declarations and rules",
                init.span,
            )
        return False

    def _lineage(self, component: ComponentScope, binding: Binding, init: tree.ComponentInit) -> list[_Member]:
        """The component and all its bases, bases first, in the order in which they are written."""
        found: list[_Member] = []

        def visit(member: _Member, path: tuple[Key, ...]) -> None:
            scope = member.scope
            key = _key(scope, member.binding)
            if key in path or len(path) >= MOST_LEVELS:
                whom = "itself" if key in path else f"more than {MOST_LEVELS} others, one above the other"
                self._report.error(
                    "TL0503", f"component `{scope.name}` inherits from {whom}", scope.node.type.span or scope.node.span
                )
                return
            overridden = member.overridden | scope.overrides.keys()
            for base in scope.node.bases:
                if self._refused or not self._within_limits(init):
                    return
                above = self._scopes.resolve(base, scope.outer, member.binding, base.span or scope.node.span)
                if above is not None:
                    bound = self._scopes.bind(above, base, member.binding)
                    visit(_Member(above, bound, overridden), (*path, key))
            found.append(member)

        visit(_Member(component, binding, frozenset()), ())
        return found


def _key(scope: ComponentScope, binding: Binding) -> Key:
    return id(scope), tuple(sorted(binding.items()))


def _own_items(member: _Member) -> Iterable[tree.Item]:
    """The declarations and clauses of one component, its type parameters replaced, overridden clauses left out."""
    types = {formal: actual for formal, actual in member.binding.items() if actual is not None}
    for item in member.scope.items:
        if isinstance(item, tree.Rule):
            heads = tuple(head for head in item.heads if head.name.split(".")[0] not in member.overridden)
            if not heads:
                continue
            if len(heads) != len(item.heads):
                item = replace(item, heads=heads)
        elif isinstance(item, tree.Subsumption) and item.less.name.split(".")[0] in member.overridden:
            continue
        yield renamed(item, {}, types) if types else item
