"""The triple rules: the tree of every construct, LUBM's rules, errors, round trips, robustness."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.errors import TidelogError
from tidelog.lang import rules, tree
from tidelog.lang.parsing import deep_recursion
from tidelog.lang.rules import BARE_NUMBERS, RDF_TYPE, XSD
from tidelog.lang.rules_printer import print_program
from tidelog.lang.tree import (
    AggregateBinding,
    Atom,
    Comparison,
    Conjunction,
    Disjunction,
    Existential,
    Functor,
    GroupedAggregate,
    Iri,
    Negation,
    Prefix,
    RdfLiteral,
    Rule,
    String,
    Variable,
)

CORPUS = Path(__file__).parents[1] / "corpus"
ACCEPTED = sorted((CORPUS / "rules").glob("*.rules"))
REJECTED = sorted((CORPUS / "reject").glob("rules_*.rules"))
LUBM = Path(os.environ.get("TIDELOG_DATA", "../shared/data")) / "lubm" / "lubm_L.rules"

HEADER = "@prefix : <http://e.org/#> .\n"
A = Iri(RDF_TYPE)
TRUE = RdfLiteral("true", XSD + "boolean")
x, y, z, n = map(Variable, "xyzn")


def e(name: str) -> Iri:
    return Iri("http://e.org/#" + name)


def integer(text: str) -> RdfLiteral:
    return RdfLiteral(text, XSD + "integer")


def triple(*args: tree.Term) -> Atom:
    return Atom("triple", args)


def rule(text: str) -> Rule:
    prefix, item = rules.parse(HEADER + text).items
    assert prefix == Prefix("", "http://e.org/#")
    assert isinstance(item, Rule)
    return item


def literal(text: str) -> tree.Literal | None:
    return rule(f":h(?x) :- {text} .").body


def errors_of(text: str) -> str:
    with pytest.raises(TidelogError) as caught:
        rules.parse(text, "p.rules")
    return str(caught.value)


# ---- trees


def test_a_triple_is_an_atom_of_one_relation() -> None:
    assert rule("[?x, :p, ?y] :- [?x, :q, ?z], [?z, a, <http://e.org/#Person>] .") == Rule(
        (triple(x, e("p"), y),), Conjunction((triple(x, e("q"), z), triple(z, A, e("Person"))))
    )


def test_an_atom_with_parentheses_is_of_a_relation_named_by_its_iri() -> None:
    assert rule(":p(?x,?y) :- :C(?x), <http://o.org/q>(?y) .") == Rule(
        (Atom("http://e.org/#p", (x, y)),), Conjunction((Atom("http://e.org/#C", (x,)), Atom("http://o.org/q", (y,))))
    )


def test_an_atom_with_brackets_is_short_for_a_triple() -> None:
    assert rule(":C[?x], :p[?x, 5] :- :q[?y, ?x] .") == rule("[?x, a, :C], [?x, :p, 5] :- [?y, :q, ?x] .")


def test_a_rule_may_have_several_heads_or_no_body() -> None:
    assert rule("[?x, a, :C], :p(?x) :- :q(?x) .").heads == (triple(x, A, e("C")), Atom("http://e.org/#p", (x,)))
    assert rule("[:a, :p, :b] .") == rule("[:a, :p, :b] :- .") == Rule((triple(e("a"), e("p"), e("b")),))


def test_prefixes_are_expanded_from_where_they_are_declared() -> None:
    program = rules.parse(
        "PREFIX p: <http://a/>\np:r(p:x) .\n@prefix p: <http://b/> .\np:r(p:x) .\nprefix q: <http://c/> . q:r(q:) ."
    )
    assert program.dialect == "rules"
    assert program.items == (
        Prefix("p", "http://a/"), Rule((Atom("http://a/r", (Iri("http://a/x"),)),)),
        Prefix("p", "http://b/"), Rule((Atom("http://b/r", (Iri("http://b/x"),)),)),
        Prefix("q", "http://c/"), Rule((Atom("http://c/r", (Iri("http://c/"),)),)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"x"', String("x")),
        ('"x"^^xsd:string', String("x")),
        ('"a\\"\\n\\u00e9\\U0001F600\\\\u"', String('a"\né😀\\u')),
        ('"x"@en', RdfLiteral("x", None, "en")),
        ('"x"@de-CH', RdfLiteral("x", None, "de-ch")),
        ('"x"^^:t', RdfLiteral("x", "http://e.org/#t")),
        ("42", integer("42")),
        ('"42"^^xsd:integer', integer("42")),
        ("-42", integer("-42")),
        ("1.50", RdfLiteral("1.50", XSD + "decimal")),
        ("-1e-3", RdfLiteral("-1e-3", XSD + "double")),
        ("true", TRUE),
        ("false", RdfLiteral("false", XSD + "boolean")),
        (":a.b-c:d", e("a.b-c:d")),
        (":a\\,b%20", e("a,b%20")),
    ],
)
def test_a_constant_is_its_rdf_term(text: str, expected: tree.Term) -> None:
    assert rule(f"[:a, :p, {text}] .").heads[0].args[2] == expected


def test_negation_of_atoms_and_groups() -> None:
    p, q = triple(x, e("p"), y), triple(y, e("q"), x)
    assert literal("NOT [?x, :p, ?y]") == literal("not ([?x, :p, ?y])") == Negation(p)
    assert literal("NOT ([?x, :p, ?y], [?y, :q, ?x])") == Negation(Conjunction((p, q)))
    assert literal("NOT EXISTS ?y IN [?x, :p, ?y]") == Negation(Existential(("y",), p))
    assert literal("NOT EXISTS ?y, ?z IN ([?x, :p, ?y], [?y, :q, ?x])") == Negation(
        Existential(("y", "z"), Conjunction((p, q)))
    )


def test_a_filter_is_a_condition_of_the_body() -> None:
    less, more = Comparison("<", x, y), Comparison(">", z, integer("-3"))
    assert literal("FILTER(?x < ?y)") == less
    assert literal("FILTER(?x<?y&&?z>-3)") == literal("FILTER(?x < ?y), FILTER(?z > -3)") == Conjunction((less, more))
    assert literal("FILTER(?x < ?y || ?z > -3 && true)") == Disjunction((less, Conjunction((more, tree.Boolean(True)))))
    assert literal("FILTER(!(?x < ?y))") == Negation(less)
    assert literal('FILTER(regex(?x, "a"))') == Comparison("=", Functor("REGEX", (x, String("a"))), TRUE)
    assert literal("FILTER(?x = true)") == Comparison("=", x, TRUE)


def test_bind_is_an_equality() -> None:
    value = Functor("*", (integer("2"), Functor("+", (x, Functor("-", (y, integer("1")))))))
    assert literal("BIND(2 * (?x + (?y - 1)) AS ?z)") == Comparison("=", z, value)
    assert literal("BIND(xsd:integer(?x) AS ?z)") == Comparison("=", z, Functor(XSD + "integer", (x,)))
    assert literal("BIND(-?x AS ?z)") == Comparison("=", z, Functor("neg", (x,)))


def test_an_aggregate_has_its_body_groups_and_results() -> None:
    body = triple(x, e("p"), y)
    assert literal("AGGREGATE([?x, :p, ?y] ON ?x BIND COUNT(?y) AS ?n)") == GroupedAggregate(
        body, ("x",), (AggregateBinding("count", y, "n"),)
    )
    assert literal(
        "aggregate([?x, :p, ?y], FILTER(?y > 0) on ?x ?z bind count(*) as ?n bind avg(distinct ?y + 1) as ?m)"
    ) == GroupedAggregate(
        Conjunction((body, Comparison(">", y, integer("0")))),
        ("x", "z"),
        (
            AggregateBinding("count", None, "n"),
            AggregateBinding("mean_distinct", Functor("+", (y, integer("1"))), "m"),
        ),
    )


def test_spans_point_at_what_was_written() -> None:
    text = HEADER + "[?x, a, :C] :- :p(?x), FILTER(?x != 5) ."
    found = rules.parse(text).rules[0]
    assert isinstance(found.body, Conjunction)
    atom, comparison = found.body.parts
    assert isinstance(atom, Atom)
    assert isinstance(comparison, Comparison)
    nodes = (found, found.heads[0], found.heads[0].args[1], atom, comparison, comparison.right)
    assert [text[k.span.start : k.span.end] for k in nodes if k.span] == [
        "[?x, a, :C] :- :p(?x), FILTER(?x != 5) .", "[?x, a, :C]", "a", ":p(?x)", "?x != 5", "5",
    ]  # fmt: skip
    assert atom.name_span
    assert text[atom.name_span.start : atom.name_span.end] == ":p"


# ---- corpus and errors


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda p: p.stem)
def test_an_accepted_program_survives_printing(path: Path) -> None:
    program = rules.parse(path.read_text(encoding="utf-8"), path.name)
    assert program.rules
    assert rules.parse(print_program(program)) == program


@pytest.mark.parametrize("path", REJECTED, ids=lambda p: p.stem)
def test_a_rejected_program_gives_its_error_text(path: Path) -> None:
    with pytest.raises(TidelogError) as caught:
        rules.parse(path.read_text(encoding="utf-8"), path.name)
    assert str(caught.value) + "\n" == path.with_suffix(".err").read_text(encoding="utf-8")


def test_the_corpus_is_there() -> None:
    assert len(ACCEPTED) >= 10
    assert len(REJECTED) >= 10


@pytest.mark.skipif(not LUBM.exists(), reason="the shared workloads are not here")
def test_the_rules_of_lubm_are_98_and_survive_printing() -> None:
    program = rules.parse(LUBM.read_text(encoding="utf-8"), LUBM.name)
    assert len(program.rules) == 98
    assert rules.parse(print_program(program)) == program


def test_the_printer_shortens_with_the_prefixes_of_the_program() -> None:
    text = HEADER + "[?x, a, :C] :- [?x, rdfs:label, <http://o.org/x>], FILTER(?x != 5 || !(?x = :a)) .\n"
    assert print_program(rules.parse(text)) == text


def test_an_unknown_prefix_is_shown_once_with_its_place() -> None:
    assert errors_of("[?x, a, foaf:Person] :-\n  [?x, foaf:name, ?n] .") == (
        "error[TL0131]: unknown prefix `foaf:`\n  --> p.rules:1:9\n1 | [?x, a, foaf:Person] :-\n  |         ^^^^^\n"
        "  help: declare it above: `@prefix foaf: <…> .`"
    )


def test_parsing_goes_on_behind_a_syntax_error() -> None:
    text = errors_of(HEADER + "[?x, a] .\n[?x, a, :C] :- :p(?x) .\n[5, a, :C] .\n:p(?x :- .\n")
    assert [line.strip() for line in text.splitlines() if "-->" in line] == [
        "--> p.rules:2:7",
        "--> p.rules:4:2",
        "--> p.rules:5:7",
    ]


@pytest.mark.parametrize(
    "text",
    [
        ":p(?x) :- FILTER(" + "(" * 50_000 + "?x" + ")" * 50_000 + ") .",
        ":p(?x) :- FILTER(" + "!" * 5_000 + "?x) .",
        ":p(?x) :- FILTER(?x" + " || ?x" * 5_000 + ") .",
        ":p(?x) :- FILTER(?x" + " && (?x || ?x" * 5_000 + ")" * 5_001 + " .",
        ":p(?x) :- BIND(1" + " + 1" * 5_000 + " AS ?x) .",
        ":p(?x) :- BIND(" + "-" * 5_000 + "?x AS ?y) .",
        ":p(?x) :- " + "NOT (" * 5_000 + ":q(?x)" + ")" * 5_000 + " .",
        ":p(?x) :- " + "AGGREGATE(" * 3_000 + ":q(?x)" + " BIND COUNT(*) AS ?n)" * 3_000 + " .",
        ":p(?x) :- AGGREGATE(:q(?x) BIND SUM(" + "-" * 5_000 + "?x) AS ?n) .",
        ":p(?x) :- FILTER(" + "(" * 50_000,
        "[" * 50_000,
        '"' * 50_001,
        ":" + "." * 50_000,
        "a" * 50_000,
        ":p(" + "9" * 50_000 + ") .",
    ],
    ids=lambda t: t[:24],
)
def test_deep_or_long_inputs_parse_or_are_refused(text: str) -> None:
    try:
        program = rules.parse(HEADER + text)
    except TidelogError as problem:
        str(problem)  # and it can be shown
    else:
        assert rules.parse(print_program(program)) == program


def test_the_deepest_program_can_be_printed() -> None:
    program = rules.parse(HEADER + ":p(?x) :- " + "NOT (" * 190 + "NOT :q(?x), :r(?x)" + ")" * 190 + " .")
    with deep_recursion():
        assert rules.parse(print_program(program)) == program


# ---- properties

variable_names = st.from_regex(r"[A-Za-z0-9_]{1,4}", fullmatch=True)
variables = variable_names.map(Variable)
iris = st.one_of(
    st.from_regex(r"http://[a-c]\.org/[#/]?[a-z0-9.,%/-]{0,5}", fullmatch=True),
    st.sampled_from([RDF_TYPE, XSD + "integer", "urn:x", "mailto:me@e.org"]),
)
datatypes = iris.filter(lambda i: i != XSD + "string")
resources = iris.map(Iri)
languages = st.from_regex(r"[a-z]{1,3}(-[a-z0-9]{1,3})?", fullmatch=True)
literals = st.one_of(
    st.text(max_size=6).map(String),
    st.builds(RdfLiteral, st.text(max_size=6), datatypes),
    st.builds(RdfLiteral, st.text(max_size=6), st.none(), languages),
    st.integers().map(lambda i: integer(str(i))),
    st.decimals(allow_nan=False, allow_infinity=False).map(lambda d: RdfLiteral(str(d), XSD + "decimal")),
    st.floats(allow_nan=False).map(lambda f: RdfLiteral(repr(f), XSD + "double")),
    st.booleans().map(lambda b: RdfLiteral(str(b).lower(), XSD + "boolean")),
)
names = st.one_of(variables, resources)
terms = st.one_of(names, literals)
atoms = st.one_of(
    st.builds(triple, names, names, terms), st.builds(Atom, iris, st.lists(terms, min_size=1, max_size=3).map(tuple))
)


def is_not_folded(operand: tree.Term) -> bool:
    """A minus before a number without one is part of the number."""
    if not isinstance(operand, RdfLiteral) or operand.datatype not in BARE_NUMBERS:
        return True
    return operand.text.startswith("-") or not BARE_NUMBERS[operand.datatype].fullmatch(operand.text)


values = st.recursive(
    terms,
    lambda inner: st.one_of(
        st.builds(Functor, st.sampled_from("+-*/"), st.tuples(inner, inner)),
        st.builds(Functor, st.just("neg"), st.tuples(inner.filter(is_not_folded))),
        st.builds(Functor, st.one_of(st.from_regex(r"[A-Z][A-Z0-9_]{0,4}", fullmatch=True), iris),
                  st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=5,
)  # fmt: skip


def flat(kind: type[Conjunction] | type[Disjunction], parts: list[tree.Literal]) -> tree.Literal:
    """The parser takes a conjunction within a conjunction apart, and likewise a disjunction."""
    return kind(tuple(q for p in parts for q in (p.parts if isinstance(p, kind) else (p,))))


def conjunctions(inner: st.SearchStrategy[tree.Literal]) -> st.SearchStrategy[tree.Literal]:
    return st.lists(inner, min_size=2, max_size=3).map(lambda parts: flat(Conjunction, parts))


conditions = st.recursive(
    st.one_of(
        st.builds(Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), values, values),
        st.booleans().map(tree.Boolean),
    ),
    lambda inner: st.one_of(
        conjunctions(inner),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: flat(Disjunction, parts)),
        inner.map(Negation),
    ),
    max_leaves=5,
)
operators = st.sampled_from(["count", "sum", "min", "max", "mean", "count_distinct", "sum_distinct"])
bindings = st.one_of(
    st.builds(AggregateBinding, operators, values, variable_names),
    st.builds(AggregateBinding, st.just("count"), st.none(), variable_names),
)


def nested(inner: st.SearchStrategy[tree.Literal]) -> st.SearchStrategy[tree.Literal]:
    bodies = st.one_of(inner, conjunctions(inner))
    some_names = st.lists(variable_names, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        bodies.map(Negation),
        st.builds(Existential, some_names, bodies).map(Negation),
        st.builds(GroupedAggregate, bodies, st.lists(variable_names, max_size=2).map(tuple),
                  st.lists(bindings, min_size=1, max_size=2).map(tuple)),
    )  # fmt: skip


elements = st.recursive(st.one_of(atoms, conditions), nested, max_leaves=6)
clauses = st.builds(
    Rule,
    st.lists(atoms, min_size=1, max_size=2).map(tuple),
    st.one_of(st.none(), elements, conjunctions(elements)),
)
prefixes = st.builds(
    Prefix, st.from_regex(r"([a-z]([a-z0-9.-]{0,3}[a-z0-9])?)?", fullmatch=True),
    st.sampled_from(["http://a.org/", "http://a.org/#", "http://b.org/", "http://c.org/#a"]),
)  # fmt: skip
programs = st.lists(st.one_of(clauses, prefixes), max_size=4).map(lambda items: tree.Program(tuple(items), "rules"))


@settings(max_examples=500, deadline=None)
@given(programs)
def test_parsing_undoes_printing(program: tree.Program) -> None:
    assert rules.parse(print_program(program)) == program


CORPUS_TEXTS = [p.read_text(encoding="utf-8") for p in (*ACCEPTED, *REJECTED)]
PIECES = ["[", "]", "(", ")", "<", ">", ".", ",", ":-", ":", "?", "?x", "#", '"', "\\", "\\u", "!", "-", "@", "@en",
          "^^", "NOT ", "EXISTS ", "IN ", "FILTER(", "BIND(", "AGGREGATE(", "||", "1e9", "\n", "é",
          "\0", " a "]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A program of the corpus with a few pieces cut out, put in or moved."""
    text = draw(st.sampled_from(CORPUS_TEXTS))
    for _ in range(draw(st.integers(1, 6))):
        at, length = draw(st.integers(0, len(text))), draw(st.integers(0, 8))
        cut = text[at : at + length]
        there = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["cut", "insert", "copy"]))
        if kind == "cut":
            text = text[:at] + text[at + length :]
        else:
            text = text[:there] + (cut if kind == "copy" else draw(st.sampled_from(PIECES))) + text[there:]
    return text


@settings(max_examples=500, deadline=5000)
@given(st.one_of(mutated(), st.lists(st.sampled_from(PIECES)).map("".join), st.text()))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        rules.parse(text)
    except TidelogError as problem:
        str(problem)  # and it can be shown
