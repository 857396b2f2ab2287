"""Type inference of clauses: kinds of all terms, chosen signatures, and contradictions."""

from __future__ import annotations

import pytest
from analysis_programs import last, messages, terms, typed

from tidelog.analysis.types import RecordType
from tidelog.functors import Signature
from tidelog.lang import tree
from tidelog.values import Kind

N, U, F, S, R = Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL, Kind.RECORD

RELATIONS = """
.type Age <: number
.type Name <: symbol
.decl n(x: number)
.decl u(x: unsigned)
.decl f(x: float)
.decl s(x: symbol)
.decl age(x: Age)
.decl name(x: Name)
.decl out(n: number, u: unsigned, f: float, s: symbol)
"""


def test_variables_have_the_kind_of_their_attributes() -> None:
    ct = last(RELATIONS + "out(a, b, c, d) :- n(a), u(b), f(c), name(d).")
    assert ct.variables == {"a": N, "b": U, "c": F, "d": S}


def test_kinds_pass_through_equalities_in_any_order() -> None:
    ct = last(RELATIONS + "u(a) :- a = b, b = c, c = d, u(d).")
    assert set(ct.variables.values()) == {U}


@pytest.mark.parametrize(("relation", "kind"), [("n", N), ("u", U), ("f", F)])
def test_a_literal_is_of_the_kind_that_its_attribute_asks_for(relation: str, kind: Kind) -> None:
    ct = last(RELATIONS + f"{relation}(1).")
    assert ct.kind_of(ct.clause.head.args[0]) is kind


@pytest.mark.parametrize(("relation", "kind"), [("n", N), ("u", U), ("f", F)])
def test_a_functor_takes_the_kind_of_its_result_into_its_arguments(relation: str, kind: Kind) -> None:
    ct = last(RELATIONS + f"{relation}(1 + 2 * 3).")
    outer, inner = terms(ct.clause, tree.Functor)
    assert isinstance(outer, tree.Functor)
    assert isinstance(inner, tree.Functor)
    assert ct.signature_of(outer) == Signature((kind, kind), kind)
    assert ct.signature_of(inner) == Signature((kind, kind), kind)
    assert [ct.kind_of(t) for t in terms(ct.clause, tree.Number)] == [kind] * 3  # type: ignore[arg-type]


def test_a_functor_takes_the_kind_of_one_argument_to_the_other() -> None:
    ct = last(RELATIONS + "n(1) :- u(x), x * 2 < 3.")
    assert [ct.kind_of(t) for t in terms(ct.clause, tree.Number)] == [N, U, U]  # type: ignore[arg-type]


def test_literals_that_nothing_decides_are_numbers() -> None:
    ct = last(RELATIONS + "s(to_string(1)).")
    (call,) = terms(ct.clause, tree.Functor)
    assert isinstance(call, tree.Functor)
    assert ct.signature_of(call) == Signature((N,), S)


def test_a_variadic_signature_is_as_long_as_the_call() -> None:
    ct = last(RELATIONS + 's(cat(x, "b", "c")) :- s(x).')
    (call,) = terms(ct.clause, tree.Functor)
    assert isinstance(call, tree.Functor)
    assert ct.signature_of(call) == Signature((S, S, S), S)


def test_conversions_keep_the_kinds_of_both_sides_apart() -> None:
    ct = last(RELATIONS + "f(to_float(x)) :- u(x).")
    (call,) = terms(ct.clause, tree.Functor)
    assert isinstance(call, tree.Functor)
    assert ct.signature_of(call) == Signature((U,), F)


def test_a_comparison_is_of_the_kind_of_its_sides() -> None:
    ct = last(RELATIONS + 'n(1) :- f(x), x < 2, s(y), y >= "a".')
    kinds = [ct.kind_of_comparison(c) for c in ct.clause.body if isinstance(c, tree.Comparison)]
    assert kinds == [F, S]


def test_aggregates_have_the_kind_of_what_they_aggregate() -> None:
    ct = last(RELATIONS + 'out(a, b, c, "") :- a = count : { n(_) }, b = max x : { u(x) }, c = mean x : { f(x) }.')
    assert [ct.kind_of(a) for a in terms(ct.clause, tree.Aggregate)] == [N, U, F]  # type: ignore[arg-type]


def test_variables_of_different_aggregates_are_different() -> None:
    ct = last(RELATIONS + 'out(a, 0, c, "") :- a = sum x : { n(x) }, c = sum x : { f(x) }.')
    assert ct.variables == {"a": N, "c": F}
    first, second = terms(ct.clause, tree.Aggregate)
    assert isinstance(first, tree.Aggregate)
    assert isinstance(second, tree.Aggregate)
    assert first.target is not None
    assert second.target is not None
    assert (ct.kind_of(first.target), ct.kind_of(second.target)) == (N, F)
    assert ct.scope_of(first).local == {"x"}


def test_an_aggregate_shares_the_variables_that_are_bound_around_it() -> None:
    ct = last(".decl e(x: number, y: symbol) .decl r(n: number) r(k) :- e(x, _), k = count : { e(x, y) }.")
    (aggregate,) = terms(ct.clause, tree.Aggregate)
    assert isinstance(aggregate, tree.Aggregate)
    assert ct.scope_of(aggregate).injected == {"x"}
    assert ct.scope_of(aggregate).local == {"y"}


def test_record_fields_get_their_declared_types() -> None:
    ct = last('.type P = [a: unsigned, b: symbol] .decl p(x: P) .decl q(a: unsigned) q(a + 1) :- p([a, b]), b != "x".')
    (record,) = terms(ct.clause, tree.Record)
    assert isinstance(record, tree.Record)
    found = ct.record_of(record)
    assert isinstance(found, RecordType)
    assert found.name == "P"
    assert ct.variables == {"a": U, "b": S}


def test_a_record_is_typed_through_a_variable() -> None:
    ct = last(".type P = [a: float, b: P] .decl p(x: P) p(r) :- p(q), r = [1, q].")
    (record,) = terms(ct.clause, tree.Record)
    assert isinstance(record, tree.Record)
    assert [ct.kind_of(a) for a in record.args] == [F, R]


def test_records_that_are_only_compared_need_no_type() -> None:
    ct = last(RELATIONS + "s(b) :- n(x), s(y), [x, y] = [a, b].")
    assert ct.variables == {"x": N, "y": S, "a": N, "b": S}
    assert ct.record_of(terms(ct.clause, tree.Record)[0]) is None  # type: ignore[arg-type]


def test_records_in_one_variable_are_compared_field_by_field() -> None:
    ct = last(RELATIONS + "s(b) :- n(x), s(y), r = [x, [y, 1]], r = [_, [b, _]].")
    assert ct.variables == {"x": N, "y": S, "r": R, "b": S}


def test_branches_say_their_tag_and_fields() -> None:
    ct = last(".type T = Leaf {} | Fork { l: T, w: float, r: T } .decl t(x: T) t($Fork($Leaf(), 1, $Leaf())).")
    fork = terms(ct.clause, tree.Branch)[0]
    assert isinstance(fork, tree.Branch)
    info = ct.branch_of(fork)
    assert (info.tag, info.kinds) == (0, (R, F, R))
    assert [ct.kind_of(a) for a in fork.args] == [R, F, R]


def test_a_cast_is_of_its_target_type_whatever_is_inside() -> None:
    ct = last(RELATIONS + "s(as(x, symbol)) :- n(x).")
    (cast,) = terms(ct.clause, tree.Cast)
    assert isinstance(cast, tree.Cast)
    assert (ct.kind_of(cast), ct.kind_of(cast.term)) == (S, N)


def test_user_functors_are_of_their_declared_types() -> None:
    ct = last('.functor g(x: float, s: symbol): unsigned .decl u(x: unsigned) u(@g(1, "a")).')
    (call,) = terms(ct.clause, tree.UserFunctor)
    assert isinstance(call, tree.UserFunctor)
    assert [ct.kind_of(a) for a in call.args] == [F, S]
    assert ct.functor_of(call).result == "unsigned"


def test_counter_is_a_number_and_iteration_an_unsigned() -> None:
    ct = last(".decl a(x: number) .decl r(x: number, y: unsigned) r(autoinc(), __ITERATION__()) :- a(_).")
    assert [ct.kind_of(a) for a in ct.clause.head.args] == [N, U]


def test_both_tuples_of_a_subsumption_give_types() -> None:
    ct = last(".decl b(x: symbol, c: float) btree_delete b(x, c1) <= b(x, c2) :- c2 < c1 + 1.")
    assert ct.variables == {"x": S, "c1": F, "c2": F}


def test_type_of_says_the_declared_type() -> None:
    ct = last(RELATIONS + "name(x) :- name(x).")
    found = ct.type_of(ct.clause.head.args[0])
    assert found is not None
    assert found.name == "Name"


@pytest.mark.parametrize(
    "rule",
    [
        "age(x + 1) :- age(x).",
        "age(-x) :- age(x).",
        "age(max(x, 3)) :- age(x).",
        "age(strlen(x)) :- s(x).",
        "age(x) :- n(y), x = y + 0.",
        "age(1).",
        "age(sum x : { age(x) }) :- true.",
        "age(count : { age(x) }) :- true.",
        "n(x) :- age(x).",
        "n(1) :- n(x), age(x).",
        "n(1) :- n(x), age(y), x = y.",
        "n(x) :- n(x), !age(x).",
        "age(as(x, Age)) :- n(x).",
    ],
)
def test_accepts(rule: str) -> None:
    _, report = typed(RELATIONS + rule)
    assert messages(report) == []


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("age(x) :- n(x).", "TL0321"),
        ("age(x) :- n(y), x = y.", "TL0321"),
        ("n(x) :- s(x).", "TL0320"),
        ("n(1) :- age(x), u(x).", "TL0320"),
        ('n("a").', "TL0322"),
        ("n(1.5).", "TL0322"),
        ("n(18446744073709551615).", "TL0323"),
        ("u(18446744073709551616).", "TL0323"),
        ("n(1) :- n(x), x = [1, 2].", "TL0324"),
        ("n(x + y) :- n(x), f(y).", "TL0328"),
        ("s(x + y) :- n(x), n(y).", "TL0328"),
        ("n(x) :- s(y), x = to_number(y), y < x.", "TL0331"),
        ("n(1) :- n(x), match(x, x).", "TL0331"),
        ("n(1) :- n(x), x = nil.", "TL0334"),
        ("n(x) :- x = min y : { s(y) }.", "TL0328"),
        ("n(x) :- n(x), !s(x).", "TL0320"),
        ("n(as(x, Nothing)) :- n(x).", "TL0301"),
        ("n($Nothing()).", "TL0326"),
    ],
)
def test_refuses(rule: str, code: str) -> None:
    _, report = typed(RELATIONS + rule)
    assert [d.code for d in report.errors] == [code]


def test_a_contradiction_shows_both_places() -> None:
    _, report = typed(RELATIONS + "out(1, 2, 3, x) :- n(x).")
    (error,) = report.errors
    assert error.message == "`x` is a symbol here but a number there"
    assert [text for text, _ in error.notes] == [
        "here: attribute `s` of `out` is a symbol",
        "there: attribute `x` of `n` is a number",
    ]
    assert error.help == "convert it with to_string(x)"


def test_one_mistake_gives_one_error() -> None:
    _, report = typed(RELATIONS + "n(z) :- s(x), y = x * 2, z = y + 1, z < 3.")
    assert messages(report) == ["`*` takes number, unsigned or float values of one kind, but `x` is a symbol"]


def test_nothing_is_inferred_when_declarations_are_wrong() -> None:
    result, report = typed(".decl a(x: T) a(1).")
    assert result == []
    assert [d.code for d in report.errors] == ["TL0301"]


def test_a_shared_node_may_have_another_kind_in_another_clause() -> None:
    result, report = typed(RELATIONS + "n(1), f(2) :- (n(x), x < 3 ; f(y), y < 3).")
    assert report.errors == []
    kinds = [[ct.kind_of(c.right) for c in ct.clause.body if isinstance(c, tree.Comparison)] for ct in result]
    assert kinds == [[N], [N], [F], [F]]


def test_in_a_legacy_program_attributes_take_any_type_of_their_kind() -> None:
    rules = 'n(x) :- age(x). age(x) :- n(x). name(cat(x, "")) :- s(x). name(x) :- s(x).'
    assert messages(typed(RELATIONS + rules)[1]) != []
    assert messages(typed('.pragma "legacy"' + RELATIONS + rules)[1]) == []
    assert messages(typed('.pragma "legacy"' + RELATIONS + "n(x) :- s(x).")[1]) != []
