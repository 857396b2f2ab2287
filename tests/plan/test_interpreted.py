"""Random programs: plans, run step by step in plain Python, find what the oracle finds, whatever order they join in."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import interpreter
import oracle
from strategies.budget import examples, note_seed
from strategies.engine import checked_program
from strategies.programs import Example, programs
from tidelog.analysis.checked import Checked
from tidelog.errors import TidelogError
from tidelog.plan.flatten import flatten
from tidelog.plan.orders.delta import delta_plans
from tidelog.plan.orders.estimate import Guess
from tidelog.plan.orders.order import order
from tidelog.plan.steps import View

ORDERS = st.lists(st.integers(0, 9), min_size=1, max_size=12)


def checked_or_none(text: str) -> Checked | None:
    try:
        return checked_program(text)
    except TidelogError:
        return None


@pytest.mark.parametrize("part", range(2))
def test_the_planned_order_gives_the_same_results(part: int) -> None:
    @examples(200, 2, part)
    @given(programs(), st.booleans())
    def agrees(example: Example, existential: bool) -> None:
        compare(example, None, existential)

    agrees()


@pytest.mark.parametrize("part", range(2))
def test_any_order_gives_the_same_results(part: int) -> None:
    @examples(300, 2, part)
    @given(programs(), ORDERS, st.booleans())
    def agrees(example: Example, numbers: list[int], existential: bool) -> None:
        compare(example, numbers, existential)

    agrees()


def compare(example: Example, numbers: list[int] | None, existential: bool) -> None:
    note_seed(example)
    checked, plain = checked_or_none(example.text), checked_or_none(example.text.replace(" inline", ""))
    if checked is None or plain is None:
        return
    arities = {name: info.arity for name, info in checked.relations.items()}
    estimate = Guess(arities) if numbers is None else interpreter.Shuffled(numbers)
    found = interpreter.evaluate(checked, example.facts, estimate, existential)
    for name, rows in oracle.evaluate(plain, example.facts).items():
        if name not in example.inlined:
            assert found[name] == rows, f"{name}: too many {found[name] - rows}, missing {rows - found[name]}"


@examples(200)
@given(programs(), ORDERS, st.integers(0, 2**32))
def test_the_pivots_together_find_each_new_derivation_once(example: Example, numbers: list[int], split: int) -> None:
    """Split every relation into old and new tuples: the plans with a pivot find all derivations less the old ones."""
    note_seed(example)
    checked = checked_or_none(example.text)
    if checked is None:
        return
    results = oracle.evaluate(checked, example.facts)
    known: dict[str, list[interpreter.Row]] = {}
    old: dict[str, list[interpreter.Row]] = {}
    for name, info in checked.relations.items():
        known[name] = [interpreter.encode_row(row, info, checked.types) for row in sorted(results[name], key=repr)]
        old[name] = [row for place, row in enumerate(known[name]) if split >> place % 32 & 1]

    def rows(name: str, view: View) -> list[interpreter.Row]:
        if view is View.DELTA:
            return [row for row in known[name] if row not in old[name]]
        return known[name] if view is View.ALL else old[name]

    for number, types in enumerate(checked.clause_types):
        rule = flatten(number, types)
        estimate = interpreter.Shuffled(numbers)
        everything = Counter(interpreter.emits(order(rule, {}, estimate, existential=False), rows))
        before_views = {atom.position: View.OLD for atom in rule.atoms()}
        before = Counter(interpreter.emits(order(rule, before_views, estimate, existential=False), rows))
        pivots = delta_plans(rule, set(known), estimate, existential=False)
        new = Counter(row for plan in pivots for row in interpreter.emits(plan, rows))
        assert not pivots or new == everything - before
