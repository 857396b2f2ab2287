"""Localisation: before and after, rules for which there is no way, and the same facts on random data."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from tidelog.errors import TidelogError
from tidelog.lang import ndlog
from tidelog.lang.ndlog_printer import print_program
from tidelog.plan.rewrites.localise import is_local, localise
from tidelog.plan.rewrites.rewrite import rewritten

sys.path.append(str(Path(__file__).parents[1] / "net"))
from net_central import evaluate

FIXTURES = Path(__file__).parent / "localise"
BEFORE = sorted(FIXTURES.glob("*.before.ndlog"))


@pytest.mark.parametrize("path", BEFORE, ids=lambda p: p.name.split(".")[0])
def test_before_and_after(path: Path) -> None:
    after = path.with_name(path.name.replace("before", "after"))
    local = rewritten(ndlog.parse(path.read_text()), localise)
    assert all(map(is_local, local.rules))
    assert print_program(local) == after.read_text()
    assert rewritten(local, localise) == local


@pytest.mark.parametrize("path", BEFORE, ids=lambda p: p.name.split(".")[0])
def test_the_facts_are_the_same_on_random_data(path: Path) -> None:
    program = ndlog.parse(path.read_text())
    local = rewritten(program, localise)
    heads = {r.heads[0].name for r in program.rules}
    base = {n.name: len(n.args) for r in program.rules if r.body for n in r.body.walk() if hasattr(n, "name_span")}
    for seed in range(30):
        rng = Random(seed)
        nodes = [0, 1, 2, 3]
        given = {
            (name, tuple(rng.choice(nodes) for _ in range(arity)))
            for name, arity in base.items() if name not in heads or name in ("alive",)
            for _ in range(rng.randint(0, 5))
        }  # fmt: skip
        expected = {f for f in evaluate(program, given) if f[0] in heads}
        assert {f for f in evaluate(local, given) if f[0] in heads} == expected


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("p(@X) :- q(@X), r(@Y).", "TL1020", "the body is at `X` and at `Y`, and no atom links them"),
        ("p(@X,D) :- q(@X,Y), s(@Y,Z,D), !r(@X,D), t(@W).", "TL1020", "at `X` and at `W`"),
        ("p(@X) :- q(@X,Y), s(@X,Z), u(@Z,D), !r(@Y,D).", "TL1021", "the negation at `Y` needs `D`"),
    ],
)
def test_a_rule_that_cannot_be_localised_is_an_error_that_says_why(text: str, code: str, message: str) -> None:
    with pytest.raises(TidelogError) as caught:
        rewritten(ndlog.parse(text), localise)
    assert caught.value.codes == (code,)
    assert message in str(caught.value)
    assert "^" in str(caught.value)


def test_programs_without_locations_stay_as_they_are() -> None:
    program = ndlog.parse("p :- s, t. s :- q.")
    assert rewritten(program, localise) == program
