"""Expressions: rdflib's trees made into functions of a row of terms.

An expression is a term, or None for an error; what is unbound is an error wherever it is used, but in BOUND, COALESCE
and the three-valued && and ||. A row has the terms of the expression's variables, in order. EXISTS is not computed
here: it becomes a variable that whoever evaluates the expression binds to true or false beforehand.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from tidelog.errors import InternalError, error
from tidelog.plain import dataclass, field
from tidelog.rdf.sparql.casts import CASTS
from tidelog.rdf.sparql.compare import equal, holds, truth
from tidelog.rdf.sparql.functions import FUNCTIONS
from tidelog.rdf.sparql.numbers import Number, arithmetic, negated
from tidelog.rdf.sparql.terms import STRING, RdfTerm, TermKind, blank, boolean, from_rdflib, iri, number

Row: TypeAlias = Sequence[RdfTerm | None]
Computed: TypeAlias = Callable[[Row], RdfTerm | None]


@dataclass
class QuerySetting:
    """What all expressions of a query share: when it began, its base IRI, which term `named` in it stands for (another
    one if equal resources are one), and blank nodes made for labels."""

    now: RdfTerm
    base: str = ""
    named: Callable[[RdfTerm], RdfTerm] = lambda term: term
    blanks: dict[Hashable, RdfTerm] = field(default_factory=dict)
    fresh: int = 0

    def fresh_blank(self) -> RdfTerm:
        self.fresh += 1
        return blank(f"q{self.fresh}-{random.getrandbits(64):016x}")


@dataclass
class Expression:
    """A compiled expression. `compute` takes the terms of `variables` and, behind them, a row's identity as two more
    entries if it is `volatile`: it must then be computed for each row, not once for equal ones."""

    variables: list[str]
    compute: Computed
    volatile: bool
    exists: dict[str, Any]  # by the variable that stands for it, the EXISTS or NOT EXISTS


def compile_expression(tree: Any, setting: QuerySetting) -> Expression:
    """The function of a tree of rdflib."""
    compiler = _Compiler(setting)
    compute = compiler.compile(tree)
    return Expression(list(compiler.places), compute, compiler.volatile, compiler.exists)


class _Compiler:
    def __init__(self, setting: QuerySetting) -> None:
        self.setting = setting
        self.places: dict[str, int] = {}
        self.exists: dict[str, Any] = {}
        self.volatile = False

    def compile(self, tree: Any) -> Computed:
        import rdflib

        if isinstance(tree, rdflib.Variable):
            return self._variable(str(tree))
        if isinstance(tree, rdflib.term.Node):
            constant = self.setting.named(from_rdflib(tree))
            return lambda row: constant
        name: str = tree.name
        if name.startswith("Builtin_"):
            return self._builtin(name.removeprefix("Builtin_").upper(), tree)
        match name:
            case "ConditionalOrExpression":
                return _either([self.compile(t) for t in (tree.expr, *tree.other)])
            case "ConditionalAndExpression":
                return _both([self.compile(t) for t in (tree.expr, *tree.other)])
            case "UnaryNot":
                return _inverted(self.compile(tree.expr))
            case "UnaryMinus":
                return _numeric(self.compile(tree.expr), minus=True)
            case "UnaryPlus":
                return _numeric(self.compile(tree.expr), minus=False)
            case "AdditiveExpression" | "MultiplicativeExpression":
                found = self.compile(tree.expr)
                for op, other in zip(tree.op, tree.other, strict=True):
                    found = _calculated(str(op), found, self.compile(other))
                return found
            case "RelationalExpression":
                return self._relation(tree)
            case "Function":
                return self._cast(tree)
        raise InternalError(f"an expression of SPARQL that is not known: {name}")

    def _variable(self, name: str) -> Computed:
        place = self.places.setdefault(name, len(self.places))
        return lambda row: row[place]

    def _relation(self, tree: Any) -> Computed:
        if tree.op in ("IN", "NOT IN"):
            found = _among(self.compile(tree.expr), [self.compile(other) for other in _listed(tree.other)])
            return found if tree.op == "IN" else _inverted(found)
        return _compared(str(tree.op), self.compile(tree.expr), self.compile(tree.other))

    def _cast(self, tree: Any) -> Computed:
        name = str(tree.iri)
        if name not in CASTS:
            raise error("TL1453", f"SPARQL: there is no function <{name}>",
                        help=f"there are {', '.join(f'<{known}>' for known in CASTS)}")  # fmt: skip
        if len(tree.expr) != 1:
            raise error("TL1453", f"SPARQL: <{name}> takes one argument, not {len(tree.expr)}")
        return _called(CASTS[name], [self.compile(tree.expr[0])])

    def _builtin(self, name: str, tree: Any) -> Computed:
        match name:
            case "EXISTS" | "NOTEXISTS":
                variable = f"#exists{len(self.exists)}"
                self.exists[variable] = tree
                return self._variable(variable)
            case "BOUND":
                inner = self.compile(tree.arg)
                return lambda row: boolean(inner(row) is not None)
            case "COALESCE":
                return _first([self.compile(t) for t in _arguments(tree)])
            case "IF":
                return _chosen(*(self.compile(tree[f"arg{i}"]) for i in (1, 2, 3)))
            case "NOW":
                return lambda row: self.setting.now
            case "RAND":
                self.volatile = True
                return lambda row: number(random.random())
            case "BNODE":
                return self._bnode(tree)
            case "IRI" | "URI":
                return _called(self._iri, [self.compile(tree.arg)])
        if name not in FUNCTIONS:
            raise error("TL1453", f"SPARQL: there is no function {name}")
        self.volatile |= name in ("UUID", "STRUUID")
        return _called(FUNCTIONS[name], [self.compile(t) for t in _arguments(tree)])

    def _bnode(self, tree: Any) -> Computed:
        """A new blank node, for a label the same one throughout a solution."""
        self.volatile = True
        setting = self.setting
        if not _arguments(tree):
            return lambda row: setting.fresh_blank()
        label = self.compile(tree.arg)

        def compute(row: Row) -> RdfTerm | None:
            of = label(row)
            if of is None or of.datatype != STRING:
                return None
            key = row[-2], row[-1], of.text
            if key not in setting.blanks:
                setting.blanks[key] = setting.fresh_blank()
            return setting.blanks[key]

        return compute

    def _iri(self, term: RdfTerm) -> RdfTerm | None:
        if term.kind is TermKind.IRI:
            return term
        if term.datatype != STRING or re.search(r'[\x00-\x20<>"{}|^`\\]', term.lexical):
            return None
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", term.lexical):
            return iri(term.lexical)
        if not self.setting.base:
            return None
        from urllib.parse import urljoin

        return iri(urljoin(self.setting.base, term.lexical))


def _arguments(tree: Any) -> list[Any]:
    """The arguments of a built-in function in order, under whatever names rdflib gives them."""
    if tree.name in ("Builtin_CONCAT", "Builtin_COALESCE"):
        return _listed(tree.arg)
    names = ("text", "arg", "arg1", "arg2", "arg3", "pattern", "replacement", "start", "length", "flags")
    return [tree[name] for name in names if name in tree and tree[name] is not None]


def _listed(trees: Any) -> list[Any]:
    """A list of expressions; for the empty one rdflib has rdf:nil."""
    return list(trees) if isinstance(trees, list) else []


def _called(function: Callable[..., RdfTerm | None], arguments: list[Computed]) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        terms = [argument(row) for argument in arguments]
        return None if None in terms else function(*terms)

    return compute


def _number_of(term: RdfTerm | None) -> Number | None:
    return None if term is None else term.number


def _truth_of(value: bool | None) -> RdfTerm | None:
    return None if value is None else boolean(value)


def _compared(op: str, left: Computed, right: Computed) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        a, b = left(row), right(row)
        return None if a is None or b is None else _truth_of(holds(op, a, b))

    return compute


def _calculated(op: str, left: Computed, right: Computed) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        a, b = left(row), right(row)
        x, y = _number_of(a), _number_of(b)
        if x is None or y is None:
            return None
        found = arithmetic(op, x, y)
        return None if found is None else number(found)

    return compute


def _numeric(inner: Computed, minus: bool) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        term = inner(row)
        value = _number_of(term)
        if value is None:
            return None
        return number(negated(value)) if minus else term

    return compute


def _inverted(inner: Computed) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        value = truth(inner(row))
        return None if value is None else boolean(not value)

    return compute


def _either(parts: list[Computed]) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        found = {truth(part(row)) for part in parts}
        return boolean(True) if True in found else _truth_of(None if None in found else False)

    return compute


def _both(parts: list[Computed]) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        found = {truth(part(row)) for part in parts}
        return boolean(False) if False in found else _truth_of(None if None in found else True)

    return compute


def _among(inner: Computed, others: list[Computed]) -> Computed:
    """IN: true if equal to one, an error if none is and some comparison was one."""

    def compute(row: Row) -> RdfTerm | None:
        term = inner(row)
        if term is None:
            return None
        failed = False
        for other in others:
            value = other(row)
            same = None if value is None else equal(term, value)
            if same:
                return boolean(True)
            failed |= same is None
        return None if failed else boolean(False)

    return compute


def _first(parts: list[Computed]) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        return next((term for part in parts if (term := part(row)) is not None), None)

    return compute


def _chosen(condition: Computed, then: Computed, otherwise: Computed) -> Computed:
    def compute(row: Row) -> RdfTerm | None:
        value = truth(condition(row))
        return None if value is None else then(row) if value else otherwise(row)

    return compute
