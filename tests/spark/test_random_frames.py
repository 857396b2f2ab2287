"""Random programs and histories on Spark: the DataFrame executor finds what the oracle finds, counts included.

A few by default, since each takes some twenty Spark jobs, and on a busy machine no more than fit into two minutes: a
test that pytest interrupts says nothing. `TIDELOG_FUZZ=1000 pytest --timeout 0 tests/spark/test_random_frames.py` for a
longer run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from frame_subject import FrameSubject
from hypothesis import HealthCheck, Phase, given, seed, settings

import interpreter
import oracle
from strategies.budget import SEED, TOTAL, note_seed
from strategies.engine import checked_program
from strategies.epochs import History, histories
from strategies.programs import Example, Features, programs
from tidelog.errors import TidelogError
from tidelog.spark.dataframe import tables


def subject_of(spark: Any, text: str, strategy: str) -> FrameSubject | None:
    """The executor, or None if the program is refused."""
    try:
        return FrameSubject(spark, text, strategy)
    except TidelogError:
        return None


def deadline() -> float:
    """When a test that begins now does not begin anything else."""
    return time.monotonic() + (math.inf if TOTAL else 120.0)


def compare_batch(spark: Any, example: Example, until: float) -> None:
    if time.monotonic() > until:
        return
    note_seed(example)
    subject = subject_of(spark, as_inputs(example), "batch")
    if subject is None:
        return
    plain = checked_program(as_inputs(example).replace(" inline", "")) if example.inlined else subject.checked
    wanted = oracle.evaluate(plain, example.facts)
    subject.bootstrap(example.facts)
    found = subject.relations()
    for name, rows in wanted.items():
        if name not in example.inlined:
            assert found[name] == rows, f"{name}: too many {found[name] - rows}, missing {rows - found[name]}"


def compare_history(spark: Any, history: History, until: float) -> None:
    note_seed(history)
    text = as_inputs(history.example)
    subject = subject_of(spark, text, "update-paper")
    if subject is None:
        return
    whole = {name for stratum in subject.engine.frames.program.strata if stratum.whole for name in stratum.relations}
    for number, facts in enumerate(history.facts()):
        if time.monotonic() > until:
            return
        if number == 0:
            subject.bootstrap(facts)
        else:
            epoch = history.epochs[number - 1]
            subject.update(epoch.delete, epoch.insert)
        found, wanted = subject.state(), interpreter.state(subject.checked, facts)
        for name, entries in wanted.items():
            if name in history.example.inlined:
                continue
            if name in whole:
                assert set(found[name]) == set(entries), (number, name)
            else:
                assert found[name] == entries, (number, name, found[name], entries)


def as_inputs(example: Example) -> str:
    """The program with an `.input` for each relation that has facts."""
    missing = [name for name in example.facts if f".input {name}\n" not in example.text]
    return example.text + "".join(f".input {name}\n" for name in missing)


def frame_examples(in_ci: int) -> Callable[[Any], Any]:
    """So many examples; one that fails is not made smaller, which would take hours."""
    quick = settings(
        max_examples=TOTAL or in_ci, phases=[Phase.generate], deadline=None, database=None, print_blob=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    def decorate(test: Any) -> Any:
        return seed(SEED)(quick(test))

    return decorate


def test_the_executor_agrees_with_the_oracle(spark: Any) -> None:
    until = deadline()

    @frame_examples(4)
    @given(programs())
    def agrees(example: Example) -> None:
        compare_batch(spark, example, until)

    agrees()


def test_states_are_those_of_bootstrap_after_every_epoch(spark: Any) -> None:
    until = deadline()

    @frame_examples(2)
    @given(histories(Features(derived_inputs=True)) | histories(Features(types=("float",), derived_inputs=True)))
    def agrees(history: History) -> None:
        compare_history(spark, history, until)

    agrees()


def test_states_are_the_same_where_relations_are_spread_over_tasks(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SMALL", 0)
    monkeypatch.setattr(tables, "BROADCAST", 2)
    until = deadline()

    @frame_examples(2)
    @given(histories(Features(derived_inputs=True)))
    def agrees(history: History) -> None:
        compare_history(spark, history, until)

    agrees()
