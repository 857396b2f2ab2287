"""What atoms with lattice attributes mean in bodies: clauses to clauses.

A value of a lattice attribute stands for all below it. With `[a, b]` an interval, `Lub` the hull and `Glb` the overlap:

    p(x) :- r(x, [1, 2]).            r(x, l), Glb(l, [1, 2]) = [1, 2]: its value is at least this one
    p(x, i) :- r(x, i), s(x, i).     r(x, i1), s(x, i2), i = Glb(i2, i1), i != Bottom: what they have in common
    p(x) :- q(x, i), !r(x, i).       !r(x, _); or r(x, l), Glb(l, i) = Bottom: they have nothing in common

What is always true: a clause without such atoms stays the same; a variable that stands in one lattice attribute, and is
bound by nothing else, is that value. Inside of aggregates values are compared as they are. Lattices without `Glb` and
`Bottom` mean nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count, product

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.inline import relation_of
from tidelog.analysis.clauses.scopes import bound_names, needs_of
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.plain import dataclass, replace


@dataclass(frozen=True, slots=True)
class _Lattice:
    glb: str
    bottom: tree.Term

    def meet(self, left: tree.Term, right: tree.Term) -> tree.UserFunctor:
        return tree.UserFunctor(self.glb, (left, right), span=right.span)


Columns = Mapping[str, Mapping[int, _Lattice]]
"""Of relations, the columns that are lattices."""


def lattice_columns(program: tree.Program) -> dict[str, dict[int, _Lattice]]:
    """The lattice attributes that can be compared."""
    lattices: dict[str, _Lattice] = {}
    for decl in program.of(tree.LatticeDecl):
        operators = dict(decl.operators)
        glb, bottom = operators.get("Glb"), operators.get("Bottom")
        if isinstance(glb, tree.UserFunctor) and bottom is not None:
            lattices[decl.name] = _Lattice(glb.name, bottom)
    found: dict[str, dict[int, _Lattice]] = {}
    for relation in program.of(tree.RelationDecl):
        for column, attribute in enumerate(relation.attributes):
            if attribute.lattice and attribute.type in lattices:
                found.setdefault(relation.name, {})[column] = lattices[attribute.type]
    return found


def compare_in_lattices(clauses: list[Clause], program: tree.Program, report: Report) -> list[Clause]:
    """The clauses with what their lattice attributes mean written out."""
    columns = lattice_columns(program)
    if not columns:
        return clauses
    return [made for clause in clauses for made in _Comparing(clause, columns, report).clauses()]


class _Comparing:
    def __init__(self, clause: Clause, columns: Columns, report: Report) -> None:
        self.clause, self.columns, self.report = clause, columns, report
        self.numbers = count(1)
        self.more: list[tree.Literal] = []
        self.shared: dict[str, list[tree.Variable]] = {}
        self.lattices: dict[str, _Lattice] = {}

    def clauses(self) -> Iterator[Clause]:
        body = self.clause.body
        if not any(relation_of(literal) in self.columns for literal in body):
            yield self.clause
            return
        bound = bound_names(self._without_lattices(literal) for literal in body)
        several = self._standing_in_several(body, bound)
        parts = [self._literal(literal, bound, several) for literal in body]
        for name, places in self.shared.items():
            self._meet(name, places, body)
        for choice in product(*parts):
            literals = (literal for part in choice for literal in part)
            yield replace(self.clause, body=(*literals, *self.more))

    def _without_lattices(self, literal: tree.Literal) -> tree.Literal:
        """What of a literal binds variables by other values than those of lattices."""
        if not isinstance(literal, tree.Atom) or literal.name not in self.columns:
            return literal
        lattices = self.columns[literal.name]
        args = (tree.Wildcard() if column in lattices else arg for column, arg in enumerate(literal.args))
        return replace(literal, args=tuple(args))

    def _standing_in_several(self, body: Iterable[tree.Literal], bound: set[str]) -> set[str]:
        """The variables that nothing but lattice attributes binds, several of them."""
        seen: list[str] = []
        for atom in body:
            if isinstance(atom, tree.Atom):
                for column in self.columns.get(atom.name, ()):
                    arg = atom.args[column]
                    if isinstance(arg, tree.Variable) and arg.name not in bound:
                        seen.append(arg.name)
        return {name for name in seen if seen.count(name) > 1}

    def _literal(self, literal: tree.Literal, bound: set[str], several: set[str]) -> list[tuple[tree.Literal, ...]]:
        if isinstance(literal, tree.Atom) and literal.name in self.columns:
            args = list(literal.args)
            for column, lattice in self.columns[literal.name].items():
                args[column] = self._argument(args[column], lattice, bound, several)
            return [(replace(literal, args=tuple(args)),)]
        if isinstance(literal, tree.Negation) and relation_of(literal) in self.columns:
            assert isinstance(literal.body, tree.Atom)
            return list(self._negated(literal, literal.body))
        return [(literal,)]

    def _argument(self, arg: tree.Term, lattice: _Lattice, bound: set[str], several: set[str]) -> tree.Term:
        if isinstance(arg, tree.Wildcard):
            return arg
        needed = needs_of(arg, {})
        if needed is not None and needed <= bound:
            value = self._fresh(arg)
            self.more.append(tree.Comparison("=", lattice.meet(value, arg), arg, span=arg.span))
            return value
        if not isinstance(arg, tree.Variable):
            self.report.error(
                "TL0236", "a value of a lattice is compared as a whole, and nothing gives this one all of its parts",
                arg.span, help="name the value, and take it apart with `=`",
            )  # fmt: skip
            return arg
        if arg.name not in several:
            return arg
        value = self._fresh(arg)
        self.shared.setdefault(arg.name, []).append(value)
        self.lattices[arg.name] = lattice
        return value

    def _meet(self, name: str, places: list[tree.Variable], body: Iterable[tree.Literal]) -> None:
        """The variable is what its places have in common."""
        lattice = self.lattices[name]
        met: tree.Term = places[0]
        for place in places[1:]:
            met = lattice.meet(place, met)
        variable = tree.Variable(name, span=places[0].span)
        self.more.append(tree.Comparison("=", variable, met, span=variable.span))
        self.more.append(tree.Comparison("!=", variable, lattice.bottom, span=variable.span))
        for literal in map(self._without_lattices, body):
            for node in literal.walk():
                if isinstance(node, tree.Variable) and node.name == name:
                    self.report.error(
                        "TL0236",
                        f"`{name}` is what several lattice attributes have in common, and cannot be compared as well",
                        node.span,
                    )
                    return

    def _negated(self, literal: tree.Negation, atom: tree.Atom) -> Iterator[tuple[tree.Literal, ...]]:
        """Nothing there, or nothing in common with what is there."""
        lattices = self.columns[atom.name]
        others = tuple(tree.Wildcard() if column in lattices else arg for column, arg in enumerate(atom.args))
        yield (replace(literal, body=replace(atom, args=others)),)
        for column, lattice in lattices.items():
            arg = atom.args[column]
            if not isinstance(arg, tree.Wildcard):
                value = self._fresh(arg)
                there = replace(atom, args=(*others[:column], value, *others[column + 1 :]))
                yield there, tree.Comparison("=", lattice.meet(value, arg), lattice.bottom, span=arg.span)

    def _fresh(self, arg: tree.Term) -> tree.Variable:
        return tree.Variable(f"l^{next(self.numbers)}", span=arg.span)
