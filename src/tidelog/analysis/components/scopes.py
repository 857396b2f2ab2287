"""Where a component's name is visible, and what its type parameters stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tidelog.analysis.suggest import did_you_mean
from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.plain import dataclass, field

MOST_NESTING = 100

Binding: TypeAlias = Mapping[str, str | None]
"""Type parameters and what they stand for; None while only the declaration is looked at."""


@dataclass(eq=False)
class ComponentScope:
    """A component declaration: what it holds by kind, and the component around it."""

    node: tree.Component
    outer: ComponentScope | None
    inner: dict[str, ComponentScope] = field(default_factory=dict)
    inits: list[tree.ComponentInit] = field(default_factory=list)
    overrides: dict[str, tree.Override] = field(default_factory=dict)
    relations: dict[str, tree.RelationDecl] = field(default_factory=dict)
    items: list[tree.Item] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.node.type.name

    @property
    def unbound(self) -> Binding:
        """The component's own type parameters, as yet without arguments."""
        return dict.fromkeys(self.node.type.params)


class Scopes:
    """All component declarations of a program, and the look-up of their names."""

    def __init__(self, program: tree.Program, report: Report) -> None:
        self.outermost: dict[str, ComponentScope] = {}
        self.all: list[ComponentScope] = []
        self._report = report
        self._found: dict[tuple[int, str, tuple[tuple[str, str | None], ...]], ComponentScope | None] = {}
        for component in program.of(tree.Component):
            self._declare(component, None, self.outermost, 0)

    def _declare(
        self, node: tree.Component, outer: ComponentScope | None, siblings: dict[str, ComponentScope], level: int
    ) -> None:
        if level >= MOST_NESTING:
            self._report.error("TL0513", f"components are nested more than {MOST_NESTING} deep", node.span)
            return
        scope = ComponentScope(node, outer)
        self.all.append(scope)
        siblings.setdefault(scope.name, scope)
        for item in node.items:
            match item:
                case tree.Component():
                    self._declare(item, scope, scope.inner, level + 1)
                case tree.ComponentInit():
                    scope.inits.append(item)
                case tree.Override():
                    scope.overrides.setdefault(item.relation, item)
                case tree.FunctorDecl() | tree.Pragma():
                    what = "functor" if isinstance(item, tree.FunctorDecl) else "pragma"
                    self._report.error(
                        "TL0514", f"`.{what}` inside a component", item.span, help="move it out of the component"
                    )
                case _:
                    if isinstance(item, tree.RelationDecl):
                        scope.relations.setdefault(item.name, item)
                    scope.items.append(item)

    def resolve(
        self, wanted: tree.ComponentType, scope: ComponentScope | None, binding: Binding, span: Span | None
    ) -> ComponentScope | None:
        """The component that a reference means, seen from inside `scope`; None, and an error, if there is none.

        A type parameter that has no argument yet may become any component and is no error.
        """
        name = binding.get(wanted.name, wanted.name)
        if name is None:
            return None
        found = self.lookup(scope, name, binding)
        if found is None:
            if self._report.may_be_declared(name):
                self._report.incomplete = True  # all that it would have declared
                return None
            given = f", given for type parameter `{wanted.name}`," if name != wanted.name else ""
            help = did_you_mean(name, self._visible(scope))
            self._report.error("TL0501", f"component `{name}`{given} is not declared", wanted.span or span, help=help)
            return None
        expected, got = len(found.node.type.params), len(wanted.params)
        if expected != got:
            self._report.error(
                "TL0502",
                f"component `{found.name}` takes {_arguments(expected)}, but is given {got}",
                wanted.span or span,
                notes=(("the component is declared here", found.node.type.span or found.node.span),),
            )
            return None
        return found

    def bind(self, component: ComponentScope, wanted: tree.ComponentType, binding: Binding) -> Binding:
        """The component's parameters with the arguments of this reference, seen through the outer binding."""
        return {
            formal: binding.get(actual, actual)
            for formal, actual in zip(component.node.type.params, wanted.params, strict=True)
        }

    def lookup(self, scope: ComponentScope | None, name: str, binding: Binding) -> ComponentScope | None:
        """The innermost declaration of the name: in a scope, its bases, then further out."""
        key = (id(scope), name, tuple(sorted(binding.items(), key=lambda pair: pair[0])))
        if key not in self._found:
            self._found[key] = self._search(scope, name, binding)
        return self._found[key]

    def _search(self, scope: ComponentScope | None, name: str, binding: Binding) -> ComponentScope | None:
        while scope is not None:
            seen = {id(scope)}
            pending = [scope]
            while pending:
                current = pending.pop()
                if name in current.inner:
                    return current.inner[name]
                for base in reversed(current.node.bases):
                    base_name = binding.get(base.name, base.name)
                    found = None if base_name is None else self.lookup(current.outer, base_name, binding)
                    if found is not None and id(found) not in seen:
                        seen.add(id(found))
                        pending.append(found)
            scope = scope.outer
        return self.outermost.get(name)

    def _visible(self, scope: ComponentScope | None) -> list[str]:
        names: list[str] = []
        while scope is not None:
            names.extend(scope.inner)
            scope = scope.outer
        return [*names, *self.outermost]


def _arguments(count: int) -> str:
    return f"{count or 'no'} type argument{'' if count == 1 else 's'}"
