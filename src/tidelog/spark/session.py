"""What all sessions on Spark have in common: the facts of an epoch, read and checked before anything changes; and the
batches of streams, each applied once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.errors import Diagnostic, Report, TidelogError, error
from tidelog.evaluate.changes import Batch
from tidelog.evaluate.engine import EpochSummary
from tidelog.local import Changes, Epoch, Settings
from tidelog.local.feed import Sides, change_set, split_table
from tidelog.spark.feed import feed_frame, split_frame
from tidelog.spark.frames import Frame, as_decimals, is_frame, schema_of
from tidelog.spark.read import FactReader, Given

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class ChangeSet:
    """The facts of an epoch, as they can be used more than once; `warnings` are of reading them."""

    insert: dict[str, list[Given]] = field(default_factory=dict)
    delete: dict[str, list[Given]] = field(default_factory=dict)
    clear: tuple[str, ...] = ()
    batch: Batch | None = None
    warnings: tuple[Diagnostic, ...] = ()


class OnSpark(ABC):
    """A session's program and settings, and the reading of its facts."""

    def __init__(self, checked: Checked, settings: Settings, spark: SparkSession) -> None:
        self.checked, self.settings, self.spark = checked, settings, spark
        self.vocabulary = Vocabulary(checked)
        self.epoch = 0
        self._streams: dict[str, int] = {}  # the last batch of each that this session has applied

    @abstractmethod
    def update(
        self,
        insert: Mapping[str, Any] | None = None,
        delete: Mapping[str, Any] | None = None,
        clear: str | Iterable[str] = (),
        batch: Batch | None = None,
    ) -> Epoch[DataFrame]: ...

    def apply(self, changes: Mapping[str, Any], batch: Batch | None = None) -> Epoch[DataFrame]:
        """The next epoch, of change feeds: see `spark.feed`."""
        self.check_ready()
        if self.has_applied(batch):
            return self.nothing(batch)
        insert, delete = change_set(changes, self.vocabulary, self._split)
        return self.update(insert, delete, (), batch)

    def _split(self, info: RelationInfo, feed: Any) -> Sides[Any]:
        return split_frame(feed, info) if is_frame(feed) else split_table(feed, info, self.checked.types)

    # ---- batches of streams

    def has_applied(self, batch: Batch | None) -> bool:
        """Whether this session has applied a batch; what was before it, a state directory knows."""
        return batch is not None and batch[1] <= self._streams.get(batch[0], -1)

    def remember(self, batch: Batch | None) -> None:
        if batch is not None:
            self._streams[batch[0]] = batch[1]

    def nothing(self, batch: Batch | None) -> Epoch[DataFrame]:
        """What a batch that is replayed does."""
        assert batch is not None
        none: Changes[DataFrame] = Changes({}, lambda name: local_frame(self.spark, None, self.vocabulary.info(name)))
        summary = EpochSummary(self.epoch, "none", f"batch {batch[1]} was applied before", 0.0, 0)
        return Epoch(summary, none, none, self.feed)

    def feed(self, name: str, sides: Iterable[tuple[str, DataFrame]], epoch: int) -> DataFrame:
        return feed_frame(self.vocabulary.info(name), sides, epoch)

    # ---- facts

    def beginning(self, facts: Mapping[str, Any] | None) -> ChangeSet:
        """What a bootstrap begins with: these facts, or those of the program's `.input` directives."""
        reader, report = self._reader(), Report()
        given = reader.inputs() if facts is None else reader.given(facts, report)
        report.check_in_order()
        return ChangeSet(insert=given, warnings=tuple(reader.bad_rows.report()))

    def change(
        self,
        insert: Mapping[str, Any] | None,
        delete: Mapping[str, Any] | None,
        clear: str | Iterable[str],
        batch: Batch | None,
    ) -> ChangeSet:
        """What an update is to change."""
        reader, report = self._reader(), Report()
        deleted, inserted = reader.given(delete or {}, report), reader.given(insert or {}, report)
        names = [clear] if isinstance(clear, str) else list(clear)
        cleared = tuple(name for name in dict.fromkeys(names) if self.vocabulary.is_input(name, report))
        report.check_in_order()
        return ChangeSet(inserted, deleted, cleared, batch, tuple(reader.bad_rows.report()))

    def validated(self, name: str, facts: Any) -> Any:
        report = Report()
        given = self._reader().given({name: facts}, report)
        report.check_in_order()
        (found,) = given[name]
        return found.typed() if isinstance(found, Frame) else found

    def _reader(self) -> FactReader:
        return FactReader(self.spark, self.checked, Path(self.settings.facts), self.settings.skip_bad_rows)

    def framed(self, name: str, given: Iterable[Given]) -> DataFrame:
        """Facts of a relation as one DataFrame."""
        info = self.checked.relations[name]
        frames = [part.typed() if isinstance(part, Frame) else local_frame(self.spark, part, info) for part in given]
        result = frames[0]
        for frame in frames[1:]:
            result = result.unionByName(frame)
        return result

    def check_ready(self) -> None:
        if not self.epoch:
            raise error(
                "TL1102", "the session has no facts yet",
                help="call bootstrap(); without an argument it reads the program's `.input` files",
            )  # fmt: skip


def closed() -> TidelogError:
    return error("TL1101", "the session is closed", help="use it inside its `with`, or make a new one")


def local_frame(spark: SparkSession, table: pa.Table | None, info: RelationInfo) -> DataFrame:
    """A table of this process as a DataFrame of the relation's types."""
    if table is None or not table.num_rows:
        return spark.createDataFrame([], schema_of(info))
    if not info.arity:
        return spark.createDataFrame([(True,)], schema_of(info))
    return spark.createDataFrame(as_decimals(table, info.kinds), schema_of(info))
