"""Static checks: every mistake has a code, a place and advice; all mistakes are reported at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.errors import Report, TidelogError
from tidelog.lang import ndlog
from tidelog.net import check_program, load, parse_facts, parse_updates

CORPUS = Path(__file__).parents[1] / "corpus" / "ndlog"


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("p(@X) :- q(@X).\nr(@X) :- q(@X,X).", "TL1001", "2:10", "`q` has 1 arguments elsewhere, here 2"),
        ("p(@X,Y) :- q(X,@Y), q(@X,Y).", "TL1002", "1:21", "the location of `q` is not where it is elsewhere"),
        ("p(@X) :- q(@1.5,X).", "TL1002", "1:13", "a location is a variable or the name of a node"),
        ("p(@X,Y) :- q(@X).", "TL1003", "1:6", "the variable `Y` has no value"),
        ("p(@X) :- q(@X), !r(@X,Z).", "TL1003", "1:23", "the variable `Z` has no value"),
        ("p(@X) :- q(@X), Z > X.", "TL1003", "1:17", "the variable `Z` has no value"),
        ("p(@X,min<C>) :- q(@X).", "TL1003", "1:6", "the variable `C` has no value"),
        ("p(@X,f_inti(X,X)) :- q(@X).", "TL1004", "1:6", "unknown function `f_inti`"),
        ("p(@X) :- q(@X), f_size(X,X) = 2.", "TL1005", "1:17", "`f_size` takes 1 arguments, here 2"),
        ("p(@X,min<C>) :- q(@X,C).\np(@X,C) :- q(@X,C).", "TL1006", "1:1", "`p` is an aggregate"),
        ("p(@X) :- q(@X), !p(@X).", "TL1007", "1:18", "`p` depends on its own absence, through `!p`"),
        ("p(@X,sum<C>) :- q(@X,C), p(@X,C).", "TL1008", "1:26", "`p` aggregates over itself"),
        ("p(@X,_) :- q(@X).", "TL1009", "1:6", "`_` in a head stands for no value"),
        ("p(@X) :- q(@X), !r(@X,_).", "TL1009", "1:23", "`_` cannot stand in a negation"),
        ("p(@X) :- q(@X), r.", "TL1010", "1:17", "`r` has no location, but `p` in the same rule has one"),
        ("materialize(q, infinity, infinity, keys(3)).\np(@X) :- q(@X,X).", "TL1011", "1:1", "a key is beyond them"),
        ("p(@a) :- !q(@a).", "TL1061", "1:1", "a body needs an atom that is not negated"),
        ("p(@X).", "TL1014", "1:4", "a fact holds constants only, not the variable `X`"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_at_its_place(text: str, code: str, place: str, message: str) -> None:
    with pytest.raises(TidelogError) as caught:
        load(text, "x.ndlog")
    found = next(d for d in caught.value.diagnostics if d.code == code)
    assert message in found.message
    assert str(found.span) == f"x.ndlog:{place}"


def test_all_mistakes_are_reported_at_once_with_carets_and_help() -> None:
    with pytest.raises(TidelogError) as caught:
        load("p(@X,Y) :- q(@X).\nr(@X) :- f_inPth(X,X) = true, q(@X).")
    assert caught.value.codes == ("TL1003", "TL1004")
    assert "1 | p(@X,Y) :- q(@X).\n  |      ^" in str(caught.value)
    assert "did you mean `f_inPath`?" in str(caught.value)


def test_finite_tables_are_warned_about() -> None:
    report = Report()
    check_program(ndlog.parse((CORPUS / "distance_vector.ndlog").read_text()), report)
    assert not report.diagnostics
    assert [d.code for d in load((CORPUS / "chord_lookup.ndlog").read_text()).warnings] == ["TL1012"] * 3


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.ndlog")), ids=lambda p: p.stem)
def test_the_programs_of_the_corpus_compile(path: Path) -> None:
    refused = {"values": "TL1001", "path_vector_localised": "TL1001"}  # one name with two arities
    if path.stem in refused:
        with pytest.raises(TidelogError, match=refused[path.stem]):
            load(path.read_text(), path.name)
    else:
        load(path.read_text(), path.name, local=True)


@pytest.mark.parametrize(
    ("text", "code"),
    [("+x(@1)", "TL1040"), ("+p(@1)", "TL1041"), ("+q(@1,2)", "TL1001"), ("-q(1,@2)", "TL1001")],
)
def test_updates_are_of_base_relations(text: str, code: str) -> None:
    program = load("p(@X) :- q(@X).")
    with pytest.raises(TidelogError, match=code):
        parse_updates(text, program)


def test_facts_are_ground() -> None:
    program = load("p(@X) :- q(@X).")
    assert [str(f) for f in parse_facts("q(@1). q(@n2).", program)] == ["q(1)", "q(n2)"]
    with pytest.raises(TidelogError, match="TL1014"):
        parse_facts("q(@X).", program)


def test_a_body_of_very_many_atoms_is_refused() -> None:
    with pytest.raises(TidelogError, match=r"TL1059(.|\n)*more than 64 atoms"):
        load("p(@X0) :- " + ", ".join(f"e(@X{i},X{i + 1})" for i in range(1500)) + ".")


def test_an_aggregate_whose_key_is_less_than_its_group_is_refused() -> None:
    with pytest.raises(TidelogError, match="TL1060"):
        load("materialize(p, infinity, infinity, keys(1)). p(@X,Z,min<Y>) :- q(@X,Z,Y).")
    assert not load("materialize(p, infinity, infinity, keys(1)). p(@X,min<Y>) :- q(@X,Y).").warnings
