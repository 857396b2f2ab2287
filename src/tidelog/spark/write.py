"""Writing the `.output` relations of a session: by Spark where the program says so, else by this process.

`.output r(IO="spark", format="parquet", path="…")` is written by Spark's tasks, to a path or a table; what other
parameters there are is passed on as the format's options. Everything else is written as without Spark, to the same
bytes. Cost: a relation that is not small comes from Spark in order and a piece at a time, so that lines of text,
Parquet, Arrow and SQLite never need all of it in this process; JSON does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tidelog.analysis.types import RelationInfo
from tidelog.errors import Diagnostic, error
from tidelog.io.tables import table_of
from tidelog.io.write import Parts, write_relation
from tidelog.lang import tree
from tidelog.spark.frames import Batches
from tidelog.spark.words import spark_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidelog.spark.on_spark import OnSpark

SMALL = 1 << 20
"""Tuples that are brought here at once, and sorted here."""
PIECE = 1 << 18
"""Tuples of a larger relation that are here at a time, and as many more on their way."""
_OWN = {"IO", "name", "operation", "attributeNames", "params", "types", "auxArity", "format", "path", "table", "mode",
        "partitionBy"}  # fmt: skip


def write_output(session: OnSpark, directive: tree.Directive, folder: Path) -> list[Diagnostic]:
    """Write a relation where its `.output` says; the folder `-` prints. Gives warnings."""
    info = session.vocabulary.info(directive.relation)
    if directive.param("IO") == "spark" and str(folder) != "-":
        write_frame(session.relation(info.name), directive)
        return []
    return write_relation(info, session.checked.types, _tuples(session, info), directive, folder)


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


def _tuples(session: OnSpark, info: RelationInfo) -> pa.Table | Parts:
    found, count = session.relation(info.name), session.count(info.name)
    if count <= SMALL or not info.arity:
        return table_of(found.toArrow(), info)
    return Parts(count, _pieces(found, info))


def _pieces(frame: DataFrame, info: RelationInfo) -> Iterator[pa.Table]:
    """The tuples in order, as tables that Spark hands over one after the other."""
    ordered = frame.orderBy(*(f"`{name}`" for name in info.attributes))
    held: list[pa.Table] = []
    for row in ordered.mapInArrow(_packed, "piece binary").toLocalIterator(prefetchPartitions=True):
        held.append(table_of(pa.ipc.open_stream(row[0]).read_all(), info))
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
