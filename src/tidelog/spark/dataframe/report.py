"""What an epoch did, as `EpochReport`, with DataFrames for the tuples that came and went."""

from __future__ import annotations

from pyspark.sql import DataFrame

from tidelog.epochs.report import EpochSummary
from tidelog.plain import dataclass, field


@dataclass
class FrameReport(EpochSummary):
    """See `evaluate.engine.EpochReport`. The frames are lazy and stay as they are; `counts` are not: how many tuples of
    each relation came and went. `actions` is the number of Spark actions that the epoch took."""

    inserted: dict[str, DataFrame] = field(default_factory=dict)
    deleted: dict[str, DataFrame] = field(default_factory=dict)
    inserted_counts: dict[str, int] = field(default_factory=dict)
    deleted_counts: dict[str, int] = field(default_factory=dict)
    actions: int = 0
