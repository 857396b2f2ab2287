"""The suite of programs that every executor must pass: `tests/programs/<case>/`.

    program.dl                          the program
    facts/<relation>.facts              the facts to begin with
    updates/<n>/delete/<relation>.facts what epoch n deletes, and then
    updates/<n>/insert/<relation>.facts what it inserts
    expected/<n>/<relation>.csv         every relation after epoch n (0 is the bootstrap), sorted

`python tests/program_cases.py <case>…` writes what the oracle expects; where it knows nothing (choice domains,
subsumption, autoinc), expected files are written by hand.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RecordType
from tidelog.errors import Report
from tidelog.io.bad_rows import BadRows
from tidelog.io.numbers import float_text
from tidelog.io.read import read_facts
from tidelog.io.record_text import base_type, parse
from tidelog.io.record_values import text_of_python
from tidelog.lang.load import parse_program
from tidelog.values import Kind

PROGRAMS = Path(__file__).parent / "programs"
Tables = dict[str, pa.Table]


@dataclass(frozen=True)
class Case:
    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def checked(self) -> Checked:
        report = Report()
        text = (self.folder / "program.dl").read_text(encoding="utf-8")
        return check(parse_program(text, report), report)

    def facts(self, checked: Checked) -> Tables:
        return _tables(checked, self.folder / "facts")

    def epochs(self, checked: Checked) -> list[tuple[Tables, Tables]]:
        """What each update deletes and inserts."""
        folders = sorted((self.folder / "updates").glob("*"), key=lambda folder: int(folder.name))
        return [(_tables(checked, f / "delete"), _tables(checked, f / "insert")) for f in folders]

    def expected(self, epoch: int) -> dict[str, list[str]]:
        files = (self.folder / "expected" / str(epoch)).glob("*.csv")
        return {file.stem: file.read_text(encoding="utf-8").splitlines() for file in files}


CASES = [Case(folder) for folder in sorted(PROGRAMS.iterdir()) if folder.is_dir()]


def _tables(checked: Checked, folder: Path) -> Tables:
    """The facts of the files in a folder."""
    found = {}
    for directive in checked.directives("input"):
        if (folder / f"{directive.relation}.facts").exists():
            info = checked.relations[directive.relation]
            found[info.name] = read_facts(info, checked.types, directive, folder, BadRows(skip=False))
    return found


def lines(checked: Checked, name: str, rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows as they are written, sorted; records are texts already."""
    kinds = checked.relations[name].kinds
    return sorted(
        "\t".join(float_text(v + 0.0) if k is Kind.FLOAT else str(v) for v, k in zip(row, kinds, strict=True)) or "()"
        for row in rows
    )


def table_rows(table: pa.Table, arity: int) -> list[tuple[Any, ...]]:
    if arity == 0:
        return [()] * min(1, table.num_rows)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


# ---- writing what the oracle expects


def write_expected(case: Case) -> None:
    import oracle

    checked = case.checked
    facts: dict[str, set[tuple[Any, ...]]] = {}
    for epoch, (delete, insert) in enumerate([({}, case.facts(checked)), *case.epochs(checked)]):
        for name, table in delete.items():
            facts[name] = facts.get(name, set()) - _values(checked, name, table)
        for name, table in insert.items():
            facts[name] = facts.get(name, set()) | _values(checked, name, table)
        folder = case.folder / "expected" / str(epoch)
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in oracle.evaluate(checked, facts).items():
            written = lines(checked, name, [_texts(checked, name, row) for row in rows])
            (folder / f"{name}.csv").write_text("".join(f"{line}\n" for line in written), encoding="utf-8")


def _values(checked: Checked, name: str, table: pa.Table) -> set[tuple[Any, ...]]:
    """Rows as the oracle has them."""
    info = checked.relations[name]
    types = [checked.types.types[t] for t in info.types]
    rows = table_rows(table, info.arity)
    return {
        tuple(parse(v, t, _made) if t.kind is Kind.RECORD else v for v, t in zip(row, types, strict=True))
        for row in rows
    }


def _made(made: Any, values: list[Any]) -> tuple[Any, ...]:
    return tuple(values) if isinstance(made, RecordType) else (made.name, *values)


def _texts(checked: Checked, name: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    types = [checked.types.types[t] for t in checked.relations[name].types]
    return tuple(
        text_of_python(v, base_type(t)) if t.kind is Kind.RECORD else v for v, t in zip(row, types, strict=True)
    )


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        write_expected(Case(PROGRAMS / wanted))
