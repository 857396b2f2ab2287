"""What several readers of one file have skipped is told as by one."""

from __future__ import annotations

from tidelog.io.bad_rows import BadRows, FactLine, merged


def reader(file: str, *numbers: int) -> BadRows:
    bad = BadRows(skip=True)
    for number in numbers:
        bad.add("TL0621", f"`x{number}` is not a number", FactLine(file, number, f"x{number}"))
    return bad


def test_counts_are_added_and_the_first_one_is_shown() -> None:
    parts = [reader("a.facts", 3, 4), reader("b: 7.facts", 1), reader("a.facts", *range(5000, 6999))]
    parts[1].warn("TL0637", "lines with more values")
    parts[2].warn("TL0637", "lines with more values")
    found = merged(report for part in parts for report in part.report())
    assert [report.message for report in found] == [
        "a.facts: 2,001 malformed facts skipped", "b: 7.facts: 1 malformed fact skipped", "lines with more values",
    ]  # fmt: skip
    assert found[0].notes[0][0] == "the first one: `x3` is not a number"


def test_one_report_stays_as_it_is() -> None:
    reports = reader("a.facts", 1).report()
    assert merged(reports) == reports
