"""The types of a program: what they are, which is a subtype of which, and how their values are stored.

Soufflé's type system. There are four predefined types; `.type A <: B` makes a subset, `.type A = B | C` a union
(of one member: another name for it), `.type A = [..]` a record and `.type A = B {..} | C {..}` an algebraic type
(ADT). Beneath each predefined type lies the type of its *constants*: it stands for a value of which only the kind
is known, such as a literal or the result of a functor, and is accepted wherever any type of that kind is.

    constants of number   <-  number  <-  A <: number  <-  …
    constants of symbol   <-  symbol  <-  …

What is always true: another name for a type resolves to the type itself, so types compare by identity; a chain
of subsets or unions has no cycle; subtype questions are answered once per pair and then remembered.
"""

from __future__ import annotations

from typing import NamedTuple

from tidelog.lang import tree
from tidelog.plain import dataclass, field
from tidelog.values import Kind

PREDEFINED = {"number": Kind.NUMBER, "unsigned": Kind.UNSIGNED, "float": Kind.FLOAT, "symbol": Kind.SYMBOL}


@dataclass(eq=False, slots=True)
class Type:
    """A type; `kind` says how its values are stored."""

    name: str
    kind: Kind

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(eq=False, slots=True, repr=False)
class ConstantType(Type):
    """Any value of a kind: literals and results of functors."""


@dataclass(eq=False, slots=True, repr=False)
class SubsetType(Type):
    """A subset of `base`; the predefined types are subsets of their constants."""

    base: Type


@dataclass(eq=False, slots=True, repr=False)
class UnionType(Type):
    members: tuple[Type, ...]


@dataclass(eq=False, slots=True, repr=False)
class RecordType(Type):
    fields: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()  # filled in after all types exist, because records may be recursive


@dataclass(eq=False, slots=True, repr=False)
class AdtType(Type):
    branches: dict[str, BranchInfo] = field(default_factory=dict)

    @property
    def is_enum(self) -> bool:
        """Whether no branch has fields."""
        return all(not b.types for b in self.branches.values())

    @property
    def width(self) -> int:
        """How many words a value's record has: the tag and the fields of the widest branch, so that one number can
        never mean records of two widths; narrower branches are padded with zeros."""
        return 1 + max((len(b.types) for b in self.branches.values()), default=0)


@dataclass(eq=False, slots=True)
class BranchInfo:
    """A branch of an ADT; `tag` is its number among the branches sorted by name, as in Soufflé."""

    adt: AdtType
    name: str
    tag: int
    fields: tuple[str, ...]
    types: tuple[Type, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(t.kind for t in self.types)


@dataclass(frozen=True, slots=True)
class RelationInfo:
    """A declared relation: its attributes' names, the types as declared, and their kinds."""

    name: str
    attributes: tuple[str, ...]
    types: tuple[str, ...]
    kinds: tuple[Kind, ...]
    decl: tree.RelationDecl

    @property
    def arity(self) -> int:
        return len(self.attributes)


class Column(NamedTuple):
    """An attribute as inference sees it.

    A positive atom *gives* its argument the declared type. A head or a negated atom only *asks* for its kind (for a
    record type, for that type; for an ADT, for nothing: a head is checked in the end).
    """

    type: Type
    gives: frozenset[Type]
    asks: frozenset[Type] | None
    reason: tuple[str, ...]


class TypeSystem:
    """All types, branches, relations and functors of a program, by name.

    `sound` is False when a declaration was wrong; clauses are then not typed. In a `legacy` program, as Soufflé's
    pragma of that name says, an attribute takes values of any type of its kind.
    """

    def __init__(self, legacy: bool = False) -> None:
        self.legacy = legacy
        self.constants: dict[Kind, Type] = {}
        self.types: dict[str, Type] = {}
        self.branches: dict[str, BranchInfo] = {}
        self.relations: dict[str, RelationInfo] = {}
        self.functors: dict[str, tree.FunctorDecl] = {}
        self.sound = True
        self._subtype: dict[tuple[Type, Type], bool] = {}
        self._common: dict[tuple[Type, Type], frozenset[Type]] = {}
        self._meets: dict[tuple[frozenset[Type], frozenset[Type]], frozenset[Type]] = {}
        self._single: dict[Type, frozenset[Type]] = {}
        self._kinds: dict[frozenset[Type], frozenset[Kind]] = {}
        self._columns: dict[str, tuple[Column, ...]] = {}
        for name, kind in PREDEFINED.items():
            constant = ConstantType(name, kind)
            self.constants[kind] = constant
            self.types[name] = SubsetType(name, kind, constant)

        self.untyped_record = Type("record", Kind.RECORD)
        self.numeric = frozenset(self.constants[k] for k in (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT))

    def get(self, name: str) -> Type | None:
        return self.types.get(name)

    def is_subtype(self, a: Type, b: Type) -> bool:
        """Whether every value of `a` is a value of `b`."""
        if a is b:
            return True
        known = self._subtype.get((a, b))
        if known is None:
            known = self._subtype[a, b] = self._decide(a, b)
        return known

    def _decide(self, a: Type, b: Type) -> bool:
        if isinstance(a, UnionType):
            return all(self.is_subtype(member, b) for member in a.members)
        if isinstance(b, UnionType) and any(self.is_subtype(a, member) for member in b.members):
            return True
        while isinstance(a, SubsetType):
            a = a.base
            if a is b:
                return True
        return isinstance(a, UnionType) and self.is_subtype(a, b)

    def are_equivalent(self, a: Type, b: Type) -> bool:
        return self.is_subtype(a, b) and self.is_subtype(b, a)

    def common(self, a: Type, b: Type) -> frozenset[Type]:
        """The greatest types that are subtypes of both."""
        known = self._common.get((a, b))
        if known is None:
            known = self._common[a, b] = self._meet(a, b)
        return known

    def meet(self, a: frozenset[Type], b: frozenset[Type]) -> frozenset[Type]:
        """The greatest common subtypes of two choices of types."""
        known = self._meets.get((a, b))
        if known is None:
            known = frozenset(t for x in a for y in b for t in self.common(x, y))
            known = a if known == a else known
            self._meets[a, b] = known
        return known

    def just(self, a: Type) -> frozenset[Type]:
        """The choice of one type, always the same object for the same type."""
        known = self._single.get(a)
        if known is None:
            known = self._single[a] = frozenset((a,))
        return known

    def kinds(self, choice: frozenset[Type]) -> frozenset[Kind]:
        known = self._kinds.get(choice)
        if known is None:
            known = self._kinds[choice] = frozenset(t.kind for t in choice)
        return known

    def columns(self, info: RelationInfo) -> tuple[Column, ...]:
        """The columns of a relation, for a program whose declarations are sound."""
        known = self._columns.get(info.name)
        if known is None:
            known = tuple(self._column(info, i) for i in range(info.arity))
            self._columns[info.name] = known
        return known

    def _column(self, info: RelationInfo, position: int) -> Column:
        declared = self.types[info.types[position]]
        asked: frozenset[Type] | None = self.just(declared)
        if declared.kind is not Kind.RECORD:
            asked = self.just(self.constants[declared.kind])
        elif not isinstance(declared, RecordType):
            asked = None
        reason = ("attribute", info.attributes[position], info.name)
        return Column(declared, self.just(declared), asked, reason)

    def _meet(self, a: Type, b: Type) -> frozenset[Type]:
        if self.is_subtype(a, b):
            return frozenset((a,))
        if self.is_subtype(b, a):
            return frozenset((b,))
        if not (isinstance(a, UnionType) and isinstance(b, UnionType)):
            return frozenset()
        found: set[Type] = set()
        pending: list[Type] = [a]
        seen: set[Type] = set()
        while pending:
            current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            if self.is_subtype(current, b):
                found.add(current)
            elif isinstance(current, UnionType):
                pending.extend(current.members)
        return frozenset(found)
