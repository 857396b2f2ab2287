"""Random syntax trees of the Soufflé dialect: every node that its parser can make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis.strategies import SearchStrategy

from strategies.values import Chooser, Written
from tidelog.functors import FUNCTORS
from tidelog.lang import tree as t

T = TypeVar("T")
NAMES = ("p", "q", "x", "y1", "_a", "?b", "Foo", "counter", "maximum", "in_put", "e10", "replicate_")
CHARACTERS = "ab \"\\'\n\t\r\0\a\b\f\v/*@[]#$.,:;é\x1c\x85\u2028\U0001f600\ud800{}"
FLOATS = (0.0, 1.5, -2.25, 1e300, -1e-300, 5e-324, 0.1, 123456789.125, float("inf"), float("-inf"), 1e16, -0.0)
INTEGERS = (0, 1, 7, -1, 2**31, 2**63, -(2**63), 2**64, -(2**70))
INFIX = sorted(name for name, info in FUNCTORS.items() if info.style == "infix")
CALLS = sorted(name for name, info in FUNCTORS.items() if info.style == "call")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "match", "contains")


def terms() -> SearchStrategy[t.Term]:
    return Written(lambda choose: TreeWriter(choose).term(4))


def programs() -> SearchStrategy[t.Program]:
    return Written(lambda choose: TreeWriter(choose).program())


class TreeWriter:
    """Methods with a `depth` make trees of at most that depth."""

    def __init__(self, choose: Chooser) -> None:
        self.choose = choose
        self.pick = choose.pick

    def few(self, make: Callable[[], T], least: int = 0, most: int = 3) -> tuple[T, ...]:
        return tuple(make() for _ in self.choose.repeat(least, most, 5))

    def name(self) -> str:
        return self.pick(NAMES)

    def qualified(self) -> str:
        return ".".join(self.few(self.name, 1, 2))

    def text(self) -> str:
        return "".join(self.few(lambda: self.pick(CHARACTERS), 0, 8))

    # ---- terms

    def term(self, depth: int) -> t.Term:
        if depth <= 0 or self.choose.chance(4):
            return self.leaf()
        inner = lambda: self.term(depth - 1)  # noqa: E731
        makers: tuple[Callable[[], t.Term], ...] = (
            lambda: t.Record(self.few(inner)),
            lambda: t.Branch(self.qualified(), self.few(inner)),
            lambda: t.Functor(self.pick(INFIX), (inner(), inner())),
            lambda: self.prefixed(inner()),
            lambda: self.call(self.few(inner)),
            lambda: t.UserFunctor(self.name(), self.few(inner)),
            lambda: t.Cast(inner(), self.qualified()),
            lambda: t.Aggregate("count", None, self.literal(depth - 1)),
            lambda: t.Aggregate(self.pick(("sum", "min", "max", "mean")), inner(), self.literal(depth - 1)),
            lambda: t.UserAggregate(
                self.name(), inner() if self.choose.chance(5) else None, inner(), self.literal(depth - 1)
            ),
        )
        return self.pick(makers)()

    def leaf(self) -> t.Term:
        makers: tuple[Callable[[], t.Term], ...] = (
            lambda: t.Variable(self.name()),
            lambda: t.Number(self.pick(INTEGERS)),
            lambda: t.Unsigned(abs(self.pick(INTEGERS))),
            lambda: t.Float(self.pick(FLOATS)),
            lambda: t.String(self.text()),
            t.Wildcard, t.Nil, t.Counter, t.Iteration,
        )  # fmt: skip
        return self.pick(makers)()

    def prefixed(self, operand: t.Term) -> t.Term:
        """The parser turns a minus before a literal into a negative literal."""
        literal = isinstance(operand, (t.Number, t.Unsigned, t.Float)) and not str(operand.value).startswith("-")
        return t.Functor(self.pick(("bnot", "lnot") if literal else ("bnot", "lnot", "neg")), (operand,))

    def call(self, args: tuple[t.Term, ...]) -> t.Term:
        op = self.pick(CALLS)
        least = 2 if op in ("min", "max") else 0  # with fewer, it would be an aggregate
        return t.Functor(op, args + (t.Nil(),) * (least - len(args)))

    # ---- literals

    def literal(self, depth: int) -> t.Literal:
        if depth <= 0 or self.choose.chance(6):
            return self.simple_literal(depth)
        kind = self.pick((t.Conjunction, t.Disjunction, t.Negation))
        if kind is t.Negation:
            return t.Negation(self.literal(depth - 1))
        return kind(self.few(lambda: self.literal(depth - 1), 2))  # type: ignore[return-value, call-arg]

    def simple_literal(self, depth: int) -> t.Literal:
        makers: tuple[Callable[[], t.Literal], ...] = (
            lambda: self.atom(depth),
            lambda: t.Comparison(self.pick(COMPARISONS), self.term(depth), self.term(depth)),
            lambda: t.Boolean(self.choose.chance(5)),
        )
        return self.pick(makers)()

    def atom(self, depth: int = 3) -> t.Atom:
        return t.Atom(self.qualified(), self.few(lambda: self.term(depth - 1)))

    # ---- items

    def program(self) -> t.Program:
        return t.Program(self.few(lambda: self.item(2), 0, 5))

    def item(self, depth: int) -> t.Item:
        makers: tuple[Callable[[], t.Item], ...] = (
            lambda: t.Rule((self.atom(),)),
            lambda: t.Rule(self.few(self.atom, 1), self.literal(3), self.plan()),
            lambda: t.Subsumption(self.atom(), self.atom(), self.literal(3), self.plan()),
            self.relation, self.type,
            lambda: t.LatticeDecl(self.name(), self.few(self.operator, 1)),
            lambda: t.FunctorDecl(self.name(), self.few(self.parameter), self.qualified(), self.choose.chance(3)),
            lambda: t.Directive(
                self.pick(("input", "output", "printsize", "limitsize")), self.qualified(),
                self.few(lambda: (self.name(), self.text())),
            ),
            lambda: t.Pragma(self.text(), self.text()),
            lambda: t.ComponentInit(self.name(), self.component_type()),
            lambda: t.Override(self.name()),
            lambda: self.component(depth),
        )  # fmt: skip
        return self.pick(makers)()

    def component(self, depth: int) -> t.Component:
        items = self.few(lambda: self.item(depth - 1)) if depth else ()
        return t.Component(self.component_type(), self.few(self.component_type, 0, 2), items)

    def component_type(self) -> t.ComponentType:
        return t.ComponentType(self.name(), self.few(self.name))

    def plan(self) -> t.ExecutionPlan | None:
        if not self.choose.chance(3):
            return None
        orders = self.few(lambda: (self.choose.upto(9), self.few(lambda: 1 + self.choose.upto(9))), 1)
        return t.ExecutionPlan(orders)

    def attribute(self) -> t.Attribute:
        return t.Attribute(self.name(), self.qualified(), self.choose.chance(1))

    def parameter(self) -> t.Attribute:
        return t.Attribute(self.pick(("", *NAMES)), self.qualified())

    def operator(self) -> tuple[str, t.Term]:
        return self.pick(("Bottom", "Top", "Lub", "Glb", "Leq")), self.term(3)

    def relation(self) -> t.RelationDecl:
        if self.choose.chance(1):
            return t.RelationDecl(self.name(), (), self.qualifiers(), delta_of=self.name())
        keys = self.few(lambda: self.few(self.name, 1), 0, 2)
        return t.RelationDecl(self.name(), self.few(self.attribute), self.qualifiers(), keys)

    def qualifiers(self) -> tuple[str, ...]:
        """Each once, and one representation at most."""
        found: list[str] = []
        for name in self.few(lambda: self.pick(t.QUALIFIERS), 0, 5):
            clash = name in t.REPRESENTATIONS and any(f in t.REPRESENTATIONS for f in found)
            if name not in found and not clash:
                found.append(name)
        return tuple(found)

    def type(self) -> t.TypeDecl:
        makers: tuple[Callable[[], t.TypeDecl], ...] = (
            lambda: t.SubsetDefinition(self.name(), self.qualified()),
            lambda: t.UnionDefinition(self.name(), self.few(self.qualified, 1)),
            lambda: t.RecordDefinition(self.name(), self.few(self.attribute)),
            lambda: t.AlgebraicType(
                self.name(), self.few(lambda: t.BranchDecl(self.name(), self.few(self.attribute)), 1)
            ),
        )
        return self.pick(makers)()
