"""What a rule's conditions say about the difference of two of its values: the arithmetic behind `recursion`.

A rule is read as a system of inequalities x - y ≥ c (or > c) between its numbers and the lengths of its lists; zero is
one of the numbers. Such a system is a graph with an edge from y to x of weight c, and the best lower bound of x - y
that follows is the longest path from y to x. Sums count as well: C = C1 + C2 says C - C2 ≥ the lower bound of C1. Where
C1 is a column of a base relation nothing bounds it; it is then *supposed* to be a positive integer, and the bound says
so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from tidelog.lang import tree
from tidelog.net.program import NetRule
from tidelog.net.values import FALSE

Column: TypeAlias = tuple[str, int]
Name: TypeAlias = str
ZERO = "0"
_LONGER = ("f_concat", "f_concatPath")
_FLIPPED = {"<": ">", "<=": ">="}


class ValueBound(NamedTuple):
    """`least`, and more than that if `strict`; holds if the columns of `supposing` hold positive integers."""

    least: float
    strict: bool = False
    supposing: frozenset[Column] = frozenset()

    @property
    def positive(self) -> bool:
        return self.least > 0 or (self.least == 0 and self.strict)

    def __add__(self, other: object) -> ValueBound:
        assert isinstance(other, ValueBound)
        return ValueBound(self.least + other.least, self.strict or other.strict, self.supposing | other.supposing)

    def better_than(self, other: ValueBound | None) -> bool:
        """Greater; or as great and supposing less."""
        if other is None:
            return True
        mine, theirs = (self.least, self.strict), (other.least, other.strict)
        return mine > theirs or (mine == theirs and len(self.supposing) < len(other.supposing))


class Bounds:
    """The inequalities of one rule.

    `at` says where relations have their location, `known` gives bounds between the columns of relations in its body.
    """

    def __init__(
        self, rule: NetRule, at: Mapping[str, int | None], base: frozenset[str], known: Mapping[str, ColumnBounds]
    ) -> None:
        self.rule = rule
        self._edges: dict[tuple[Name, Name], ValueBound] = {}
        self._supposed: dict[Name, Column] = {}
        places = ((b.args, at.get(b.name)) for b in rule.body)
        self._places = {_name(args[place]) for args, place in places if place is not None}
        self.repeats_not: set[tuple[Name, Name]] = set()
        for position, literal in enumerate(rule.body):
            if literal.negated:
                continue
            for i, arg in enumerate(literal.args):
                if literal.name in base and isinstance(arg, tree.Variable):
                    self._supposed.setdefault(arg.name, (literal.name, i))
            for (i, j), bound in known.get(literal.name, {}).items():
                self._add(self.name(position, i), self.name(position, j), bound)
        for condition in rule.conditions:
            self._condition(condition)
        for i, arg in enumerate(rule.head_args):
            self._equal(head_name(i), arg)

    def name(self, position: int, column: int) -> Name | None:
        """The name of an argument of an atom of the body; None of a constant. Column -1 is zero."""
        if column < 0:
            return ZERO
        arg = self.rule.body[position].args[column]
        return f"{position}.{column}" if isinstance(arg, tree.Wildcard) else _name(arg)

    def between(self, x: Name, y: Name) -> ValueBound | None:
        """The best lower bound of x - y; None if there is none."""
        best: dict[Name, ValueBound] = {y: ValueBound(0)}
        for _ in range(len(self._edges) + 1):
            changed = False
            for (to, source), bound in self._edges.items():
                if source in best:
                    sum_ = best[source] + bound
                    if sum_.better_than(best.get(to)) and to != y:
                        best[to] = sum_
                        changed = True
            if not changed:
                break
        return best.get(x)

    def columns(self) -> ColumnBounds:
        """The bounds between the columns of the head, and between them and zero (-1), that suppose nothing."""
        count = len(self.rule.head_args)
        names = {-1: ZERO, **{i: head_name(i) for i in range(count)}}
        found: ColumnBounds = {}
        for i, x in names.items():
            for j, y in names.items():
                bound = self.between(x, y) if i != j else None
                if bound is not None and not bound.supposing:
                    found[i, j] = bound
        return found

    def _add(self, x: Name | None, y: Name | None, bound: ValueBound) -> None:
        """x - y ≥ bound."""
        if x is not None and y is not None and bound.better_than(self._edges.get((x, y))):
            self._edges[x, y] = bound

    def _condition(self, condition: tree.Comparison) -> None:
        op, left, right = condition.op, condition.left, condition.right
        if op == "=":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, tree.Variable):
                    self._equal(one.name, other)
            self._never_again(left, right)
        elif op in ("<", "<=", ">", ">="):
            if op in _FLIPPED:
                op, left, right = _FLIPPED[op], right, left
            x, y = _shifted(left), _shifted(right)
            if x and y:
                self._add(x[0], y[0], ValueBound(y[1] - x[1], op == ">"))

    def _equal(self, name: Name, term: tree.Term) -> None:
        """What `name = term` says."""
        shifted = _shifted(term)
        if shifted:
            self._add(name, shifted[0], ValueBound(shifted[1]))
            self._add(shifted[0], name, ValueBound(-shifted[1]))
        match term:
            case tree.Variable(name=other):
                self._add(length(name), length(other), ValueBound(0))
                self._add(length(other), length(name), ValueBound(0))
            case tree.Functor(op="%", args=(_, tree.Number(value=modulus))) if modulus > 0:
                self._add(name, ZERO, ValueBound(0))
                self._add(ZERO, name, ValueBound(-modulus, True))
            case tree.Functor(op=op, args=(first, tree.Variable(name=rest))) if op in _LONGER:
                node = op == "f_concatPath" or _name(first) in self._places  # a node is no list
                self._add(length(name), length(rest), ValueBound(1 if node else 0))
            case tree.Functor(op="f_append", args=(tree.Variable(name=rest), _)):
                self._add(length(name), length(rest), ValueBound(1))
        parts = _summands(term)
        if parts and len(parts[0]) > 1:
            variables, constant = parts
            for i, part in enumerate(variables):
                others = [self._least(v) for j, v in enumerate(variables) if j != i]
                if all(b is not None for b in others):
                    self._add(name, part, sum((b for b in others if b), ValueBound(constant)))

    def _least(self, name: Name) -> ValueBound | None:
        known = self.between(name, ZERO)
        if known is not None and known.least >= 0:
            return known
        column = self._supposed.get(name)
        return ValueBound(1, False, frozenset({column})) if column else None

    def _never_again(self, left: tree.Term, right: tree.Term) -> None:
        """`f_inPath(P,S) = false`."""
        match left, right:
            case tree.Functor(op="f_inPath" | "f_member", args=(path, node)), tree.String(value=text) if text == FALSE:
                names = _name(path), _name(node)
                if names[0] and names[1]:
                    self.repeats_not.add((names[0], names[1]))


ColumnBounds: TypeAlias = dict[tuple[int, int], ValueBound]
"""Lower bounds of the difference of two columns of a relation; -1 is zero."""


def head_name(column: int) -> Name:
    """The name of a column of the head among the values of a rule."""
    return f"{column}."


def length(name: Name) -> Name:
    """The name of the length of a list."""
    return f"#{name}"


def measured(name: Name, lists: bool) -> Name:
    return length(name) if lists else name


def _name(term: tree.Term) -> Name | None:
    return term.name if isinstance(term, tree.Variable) else None


def _shifted(term: tree.Term) -> tuple[Name, float] | None:
    """The term as a name plus a constant."""
    match term:
        case tree.Functor(op="f_size", args=(tree.Variable(name=name),)):
            return length(name), 0
    parts = _summands(term)
    if parts is None or len(parts[0]) > 1:
        return None
    return (parts[0] or [ZERO])[0], parts[1]


def _summands(term: tree.Term) -> tuple[list[Name], float] | None:
    """The term as a sum of variables and a constant."""
    match term:
        case tree.Variable(name=name):
            return [name], 0
        case tree.Number(value=value) | tree.Float(value=value):
            return [], value
        case tree.Functor(op="+", args=(left, right)):
            one, other = _summands(left), _summands(right)
            return (one[0] + other[0], one[1] + other[1]) if one and other else None
        case tree.Functor(op="-", args=(left, right)):
            one, other = _summands(left), _summands(right)
            return (one[0], one[1] - other[1]) if one and other and not other[0] else None
        case tree.Functor(op="neg", args=(tree.Number(value=value),)):
            return [], -value
    return None


def variables_of_all(terms: Iterable[tree.Term]) -> set[str]:
    return {n.name for t in terms for n in t.walk() if isinstance(n, tree.Variable)}
