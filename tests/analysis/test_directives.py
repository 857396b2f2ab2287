"""Directives: their relations, kinds of IO and parameters."""

import pytest

from tidelog.analysis.names.directives import check_directives, directives_of
from tidelog.errors import Report
from tidelog.lang import souffle

EDGE = ".decl edge(a: number, b: number) "


def codes(text: str) -> list[str]:
    report = Report()
    check_directives(souffle.parse(EDGE + text), report)
    return [d.code for d in report.diagnostics]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".input edge", []),
        (".input edge .input edge(filename=\"more.facts\")", []),
        (".output edge .output edge(IO=stdout)", []),
        (".input edges", ["TL0601"]),
        (".limitsize edges(n=1)", ["TL0601"]),
        (".printsize edge .printsize edge", ["TL0602"]),
        (".limitsize edge(n=1) .limitsize edge(n=2)", ["TL0602"]),
        (".limitsize edge", ["TL0603"]),
        (".limitsize edge(n=\"-1\")", ["TL0603"]),
        (".limitsize edge(n=1, m=2)", ["TL0605"]),
        (".input edge(IO=\"kafka\")", ["TL0604"]),
        (".input edge(IO=stdout)", ["TL0604"]),
        (".output edge(IO=stdin)", ["TL0604"]),
        (".input edge(file=\"a.csv\")", ["TL0605"]),
        (".input edge(headers=yes)", ["TL0606"]),
        (".input edge(delimiter=\"\")", ["TL0607"]),
        (".input edge(rfc4180=true, delimiter=\"\\\"\")", ["TL0607"]),
        (".input edge(rfc4180=false, delimiter=\"\\\"\")", []),
        (".input edge(IO=jsonfile, format=rows)", ["TL0608"]),
        (".input edge(columns=\"1:x\")", ["TL0609"]),
        (".input edge(columns=\"1\")", ["TL0609"]),
        (".input edge(columns=\"5:1:3\")", []),
    ],
)  # fmt: skip
def test_directives_are_checked_before_anything_is_opened(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize("kind", ["file", "stdin", "sqlite", "jsonfile", "parquet", "arrow", "spark"])
def test_every_kind_of_input_is_known(kind: str) -> None:
    assert codes(f".input edge(IO={kind})") == []


@pytest.mark.parametrize("kind", ["file", "stdout", "sqlite", "jsonfile", "parquet", "arrow", "spark, table=edges"])
def test_every_kind_of_output_is_known(kind: str) -> None:
    assert codes(f".output edge(IO={kind})") == []


def test_qualifiers_of_old_programs_count_as_directives() -> None:
    program = souffle.parse(".decl a(x: number) input .decl b(x: number) output printsize .output b")
    assert [(d.kind, d.relation) for d in directives_of(program)] == [
        ("input", "a"),
        ("output", "b"),
        ("printsize", "b"),
        ("output", "b"),
    ]
