"""Change feeds as DataFrames: an epoch's changes on their way out, and feeds such as Delta's on their way in.

What the columns mean, and what is always true of a feed that was split, is said in `local.feed`. Everything is done by
DataFrame operations; the driver sees nothing but the distinct change types. Cost: one small aggregation to know these,
and if the feed has versions, a grouping of its rows by fact for each side.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING

from tidelog.analysis.types import RelationInfo
from tidelog.local.feed import (
    DELETIONS,
    INSERTIONS,
    VERSIONS,
    Sides,
    check_columns,
    check_types,
    fact_columns,
    feed_names,
)
from tidelog.state.columns import CHANGE, EPOCH

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_TYPES = 20
"""So many different change types are enough to see that a column has something else in it."""


def feed_frame(info: RelationInfo, sides: Iterable[tuple[str, DataFrame]], epoch: int) -> DataFrame:
    """An epoch's changes of a relation as a feed; `sides` are change types with their tuples."""
    from pyspark.sql import functions as F

    def told(change: str, frame: DataFrame) -> DataFrame:
        named = frame.toDF(*feed_names(info)) if info.arity else frame.select()
        return named.withColumns({CHANGE: F.lit(change), EPOCH: F.lit(epoch).cast("bigint")})

    return reduce(lambda a, b: a.unionByName(b), (told(change, frame) for change, frame in sides))


def split_frame(feed: DataFrame, info: RelationInfo) -> Sides[DataFrame]:
    """A feed as what to delete and what to insert."""
    from pyspark.sql import functions as F

    check_columns(feed.columns, info)
    found = {row[0] for row in feed.select(CHANGE).distinct().limit(MOST_TYPES).collect()}
    check_types(found, info)
    names = fact_columns(feed.columns, info)
    inserts = F.col(CHANGE).isin(*INSERTIONS)
    facts = [F.col(_quoted(name)).alias(own) for name, own in names.items()]
    versions = [F.col(name) for name in VERSIONS if name in feed.columns]
    if versions:
        feed = _by_fact(feed, list(names), [*versions, inserts.alias("inserts")])
        gone, come = ~F.col("_first.inserts") | ~F.col("_last.inserts"), F.col("_last.inserts")
    else:
        gone, come = ~inserts, inserts
    return Sides(
        feed.where(gone).select(*facts) if found.intersection(DELETIONS) else None,
        feed.where(come).select(*facts) if found.intersection(INSERTIONS) else None,
    )


def _by_fact(feed: DataFrame, names: list[str], word: list[Column]) -> DataFrame:
    """Each fact once, with the first and the last word about it. Floats are grouped by their texts, because Spark's
    groups take -0.0 for 0.0."""
    from pyspark.sql import functions as F

    types = dict(feed.dtypes)
    floats = [name for name in names if types[name] in ("float", "double")]
    keys = [F.col(_quoted(name)) for name in names if name not in floats]
    texts = [F.col(_quoted(name)).cast("string").alias(f"_text{i}") for i, name in enumerate(floats)]
    values = [F.first(_quoted(name)).alias(name) for name in floats]
    said = F.struct(*word)
    return feed.groupBy(*keys, *texts).agg(F.min(said).alias("_first"), F.max(said).alias("_last"), *values)


def _quoted(name: str) -> str:
    return f"`{name}`"
