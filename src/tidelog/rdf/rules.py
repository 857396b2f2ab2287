"""Triple rules as an ordinary program over `triple(s, p, o)`: what `.rules` files mean.

A term is its N-Triples text, a symbol, and so is every value of an expression; the empty text, which no term is, stands
for the error that an expression may end with. Conditions and functions are those of SPARQL, and functors of the program
(`values.py`): a FILTER whose condition ends with an error does not hold, a BIND whose value does binds nothing.

NOT over several atoms, and AGGREGATE, become relations of their own. A group of an AGGREGATE exists if its body holds
for it; SUM and AVG of something that is no number, and MIN and MAX of something that is neither number, date nor truth
value, are errors: there is no such tuple. Terms of equal value are all their group's MIN or MAX.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from tidelog.analysis.suggest import did_you_mean
from tidelog.errors import InternalError, Report
from tidelog.lang import tree
from tidelog.lang.rules import TRIPLE, XSD
from tidelog.plain import replace
from tidelog.rdf.functions import CASTS, FUNCTIONS, functor_name
from tidelog.rdf.terms import constant, is_iri

_TRUE = tree.RdfLiteral("true", XSD + "boolean")
_OPERATORS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def ordinary_program(program: tree.Program) -> tree.Program:
    """The program over `triple`, with everything else that it needs declared; or all that is wrong with it."""
    report = Report()
    lowering = _Lowering(report)
    rules = [made for rule in program.rules for made in lowering.rule(rule)]
    report.check()
    return tree.Program((*lowering.relations.values(), *lowering.functors.values(), *rules))


class _Lowering:
    """Rules one after the other; the relations and functors that they need."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.relations: dict[str, tree.RelationDecl] = {}
        self.functors: dict[str, tree.FunctorDecl] = {}
        self.made: list[tree.Rule] = []  # that define the auxiliary relations of the rule at hand

    def rule(self, rule: tree.Rule) -> list[tree.Rule]:
        self.made = []
        heads = tuple(self.atom(head) for head in rule.heads)
        body = None if rule.body is None else _joined(self.body(rule.body))
        return [*self.made, replace(rule, heads=heads, body=body)]

    # ---- atoms and terms

    def atom(self, atom: tree.Atom) -> tree.Atom:
        args = tuple(self.argument(term) for term in atom.args)
        if atom.name == TRIPLE:
            return replace(atom, args=args)
        name = relation_name(atom.name)
        known = self.relations.setdefault(name, _declared(name, len(args)))
        if len(known.attributes) != len(args):
            self.report.error("TL0206", f"`{atom.name}` has {len(known.attributes)} arguments elsewhere", atom.span)
        return replace(atom, name=name, args=args)

    def argument(self, term: tree.Term) -> tree.Term:
        match term:
            case tree.Variable(name=name):
                return tree.Variable(_variable(name), span=term.span)
            case tree.Wildcard():
                return term
            case tree.Functor(op=op, args=args):
                return self.call(op, args, term)
        text = constant(term)
        if text is None:
            raise InternalError(f"triple rules have no {type(term).__name__}")
        return tree.String(text, span=term.span)

    def call(self, op: str, args: tuple[tree.Term, ...], term: tree.Term) -> tree.Term:
        op = CASTS.get(op, op)
        if op not in FUNCTIONS or not FUNCTIONS[op].takes(len(args)):
            known = f"it takes {FUNCTIONS[op].arguments}" if op in FUNCTIONS else did_you_mean(op, FUNCTIONS)
            what = (
                f"the function `{op}` does not take {len(args)} arguments"
                if op in FUNCTIONS
                else f"unknown function `{op}`"
            )
            self.report.error("TL1410", what, term.span, help=known or f"there are {', '.join(sorted(FUNCTIONS))}")
            return tree.String("")
        return self.functor(op, "symbol", tuple(self.argument(arg) for arg in args))

    def functor(self, op: str, result: str, args: tuple[tree.Term, ...], kinds: str = "symbol") -> tree.UserFunctor:
        name = functor_name(op, len(args))
        params = tuple(tree.Attribute("", kinds) for _ in args)
        self.functors.setdefault(name, tree.FunctorDecl(name, params, result))
        return tree.UserFunctor(name, args)

    # ---- bodies

    def body(self, body: tree.Literal) -> list[tree.Literal]:
        parts = list(body.parts) if isinstance(body, tree.Conjunction) else [body]
        targets = _targets(parts)
        found: list[tree.Literal] = []
        for number, part in enumerate(parts):
            if number in targets:
                found += self.assigned(*targets[number])
            else:
                found += self.literal(part)
        return found

    def literal(self, literal: tree.Literal) -> list[tree.Literal]:
        match literal:
            case tree.Atom():
                return [self.atom(literal)]
            case tree.GroupedAggregate():
                return self.aggregate(literal)
            case tree.Negation(body=tree.Existential(variables=own, body=inner)):
                return self.absent(inner, _variables((inner,)) - set(own), literal)
            case tree.Negation(body=inner) if any(isinstance(n, tree.Atom) for n in inner.walk()):
                return self.absent(inner, _variables((inner,)), literal)
        return [self.condition(literal, True)]

    def assigned(self, target: tree.Variable, value: tree.Term) -> list[tree.Literal]:
        made, name = self.argument(value), self.argument(target)
        equal = tree.Comparison("=", name, made, span=target.span)
        return [equal, tree.Comparison("!=", name, tree.String(""))] if isinstance(made, tree.UserFunctor) else [equal]

    def absent(self, inner: tree.Literal, shared: set[str], literal: tree.Literal) -> list[tree.Literal]:
        """No match of a body: for one atom its negation, else that of a relation of what matches."""
        if isinstance(inner, tree.Atom) and _each_once(inner, shared):
            own = (tree.Wildcard() if isinstance(a, tree.Variable) and a.name not in shared else a for a in inner.args)
            atom = self.atom(replace(inner, args=tuple(own)))
        else:
            atom = self.auxiliary("not", inner, sorted(shared))
        return [tree.Negation(replace(atom, span=literal.span), span=literal.span)]

    def auxiliary(
        self, kind: str, body: tree.Literal, names: list[str], values: tuple[tree.Term, ...] = ()
    ) -> tree.Atom:
        """An atom of a new relation: these variables where the body holds, and the values of terms over them."""
        columns = [tree.Variable(_variable(name)) for name in names]
        extra = [tree.Variable(f"?value{i}") for i, _ in enumerate(values)]
        parts = self.body(body)
        for variable, value in zip(extra, values, strict=True):
            parts.append(tree.Comparison("=", variable, self.argument(value)))
        text = repr((kind, body, names, values))
        name = f"{kind}_{hashlib.blake2s(text.encode(), digest_size=6).hexdigest()}"
        head = tree.Atom(name, (*columns, *extra))
        if name not in self.relations:
            self.relations[name] = _declared(name, len(head.args))
            self.made.append(tree.Rule((head,), _joined(parts), span=body.span))
        return head

    # ---- conditions

    def condition(self, literal: tree.Literal, wanted: bool) -> tree.Literal:
        """What holds if a condition is true, or (not `wanted`) false; an error is neither."""
        match literal:
            case tree.Negation(body=body):
                return self.condition(body, not wanted)
            case tree.Boolean(value=value):
                return tree.Boolean(value is wanted)
            case tree.Conjunction(parts=parts) | tree.Disjunction(parts=parts):
                together = isinstance(literal, tree.Conjunction) is wanted
                made = tuple(self.condition(part, wanted) for part in parts)
                return tree.Conjunction(made) if together else tree.Disjunction(made)
            case tree.Comparison(op="=", left=tree.Functor(op="SAMETERM", args=(one, other)), right=right) if (
                right == _TRUE
            ):
                return tree.Comparison("=" if wanted else "!=", self.argument(one), self.argument(other))
            case tree.Comparison(op=op, left=left, right=right):
                return self.comparison(op if wanted else _OPPOSITE[op], self.argument(left), self.argument(right))
        raise InternalError(f"a FILTER cannot say {type(literal).__name__}")

    def comparison(self, op: str, left: tree.Term, right: tree.Term) -> tree.Literal:
        if op in ("=", "!=") and any(_is_name(side) for side in (left, right)):
            return tree.Comparison(op, left, right)  # equal to an IRI is nothing but the IRI
        return tree.Comparison("=", self.functor(_OPERATORS[op], "number", (left, right)), tree.Number(1))

    # ---- aggregates

    def aggregate(self, aggregate: tree.GroupedAggregate) -> list[tree.Literal]:
        group = list(aggregate.group)
        found: list[tree.Literal] = [self.auxiliary("group", aggregate.body, group)]
        for binding in aggregate.bindings:
            found += self.computed(aggregate, group, binding)
        return found

    def computed(
        self, aggregate: tree.GroupedAggregate, group: list[str], binding: tree.AggregateBinding
    ) -> list[tree.Literal]:
        """One BIND of an AGGREGATE, over a relation of the group, what tells matches apart, and the value."""
        op, distinct = binding.op.removesuffix("_distinct"), binding.op.endswith("_distinct")
        inner = sorted(_variables((aggregate.body,)) - set(group))
        apart = [] if distinct or op in ("min", "max") else inner
        values = () if binding.argument is None else (binding.argument,)
        atom = self.auxiliary("values", aggregate.body, [*group, *apart], values)
        local = {_variable(name): tree.Variable(f"{_variable(name)}_") for name in apart}
        value = tree.Variable(f"?value_{_variable(binding.result)[1:]}")
        args = tuple(local.get(_name(a), value if _name(a) == "?value0" else a) for a in atom.args)
        over = replace(atom, args=args)
        result = tree.Variable(_variable(binding.result), span=binding.span)

        def total(how: str, kind: str, part: str) -> tree.Aggregate:
            return tree.Aggregate(how, self.functor(part, kind, (value,)), over)

        match op:
            case "count":
                errors = tree.Comparison("!=", value, tree.String(""))  # are not counted
                inside = over if binding.argument is None else tree.Conjunction((over, errors))
                counted = tree.Aggregate("count", None, inside)
                return [tree.Comparison("=", result, self.functor("integer", "symbol", (counted,), "number"))]
            case "sum" | "mean":
                parts = [total("sum", "number", part) for part in ("high", "low", "billionths")]
                numbers = (total("max", "number", "kind"), *parts, tree.Aggregate("count", None, over))
                made = self.mixed(op, numbers, total("sum", "float", "real"))
                return [tree.Comparison("=", result, made), tree.Comparison("!=", result, tree.String(""))]
            case _:
                best = tree.Variable(f"?best_{_variable(binding.result)[1:]}")
                witness = replace(over, args=tuple(result if a == value else a for a in over.args))
                return [
                    tree.Comparison("=", total("max", "number", "unordered"), tree.Number(0)),
                    tree.Comparison("=", best, total(op, "float", "place")),
                    witness,
                    tree.Comparison("=", self.functor("place", "float", (result,)), best),
                ]  # fmt: skip

    def mixed(self, op: str, numbers: tuple[tree.Term, ...], real: tree.Term) -> tree.UserFunctor:
        name = functor_name(op, len(numbers) + 1)
        params = (*(tree.Attribute("", "number") for _ in numbers), tree.Attribute("", "float"))
        self.functors.setdefault(name, tree.FunctorDecl(name, params, "symbol"))
        return tree.UserFunctor(name, (*numbers, real))


def _joined(parts: list[tree.Literal]) -> tree.Literal | None:
    return None if not parts else parts[0] if len(parts) == 1 else tree.Conjunction(tuple(parts))


def _declared(name: str, arity: int) -> tree.RelationDecl:
    return tree.RelationDecl(name, tuple(tree.Attribute(f"c{i}", "symbol") for i in range(arity)))


def relation_name(iri: str) -> str:
    """The name of a relation that the rules call by an IRI."""
    readable = re.findall(r"[A-Za-z][A-Za-z0-9]*", iri) or ["x"]
    return f"r_{readable[-1]}_{hashlib.blake2s(iri.encode(), digest_size=5).hexdigest()}"


def _variable(name: str) -> str:
    """A variable of the ordinary program, which has no letters beyond ASCII."""
    return "?" + re.sub(r"[^A-Za-z0-9_]", lambda m: f"_{ord(m[0]):x}_", name)


def _name(term: tree.Term) -> str:
    return term.name if isinstance(term, tree.Variable) else ""


def _is_name(term: tree.Term) -> bool:
    """Whether a term is a constant that equals itself only: an IRI."""
    return isinstance(term, tree.String) and is_iri(term.value)


def _variables(nodes: Iterable[tree.SyntaxNode]) -> set[str]:
    """The variables of the nodes as far as they are not an aggregate's or an EXISTS's own."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case tree.Variable(name=name):
                found.add(name)
            case tree.GroupedAggregate(group=group, bindings=bindings):
                found.update(group, (b.result for b in bindings))
            case tree.Existential(variables=own, body=body):
                found |= _variables((body,)) - set(own)
            case _:
                found |= _variables(node.children())
    return found


def _each_once(atom: tree.Atom, shared: set[str]) -> bool:
    own = [a.name for a in atom.args if isinstance(a, tree.Variable) and a.name not in shared]
    return len(own) == len(set(own))


def _targets(parts: list[tree.Literal]) -> dict[int, tuple[tree.Variable, tree.Term]]:
    """The equalities of a body that give a variable its value, by their numbers: those whose variable nothing else has
    bound by then, computed values before others. Every other equality is a comparison."""
    bound = _variables(p for p in parts if isinstance(p, (tree.Atom, tree.GroupedAggregate)))
    equalities = [(n, p) for n, p in enumerate(parts) if isinstance(p, tree.Comparison) and p.op == "="]
    equalities.sort(key=lambda e: not isinstance(e[1].right, tree.Functor))
    found: dict[int, tuple[tree.Variable, tree.Term]] = {}
    while True:
        before = len(found)
        for number, part in equalities:
            for target, value in ((part.left, part.right), (part.right, part.left)):
                if number in found or not isinstance(target, tree.Variable) or target.name in bound:
                    continue
                if _variables((value,)) <= bound:
                    found[number] = (target, value)
                    bound.add(target.name)
        if len(found) == before:
            return found
