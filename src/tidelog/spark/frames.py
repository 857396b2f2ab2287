"""Facts as DataFrames: what a Spark session reads or is handed for a relation, checked against its declaration.

What is known before anything runs, the columns and their types, is checked at once (`framed`); what only the data
shows, such as a null or a number that does not fit, is found by the tasks that read it (`checked_batches`). Text is
parsed in Spark's tasks by the reader that also reads files without Spark, so a file means the same to both.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from tidelog.plain import dataclass
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
class TypedColumns:
    """The frame has typed columns in the order of the attributes; `nested` if records are structs or arrays."""

    names: tuple[str, ...] = ()
    """What they were called, in the order of the attributes."""
    nested: bool = False


@dataclass(frozen=True)
class Lines:
    """The frame has lines of text."""

    layout: TextLayout


@dataclass(frozen=True)
class TextFiles:
    """The frame only numbers the shares of the tasks, which read text by themselves."""

    layout: TextLayout
    shares: Shares


@dataclass(frozen=True)
class ParquetFiles:
    """The frame only numbers the shares of the tasks, which read Parquet by themselves."""

    shares: Shares
    columns: TypedColumns
    by_spark: DataFrame
    """The same as Spark would read it."""


@dataclass(frozen=True)
class Frame:
    """Facts of a relation in Spark, and what the DataFrame has of them."""

    frame: DataFrame
    info: RelationInfo
    types: TypeSystem
    content: TypedColumns | Lines | TextFiles | ParquetFiles = TypedColumns()
    skip_bad_rows: bool = False

    @property
    def columns(self) -> DataFrame | None:
        """The facts as columns that Spark gives; None of text."""
        match self.content:
            case TypedColumns():
                return self.frame
            case ParquetFiles(by_spark=found):
                return found
            case _:
                return None

    @property
    def layout(self) -> TextLayout | None:
        """How a text is laid out; None of what has columns."""
        return self.content.layout if isinstance(self.content, Lines | TextFiles) else None

    @property
    def shares(self) -> Shares | None:
        """The files that tasks read by themselves; None of what Spark reads."""
        return self.content.shares if isinstance(self.content, TextFiles | ParquetFiles) else None

    @property
    def estimate(self) -> Callable[[int], int]:
        """For tasks: about how many facts there are, from how many are in a stretch of text; 0 if nobody knows."""
        stretches = [stretch for share in self.shares or () for stretch in share]
        number, rows = len(stretches), sum(stretch.rows for stretch in stretches)
        return lambda found: rows or found * number

    def typed(self) -> DataFrame:
        """A DataFrame with the attributes as columns, of SPARK_TYPES; malformed facts make its job fail."""
        columns = self.columns
        if columns is not None and not self.skip_bad_rows and not self._nested:
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
        layout = self.layout
        if layout is None or not (path := Path(layout.file)).is_file():
            return
        bad = BadRows()
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as stream:
            read_text(stream, layout, False, bad)
        bad.check()

    @property
    def _nested(self) -> bool:
        columns = self.content.columns if isinstance(self.content, ParquetFiles) else self.content
        return isinstance(columns, TypedColumns) and columns.nested


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
    return Frame(data, info, types, TypedColumns(own, nested), bad.skip)


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
    info, types, skip, layout, shares = facts.info, facts.types, facts.skip_bad_rows, facts.layout, facts.shares
    names = facts.content.columns.names if isinstance(facts.content, ParquetFiles) else ()

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
        if shares is None:
            larger = gathered(batches)
            if layout is None:
                return from_columns(larger)
            return from_texts((_joined(batch.column(0)), None) for batch in larger)
        own = share_of(shares, batches)
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
