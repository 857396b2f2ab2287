"""`@@f x : init, { … }`: a functor of the user folds what a body finds."""

import tidelog
from evaluate.running import run

TEXT = """
.type Interval = [low: number, high: number]
.functor hull(i: Interval, x: number): Interval stateful
.functor join(a: symbol, b: symbol): symbol
.decl n(group: symbol, x: number)
.input n
.decl groups(group: symbol)
.input groups
.decl r(group: symbol, i: Interval)
r(g, i) :- groups(g), i = @@hull x : [0, 0], { n(g, x) }.
.decl names(all: symbol)
names(@@join g : "", { groups(g) }).
"""
FUNCTORS = {
    "hull": lambda i, x: (min(i[0], x), max(i[1], x)),
    "join": lambda a, b: f"{a},{b}" if a else b,
}
FACTS = {"n": [("a", 3), ("a", -2), ("b", 7)], "groups": [("b",), ("a",), ("c",)]}


def test_a_functor_folds_the_matches_of_each_group() -> None:
    found = run(TEXT, FACTS, FUNCTORS)
    assert found["r"] == {("a", "[-2, 3]"), ("b", "[0, 7]"), ("c", "[0, 0]")}


def test_values_come_in_their_order_so_that_updates_and_new_evaluations_agree() -> None:
    assert run(TEXT, FACTS, FUNCTORS)["names"] == {("a,b,c",)}


def test_an_update_folds_the_touched_groups_again() -> None:
    with tidelog.Session(TEXT, functors=FUNCTORS) as session:
        session.bootstrap(FACTS)
        session.update(insert={"n": [("c", 5)], "groups": [("d",)]}, delete={"n": [("a", -2)]})
        assert set(session["r"]) == {("a", "[0, 3]"), ("b", "[0, 7]"), ("c", "[0, 5]"), ("d", "[0, 0]")}
        assert set(session["names"]) == {("a,b,c,d",)}
