"""Components: what an instance stands for, and what is refused."""

import time

import pytest

from tidelog.analysis.components.expand import expand
from tidelog.errors import Report
from tidelog.lang import souffle, tree


def expanded(text: str) -> tree.Program:
    report = Report()
    program = expand(souffle.parse(text), report)
    assert report.errors == []
    return program


def codes(text: str) -> list[str]:
    report = Report()
    expand(souffle.parse(text), report)
    return [d.code for d in report.diagnostics]


def relations(program: tree.Program) -> list[str]:
    return [r.name for r in program.of(tree.RelationDecl)]


def atoms(program: tree.Program) -> list[list[str]]:
    return [[n.name for n in rule.walk() if isinstance(n, tree.Atom)] for rule in program.rules]


def test_a_program_without_components_is_returned_as_it_is() -> None:
    program = souffle.parse(".decl r(x: number) r(1).")
    assert expand(program, Report()) is program


def test_relations_and_their_uses_get_the_name_of_the_instance() -> None:
    program = expanded(".comp C { .decl r(x: number) .decl s(x: number) s(x) :- r(x). .output s } .init a = C")
    assert relations(program) == ["a.r", "a.s"]
    assert atoms(program) == [["a.s", "a.r"]]
    assert [d.relation for d in program.of(tree.Directive)] == ["a.s"]


def test_nothing_of_a_component_remains() -> None:
    program = expanded(
        ".comp A { .decl r(x: number) overridable } .comp B : A { .override r r(1). .comp N {} .init n = N }.init b = B"
    )
    assert not any(isinstance(n, (tree.Component, tree.ComponentInit, tree.Override)) for n in program.walk())


def test_names_that_the_component_does_not_declare_stay_global() -> None:
    program = expanded(".decl g(x: number) .comp C { .decl r(x: number) r(x) :- g(x). g(x) :- r(x). } .init a = C")
    assert atoms(program) == [["a.r", "g"], ["g", "a.r"]]


def test_a_name_means_the_innermost_declaration() -> None:
    program = expanded("""
        .decl r(x: number)
        .comp Outer {
            .decl r(x: number)
            .comp Inner { .decl r(x: number) .decl s(x: number) s(x) :- r(x). }
            .comp Open { .decl t(x: number) t(x) :- r(x). }
            .init i = Inner
            .init o = Open
        }
        .init a = Outer
    """)
    assert atoms(program) == [["a.i.s", "a.i.r"], ["a.o.t", "a.r"]]


def test_clauses_for_relations_of_nested_instances_reach_them() -> None:
    program = expanded(".comp N { .decl r(x: number) } .comp C { .init n = N n.r(1). } .init a = C a.n.r(2).")
    assert atoms(program) == [["a.n.r"], ["a.n.r"]]


def test_type_parameters_are_replaced_everywhere() -> None:
    program = expanded("""
        .comp C<T> {
            .type L = [h: T, t: L]
            .type U = T | number
            .decl r(x: T, l: L)
            r(as(x, T), nil) :- x = 1.
        }
        .init a = C<number>
    """)
    record, union = program.of(tree.RecordDefinition)[0], program.of(tree.UnionDefinition)[0]
    assert [(f.name, f.type) for f in record.fields] == [("h", "number"), ("t", "a.L")]
    assert union == tree.UnionDefinition("a.U", ("number", "number"))
    assert [a.type for a in program.of(tree.RelationDecl)[0].attributes] == ["number", "a.L"]
    assert [n.type for n in program.rules[0].walk() if isinstance(n, tree.Cast)] == ["number"]


def test_branches_of_an_algebraic_type_are_qualified_with_it() -> None:
    program = expanded(".comp C { .type T = Leaf {} | Fork { l: T } .decl r(t: T) r($Fork($Leaf())). } .init a = C")
    assert [b.name for b in program.of(tree.AlgebraicType)[0].branches] == ["a.Leaf", "a.Fork"]
    assert [n.name for n in program.rules[0].walk() if isinstance(n, tree.Branch)] == ["a.Fork", "a.Leaf"]


def test_a_parameter_can_be_an_instance_or_a_base() -> None:
    program = expanded("""
        .comp P { .decl r(x: number) }
        .comp Has<T> { .init t = T }
        .comp Is<T> : T { .decl s(x: number) s(x) :- r(x). }
        .init a = Has<P>
        .init b = Is<P>
    """)
    assert relations(program) == ["a.t.r", "b.r", "b.s"]


def test_arguments_are_passed_on_to_bases_and_nested_instances() -> None:
    program = expanded("""
        .comp A<X> { .decl r(x: X) }
        .comp B<Y> : A<Y> { }
        .comp C<Z> { .init b = B<Z> }
        .init c = C<symbol>
    """)
    assert program.of(tree.RelationDecl)[0].attributes[0].type == "symbol"


def test_overriding_drops_the_rules_of_all_bases_and_keeps_the_own() -> None:
    program = expanded("""
        .comp A { .decl r(x: number) overridable r(1). }
        .comp B : A { r(2). }
        .comp C : B { .override r r(3). }
        .init c = C
        .init b = B
    """)
    facts = [(rule.heads[0].name, rule.heads[0].args[0].value) for rule in program.rules]  # type: ignore[attr-defined]
    assert facts == [("c.r", 3), ("b.r", 1), ("b.r", 2)]


def test_overriding_one_of_several_heads_keeps_the_others() -> None:
    program = expanded("""
        .comp A { .decl r(x: number) overridable .decl s(x: number) r(1), s(1) :- true. }
        .comp B : A { .override r }
        .init b = B
    """)
    assert [[head.name for head in rule.heads] for rule in program.rules] == [["b.s"]]


def test_the_base_of_a_nested_component_is_found_in_the_base_of_the_outer_one() -> None:
    program = expanded("""
        .comp Lib { .comp Set { .decl member(x: number) } }
        .comp Use : Lib { .comp Mine : Set { } .init m = Mine }
        .init u = Use
    """)
    assert relations(program) == ["u.m.member"]


def test_spans_are_those_of_the_original_text() -> None:
    text = ".comp C { .decl r(x: number) r(1). } .init a = C"
    declaration = expanded(text).of(tree.RelationDecl)[0]
    assert declaration.span is not None
    assert text[declaration.span.start : declaration.span.end].startswith(".decl r(x: number)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".init a = C", ["TL0501"]),
        (".comp C<T> { } .init a = C", ["TL0502"]),
        (".comp C : C { } ", ["TL0503"]),
        (".comp A<T> : T { } .init a = A<A>", ["TL0502"]),
        (".comp A { .decl r() } .comp B : A { .override r }", ["TL0504"]),
        (".comp A { .decl r() overridable .override r }", ["TL0505"]),
        (".comp A { .override r }", ["TL0506"]),
        (".decl A() .comp A { }", ["TL0507"]),
        (".comp A { .decl r() .decl r() } .init a = A", ["TL0508"]),
        (".comp A { .decl r() .decl r() }", []),
        (".comp A { .decl r() .output r .output r } .init a = A", []),
        (".comp A { .decl r() .printsize r .printsize r } .init a = A", ["TL0509"]),
        (".comp A { .init a = A } .init a = A", ["TL0510"]),
        (".comp A { .init b = B }", ["TL0501"]),
    ],
)
def test_mistakes_are_reported_with_their_code(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_two_nested_instances_of_one_name_clash_once() -> None:
    text = ".comp N { .decl r() } .comp C { .init n = N .init n = N } .init a = C"
    assert codes(text) == ["TL0508"]


def test_components_that_double_at_every_level_are_refused_and_not_expanded() -> None:
    levels = ".comp C0 { .decl r(x: number) }\n" + "".join(
        f".comp C{i} {{ .init a = C{i - 1} .init b = C{i - 1} }}\n" for i in range(1, 60)
    )
    before = time.process_time()
    assert "TL0511" in codes(levels + ".init top = C59")
    assert time.process_time() - before < 10


def test_bases_that_double_at_every_level_are_refused_and_not_expanded() -> None:
    levels = ".comp C0 { }\n" + "".join(f".comp C{i} : C{i - 1}, C{i - 1} {{ }}\n" for i in range(1, 60))
    assert "TL0511" in codes(levels + ".init top = C59")


def test_a_component_may_use_another_many_times() -> None:
    inits = "".join(f".init i{i} = N " for i in range(500))
    assert len(relations(expanded(".comp N { .decl r() } .comp C {" + inits + "} .init c = C"))) == 500
