"""What programs mean: small ones, with their results written out."""

import pytest

from evaluate.running import run
from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits

EDGES = ".decl edge(x: number, y: number)\n"
CHAIN = [(1, 2), (2, 3), (3, 4)]


def test_the_closure_of_a_chain_holds_every_later_pair() -> None:
    text = EDGES + ".decl path(x: number, y: number)\npath(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z)."
    assert run(text, {"edge": CHAIN})["path"] == {(1, 2), (2, 3), (3, 4), (1, 3), (2, 4), (1, 4)}


def test_two_recursive_atoms_find_the_same_closure() -> None:
    text = EDGES + ".decl path(x: number, y: number)\npath(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), path(y, z)."
    assert run(text, {"edge": CHAIN})["path"] == {(1, 2), (2, 3), (3, 4), (1, 3), (2, 4), (1, 4)}


def test_mutual_recursion_tells_even_from_odd() -> None:
    text = """
    .decl even(x: number) .decl odd(x: number)
    even(0).
    odd(x + 1) :- even(x), x < 6.
    even(x + 1) :- odd(x), x < 6.
    """
    found = run(text)
    assert found["even"] == {(0,), (2,), (4,), (6,)}
    assert found["odd"] == {(1,), (3,), (5,)}


def test_negation_sees_the_complete_relation() -> None:
    text = (
        EDGES
        + """
    .decl node(x: number) .decl sink(x: number)
    node(x) :- edge(x, _) ; edge(_, x).
    sink(x) :- node(x), !edge(x, _).
    """
    )
    assert run(text, {"edge": CHAIN})["sink"] == {(4,)}


def test_a_nullary_relation_is_true_or_not() -> None:
    text = EDGES + ".decl cyclic()\n.decl fine()\ncyclic() :- edge(x, x).\nfine() :- !cyclic()."
    assert run(text, {"edge": CHAIN})["fine"] == {()}
    assert run(text, {"edge": [(1, 1)]})["fine"] == set()


def test_several_heads_and_alternatives_each_get_their_tuples() -> None:
    text = EDGES + ".decl a(x: number) .decl b(x: number)\na(x), b(y) :- edge(x, y), (x = 1 ; y = 4)."
    found = run(text, {"edge": CHAIN})
    assert found["a"] == {(1,), (3,)}
    assert found["b"] == {(2,), (4,)}


def test_a_repeated_variable_must_have_one_value() -> None:
    text = EDGES + ".decl loop(x: number)\nloop(x) :- edge(x, x)."
    assert run(text, {"edge": [(1, 1), (1, 2), (3, 3)]})["loop"] == {(1,), (3,)}


def test_aggregates_count_every_match() -> None:
    text = (
        EDGES
        + """
    .decl out(x: number, n: number, s: number, least: number, most: number)
    out(x, n, s, a, b) :- edge(x, _), n = count : { edge(x, _) }, s = sum y : { edge(x, y) },
                          a = min y : { edge(x, y) }, b = max y : { edge(x, y) }.
    """
    )
    assert run(text, {"edge": [(1, 2), (1, 5), (2, 7)]})["out"] == {(1, 2, 7, 2, 5), (2, 1, 7, 7, 7)}


def test_an_aggregate_over_nothing_is_zero_or_absent() -> None:
    text = (
        EDGES
        + """
    .decl n(x: number) .decl s(x: number) .decl m(x: number)
    n(x) :- x = count : { edge(_, _) }.
    s(x) :- x = sum y : { edge(_, y) }.
    m(x) :- x = min y : { edge(_, y) }.
    """
    )
    found = run(text)
    assert found["n"] == {(0,)}
    assert found["s"] == {(0,)}
    assert found["m"] == set()


def test_an_aggregate_whose_body_never_holds_is_over_nothing() -> None:
    program = """
    .decl e(x: number, y: number) .decl p(x: number)
    e(1, 2).
    p(count : { e(_, v), e(a, b), false }) :- e(1, 2).
    """
    assert run(program)["p"] == {(0,)}


def test_an_aggregate_may_stand_inside_another() -> None:
    text = (
        EDGES
        + """
    .decl busiest(n: number)
    busiest(n) :- n = max m : { edge(x, _), m = count : { edge(x, _) } }.
    """
    )
    assert run(text, {"edge": [(1, 2), (1, 3), (1, 4), (2, 3)]})["busiest"] == {(3,)}


def test_mean_is_a_float() -> None:
    text = EDGES + ".decl m(x: float)\nm(x) :- x = mean to_float(y) : { edge(_, y) }."
    assert run(text, {"edge": [(1, 2), (1, 5)]})["m"] == {(3.5,)}


def test_strings_are_joined_cut_and_measured() -> None:
    text = """
    .decl word(w: symbol) .decl out(a: symbol, n: number, part: symbol)
    word("tide"). word("log").
    out(cat(w, "!"), strlen(w), substr(w, 1, 2)) :- word(w).
    """
    assert run(text)["out"] == {("tide!", 4, "id"), ("log!", 3, "og")}


def test_match_and_contains_filter_texts() -> None:
    text = """
    .decl word(w: symbol) .decl m(w: symbol) .decl c(w: symbol) .decl n(w: symbol)
    word("abc"). word("abd"). word("xyz").
    m(w) :- word(w), match("ab.", w).
    c(w) :- word(w), contains("y", w).
    n(w) :- word(w), !match("ab.", w).
    """
    found = run(text)
    assert found["m"] == {("abc",), ("abd",)}
    assert found["c"] == {("xyz",)}
    assert found["n"] == {("xyz",)}


def test_texts_compare_by_their_letters() -> None:
    text = '.decl w(x: symbol) .decl p(x: symbol, y: symbol)\nw("b"). w("a"). w("ab").\np(x, y) :- w(x), w(y), x < y.'
    assert run(text)["p"] == {("a", "b"), ("a", "ab"), ("ab", "b")}


def test_records_are_made_and_taken_apart() -> None:
    text = """
    .type Pair = [a: number, b: number]
    .type List = [head: number, tail: List]
    .decl p(x: Pair) .decl swapped(x: Pair) .decl l(x: List) .decl heads(x: number)
    p([1, 2]). p([3, 3]).
    swapped([b, a]) :- p([a, b]).
    l([1, [2, nil]]).
    heads(h) :- l([h, _]).
    heads(h) :- l([_, [h, _]]).
    """
    found = run(text)
    assert found["swapped"] == {("[2, 1]",), ("[3, 3]",)}
    assert found["heads"] == {(1,), (2,)}


def test_branches_of_an_adt_are_told_apart() -> None:
    text = """
    .type Shape = Circle {r: number} | Box {w: number, h: number} | Point {}
    .decl s(x: Shape) .decl area(x: Shape, a: number)
    s($Circle(2)). s($Box(2, 3)). s($Point()).
    area(s, 3 * r * r) :- s(s), s = $Circle(r).
    area(s, w * h) :- s(s), s = $Box(w, h).
    area($Point(), 0) :- s($Point()).
    """
    assert run(text)["area"] == {("$Circle(2)", 12), ("$Box(2, 3)", 6), ("$Point", 0)}


def test_an_equivalence_relation_closes_itself() -> None:
    text = EDGES + ".decl same(x: number, y: number) eqrel\nsame(x, y) :- edge(x, y)."
    found = run(text, {"edge": [(1, 2), (3, 2), (5, 6)]})["same"]
    assert found == {(a, b) for group in ((1, 2, 3), (5, 6)) for a in group for b in group}


def test_an_equivalence_inside_recursion_is_complete() -> None:
    text = (
        EDGES
        + """
    .decl same(x: number, y: number) eqrel
    same(x, y) :- edge(x, y).
    same(a, b) :- same(x, y), edge(x, a), edge(y, b).
    """
    )
    found = run(text, {"edge": [(1, 2), (1, 3), (2, 7), (3, 8)]})["same"]
    assert found == {(a, b) for a in (1, 2, 3, 7, 8) for b in (1, 2, 3, 7, 8)}


def test_subsumption_keeps_the_shortest_distance() -> None:
    text = (
        EDGES
        + """
    .decl d(x: number, n: number)
    d(1, 0).
    d(y, n + 1) :- d(x, n), edge(x, y), n < 10.
    d(x, a) <= d(x, b) :- b < a.
    """
    )
    found = run(text, {"edge": [(1, 2), (2, 3), (1, 3), (3, 1)]})["d"]
    assert found == {(1, 0), (2, 1), (3, 1)}


def test_a_tuple_does_not_subsume_itself() -> None:
    text = ".decl p(x: number, y: number)\np(1, 2). p(1, 3).\np(x, a) <= p(x, b) :- a <= b."
    assert run(text)["p"] == {(1, 3)}


def test_a_choice_domain_keeps_one_tuple_per_key() -> None:
    text = EDGES + ".decl pick(x: number, y: number) choice-domain x\npick(x, y) :- edge(x, y)."
    found = run(text, {"edge": [(1, 2), (1, 3), (2, 5)]})["pick"]
    assert len(found) == 2
    assert (2, 5) in found


def test_inline_relations_are_computed_where_they_are_used() -> None:
    text = (
        EDGES
        + """
    .decl twice(x: number, y: number) inline
    twice(x, y) :- y = 2 * x.
    .decl small(x: number) inline
    small(x) :- x < 3.
    .decl out(x: number, y: number) .decl big(x: number)
    out(x, y) :- edge(x, _), twice(x, y).
    big(x) :- edge(x, _), !small(x).
    """
    )
    found = run(text, {"edge": CHAIN})
    assert found["out"] == {(1, 2), (2, 4), (3, 6)}
    assert found["big"] == {(3,)}


def test_ranges_count_up_and_down() -> None:
    text = ".decl r(x: number) .decl d(x: number)\nr(x) :- x = range(1, 8, 3).\nd(x) :- x = range(3, 0)."
    found = run(text)
    assert found["r"] == {(1,), (4,), (7,)}
    assert found["d"] == {(3,), (2,), (1,)}


def test_counters_number_each_tuple_once() -> None:
    text = EDGES + ".decl n(x: number, i: number)\nn(x, autoinc()) :- edge(x, _)."
    found = run(text, {"edge": CHAIN})["n"]
    assert {x for x, _ in found} == {1, 2, 3}
    assert len({i for _, i in found}) == 3


def test_numbers_have_64_bits_and_wrap_around() -> None:
    text = ".decl n(x: number)\nn(9223372036854775807 + 1). n(4294967296 * 2). n(-7 / 2). n(-7 % 3)."
    assert run(text)["n"] == {(-(2**63),), (2**33,), (-3,), (-1,)}


def test_unsigned_numbers_are_unsigned() -> None:
    text = ".decl u(x: unsigned) .decl big(x: unsigned)\nu(18446744073709551615). u(1).\nbig(x) :- u(x), x > 2."
    assert run(text)["big"] == {(2**64 - 1,)}


def test_floats_are_64_bit() -> None:
    text = ".decl f(x: float) .decl g(x: float)\nf(0.1). f(-2.5).\ng(x * 2) :- f(x), x < 1."
    assert run(text)["g"] == {(0.2,), (-5.0,)}


def test_division_by_zero_names_the_rule_and_the_values() -> None:
    text = EDGES + ".decl q(x: number)\nq(x / (y - 2)) :- edge(x, y)."
    with pytest.raises(TidelogError) as problem:
        run(text, {"edge": CHAIN})
    assert problem.value.codes == ("TL0801",)
    assert "1 / 0: division by zero" in str(problem.value)
    assert "q((x / (y - 2)))" in str(problem.value)


def test_a_text_that_is_no_number_names_the_rule_and_the_text() -> None:
    text = '.decl w(x: symbol) .decl n(x: number)\nw("12"). w("twelve").\nn(to_number(x)) :- w(x).'
    with pytest.raises(TidelogError, match="to_number\\('twelve'\\): this is not a number"):
        run(text)


def test_a_diverging_program_ends_at_the_limit_of_iterations() -> None:
    text = ".decl n(x: number)\nn(0).\nn(x + 1) :- n(x)."
    with pytest.raises(TidelogError) as problem:
        run(text, limits=Limits(max_iterations=100))
    assert problem.value.codes == ("TL0901",)
    assert "100 iterations" in str(problem.value)


def test_a_diverging_program_ends_at_the_time_limit() -> None:
    text = ".decl n(x: number)\nn(0).\nn(x + 1) :- n(x)."
    with pytest.raises(TidelogError) as problem:
        run(text, limits=Limits(timeout=0.3))
    assert problem.value.codes == ("TL0902",)


def test_limitsize_ends_a_relation_early() -> None:
    text = ".decl n(x: number)\n.limitsize n(n=10)\nn(0).\nn(x + 1) :- n(x)."
    assert len(run(text)["n"]) == 10


def test_components_are_evaluated_per_instance() -> None:
    text = (
        EDGES
        + """
    .comp Closure<T> {
        .decl in(x: T, y: T) .decl out(x: T, y: T)
        out(x, y) :- in(x, y).
        out(x, z) :- out(x, y), in(y, z).
    }
    .init there = Closure<number>
    .init back = Closure<number>
    there.in(x, y) :- edge(x, y).
    back.in(y, x) :- edge(x, y).
    """
    )
    found = run(text, {"edge": CHAIN})
    assert found["there.out"] == {(1, 2), (2, 3), (3, 4), (1, 3), (2, 4), (1, 4)}
    assert found["back.out"] == {(b, a) for a, b in found["there.out"]}


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_the_result(threads: int) -> None:
    text = EDGES + ".decl path(x: number, y: number)\npath(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z)."
    edges = [(i, (i * 7 + k) % 300) for i in range(300) for k in range(3)]
    reach = {a: {b for x, b in edges if x == a} for a in range(300)}
    for _ in range(9):
        reach = {a: found | {c for b in found for c in reach[b]} for a, found in reach.items()}
    assert run(text, {"edge": edges}, threads=threads)["path"] == {(a, b) for a in reach for b in reach[a]}
