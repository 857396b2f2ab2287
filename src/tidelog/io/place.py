"""Where a directive's facts lie and in what form: `.input` and `.output` with their parameters, resolved.

The parameters and default names are Soufflé's. When IO is a plain file and no parameter says that it is text, the
format follows the file's name; that of a folder follows what is in it.
"""

from __future__ import annotations

from pathlib import Path

from tidelog.analysis.types import RelationInfo
from tidelog.errors import Span, error
from tidelog.formats import FORMATS, SQLITE, TEXT, format_of_io, format_of_name
from tidelog.io.folders import format_of_folder
from tidelog.lang import tree
from tidelog.plain import dataclass

TEXT_PARAMETERS = ("delimiter", "headers", "rfc4180", "columns")
STREAM_NAMES = {"input": "<stdin>", "output": "<stdout>"}


@dataclass(frozen=True, slots=True)
class Place:
    """One source or target of facts: a file or, to read from, a folder of part files. `path` is None for the standard
    streams; sqlite may have a URI instead."""

    relation: str
    format: str
    path: Path | None
    shown: str  # how messages call it
    delimiter: str = "\t"
    headers: bool = False
    rfc4180: bool = False
    columns: tuple[int, ...] | None = None
    gzip: bool = False
    objects: bool = False  # JSON: facts as objects, not lists
    header: str | None = None  # the header line, if not made of the attributes' names
    database: str = ""  # sqlite: path or URI
    span: Span | None = None


def input_place(info: RelationInfo, directive: tree.Directive | None, folder: Path) -> Place:
    """Where the facts of `.input` are."""
    return _place(info, directive, folder, "input")


def output_place(info: RelationInfo, directive: tree.Directive | None, folder: Path) -> Place:
    """Where the tuples of `.output` go. The folder `-` prints everything, with headers."""
    return _place(info, directive, folder, "output")


def _place(info: RelationInfo, directive: tree.Directive | None, folder: Path, kind: str) -> Place:
    params = {} if directive is None else dict(directive.params)
    span = None if directive is None else directive.span
    name = params.get("name", info.name)
    io = params.get("IO", "file")
    to_terminal = kind == "output" and str(folder) == "-"
    if to_terminal and io not in ("stdoutprintsize", "json"):
        io = "stdout"
    if io == "spark":
        raise error(
            "TL0628",
            f"IO=spark of relation `{info.name}` needs a Spark session",
            span,
            help="run it without --local, or name a file instead",
        )
    rfc4180 = params.get("rfc4180") == "true"
    compress = params.get("compress", "false") != "false"
    format = FORMATS[format_of_io(io) or _format_of_directive(params, io)]
    gzip = compress and format.compresses
    path, shown = None, STREAM_NAMES[kind]
    database = ""
    if format.name == SQLITE:
        database = params.get("filename") or params.get("dbname") or name + format.extension
        if not database.startswith(("file:", ":memory:")):
            path = folder / database
            database = str(path)
        shown = database
    elif io not in ("stdin", "stdout", "stdoutprintsize", format.stream_io):
        default = (format.extension or (".facts" if kind == "input" else ".csv")) + (".gz" if gzip else "")
        if kind == "input" and gzip and "filename" not in params:
            default = default.removesuffix(".gz")
        path = folder / params.get("filename", name + default)
        gzip = gzip or path.suffix == ".gz"
        shown = str(path)
        if kind == "input" and path.is_dir():
            format = FORMATS[format_of_folder(path)]
    return Place(
        relation=name,
        format=format.name,
        path=path,
        shown=shown,
        delimiter=params.get("delimiter", "," if rfc4180 else "\t"),
        headers=to_terminal or params.get("headers") == "true",
        rfc4180=rfc4180,
        columns=_columns(params.get("columns"), info, kind),
        gzip=gzip,
        objects=params.get("format") == "object",
        header=params.get("attributeNames"),
        database=database,
        span=span,
    )


def _format_of_directive(params: dict[str, str], io: str) -> str:
    if io != "file" or any(key in params for key in TEXT_PARAMETERS):
        return TEXT
    return format_of_name(params.get("filename", ""))


def _columns(text: str | None, info: RelationInfo, kind: str) -> tuple[int, ...] | None:
    """`columns="2:0"`; the analysis has checked that these are enough numbers."""
    if not text or kind == "output":
        return None
    return tuple(int(number) for number in text.split(":"))[: info.arity]
