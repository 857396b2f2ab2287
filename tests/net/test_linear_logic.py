"""The focused prover on sequents that have nothing to do with Datalog: it proves what linear logic proves."""

from __future__ import annotations

from itertools import product

import pytest

from tidelog.errors import InternalError, TidelogError
from tidelog.net.linear import Contexts, Search, Sequent, show_macros
from tidelog.net.linear.formulas import (
    AtomFormula,
    Bang,
    Bottom,
    Compared,
    Definition,
    Dual,
    Equal,
    Forall,
    Formula,
    One,
    Par,
    Plus,
    Quest,
    Tensor,
    ThereIs,
    Top,
    With,
    Zero,
)  # fmt: skip
from tidelog.net.linear.instructions import End, Load, Loop, Unload, copy, move
from tidelog.net.linear.terms import (
    EXEC,
    MAXIMAL,
    MINIMAL,
    PICKED,
    QUERY,
    RULES,
    TEST,
    UNBOUNDED,
    UPD,
    ContextIndex,
    Var,
    auxiliary,
    below,
    delta,
    hat,
    updated,
    view,
)  # fmt: skip

A, B, C = (AtomFormula(ContextIndex("view", n)) for n in "abc")
NA, NB, NC = Dual(A), Dual(B), Dual(C)
X = Var("X")
INDEXES = [
    UPD, PICKED, EXEC, RULES, QUERY, MAXIMAL, MINIMAL, TEST, view("p"), updated("p"), delta("p"), auxiliary("p", 1),
    hat(view("p")), hat(updated("p")), hat(view("p"), UPD),
]  # fmt: skip


def provable(*formulas: Formula, context: Contexts | None = None) -> bool:
    start = Sequent(context or Contexts(), formulas)
    for negative in formulas:
        if negative.positive is False and not isinstance(negative, AtomFormula):
            raise AssertionError("give a stable sequent")
    return Search(20_000).derive(start) is not None


def whole(formula: Formula) -> bool:
    """Whether ⊢ F, for a formula of any polarity: by way of F ⊗ 1 with F released."""
    return provable(Tensor(formula, One()))


@pytest.mark.parametrize(
    "formula",
    [
        Par(A, NA), Par(NA, A), One(), Top(), Par(Bottom(), One()), Par(Par(A, B), Tensor(NA, NB)),
        Par(With(A, B), Plus(NA, NB)), Par(A, Plus(NA, NB)), Par(Tensor(NA, NB), Par(B, A)), Par(Top(), A),
        Par(Par(A, Par(B, C)), Tensor(Tensor(NA, NB), NC)), With(One(), Par(A, NA)), Bang(MINIMAL, Par(A, NA)),
        Par(Quest(MAXIMAL, Tensor(NA, Bottom())), Par(A, Par(A, One()))), Par(Quest(MAXIMAL, NA), One()),
        Forall(("X",), Par(AtomFormula(view("p"), (X,)), ThereIs(("Y",), Dual(AtomFormula(view("p"), (Var("Y"),)))))),
        Par(Tensor(NA, Par(B, NB)), A), Plus(Zero(), One()), Equal(1, 1), Compared("<", 1, 2),
    ],
)  # fmt: skip
def test_theorems_are_proved(formula: Formula) -> None:
    assert whole(formula)


@pytest.mark.parametrize(
    "formula",
    [
        A, NA, Zero(), Bottom(), Tensor(A, NA), Par(A, A), Par(A, Par(A, NA)), Par(A, Tensor(NA, NA)),
        Par(Par(A, B), Plus(NA, NB)), Par(With(A, B), Tensor(NA, NB)), Par(A, One()), Plus(Zero(), Zero()),
        With(One(), Bottom()), Par(Plus(A, B), With(NA, NC)), Tensor(One(), Bottom()), Equal(1, 2), Compared("<", 2, 1),
        Par(Tensor(A, B), Tensor(NA, NB)), Par(Quest(UPD, NA), One()),
        Par(Quest(UPD, Tensor(NA, Bottom())), Par(A, Par(A, One()))),
    ],
)  # fmt: skip
def test_what_is_no_theorem_is_not(formula: Formula) -> None:
    assert not whole(formula)


def test_the_order_of_indexes_is_a_preorder_and_the_unbounded_are_closed_upwards() -> None:
    for a, b, c in product(INDEXES, repeat=3):
        assert below(a, a)
        assert not (below(a, b) and below(b, c)) or below(a, c), (a, b, c)
        assert not (a in UNBOUNDED and below(a, b)) or b in UNBOUNDED
    assert all(below(MINIMAL, i) and below(i, MAXIMAL) for i in INDEXES)


def test_a_bang_asks_of_the_contexts_what_the_order_says() -> None:
    for banged, held in product(INDEXES, INDEXES):
        if held.kind in ("hat", "-∞"):
            continue
        above = Contexts().add(held, AtomFormula(held)).above(banged)
        if below(banged, held):
            assert above == Contexts().add(held, AtomFormula(held))
        else:
            assert above == (Contexts() if held in UNBOUNDED else None)
    assert not below(hat(view("p")), view("p"))
    assert not any(below(TEST, i) for i in (UPD, PICKED, EXEC))
    assert all(below(TEST, i) for i in (RULES, QUERY, view("p"), updated("p")))


def test_a_hat_can_only_be_banged_when_its_contexts_are_empty() -> None:
    one = Bang(hat(view("a")), One())
    goal = Bang(hat(view("a")), NB)
    assert provable(one)
    assert not provable(goal, context=Contexts().add(view("a"), A).add(view("b"), B))
    assert provable(goal, context=Contexts().add(view("b"), B))
    assert not provable(Tensor(NB, One()), context=Contexts().add(view("a"), A).add(view("b"), B))


def test_nothing_may_be_left_in_the_linear_context_under_a_bang() -> None:
    assert not provable(Bang(MINIMAL, NA), A)
    assert provable(Bang(MINIMAL, NA), context=Contexts().add(view("a"), A))


def test_unbounded_formulas_may_be_used_often_or_never_linear_ones_exactly_once() -> None:
    rule = Contexts().add(RULES, AtomFormula(RULES, (1,)))
    use = Dual(AtomFormula(RULES, (1,)))
    for times in range(4):
        goal: Formula = One()
        for _ in range(times):
            goal = Tensor(use, goal)
        assert provable(goal, context=rule)
    one_a = Contexts().add(view("a"), A)
    assert [provable(g, context=one_a) for g in (One(), NA, Tensor(NA, NA))] == [False, True, False]


def test_an_atom_lives_in_the_context_it_is_named_after() -> None:
    for index in (view("b"), MINIMAL, TEST):
        with pytest.raises(InternalError):
            Contexts().add(index, A)


# ---- instructions


def store(name: str, *values: int) -> Contexts:
    context = Contexts()
    for value in values:
        context = context.add(view(name), AtomFormula(view(name), (value,)))
    return context


def run(program: Formula, context: Contexts) -> list[Contexts]:
    """The different contexts in which a program can end."""
    search, ended, seen, pending = Search(commit=False), [], set(), [Sequent(context, (program,))]
    while pending:
        sequent = pending.pop()
        if not sequent.linear:
            ended.append(sequent.context)
            continue
        for macro in search.focus.macro_rules(sequent):
            pending += [p for p in macro.premises if p not in seen]
            seen.update(macro.premises)
    return ended


def stable(formula: Formula) -> Formula:
    """A negative program under a bang that does nothing, so that it can be decided on."""
    return Bang(MINIMAL, formula)


def test_load_and_unload_add_and_take_one_element() -> None:
    assert run(stable(Load((2,), view("p"), End())), store("p", 1)) == [store("p", 1, 2)]
    assert run(Unload(view("p"), (1,), End()), store("p", 1, 1, 2)) == [store("p", 1, 2)]
    assert run(Unload(view("p"), (3,), End()), store("p", 1)) == []


def test_loop_ends_only_when_its_context_is_empty() -> None:
    drop = Loop(view("p"), ("v",), Unload(view("q"), (Var("v"),), Load((0,), view("r"), Tensor(One(), End()))), End())
    assert run(drop, store("p", 1)) == []
    assert run(Loop(view("p"), ("v",), End(), End()), store("p")) == [Contexts()]


@pytest.mark.parametrize("elements", [(), (1,), (1, 2, 3), (1, 1, 2)])
def test_move_moves_all_in_any_order_to_the_same_end(elements: tuple[int, ...]) -> None:
    assert run(move(view("p"), view("q"), End()), store("p", *elements)) == [store("q", *elements)]


def test_copy_leaves_its_source_as_it_was() -> None:
    [after] = run(copy(view("p"), view("s"), view("q"), End()), store("p", 1, 1, 2))
    assert after[view("p")] == store("p", 1, 1, 2)[view("p")]
    assert after[view("q")] == store("q", 1, 1, 2)[view("q")]
    assert not after[view("s")]


# ---- limits


def test_a_search_without_end_is_stopped_by_the_limit() -> None:
    grows = Contexts().add(MAXIMAL, Bang(MINIMAL, Load((1,), view("p"), End())))
    search = Search(5_000)
    with pytest.raises(TidelogError, match="TL1090"):
        search.derive(Sequent(grows))
    assert search.focus.applied == 5_001


class Again(Definition):
    """A definition that stands for itself."""

    def unfold(self) -> Formula:
        return Bang(MINIMAL, Tensor(One(), Plus(Again(), Again())))


def test_a_search_that_comes_back_to_where_it_was_ends() -> None:
    assert Search(5_000).derive(Sequent(Contexts(), [Loop(view("p"), ("v",), End(), Again())])) is None


def test_splitting_many_resources_is_stopped_by_the_limit() -> None:
    many = Contexts()
    for i in range(60):
        many = many.add(view("p"), AtomFormula(view("p"), (i,)))
    with pytest.raises(TidelogError, match="TL1090"):
        Search(5_000).derive(Sequent(many, [Tensor(Tensor(One(), One()), NA)]))


def test_a_deep_formula_is_refused() -> None:
    deep: Formula = One()
    for _ in range(5_000):
        deep = Tensor(One(), deep)
    for formula in (deep, Bang(MINIMAL, Par(Bottom(), deep))):
        with pytest.raises(TidelogError, match="TL1091"):
            Search().derive(Sequent(Contexts(), [formula]))


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (ThereIs(("X",), AtomFormula(view("p"), (X,))), "focus ends before X has a value"),
        (ThereIs(("X",), Compared("<", X, 1)), "before its variables have values"),
        (ThereIs(("X",), Dual(AtomFormula(view(X)))), "is not known when focus reaches it"),
    ],
)
def test_a_variable_that_nothing_determines_is_refused(formula: Formula, says: str) -> None:
    with pytest.raises(TidelogError, match=says) as raised:
        Search().derive(Sequent(Contexts(), [formula]))
    assert raised.value.codes == ("TL1091",)


def test_a_proof_prints_its_conclusions_and_rules() -> None:
    proof = Search().derive(Sequent(Contexts().add(view("a"), A), [Tensor(NA, Par(B, NB))]))
    assert proof is not None
    assert show_macros(proof) == (
        "⊢ a{·} : ((a)^⊥ ⊗ (b ⅋ (b)^⊥)) ⇑ ·\n"
        "    D_1 ((a)^⊥ ⊗ (b ⅋ (b)^⊥)) · ⊗ · I a · ⅋  [1]\n"
        "⊢ ∅ : b, (b)^⊥ ⇑ ·\n"
        "    D_1 (b)^⊥ · I b  [0]\n"
    )
