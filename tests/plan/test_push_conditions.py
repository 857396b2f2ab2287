"""Conditions decided before anything is sent: before and after, and the same facts on random data.

`TIDELOG_REWRITE=1 pytest tests/plan/test_push_conditions.py` writes the expected programs anew.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random

import pytest

from tidelog.lang import ndlog, tree
from tidelog.lang.ndlog_printer import print_program
from tidelog.plan.rewrites import NETWORK
from tidelog.plan.rewrites.localise import is_local
from tidelog.plan.rewrites.push_conditions import push_conditions
from tidelog.plan.rewrites.rewrite import relations_of, rewritten

sys.path.append(str(Path(__file__).parents[1] / "net"))
from net_central import evaluate

BEFORE = sorted((Path(__file__).parent / "push_conditions").glob("*.before.ndlog"))
named = pytest.mark.parametrize("path", BEFORE, ids=lambda p: p.name.split(".")[0])


def pushed(program: tree.Program) -> tree.Program:
    return rewritten(program, *NETWORK)


@named
def test_before_and_after(path: Path) -> None:
    program = ndlog.parse(path.read_text())
    result = pushed(program)
    after = path.with_name(path.name.replace("before", "after"))
    if os.environ.get("TIDELOG_REWRITE"):
        after.write_text(print_program(result))
    assert all(map(is_local, result.rules))
    assert print_program(result) == after.read_text()
    assert push_conditions(result, relations_of(program)) == result


@named
def test_the_relations_of_the_program_have_the_same_facts_on_random_data(path: Path) -> None:
    program = ndlog.parse(path.read_text())
    atoms = [n for rule in program.rules for n in rule.walk() if isinstance(n, tree.Atom)]
    arity = {a.name: len(a.args) for a in atoms}
    derived = {rule.heads[0].name for rule in program.rules}
    for seed in range(30):
        rng = Random(seed)
        given = {
            (name, tuple(rng.randrange(5) for _ in range(n)))
            for name, n in arity.items() if name not in derived
            for _ in range(rng.randint(0, 8))
        }  # fmt: skip
        expected = evaluate(program, given)
        assert {f for f in evaluate(pushed(program), given) if f[0] in arity} == expected
