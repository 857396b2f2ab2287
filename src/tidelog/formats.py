"""The formats of facts: one registry. Other packages add theirs with `add`.

A format says what its files are called, how directives name it and with which parameters, who reads and writes it, and
what Spark can do with it. What is always true: no two formats share a name, a kind of IO or a suffix. Readers and
writers are named here, as "module:function", and imported when one is needed: a program without Parquet never loads it.

    read(place, info, types, bad_rows) -> a table with the relation's attributes as columns
    write(place, info, types, parts) -> warnings
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import PurePath
from typing import Any

from tidelog.errors import InternalError
from tidelog.plain import dataclass

TEXT, JSON, SQLITE, PARQUET, ORC, ARROW, SIZE = "text", "json", "sqlite", "parquet", "orc", "arrow", "size"


@dataclass(frozen=True)
class Format:
    """See the module's docstring. One without a reader is only for Spark to read."""

    name: str  # Spark's name for it, where Spark knows it
    io: str = ""  # what a directive's `IO=` says, if anything
    stream_io: str = ""  # what it says where facts come from standard input and results go to standard output
    suffixes: tuple[str, ...] = ()  # that say the format of a file
    given: tuple[str, ...] = ()  # more of them, for files that are handed to a session by name
    extension: str = ""  # of a file whose name is that of its relation
    magic: bytes = b""  # what its files begin with, if that tells
    log: str = ""  # where a table that is more than its files keeps its log, as a pattern of files
    parameters: frozenset[str] = frozenset()  # of a directive, beside those that all have
    compresses: bool = False  # whether its files may be compressed as a whole
    folders: bool = False  # whether its reader takes a folder of part files; others get them one by one
    spark_reads: str = ""  # what Spark reads: "all", or only "folders"
    reads: str = ""
    writes: str = ""

    @property
    def read(self) -> Callable[..., Any]:
        return _imported(self.reads)

    @property
    def write(self) -> Callable[..., Any]:
        return _imported(self.writes)


FORMATS: dict[str, Format] = {}


def add(format: Format) -> None:
    """Let directives, sessions and Spark know a format."""
    for other in FORMATS.values():
        suffixes = {*format.suffixes, *format.given} & {*other.suffixes, *other.given}
        if other.name == format.name or (format.io and other.io == format.io) or suffixes:
            raise InternalError(f"the format {format.name} has a name, IO or suffix of {other.name}")
    FORMATS[format.name] = format


def format_of_name(path: str | PurePath) -> str:
    """The format that a file's name says: text, if nothing else."""
    suffix = PurePath(PurePath(path).name.removesuffix(".gz")).suffix
    return next((f.name for f in FORMATS.values() if suffix and suffix in f.suffixes), TEXT)


def format_of_io(io: str) -> str | None:
    """The format that `IO=` says."""
    return next((f.name for f in FORMATS.values() if io in (f.io, f.stream_io) and io), None)


def _imported(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


_LINES = frozenset(("delimiter", "headers", "rfc4180", "columns"))
_FILE = frozenset(("filename", "compress"))

add(Format(TEXT, parameters=_LINES | _FILE, compresses=True,
           reads="tidelog.io.read:read_lines", writes="tidelog.io.write:write_lines"))  # fmt: skip
add(Format(SIZE, io="stdoutprintsize", writes="tidelog.io.write:write_size"))
add(Format(SQLITE, io="sqlite", given=(".sqlite", ".sqlite3", ".db"), extension=".sqlite", folders=True,
           parameters=frozenset(("dbname", "filename")),
           reads="tidelog.io.sqlite_facts:read_sqlite", writes="tidelog.io.sqlite_facts:write_sqlite"))  # fmt: skip
add(Format(JSON, io="jsonfile", stream_io="json", suffixes=(".json",), extension=".json",
           parameters=frozenset(("filename", "format")), compresses=True, spark_reads="folders",
           reads="tidelog.io.json_facts:read_json_file", writes="tidelog.io.json_facts:write_json"))  # fmt: skip
add(Format(PARQUET, io="parquet", suffixes=(".parquet", ".pq"), extension=".parquet", magic=b"PAR1", parameters=_FILE,
           folders=True, spark_reads="all",
           reads="tidelog.io.arrow_files:read_arrow", writes="tidelog.io.arrow_files:write_arrow"))  # fmt: skip
add(Format(ARROW, io="arrow", suffixes=(".arrow", ".feather", ".ipc"), extension=".arrow", magic=b"ARROW1",
           parameters=_FILE, folders=True,
           reads="tidelog.io.arrow_files:read_arrow", writes="tidelog.io.arrow_files:write_arrow"))  # fmt: skip
add(Format(ORC, suffixes=(".orc",), magic=b"ORC", folders=True, spark_reads="all",
           reads="tidelog.io.arrow_files:read_arrow", writes="tidelog.io.arrow_files:write_arrow"))  # fmt: skip
add(Format("avro", suffixes=(".avro",), magic=b"Obj\x01", spark_reads="all"))
add(Format("delta", log="_delta_log/*.json", spark_reads="all"))
add(Format("iceberg", log="metadata/*.metadata.json", spark_reads="all"))
add(Format("hudi", log=".hoodie/hoodie.properties", spark_reads="all"))
