"""The oracle: what a checked program means, as directly as Python can say it.

Relations are sets of tuples of Python values: int, float, str; a record is a tuple of its fields, nil is None, an ADT
branch is a tuple of its name and its fields. Of floats, there is one zero, and `NAN` is one value, the greatest.
Clauses are evaluated stratum by stratum, again and again over everything known, until nothing changes. The oracle knows
the syntax tree and the types of its terms, nothing of plans or stores. Left out is what depends on an order:
`autoinc()`, choice domains, subsumption.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, product, takewhile
from typing import Any

import numpy as np

from tidelog.analysis.checked import Checked
from tidelog.analysis.clauses.scopes import counts_named_values
from tidelog.analysis.types.typing import ClauseTypes
from tidelog.lang import tree
from tidelog.values import Kind


class NotANumber(float):
    """NaN as a value: equal to itself, and greater than any other float."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NotANumber)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, NotANumber)

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return isinstance(other, NotANumber)

    def __gt__(self, other: object) -> bool:
        return not isinstance(other, NotANumber)

    def __ge__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


NAN = NotANumber("nan")
Env = dict[str, Any]
Way = tuple[Env, tuple[tree.Literal, ...]]
Relations = dict[str, set[tuple[Any, ...]]]
PATTERNS = (tree.Variable, tree.Wildcard, tree.Record, tree.Branch)


def evaluate(checked: Checked, facts: Relations, evaluator: Any = None) -> Relations:
    """Every relation of the program, given the facts of some. `evaluator` may be another one than Evaluator."""
    relations: Relations = {name: set(facts.get(name, ())) for name in checked.relations}
    for stratum in checked.strata:
        clauses = [(evaluator or Evaluator)(checked.clause_types[n], relations) for n in stratum.clauses]
        equivalences = [n for n in stratum.relations if "eqrel" in checked.relations[n].decl.qualifiers]
        before = None
        while before != (before := [len(relations[name]) for name in stratum.relations]):
            for clause in clauses:
                relations[clause.types.clause.head.name] |= set(clause.heads())
            for name in equivalences:
                relations[name] = closure(relations[name])
            if not stratum.recursive:
                break  # once more would find the same
    return relations


def closure(pairs: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    """The smallest equivalence that has these pairs."""
    result = pairs | {(b, a) for a, b in pairs} | {(x, x) for pair in pairs for x in pair}
    while not (more := {(a, d) for a, b in result for c, d in result if b == c}) <= result:
        result |= more
    return result


@dataclass
class Evaluator:
    """One clause over the relations as they are."""

    types: ClauseTypes
    relations: Relations

    def heads(self) -> Iterator[tuple[Any, ...]]:
        for env in self.solve(constraints_first(self.types.clause.body), {}):
            yield from product(*(self.values(arg, env) for arg in self.types.clause.head.args))

    def solve(self, literals: tuple[tree.Literal, ...], env: Env) -> Iterator[Env]:
        """The environments that extend `env` and make the literals true, the first one first that can be decided."""
        if not literals:
            yield env
            return
        for place, literal in enumerate(literals):  # noqa: B007
            with suppress(KeyError):
                ways = self.ways(literal, env)
                break
        for extended, equations in ways:
            yield from self.solve(equations + literals[:place] + literals[place + 1 :], extended)

    def ways(self, literal: tree.Literal, env: Env) -> list[Way]:
        """The ways to make one literal true. A KeyError says that a variable is needed first."""
        match literal:
            case tree.Atom(name=name, args=args):
                return [way for row in self.relations[name] for way in self.unify(args, row, env)]
            case tree.Negation(body=tree.Atom(name=name, args=args)):
                _ = [self.values(arg, env) for arg in args if not isinstance(arg, tree.Wildcard)]  # all must be known
                found = (way for row in self.relations[name] for way in self.unify(args, row, env))
                return [] if any(True for e, rest in found for _ in self.solve(rest, e)) else [(env, ())]
            case tree.Boolean(value=value):
                return [(env, ())] if value else []
            case tree.Comparison(op="=", left=tree.Record(args=left), right=tree.Record(args=right)):
                return [(env, tuple(tree.Comparison("=", a, b) for a, b in zip(left, right, strict=True)))]
            case tree.Comparison(op="=", left=a, right=b) if isinstance(a, PATTERNS) or isinstance(b, PATTERNS):
                for known, pattern in ((a, b), (b, a)):
                    if isinstance(pattern, PATTERNS):
                        with suppress(KeyError):
                            return [way for v in self.values(known, env) for way in self.unify([pattern], [v], env)]
                raise KeyError("neither side has a value yet")
            case tree.Comparison(op=op, left=left, right=right):
                both = product(self.values(left, env), self.values(right, env))
                return [(env, ()) for a, b in both if COMPARISONS[op.removeprefix("not_")](a, b) != ("not_" in op)]
        raise NotImplementedError(type(literal).__name__)

    def unify(self, terms: Iterable[tree.Term], values: Iterable[Any], env: Env) -> list[Way]:
        """Bind variables so that the terms have the values; what must be computed becomes an equation."""
        pairs = list(zip(terms, values, strict=True))
        for term, value in pairs:  # most rows do not match, and a look at the variables tells
            if type(term) is tree.Variable and env.get(term.name, value) != value:
                return []
        env, equations = dict(env), []
        for term, value in pairs:  # which become more on the way
            match term:
                case tree.Variable(name=name):
                    if env.setdefault(name, value) != value:
                        return []
                case tree.Wildcard():
                    pass
                case tree.Record(args=args):
                    if value is None:
                        return []
                    pairs += zip(args, value, strict=True)
                case tree.Branch(name=name, args=args):
                    if value[0] != name:
                        return []
                    pairs += zip(args, value[1:], strict=True)
                case _:
                    known = tree.Variable(f"={len(env)}")  # a name that no program has
                    env[known.name] = value
                    equations.append(tree.Comparison("=", known, term))
        return [(env, tuple(equations))]

    def values(self, term: tree.Term, env: Env) -> list[Any]:
        """The values of a term: one; none for the least of nothing; several for a range."""
        if isinstance(term, tree.Variable):
            return [env[term.name]]
        kind = self.types.kind_of(term)
        match term:
            case tree.Number() | tree.Unsigned() | tree.Float() | tree.String() | tree.Nil():
                return [wrap(kind, getattr(term, "value", None))]
            case tree.Record(args=args):
                return list(product(*(self.values(a, env) for a in args)))
            case tree.Branch(name=name, args=args):
                return list(product([name], *(self.values(a, env) for a in args)))
            case tree.Cast(term=inner):
                return [reread(value, self.types.kind_of(inner), kind) for value in self.values(inner, env)]
            case tree.Functor(op=op, args=args):
                found = product(*(self.values(a, env) for a in args))
                if op == "range":
                    return [wrap(kind, value) for some in found for value in numbers(*some)]
                return [wrap(kind, FUNCTORS[op](*some)) for some in found]
            case tree.Aggregate():
                return self.aggregate(term, env)
        raise KeyError("a wildcard has no value")

    def aggregate(self, term: tree.Aggregate, env: Env) -> list[Any]:
        inner = {name: env[name] for name in self.types.scope_of(term).injected}
        matches = list(self.solve(constraints_first(term.body.parts), inner))  # type: ignore[attr-defined]
        if counts_named_values(term):
            matches = [dict(named) for named in dict.fromkeys(frozenset(match.items()) for match in matches)]
        if term.target is None:
            return [len(matches)]
        found = [value for match in matches for value in self.values(term.target, match)]
        if not found and term.op != "sum":
            return []
        return [wrap(self.types.kind_of(term), FOLDS[term.op](found))]


def constraints_first(literals: Iterable[tree.Literal]) -> tuple[tree.Literal, ...]:
    return tuple(sorted(literals, key=lambda literal: isinstance(literal, tree.Atom)))


def wrap(kind: Kind, value: Any) -> Any:
    """The 64-bit value of a kind."""
    if kind is Kind.NUMBER:
        return (int(value) + 2**63) % 2**64 - 2**63
    if kind is Kind.UNSIGNED:
        return int(value) % 2**64
    return one_float(float(value)) if kind is Kind.FLOAT else value


def one_float(value: float) -> float:
    """The value of a float: two zeros are one, and so are all NaNs."""
    return NAN if math.isnan(value) else abs(value) if value == 0 else value


def reread(value: Any, before: Kind, after: Kind) -> Any:
    """The same 64 bits as another kind."""
    letters = {Kind.NUMBER: "q", Kind.UNSIGNED: "Q", Kind.FLOAT: "d"}
    if before in letters and after in letters:
        return wrap(after, struct.unpack(letters[after], struct.pack(letters[before], value))[0])
    return value


def numbers(start: Any, stop: Any, step: Any = None) -> Iterator[Any]:
    step = step if step is not None else 1 if start <= stop else -1
    return takewhile(lambda value: (stop - value) * step > 0, (start + step * place for place in count()))


def total(values: list[Any]) -> Any:
    """Floats are added one by one, the least first."""
    result = 0
    for value in sorted(values):
        result += value
    return result


def ieee(operation: Any) -> Any:
    """An operation on floats that has a value for all of them, where Python's may raise."""

    def applied(*values: float) -> float:
        with np.errstate(all="ignore"):
            return float(operation(*map(np.float64, values)))

    return applied


def whole(least: int, most: int) -> Any:
    """A float, or a text, as an integer between these."""

    def converted(value: Any) -> int:
        if isinstance(value, float) and not math.isfinite(value):
            return 0 if math.isnan(value) else most if value > 0 else least
        return max(least, min(most, int(value))) if isinstance(value, float) else int(value)

    return converted


FOLDS: dict[str, Any] = {
    "sum": total,
    "min": min,
    "max": max,
    "mean": lambda values: float(total(values)) / len(values),
}
TO_NUMBER, TO_UNSIGNED = whole(-(2**63), 2**63 - 1), whole(0, 2**64 - 1)


COMPARISONS: dict[str, Any] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "contains": lambda part, text: part in text, "match": lambda pattern, text: bool(re.fullmatch(pattern, text)),
}  # fmt: skip

FUNCTORS: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "neg": operator.neg,
    "^": lambda a, b: ieee(np.power)(a, b) if isinstance(a, float) else a**b,
    "/": lambda a, b: ieee(np.divide)(a, b) if isinstance(a, float) else int(Fraction(a, b)),
    "%": lambda a, b: a - b * int(Fraction(a, b)), "band": operator.and_, "bor": operator.or_, "bxor": operator.xor,
    "bnot": operator.inv, "bshl": lambda a, b: a << (b & 63), "bshr": lambda a, b: a >> (b & 63),
    "bshru": lambda a, b: a % 2**64 >> (b & 63), "land": lambda a, b: bool(a and b), "lor": lambda a, b: bool(a or b),
    "lxor": lambda a, b: bool(a) != bool(b), "lnot": operator.not_, "cat": lambda *texts: "".join(texts),
    "min": lambda *values: min(values), "max": lambda *values: max(values), "strlen": len,
    "substr": lambda text, start, length: text[start : start + length] if 0 <= start <= len(text) else "",
    "to_number": TO_NUMBER, "to_unsigned": TO_UNSIGNED, "to_float": float, "itou": int, "utoi": int, "itof": float,
    "utof": float, "ftoi": TO_NUMBER, "ftou": TO_UNSIGNED,
    "to_string": lambda value: f"{value:f}" if isinstance(value, float) else str(value),
}  # fmt: skip
