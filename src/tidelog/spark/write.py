"""Writing the `.output` relations of a session: by Spark where the program says so, else by this process.

`.output r(IO="spark", format="parquet", path="…")` is written by Spark's tasks, to a path or a table; what other
parameters there are is passed on as the format's options. Everything else is written as without Spark, to the same
bytes. What is always true: what cannot be written does not keep the rest from being written, and is raised in the end.
Cost: a relation that is not small comes from Spark in order and a piece at a time, so that lines of text, Parquet,
Arrow and SQLite never need all of it in this process; JSON does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Diagnostic, TidelogError, error
from tidelog.io.sizes import size_line
from tidelog.io.tables import table_of
from tidelog.io.write import Parts, write_relation
from tidelog.lang import tree
from tidelog.spark.frames import Batches, is_frame, whole_numbers
from tidelog.spark.words import spark_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SMALL = 1 << 20
"""Tuples that are brought here at once, and sorted here."""
PIECE = 1 << 18
"""Tuples of a larger relation that are here at a time, and as many more on their way."""
_OWN = {"IO", "name", "operation", "attributeNames", "params", "types", "auxArity", "format", "path", "table", "mode",
        "partitionBy"}  # fmt: skip


class Readable(Protocol):
    """A session, as far as its results are written."""

    checked: Checked

    def __getitem__(self, name: str) -> Any: ...
    def count(self, name: str) -> int: ...


def write_outputs(session: Readable, folder: str | Path) -> list[Diagnostic]:
    """Write what the program's `.output` and `.printsize` ask for; the folder `-` prints. Gives warnings."""
    checked, place = session.checked, Path(folder)
    warnings: list[Diagnostic] = []
    problems: list[Diagnostic] = []
    for directive in checked.directives("output"):
        info = checked.relations[directive.relation]
        try:
            if directive.param("IO") == "spark" and str(place) != "-" and is_frame(frame := session[info.name]):
                write_frame(frame, directive)
            else:
                warnings += write_relation(info, checked.types, _tuples(session, info), directive, place)
        except TidelogError as problem:
            problems += problem.diagnostics
    for directive in checked.directives("printsize"):
        print(size_line(directive.relation, session.count(directive.relation)))
    if problems:
        raise TidelogError(problems)
    return warnings


def write_frame(frame: DataFrame, directive: tree.Directive) -> None:
    """Let Spark write a relation. What was there is replaced, unless `mode` says otherwise."""
    params = dict(directive.params)
    writer = frame.write.mode(params.get("mode", "overwrite"))
    writer = writer.options(**{key: value for key, value in params.items() if key not in _OWN})
    if "partitionBy" in params:
        writer = writer.partitionBy(*(name.strip() for name in params["partitionBy"].split(",")))
    if "format" in params or "table" not in params:
        writer = writer.format(params.get("format", "parquet"))
    try:
        if "table" in params:
            writer.saveAsTable(params["table"])
        else:
            writer.save(params.get("path"))
    except Exception as problem:  # py4j's errors have no common base that is public
        said = f"Spark cannot write relation `{directive.relation}`: {spark_words(problem)}"
        raise error("TL1232", said, directive.span) from None


def _tuples(session: Readable, info: RelationInfo) -> pa.Table | Parts:
    found = session[info.name]
    if not is_frame(found):
        return found.to_arrow()
    count = session.count(info.name)
    if count <= SMALL or not info.arity:
        return table_of(whole_numbers(found.toArrow(), info), info)
    return Parts(count, _pieces(found, info))


def _pieces(frame: DataFrame, info: RelationInfo) -> Iterator[pa.Table]:
    """The tuples in order, as tables that Spark hands over one after the other."""
    ordered = frame.orderBy(*(f"`{name}`" for name in info.attributes))
    held: list[pa.Table] = []
    for row in ordered.mapInArrow(_packed, "piece binary").toLocalIterator(prefetchPartitions=True):
        held.append(table_of(whole_numbers(pa.ipc.open_stream(row[0]).read_all(), info), info))
        if sum(table.num_rows for table in held) >= PIECE:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _packed(batches: Batches) -> Iterator[pa.RecordBatch]:
    """For tasks: every batch as one value, which costs no more than its bytes."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], ["piece"])
