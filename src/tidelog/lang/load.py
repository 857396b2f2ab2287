"""Program files of any dialect: the suffix decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tidelog.errors import Report, Source, error
from tidelog.lang import souffle, tree
from tidelog.lang.preprocess import load, preprocess_text

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
        return souffle.parse_into(load(path, report, include_dirs, macros), report)
    return _parse_other(dialect, Source(str(path), path.read_text(encoding="utf-8-sig", errors="surrogateescape")))


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
