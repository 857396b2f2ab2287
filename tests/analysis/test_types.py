"""Type declarations: the subtype relation, kinds, and what is refused."""

from __future__ import annotations

import pytest
from analysis_programs import messages, types_in

from tidelog.analysis.types import AdtType, RecordType, TypeSystem, UnionType
from tidelog.values import Kind

PETS = """
.type Animal <: symbol
.type Dog <: Animal
.type Cat <: Animal
.type Fish <: symbol
.type Pet = Dog | Cat
.type Wet = Cat | Fish
.type Any = Pet | Wet
.type Hound = Dog
"""


@pytest.fixture(scope="module")
def pets() -> TypeSystem:
    types, report = types_in(PETS)
    assert report.errors == []
    return types


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Dog", "Dog"),
        ("Dog", "Animal"),
        ("Dog", "symbol"),
        ("Dog", "Pet"),
        ("Pet", "Animal"),
        ("Pet", "Any"),
        ("Wet", "Any"),
        ("Any", "symbol"),
        ("Hound", "Dog"),
        ("Dog", "Hound"),
    ],
)
def test_is_a_subtype(pets: TypeSystem, a: str, b: str) -> None:
    assert pets.is_subtype(pets.types[a], pets.types[b])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Animal", "Dog"),
        ("Dog", "Cat"),
        ("Pet", "Dog"),
        ("Wet", "Animal"),
        ("Any", "Pet"),
        ("symbol", "Any"),
        ("Dog", "number"),
    ],
)
def test_is_no_subtype(pets: TypeSystem, a: str, b: str) -> None:
    assert not pets.is_subtype(pets.types[a], pets.types[b])


def test_another_name_is_the_same_type(pets: TypeSystem) -> None:
    assert pets.types["Hound"] is pets.types["Dog"]


def test_a_predefined_type_is_a_subtype_of_its_constants(pets: TypeSystem) -> None:
    assert pets.is_subtype(pets.types["symbol"], pets.constants[Kind.SYMBOL])
    assert not pets.is_subtype(pets.constants[Kind.SYMBOL], pets.types["symbol"])


def test_unions_with_the_same_members_are_equivalent() -> None:
    types, _ = types_in(".type A <: number .type B <: number .type X = A | B .type Y = B | A")
    assert types.are_equivalent(types.types["X"], types.types["Y"])


def test_common_subtypes_of_overlapping_unions_are_what_they_share(pets: TypeSystem) -> None:
    assert pets.common(pets.types["Pet"], pets.types["Wet"]) == {pets.types["Cat"]}


def test_common_subtype_of_a_type_and_its_base_is_the_narrower(pets: TypeSystem) -> None:
    assert pets.common(pets.types["Animal"], pets.types["Dog"]) == {pets.types["Dog"]}


def test_siblings_have_no_common_subtype(pets: TypeSystem) -> None:
    assert pets.common(pets.types["Dog"], pets.types["Cat"]) == frozenset()


def test_kinds_come_from_the_base() -> None:
    types, report = types_in(
        ".type A <: unsigned .type B <: A .type U = A | B .type R = [x: B] .type T = L {} | N { t: T } .type S = R"
    )
    assert report.errors == []
    kinds = {name: types.types[name].kind for name in "ABURTS"}
    assert kinds == {
        "A": Kind.UNSIGNED,
        "B": Kind.UNSIGNED,
        "U": Kind.UNSIGNED,
        "R": Kind.RECORD,
        "T": Kind.RECORD,
        "S": Kind.RECORD,
    }
    assert isinstance(types.types["U"], UnionType)
    assert isinstance(types.types["S"], RecordType)


def test_records_may_contain_themselves() -> None:
    types, report = types_in(".type List = [head: number, tail: List]")
    assert report.errors == []
    made = types.types["List"]
    assert isinstance(made, RecordType)
    assert made.fields == ("head", "tail")
    assert made.types == (types.types["number"], made)


def test_branches_are_numbered_in_the_order_of_their_names() -> None:
    types, report = types_in(".type T = Zebra {} | Ant { legs: number } | Mule {}")
    assert report.errors == []
    assert {name: b.tag for name, b in types.branches.items()} == {"Ant": 0, "Mule": 1, "Zebra": 2}
    assert types.branches["Ant"].kinds == (Kind.NUMBER,)
    assert types.branches["Ant"].adt is types.types["T"]


def test_an_enumeration_has_no_fields() -> None:
    types, _ = types_in(".type E = A {} | B {} .type T = C {} | D { x: number }")
    enum, tree = types.types["E"], types.types["T"]
    assert isinstance(enum, AdtType)
    assert enum.is_enum
    assert isinstance(tree, AdtType)
    assert not tree.is_enum


def test_relations_know_names_types_and_kinds() -> None:
    types, report = types_in(".type Id <: unsigned .decl person(id: Id, name: symbol, size: float)")
    assert report.errors == []
    person = types.relations["person"]
    assert person.attributes == ("id", "name", "size")
    assert person.types == ("Id", "symbol", "float")
    assert person.kinds == (Kind.UNSIGNED, Kind.SYMBOL, Kind.FLOAT)
    assert person.arity == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".decl a(x: T)", ["undefined type `T` in attribute `x` of `a`"]),
        (".type A <: T", ["undefined type `T` in the definition of `A`"]),
        (".type A = number | T", ["undefined type `T` in the definition of `A`"]),
        (".type float <: number", ["the type `float` is predefined and cannot be declared again"]),
        (".type A <: A", ["the type `A` is defined in terms of itself: A -> A"]),
        (".type A = B .type B <: A", ["the type `A` is defined in terms of itself: A -> B -> A"]),
        (".type A = number | symbol", ["the union `A` mixes types based on number and symbol"]),
        (".type R = [x: number, x: symbol]", ["the record `R` has two fields named `x`"]),
        (".type T = A {} | A {}", ["the branch `A` is declared more than once"]),
        (".type R = [x: number] .type S <: R", ["`S` cannot be a subset of `R`, which is a record"]),
    ],
)
def test_refuses(text: str, expected: list[str]) -> None:
    types, report = types_in(text)
    assert messages(report) == expected
    assert not types.sound


def test_what_depends_on_a_wrong_type_is_not_blamed_too() -> None:
    _, report = types_in(".type A <: B .type B <: A .type C <: A .type D = C .decl d(x: D)")
    assert messages(report) == ["the type `A` is defined in terms of itself: A -> B -> A"]


def test_two_cycles_are_two_errors() -> None:
    _, report = types_in(".type A <: B .type B <: A .type C <: D .type D <: C")
    assert [d.code for d in report.errors] == ["TL0303", "TL0303"]


def test_a_type_that_differs_only_in_case_is_suggested() -> None:
    _, report = types_in(".decl a(x: Symbol)")
    assert report.errors[0].help == "did you mean `symbol`?"


def test_a_stateful_functor_may_use_records() -> None:
    _, report = types_in(".type R = [x: number] .functor f(r: R): R stateful")
    assert report.errors == []
