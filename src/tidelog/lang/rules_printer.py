"""The triple rules (`.rules`): tree to text. parse(print_program(p)) == p for every program that parse can give.

IRIs are shortened with the prefixes that the program has declared up to that place.
"""

from __future__ import annotations

import re

from tidelog.errors import InternalError
from tidelog.lang import tree
from tidelog.lang.depth import deep_recursion
from tidelog.lang.escapes import escape
from tidelog.lang.rules import BARE_NUMBERS, RDF_TYPE, TRIPLE, WELL_KNOWN, XSD

_OR, _AND, _COMPARISON, _SUM, _PRODUCT, _UNARY, _PRIMARY = range(7)
"""How tightly a printed expression holds together; a looser one in a tighter place gets parentheses."""

_INFIX = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}
_LOCAL = re.compile(r"(?!-)[A-Za-z0-9_\-]*")
_BARE = {**BARE_NUMBERS, XSD + "boolean": re.compile(r"true|false")}


def print_program(program: tree.Program) -> str:
    """The program as text, one item per line."""
    printer = RulesPrinter()
    with deep_recursion():
        return "".join(printer.item(item) + "\n" for item in program.items)


class RulesPrinter:
    """Prints items in their order and remembers their prefixes."""

    def __init__(self) -> None:
        self.prefixes = dict(WELL_KNOWN)

    def item(self, item: tree.Item) -> str:
        if isinstance(item, tree.Prefix):
            self.prefixes[item.name] = item.iri
            return f"@prefix {item.name}: <{item.iri}> ."
        if isinstance(item, tree.Rule) and item.plan is None and item.label is None:
            heads = ", ".join(map(self.literal, item.heads))
            body = f" :- {self.literal(item.body)}" if item.body is not None else ""
            return f"{heads}{body} ."
        raise InternalError(f"triple rules cannot say {type(item).__name__}")

    def iri(self, iri: str) -> str:
        fits = [
            (ns, name) for name, ns in self.prefixes.items() if iri.startswith(ns) and _LOCAL.fullmatch(iri, len(ns))
        ]
        if not fits:
            return f"<{iri}>"
        namespace, name = max(fits)
        return f"{name}:{iri[len(namespace) :]}"

    # bodies

    def literal(self, literal: tree.Literal) -> str:
        match literal:
            case tree.Atom(name=name, args=(subject, predicate, object_)) if name == TRIPLE:
                middle = "a" if predicate == tree.Iri(RDF_TYPE) else self.term(predicate)
                return f"[{self.term(subject)}, {middle}, {self.term(object_)}]"
            case tree.Atom(name=name, args=args):
                return f"{self.iri(name)}({', '.join(map(self.term, args))})"
            case tree.GroupedAggregate(body=body, group=group, bindings=bindings):
                on = "".join(f" ?{name}" for name in group)
                computed = "".join(map(self._binding, bindings))
                return f"AGGREGATE({self.literal(body)}{' ON' + on if on else ''}{computed})"
            case tree.Comparison(op="=", left=tree.Variable(name=name), right=tree.Functor() as value):
                return f"BIND({self.term(value)} AS ?{name})"
            case tree.Conjunction(parts=parts):
                return ", ".join(map(self.literal, parts))
            case _ if _is_condition(literal):
                return f"FILTER({self.condition(literal)})"
            case tree.Negation(body=tree.Existential(variables=variables, body=body)):
                names = ", ".join(f"?{name}" for name in variables)
                return f"NOT EXISTS {names} IN ({self.literal(body)})"
            case tree.Negation(body=body):
                return f"NOT ({self.literal(body)})" if not isinstance(body, tree.Atom) else f"NOT {self.literal(body)}"
        raise InternalError(f"triple rules cannot say {type(literal).__name__}")

    def _binding(self, binding: tree.AggregateBinding) -> str:
        op = binding.op.removesuffix("_distinct")
        distinct = "DISTINCT " if op != binding.op else ""
        argument = "*" if binding.argument is None else self.term(binding.argument)
        return f" BIND {'AVG' if op == 'mean' else op.upper()}({distinct}{argument}) AS ?{binding.result}"

    # expressions

    def condition(self, literal: tree.Literal, within: int = _OR) -> str:
        text, holds = self._condition(literal)
        return text if holds >= within else f"({text})"

    def _condition(self, literal: tree.Literal) -> tuple[str, int]:
        match literal:
            case tree.Disjunction(parts=parts):
                return " || ".join(self.condition(p, _AND) for p in parts), _OR
            case tree.Conjunction(parts=parts):
                return " && ".join(self.condition(p, _COMPARISON) for p in parts), _AND
            case tree.Comparison(op=op, left=left, right=right):
                return f"{self.term(left, _SUM)} {op} {self.term(right, _SUM)}", _COMPARISON
            case tree.Negation(body=body):
                return "!" + self.condition(body, _UNARY), _UNARY
            case tree.Boolean(value=value):
                return ("true" if value else "false"), _PRIMARY
        raise InternalError(f"a FILTER cannot say {type(literal).__name__}")

    def term(self, term: tree.Term, within: int = _SUM) -> str:
        text, holds = self._term(term)
        return text if holds >= within else f"({text})"

    def _term(self, term: tree.Term) -> tuple[str, int]:
        match term:
            case tree.Variable(name=name):
                return f"?{name}", _PRIMARY
            case tree.Iri(value=value):
                return self.iri(value), _PRIMARY
            case tree.String(value=value):
                return escape(value), _PRIMARY
            case tree.RdfLiteral(text=text, language=str(language)):
                return f"{escape(text)}@{language}", _PRIMARY
            case tree.RdfLiteral(text=text, datatype=str(datatype)):
                if datatype in _BARE and _BARE[datatype].fullmatch(text):
                    return text, _UNARY
                return f"{escape(text)}^^{self.iri(datatype)}", _PRIMARY
            case tree.Functor(op="neg", args=(inner,)):
                return "-" + self.term(inner, _UNARY), _UNARY
            case tree.Functor(op=op, args=(left, right)) if op in _INFIX:
                strength = _INFIX[op]
                return f"{self.term(left, strength)} {op} {self.term(right, strength + 1)}", strength
            case tree.Functor(op=op, args=args):
                name = self.iri(op) if ":" in op else op
                return f"{name}({', '.join(map(self.term, args))})", _PRIMARY
        raise InternalError(f"triple rules cannot say {type(term).__name__}")


def _is_condition(literal: tree.Literal) -> bool:
    """Whether all of it can stand in a FILTER."""
    inside = (node for node in literal.walk() if isinstance(node, tree.Literal))
    return all(
        isinstance(n, (tree.Comparison, tree.Boolean, tree.Negation, tree.Conjunction, tree.Disjunction))
        for n in inside
    )
