"""The Soufflé dialect (`.dl`): text to tree."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from lark import Token

from tidelog.errors import Report, Source, Span
from tidelog.lang import tree
from tidelog.lang.depth import DEEPEST, shallow
from tidelog.lang.escapes import unescape
from tidelog.lang.fast_parser import FastParser
from tidelog.lang.parsing import TreeBuilder, blank_comments, load_grammar, parse_items


def parse(text: str, name: str = "<text>") -> tree.Program:
    """The program that the text says; includes and macros must have been expanded (see preprocess)."""
    return parse_source(Source(name, text))


def parse_source(source: Source) -> tree.Program:
    report = Report()
    program = parse_into(source, report)
    report.check()
    return program


def parse_into(source: Source, report: Report) -> tree.Program:
    """The program as far as it can be read; problems go to the report."""
    parser, builder = _parser()
    report.incomplete = report.incomplete or bool(report.errors)  # of the preprocessor: something is not there
    text = _blank_annotations(blank_comments(source, report))
    items = _flatten(parse_items(parser.parse, builder, source, text, report, _next_clause))
    return tree.Program(tuple(shallow(items, report)))


def parse_query(source: Source) -> tree.Literal:
    """The body that a query says: literals as in a rule, with or without a dot behind them."""
    report = Report()
    parser, builder = _parser("query")
    found = parse_items(parser.parse, builder, source, blank_comments(source, report), report, _give_up)
    found = shallow(found, report)
    report.check()
    return found[0]  # type: ignore[no-any-return]


@cache
def _parser(start: str = "start") -> tuple[FastParser, SouffleBuilder]:
    builder = SouffleBuilder()
    return FastParser(load_grammar("souffle", builder, start=start), start), builder


def _give_up(text: str, offset: int) -> int:
    """After a syntax error in a single query there is nothing more to find."""
    return len(text)


_CLAUSE_START = re.compile(r"\.\s*\n\s*(?=[A-Za-z_?.])|\n(?=\.[a-z])")


def _next_clause(text: str, offset: int) -> int:
    """After a syntax error at `offset`: where a clause or directive seems to begin."""
    found = _CLAUSE_START.search(text, offset)
    return found.end() if found else len(text)


_ANNOTATION = re.compile(r'"(?:\\.|[^"\\]++)*+"|//[^\n]*|@!?\[')

_BRACKET = re.compile(r'"(?:\\.|[^"\\]++)*+"|[\[\](){}]')


def _blank_annotations(text: str) -> str:
    """`@[...]` and `@![...]` turned to spaces: they say nothing that we use."""
    if "@[" not in text and "@![" not in text:
        return text
    pieces, position = [], 0
    while found := _ANNOTATION.search(text, position):
        pieces.append(text[position : found.start()])
        position = found.end()
        if found[0][0] != "@":
            pieces.append(found[0])
            continue
        depth = 1
        for bracket in _BRACKET.finditer(text, position):
            depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(bracket[0], 0)
            if depth == 0:
                position = bracket.end()
                break
        if depth:  # never closed: a syntax error, which the parser reports
            return text
        pieces.append(re.sub(r"[^\n]", " ", text[found.start() : position]))
    return "".join(pieces) + text[position:]


def _flatten(items: list[Any]) -> list[Any]:
    """One declaration of several relations gives several items."""
    return [i for item in items for i in (item if isinstance(item, list) else (item,))]


def _names(children: list[Any]) -> list[Token]:
    return [c for c in children if isinstance(c, Token) and c.type in ("IDENT", "MATH")]


def _nodes(children: list[Any]) -> tuple[Any, ...]:
    return tuple(c for c in children if isinstance(c, tree.SyntaxNode))


_LEVELS = (
    ("lor",), ("lxor",), ("land",), ("bor",), ("bxor",), ("band",), ("bshl", "bshr", "bshru"), ("+", "-"),
    ("*", "/", "%"), (), ("^", "**"),
)  # fmt: skip
_BINDING = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_UNARY = _LEVELS.index(())
"""Operators from loose to tight; the empty level is that of the prefixes. Only `^` groups to the right."""


class Name(str):
    """A qualified name that remembers its place."""

    span: Span


class SouffleBuilder(TreeBuilder):
    """One method per grammar rule; `c` are the rule's children, punctuation included."""

    def start(self, c: list[Any]) -> list[Any]:
        return [item for item in c if item is not None]

    def query(self, c: list[Any]) -> list[tree.Literal]:
        return c[:1]

    def qualified_name(self, c: list[Any]) -> Name:
        name = Name("".join(c))
        name.span = self.span(c)
        return name

    # types

    def subset_type(self, c: list[Any]) -> tree.SubsetDefinition:
        return tree.SubsetDefinition(str(c[1]), str(c[3]), span=self.span(c))

    def union_type(self, c: list[Any]) -> tree.UnionDefinition:
        return tree.UnionDefinition(str(c[1]), tuple(str(m) for m in c[3::2]), span=self.span(c))

    def record_type(self, c: list[Any]) -> tree.RecordDefinition:
        return tree.RecordDefinition(str(c[1]), c[4] if len(c) == 6 else (), span=self.span(c))

    def algebraic_type(self, c: list[Any]) -> tree.AlgebraicType:
        return tree.AlgebraicType(str(c[1]), _nodes(c), span=self.span(c))

    def symbol_type(self, c: list[Any]) -> tree.SubsetDefinition:
        return self._old_type(c, "symbol")

    def number_type(self, c: list[Any]) -> tree.SubsetDefinition:
        return self._old_type(c, "number")

    def _old_type(self, c: list[Any], base: str) -> tree.SubsetDefinition:
        self.report.warn("TL0105", "deprecated type declaration", self.span(c), help=f"write `.type {c[1]} <: {base}`")
        return tree.SubsetDefinition(str(c[1]), base, span=self.span(c))

    def branch(self, c: list[Any]) -> tree.BranchDecl:
        return tree.BranchDecl(str(c[0]), c[2] if len(c) == 4 else (), span=self.span(c))

    def attributes(self, c: list[Any]) -> tuple[tree.Attribute, ...]:
        return _nodes(c)

    def attribute(self, c: list[Any]) -> tree.Attribute:
        return tree.Attribute(str(c[0]), str(c[2]), len(c) > 3, span=self.span(c))

    def lattice_decl(self, c: list[Any]) -> tree.LatticeDecl:
        operators = tuple(o for o in c if isinstance(o, tuple))
        return tree.LatticeDecl(str(c[1]), operators, span=self.span(c))

    def lattice_operator(self, c: list[Any]) -> tuple[str, tree.Term]:
        if str(c[0]) not in ("Bottom", "Top", "Lub", "Glb", "Leq"):
            self.report.error("TL0106", f"unknown lattice operator `{c[0]}`", self.span(c[:1]),
                              help="a lattice has Bottom, Top, Lub, Glb and Leq")  # fmt: skip
        return str(c[0]), c[2]

    # relations

    def relation_names(self, c: list[Any]) -> list[Token]:
        return _names(c)

    def qualifier(self, c: list[Any]) -> Token:
        return c[0]  # type: ignore[no-any-return]

    def relation_decl(self, c: list[Any]) -> list[tree.RelationDecl]:
        attributes = c[3] if isinstance(c[3], tuple) else ()
        after = c[4:] if c[3] == ")" else c[5:]
        keys = after.pop() if after and isinstance(after[-1], tuple) else ()
        choice = tuple(tuple(map(str, key)) for key in keys)
        qualifiers = self._qualifiers(after)
        whole = self.span(c)
        return [
            tree.RelationDecl(str(n), attributes, qualifiers, choice, span=whole if len(c[1]) == 1 else self.span([n]))
            for n in c[1]
        ]

    def debug_delta(self, c: list[Any]) -> tree.RelationDecl:
        return tree.RelationDecl(str(c[1]), (), self._qualifiers(c[7:]), delta_of=str(c[5]), span=self.span(c))

    def _qualifiers(self, tokens: list[Token]) -> tuple[str, ...]:
        seen: list[str] = []
        for token in tokens:
            name, span = token.strip(), self.span([token])
            clash = [s for s in seen if s == name or {s, name} <= set(tree.REPRESENTATIONS)]
            if clash:
                self.report.error("TL0107", f"`{name}` cannot follow `{clash[0]}`", span,
                                  help="a relation has one representation, and each qualifier once")  # fmt: skip
            if name in ("input", "output", "printsize"):
                self.report.warn("TL0105", f"deprecated qualifier `{name}`", span, help=f"write `.{name}` instead")
            seen.append(name)
        return tuple(seen)

    def choice_domain(self, c: list[Any]) -> tuple[list[Token], ...]:
        return tuple(d for d in c if isinstance(d, list))

    def dependency(self, c: list[Any]) -> list[Token]:
        return _names(c)

    def functor_decl(self, c: list[Any]) -> tree.FunctorDecl:
        stateful = str(c[-1]) == "stateful" and isinstance(c[-1], Token)
        result = c[-2] if stateful else c[-1]
        return tree.FunctorDecl(str(c[1]), _nodes(c), str(result), stateful, span=self.span(c))

    def functor_param(self, c: list[Any]) -> tree.Attribute:
        name = str(c[0]) if len(c) == 3 else ""
        return tree.Attribute(name, str(c[-1]), span=self.span(c))

    def directive_relations(self, c: list[Any]) -> list[Name]:
        return [n for n in c if isinstance(n, Name)]

    def parameters(self, c: list[Any]) -> tuple[tuple[str, str], ...]:
        return tuple(p for p in c if isinstance(p, tuple))

    def parameter(self, c: list[Any]) -> tuple[str, str]:
        value = c[2]
        return str(c[0]), unescape(value, self.source, self.report) if value.type == "STRING" else str(value)

    def directive(self, c: list[Any]) -> list[tree.Directive]:
        parameters = c[3] if len(c) > 3 and isinstance(c[3], tuple) else ()
        return [tree.Directive(str(c[0])[1:], str(n), parameters, span=n.span) for n in c[1]]

    def pragma(self, c: list[Any]) -> tree.Pragma:
        texts = [unescape(t, self.source, self.report) for t in c[1:]]
        return tree.Pragma(*texts, span=self.span(c))

    def include(self, c: list[Any]) -> None:
        self.report.error("TL0108", f"`{c[0]}` where no file can be included", self.span(c),
                          help="write the name of the file in double quotes, on the same line")  # fmt: skip

    # components

    def component(self, c: list[Any]) -> tree.Component:
        types = [n for n in c if isinstance(n, tree.ComponentType)]
        body = c[c.index("{") + 1 : -1]
        return tree.Component(types[0], tuple(types[1:]), tuple(_flatten(body)), span=self.span(c))

    def component_type(self, c: list[Any]) -> tree.ComponentType:
        return tree.ComponentType(str(c[0]), tuple(str(p) for p in c[2:-1:2]), span=self.span(c))

    def component_init(self, c: list[Any]) -> tree.ComponentInit:
        return tree.ComponentInit(str(c[1]), c[3], span=self.span(c))

    def override(self, c: list[Any]) -> tree.Override:
        return tree.Override(str(c[1]), span=self.span(c))

    # clauses

    def fact(self, c: list[Any]) -> tree.Rule:
        return tree.Rule((c[0],), span=self.span(c))

    def head(self, c: list[Any]) -> tuple[tree.Atom, ...]:
        return tuple(c[::2])

    def rule(self, c: list[Any]) -> tree.Rule:
        plan = c[4] if len(c) > 4 else None
        return tree.Rule(c[0], c[2], plan, span=self.span(c[:4]))

    def subsumption(self, c: list[Any]) -> tree.Subsumption:
        plan = c[6] if len(c) > 6 else None
        return tree.Subsumption(c[0], c[2], c[4], plan, span=self.span(c[:6]))

    def plan(self, c: list[Any]) -> tree.ExecutionPlan:
        return tree.ExecutionPlan(tuple(c[1::2]), span=self.span(c[:1]))

    def plan_order(self, c: list[Any]) -> tuple[int, tuple[int, ...]]:
        return _integer(c[0]), tuple(_integer(n) for n in c[3:-1:2])

    def disjunction(self, c: list[Any]) -> tree.Literal:
        return tree.Disjunction(tuple(c[::2]), span=self.span(c))

    def conjunction(self, c: list[Any]) -> tree.Literal:
        return tree.Conjunction(tuple(c[::2]), span=self.span(c))

    def group(self, c: list[Any]) -> tree.Literal:
        return c[1]  # type: ignore[no-any-return]

    def negation(self, c: list[Any]) -> tree.Negation:
        return tree.Negation(c[1], span=self.span(c))

    def atom(self, c: list[Any]) -> tree.Atom:
        return tree.Atom(str(c[0]), c[2], span=self.span(c), name_span=c[0].span)

    def math_name(self, c: list[Any]) -> Name:
        return self.qualified_name(c)

    def math_atom(self, c: list[Any]) -> tree.Atom:
        return self.atom([self.math_name(c[:1]), *c[1:]])

    def comparison(self, c: list[Any]) -> tree.Comparison:
        return tree.Comparison(str(c[1]), c[0], c[2], span=self.span(c))

    def prefix_comparison(self, c: list[Any]) -> tree.Comparison:
        return tree.Comparison(str(c[0]), c[2], c[4], span=self.span(c))

    def boolean(self, c: list[Any]) -> tree.Boolean:
        return tree.Boolean(str(c[0]) == "true", span=self.span(c))

    def args(self, c: list[Any]) -> tuple[tree.Term, ...]:
        return tuple(c[::2])

    # arguments

    def prefix_op(self, c: list[Any]) -> Token:
        return c[0]  # type: ignore[no-any-return]

    binary_op = prefix_op

    def prefixed(self, c: list[Any]) -> list[Any]:
        """A prefix binds looser than `^`, so what follows it waits until the whole operation is known."""
        return [c[0], *(c[1] if isinstance(c[1], list) else (c[1],))]

    def operation(self, c: list[Any]) -> tree.Term:
        pieces = [piece for part in c for piece in (part if isinstance(part, list) else (part,))]
        if len(pieces) > 2 * DEEPEST:
            self.report.error("TL0103", f"more than {DEEPEST} operations in a row", self.span(c),
                              help="split this expression")  # fmt: skip
            return tree.Wildcard(span=self.span(c))
        return self._climb(pieces[::-1], 0)

    def _climb(self, pieces: list[Any], loosest: int) -> tree.Term:
        """Precedence climbing: the longest operation at the end of `pieces` whose operators bind this tight."""
        piece = pieces.pop()
        left = self._prefix(piece, self._climb(pieces, _UNARY)) if isinstance(piece, Token) else piece
        while pieces and _BINDING[str(pieces[-1])] >= loosest:
            op = "^" if pieces[-1] == "**" else str(pieces[-1])
            pieces.pop()
            right = self._climb(pieces, _UNARY if op == "^" else _BINDING[op] + 1)
            left = tree.Functor(op, (left, right), span=self.span([left, right]))
        return left

    def _prefix(self, op: Token, operand: tree.Term) -> tree.Term:
        span = self.span([op, operand])
        if op != "-":
            return tree.Functor(str(op), (operand,), span=span)
        if isinstance(operand, (tree.Number, tree.Float, tree.Unsigned)) and not str(operand.value).startswith("-"):
            return type(operand)(-operand.value, span=span)  # type: ignore[arg-type]
        return tree.Functor("neg", (operand,), span=span)

    def string(self, c: list[Any]) -> tree.String:
        return tree.String(unescape(c[0], self.source, self.report), span=self.span(c))

    def float(self, c: list[Any]) -> tree.Float:
        return tree.Float(float(c[0]), span=self.span(c))

    def unsigned(self, c: list[Any]) -> tree.Unsigned:
        return tree.Unsigned(_integer(c[0][:-1]), span=self.span(c))

    def number(self, c: list[Any]) -> tree.Number:
        return tree.Number(_integer(c[0]), span=self.span(c))

    def ip(self, c: list[Any]) -> tree.Number:
        parts = [_integer(p) for p in c[0].split(".")]
        if max(parts) > 255:
            self.report.error("TL0111", f"`{c[0]}` is not an IP address", self.span(c),
                              help="each of the four parts is at most 255")  # fmt: skip
        value = 0
        for part in parts:
            value = value << 8 | part
        return tree.Number(value, span=self.span(c))

    def wildcard(self, c: list[Any]) -> tree.Wildcard:
        return tree.Wildcard(span=self.span(c))

    def counter(self, c: list[Any]) -> tree.Counter:
        return tree.Counter(span=self.span(c))

    def iteration(self, c: list[Any]) -> tree.Iteration:
        return tree.Iteration(span=self.span(c))

    def file_name(self, c: list[Any]) -> tree.String:
        line, _ = self.source.line_column(c[0].start_pos)
        return tree.String(self.source.origin(line)[0], span=self.span(c))

    def line_number(self, c: list[Any]) -> tree.Number:
        line, _ = self.source.line_column(c[0].start_pos)
        return tree.Number(self.source.origin(line)[1], span=self.span(c))

    def include_stack(self, c: list[Any]) -> tree.String:
        line, _ = self.source.line_column(c[0].start_pos)
        name, number = self.source.origin(line)
        stack = "" if name == self.source.name else f"{name}:{number}"
        return tree.String(stack, span=self.span(c))

    def variable(self, c: list[Any]) -> tree.Variable:
        return tree.Variable(str(c[0]), span=self.span(c))

    def nil(self, c: list[Any]) -> tree.Nil:
        return tree.Nil(span=self.span(c))

    def record(self, c: list[Any]) -> tree.Record:
        return tree.Record(c[1], span=self.span(c))

    def adt(self, c: list[Any]) -> tree.Branch:
        return tree.Branch(str(c[1]), c[3] if len(c) > 2 else (), span=self.span([c[0], c[-1]]))

    def parenthesis(self, c: list[Any]) -> tree.Term:
        return c[1]  # type: ignore[no-any-return]

    def cast(self, c: list[Any]) -> tree.Cast:
        return tree.Cast(c[2], str(c[4]), span=self.span(c))

    def user_functor(self, c: list[Any]) -> tree.UserFunctor:
        return tree.UserFunctor(str(c[1]), c[3], span=self.span(c))

    def functor(self, c: list[Any]) -> Token:
        return c[0]  # type: ignore[no-any-return]

    aggregate_op = functor

    def call(self, c: list[Any]) -> tree.Functor:
        args = c[2] if isinstance(c[2], tuple) else tuple(c[2:-1:2])
        if c[0] in ("count", "mean", "sum"):
            self.report.error("TL0112", f"`{c[0]}` is an aggregate, not a functor", self.span(c),
                              help=f"write `{c[0]} x : {{ ... }}`")  # fmt: skip
        return tree.Functor(str(c[0]), args, span=self.span(c))

    def aggregate_body(self, c: list[Any]) -> list[Any]:
        return c  # with its braces: the aggregate ends at the closing one

    def aggregate(self, c: list[Any]) -> tree.Aggregate:
        op, targets = str(c[0]), c[1]
        wanted = 0 if op == "count" else 1
        if len(targets) != wanted:
            what = "no expression" if wanted == 0 else "exactly one expression"
            self.report.error("TL0113", f"`{op}` takes {what} before the colon", self.span(c[:1]),
                              help="count : { ... }" if wanted == 0 else f"{op} x : {{ ... }}")  # fmt: skip
        body = c[3][len(c[3]) // 2]
        return tree.Aggregate(op, targets[0] if targets and wanted else None, body, span=self.span(c))

    def user_aggregate(self, c: list[Any]) -> tree.UserAggregate:
        target = c[3][0] if c[3] else None
        return tree.UserAggregate(str(c[2]), target, c[5], c[7][len(c[7]) // 2], span=self.span(c))


def _integer(text: str) -> int:
    """Decimal, 0x or 0b; a leading zero is decimal. Absurdly long ones are cut: out of range either way."""
    base = {"0x": 16, "0b": 2}.get(text[:2], 10)
    digits = (text if base == 10 else text[2:]).lstrip("0")
    return int(digits[:100] or "0", base)
