"""Facts as DataFrames: what a Spark session reads or is handed for a relation, checked against its declaration.

What is known before anything runs, the columns and their types, is checked at once (`framed`); what only the data
shows, such as a null or a number that does not fit, is found by the tasks that read it (`checked_batches`). Text is
parsed in Spark's tasks by the reader that also reads files without Spark, so a file means the same to both.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.errors import Diagnostic, Report, Severity, TidelogError
from tidelog.io.bad_rows import BadRows
from tidelog.io.columns import chosen_columns
from tidelog.io.tables import table_of
from tidelog.io.text_lines import TextLayout
from tidelog.io.text_read import read_text
from tidelog.spark.files import ROWS, Shares, Stretch, batches_of, lines_before, share_of, text_of
from tidelog.spark.packed import Problems, packed_diagnostics, unpacked_diagnostics
from tidelog.values import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Batches = Iterable[pa.RecordBatch]

SPARK_TYPES = {
    Kind.NUMBER: "bigint",
    Kind.UNSIGNED: "decimal(20,0)",
    Kind.FLOAT: "double",
    Kind.SYMBOL: "string",
    Kind.RECORD: "string",
}
"""How values look in DataFrames: results are of these types. Inputs may be of others that fit."""

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_ACCEPTED = {
    Kind.NUMBER: _INTEGERS,
    Kind.UNSIGNED: _INTEGERS,
    Kind.FLOAT: (*_INTEGERS, "float", "double"),
    Kind.SYMBOL: ("string", "varchar", "char"),
    Kind.RECORD: ("string", "varchar", "char", "struct", "array"),
}


@dataclass(frozen=True)
class Frame:
    """Facts of a relation in Spark: typed columns in the order of the attributes or, with a layout, lines of text. With
    files, the DataFrame only numbers the shares of the tasks, which read the text or the columns of Parquet; then
    `columns` are the facts as Spark would read them. `names` are the columns' own, in the order of the attributes.
    Columns that are `nested` have records as structs or arrays."""

    frame: DataFrame
    info: RelationInfo
    types: TypeSystem
    lines: TextLayout | None = None
    skip_bad_rows: bool = False
    files: Shares | None = None
    names: tuple[str, ...] = ()
    columns: DataFrame | None = None
    nested: bool = False

    @property
    def estimate(self) -> Callable[[int], int]:
        """For tasks: about how many facts there are, from how many are in a stretch of text; 0 if nobody knows."""
        stretches = sum(map(len, self.files or ()))
        rows = sum(stretch.rows for share in self.files or () for stretch in share)
        return lambda found: rows or found * stretches

    def typed(self) -> DataFrame:
        """A DataFrame with the attributes as columns, of SPARK_TYPES; malformed facts make its job fail."""
        if self.lines is None and not self.skip_bad_rows and not self.nested:
            columns = self.frame if self.columns is None else self.columns
            from tidelog.spark.fitting import fitting

            return columns.select(*fitting(columns, self.info))
        checked, kinds = checked_batches(self), self.info.kinds

        def parse(batches: Batches) -> Iterator[pa.RecordBatch]:
            wrong: list[Diagnostic] = []
            for table, problems in checked(batches):
                wrong += (problem for problem in problems if problem.severity is Severity.ERROR)
                if table.num_rows and not wrong:
                    yield from as_decimals(table, kinds).combine_chunks().to_batches()
            if wrong:
                raise Problems(wrong)

        return self.frame.mapInArrow(parse, schema_of(self.info))

    def skipped(self) -> list[Diagnostic]:
        """What reading it skips: found by a job of its own, for those whose jobs cannot tell."""
        if not self.skip_bad_rows:
            return []
        checked = checked_batches(self)

        def report(batches: Batches) -> Iterator[pa.RecordBatch]:
            problems = [problem for _, found in checked(batches) for problem in found]
            yield pa.RecordBatch.from_pydict({"problems": [packed_diagnostics(problems)]})

        rows = self.frame.mapInArrow(report, "problems string").collect()
        return [problem for row in rows for problem in unpacked_diagnostics(row["problems"])]

    def locate_malformed(self) -> None:
        """Raise all that is malformed in a text, whichever task would find it, with the numbers of its lines; nothing
        happens if the file is not on this machine."""
        path = Path(self.lines.file) if self.lines is not None else Path()
        if self.lines is None or not path.is_file():
            return
        bad = BadRows()
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as stream:
            read_text(stream, self.lines, False, bad)
        bad.check()


def is_frame(data: Any) -> bool:
    """Whether it is a Spark DataFrame, classic or of Spark Connect."""
    return hasattr(data, "mapInArrow")


def schema_of(info: RelationInfo) -> str:
    """The schema of a relation's DataFrames, as DDL."""
    columns = zip(info.attributes, info.kinds, strict=True)
    return ddl((name, SPARK_TYPES[kind]) for name, kind in columns) or "`_` boolean"


def ddl(columns: Iterable[tuple[str, str]]) -> str:
    """A schema, from names and types."""
    return ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in columns)


def framed(data: DataFrame, info: RelationInfo, types: TypeSystem, bad: BadRows) -> Frame:
    """A DataFrame as facts: which of its columns are meant is decided in `io.columns`."""
    if not info.arity:
        return Frame(data, info, types)
    names = list(data.columns)
    choice = chosen_columns(names, info)
    bad.tell_once(choice.warning)
    data = selected(data, choice.positions, info.attributes)
    nested = _check_types(data, info)
    own = tuple(names[p] for p in choice.positions)
    return Frame(data, info, types, skip_bad_rows=bad.skip, names=own, nested=nested)


def selected(data: DataFrame, positions: Sequence[int], names: Sequence[str]) -> DataFrame:
    """These columns under these names. Their own names may be any, also the same twice."""
    if list(data.columns) == list(names) and list(positions) == list(range(len(names))):
        return data
    plain = data.toDF(*(f"c{i}" for i in range(len(data.columns))))
    return plain.select(*(plain[f"c{p}"].alias(name) for p, name in zip(positions, names, strict=True)))


def _check_types(data: DataFrame, info: RelationInfo) -> bool:
    """Raise if columns have no values of their attributes' types; whether some have records in parts."""
    report, nested = Report(), False
    for (name, found), kind, declared in zip(data.dtypes, info.kinds, info.types, strict=True):
        base = found.partition("(")[0].partition("<")[0]
        whole = base == "decimal" and found.endswith(",0)")
        if base not in _ACCEPTED[kind] and not (whole and kind in (Kind.NUMBER, Kind.UNSIGNED)):
            report.error(
                "TL1203",
                f"facts of relation `{info.name}`: column `{name}` is {found}, but the attribute is of type {declared}",
                help=f"cast it to {SPARK_TYPES[kind]}",
            )
        nested = nested or base in ("struct", "array")
    report.check()
    return nested


def checked_batches(facts: Frame) -> Callable[[Batches], Iterator[tuple[pa.Table, list[Any]]]]:
    """For tasks: batches of the frame to tables of facts, each with what is wrong with it. Where there is nothing but
    problems, the table has no rows, and no columns."""
    info, types, layout, skip = facts.info, facts.types, facts.lines, facts.skip_bad_rows
    files, names = facts.files, facts.names

    def from_columns(batches: Batches) -> Iterator[tuple[pa.Table, list[Any]]]:
        bad = BadRows(skip)
        for batch in batches:
            try:
                yield table_of(pa.table(batch), info, types, bad, numbered=False), []
            except TidelogError as problem:
                yield pa.table({}), list(problem.diagnostics)
        yield pa.table({}), bad.report()

    def from_texts(texts: Iterable[tuple[pa.Buffer | bytes, Stretch | None]]) -> Iterator[tuple[pa.Table, list[Any]]]:
        assert layout is not None
        bad = BadRows(skip)
        for text, stretch in texts:
            columns = _read_text(text, layout, bad, stretch)
            try:
                bad.check()
                yield pa.table(columns, names=list(info.attributes)), []
            except TidelogError as problem:
                yield pa.table({}), list(problem.diagnostics)
        yield pa.table({}), bad.report()

    def tables(batches: Batches) -> Iterator[tuple[pa.Table, list[Any]]]:
        if files is None:
            larger = gathered(batches)
            if layout is None:
                return from_columns(larger)
            return from_texts((_joined(batch.column(0)), None) for batch in larger)
        own = share_of(files, batches)
        if layout is not None:
            return from_texts((text_of(stretch), stretch) for stretch in own)
        read = (batch for stretch in own for batch in batches_of(stretch, names))
        return from_columns(batch.rename_columns(list(info.attributes)) for batch in read)

    return tables


def _read_text(text: pa.Buffer | bytes, layout: TextLayout, bad: BadRows, stretch: Stretch | None) -> list[Any]:
    """The columns of a text. If something is odd in it, the lines before it are counted, and it is read once more."""
    if stretch is None or not stretch.first:
        return read_text(io.BytesIO(text), layout, False, bad)
    odd = BadRows(skip=True)
    columns = read_text(io.BytesIO(text), layout, False, odd)
    if odd.report():
        return read_text(io.BytesIO(text), layout, False, bad, lines_before(stretch) + 1)
    return columns


def gathered(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Batches from Spark, which are small, as larger ones."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(b.num_rows for b in held) >= ROWS:
            yield pa.concat_batches(held)
            held = []
    if held:
        yield pa.concat_batches(held)


def _joined(lines: pa.Array) -> pa.Buffer:
    """Lines as the text that they were."""
    together = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(together, "\n")[0].as_buffer()


def as_decimals(table: pa.Table, kinds: tuple[Kind, ...]) -> pa.Table:
    """Unsigned numbers as the decimals that Spark has for them."""
    columns = [
        pc.cast(column, pa.decimal128(20, 0)) if kind is Kind.UNSIGNED else column
        for column, kind in zip(table.columns, kinds, strict=True)
    ]
    return pa.table(columns, names=table.column_names) if columns else table
