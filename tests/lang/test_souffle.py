"""The Soufflé dialect: every construct, what tree it gives, and where it says it stands."""

from __future__ import annotations

import pytest

from tidelog.analysis.check import check
from tidelog.errors import Report, Source, TidelogError
from tidelog.lang import tree as t
from tidelog.lang.load import parse_program
from tidelog.lang.souffle import parse, parse_into


def item(text: str) -> t.Item:
    (found,) = parse(text).items
    return found


def body(text: str) -> t.Literal | None:
    rule = item(f"p() :- {text}.")
    assert isinstance(rule, t.Rule)
    return rule.body


def term(text: str) -> t.Term:
    literal = body(f"x = {text}")
    assert isinstance(literal, t.Comparison)
    return literal.right


def v(name: str) -> t.Variable:
    return t.Variable(name)


def n(value: int) -> t.Number:
    return t.Number(value)


def a(name: str, *args: t.Term) -> t.Atom:
    return t.Atom(name, args)


def f(op: str, *args: t.Term) -> t.Functor:
    return t.Functor(op, args)


NUMBER = t.Attribute("x", "number")

DECLARATIONS: list[tuple[str, t.Item]] = [
    (".decl p()", t.RelationDecl("p", ())),
    (".decl p(x: number)", t.RelationDecl("p", (NUMBER,))),
    (".decl p(x: c.T, y: symbol) brie overridable", t.RelationDecl(
        "p", (t.Attribute("x", "c.T"), t.Attribute("y", "symbol")), ("brie", "overridable"))),
    (".decl p(x: number) inline", t.RelationDecl("p", (NUMBER,), ("inline",))),
    (".decl p(x: number) magic btree no_inline", t.RelationDecl("p", (NUMBER,), ("magic", "btree", "no_inline"))),
    (".decl p(x: number) replicate", t.RelationDecl("p", (NUMBER,), ("replicate",))),
    (".decl p(x: number, y: number) eqrel",
     t.RelationDecl("p", (NUMBER, t.Attribute("y", "number")), ("eqrel",))),
    (".decl p(x: number, y: number) choice-domain x, (x, y)", t.RelationDecl(
        "p", (NUMBER, t.Attribute("y", "number")), (), (("x",), ("x", "y")))),
    (".decl p(x: L<>)", t.RelationDecl("p", (t.Attribute("x", "L", True),))),
    (".decl d = debug_delta(p)", t.RelationDecl("d", (), delta_of="p")),
    (".type A <: number", t.SubsetDefinition("A", "number")),
    (".type A = B", t.UnionDefinition("A", ("B",))),
    (".type A = B | c.D", t.UnionDefinition("A", ("B", "c.D"))),
    (".type A = [x: number, y: A]", t.RecordDefinition("A", (NUMBER, t.Attribute("y", "A")))),
    (".type A = []", t.RecordDefinition("A", ())),
    (".type A = B {} | C {x: number}", t.AlgebraicType("A", (t.BranchDecl("B", ()), t.BranchDecl("C", (NUMBER,))))),
    (".functor f(number, x: number): symbol", t.FunctorDecl("f", (t.Attribute("", "number"), NUMBER), "symbol")),
    (".functor f(): symbol stateful", t.FunctorDecl("f", (), "symbol", True)),
    (".input p", t.Directive("input", "p")),
    ('.output c.p(IO=file, filename="a b", n=3, headers=true)', t.Directive(
        "output", "c.p", (("IO", "file"), ("filename", "a b"), ("n", "3"), ("headers", "true")))),
    (".printsize p", t.Directive("printsize", "p")),
    (".limitsize p(n=10)", t.Directive("limitsize", "p", (("n", "10"),))),
    ('.pragma "legacy"', t.Pragma("legacy")),
    ('.pragma "jobs" "4"', t.Pragma("jobs", "4")),
    (".init c = C<A, B>", t.ComponentInit("c", t.ComponentType("C", ("A", "B")))),
    (".comp C { .decl p(x: number) p(1). }", t.Component(
        t.ComponentType("C"), (), (t.RelationDecl("p", (NUMBER,)), t.Rule((a("p", n(1)),))))),
    (".comp C<T> : D<T>, E { .override p }", t.Component(
        t.ComponentType("C", ("T",)), (t.ComponentType("D", ("T",)), t.ComponentType("E")), (t.Override("p"),))),
    (".lattice L<> { Bottom -> $B(), Lub -> @lub(_, _) }", t.LatticeDecl("L", (
        ("Bottom", t.Branch("B", ())), ("Lub", t.UserFunctor("lub", (t.Wildcard(), t.Wildcard())))))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), DECLARATIONS, ids=[text for text, _ in DECLARATIONS])
def test_a_declaration(text: str, expected: t.Item) -> None:
    assert item(text) == expected


def test_one_declaration_of_several_relations_gives_each() -> None:
    assert parse(".decl p, q(x: number) .input p, q").items == (
        t.RelationDecl("p", (NUMBER,)), t.RelationDecl("q", (NUMBER,)),
        t.Directive("input", "p"), t.Directive("input", "q"),
    )  # fmt: skip


CLAUSES: list[tuple[str, t.Item]] = [
    ("p().", t.Rule((a("p"),))),
    ('c.p(1, "a").', t.Rule((a("c.p", n(1), t.String("a")),))),
    ("p(x) :- q(x, _).", t.Rule((a("p", v("x")),), a("q", v("x"), t.Wildcard()))),
    ("p(x), q(x) :- r(x).", t.Rule((a("p", v("x")), a("q", v("x"))), a("r", v("x")))),
    ("p() :- a(), b(), !c().", t.Rule((a("p"),), t.Conjunction((a("a"), a("b"), t.Negation(a("c")))))),
    ("p() :- a(), b(). .plan 0:(2,1), 1:(1,2)", t.Rule(
        (a("p"),), t.Conjunction((a("a"), a("b"))), t.ExecutionPlan(((0, (2, 1)), (1, (1, 2)))))),
    ("p(x) <= p(y) :- x < y.", t.Subsumption(a("p", v("x")), a("p", v("y")), t.Comparison("<", v("x"), v("y")))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CLAUSES, ids=[text for text, _ in CLAUSES])
def test_a_clause(text: str, expected: t.Item) -> None:
    assert item(text) == expected


BODIES: list[tuple[str, t.Literal]] = [
    ("a() ; b(), c()", t.Disjunction((a("a"), t.Conjunction((a("b"), a("c")))))),
    ("a(), (b() ; c())", t.Conjunction((a("a"), t.Disjunction((a("b"), a("c")))))),
    ("!(a(), b())", t.Negation(t.Conjunction((a("a"), a("b"))))),
    ("!!a()", t.Negation(t.Negation(a("a")))),
    ("((a()))", a("a")),
    ("true, !false", t.Conjunction((t.Boolean(True), t.Negation(t.Boolean(False))))),
    ('match("a.*", s)', t.Comparison("match", t.String("a.*"), v("s"))),
    ('!contains("a", s)', t.Negation(t.Comparison("contains", t.String("a"), v("s")))),
    *((f"x {op} y", t.Comparison(op, v("x"), v("y"))) for op in ("=", "!=", "<", "<=", ">", ">=")),
]


@pytest.mark.parametrize(("text", "expected"), BODIES, ids=[text for text, _ in BODIES])
def test_a_body(text: str, expected: t.Literal) -> None:
    assert body(text) == expected


TERMS: list[tuple[str, t.Term]] = [
    ("y", v("y")), ("?y", v("?y")), ("_y", v("_y")), ("_", t.Wildcard()), ("nil", t.Nil()),
    ("0", n(0)), ("007", n(7)), ("-5", n(-5)), ("0x1F", n(31)), ("0b101", n(5)), ("127.0.0.1", n(2130706433)),
    ("5u", t.Unsigned(5)), ("0xFFu", t.Unsigned(255)), ("0b11u", t.Unsigned(3)),
    ("1.5", t.Float(1.5)), ("-2.0e3", t.Float(-2000.0)), ("1.0E-2", t.Float(0.01)),
    ('"a\\"b\\n"', t.String('a"b\n')), ('""', t.String("")),
    ("[y, [1, nil]]", t.Record((v("y"), t.Record((n(1), t.Nil()))))), ("[]", t.Record(())),
    ("$B()", t.Branch("B", ())), ("$c.B(1, y)", t.Branch("c.B", (n(1), v("y")))),
    ("$", t.Counter()), ("autoinc()", t.Counter()),
    ("__ITERATION__()", t.Iteration()), ("recursive_iteration_cnt()", t.Iteration()),
    ("as(y, c.T)", t.Cast(v("y"), "c.T")),
    ("@f(1, y)", t.UserFunctor("f", (n(1), v("y")))), ("@f()", t.UserFunctor("f", ())),
    ("cat(y, z, w)", f("cat", v("y"), v("z"), v("w"))), ("substr(y, 0, 1)", f("substr", v("y"), n(0), n(1))),
    ("min(y, 1)", f("min", v("y"), n(1))), ("max(y, z, 1)", f("max", v("y"), v("z"), n(1))),
    ("range(1, 9, 2)", f("range", n(1), n(9), n(2))), ("itou(y)", f("itou", v("y"))),
    *((f"{op}(y)", f(op, v("y"))) for op in ("strlen", "ord", "to_number", "to_string", "to_float", "to_unsigned",
                                            "itof", "utoi", "utof", "ftoi", "ftou")),
    *((f"y {op} z", f(op, v("y"), v("z"))) for op in ("+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl",
                                                      "bshr", "bshru", "land", "lor", "lxor")),
    ("y ** z", f("^", v("y"), v("z"))), ("-y", f("neg", v("y"))), ("bnot y", f("bnot", v("y"))),
    ("lnot y", f("lnot", v("y"))), ("- -5", f("neg", n(-5))),
    ("1 + 2 * y", f("+", n(1), f("*", n(2), v("y")))), ("1 - 2 - y", f("-", f("-", n(1), n(2)), v("y"))),
    ("1 ^ 2 ^ y", f("^", n(1), f("^", n(2), v("y")))), ("-1 ^ 2", f("neg", f("^", n(1), n(2)))),
    ("(1 + 2) * y", f("*", f("+", n(1), n(2)), v("y"))), ("1 + y band 3", f("band", f("+", n(1), v("y")), n(3))),
    ("y lor z land w", f("lor", v("y"), f("land", v("z"), v("w")))),
    ("count : { q(_) }", t.Aggregate("count", None, a("q", t.Wildcard()))),
    ("count : q(_)", t.Aggregate("count", None, a("q", t.Wildcard()))),
    ("sum y + 1 : { q(y), y > 2 }", t.Aggregate(
        "sum", f("+", v("y"), n(1)), t.Conjunction((a("q", v("y")), t.Comparison(">", v("y"), n(2)))))),
    ("min y : q(y)", t.Aggregate("min", v("y"), a("q", v("y")))),
    ("mean y : { q(y) ; r(y) }", t.Aggregate("mean", v("y"), t.Disjunction((a("q", v("y")), a("r", v("y")))))),
    ("max y : { y = count : { q(_) } }", t.Aggregate(
        "max", v("y"), t.Comparison("=", v("y"), t.Aggregate("count", None, a("q", t.Wildcard()))))),
    ("@@f y : 0, { q(y) }", t.UserAggregate("f", v("y"), n(0), a("q", v("y")))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TERMS, ids=[text for text, _ in TERMS])
def test_a_term(text: str, expected: t.Term) -> None:
    assert term(text) == expected


def test_spans_cover_what_the_user_wrote() -> None:
    text = "p(x) :- q(x, y + 1),\n  z = count : { r(_) }. "
    rule = parse(text, "a.dl").rules[0]
    shown = [text[n.span.start : n.span.end] for n in rule.walk() if n.span is not None]
    assert shown == [
        "p(x) :- q(x, y + 1),\n  z = count : { r(_) }.", "p(x)", "x", "q(x, y + 1),\n  z = count : { r(_) }",
        "q(x, y + 1)", "x", "y + 1", "y", "1", "z = count : { r(_) }", "z", "count : { r(_) }", "r(_)", "_",
    ]  # fmt: skip
    assert str(rule.body.span) == "a.dl:1:9"  # type: ignore[union-attr]


def test_the_span_of_an_atoms_name_is_its_own() -> None:
    atom = parse("c.p(1).").rules[0].heads[0]
    assert atom.name_span is not None
    assert (atom.name_span.start, atom.name_span.end) == (0, 3)


def test_comments_nest_and_may_stand_anywhere() -> None:
    text = 'p(/* a /* b */ c */ "/* no */"). // p(\n/* p( */ q("//").'
    assert parse(text).items == (t.Rule((a("p", t.String("/* no */")),)), t.Rule((a("q", t.String("//")),)))


def test_an_unclosed_inner_comment_ends_like_in_c() -> None:
    assert parse("/* a /* b */ p().").items == (t.Rule((a("p"),)),)


def test_annotations_are_skipped() -> None:
    assert parse('@[size = "a]"] .decl p(@![x(1)] x: number)').items == (t.RelationDecl("p", (NUMBER,)),)


def test_file_and_line_are_constants() -> None:
    text = "p(__FILE__,\n  __LINE__)."
    assert parse(text, "dir/a.dl").items == (t.Rule((a("p", t.String("dir/a.dl"), n(2)),)),)


def test_keywords_can_be_parts_of_names() -> None:
    assert parse("counter(max_x, sum1, nile).").rules[0].heads[0] == a("counter", v("max_x"), v("sum1"), v("nile"))


def test_every_syntax_error_is_reported_in_one_go() -> None:
    report = Report()
    program = parse_into(Source("a.dl", "p(1.\nq(2).\nr(3)) .\ns(4).\n"), report)
    assert [d.code for d in report.errors] == ["TL0101", "TL0101"]
    assert program.items[-1] == t.Rule((a("s", n(4)),))


PROBLEMS = [
    ("p(", "TL0102", "unexpected end of the program"),
    ("p(1) q(2).", "TL0101", "unexpected `q`"),
    ("p(#).", "TL0102", "unexpected end of the program"),
    ('p("\\q").', "TL0104", "unknown escape sequence `\\q`"),
    (".decl p(x: number) brie btree", "TL0107", "`btree` cannot follow `brie`"),
    (".lattice L<> { Best -> 1 }", "TL0106", "unknown lattice operator `Best`"),
    ("p(256.0.0.1).", "TL0111", "`256.0.0.1` is not an IP address"),
    ("p(sum(1, 2)).", "TL0112", "`sum` is an aggregate, not a functor"),
    ("p(sum : { q() }).", "TL0113", "`sum` takes exactly one expression before the colon"),
    ("p(count x : { q(x) }).", "TL0113", "`count` takes no expression before the colon"),
    ("/* p().", "TL0114", "this comment is not closed"),
    (".include", "TL0101", "unexpected"),
]


@pytest.mark.parametrize(("text", "code", "message"), PROBLEMS, ids=[text for text, _, _ in PROBLEMS])
def test_a_problem_has_its_code_and_words(text: str, code: str, message: str) -> None:
    with pytest.raises(TidelogError) as caught:
        parse(text)
    first = caught.value.diagnostics[0]
    assert first.code == code
    assert first.message.startswith(message)


def test_old_type_declarations_warn() -> None:
    report = Report()
    program = parse_into(Source("a.dl", ".number_type A .symbol_type B .type C"), report)
    assert program.items == (
        t.SubsetDefinition("A", "number"),
        t.SubsetDefinition("B", "symbol"),
        t.SubsetDefinition("C", "symbol"),
    )
    assert [d.code for d in report.warnings] == ["TL0105"] * 3


@pytest.mark.parametrize("text", ["z" * 2_000_000, "\\n" * 1_000_000])
def test_a_long_string_costs_a_small_multiple_of_its_length(text: str) -> None:
    """A pattern with a way back would take four hundred bytes for each character of it."""
    import resource

    parse('p("warm").')
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (rule,) = parse(f'p("{text}").').rules
    (argument,) = rule.heads[0].args
    assert isinstance(argument, t.String)
    assert len(argument.value) == len(text) // (1 if text[0] == "z" else 2)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 40 * len(text)


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "0b" + "1" * 50000, "0" * 5000 + "9" * 5000])
def test_a_number_of_thousands_of_digits_is_out_of_range_and_no_more(number: str) -> None:
    report = Report()
    program = parse_program(f".decl p(x: number)\np({number}).", report)
    with pytest.raises(TidelogError) as caught:
        check(program, report)
    assert caught.value.codes == ("TL0323",)


def test_leading_zeros_do_not_count() -> None:
    argument = item(f"p(0x{'0' * 5000}ff, {'0' * 5000}7).")
    assert isinstance(argument, t.Rule)
    assert argument.heads[0].args == (t.Number(255), t.Number(7))
