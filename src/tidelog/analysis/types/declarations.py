"""From a program's declarations to its `TypeSystem`, reporting every declaration that makes no sense.

Subsets, unions and other names are resolved in dependency order; what is left over is on a cycle or depends on
one. Records and ADTs may be recursive: they are made first and their fields are filled in last.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.analysis.types.system import (
    PREDEFINED,
    AdtType,
    BranchInfo,
    RecordType,
    RelationInfo,
    SubsetType,
    Type,
    TypeSystem,
    UnionType,
)
from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.values import Kind


def types_of(program: tree.Program, report: Report) -> TypeSystem:
    """The type system of a program whose components are expanded."""
    return _Declarations(program, report).build()


class _Declarations:
    def __init__(self, program: tree.Program, report: Report) -> None:
        self.program = program
        self.report = report
        self.system = TypeSystem(legacy=program.pragma("legacy") is not None)
        self.declared: dict[str, tree.TypeDecl] = {}

    def build(self) -> TypeSystem:
        for decl in self.program.of(tree.TypeDecl):
            if decl.name in PREDEFINED:
                self._wrong("TL0302", f"the type `{decl.name}` is predefined and cannot be declared again", decl.span)
            else:
                self.declared.setdefault(decl.name, decl)
        self._make_containers()
        self._resolve_names()
        self._fill_containers()
        for functor in self.program.of(tree.FunctorDecl):
            self._functor(functor)
        relations = self.program.of(tree.RelationDecl)
        for relation in sorted(relations, key=lambda r: r.delta_of is not None):
            self._relation(relation)
        return self.system

    def _wrong(self, code: str, message: str, span: Span | None, **extra: object) -> None:
        self.system.sound = False
        self.report.error(code, message, span, **extra)

    def _undefined(self, name: str, where: str, span: Span | None) -> None:
        if self.report.may_be_declared(name):
            self.system.sound = False
            return
        self._wrong("TL0301", f"undefined type `{name}` in {where}", span, help=self._declare_it(name))

    def _declare_it(self, name: str) -> str:
        known = [*PREDEFINED, *self.declared]
        close = [k for k in known if k.lower() == name.lower()]
        close = close or [k for k in known if k.rpartition(".")[2] == name.rpartition(".")[2]]
        if close:
            return f"did you mean `{close[0]}`?"
        return f"declare it with `.type {name} <: ...`, or use number, unsigned, float or symbol"

    # ---- types

    def _make_containers(self) -> None:
        for decl in self.declared.values():
            if isinstance(decl, tree.RecordDefinition):
                self.system.types[decl.name] = RecordType(decl.name, Kind.RECORD)
            elif isinstance(decl, tree.AlgebraicType):
                self.system.types[decl.name] = AdtType(decl.name, Kind.RECORD)

    def _resolve_names(self) -> None:
        """Subsets, unions and other names, each after the types that it is made from."""
        needs: dict[str, set[str]] = {}
        needed_by: dict[str, list[str]] = {}
        for name, decl in self.declared.items():
            if not isinstance(decl, (tree.SubsetDefinition, tree.UnionDefinition)):
                continue
            parts = [decl.base] if isinstance(decl, tree.SubsetDefinition) else list(decl.members)
            needs[name] = set()
            for part in dict.fromkeys(parts):
                if part in self.declared:
                    if part not in self.system.types:
                        needs[name].add(part)
                        needed_by.setdefault(part, []).append(name)
                elif part not in PREDEFINED:
                    self._undefined(part, f"the definition of `{name}`", decl.span)
        ready = [name for name, open_parts in needs.items() if not open_parts]
        while ready:
            name = ready.pop()
            self._make(self.declared[name])
            for user in needed_by.get(name, ()):
                needs[user].discard(name)
                if not needs[user]:
                    ready.append(user)
            del needs[name]
        self._report_cycles(needs)

    def _report_cycles(self, needs: dict[str, set[str]]) -> None:
        """Each cycle once, from its first member in textual order."""
        reported: set[str] = set()
        order = {name: i for i, name in enumerate(self.declared)}
        for name in needs:
            if name in reported:
                continue
            path: list[str] = []
            place: dict[str, int] = {}
            current: str | None = name
            while current is not None and current not in place and current not in reported:
                place[current] = len(path)
                path.append(current)
                current = next((n for n in sorted(needs[current]) if n in needs), None)
            if current is not None and current in place:
                cycle = path[place[current] :]
                first = min(range(len(cycle)), key=lambda i: order[cycle[i]])
                cycle = cycle[first:] + cycle[:first]
                shown = cycle if len(cycle) <= 6 else [*cycle[:3], "...", *cycle[-2:]]
                self._wrong(
                    "TL0303",
                    f"the type `{cycle[0]}` is defined in terms of itself: {' -> '.join([*shown, cycle[0]])}",
                    self.declared[cycle[0]].span,
                    notes=tuple((f"`{n}` is defined here", self.declared[n].span) for n in cycle[1:6]),
                )
            reported.update(path)

    def _make(self, decl: tree.TypeDecl) -> None:
        system = self.system
        if isinstance(decl, tree.SubsetDefinition):
            base = system.get(decl.base)
            if base is None:
                return
            if isinstance(base, (UnionType, RecordType, AdtType)):
                what = {UnionType: "a union", RecordType: "a record", AdtType: "an algebraic type"}[type(base)]
                self._wrong(
                    "TL0305",
                    f"`{decl.name}` cannot be a subset of `{decl.base}`, which is {what}",
                    decl.span,
                    help=f"write `.type {decl.name} = {decl.base}` for another name of the same type",
                )
                return
            system.types[decl.name] = SubsetType(decl.name, base.kind, base)
        elif isinstance(decl, tree.UnionDefinition):
            members = [m for m in map(system.get, dict.fromkeys(decl.members)) if m is not None]
            if len(members) < len(set(decl.members)):
                return
            if len(decl.members) == 1:
                system.types[decl.name] = members[0]
            else:
                self._make_union(decl, members)

    def _make_union(self, decl: tree.UnionDefinition, members: list[Type]) -> None:
        for member, name in zip(members, dict.fromkeys(decl.members), strict=True):
            if member.kind is Kind.RECORD:
                self._wrong(
                    "TL0304",
                    f"the union `{decl.name}` contains `{name}`, which is a record or an algebraic type",
                    decl.span,
                    help="unions are of subsets of number, unsigned, float or symbol; use an algebraic type instead",
                )
                return
        kinds = dict.fromkeys(m.kind for m in members)
        if len(kinds) > 1:
            mixed = " and ".join(k.value for k in kinds)
            self._wrong("TL0304", f"the union `{decl.name}` mixes types based on {mixed}", decl.span)
            return
        self.system.types[decl.name] = UnionType(decl.name, members[0].kind, tuple(members))

    def _fill_containers(self) -> None:
        for decl in self.declared.values():
            made = self.system.types.get(decl.name)
            if isinstance(decl, tree.RecordDefinition) and isinstance(made, RecordType):
                made.fields = tuple(f.name for f in decl.fields)
                made.types = self._field_types(decl.fields, f"record `{decl.name}`")
            elif isinstance(decl, tree.AlgebraicType) and isinstance(made, AdtType):
                self._fill_adt(decl, made)

    def _fill_adt(self, decl: tree.AlgebraicType, adt: AdtType) -> None:
        tags = {name: tag for tag, name in enumerate(sorted(b.name for b in decl.branches))}
        first: dict[str, Span | None] = {}
        for branch in decl.branches:
            names = tuple(f.name for f in branch.fields)
            types = self._field_types(branch.fields, f"branch `{branch.name}`")
            info = BranchInfo(adt, branch.name, tags[branch.name], names, types)
            known = self.system.branches.get(branch.name)
            if known is not None:
                place = first[branch.name] if branch.name in first else self._branch_span(known)
                self._wrong(
                    "TL0307",
                    f"the branch `{branch.name}` is declared more than once",
                    branch.span or decl.span,
                    notes=((f"it is also a branch of `{known.adt.name}`", place),),
                    help="branch names are unique in the whole program; rename one of them",
                )
                continue
            first[branch.name] = branch.span
            self.system.branches[branch.name] = adt.branches[branch.name] = info

    def _branch_span(self, info: BranchInfo) -> Span | None:
        decl = self.declared[info.adt.name]
        assert isinstance(decl, tree.AlgebraicType)
        return next((b.span for b in decl.branches if b.name == info.name), decl.span)

    def _field_types(self, fields: Iterable[tree.Attribute], where: str) -> tuple[Type, ...]:
        result: list[Type] = []
        seen: dict[str, Span | None] = {}
        for f in fields:
            if f.name in seen:
                self._wrong(
                    "TL0306",
                    f"the {where} has two fields named `{f.name}`",
                    f.span,
                    notes=(("the first one", seen[f.name]),),
                )
            seen.setdefault(f.name, f.span)
            found = self._lookup(f, f"field `{f.name}` of {where}")
            result.append(found or self.system.types["number"])
        return tuple(result)

    def _lookup(self, attribute: tree.Attribute, where: str) -> Type | None:
        """The attribute's type; reports it if it was never declared (a bad declaration was reported before)."""
        found = self.system.get(attribute.type)
        if found is None:
            self.system.sound = False
            if attribute.type not in self.declared:
                self._undefined(attribute.type, where, attribute.span)
        return found

    # ---- relations and functors

    def _functor(self, decl: tree.FunctorDecl) -> None:
        self.system.functors.setdefault(decl.name, decl)
        result = tree.Attribute("", decl.result, span=decl.span)
        for i, param in enumerate((*decl.params, result)):
            last = i == len(decl.params)
            where = "the result" if last else f"parameter `{param.name or i + 1}`"
            found = self._lookup(param, f"{where} of the functor `{decl.name}`")
            if found is not None and found.kind is Kind.RECORD and not decl.stateful:
                self._wrong(
                    "TL0308",
                    f"{where} of the functor `{decl.name}` is a record or an algebraic type",
                    param.span or decl.span,
                    help="only a stateful functor can take or give such values: end its declaration with `stateful`",
                )

    def _relation(self, decl: tree.RelationDecl) -> None:
        if decl.name in self.system.relations:
            return
        if decl.delta_of is not None:
            base = self.system.relations.get(decl.delta_of)
            if base is not None:
                info = RelationInfo(decl.name, base.attributes, base.types, base.kinds, decl)
                self.system.relations[decl.name] = info
            return
        found = [self._lookup(a, f"attribute `{a.name}` of `{decl.name}`") for a in decl.attributes]
        self.system.relations[decl.name] = RelationInfo(
            decl.name,
            tuple(a.name for a in decl.attributes),
            tuple(a.type for a in decl.attributes),
            tuple(t.kind if t is not None else Kind.NUMBER for t in found),
            decl,
        )
