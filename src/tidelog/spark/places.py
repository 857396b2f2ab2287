"""Where facts can be that Spark reads: files and folders that this process sees, too, and URIs that it may not see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.errors import error
from tidelog.formats import FORMATS, TEXT, format_of_name
from tidelog.io.folders import format_of_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = 1 << 20
"""Bytes of a file that this process reads faster than a Spark job would start."""
_LOOK = 20
"""Files of a folder that are looked at."""


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


def format_of_uri(spark: SparkSession, uri: str) -> str:
    """The format of what is at a URI, by the names of its files. Cost: if only Spark sees it, some listings by it."""
    here = local_path(uri)
    if here is not None:
        return format_of_folder(here) if here.is_dir() else format_of_name(here)
    for format in FORMATS.values():
        if format.log and listed(spark, f"{uri.rstrip('/')}/{format.log}"):
            return format.name
    found = {format_of_name(name): name for name in listed(spark, uri)}
    if len(found) > 1:
        raise error("TL1261", f"`{uri}` has files of several formats: {', '.join(found.values())}",
                    help="a folder of facts has part files of one format; name a file in it")  # fmt: skip
    return next(iter(found), TEXT)


def listed(spark: SparkSession, uri: str) -> list[str]:
    """The names of some files at a place; none if there is nothing. Nothing of their content is read."""
    from pyspark.errors import PySparkException

    try:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(uri)
        return [row[0] for row in files.select("path").limit(_LOOK).collect()]
    except PySparkException:
        return []
