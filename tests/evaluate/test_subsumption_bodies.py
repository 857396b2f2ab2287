"""The bodies of subsumption rules: a tuple goes if another one subsumes it and the body holds of what is there.

The oracle finds all pairs by trying every two tuples, and knows nothing of plans.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given

import oracle
from evaluate.running import run
from state_oracle import Matcher, matched_by
from strategies.budget import examples, note_seed
from strategies.engine import checked_program
from strategies.epochs import Facts
from strategies.subject import Subject
from strategies.values import Chooser, Written
from tidelog.errors import TidelogError
from tidelog.plan.program import refuse_unplannable

DECLARATIONS = """.decl m(a: number, b: number)
.decl r(a: number)
.decl s(a: number, b: number)
.input m
.input r
.input s
"""
CONDITIONS = (
    "!r({v})", "!s({v}, {v})", "!s({v}, _)", "!s({v}, {v} + 1)", "r({v})", "s({v}, {v})", "s({v}, w)", "s({v}, _)",
    "m({v}, {v})", "m({v}, _)", "m(u, {v})", "m(_, 0)", "{v} < {v}", "{v} != {v}", "{v} >= {v}", "{v} = {v} + 1",
    "{v} <= count : {{ s({v}, _) }}", "{v} < max q : {{ s({v}, q) }}", "{v} = sum q : {{ s(q, {v}) }}",
    "{v} % 2 = 0", "strlen(to_string({v})) = {v}", "({v} < {v} ; r({v}))", "{v} = range(0, {v})",
)  # fmt: skip
HEAD_TERMS = ("x", "y", "z", "x", "y", "z", "_", "1", "x + 1")


@dataclass(frozen=True)
class Case:
    text: str
    facts: Facts
    later: Facts

    def __str__(self) -> str:
        return f"{self.text}// {self.facts}\n// {self.later}"


def cases(own_rules: bool = True) -> Written[Case]:
    def write(choose: Chooser) -> Case:
        lines = [_rule(choose) for _ in choose.repeat(1, 2, 4)]
        if own_rules and choose.chance(4):
            lines.append("m(x, y) :- s(x, y), !r(y).")
        return Case(DECLARATIONS + "\n".join(lines) + "\n", _facts(choose), _facts(choose))

    return Written(write)


def _rule(choose: Chooser) -> str:
    heads = [f"m({choose.pick(HEAD_TERMS)}, {choose.pick(HEAD_TERMS)})" for _ in range(2)]
    names = sorted({letter for letter in "xyz" if letter in "".join(heads)}) or ["0"]
    body = []
    for _ in choose.repeat(1, 3):
        condition = choose.pick(CONDITIONS)
        while "{v}" in condition:
            condition = condition.replace("{v}", choose.pick(names), 1)
        body.append(condition.replace("{{", "{").replace("}}", "}"))
    return f"{heads[0]} <= {heads[1]} :- {', '.join(choose.shuffled(body))}."


def _facts(choose: Chooser) -> Facts:
    def rows(arity: int, most: int) -> set[tuple[int, ...]]:
        return {tuple(choose.upto(3) for _ in range(arity)) for _ in choose.repeat(0, most, 9)}

    return {"m": rows(2, 8), "r": rows(1, 3), "s": rows(2, 6)}


def left_over(case_text: str, facts: Facts) -> set[tuple[int, ...]]:
    """What stays of m: all that is derived, without what another one subsumes."""
    checked = checked_program(case_text)
    relations = {name: set(rows) for name, rows in facts.items()}
    clauses = [checked.clause_types[n] for stratum in checked.strata for n in stratum.clauses]
    for types in clauses:
        if types.clause.greater is None:
            relations["m"] |= set(oracle.Evaluator(types, relations).heads())
    gone = set()
    for types in clauses:
        clause = types.clause
        if clause.greater is not None:
            for env in Matcher(types, relations).solve(oracle.constraints_first(clause.literals()), {}):
                less, greater = env[matched_by(clause.head)], env[matched_by(clause.greater)]
                if less != greater:
                    gone.add(less)
    return relations["m"] - gone


def is_program(text: str) -> bool:
    """Whether the variables of the heads have values, which the writer does not see to."""
    try:
        refuse_unplannable(checked_program(text))
    except TidelogError:
        return False
    return True


@examples(200)
@given(cases())
def test_what_stays_is_what_nothing_subsumes(case: Case) -> None:
    note_seed(case)
    if is_program(case.text):
        assert run(case.text, case.facts)["m"] == left_over(case.text, case.facts)


@examples(60)
@given(cases())
def test_an_epoch_leaves_what_a_new_evaluation_leaves(case: Case) -> None:
    note_seed(case)
    if is_program(case.text):
        subject = Subject(case.text, "elastic")
        subject.bootstrap(case.facts)
        subject.update(case.facts, case.later)
        assert set(subject.state()["m"]) == left_over(case.text, case.later)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("!r(x), m(y)", {(1,)}),
        ("m(y), !r(x)", {(1,)}),
        ("m(x), r(y)", {(1,)}),
        ("m(0)", {(1,), (2,)}),
        ("x > count : { r(_) }", {(1,)}),
        ("!r(x), z = x - 1, m(z)", {(1,)}),
    ],
)
def test_the_body_holds_of_what_is_there(body: str, expected: set[tuple[int]]) -> None:
    text = f".decl m(x: number)\n.decl r(x: number)\nm(1). m(2). r(1).\nm(x) <= m(y) :- {body}."
    assert run(text)["m"] == expected


def test_a_tuple_of_the_same_stratum_that_comes_late_lets_old_tuples_subsume_each_other() -> None:
    text = """
    .decl m(x: number)
    .decl late(x: number)
    m(1). m(7).
    m(x + 1) :- m(x), x < 4.
    late(x) :- m(x), x >= 4, x < 7.
    m(x) <= m(y) :- late(z), x = 1, y = 7, z > 0.
    """
    assert run(text)["m"] == {(2,), (3,), (4,), (7,)}


def test_a_subsumption_sees_nothing_that_another_relation_of_its_stratum_has_lost() -> None:
    text = """
    .decl m(x: number)
    .decl q(x: number)
    m(1). m(2). q(1). q(2). q(5).
    m(x + 1) :- q(x), x < 0.
    q(x + 1) :- m(x), x < 0.
    q(x + 1) :- q(x), x > 4, x < 9.
    m(x) <= m(y) :- q(z), z > 4, y = x + 1.
    q(x) <= q(y) :- m(x), y = 9.
    """
    found = run(text)
    assert (found["m"], found["q"]) == ({(2,)}, {(1,), (5,), (6,), (7,), (8,), (9,)})
