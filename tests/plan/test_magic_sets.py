"""Magic sets: before and after, what is transformed, and the same answers on random programs.

The cases are in `magic_sets/`: a text whose first line names the relations that are asked for, `---`, and what becomes
of it. `TIDELOG_REWRITE=1 pytest tests/plan/test_magic_sets.py` writes the second halves anew.
"""

from __future__ import annotations

import doctest
import importlib
import os
from pathlib import Path

import pytest
from hypothesis import given

from evaluate.running import run
from strategies.budget import examples, note_seed
from strategies.engine import checked_program, evaluate
from strategies.programs import Example, Features, programs
from tidelog.errors import TidelogError
from tidelog.plan.rewrites.example import magic_example
from tidelog.plan.rewrites.magic_sets import choice_of, magic_sets

CASES = sorted((Path(__file__).parent / "magic_sets").glob("*.txt"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_before_and_after(path: Path) -> None:
    before = path.read_text(encoding="utf-8").split("---\n")[0]
    asked = before.partition("\n")[0].removeprefix("// asked: ").split(", ")
    found = f"{before}---\n{magic_example(before, asked)}\n"
    if os.environ.get("TIDELOG_REWRITE"):
        path.write_text(found, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == found


def test_the_example_of_the_module_is_true() -> None:
    result = doctest.testmod(importlib.import_module("tidelog.plan.rewrites.magic_sets"))
    assert (result.failed, result.attempted) == (0, 2)


def transformed(text: str) -> list[str]:
    """The relations that a program asks to be transformed."""
    checked = checked_program(text)
    chosen = choice_of(checked.program)
    return [name for name in checked.relations if chosen(name)]


RELATIONS = ".decl a(x: number) a(1). .decl b(x: number) b(1). .decl c(x: number) c(1). "


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", []),
        ('.pragma "magic-transform" "*"', ["a", "b", "c"]),
        ('.pragma "magic-transform" "a,c"', ["a", "c"]),
        ('.pragma "magic-transform" "*" .pragma "magic-transform-exclude" "b"', ["a", "c"]),
        (".decl d(x: number) magic d(1). .decl e(x: number) no_magic e(1).", ["d"]),
        ('.pragma "magic-transform" "*" .decl e(x: number) no_magic e(1).', ["a", "b", "c"]),
    ],
)
def test_pragmas_and_qualifiers_say_what_is_transformed(said: str, expected: list[str]) -> None:
    assert transformed(RELATIONS + said) == expected


def test_only_what_is_asked_for_is_derived() -> None:
    text = """
        .decl edge(x: number, y: number)
        .decl path(x: number, y: number)
        path(x, y) :- edge(x, y).
        path(x, y) :- path(x, z), edge(z, y).
        .decl r(y: number)
        r(y) :- path(90, y).
    """
    edges = {(n, n + 1) for n in range(100)}
    checked = magic_sets(checked_program(text), ["r"], lambda name: True)
    found = evaluate(Example(text, {"edge": edges}), checked)
    assert found["r"] == {(n,) for n in range(91, 101)}
    assert len(found["path@bf"]) == 10


def same_answers(example: Example) -> None:
    """Each relation, when it alone is asked for, is as it is when everything is derived."""
    note_seed(example)
    try:
        checked = checked_program(example.text)
    except TidelogError:
        return
    wanted = evaluate(example, checked)
    derived = dict.fromkeys(clause.head.name for clause in checked.clauses)
    for name in [name for name in derived if name not in example.inlined][-3:]:
        demand = magic_sets(checked, [name], lambda name: True)
        facts = {relation: rows for relation, rows in example.facts.items() if relation in demand.relations}
        found = evaluate(Example(example.text, facts), demand)
        assert found[name] == wanted[name], name


@pytest.mark.parametrize("kind", ["everything", "joins", "records"])
def test_every_relation_is_as_it_is_without_them(kind: str) -> None:
    kinds = {
        "everything": Features(),
        "joins": Features(types=("number", "symbol"), aggregates=False, special=False),
        "records": Features(types=("Pair", "Shape", "Colour", "List"), aggregates=False),
    }

    @examples(240, 3, ["everything", "joins", "records"].index(kind))
    @given(programs(kinds[kind]))
    def agrees(example: Example) -> None:
        same_answers(example)

    agrees()


def test_negation_and_aggregates_see_everything() -> None:
    text = """
        .decl e(x: number, y: number) e(1, 2). e(2, 3). e(3, 1). e(3, 4).
        .decl p(x: number, y: number) p(x, y) :- e(x, y). p(x, y) :- p(x, z), e(z, y).
        .decl q(x: number) q(x) :- e(x, _), !p(x, 9), 4 = count : { p(x, _) }.
        .decl r(x: number) r(x) :- q(x), p(x, 4), p(2, x).
    """
    demand = magic_sets(checked_program(text), ["r"], lambda name: True)
    assert evaluate(Example(text, {}), demand)["r"] == run(text)["r"] == {(1,), (2,), (3,)}
