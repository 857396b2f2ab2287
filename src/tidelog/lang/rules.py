"""The triple rules (`.rules`, as in RDFox): text to tree.

`[s, p, o]` is an atom of the relation `triple`; `:C[?x]` and `:p[?x, ?y]` are short for `[?x, a, :C]` and
`[?x, :p, ?y]`; `:p(?x, ?y)` is an atom of a relation whose name is the whole IRI. `BIND(e AS ?x)` and
`FILTER(?x = e)` are the same equality. A conjunction inside FILTER becomes part of the body around it. Numbers and
truth values are RDF literals with their datatypes, so that `5` and `"5"^^xsd:integer` are one term.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, TypeGuard

from lark import Token

from tidelog.errors import Report, Source, Span
from tidelog.functors import AGGREGATES
from tidelog.lang import tree
from tidelog.lang.advice import Advice
from tidelog.lang.depth import shallow
from tidelog.lang.escapes import unescape
from tidelog.lang.parsing import Parse, TreeBuilder, load_grammar, parse_items, whole_text

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = RDF + "type"

WELL_KNOWN = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}
"""The prefixes that need no declaration."""

TRIPLE = "triple"

BARE_NUMBERS = {
    XSD + "integer": re.compile(r"-?[0-9]+"),
    XSD + "decimal": re.compile(r"-?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
}
"""By datatype, the literals that can be written without quotes."""


def parse(text: str, name: str = "<text>") -> tree.Program:
    """The program that the text says, or a TidelogError with everything that is wrong with it."""
    return parse_source(Source(name, text))


def parse_source(source: Source) -> tree.Program:
    report = Report()
    program = parse_into(source, report)
    report.check()
    return program


def parse_into(source: Source, report: Report) -> tree.Program:
    """The program as far as it can be read; problems go to the report."""
    parser, builder = _parser()
    builder.begin()
    items = parse_items(parser, builder, source, source.text, report, _next_clause, _ADVICE)
    return tree.Program(tuple(shallow(items, report)), "rules")


@cache
def _parser() -> tuple[Parse, RulesBuilder]:
    builder = RulesBuilder()
    return whole_text(load_grammar("rules", builder, lexer="contextual")), builder


_CLAUSE_END = re.compile(r"\.[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")


def _next_clause(text: str, offset: int) -> int:
    """After a syntax error at `offset`: behind the next dot that ends its line."""
    found = _CLAUSE_END.search(text, offset)
    return found.end() if found else len(text)


_KEYWORDS = "NOT|EXISTS|IN|FILTER|BIND|AS|AGGREGATE|ON|DISTINCT|PREFIX|true|false"
_ADVICE = tuple(
    Advice(re.compile(pattern), message, help)
    for pattern, message, help in (
        (r'"', "this string is not closed on its line", 'close it with `"`, and write `\\n` for a line break'),
        (r"<", None, "an IRI is written `<http://…>`, without spaces; a comparison stands in FILTER(…)"),
        (r"\?\w+\s*(?:!?=|[<>])", None, "a comparison stands in FILTER(…)"),
        (r"_:", "a rule cannot name a blank node", "use a variable"),
        (r"a(?!\w)", None, "`a` stands for rdf:type only as the middle of a triple"),
        (
            rf"(?!(?:{_KEYWORDS})\b)[A-Za-z]\w*",
            None,
            "names need a prefix, as in `:name`; variables start with `?`; texts are quoted",
        ),
    )
)

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_AGGREGATES = {("AVG" if op == "mean" else op.upper()): op for op in AGGREGATES}
_NEGATIVE = {"INTEGER": "integer", "DECIMAL": "decimal", "DOUBLE": "double"}
_TRUE = tree.RdfLiteral("true", XSD + "boolean")


class RulesBuilder(TreeBuilder):
    """One method per grammar rule; `c` are the rule's children, punctuation included."""

    prefixes: dict[str, str]
    unknown: set[str]

    def begin(self) -> None:
        """Forget the prefixes of the text before."""
        self.prefixes, self.unknown = dict(WELL_KNOWN), set()

    def start(self, c: list[Any]) -> list[tree.Item]:
        return c

    # names

    def prefix(self, c: list[Any]) -> tree.Prefix:
        name, _, local = str(c[1]).partition(":")
        if local:
            self.report.error(
                "TL0132", "a prefix ends with its colon", self.span([c[1]]), help=f"write `@prefix {name}: <…> .`"
            )
        iri = self._absolute(c[2])
        self.prefixes[name] = iri
        return tree.Prefix(name, iri, span=self.span(c))

    def iri(self, c: list[Any]) -> tree.Iri:
        token = c[0]
        value = self._absolute(token) if token.type == "IRI" else self._expand(token)
        return tree.Iri(value, span=self.span(c))

    def _absolute(self, token: Token) -> str:
        value = str(token)[1:-1]
        if not _ABSOLUTE.match(value):
            self.report.error(
                "TL0133", f"`{token}` is relative, and there is nothing that it could be relative to",
                self.span([token]), help="write the whole IRI, with its `http:` or other scheme",
            )  # fmt: skip
        return value

    def _expand(self, token: Token) -> str:
        name, _, local = str(token).partition(":")
        if name not in self.prefixes and name not in self.unknown:
            start = token.start_pos or 0
            self.unknown.add(name)
            self.report.error(
                "TL0131", f"unknown prefix `{name}:`", Span(self.source, start, start + len(name) + 1),
                help=f"declare it above: `@prefix {name}: <…> .`",
            )  # fmt: skip
        return self.prefixes.get(name, f"{name}:") + re.sub(r"\\(.)", r"\1", local)

    # rules

    def rule(self, c: list[Any]) -> tree.Rule:
        body = c[2] if len(c) > 3 else None
        return tree.Rule(c[0], body, span=self.span(c))

    def head(self, c: list[Any]) -> tuple[tree.Atom, ...]:
        return tuple(c[::2])

    def body(self, c: list[Any]) -> tree.Literal:
        return self._together(tree.Conjunction, c)

    def negation(self, c: list[Any]) -> tree.Negation:
        return tree.Negation(c[1] if len(c) == 2 else c[2], span=self.span(c))

    def not_exists(self, c: list[Any]) -> tree.Negation:
        body = c[4] if len(c) == 5 else c[5]
        inner = tree.Existential(c[2], body, span=self.span(c[1:]))
        return tree.Negation(inner, span=self.span(c))

    def variables(self, c: list[Any]) -> tuple[str, ...]:
        return tuple(str(v)[1:] for v in c if v.type == "VARIABLE")

    def filter(self, c: list[Any]) -> tree.Literal:
        return self._condition(c[2])

    def bind(self, c: list[Any]) -> tree.Comparison:
        variable = tree.Variable(str(c[4])[1:], span=self.span([c[4]]))
        return tree.Comparison("=", variable, self._value(c[2]), span=self.span(c))

    def aggregate(self, c: list[Any]) -> tree.GroupedAggregate:
        group = c[4] if isinstance(c[4], tuple) else ()
        bindings = tuple(b for b in c if isinstance(b, tree.AggregateBinding))
        return tree.GroupedAggregate(c[2], group, bindings, span=self.span(c))

    def binding(self, c: list[Any]) -> tree.AggregateBinding:
        op = _AGGREGATES.get(c[1].upper(), "")
        if not op:
            known = ", ".join(_AGGREGATES)
            self.report.error("TL0135", f"unknown aggregate `{c[1]}`", self.span([c[1]]), help=f"there are {known}")
        argument = None if isinstance(c[-4], Token) else self._value(c[-4])
        if argument is None and op not in ("", "count"):
            self.report.error("TL0135", "only COUNT can take `*`", self.span([c[-4]]), help="name a variable")
        distinct = "_distinct" if isinstance(c[3], Token) and c[3].type == "DISTINCT" else ""
        return tree.AggregateBinding(op + distinct, argument, str(c[-1])[1:], span=self.span(c))

    # atoms

    def triple(self, c: list[Any]) -> tree.Atom:
        return self._triple(c, (c[1], c[3], c[5]))

    def short_triple(self, c: list[Any]) -> tree.Atom:
        if len(c) == 4:
            return self._triple(c, (c[2], tree.Iri(RDF_TYPE), c[0]))
        return self._triple(c, (c[2], c[0], c[4]))

    def _triple(self, c: list[Any], args: tuple[tree.Term, tree.Term, tree.Term]) -> tree.Atom:
        for role, term in zip(("subject", "predicate"), args, strict=False):
            if isinstance(term, (tree.String, tree.RdfLiteral)):
                self.report.error(
                    "TL0134", f"a literal cannot be the {role} of a triple", term.span,
                    help="only the third position of a triple holds literals",
                )  # fmt: skip
        return tree.Atom(TRIPLE, args, span=self.span(c), name_span=self.span(c[:1]))

    def relation(self, c: list[Any]) -> tree.Atom:
        return tree.Atom(c[0].value, tuple(c[2:-1:2]), span=self.span(c), name_span=c[0].span)

    # terms

    def rdf_type(self, c: list[Any]) -> tree.Iri:
        return tree.Iri(RDF_TYPE, span=self.span(c))

    def variable(self, c: list[Any]) -> tree.Variable:
        return tree.Variable(str(c[0])[1:], span=self.span(c))

    def resource(self, c: list[Any]) -> tree.Iri:
        return c[0]  # type: ignore[no-any-return]

    def text(self, c: list[Any]) -> tree.String:
        return tree.String(self._unescape(c[0]), span=self.span(c))

    def text_in(self, c: list[Any]) -> tree.RdfLiteral:
        return tree.RdfLiteral(self._unescape(c[0]), None, str(c[1])[1:].lower(), span=self.span(c))

    def typed(self, c: list[Any]) -> tree.Term:
        text, datatype = self._unescape(c[0]), c[2].value
        if datatype == XSD + "string":
            return tree.String(text, span=self.span(c))
        return tree.RdfLiteral(text, datatype, span=self.span(c))

    def integer(self, c: list[Any]) -> tree.RdfLiteral:
        return tree.RdfLiteral(str(c[0]), XSD + "integer", span=self.span(c))

    def decimal(self, c: list[Any]) -> tree.RdfLiteral:
        return tree.RdfLiteral(str(c[0]), XSD + "decimal", span=self.span(c))

    def double(self, c: list[Any]) -> tree.RdfLiteral:
        return tree.RdfLiteral(str(c[0]), XSD + "double", span=self.span(c))

    def negative(self, c: list[Any]) -> tree.RdfLiteral:
        return tree.RdfLiteral(f"-{c[1]}", XSD + _NEGATIVE[c[1].type], span=self.span(c))

    def truth(self, c: list[Any]) -> tree.RdfLiteral:
        return tree.RdfLiteral(str(c[0]), XSD + "boolean", span=self.span(c))

    def _unescape(self, token: Token) -> str:
        r"""The text of a string: `\u` and `\U` are RDF's, the other escapes are those of all dialects."""
        start = token.start_pos or 0

        def character(match: re.Match[str]) -> str:
            at = start + match.start()
            if match[1] is None:
                return unescape(Token("STRING", f'"{match[0]}"', start_pos=at - 1), self.source, self.report)
            code = int(match[1][1:], 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                span = Span(self.source, at, at + len(match[0]))
                self.report.error("TL0104", f"there is no character `{match[0]}`", span)
                return ""
            return chr(code)

        return re.sub(r"\\(?:(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|.)", character, str(token))[1:-1]

    # expressions: callbacks of conditions give literals, those of values give terms

    def disjunction(self, c: list[Any]) -> tree.Literal:
        return self._together(tree.Disjunction, [self._condition(part) for part in c[::2]])

    def conjunction(self, c: list[Any]) -> tree.Literal:
        return self._together(tree.Conjunction, [self._condition(part) for part in c[::2]])

    def _together(self, kind: type[tree.Conjunction] | type[tree.Disjunction], c: list[Any]) -> tree.Literal:
        """One part is itself, more are a node of this kind, and parts of the same kind are taken apart."""
        literals = [part for part in c if isinstance(part, tree.Literal)]
        parts = [p for part in literals for p in (part.parts if isinstance(part, kind) else (part,))]
        return parts[0] if len(parts) == 1 else kind(tuple(parts), span=self.span(literals))

    def comparison(self, c: list[Any]) -> tree.Comparison:
        return tree.Comparison(str(c[1]), self._value(c[0]), self._value(c[2]), span=self.span(c))

    def complement(self, c: list[Any]) -> tree.Negation:
        return tree.Negation(self._condition(c[1]), span=self.span(c))

    def binary(self, c: list[Any]) -> tree.Functor:
        return tree.Functor(str(c[1]), (self._value(c[0]), self._value(c[2])), span=self.span(c))

    def negate(self, c: list[Any]) -> tree.Term:
        value = self._value(c[1])
        if _is_bare_number(value) and not value.text.startswith("-"):
            return tree.RdfLiteral(f"-{value.text}", value.datatype, span=self.span(c))
        return tree.Functor("neg", (value,), span=self.span(c))

    def parenthesis(self, c: list[Any]) -> Any:
        return c[1]

    def arguments(self, c: list[Any]) -> tuple[tree.Term, ...]:
        return tuple(self._value(argument) for argument in c[::2])

    def call(self, c: list[Any]) -> tree.Functor:
        op = c[0].value if isinstance(c[0], tree.Iri) else c[0].upper()
        return tree.Functor(op, c[2], span=self.span(c))

    def _condition(self, expression: tree.SyntaxNode) -> tree.Literal:
        """A value that stands as a condition holds if it is true."""
        if isinstance(expression, tree.Literal):
            return expression
        if isinstance(expression, tree.RdfLiteral) and expression.datatype == XSD + "boolean":
            return tree.Boolean(expression.text in ("true", "1"), span=expression.span)
        assert isinstance(expression, tree.Term)
        return tree.Comparison("=", expression, _TRUE, span=expression.span)

    def _value(self, expression: tree.SyntaxNode) -> tree.Term:
        if isinstance(expression, tree.Term):
            return expression
        self.report.error(
            "TL0136", "a condition cannot be used as a value", expression.span,
            help="state it in a FILTER of its own",
        )  # fmt: skip
        return tree.RdfLiteral("true", XSD + "boolean", span=expression.span)


def _is_bare_number(term: tree.Term) -> TypeGuard[tree.RdfLiteral]:
    if not isinstance(term, tree.RdfLiteral) or term.datatype not in BARE_NUMBERS:
        return False
    return BARE_NUMBERS[term.datatype].fullmatch(term.text) is not None
