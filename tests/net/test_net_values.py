"""Values, function relations, rules with computations, aggregates, and sets of facts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.errors import TidelogError
from tidelog.net import Fact, Meter, load, materialise, parse_updates, psn
from tidelog.net.annotated import annotated
from tidelog.net.derivations import Derivations
from tidelog.net.sets import EMPTY, FactSets


def derived(text: str, name: str) -> list[str]:
    return sorted(str(f) for f in materialise(load(text)).facts() if f.name == name)


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("1 + 2 * 3 - 4", "3"), ("7 / 2", "3.5"), ("6 / 2", "3"), ("-7 % 3", "2"), ("2 ^ 10", "1024"), ("2.5 * 2", "5"),
        ("f_init(a,b)", "[a, b]"), ("f_concat(a,[b, c])", "[a, b, c]"), ("f_concat([a],[b])", "[a, b]"),
        ("f_concatPath(a,[b])", "[a, b]"), ("f_append([a],b)", "[a, b]"), ("f_inPath([a, b],b)", "true"),
        ("f_member([a, b],c)", "false"), ("f_size([a, [b, c]])", "2"), ("f_first([a, b])", "a"),
        ("f_inRange(5,3,7)", "true"), ("f_inRange(1,60,4)", "true"), ("f_inRange(3,3,7)", "false"),
        ("f_last([a, b])", "b"), ("[1, [x]]", "[1, [x]]"),
    ],
)  # fmt: skip
def test_functions(term: str, value: str) -> None:
    assert derived(f"q. p(X) :- q, X = {term}.", "p") == [f"p({value})"]


@pytest.mark.parametrize("term", ["1 / 0", "1 % 0", "f_first([])", "f_last([])", "0 ^ -1", "(-1) ^ 0.5"])
def test_a_function_outside_its_domain_makes_no_fact(term: str) -> None:
    assert derived(f"q. p(X) :- q, X = {term}.", "p") == []
    assert derived(f"q. p({term}) :- q.", "p") == []


@pytest.mark.parametrize(
    "condition", ["1 + a = 2", "f_size(3) = 1", "1 < a", "9000000000000000000 * 9 > 1", "[1] < [a]"]
)
def test_values_of_the_wrong_kind_and_numbers_that_do_not_fit_are_errors_that_name_the_rule(condition: str) -> None:
    with pytest.raises(TidelogError, match=r"TL1031.*rule `r7` cannot be evaluated"):
        materialise(load(f"q. r7 p :- q, {condition}."))


def test_computations_may_stand_anywhere_in_a_rule() -> None:
    assert derived("q(1). q(2). p(X + 1) :- q(X), q(X + 1).", "p") == ["p(2)"]
    assert derived("q(1,1). q(1,2). p(X) :- q(X,X).", "p") == ["p(1)"]
    assert derived("q([1, 2],1). p(Y) :- q([Y, 2],Y).", "p") == ["p(1)"]
    assert derived("p(X) :- X = 2 + 3.", "p") == ["p(5)"]
    assert derived("p(1) :- 1 > 2.", "p") == []
    assert derived("p(1) :- false. p(2) :- true.", "p") == ["p(2)"]


def test_a_function_that_never_stops_ends_with_an_error_that_names_the_rule() -> None:
    with pytest.raises(TidelogError, match=r"TL1030.*not settled after 500 updates; rule `up` alone made 5\d\d"):
        materialise(load("q(1). up: q(X) :- q(Y), X = Y + 1."), meter=Meter(500))


def test_aggregates_are_over_sets() -> None:
    text = "link(a,b,1). link(a,c,2). link(a,d,2). hop(X,Y) :- link(X,Y,_). hop(X,Y) :- link(X,Y,C), C > 1.\n"
    assert derived(text + "n(X,count<*>) :- hop(X,Y).", "n") == ["n(a,3)"]
    assert derived(text + "s(X,sum<C>) :- link(X,Y,C).", "s") == ["s(a,5)"]
    assert derived(text + "m(X,min<C>,max<C>) :- link(X,Y,C).", "m") == ["m(a,1,2)"]
    assert derived(text + "v(X,a_AVG<C>) :- link(X,Y,C).", "v") == ["v(a,1.6666666666666667)"]
    assert derived("m(X,min<C>) :- q(X,C).", "m") == []
    with pytest.raises(TidelogError, match=r"TL1031.*rule `t` cannot be evaluated: b is not a number"):
        materialise(load(text + "t s(X,sum<Y>) :- link(X,Y,C)."))


def test_best_paths_follow_a_link_that_fails_and_comes_back() -> None:
    program = load(
        """sp1 path(@S,D,P,C) :- link(@S,D,C), P := f_init(S,D).
           sp2 path(@S,D,P,C) :- link(@S,Z,C1), bestPath(@Z,D,P2,C2), f_member(P2,S) == false,
                                 C := C1 + C2, P := f_concatPath(S,P2).
           sp3 bestCost(@S,D,min<C>) :- path(@S,D,P,C).
           sp4 bestPath(@S,D,P,C) :- bestCost(@S,D,C), path(@S,D,P,C).""",
        local=True,
    )
    links = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("a", "d", 9), ("b", "d", 4)]
    both = [Fact("link", t) for a, b, c in links for t in ((a, b, c), (b, a, c))]
    configuration = materialise(program, both)

    def best() -> list[str]:
        return sorted(str(f) for f in configuration.facts() if f.name == "bestPath" and f.args[:2] == ("a", "d"))

    assert best() == ["bestPath(a,d,[a, b, c, d],3)"]
    psn(configuration, parse_updates("-link(@c,d,1), -link(@d,c,1)", program))
    assert best() == ["bestPath(a,d,[a, b, d],5)"]
    psn(configuration, parse_updates("-link(@a,b,1), -link(@b,a,1)", program))
    assert best() == ["bestPath(a,d,[a, d],9)"]
    psn(configuration, parse_updates("+link(@a,b,1), +link(@b,a,1), +link(@c,d,1), +link(@d,c,1)", program))
    assert best() == ["bestPath(a,d,[a, b, c, d],3)"]


def test_cutting_cycles_gives_the_same_facts_with_fewer_copies() -> None:
    program = load("r(@X,Y) :- e(@X,Y). r(@X,Y) :- e(@X,Z), r(@Z,Y).")
    ring = [Fact("e", (i, (i + 1) % 5)) for i in range(5)]
    whole, cut = annotated(program, ring), annotated(program, ring, cut=True)
    assert whole.configuration.facts() == cut.configuration.facts()
    assert len(whole.configuration.view()) == 55
    assert len(cut.configuration.view()) == 30


FACTS = [Fact("f", (i,)) for i in range(300)]
subsets = st.sets(st.sampled_from(FACTS), max_size=40)


@settings(max_examples=200, deadline=None)
@given(st.lists(subsets, min_size=2, max_size=6))
def test_sets_of_facts_are_sets_and_equal_sets_have_one_number(groups: list[set[Fact]]) -> None:
    sets = FactSets()
    for fact in FACTS:
        sets.number(fact)
    numbers = [sets.of(sorted(g, reverse=i % 2 == 1)) for i, g in enumerate(groups)]
    for a, x in zip(numbers, groups, strict=True):
        assert sets.members(a) == x
        assert sets.size(a) == len(x)
        assert all(sets.contains(a, f) == (f in x) for f in FACTS)
        for b, y in zip(numbers, groups, strict=True):
            assert (a == b) == (x == y)
            assert sets.members(sets.union(a, b)) == x | y
            assert sets.union(a, b) == sets.union(b, a) == sets.of(y | x)
    assert sets.of([]) == EMPTY


def test_annotations_print_as_in_the_paper() -> None:
    derivations = Derivations()
    assert derivations.sets.show(derivations.sets.of([Fact("s"), Fact("p", (1,))])) == "{s,p(1)}"
    assert derivations.sets.show(EMPTY) == "∅"
