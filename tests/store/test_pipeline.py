"""Pipelines against the naive evaluator: random steps, every place of interruption, every kind of growth."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from step_oracle import Naive

from tidelog.plan.steps import (
    Absent,
    Bound,
    Compute,
    Const,
    CurrentIteration,
    Emit,
    Exists,
    Filter,
    Generate,
    Kind,
    Match,
    Pack,
    Probe,
    Scan,
    Slot,
    Unpack,
    View,
)  # fmt: skip
from tidelog.store import ArithmeticFault, Database

ARITIES = {"none": 0, "one": 1, "two": 2, "three": 3, "five": 5}
small = st.integers(-2, 4)
values = st.one_of(small, small, small, st.sampled_from([2**31 - 1, -(2**31), 2**40, -(2**63), 2**63 - 1]))
kinds = st.sampled_from([Kind.NUMBER, Kind.UNSIGNED])
comparisons = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


def rows(arity: int, value: Any, most: int = 8) -> Any:
    return st.lists(st.tuples(*[value] * arity), max_size=most)


@st.composite
def facts(draw: Any) -> dict[str, tuple[list[Any], list[Any], list[Any]]]:
    value = draw(st.sampled_from([small, values]))
    found = {}
    for name, arity in ARITIES.items():
        seen: set[Any] = set()
        parts = []
        for _ in range(2):
            part = [r for r in dict.fromkeys(draw(rows(arity, value))) if r not in seen]
            seen.update(part)
            parts.append(part)
        found[name] = (parts[0], parts[1], [])
    return found


@st.composite
def programs(draw: Any) -> list[Any]:
    """Scan, up to four steps, Emit."""
    count = 0
    steps: list[Any] = []
    packed: list[int] = []

    def operand() -> Any:
        plain = [s for s in range(count) if s not in packed]  # ids of records depend on the order of evaluation
        if plain and draw(st.booleans()):
            return Slot(draw(st.sampled_from(plain)))
        return Const(Kind.NUMBER, draw(values if draw(st.integers(0, 9)) == 0 else small))

    def match(binds: bool, bound: bool = True) -> Match:
        nonlocal count
        name = draw(st.sampled_from(list(ARITIES)))
        view = draw(st.sampled_from([View.ALL, View.ALL, View.DELTA, View.OLD]))
        key, outputs, same, bounds = [], [], [], []
        for c in range(ARITIES[name]):
            choice = draw(st.integers(0, 5))
            if choice <= 1:
                key.append((c, operand()))
            elif choice == 2 and c:
                same.append((draw(st.integers(0, c - 1)), c))
            elif choice == 3 and bound:
                bounds.append(Bound(c, draw(st.sampled_from(["<", "<=", ">", ">="])), operand(), draw(kinds)))
        taken = {c for c, _ in key}
        if len(key) == ARITIES[name] and view is not View.ALL:
            view = View.ALL  # whole tuples are looked up in everything that is known
        if len(taken | {c for p in same for c in p}) == ARITIES[name]:
            view = View.ALL
        if binds:
            for c in range(ARITIES[name]):
                if c not in taken and draw(st.integers(0, 3)):
                    outputs.append((c, count))
                    count += 1
        return Match(name, view, tuple(key), tuple(outputs), tuple(same), tuple(bounds))

    if draw(st.integers(0, 5)):
        steps.append(Scan(match(binds=True)))
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(
            st.sampled_from(
                ["probe", "probe", "exists", "absent", "filter", "compute", "range", "pack", "unpack", "iteration"]
            )
        )
        if kind == "probe":
            steps.append(Probe(match(binds=True)))
        elif kind == "exists":
            steps.append(Exists(match(binds=False)))
        elif kind == "absent":
            steps.append(Absent(match(binds=False)))
        elif kind == "filter":
            steps.append(Filter(draw(comparisons), draw(kinds), operand(), operand()))
        elif kind == "range":
            step = draw(st.sampled_from([(), *((Const(Kind.NUMBER, by),) for by in (-1, 0, 2))]))
            ends = (Const(Kind.NUMBER, draw(small)), Const(Kind.NUMBER, draw(small)))
            steps.append(Generate(count, Kind.NUMBER, (*ends, *step)))
            count += 1
        elif kind == "pack":
            steps.append(Pack(count, (operand(), operand())))
            packed.append(count)
            count += 1
        elif kind == "iteration":
            steps.append(CurrentIteration(count))
            count += 1
        elif kind == "unpack":
            if packed:
                record = Slot(draw(st.sampled_from(packed)))
                checks = ((1, operand()),) if draw(st.integers(0, 3)) == 0 else ()
                steps.append(Unpack(record, 2, ((0, count), (1, count + 1)), checks))
                count += 2
        else:
            op = draw(
                st.sampled_from(
                    [
                        "+",
                        "-",
                        "*",
                        "/",
                        "%",
                        "band",
                        "bor",
                        "bxor",
                        "bshl",
                        "bshr",
                        "bshru",
                        "bnot",
                        "land",
                        "lor",
                        "lxor",
                        "lnot",
                        "neg",
                        "min",
                        "max",
                        "^",
                    ]
                )
            )
            k = Kind.NUMBER if op == "neg" else draw(kinds)
            args = (operand(), operand())
            if op in ("/", "%"):
                args = (args[0], Const(k, draw(st.sampled_from([1, 2, 3, 7]))))
            if op == "^":
                args = (args[0], Const(k, draw(st.integers(0, 5))))
            if op in ("bnot", "lnot", "neg"):
                args = args[:1]
            if op in ("min", "max"):
                args = (*args, operand())
            steps.append(Compute(count, op, k, args, (k,) * len(args)))
            count += 1
    steps.append(Emit("head", tuple(operand() for _ in range(draw(st.integers(0, 3))))))
    return steps


def load(db: Database, found: dict[str, tuple[list[Any], list[Any], list[Any]]]) -> None:
    for name, (old, delta, _) in found.items():
        relation = db.create(name, ARITIES[name])
        relation.insert(np.array(old, np.int64).reshape(len(old), ARITIES[name]))
        relation.settle()
        relation.insert(np.array(delta, np.int64).reshape(len(delta), ARITIES[name]))
        relation.advance()


settings_of_store = st.fixed_dictionaries(
    {
        "chunk": st.sampled_from([1, 2, 3, 8, 512]),
        "initial_capacity": st.sampled_from([1, 3, 64]),
        "bitmaps_from": st.sampled_from([1, 8, 1 << 14]),
        "budget": st.sampled_from([0, 20, 1 << 22]),
    }
)


@settings(max_examples=int(os.environ.get("STORE_EXAMPLES", "300")), deadline=None)
@given(facts(), programs(), settings_of_store)
def test_a_pipeline_derives_what_the_naive_evaluator_derives(found: Any, steps: Any, options: Any) -> None:
    db = Database(**options)
    load(db, found)
    head = db.create("head", len(steps[-1].args))
    naive = Naive(found)
    naive.run(steps)
    pipe = db.pipeline(steps)
    pipe.run()
    assert {tuple(r) for r in head.rows().tolist()} == {row for _, row in naive.derived}
    assert head.count == len({row for _, row in naive.derived})
    assert pipe.derivations == len(naive.derived)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 4), st.data(), settings_of_store)
def test_inserting_in_parts_keeps_each_tuple_once(arity: int, data: Any, options: Any) -> None:
    db = Database(**options)
    relation = db.create("r", arity)
    known: set[Any] = set()
    for _ in range(3):
        batch = data.draw(rows(arity, values, 40))
        new = relation.insert(np.array(batch, np.int64).reshape(len(batch), arity))
        assert new == len(set(batch) - known)
        known |= set(batch)
        assert {tuple(r) for r in relation.rows().tolist()} == known
        asked = data.draw(rows(arity, values, 40))
        array = np.array(asked, np.int64).reshape(len(asked), arity)
        assert relation.contains(array).tolist() == [r in known for r in asked]


def test_division_by_zero_names_the_operands() -> None:
    db = Database()
    db.create("one", 1).insert([[7]])
    db["one"].settle()
    db.create("head", 1)
    zero = Const(Kind.NUMBER, 0)
    pipe = db.pipeline(
        [
            Scan(Match("one", View.ALL, (), ((0, 0),))),
            Compute(1, "/", Kind.NUMBER, (Slot(0), zero), (Kind.NUMBER,) * 2),
            Emit("head", (Slot(1),)),
        ]
    )
    with pytest.raises(ArithmeticFault, match="7 / 0"):
        pipe.run()


def test_a_batch_goes_in_and_a_batch_comes_out() -> None:
    db = Database(chunk=2)
    db.create("two", 2).insert([[1, 10], [1, 11], [2, 20]])
    db["two"].settle()
    steps = [Probe(Match("two", View.ALL, ((0, Slot(1)),), ((1, 2),)))]
    pipe = db.pipeline(steps, inputs=(0, 1), outputs=(2, 0))
    assert pipe.run([[5, 1], [6, 2], [7, 3], [8, 1]]).tolist() == [[10, 5], [11, 5], [20, 6], [10, 8], [11, 8]]
    assert pipe.run(np.zeros((0, 2))).tolist() == []
