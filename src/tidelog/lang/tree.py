"""The syntax tree that all three dialects share.

Nodes are immutable and compare by content; spans do not take part in equality, so that
parse(print(p)) == p can be tested as it stands. Names that contain dots (components) are plain strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Self, TypeAlias, TypeVar, cast

from tidelog.errors import Span
from tidelog.plain import dataclass, field, fields, replace


@cache
def _child_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a node that can hold nodes: all but spans and plain texts and numbers."""
    return tuple(f.name for f in fields(kind) if f.type not in _LEAVES)


_LEAVES = (
    "str",
    "int",
    "bool",
    "float",
    "int | None",
    "str | None",
    "Span | None",
    "tuple[str, ...]",
    "tuple[int, ...]",
)


@dataclass(frozen=True, slots=True)
class SyntaxNode:
    """Anything in the tree. `span` says where the user wrote it; None for what a rewrite made."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    def children(self) -> Iterator[SyntaxNode]:
        """The nodes directly below, in textual order."""
        for name in _child_fields(cast(Any, type(self))):
            value = getattr(self, name)
            if isinstance(value, SyntaxNode):
                yield value
            elif isinstance(value, tuple):
                for item in value:
                    if isinstance(item, SyntaxNode):
                        yield item

    def with_children(self, change: Callable[[Any], Any]) -> Self:
        """This node with each of the nodes directly below it changed."""
        changed: dict[str, Any] = {}
        for name in _child_fields(cast(Any, type(self))):
            value = getattr(self, name)
            if isinstance(value, SyntaxNode):
                changed[name] = change(value)
            elif isinstance(value, tuple):
                changed[name] = tuple(change(item) if isinstance(item, SyntaxNode) else item for item in value)
        return replace(self, **changed) if changed else self

    def walk(self) -> Iterator[SyntaxNode]:
        """This node and everything below it, in textual order, without recursion."""
        pending: list[SyntaxNode] = [self]
        while pending:
            node = pending.pop()
            yield node
            if _child_fields(cast(Any, type(node))):
                pending.extend(reversed(tuple(node.children())))


# ---- terms: what stands in argument position


@dataclass(frozen=True, slots=True)
class Term(SyntaxNode):
    """An argument of an atom or a side of a constraint."""


@dataclass(frozen=True, slots=True)
class Variable(Term):
    name: str


@dataclass(frozen=True, slots=True)
class Wildcard(Term):
    """`_`: any value, never mentioned again."""


@dataclass(frozen=True, slots=True)
class Number(Term):
    """An integer literal without a suffix: number, unsigned or float, as its context asks."""

    value: int


@dataclass(frozen=True, slots=True)
class Unsigned(Term):
    value: int


@dataclass(frozen=True, slots=True)
class Float(Term):
    value: float


@dataclass(frozen=True, slots=True)
class String(Term):
    value: str


@dataclass(frozen=True, slots=True)
class Iri(Term):
    """An RDF name, its prefix expanded (triple rules only)."""

    value: str


@dataclass(frozen=True, slots=True)
class RdfLiteral(Term):
    """An RDF literal with a datatype or a language (triple rules only)."""

    text: str
    datatype: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Nil(Term):
    """The empty record."""


@dataclass(frozen=True, slots=True)
class Record(Term):
    """`[a, b]`: a record, or a list in the NDlog dialect."""

    args: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Branch(Term):
    """`$Name(a, b)`: a branch of an algebraic data type."""

    name: str
    args: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Functor(Term):
    """A built-in operation; `op` is its name in functors.FUNCTORS ("+", "band", "cat", "f_init", …)."""

    op: str
    args: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class UserFunctor(Term):
    """`@name(a, b)`, declared with .functor."""

    name: str
    args: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Cast(Term):
    """`as(term, type)`."""

    term: Term
    type: str


@dataclass(frozen=True, slots=True)
class Counter(Term):
    """`autoinc()`, or `$` as it used to be written: a fresh number each time."""


@dataclass(frozen=True, slots=True)
class Iteration(Term):
    """`__ITERATION__()`: the number of the fixpoint iteration."""


@dataclass(frozen=True, slots=True)
class Aggregate(Term):
    """`op target : { body }` over the matches of the body; `target` is None for count."""

    op: str
    target: Term | None
    body: Literal


@dataclass(frozen=True, slots=True)
class UserAggregate(Term):
    """`@@name expr : init, { body }`."""

    name: str
    target: Term | None
    init: Term
    body: Literal


@dataclass(frozen=True, slots=True)
class HeadAggregate(Term):
    """`min<C>` or `a_MIN<C>` in an NDlog head: aggregates over the head's other columns."""

    op: str
    variable: str


# ---- literals: what stands in a body


@dataclass(frozen=True, slots=True)
class Literal(SyntaxNode):
    """Something that holds or does not."""


@dataclass(frozen=True, slots=True)
class Atom(Literal):
    """`name(args)`. `at` is the position of the NDlog location argument, if it has one."""

    name: str
    args: tuple[Term, ...]
    at: int | None = None
    name_span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Negation(Literal):
    body: Literal


@dataclass(frozen=True, slots=True)
class Comparison(Literal):
    """`left op right`; op is one of COMPARISONS. `:=` of NDlog is "=" too."""

    op: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Boolean(Literal):
    value: bool


@dataclass(frozen=True, slots=True)
class Conjunction(Literal):
    parts: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Disjunction(Literal):
    parts: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class AggregateBinding(SyntaxNode):
    """`BIND op(argument) AS ?result` of an AGGREGATE; the argument is None for `COUNT(*)`."""

    op: str  # an aggregate, or one with "_distinct" behind it
    argument: Term | None
    result: str


@dataclass(frozen=True, slots=True)
class GroupedAggregate(Literal):
    """`AGGREGATE(body ON ?g … BIND f(?x) AS ?y …)` of the triple rules."""

    body: Literal
    group: tuple[str, ...]
    bindings: tuple[AggregateBinding, ...]


@dataclass(frozen=True, slots=True)
class Existential(Literal):
    """`EXISTS ?x, ?y IN (body)` of the triple rules, under a Negation: these variables are the body's own."""

    variables: tuple[str, ...]
    body: Literal


COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "match", "contains", "not_match", "not_contains")


# ---- clauses


@dataclass(frozen=True, slots=True)
class ExecutionPlan(SyntaxNode):
    """`.plan 0:(2,1), 1:(1,2)`: for a version of the rule, the order of its atoms (from 1)."""

    orders: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Rule(SyntaxNode):
    """One or more heads that follow from a body; a fact when the body is None."""

    heads: tuple[Atom, ...]
    body: Literal | None = None
    plan: ExecutionPlan | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Subsumption(SyntaxNode):
    """`less <= greater :- body`: less is dropped where greater also holds."""

    less: Atom
    greater: Atom
    body: Literal
    plan: ExecutionPlan | None = None


Clause: TypeAlias = Rule | Subsumption


# ---- declarations


@dataclass(frozen=True, slots=True)
class Attribute(SyntaxNode):
    name: str
    type: str
    lattice: bool = False


@dataclass(frozen=True, slots=True)
class RelationDecl(SyntaxNode):
    name: str
    attributes: tuple[Attribute, ...]
    qualifiers: tuple[str, ...] = ()
    choice: tuple[tuple[str, ...], ...] = ()  # each choice-domain: the key's attribute names
    delta_of: str | None = None  # `.decl d = debug_delta(r)`


QUALIFIERS = (
    "overridable", "inline", "no_inline", "magic", "no_magic", "brie", "btree", "btree_delete", "eqrel",
    "input", "output", "printsize", "replicate",
)  # fmt: skip
REPRESENTATIONS = ("brie", "btree", "btree_delete", "eqrel")


@dataclass(frozen=True, slots=True)
class TypeDecl(SyntaxNode):
    name: str


@dataclass(frozen=True, slots=True)
class SubsetDefinition(TypeDecl):
    """`.type A <: B`."""

    base: str


@dataclass(frozen=True, slots=True)
class UnionDefinition(TypeDecl):
    """`.type A = B | C`; with a single member it is an equivalence."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordDefinition(TypeDecl):
    fields: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class BranchDecl(SyntaxNode):
    name: str
    fields: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class AlgebraicType(TypeDecl):
    branches: tuple[BranchDecl, ...]


@dataclass(frozen=True, slots=True)
class LatticeDecl(SyntaxNode):
    name: str
    operators: tuple[tuple[str, Term], ...]


@dataclass(frozen=True, slots=True)
class FunctorDecl(SyntaxNode):
    name: str
    params: tuple[Attribute, ...]  # an unnamed parameter has the name ""
    result: str
    stateful: bool = False


@dataclass(frozen=True, slots=True)
class Directive(SyntaxNode):
    """`.input`, `.output`, `.printsize` or `.limitsize` of one relation."""

    kind: str
    relation: str
    params: tuple[tuple[str, str], ...] = ()

    def param(self, key: str, default: str | None = None) -> str | None:
        return dict(self.params).get(key, default)


@dataclass(frozen=True, slots=True)
class Pragma(SyntaxNode):
    key: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class ComponentType(SyntaxNode):
    """A component's name with its type parameters or arguments."""

    name: str
    params: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Override(SyntaxNode):
    relation: str


@dataclass(frozen=True, slots=True)
class Component(SyntaxNode):
    type: ComponentType
    bases: tuple[ComponentType, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class ComponentInit(SyntaxNode):
    name: str
    component: ComponentType


@dataclass(frozen=True, slots=True)
class Materialize(SyntaxNode):
    """NDlog's `materialize(name, lifetime, size, keys(1, 2)).`; None stands for infinity."""

    relation: str
    lifetime: int | None
    size: int | None
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Prefix(SyntaxNode):
    """`@prefix p: <iri> .` of the triple rules."""

    name: str
    iri: str


Item: TypeAlias = (
    Rule | Subsumption | RelationDecl | TypeDecl | LatticeDecl | FunctorDecl | Directive | Pragma
    | Component | ComponentInit | Override | Materialize | Prefix
)  # fmt: skip

T = TypeVar("T", bound=SyntaxNode)


@dataclass(frozen=True, slots=True)
class Program(SyntaxNode):
    """A parsed program: its items in textual order, and the dialect it was written in."""

    items: tuple[Item, ...]
    dialect: str = "souffle"

    def of(self, *kinds: type[T]) -> list[T]:
        """The items of these kinds, in textual order."""
        return [item for item in self.items if isinstance(item, kinds)]

    @property
    def rules(self) -> list[Rule]:
        return self.of(Rule)

    def pragma(self, key: str) -> str | None:
        """What the last `.pragma` of this name says, None if there is none."""
        return next((p.value for p in reversed(self.of(Pragma)) if p.key == key), None)
