"""Reading facts with Spark: what `.input` directives, paths and Python data mean to a session that has one.

Spark reads what is large: its own formats, Parquet, and plain text by lines. What it would only make slower or
different is read by this process and sent along with the command: small files, standard input, SQLite, JSON, quoted
text with line ends inside fields, and data that is here already.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.errors import Report, TidelogError, error
from tidelog.io.bad_rows import BadRows
from tidelog.io.given import directive_of, given_table
from tidelog.io.place import PARQUET, TEXT, Place, input_place
from tidelog.io.read import read_facts
from tidelog.io.text_lines import layout_of
from tidelog.lang import tree
from tidelog.spark.files import parquet_stretches, shared_out, text_stretches
from tidelog.spark.frames import Frame, framed, is_frame, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Given: TypeAlias = "pa.Table | Frame"
SMALL = 1 << 20
"""Bytes of a file that this process reads faster than a Spark job would start."""

_RESERVED = {"IO", "name", "operation", "format", "path", "table", "relation"}
_FORMATS = {".parquet": "parquet", ".orc": "orc", ".json": "json", ".csv": "csv", ".avro": "avro"}


class FactReader:
    """Reads the facts of a program's relations."""

    def __init__(self, spark: SparkSession, checked: Checked, folder: Path, skip_bad_rows: bool) -> None:
        self.spark, self.checked, self.folder = spark, checked, folder
        self.vocabulary = Vocabulary(checked)
        self.bad_rows = BadRows(skip_bad_rows)

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
            return framed(data, info, self.checked.types)
        own = self.vocabulary.directives.get(info.name)
        if isinstance(data, (str, os.PathLike)):
            text = os.fspath(data)
            if "://" in text:
                return self._loaded(info, _FORMATS.get(Path(text).suffix, "text"), text, {})
            if not is_small(Path(text)):
                return self._directive(info, directive_of(Path(text).absolute(), info, own))
        return given_table(data, info, self.checked.types, own, self.bad_rows)

    def _directive(self, info: RelationInfo, directive: tree.Directive) -> Given:
        params = dict(directive.params)
        if params.get("IO") == "spark":
            options = {key: value for key, value in params.items() if key not in _RESERVED}
            if "table" in params:
                return framed(
                    self._checked_read(lambda: self.spark.table(params["table"]), directive), info, self.checked.types
                )
            if "path" not in params and "format" not in params:
                raise error("TL1204", f"IO=spark of relation `{info.name}` does not say what to read", directive.span,
                            help='give a table, or a format and a path, as in format="orc", path="edges"')  # fmt: skip
            return self._loaded(info, params.get("format", "parquet"), params.get("path"), options, directive)
        place = input_place(info, directive, self.folder)
        if place.path is None or is_small(place.path) or not self._by_spark(place, info):
            return read_facts(info, self.checked.types, directive, self.folder, self.bad_rows)
        path = place.path.absolute()
        if place.format == PARQUET:
            return self._parquet(info, self.spark.read.parquet(path.as_uri()), path)
        return self._lines(info, path, place)

    def _by_spark(self, place: Place, info: RelationInfo) -> bool:
        """Whether tasks can read it: not quoted text, whose fields may have line ends, nor a text with a header."""
        return place.format == PARQUET or (
            place.format == TEXT and not place.rfc4180 and not place.headers and info.arity > 0
        )

    def _lines(self, info: RelationInfo, path: Path, place: Place) -> Frame:
        layout = layout_of(place, info, self.checked.types)
        if path.is_dir() or place.gzip:
            return Frame(self.spark.read.text(path.as_uri()), info, self.checked.types, layout, self.bad_rows.skip)
        tasks, files = shared_out(self.spark, text_stretches(path))
        return Frame(tasks, info, self.checked.types, layout, self.bad_rows.skip, files)

    def _parquet(self, info: RelationInfo, found: DataFrame, path: Path) -> Frame:
        """Facts in Parquet, which tasks read by themselves if Spark would have nothing to add."""
        facts = framed(found, info, self.checked.types)
        stretches = parquet_stretches(path, found.columns)
        if stretches is None or not info.arity:
            return facts
        tasks, files = shared_out(self.spark, stretches)
        return replace(facts, frame=tasks, files=files, columns=facts.frame)

    def _loaded(
        self,
        info: RelationInfo,
        format: str,
        path: str | None,
        options: dict[str, str],
        directive: tree.Directive | None = None,
    ) -> Frame:
        reader = self.spark.read.format(format).options(**options)
        if format in ("csv", "json") and "inferSchema" not in options:
            reader = reader.schema(schema_of(info))
        found = self._checked_read(lambda: reader.load(path), directive)
        here = local_path(path)
        if format == "parquet" and here is not None and not options:
            return self._parquet(info, found, here)
        if format != "text":
            return framed(found, info, self.checked.types)
        place = input_place(info, tree.Directive("input", info.name, (("filename", f"part of {path}"),)), Path())
        layout = layout_of(place, info, self.checked.types)
        return Frame(found, info, self.checked.types, layout, self.bad_rows.skip)

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


def local_path(path: str | None) -> Path | None:
    """A path without wildcards that this process sees as the tasks do."""
    plain = Path((path or "").removeprefix("file://"))
    return plain if path and "://" not in str(plain) and plain.is_absolute() and plain.exists() else None


def is_small(path: Path) -> bool:
    """Whether it is a file that need not be read by Spark; one that is not there is small enough to be missed."""
    try:
        return not path.is_dir() and path.stat().st_size <= SMALL
    except OSError:
        return True


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
