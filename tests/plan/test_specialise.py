"""A relation for each predicate and class that rules name: before and after, and the same triples on random programs.

`TIDELOG_REWRITE=1 pytest tests/plan/test_specialise.py` writes the expected programs anew.
"""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import pytest

from tidelog.analysis.check import check
from tidelog.lang import rules, tree
from tidelog.lang.souffle_printer import print_program, show
from tidelog.plan.rewrites import specialise as module
from tidelog.plan.rewrites.specialise import TYPE, Key, TripleLayout, specialise
from tidelog.rdf.rules import ordinary_program

BEFORE = sorted((Path(__file__).parent / "specialise").glob("*.before.rules"))


def specialised(text: str) -> str:
    """The rewritten rules of a text, with names and terms shortened, as the module's docstring shows them."""
    program = specialise(ordinary_program(rules.parse("@prefix : <http://a.org/> .\n" + text)))
    shown = "\n".join(show(rule) for rule in program.rules).replace("?", "").replace(", ", ",")
    shown = re.sub(r"\b([pc]_\w+?)_[0-9a-f]{10}\b", r"\1", shown).replace("),", "), ")
    return re.sub(r'"<http://a.org/(\w+)>"', r'"p_\1"', shown)


def test_the_examples_of_the_module_are_what_it_does() -> None:
    assert doctest.testmod(module, extraglobs={"specialised": specialised}) == doctest.TestResults(0, 2)


@pytest.mark.parametrize("path", BEFORE, ids=lambda p: p.name.split(".")[0])
def test_before_and_after(path: Path) -> None:
    result = specialise(ordinary_program(rules.parse(path.read_text())))
    after = path.with_name(path.name.replace("before.rules", "after.dl"))
    if os.environ.get("TIDELOG_REWRITE"):
        after.write_text(print_program(result))
    check(result)
    assert print_program(result) == after.read_text()


def test_a_layout_is_read_back_from_the_program() -> None:
    program = specialise(ordinary_program(rules.parse("[?x, a, owl:Thing] :- [?x, rdfs:label, ?y] .")), [Key("<x:p>")])
    label, thing = "<http://www.w3.org/2000/01/rdf-schema#label>", "<http://www.w3.org/2002/07/owl#Thing>"
    layout = TripleLayout.of(program)
    assert set(layout.relations) == {Key(label), Key(TYPE, thing), Key("<x:p>")}
    assert layout.home(label, "<x:o>") == Key(label)
    assert layout.home(TYPE, thing) == Key(TYPE, thing)
    assert layout.home(TYPE, "<x:Other>") is None
    assert layout.home("<x:q>", "<x:o>") is None
    assert not layout.whole


def test_predicates_that_end_alike_have_relations_of_their_own() -> None:
    assert Key("<http://a.org/name>").name != Key("<http://b.org/name>").name
    assert Key("<http://a.org/name>").name.startswith("p_name_")
    assert re.fullmatch(r"[a-z_A-Z0-9]+", Key("<http://a.org/é/ü>").name)
    assert isinstance(tree.Program(tuple(TripleLayout().items())).items[0], tree.RelationDecl)
