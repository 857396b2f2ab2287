"""What is printed reads back as the same tree."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given

from strategies import trees
from strategies.budget import examples, note_seed
from tidelog.errors import Report, Source
from tidelog.lang import tree as t
from tidelog.lang.load import load_program
from tidelog.lang.souffle import parse, parse_into
from tidelog.lang.souffle_printer import print_program, show

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("**/*.dl"))


@examples(1000)
@given(trees.programs())
def test_any_program_reads_back_as_itself(program: t.Program) -> None:
    text = print_program(program)
    note_seed(text)
    assert parse(text) == program


@examples(600)
@given(trees.terms())
def test_any_term_reads_back_as_itself(term: t.Term) -> None:
    rule = t.Rule((t.Atom("p", (term,)),))
    note_seed(show(rule))
    assert parse(show(rule)).items == (rule,)


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.stem)
def test_the_corpus_reads_back_as_itself(path: Path) -> None:
    program = load_program(path, Report())
    assert parse_into(Source(str(path), print_program(program)), Report()).items == program.items


def test_all_nodes_of_the_dialect_are_covered() -> None:
    """The strategies make every node that has a Soufflé syntax."""
    rules = {"Iri", "RdfLiteral", "GroupedAggregate", "AggregateBinding", "Existential", "Prefix"}
    other = rules | {"HeadAggregate", "Materialize"}
    abstract = {"SyntaxNode", "Term", "Literal", "TypeDecl", "Program"}
    kinds = {k for k in vars(t).values() if isinstance(k, type) and dataclasses.is_dataclass(k)}
    wanted = {k.__name__ for k in kinds} - other - abstract
    seen: set[str] = set()

    @examples(1000)
    @given(trees.programs())
    def collect(program: t.Program) -> None:
        seen.update(type(node).__name__ for node in program.walk())

    collect()
    walked = wanted - {"ExecutionPlan", "ComponentType", "Attribute", "BranchDecl", "LatticeDecl"}
    assert walked <= seen


def test_operations_are_printed_with_their_parentheses() -> None:
    x, y = t.Variable("x"), t.Variable("y")
    assert show(t.Functor("*", (t.Functor("+", (x, y)), t.Number(-2)))) == "((x + y) * -2)"


def test_a_program_is_printed_item_by_item() -> None:
    text = (
        ".decl edge(x: number, y: number) btree\n"
        ".input edge(IO=\"file\")\n"
        "path(x, y) :- edge(x, y).\n"
        "path(x, z) :- path(x, y), (edge(y, z) ; !edge(z, y), z != 3).\n"
        ".comp C<T> : D<T> {\n  .override p\n  p(1).\n}\n"
    )  # fmt: skip
    assert print_program(parse(text)) == text
