"""The NDlog dialect (`.ndlog`): text to tree, and files of updates to signed facts.

A lower-case constant is the string of its letters, `true` and `false` included. `p@X` and `p(@X)` are the same
atom. A function alone, `f_member(P, X)`, is the condition that it equals `true`; negated, that it equals `false`.
"""

from __future__ import annotations

import re
from functools import cache
from math import isinf
from typing import Any, NamedTuple

from lark import Token

from tidelog.errors import Report, Source, Span
from tidelog.functors import AGGREGATES
from tidelog.lang import tree
from tidelog.lang.advice import Advice
from tidelog.lang.depth import shallow
from tidelog.lang.escapes import unescape
from tidelog.lang.parsing import Parse, TreeBuilder, load_grammar, parse_items, whole_text
from tidelog.plain import replace

SignedAtom = tuple[str, tree.Atom]
"""A sign, "+" or "-", and the fact that it inserts or deletes."""


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
    if _refuse_preprocessor(source, report):
        return tree.Program((), "ndlog")
    parser, builder = _parser("start")
    items = parse_items(parser, builder, source, source.text, report, _next_clause, _ADVICE)
    return tree.Program(tuple(shallow(items, report)), "ndlog")


def parse_updates(text: str, name: str = "<updates>") -> list[SignedAtom]:
    """The updates of a text such as `+link(@a,b), -link(@b,c)`, in their order; commas and dots may separate them."""
    source, report = Source(name, text), Report()
    parser, builder = _parser("updates")
    updates: list[SignedAtom] = parse_items(parser, builder, source, source.text, report, _next_line, _UPDATE_ADVICE)
    shallow([atom for _, atom in updates], report)
    report.check()
    return updates


@cache
def _parser(start: str) -> tuple[Parse, NdlogBuilder]:
    builder = NdlogBuilder()
    return whole_text(load_grammar("ndlog", builder, start=start, lexer="contextual")), builder


_CLAUSE_END = re.compile(r"\.[ \t\r]*(?:(?://|#|%)[^\n]*)?(?:\n|\Z)")


def _next_clause(text: str, offset: int) -> int:
    """After a syntax error at `offset`: behind the next dot that ends its line."""
    found = _CLAUSE_END.search(text, offset)
    return found.end() if found else len(text)


def _next_line(text: str, offset: int) -> int:
    return text.find("\n", offset) + 1 or len(text)


_ADVICE = tuple(
    Advice(re.compile(pattern), message, help)
    for pattern, message, help in (
        (r"/\*", "this comment is not closed", "close it with `*/`"),
        (r'"', "this string is not closed", 'close it with `"`'),
        (r"(?<=!)\(", None, "`!` stands before an atom or a function; turn a comparison around: `!=` for `=`"),
        (r";", None, "there is no disjunction: write one rule for each alternative"),
        (r"\|\||&&", None, "conditions are separated by `,`; write one rule for each alternative"),
        (r"f_\w+\s*\(", None, "`f_` names are functions; a relation needs another name"),
    )
)
_UPDATE_ADVICE = (
    Advice(re.compile(r"(?<![^\n])[a-z]"), None, "begin each update with `+` or `-`"),
    *_ADVICE,
)

_DIRECTIVE = re.compile(r'^[ \t]*(#(?:define|undef|ifdef|ifndef)[ \t]+\w+|#include[ \t]*["<])', re.MULTILINE)


def _refuse_preprocessor(source: Source, report: Report) -> bool:
    """`#` starts a comment, but a C directive is meant to do something and must not be skipped in silence."""
    found = list(_DIRECTIVE.finditer(source.text))
    for match in found:
        report.error(
            "TL0126", "there is no preprocessor in this dialect", Span(source, *match.span(1)),
            help="write the program out; for a comment, put a space after `#`",
        )  # fmt: skip
    return bool(found)


class _Label(NamedTuple):
    name: str
    span: Span
    colon: bool


class _Location(NamedTuple):
    """An argument with an `@` before it."""

    term: tree.Term
    span: Span


class NdlogBuilder(TreeBuilder):
    """One method per grammar rule; `c` are the rule's children, punctuation included."""

    def start(self, c: list[Any]) -> list[tree.Item]:
        return [i for item in c for i in (item if isinstance(item, list) else (item,))]

    # clauses

    def ended(self, c: list[Any]) -> tree.Rule:
        rule: tree.Rule = c[0]
        return replace(rule, span=self.span(c))

    def rule_set(self, c: list[Any]) -> list[tree.Rule]:
        return [r for r in c if isinstance(r, tree.Rule)]

    def materialize(self, c: list[Any]) -> tree.Materialize:
        keys = tuple(k for k in c if isinstance(k, int) and not isinstance(k, bool))
        lifetime, size = (limit[0] for limit in c if isinstance(limit, tuple))
        if 0 in keys or len(set(keys)) < len(keys):
            self.report.error(
                "TL0127", "keys are column positions, each once, counted from 1", self.span(c[8:-2]),
                help=f"for example `materialize({c[2]}, infinity, infinity, keys(1,2)).`",
            )  # fmt: skip
        return tree.Materialize(str(c[2]), lifetime, size, keys, span=self.span(c))

    def limit(self, c: list[Any]) -> tuple[int | None]:
        return (None if c[0].type == "INFINITY" else self._integer(c[0]),)

    def key(self, c: list[Any]) -> int:
        return self._integer(c[0])

    def statement(self, c: list[Any]) -> tree.Rule:
        label = c.pop(0) if isinstance(c[0], _Label) else None
        head = c[0]
        body = c[2] if len(c) > 2 else None
        span = self.span(c)
        if label is not None:
            span = label.span.to(span)
            self._check_label(label, head)
        return tree.Rule((head,), body, label=label.name if label else None, span=span)

    def label(self, c: list[Any]) -> _Label:
        return _Label(str(c[0]), self.span(c[:1]), len(c) > 1)

    def _check_label(self, label: _Label, head: tree.Atom) -> None:
        """A label without a colon stands on the line of its head, or else a dot was forgotten."""
        if not label.colon and head.span and "\n" in self.source.text[label.span.end : head.span.start]:
            self.report.error(
                "TL0125", f"`{label.name}` is followed by another clause", label.span,
                help=f"end it with a dot, or write `{label.name}:` if it is the label of the next rule",
            )  # fmt: skip

    def body(self, c: list[Any]) -> tree.Literal:
        for atom in c:
            self._refuse_aggregates(atom)
        return c[0] if len(c) == 1 else tree.Conjunction(tuple(c[::2]), span=self.span(c))

    def _refuse_aggregates(self, literal: Any) -> None:
        atom = literal.body if isinstance(literal, tree.Negation) else literal
        for arg in atom.args if isinstance(atom, tree.Atom) else ():
            if isinstance(arg, tree.HeadAggregate):
                self.report.error(
                    "TL0122", "an aggregate can only stand in the head of a rule", arg.span,
                    help="aggregate in a rule of its own, then use its head here",
                )  # fmt: skip

    def negation(self, c: list[Any]) -> tree.Negation:
        return tree.Negation(c[1], span=self.span(c))

    def comparison(self, c: list[Any]) -> tree.Comparison:
        if c[1] == ":=" and not isinstance(c[0], tree.Variable):
            self.report.error(
                "TL0123", "only a variable can be assigned to", c[0].span, help="write `=` to compare two values"
            )
        op = "=" if c[1] in (":=", "==") else str(c[1])
        return tree.Comparison(op, c[0], c[2], span=self.span(c))

    def condition(self, c: list[Any]) -> tree.Comparison:
        return tree.Comparison("=", c[0], tree.String("true"), span=self.span(c))

    def negated_condition(self, c: list[Any]) -> tree.Comparison:
        return tree.Comparison("=", c[1], tree.String("false"), span=self.span(c))

    def boolean(self, c: list[Any]) -> tree.Boolean:
        return tree.Boolean(c[0].type == "TRUE", span=self.span(c))

    # atoms

    def atom(self, c: list[Any]) -> tree.Atom:
        args = c[2:-1:2]
        places = [i for i, arg in enumerate(args) if isinstance(arg, _Location)]
        for extra in places[1:]:
            self.report.error(
                "TL0121", "an atom has one location", args[extra].span,
                help="a fact is stored at one node; leave out this `@`",
            )  # fmt: skip
        terms = tuple(arg.term if isinstance(arg, _Location) else arg for arg in args)
        return self._atom(c, terms, places[0] if places else None)

    def located(self, c: list[Any]) -> tree.Atom:
        return self._atom(c, (c[2],), 0)

    def proposition(self, c: list[Any]) -> tree.Atom:
        return self._atom(c, (), None)

    def _atom(self, c: list[Any], args: tuple[tree.Term, ...], at: int | None) -> tree.Atom:
        return tree.Atom(str(c[0]), args, at, span=self.span(c), name_span=self.span(c[:1]))

    def location(self, c: list[Any]) -> _Location:
        return _Location(c[1], self.span(c))

    def aggregate(self, c: list[Any]) -> tree.HeadAggregate:
        op = str(c[0]).removeprefix("a_").lower()
        op = "mean" if op == "avg" else op
        if op not in AGGREGATES:
            known = ", ".join(f"`{a}`" for a in AGGREGATES)
            self.report.error("TL0122", f"unknown aggregate `{c[0]}`", self.span(c[:1]), help=f"there are {known}")
        elif c[2] == "*" and op != "count":
            self.report.error(
                "TL0122", f"`{c[0]}` needs a variable to aggregate", self.span(c), help=f"write `{c[0]}<X>`"
            )
        return tree.HeadAggregate(op, str(c[2]), span=self.span(c))

    # updates

    def updates(self, c: list[Any]) -> list[SignedAtom]:
        return [u for u in c if isinstance(u, tuple)]

    def update(self, c: list[Any]) -> SignedAtom:
        for node in c[1].walk():
            if isinstance(node, (tree.Variable, tree.Wildcard, tree.Functor, tree.HeadAggregate)):
                self.report.error(
                    "TL0124", f"an update is about a fact, which holds constants only, not {_KIND[type(node)]}",
                    node.span, help="constants start with a lower-case letter or are quoted",
                )  # fmt: skip
        return str(c[0]), c[1]

    # terms

    def binary(self, c: list[Any]) -> tree.Functor:
        return tree.Functor(str(c[1]), (c[0], c[2]), span=self.span(c))

    def negate(self, c: list[Any]) -> tree.Term:
        constant = c[1]
        if isinstance(constant, (tree.Number, tree.Float)) and not str(constant.value).startswith("-"):
            return type(constant)(-constant.value, span=self.span(c))  # type: ignore[arg-type]
        return tree.Functor("neg", (constant,), span=self.span(c))

    def variable(self, c: list[Any]) -> tree.Variable:
        return tree.Variable(str(c[0]), span=self.span(c))

    def wildcard(self, c: list[Any]) -> tree.Wildcard:
        return tree.Wildcard(span=self.span(c))

    def symbol(self, c: list[Any]) -> tree.String:
        return tree.String(str(c[0]), span=self.span(c))

    def number(self, c: list[Any]) -> tree.Number:
        return tree.Number(self._integer(c[0]), span=self.span(c))

    def float(self, c: list[Any]) -> tree.Float:
        value = float(c[0])
        if isinf(value):
            self.report.error("TL0120", "the number is too large for a float", self.span(c))
        return tree.Float(value, span=self.span(c))

    def string(self, c: list[Any]) -> tree.String:
        return tree.String(unescape(c[0], self.source, self.report), span=self.span(c))

    def sequence(self, c: list[Any]) -> tree.Record:
        return tree.Record(tuple(c[1:-1:2]), span=self.span(c))

    def parenthesis(self, c: list[Any]) -> tree.Term:
        return c[1]  # type: ignore[no-any-return]

    def call(self, c: list[Any]) -> tree.Functor:
        return tree.Functor(str(c[0]), tuple(c[2:-1:2]), span=self.span(c))

    def _integer(self, token: Token) -> int:
        digits = str(token)
        value = int(digits, 16 if digits.startswith("0x") else 10) if len(digits) <= 40 else 1 << 64
        if value >= 1 << 64:
            self.report.error("TL0120", "the number does not fit in 64 bits", self.span([token]))
        return value


_KIND = {
    tree.Variable: "a variable", tree.Wildcard: "`_`", tree.Functor: "a computation",
    tree.HeadAggregate: "an aggregate",
}  # fmt: skip
