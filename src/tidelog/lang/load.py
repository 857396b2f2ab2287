"""Program files of any dialect: the suffix decides."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from tidelog.errors import Report, Source, error
from tidelog.lang import tree
from tidelog.lang.kept_programs import keep, kept, place_of

DIALECTS = {".dl": "souffle", ".ndlog": "ndlog", ".rules": "rules"}


def load_program(
    path: str | Path,
    report: Report,
    include_dirs: Iterable[str | Path] = (),
    macros: Mapping[str, str] | None = None,
) -> tree.Program:
    """The program in a file, as far as it can be read; problems go to the report."""
    path = Path(path)
    dialect = DIALECTS.get(path.suffix, "souffle")
    if not path.is_file():
        why = "it is a folder" if path.is_dir() else "there is no such file"
        raise error("TL0115", f"cannot read {path}: {why}")
    if dialect == "souffle":
        return _load_souffle(path, report, include_dirs, macros)
    return _parse_other(dialect, Source(str(path), path.read_text(encoding="utf-8-sig", errors="surrogateescape")))


def _load_souffle(
    path: Path, report: Report, include_dirs: Iterable[str | Path], macros: Mapping[str, str] | None
) -> tree.Program:
    text = path.read_bytes() if not macros and os.access(path, os.R_OK) else b""
    place = place_of(str(path), text) if text else None
    before = None if place is None else kept(place, str(path), text)
    if before is not None:
        program, odd = before
        report.diagnostics += odd
        return program
    from tidelog.lang import souffle
    from tidelog.lang.preprocess import load

    known = len(report.diagnostics)
    program = souffle.parse_into(load(path, report, include_dirs, macros), report)
    if place is not None and not report.errors:
        keep(place, str(path), text, program, report.diagnostics[known:])
    return program


def parse_program(
    text: str,
    report: Report,
    name: str = "<text>",
    dialect: str = "souffle",
    include_dirs: Iterable[str | Path] = (),
    macros: Mapping[str, str] | None = None,
) -> tree.Program:
    """The same for a text."""
    if dialect == "souffle":
        from tidelog.lang import souffle
        from tidelog.lang.preprocess import preprocess_text

        return souffle.parse_into(preprocess_text(text, name, report, include_dirs, macros), report)
    return _parse_other(dialect, Source(name, text))


def check_evaluable(program: tree.Program) -> None:
    """An error unless the program is one that sessions and runs evaluate."""
    if program.dialect == "ndlog":
        raise error("TL0702", "this is a program of Network Datalog, which nodes evaluate by exchanging messages",
                    help="run it with `tidelog net run`")  # fmt: skip
    if program.dialect == "rules":
        raise error("TL0702", "these are rules over the triples of a graph",
                    help="evaluate them with `tidelog rdf materialise --rules`, or with tidelog.rdf.Graph")  # fmt: skip


def _parse_other(dialect: str, source: Source) -> tree.Program:
    if dialect == "ndlog":
        from tidelog.lang import ndlog

        return ndlog.parse(source.text, source.name)
    from tidelog.lang import rules

    return rules.parse(source.text, source.name)
