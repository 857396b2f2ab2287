"""Commands that work in this process unless they are told a Spark master, or were started by spark-submit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidelog.cli.without_pandas import settle_without_pandas
from tidelog.errors import error

if TYPE_CHECKING:
    import pyarrow as pa

    from tidelog.analysis.types import RelationInfo

Master = Annotated[str | None, typer.Option(help="Work on Spark, with a master such as local[2] or spark://host:7077.")]


@contextmanager
def spark_if_wanted(master: str | None, say: Callable[[str], None]) -> Iterator[Callable[[], Any]]:
    """What gives the SparkSession to work on, once it has started, or None."""
    from tidelog.spark.start import is_submitted, starting

    if master is None and not is_submitted():
        settle_without_pandas()
        yield lambda: None
    else:
        with starting(master, say) as session:
            yield session


def arrow_table(found: Any, info: RelationInfo) -> pa.Table:
    """A relation, a change or an answer of a session as a table here, whatever the session gives."""
    if hasattr(found, "to_arrow"):
        return found.to_arrow()
    if not hasattr(found, "toArrow"):
        return found
    from tidelog.io.tables import table_of
    from tidelog.spark.words import spark_words

    try:
        return table_of(found.toArrow(), info)
    except Exception as problem:  # py4j's errors have no common base that is public
        raise error("TL1244", f"Spark failed: {spark_words(problem)}") from problem
