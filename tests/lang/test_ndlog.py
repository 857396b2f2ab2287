"""The NDlog dialect: every program of the papers, the tree of every construct, errors, round trips, robustness."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.errors import TidelogError
from tidelog.lang import ndlog, tree
from tidelog.lang.ndlog_printer import print_program, print_update
from tidelog.lang.parsing import deep_recursion
from tidelog.lang.tree import Atom, Comparison, Conjunction, Functor, Negation, Number, Rule, String, Variable

CORPUS = Path(__file__).parents[1] / "corpus"
ACCEPTED = sorted((CORPUS / "ndlog").glob("*.ndlog"))
REJECTED = sorted((CORPUS / "reject").glob("ndlog_*.ndlog"))

S, D, Z, X, Y, C, P = map(Variable, "SDZXYCP")


def rule(text: str) -> Rule:
    (item,) = ndlog.parse(text).items
    assert isinstance(item, Rule)
    return item


def literal(text: str) -> tree.Literal | None:
    return rule(f"h :- {text}.").body


def term(text: str) -> tree.Term:
    found = literal(f"X = {text}")
    assert isinstance(found, Comparison)
    return found.right


def errors_of(text: str) -> str:
    with pytest.raises(TidelogError) as caught:
        ndlog.parse(text, "p.ndlog")
    return str(caught.value)


# ---- the papers

PAPERS = {
    "000 section 2.1: reachability": (
        """
        r1: reachable(@S,D) :- link(@S,D).
        r2: reachable(@S,D) :- link(@S,Z), reachable(@Z,D).
        """,
        "r1: reachable(@S, D) :- link(@S, D).\nr2: reachable(@S, D) :- link(@S, Z), reachable(@Z, D).\n",
    ),
    "000 section 2.1: localised": (
        """
        r2-1: reachable(@S,D) :- link(@S,Z), aux(@S,Z,D).
        r2-2: aux(@S,Z,D) :- reachable(@Z,D), co-link(@Z,S).
        """,
        "r2-1: reachable(@S, D) :- link(@S, Z), aux(@S, Z, D).\n"
        "r2-2: aux(@S, Z, D) :- reachable(@Z, D), co-link(@Z, S).\n",
    ),
    "000 section 2.2: a set of propositional rules": (
        "{p:-s,t,r; s:-q; t:-u; q:-; u:-}.",
        "p :- s, t, r.\ns :- q.\nt :- u.\nq.\nu.\n",
    ),
    "000 section 3.1: hops": (
        "hop(@X,Y):-link(@X,Z), link(@Z,Y). tri_hop(@X,Y):-hop(@X,Z), link(@Z,Y).",
        "hop(@X, Y) :- link(@X, Z), link(@Z, Y).\ntri_hop(@X, Y) :- hop(@X, Z), link(@Z, Y).\n",
    ),
    "000 section 3.1: two nodes": (
        "p(@Y) :- s(@X,Y). s(@Y,X) :- q(@X), v(@X,Y).",
        "p(@Y) :- s(@X, Y).\ns(@Y, X) :- q(@X), v(@X, Y).\n",
    ),
    "000 section 4: examples in the text": (
        "{p:-s,t,r; s:-q; s:-u; t:-u; q:-; u:-} {p:-q,r; q:-s} {p:-r,q; v:-p}",
        "p :- s, t, r.\ns :- q.\ns :- u.\nt :- u.\nq.\nu.\np :- q, r.\nq :- s.\np :- r, q.\nv :- p.\n",
    ),
    "000 section 5: a cycle": (
        "{a(@0):-; p(@1):-a(@0); q(@2):-p(@1); p(@1):-q(@2)}",
        "a(@0).\np(@1) :- a(@0).\nq(@2) :- p(@1).\np(@1) :- q(@2).\n",
    ),
    "000 section 5: two cycles": (
        "{p:-s; q:-p; r:-q; p:-r; q:-r}",
        "p :- s.\nq :- p.\nr :- q.\np :- r.\nq :- r.\n",
    ),
    "000 section 6: four nodes": (
        "p(@1) :- s(@2), t(@2), r(@2). s(@2) :- q(@3). t(@2) :- u(@4). q(@3) :- . u(@4) :- .",
        "p(@1) :- s(@2), t(@2), r(@2).\ns(@2) :- q(@3).\nt(@2) :- u(@4).\nq(@3).\nu(@4).\n",
    ),
    "003 section 2.1: the set with s :- u": (
        "{p :- s, t, r; s :- q; t :- u; q :-; u :-; s :- u}",
        "p :- s, t, r.\ns :- q.\nt :- u.\nq.\nu.\ns :- u.\n",
    ),
    "003 section 2.2: path vector": (
        """
        r1 path(@S,D,P,C) :- link(@S,D,C), P=f_init(S,D).
        r2 path(@S,D,P,C) :- link(@S,Z,C1), path(@Z,D,P2,C2), C=C1+C2, P=f_concat(S,P2), f_inPath(P2,S)=false.
        """,
        "r1: path(@S, D, P, C) :- link(@S, D, C), P = f_init(S, D).\n"
        "r2: path(@S, D, P, C) :- link(@S, Z, C1), path(@Z, D, P2, C2), C = C1 + C2, P = f_concat(S, P2), "
        "f_inPath(P2, S) = false.\n",
    ),
    "003 section 2.2: localised": (
        """
        r2-1: path(@S,D,P,C) :- link(@S,Z,C1), aux(@S,Z,D,P2,C2), C=C1+C2, P=f_concat(S,P2), f_inPath(P2,S)=false.
        r2-2: aux(@S,Z,D,P,C) :- path(@Z,D,P,C), link(@Z, S).
        """,
        "r2-1: path(@S, D, P, C) :- link(@S, Z, C1), aux(@S, Z, D, P2, C2), C = C1 + C2, P = f_concat(S, P2), "
        "f_inPath(P2, S) = false.\nr2-2: aux(@S, Z, D, P, C) :- path(@Z, D, P, C), link(@Z, S).\n",
    ),
    "003 section 3: PSN's three defects": (
        "p@1 :- s@2, t@2, r@2. s@2 :- q@3. t@2 :- u@4. q@3 :- . u@4 :- . p@1 :- t@1, t@1. p@1 :- a@1. p@1 :- p@1.",
        "p(@1) :- s(@2), t(@2), r(@2).\ns(@2) :- q(@3).\nt(@2) :- u(@4).\nq(@3).\nu(@4).\n"
        "p(@1) :- t(@1), t(@1).\np(@1) :- a(@1).\np(@1) :- p(@1).\n",
    ),
    "004 section 2.1: arrows": (
        "{p ← s, t, r; s ← q; t ← u; q ←; u ←}",
        "p :- s, t, r.\ns :- q.\nt :- u.\nq.\nu.\n",
    ),
}


@pytest.mark.parametrize("source", PAPERS)
def test_a_program_of_the_papers_is_read_as_printed(source: str) -> None:
    text, printed = PAPERS[source]
    program = ndlog.parse(text)
    assert print_program(program) == printed
    assert ndlog.parse(printed) == program


# ---- trees


def test_a_rule_has_its_label_location_and_body() -> None:
    expected = Rule(
        (Atom("reachable", (S, D), 0),),
        Conjunction((Atom("link", (S, Z), 0), Atom("reachable", (Z, D), 0))),
        label="r2",
    )
    assert rule("r2: reachable(@S,D) :- link(@S,Z), reachable(@Z,D).") == expected
    assert rule("r2 reachable(@S,D) :- link(@S,Z), reachable(@Z,D).") == expected
    assert rule("R2: p :- q.").label == "R2"


def test_the_location_may_be_any_argument_or_the_only_one() -> None:
    assert rule("p(X,@Y) :- q.").heads == (Atom("p", (X, Y), 1),)
    assert rule("p@1.").heads == (Atom("p", (Number(1),), 0),)
    assert rule("p@X :- q.").heads == (Atom("p", (X,), 0),)
    assert rule("p@n1.") == rule("p(@n1).")
    assert rule('p@"n1".') == rule("p(@n1).")


def test_a_rule_without_a_body_is_a_fact() -> None:
    fact = Rule((Atom("link", (String("a"), String("b")), 0),))
    assert rule("link(@a,b).") == fact
    assert rule("link(@a,b) :- .") == fact
    assert rule("p.") == rule("p().") == Rule((Atom("p", ()),))


def test_materialize_gives_lifetime_size_and_keys() -> None:
    program = ndlog.parse("materialize(link, infinity, infinity, keys(1,2)). materialize(a, 10, 0x20, keys(1,2:cid)).")
    assert program.items == (tree.Materialize("link", None, None, (1, 2)), tree.Materialize("a", 10, 32, (1, 2)))
    assert program.dialect == "ndlog"


def test_assignment_and_equality_are_one_comparison() -> None:
    expected = Comparison("=", C, Functor("+", (Variable("C1"), Variable("C2"))))
    for text in ("C=C1+C2", "C:=C1+C2", "C == C1 + C2"):
        assert literal(text) == expected


@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">="])
def test_a_comparison_keeps_its_operator(op: str) -> None:
    assert literal(f"X{op}Y") == Comparison(op, X, Y)


def test_a_function_is_a_term_or_a_condition() -> None:
    member = Functor("f_member", (P, X))
    assert literal("f_member(P,X)=false") == Comparison("=", member, String("false"))
    assert literal("f_member(P,X)") == Comparison("=", member, String("true"))
    assert literal("!f_member(P,X)") == literal("not f_member(P,X)") == literal("f_member(P,X) = false")
    assert term("f_concat(S, f_init(D))") == Functor("f_concat", (S, Functor("f_init", (D,))))
    assert term("f_now()") == Functor("f_now", ())


def test_aggregates_stand_in_heads() -> None:
    (head,) = rule("b(@S,a_MIN<C>,min<C>,max<C>,count<*>,sum<C>,a_AVG<C>) :- p(@S,C).").heads
    minimum = tree.HeadAggregate("min", "C")
    assert head.args[1:] == (
        minimum, minimum, tree.HeadAggregate("max", "C"), tree.HeadAggregate("count", "*"),
        tree.HeadAggregate("sum", "C"), tree.HeadAggregate("mean", "C"),
    )  # fmt: skip


def test_negation_is_written_in_two_ways() -> None:
    assert literal("!p(@X)") == literal("not p(@X)") == Negation(Atom("p", (X,), 0))
    assert literal("!p@1, not q") == Conjunction((Negation(Atom("p", (Number(1),), 0)), Negation(Atom("q", ()))))


def test_constants() -> None:
    assert [term(t) for t in ("12", "-12", "0x1f", "1.5", "-2e-3", "abc", '"a b\\n"', "true", "node-1")] == [
        Number(12), Number(-12), Number(31), tree.Float(1.5), tree.Float(-0.002), String("abc"), String("a b\n"),
        String("true"), String("node-1"),
    ]  # fmt: skip
    assert term("[a, [1], []]") == tree.Record((String("a"), tree.Record((Number(1),)), tree.Record(())))
    assert literal("true") == tree.Boolean(True)
    assert literal("false = X") == Comparison("=", String("false"), X)
    assert literal("p(_, _X)") == Atom("p", (tree.Wildcard(), Variable("_X")))


def test_operators_bind_as_in_arithmetic() -> None:
    assert term("X - Y - C") == Functor("-", (Functor("-", (X, Y)), C))
    assert term("X + Y * C % 2") == Functor("+", (X, Functor("%", (Functor("*", (Y, C)), Number(2)))))
    assert term("-X ^ 2") == Functor("neg", (Functor("^", (X, Number(2))),))
    assert term("X-1") == Functor("-", (X, Number(1)))


def test_every_kind_of_comment_is_skipped_and_percent_is_also_an_operator() -> None:
    text = """
    % at the start of a line; it may hold /* and "
    p(X) :- q(X),  % after a comma
        // so does this, and # and %
        X % 2 = 0, /* over
        lines */ r(X)  % after an atom
        % between
        .  # at the end /*
    """
    assert print_program(ndlog.parse(text)) == "p(X) :- q(X), X % 2 = 0, r(X).\n"


def test_spans_point_at_what_was_written() -> None:
    text = "p. r1: path(@S,D) :- link(@S,Z), Z != f_x(D)."
    second = ndlog.parse(text).rules[1]
    assert isinstance(second.body, Conjunction)
    atom, comparison = second.body.parts
    assert isinstance(atom, Atom)
    assert isinstance(comparison, Comparison)
    nodes = (second, second.heads[0], atom, atom.args[1], comparison, comparison.right)
    assert [text[n.span.start : n.span.end] for n in nodes if n.span] == [
        "r1: path(@S,D) :- link(@S,Z), Z != f_x(D).", "path(@S,D)", "link(@S,Z)", "Z", "Z != f_x(D)", "f_x(D)",
    ]  # fmt: skip
    assert atom.name_span
    assert text[atom.name_span.start : atom.name_span.end] == "link"


# ---- updates


def test_updates_are_signed_facts_in_their_order() -> None:
    text = """
    +link(@a,b), -link(@b,c)   // separated by commas
    +q@1 -q@2. +r; -s(@1, [x, -2], "t")  # or by anything else
    """
    updates = ndlog.parse_updates(text)
    assert [print_update(*u) for u in updates] == [
        "+link(@a, b)", "-link(@b, c)", "+q(@1)", "-q(@2)", "+r", "-s(@1, [x, -2], t)",
    ]  # fmt: skip
    assert updates[0] == ("+", Atom("link", (String("a"), String("b")), 0))
    assert ndlog.parse_updates("") == []


def test_an_update_must_be_a_fact_and_all_mistakes_are_shown() -> None:
    with pytest.raises(TidelogError) as caught:
        ndlog.parse_updates("r(1)\n+p(@X)\n+q(f_x(1)), +t\n-s(1 :- )\n", "u.txt")
    constants_only = "  help: constants start with a lower-case letter or are quoted\n"
    assert str(caught.value) == (
        "error[TL0101]: unexpected `r`\n  --> u.txt:1:1\n1 | r(1)\n  | ^\n  help: begin each update with `+` or `-`\n"
        "error[TL0124]: an update is about a fact, which holds constants only, not a variable\n"
        "  --> u.txt:2:5\n2 | +p(@X)\n  |     ^\n" + constants_only +
        "error[TL0124]: an update is about a fact, which holds constants only, not a computation\n"
        "  --> u.txt:3:4\n3 | +q(f_x(1)), +t\n  |    ^^^^^^\n" + constants_only +
        "error[TL0101]: unexpected character ':'\n  --> u.txt:4:6\n4 | -s(1 :- )\n  |      ^\n"
        "  help: expected `)` or `,` or `]`"
    )  # fmt: skip


# ---- corpus and errors


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda p: p.stem)
def test_an_accepted_program_survives_printing(path: Path) -> None:
    program = ndlog.parse(path.read_text(encoding="utf-8"), path.name)
    assert program.items
    assert ndlog.parse(print_program(program)) == program


@pytest.mark.parametrize("path", REJECTED, ids=lambda p: p.stem)
def test_a_rejected_program_gives_its_error_text(path: Path) -> None:
    with pytest.raises(TidelogError) as caught:
        ndlog.parse(path.read_text(encoding="utf-8"), path.name)
    assert str(caught.value) + "\n" == path.with_suffix(".err").read_text(encoding="utf-8")


def test_the_corpus_is_there() -> None:
    assert len(ACCEPTED) >= 15
    assert len(REJECTED) >= 10


def test_an_error_shows_the_place_and_what_was_expected() -> None:
    assert errors_of("p(@X) :- q(@X\n  r(@X).") == (
        "error[TL0101]: unexpected `r`\n  --> p.ndlog:2:3\n2 |   r(@X).\n  |   ^\n  help: expected `)` or `,`"
    )


def test_parsing_goes_on_behind_a_syntax_error() -> None:
    text = errors_of("p(X :- q.\nok(X) :- q(X).\np(@X,@Y) :- q.\n:- q.\n")
    assert [line for line in text.splitlines() if "-->" in line] == [
        "  --> p.ndlog:1:5",
        "  --> p.ndlog:3:6",
        "  --> p.ndlog:4:1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- X = " + "(" * 50_000 + "1" + ")" * 50_000 + ".",
        "p(X) :- X = " + "[" * 5_000 + "]" * 5_000 + ".",
        "p(X) :- X = " + "-" * 5_000 + "X.",
        "p(X) :- X = " + "f_a(" * 5_000 + "X" + ")" * 5_000 + ".",
        "p(X) :- X = 1" + " + 1" * 5_000 + ".",
        "p(X) :- X = " + "(" * 50_000,
        "{" * 50_000,
        "p :- " + "!" * 50_000,
        "/*" * 50_000,
        '"' * 50_001,
        "p(" + "9" * 50_000 + ").",
    ],
    ids=lambda t: t[:20],
)
def test_deep_or_long_inputs_parse_or_are_refused(text: str) -> None:
    try:
        program = ndlog.parse(text)
    except TidelogError as problem:
        str(problem)  # and it can be shown
    else:
        assert ndlog.parse(print_program(program)) == program


def test_the_deepest_program_can_be_printed() -> None:
    program = ndlog.parse("p(X) :- X = " + "f_a(" * 380 + "X" + ")" * 380 + ".")
    with deep_recursion():
        assert ndlog.parse(print_program(program)) == program


# ---- properties

names = st.from_regex(r"[a-z][a-zA-Z0-9_]{0,6}(-[a-z0-9]{1,3})?", fullmatch=True).filter(
    lambda n: n not in ("not", "true", "false", "materialize") and not n.startswith("f_")
)
variable_names = st.from_regex(r"[A-Z][A-Za-z0-9_]{0,4}|_[A-Za-z0-9_]{1,4}", fullmatch=True)
variables = variable_names.map(Variable)
constants = st.one_of(
    st.integers(-(2**63), 2**64 - 1).map(Number),
    st.floats(allow_nan=False, allow_infinity=False).map(tree.Float),
    st.text(max_size=8).map(String),
    names.map(String),
    st.sampled_from(["true", "false", "not", "f_x", "materialize"]).map(String),
)


def compound(inner: st.SearchStrategy[tree.Term]) -> st.SearchStrategy[tree.Term]:
    arguments = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        arguments.map(tree.Record),
        st.builds(Functor, st.from_regex(r"f_[a-zA-Z0-9_]{1,6}", fullmatch=True), arguments),
        st.builds(Functor, st.sampled_from("+-*/%^"), st.tuples(inner, inner)),
        st.builds(Functor, st.just("neg"), st.tuples(inner.filter(is_not_folded))),
    )


def is_not_folded(operand: tree.Term) -> bool:
    """A minus before a number without one is part of the number."""
    return not isinstance(operand, (Number, tree.Float)) or str(operand.value).startswith("-")


terms = st.recursive(st.one_of(variables, constants, st.builds(tree.Wildcard)), compound, max_leaves=8)
head_terms = st.one_of(
    terms,
    st.builds(tree.HeadAggregate, st.sampled_from(["min", "max", "sum", "mean", "count"]), variable_names),
    st.just(tree.HeadAggregate("count", "*")),
)


@st.composite
def atoms(draw: st.DrawFn, arguments: st.SearchStrategy[tree.Term]) -> Atom:
    args = tuple(draw(st.lists(arguments, max_size=4)))
    places = [i for i, a in enumerate(args) if not isinstance(a, tree.HeadAggregate)]
    return Atom(draw(names), args, draw(st.sampled_from([None, *places])))


literals = st.one_of(
    atoms(terms),
    atoms(terms).map(Negation),
    st.builds(Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), terms, terms),
    st.booleans().map(tree.Boolean),
)
bodies = st.one_of(st.none(), literals, st.lists(literals, min_size=2, max_size=4).map(lambda p: Conjunction(tuple(p))))
rules = st.builds(
    Rule, st.tuples(atoms(head_terms)), bodies, st.none(), st.one_of(st.none(), names, variable_names)
)  # fmt: skip
sizes = st.one_of(st.none(), st.integers(0, 2**63))
tables = st.builds(
    tree.Materialize, names, sizes, sizes, st.lists(st.integers(1, 9), unique=True, max_size=3).map(tuple)
)
programs = st.lists(st.one_of(rules, tables), max_size=4).map(lambda items: tree.Program(tuple(items), "ndlog"))


@settings(max_examples=500, deadline=None)
@given(programs)
def test_parsing_undoes_printing(program: tree.Program) -> None:
    assert ndlog.parse(print_program(program)) == program


CORPUS_TEXTS = [p.read_text(encoding="utf-8") for p in (*ACCEPTED, *REJECTED)]
PIECES = ["@", "(", ")", "[", "]", "{", "}", "<", ">", ".", ",", ";", ":-", ":", "%", "#", "/*", "*/", '"', "\\", "!",
          "-", "f_x(", "not ", "min<", "1e9", "\n", "é", "\0", "X", "p"]  # fmt: skip


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
    for read in (ndlog.parse, ndlog.parse_updates):
        try:
            read(text)
        except TidelogError as problem:
            str(problem)  # and it can be shown
