"""The corpus: programs that must be accepted, and programs that must fail with exactly the expected text."""

from pathlib import Path

import pytest

from tidelog.analysis.check import check
from tidelog.errors import Report, TidelogError
from tidelog.lang.load import load_program
from tidelog.plan.program import plan_program

CORPUS = Path(__file__).parent / "corpus"
ACCEPT = sorted((CORPUS / "accept").glob("*.dl"))
OTHER_DIALECTS = sorted([*(CORPUS / "ndlog").glob("*.ndlog"), *(CORPUS / "rules").glob("*.rules")])
REJECT = sorted(p for p in (CORPUS / "reject").iterdir() if p.suffix in (".dl", ".ndlog", ".rules"))


@pytest.fixture(autouse=True)
def _in_the_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors then name files without the folders of this machine."""
    monkeypatch.chdir(CORPUS)


@pytest.mark.parametrize("path", ACCEPT, ids=lambda p: p.stem)
def test_the_program_is_accepted(path: Path) -> None:
    report = Report()
    program = load_program(path.relative_to(CORPUS), report)
    check(program, report)


@pytest.mark.parametrize("path", OTHER_DIALECTS, ids=lambda p: p.stem)
def test_the_program_of_another_dialect_parses(path: Path) -> None:
    report = Report()
    assert load_program(path.relative_to(CORPUS), report).items
    report.check()


@pytest.mark.parametrize("path", REJECT, ids=lambda p: p.stem)
def test_the_program_is_rejected_with_this_text(path: Path) -> None:
    expected = path.with_suffix(".err").read_text(encoding="utf-8").rstrip("\n")
    report = Report()
    with pytest.raises(TidelogError) as problem:  # noqa: PT012
        program = load_program(path.relative_to(CORPUS), report)
        report.check()
        plan_program(check(program, report))
    assert _without_folders(str(problem.value)) == _without_folders(expected)


def _without_folders(text: str) -> str:
    return text.replace("reject/", "").replace("tests/corpus/", "")


def test_the_corpus_is_large_enough() -> None:
    assert len(ACCEPT) >= 60
    assert len([p for p in REJECT if p.suffix == ".dl"]) >= 60
