"""Facts that a program hands in for a relation: a file's name, or Python data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.formats import FORMATS, TEXT, format_of_name
from tidelog.io.bad_rows import BadRows
from tidelog.io.folders import format_of_folder, part_files
from tidelog.io.place import TEXT_PARAMETERS
from tidelog.io.read import read_facts
from tidelog.io.tables import table_of
from tidelog.lang import tree


def given_table(
    data: Any, info: RelationInfo, types: TypeSystem, declared: tree.Directive | None, bad_rows: BadRows
) -> pa.Table:
    """The facts as a table with the relation's attributes as columns. A string is a file's name."""
    if isinstance(data, (str, os.PathLike)):
        return read_facts(info, types, directive_of(Path(data), info, declared), Path("."), bad_rows)
    return table_of(data, info, types, bad_rows)


def directive_of(path: Path, info: RelationInfo, declared: tree.Directive | None) -> tree.Directive:
    """The `.input` that reads this file or folder. A file is in the format that its name says, a folder in that of its
    files; text is laid out as the relation's own directive says. Where that says nothing, a `.csv` file without a tab
    in its first line is separated by commas."""
    params = {"filename": str(path)}
    own = dict(declared.params) if declared is not None else {}
    named = next((format for format in FORMATS.values() if path.suffix in format.given), None)
    if named is not None:
        params |= {"IO": named.io, "name": own.get("name", info.name)}
    elif (format_of_folder(path) if path.is_dir() else format_of_name(path)) == TEXT:
        params |= {key: own[key] for key in TEXT_PARAMETERS if key in own}
        unsaid = not own.keys() & {"delimiter", "rfc4180"}
        file = next(iter(part_files(path)), path) if path.is_dir() else path
        if unsaid and file.name.removesuffix(".gz").endswith(".csv") and _has_commas(file, info):
            params["rfc4180"] = "true"
    return tree.Directive("input", info.name, tuple(params.items()))


def _has_commas(path: Path, info: RelationInfo) -> bool:
    import gzip

    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as file:
            first = file.readline()
    except OSError:
        return False  # whoever reads the facts says what is wrong with the file
    return info.arity > 1 and b"\t" not in first and b"," in first
