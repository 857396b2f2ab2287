"""Change feeds as DataFrames: an epoch's changes on their way out, and feeds such as Delta's on their way in.

What the columns mean, and what is always true of a feed that was split, is said in `local.feed`. Everything is done by
DataFrame operations; the driver sees nothing but the distinct change types. Cost: one small aggregation to know these,
and if the feed has versions, a grouping of its rows by fact for each side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from tidelog.analysis.types import RelationInfo
from tidelog.io.bad_rows import BadRows
from tidelog.io.columns import CHANGE, EPOCH
from tidelog.io.tables import table_of
from tidelog.local.feed import (
    DELETIONS,
    INSERTIONS,
    VERSIONS,
    Sides,
    check_columns,
    check_types,
    fact_columns,
    feed_names,
    feed_table,
)
from tidelog.spark.frames import SPARK_TYPES, as_decimals, ddl, selected
from tidelog.spark.local_frames import counted, few_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_TYPES = 20
"""So many different change types are enough to see that a column has something else in it."""


def feed_frame(info: RelationInfo, sides: Iterable[tuple[str, DataFrame]], epoch: int) -> DataFrame:
    """An epoch's changes of a relation as a feed; `sides` are change types with their tuples."""
    from pyspark.sql import functions as F

    sides = list(sides)
    few = _few(info, sides, epoch)
    if few is not None:
        return few

    def told(change: str, frame: DataFrame) -> DataFrame:
        named = frame.toDF(*feed_names(info)) if info.arity else frame.select()
        return named.withColumns({CHANGE: F.lit(change), EPOCH: F.lit(epoch).cast("bigint")})

    return reduce(lambda a, b: a.unionByName(b), (told(change, frame) for change, frame in sides))


def _few(info: RelationInfo, sides: Sequence[tuple[str, DataFrame]], epoch: int) -> DataFrame | None:
    """The feed of changes that are here already, as a local relation; None if there are others."""
    tables: list[tuple[str, pa.Table]] = []
    for change, frame in sides:
        found = few_rows(frame) if info.arity and frame.isLocal() else None
        if found is None:
            return None
        tables.append((change, as_decimals(table_of(found, info), info.kinds)))
    feed = feed_table(info, tables, epoch)
    types = [*(SPARK_TYPES[kind] for kind in info.kinds), "string", "bigint"]
    made = sides[0][1].sparkSession.createDataFrame(feed, ddl(zip(feed.column_names, types, strict=True)))
    return counted(made, feed.num_rows)


def split_frame(feed: DataFrame, info: RelationInfo, bad: BadRows) -> Sides[DataFrame]:
    """A feed as what to delete and what to insert."""
    from pyspark.sql import functions as F

    check_columns(feed.columns, info)
    found = {row[0] for row in feed.select(CHANGE).distinct().limit(MOST_TYPES).collect()}
    check_types(found, info)
    places, warning = fact_columns(feed.columns, info)
    bad.tell_once(warning)
    names = [f"_fact{i}" for i in range(len(places))]
    versions = [name for name in VERSIONS if name in feed.columns]
    others = [CHANGE, *versions]
    feed = selected(feed, [*places, *(feed.columns.index(name) for name in others)], [*names, *others])
    inserts = F.col(CHANGE).isin(*INSERTIONS)
    if versions:
        feed = _by_fact(feed, names, [*map(F.col, versions), inserts.alias("inserts")])
        gone, come = ~F.col("_first.inserts") | ~F.col("_last.inserts"), F.col("_last.inserts")
    else:
        gone, come = ~inserts, inserts
    facts = [F.col(name).alias(attribute) for name, attribute in zip(names, info.attributes, strict=True)]
    return Sides(
        feed.where(gone).select(*facts) if found.intersection(DELETIONS) else None,
        feed.where(come).select(*facts) if found.intersection(INSERTIONS) else None,
    )


def _by_fact(feed: DataFrame, names: list[str], word: list[Column]) -> DataFrame:
    """Each fact once, with the first and the last word about it. To Spark's groups, as to us, there is one zero and one
    NaN."""
    from pyspark.sql import functions as F

    said = F.struct(*word)
    return feed.groupBy(*names).agg(F.min(said).alias("_first"), F.max(said).alias("_last"))
