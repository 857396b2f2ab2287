"""What a run that takes a while says of how far it is."""

from __future__ import annotations

import re

import pytest

from tidelog.cli.progress import Progress


@pytest.fixture
def progress() -> Progress:
    found = Progress()
    found.live = False
    found.started -= 60  # it has been running for a minute
    return found


def said(progress: Progress, capsys: pytest.CaptureFixture[str]) -> str:
    progress.last -= 60  # and has said nothing for as long
    return capsys.readouterr().err


def test_tuples_that_were_there_when_a_stratum_began_are_no_rate(
    progress: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.last -= 60
    progress.stratum(0, 2, ("path",))
    progress.progress(7, 4_000_000_000)  # as when the first sign of life of a worker comes
    first = said(progress, capsys)
    assert "stratum 1/2 (path), iteration 7, 4,000,000,000 tuples, " in first
    assert "tuples/s" not in first
    assert progress.before is not None
    progress.before = (progress.before[0] - 2, progress.before[1])
    progress.progress(8, 4_000_001_000)
    rate = re.search(r"([\d,]+) tuples/s", said(progress, capsys))
    assert rate is not None
    assert 100 < int(rate[1].replace(",", "")) <= 500


def test_the_memory_is_that_of_the_process_that_evaluates(
    progress: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.stratum(0, 1, ("path",))
    for mebibytes in (700, 900):
        progress.last -= 60
        progress.memory(mebibytes * 2**20)
        progress.progress(1, 10)
        assert f", {mebibytes} MiB" in said(progress, capsys)
