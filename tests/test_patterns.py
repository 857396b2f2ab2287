"""Regular expressions: ECMAScript's syntax, whole texts, never a text that takes for ever."""

from __future__ import annotations

import pyarrow as pa
import pytest

from evaluate.running import run
from tidelog import Session
from tidelog.errors import TidelogWarning
from tidelog.patterns import match_columns, problem_of


def matches(pattern: str, text: str) -> bool:
    found, problems = match_columns(pa.array([pattern]), pa.array([text]), True)
    assert not problems
    return bool(found[0])


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a.*b", "axxb"), ("", ""), ("a|bc", "bc"), ("^ab$", "ab"), ("a{2,3}", "aaa"), (r"a\.b", "a.b"),
        ("[[:alpha:]_]+", "ab_c"), ("[[:d:]]+", "12"), (r"\u0041\x42", "AB"), (r"\cJ", "\n"),
        ("a}", "a}"), ("a]", "a]"),
        (r"[a\]b]+", "a]b"), ("[^]", "\n"), (r"[\b]", "\b"), ("é.", "éü"), ("(?:ab)+", "abab"), (r"x\0y", "x\0y"),
        ("[a[]+", "a["),
    ],
)  # fmt: skip
def test_a_pattern_matches_the_whole_text(pattern: str, text: str) -> None:
    assert matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("a", "ab"), ("b", "ab"), ("", "a"), ("a.b", "a\nb"), (r"\d", "١"), ("[]", "a"), ("a|b", "ab"), ("a$b", "ab")],
)
def test_a_pattern_that_matches_a_part_does_not_match(pattern: str, text: str) -> None:
    assert not matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("fo{x}b.*", "braces"), ("(a", "without `)`"), ("a)(b", "without `(`"), ("[a", "not closed"),
        ("a\\", "backslash"),
        (r"(a)\1", "refers back"), ("(?=a)a", "looks ahead"), ("(?<!a)b", "looks ahead or behind"), ("(?i)a", "(?"),
        ("*a", "repetition"), ("a**", "repetition"), ("[z-a]", "range"), (r"\A", r"\A"), ("a{1001}", "repetition"),
        ("a{2", "braces"), ("((a{30}){30}){30}", "repetition"), ("[[=a=]]", "[="),
    ],
)  # fmt: skip
def test_what_is_no_pattern_says_why(pattern: str, why: str) -> None:
    assert why in (problem_of(pattern) or "")


def test_a_pattern_that_would_backtrack_for_ever_takes_no_time() -> None:
    text = '.decl t(x: symbol) .decl r(x: symbol) t("aaa"). r(x) :- t(x), match("((a+)+)+", x).'
    many = "a" * 100_000
    assert run(text, {"t": [(many + "b",), (many,)]})["r"] == {("aaa",), (many,)}


PATTERNS = """
.decl p(x: symbol) .input p
.decl t(x: symbol) .input t
.decl yes(p: symbol, x: symbol) .decl no(p: symbol, x: symbol)
yes(p, x) :- p(p), t(x), match(p, x).
no(p, x) :- p(p), t(x), !match(p, x).
"""


@pytest.mark.parametrize("strategy", ["batch", "elastic"])
def test_for_a_bad_pattern_in_the_data_neither_holds_and_it_is_told_once(strategy: str) -> None:
    with Session(PATTERNS, strategy=strategy) as session:
        first = session.bootstrap({"p": [("a*",), ("fo{x}b.*",)], "t": [("a",), ("foob",)]})
        assert list(session["yes"]) == [("a*", "a")]
        assert list(session["no"]) == [("a*", "foob")]
        assert [w.code for w in first.warnings] == ["TL0870"]
        assert '"fo{x}b.*"' in first.warnings[0].message
        second = session.update(insert={"t": [("foo",)]})
        assert second.warnings == ()


def test_a_bad_pattern_in_the_program_is_a_warning_at_its_place() -> None:
    text = PATTERNS + '.decl bad(x: symbol)\nbad(x) :- t(x), !match("(", x).'
    with Session(text, strategy="batch") as session:
        assert [str(w.span) for w in session.warnings if w.code == "TL0870"] == ["<text>:8:24"]
        epoch = session.bootstrap({"t": [("a",)]})
        assert epoch.warnings == ()
        assert list(session["bad"]) == []


def test_a_query_with_a_bad_pattern_has_no_answers_and_warns() -> None:
    with Session(PATTERNS) as session:
        session.bootstrap({"t": [("a",)]})
        with pytest.warns(TidelogWarning, match="neither match nor !match holds"):
            assert session.query('t(x), !match("(", x)').num_rows == 0
