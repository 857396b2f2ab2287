"""Programs rewritten for evaluation with state: as text, and equal to what they were.

Each program of `stateful/` has the rewritten rules beside it; `TIDELOG_REWRITE=1 pytest tests/plan/test_stateful.py`
writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given

import interpreter
import state_oracle
from strategies.budget import examples, note_seed
from strategies.engine import checked_program
from strategies.programs import Example, Features, programs
from tidelog.errors import TidelogError
from tidelog.plan import core
from tidelog.plan.orders.estimate import Guess
from tidelog.plan.rewrites import extract_aggregates, project_negations, read_classes
from tidelog.plan.show.rules import show_stateful
from tidelog.plan.stateful import StatefulProgram, stateful_program

FIXTURES = sorted((Path(__file__).parent / "stateful").glob("*.dl"))
PARTS = 2


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_the_rewritten_rules_are_as_written(path: Path) -> None:
    shown = show_stateful(stateful_program(checked_program(path.read_text(encoding="utf-8"))))
    expected = path.with_suffix(".stateful")
    if os.environ.get("TIDELOG_REWRITE"):
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("part", range(PARTS))
def test_the_rewritten_program_has_the_tuples_of_the_oracle(part: int) -> None:
    @examples(300, PARTS, part)
    @given(programs(Features(derived_inputs=True)))
    def agrees(example: Example) -> None:
        note_seed(example)
        try:
            checked = checked_program(example.text)
            assert_promises_are_kept(stateful_program(checked))
        except TidelogError:
            return
        interpreter.state(checked, example.facts)

    agrees()


def test_but_for_what_is_only_asked_the_state_is_that_of_the_rules_as_written() -> None:
    rewrites = (read_classes, extract_aggregates, project_negations)

    @examples(200)
    @given(programs(Features(derived_inputs=True)))
    def agrees(example: Example) -> None:
        note_seed(example)
        try:
            program = stateful_program(checked_program(example.text), rewrites=rewrites)
        except TidelogError:
            return
        wanted = state_oracle.state(program.checked, example.facts)
        found = interpreter.bootstrap(program, example.facts, Guess(program.arities))
        for name, rows in wanted.items():
            assert found[name] == rows, name

    agrees()


def assert_promises_are_kept(program: StatefulProgram) -> None:
    """What `stateful.py` says is always true."""
    complete: set[str] = set()
    for stratum in program.strata:
        assert complete.issuperset(stratum.inputs), "a stratum comes before what it reads"
        complete.update(stratum.relations)
        if stratum.whole:
            continue
        for rule in stratum.rules:
            assert [atom.position for atom in rule.atoms()] == list(range(len(rule.atoms())))
            for item in rule.body:
                match item:
                    case core.CoreAbsent(relation=name, args=args):
                        assert None not in args
                        assert name not in stratum.relations
                    case core.CoreDefine(expression=expression):
                        assert not isinstance(expression, (core.Aggregated, core.Counted, core.Iterated))
        if stratum.aggregate:
            assert not any(isinstance(i, core.CoreDefine) and isinstance(i.expression, core.Aggregated)
                           for i in stratum.aggregate.aggregate.body)  # fmt: skip
            assert set(core.relations_in(stratum.aggregate.aggregate.body)) <= complete - set(stratum.relations)
    assert complete == set(program.kinds) - {n for n in program.checked.relations if n not in _stratified(program)}


def _stratified(program: StatefulProgram) -> set[str]:
    """The user's relations that have a content of their own."""
    return {name for stratum in program.checked.strata for name in stratum.relations}
