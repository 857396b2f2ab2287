"""Reading facts with Spark: what `.input` directives, paths and Python data mean to a session that has one.

Spark reads what is large: its own formats, Parquet, and plain text by lines. What it would only make slower or
different is read by this process and sent along with the command: small files, standard input, SQLite, JSON, quoted
text with line ends inside fields, and data that is here already.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.errors import Report, TidelogError, error
from tidelog.formats import FORMATS, TEXT, format_of_name
from tidelog.io.bad_rows import BadRows
from tidelog.io.columns import chosen_columns
from tidelog.io.given import directive_of, given_table
from tidelog.io.place import TEXT_PARAMETERS, Place, input_place
from tidelog.io.read import read_facts
from tidelog.io.tables import table_of
from tidelog.io.text_lines import layout_of
from tidelog.lang import tree
from tidelog.plain import replace
from tidelog.spark.files import parquet_stretches, shared_out, text_stretches
from tidelog.spark.frames import (
    SPARK_TYPES,
    Frame,
    Lines,
    ParquetFiles,
    TextFiles,
    TypedColumns,
    ddl,
    framed,
    is_frame,
    schema_of,
)
from tidelog.spark.local_frames import few_rows
from tidelog.spark.places import format_of_uri, is_small, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Given: TypeAlias = "pa.Table | Frame"
_RESERVED = {"IO", "name", "operation", "format", "path", "table", "relation"}


class FactReader:
    """Reads the facts of a program's relations."""

    def __init__(self, spark: SparkSession, checked: Checked, folder: Path, bad_rows: BadRows) -> None:
        self.spark, self.checked, self.folder, self.bad_rows = spark, checked, folder, bad_rows
        self.vocabulary = Vocabulary(checked)

    def inputs(self) -> dict[str, list[Given]]:
        """What the program's `.input` directives name."""
        report, found = Report(), dict[str, list[Given]]()
        for directive in self.checked.directives("input"):
            info = self.checked.relations[directive.relation]
            try:
                found.setdefault(info.name, []).append(self._directive(info, directive))
            except TidelogError as problem:
                report.diagnostics += problem.diagnostics
        report.check_in_order()
        return found

    def given(self, facts: Mapping[str, Any], report: Report) -> dict[str, list[Given]]:
        """What the user has handed in; whatever is wrong with it goes to the report."""
        found: dict[str, list[Given]] = {}
        if not isinstance(facts, Mapping):
            report.error("TL1108", f"facts are given by relation, not as a {type(facts).__name__}",
                         help='write a dict, such as {"edge": df}')  # fmt: skip
            return found
        for name, data in facts.items():
            if not self.vocabulary.is_input(name, report):
                continue
            try:
                found[name] = [self._given(self.checked.relations[name], data)]
            except TidelogError as problem:
                report.diagnostics += problem.diagnostics
        return found

    def _given(self, info: RelationInfo, data: Any) -> Given:
        if is_frame(data):
            facts = self._framed(data, info)
            few = few_rows(facts.frame) if info.arity else None
            if few is None:
                return facts
            return table_of(few, info, self.checked.types, self.bad_rows, numbered=False)
        own = self.vocabulary.directives.get(info.name)
        if isinstance(data, (str, os.PathLike)):
            text = os.fspath(data)
            if "://" in text:
                return self._at(info, text, own)
            if isinstance(data, str) and self._is_table(data, info):
                return self._framed(self._checked_read(lambda: self.spark.table(data), None), info)
            if not is_small(Path(text)):
                return self._directive(info, directive_of(Path(text).absolute(), info, own))
        return given_table(data, info, self.checked.types, own, self.bad_rows)

    def _framed(self, data: DataFrame, info: RelationInfo) -> Frame:
        return framed(data, info, self.checked.types, self.bad_rows)

    def _is_table(self, text: str, info: RelationInfo) -> bool:
        """Whether it is the name of a table, not that of a file. A file or folder that is there comes first; what is
        neither is an error, unless it can only be a path."""
        if os.path.exists(text) or "/" in text or os.sep in text:
            return False
        from pyspark.errors import PySparkException

        try:
            if self.spark.catalog.tableExists(text):
                return True
        except PySparkException:
            pass  # not even a name
        raise error(
            "TL1263", f"facts of relation `{info.name}`: `{text}` is neither a file or folder nor a table of Spark's "
            "catalogue", help=f"files are looked for in {Path.cwd()}, tables in the catalogue of the Spark session",
        )  # fmt: skip

    def _at(self, info: RelationInfo, uri: str, own: tree.Directive | None) -> Given:
        """What is at a URI, in the format that its suffix says, or else what is there."""
        named = "csv" if uri.endswith(".csv") else format_of_name(uri)
        format = named if named == "csv" or FORMATS[named].spark_reads else format_of_uri(self.spark, uri)
        if format != TEXT:
            return self._loaded(info, format, uri, {})
        return self._text(info, uri, own)

    def _directive(self, info: RelationInfo, directive: tree.Directive) -> Given:
        params = dict(directive.params)
        if params.get("IO") == "spark":
            options = {key: value for key, value in params.items() if key not in _RESERVED}
            if "table" in params:
                return self._framed(self._checked_read(lambda: self.spark.table(params["table"]), directive), info)
            if "path" not in params and "format" not in params:
                raise error("TL1204", f"IO=spark of relation `{info.name}` does not say what to read", directive.span,
                            help='give a table, or a format and a path, as in format="orc", path="edges"')  # fmt: skip
            return self._loaded(info, params.get("format", "parquet"), params.get("path"), options, directive)
        place = input_place(info, directive, self.folder)
        if place.path is None or is_small(place.path) or not self._by_spark(place, info):
            return read_facts(info, self.checked.types, directive, self.folder, self.bad_rows)
        path = place.path.absolute()
        if place.format != TEXT:
            return self._loaded(info, place.format, path.as_uri(), {}, directive)
        return self._lines(info, path, place)

    def _by_spark(self, place: Place, info: RelationInfo) -> bool:
        """Whether tasks can read it: not quoted text, whose fields may have line ends, nor a text with a header."""
        if place.format == TEXT:
            return not place.rfc4180 and not place.headers and info.arity > 0
        folder = place.path is not None and place.path.is_dir()
        reads = FORMATS[place.format].spark_reads
        return reads == "all" or (reads == "folders" and folder)

    def _lines(self, info: RelationInfo, path: Path, place: Place) -> Frame:
        layout = layout_of(place, info, self.checked.types)
        if path.is_dir() or place.gzip:
            return self._of_text(self.spark.read.text(path.as_uri()), info, Lines(layout))
        tasks, shares = shared_out(self.spark, text_stretches(path))
        return self._of_text(tasks, info, TextFiles(layout, shares))

    def _of_text(self, frame: DataFrame, info: RelationInfo, content: Lines | TextFiles) -> Frame:
        return Frame(frame, info, self.checked.types, content, self.bad_rows.skip)

    def _parquet(self, info: RelationInfo, found: DataFrame, path: Path) -> Frame:
        """Facts in Parquet, which tasks read by themselves if Spark would have nothing to add."""
        facts = self._framed(found, info)
        stretches = parquet_stretches(path, found.columns)
        if stretches is None or not isinstance(facts.content, TypedColumns) or not info.arity:
            return facts
        tasks, shares = shared_out(self.spark, stretches)
        return replace(facts, frame=tasks, content=ParquetFiles(shares, facts.content, facts.frame))

    def _loaded(
        self,
        info: RelationInfo,
        format: str,
        path: str | None,
        options: dict[str, str],
        directive: tree.Directive | None = None,
    ) -> Frame:
        if format == "text" and path is not None:
            return self._text(info, path, directive)
        reader = self.spark.read.format(format).options(**options)
        if format in ("csv", "json") and "inferSchema" not in options:
            reader = reader.schema(self._schema(format, path, options, info, directive))
        found = self._checked_read(lambda: reader.load(path), directive)
        here = local_path(path)
        if format == "parquet" and here is not None and not options:
            return self._parquet(info, found, here)
        return self._framed(found, info)

    def _schema(
        self,
        format: str,
        path: str | None,
        options: dict[str, str],
        info: RelationInfo,
        directive: tree.Directive | None,
    ) -> str:
        """The schema to read a format that has no types: the attributes' types, under the names that the file has for
        them in the header of CSV or in the keys of JSON."""
        named = {key.lower(): value.lower() for key, value in options.items()}
        types = [SPARK_TYPES[kind] for kind in info.kinds]
        if format == "csv" and named.get("header") == "true":
            found = self._checked_read(lambda: self.spark.read.format(format).options(**options).load(path), directive)
            chosen = dict(zip(chosen_columns(found.columns, info).positions, types, strict=True))
            return ddl((name, chosen.get(i, "string")) for i, name in enumerate(found.columns))
        if format == "json" and path is not None and named.get("multiline") != "true":
            first = self._checked_read(lambda: self.spark.read.text(path).limit(1), directive).collect()
            return ddl(zip(names_in_json(first[0][0] if first else "", info), types, strict=True))
        return schema_of(info)

    def _text(self, info: RelationInfo, path: str, directive: tree.Directive | None) -> Frame:
        """Lines of text, laid out as a directive says. Fields in quotes and headers are Spark's business."""
        own = () if directive is None else directive.params
        params = tuple((key, value) for key, value in own if key in TEXT_PARAMETERS)
        place = input_place(
            info, tree.Directive("input", info.name, (("filename", f"part of {path}"), *params)), Path()
        )
        if (place.rfc4180 or place.headers) and place.columns is None:
            options = {"sep": place.delimiter, "header": str(place.headers).lower()}
            return self._loaded(info, "csv", path, options | {"escape": '"'}, directive)
        found = self._checked_read(lambda: self.spark.read.text(path), directive)
        return self._of_text(found, info, Lines(layout_of(place, info, self.checked.types)))

    def _checked_read(self, read: Any, directive: tree.Directive | None) -> DataFrame:
        """A DataFrame, with Spark's own words if it cannot be had."""
        from pyspark.errors import PySparkException

        try:
            found: DataFrame = read()
            found.columns  # noqa: B018  (Connect finds out only now)
            return found
        except PySparkException as problem:
            words = str(problem).splitlines()[0]
            raise error("TL1205", f"Spark cannot read this: {words}", directive.span if directive else None) from None


def names_in_json(line: str, info: RelationInfo) -> list[str]:
    """What the attributes are called in JSON of which this is a line. An attribute that it does not have may be null
    there, which Spark does not write; a line that has none of them is an error."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None  # whoever reads it says what is wrong
    keys = list(found) if isinstance(found, dict) else []
    folded = {key.casefold(): key for key in keys}
    names = [name if name in keys else folded.get(name.casefold(), name) for name in info.attributes]
    if keys and not set(names) & set(keys):
        chosen_columns(keys, info, positional=False)
    return names


def split_given(given: Mapping[str, Iterable[Given]]) -> tuple[dict[str, pa.Table], dict[str, list[Frame]]]:
    """What this process has read, and what Spark is to read."""
    here: dict[str, pa.Table] = {}
    there: dict[str, list[Frame]] = {}
    for name, parts in given.items():
        tables = [part for part in parts if not isinstance(part, Frame)]
        frames = [part for part in parts if isinstance(part, Frame)]
        if tables:
            here[name] = pa.concat_tables(tables) if len(tables) > 1 else tables[0]
        if frames:
            there[name] = frames
    return here, there
