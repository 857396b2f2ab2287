"""A session that evaluates with DataFrame operations: on any Spark session, also one of Spark Connect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Diagnostic, Source, error
from tidelog.evaluate.changes import Batch
from tidelog.evaluate.engine import EpochSummary
from tidelog.evaluate.limits import Observer
from tidelog.io.bad_rows import merged
from tidelog.local import Changes, Epoch, Settings
from tidelog.spark.dataframe.engine import STRATEGIES, DataFrames
from tidelog.spark.dataframe.faults import MalformedFacts
from tidelog.spark.dataframe.report import FrameReport
from tidelog.spark.frames import Frame
from tidelog.spark.session import ChangeSet, OnSpark, closed, local_frame


class DataFrameSession(OnSpark):
    """See `tidelog.Session` for what its methods promise."""

    def __init__(self, checked: Checked, settings: Settings, spark: SparkSession, observer: Observer | None) -> None:
        super().__init__(checked, settings, spark)
        if settings.state is not None:
            raise error("TL1211", "the executor `dataframe` keeps no state directory",
                        help="use executor='columnar', or write the relations out")  # fmt: skip
        if settings.strategy not in STRATEGIES:
            raise error("TL1106", f"the executor `dataframe` has no strategy `{settings.strategy}`",
                        help=f"it has {', '.join(STRATEGIES)}")  # fmt: skip
        options = settings.engine_options()
        self._engine: DataFrames | None = DataFrames(checked, spark, options, settings.strategy, observer)

    def bootstrap(self, facts: Mapping[str, Any] | None = None) -> Epoch[DataFrame]:
        engine = self._open()
        begun = self.beginning(facts)
        with _located(begun):
            report = engine.bootstrap(self._frames(begun.insert))
        return self._ended(report, begun)

    def update(
        self,
        insert: Mapping[str, Any] | None = None,
        delete: Mapping[str, Any] | None = None,
        clear: str | Iterable[str] = (),
        batch: Batch | None = None,
    ) -> Epoch[DataFrame]:
        engine = self._ready()
        if self.has_applied(batch):
            return self.nothing(batch)
        change = self.change(insert, delete, clear, batch)
        gone, come = self._frames(change.delete), self._frames(change.insert)
        gone |= {name: engine.facts(name) for name in change.clear}
        with _located(change):
            report = engine.update(gone, come, self.settings.strict)
        self.remember(batch)
        return self._ended(report, change)

    def relation(self, name: str) -> DataFrame:
        engine = self._ready()
        self.vocabulary.info(name)
        return engine.rows(name)

    def count(self, name: str) -> int:
        return self._ready().count(self.vocabulary.info(name).name)

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, DataFrame]:
        return self._ready().query(text if isinstance(text, Source) else Source("<query>", text))

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _frames(self, given: Mapping[str, Any]) -> dict[str, DataFrame]:
        return {name: self.framed(name, parts) for name, parts in given.items()}

    def _ended(self, report: FrameReport, change: ChangeSet) -> Epoch[DataFrame]:
        self.epoch = report.epoch
        inserted = self._changes(report.inserted_counts, report.inserted)
        deleted = self._changes(report.deleted_counts, report.deleted)
        summary: EpochSummary = report
        return Epoch(summary, inserted, deleted, self.feed, (*change.warnings, *self._skipped(change)))

    def _skipped(self, change: ChangeSet) -> list[Diagnostic]:
        return merged(problem for frame in _read_by_tasks(change) for problem in frame.skipped())

    def _changes(self, counts: dict[str, int], frames: dict[str, DataFrame]) -> Changes[DataFrame]:
        def frame(name: str) -> DataFrame:
            info = self.vocabulary.info(name)
            return frames[name] if name in frames else local_frame(self.spark, None, info)

        return Changes(counts, frame)

    def _open(self) -> DataFrames:
        if self._engine is None:
            raise closed()
        return self._engine

    def _ready(self) -> DataFrames:
        engine = self._open()
        self.check_ready()
        return engine


def _read_by_tasks(change: ChangeSet) -> Iterator[Frame]:
    for given in (change.delete, change.insert):
        yield from (part for parts in given.values() for part in parts if isinstance(part, Frame))


@contextmanager
def _located(change: ChangeSet) -> Iterator[None]:
    """What is wrong with facts is raised all at once."""
    try:
        yield
    except MalformedFacts:
        for frame in _read_by_tasks(change):
            frame.locate_malformed()
        raise
