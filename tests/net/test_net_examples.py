"""The examples under examples/net: they settle to what centralised evaluation gives, under every schedule."""

from __future__ import annotations

from pathlib import Path

import pytest
from net_central import evaluate

from tidelog.net import Derivations, check, load, materialise, parse_facts, parse_updates, psn, scheduler

EXAMPLES = Path(__file__).parents[2] / "examples" / "net"
PROGRAMS = sorted(p for p in EXAMPLES.glob("*.ndlog") if "periodic" not in p.read_text())  # others: test_net_time
SCHEDULES = ("fifo", "lifo", "random", "deletions-first", "insertions-first", "delays")
CYCLIC = {"reachability"}  # the others settle without annotations
ENDLESS_CHOICES = {"best_path", "chord_lookup", "path_vector"}  # too many interleavings to try all of this burst


def example(path: Path):
    program = load(path.read_text(), path.name, local=True)
    facts = parse_facts(path.with_suffix(".facts").read_text(), program)
    return program, facts, parse_updates(path.with_suffix(".updates").read_text(), program)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_example_ends_as_centralised_evaluation_does(path: Path, schedule: str) -> None:
    program, facts, burst = example(path)
    configuration = materialise(program, facts, Derivations() if path.stem in CYCLIC else None)
    psn(configuration, burst, scheduler(schedule, 5))
    base = {f for f in facts if all((u.sign, u.fact) != (-1, f) for u in burst)} | {u.fact for u in burst if u.sign > 0}
    expected = evaluate(program.tree, {(f.name, f.args) for f in base})
    assert {(f.name, f.args) for f in configuration.facts()} == expected


@pytest.mark.parametrize("path", [p for p in PROGRAMS if p.stem not in ENDLESS_CHOICES], ids=lambda p: p.stem)
def test_an_example_holds_under_every_interleaving(path: Path) -> None:
    program, facts, burst = example(path)
    assert check(program, facts, burst, "annotated" if path.stem in CYCLIC else "psn", limit=200_000).holds


def test_a_lookup_is_answered_by_the_node_behind_the_key() -> None:
    program, facts, burst = example(EXAMPLES / "chord_lookup.ndlog")
    configuration = materialise(program, facts)
    psn(configuration, burst)
    answers = sorted(str(f) for f in configuration.facts() if f.name == "lookupResult")
    assert answers == ["lookupResult(n3,5,n11,q2)", "lookupResult(n3,50,n52,q1)"]
