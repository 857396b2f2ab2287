"""A session that evaluates with DataFrame operations: on any Spark session, also one of Spark Connect.

As long as everything is small, it is evaluated in this process instead (`small.py`): a Spark job costs more than all of
it. What is always true: one of the two has the last epoch, the small one until something is too large for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.epochs.changes import Batch
from tidelog.epochs.report import EpochSummary
from tidelog.errors import Diagnostic, Source, error
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.profile import Size
from tidelog.io.bad_rows import merged
from tidelog.local import Changes, Epoch, Settings
from tidelog.spark.dataframe.engine import STRATEGIES, DataFrames
from tidelog.spark.dataframe.faults import MalformedFacts
from tidelog.spark.dataframe.holder import FrameChange
from tidelog.spark.dataframe.report import FrameReport
from tidelog.spark.dataframe.small import Small, TooLarge
from tidelog.spark.frames import Frame
from tidelog.spark.injected import check_session
from tidelog.spark.local_frames import counted, local_frame
from tidelog.spark.on_spark import ChangeSet, OnSpark, closed


class DataFrameSession(OnSpark):
    """See `tidelog.Session` for what its methods promise."""

    def __init__(self, checked: Checked, settings: Settings, spark: SparkSession, observer: Observer | None) -> None:
        check_session(spark)
        super().__init__(checked, settings, spark)
        if settings.state is not None:
            raise error("TL1211", "the executor `dataframe` keeps no state directory",
                        help="use executor='columnar', or write the relations out")  # fmt: skip
        if settings.strategy not in STRATEGIES:
            raise error("TL1106", f"the executor `dataframe` has no strategy `{settings.strategy}`",
                        help=f"it has {', '.join(STRATEGIES)}")  # fmt: skip
        options = settings.engine_options()
        self._recorder = options.recorder
        self._made: dict[str, DataFrame] = {}  # relations of this epoch, each the same whenever it is asked for
        self._engine: DataFrames | None = DataFrames(checked, spark, options, settings.strategy, observer)
        self._small: Small | None = Small(checked, settings, observer)

    def bootstrap(self, facts: Mapping[str, Any] | None = None) -> Epoch[DataFrame]:
        engine = self._open()
        begun = self.beginning(facts)
        with _located(begun):
            if self._small is not None:
                try:
                    return self._ended_small(self._small.bootstrap(begun), begun)
                except TooLarge:
                    self._hand_over(self._small, engine)
            with self._making_epoch():
                return self._ended(engine.bootstrap(self._frames(begun.insert)), begun)

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
        with _located(change):
            epoch = self._updated(engine, change)
        self.remember(batch)
        return epoch

    def _updated(self, engine: DataFrames, change: ChangeSet) -> Epoch[DataFrame]:
        if self._small is not None:
            try:
                return self._ended_small(self._small.update(change), change)
            except TooLarge:
                self._hand_over(self._small, engine)
        gone, come = self._frames(change.delete), self._frames(change.insert)
        gone |= {name: engine.facts(name) for name in change.clear}
        with self._making_epoch():
            return self._ended(engine.update(FrameChange(gone, come, self.settings.strict, change.batch)), change)

    def _making_epoch(self) -> AbstractContextManager[None]:
        return nullcontext() if self._recorder is None else self._recorder.epoch()

    def _hand_over(self, small: Small, engine: DataFrames) -> None:
        """Let the engine go on from the small one's epoch. Until the engine has ended one, the small one has it."""
        if self.epoch:
            counts = {name: small.session.count(name) for name in self.vocabulary.relations}
            rows = {name: self._local(name, small.rows(name)) for name, count in counts.items() if count}
            facts = {name: self._local(name, small.facts(name)) for name in self.vocabulary.inputs}
            engine.take_over(self.epoch, rows, counts, facts)

    def _local(self, name: str, table: pa.Table) -> DataFrame:
        return local_frame(self.spark, table, self.vocabulary.info(name))

    def relation(self, name: str) -> DataFrame:
        engine = self._ready()
        self.vocabulary.info(name)
        if name not in self._made:
            here = self._small
            self._made[name] = (
                counted(engine.rows(name), engine.count(name)) if here is None else self._local(name, here.rows(name))
            )
        return self._made[name]

    def count(self, name: str) -> int:
        engine, known = self._ready(), self.vocabulary.info(name).name
        return engine.count(known) if self._small is None else self._small.session.count(known)

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, DataFrame]:
        engine = self._ready()
        if self._small is None:
            return engine.query(text if isinstance(text, Source) else Source("<query>", text))
        info, found = self._small.session.typed_query(text)
        return info, local_frame(self.spark, found, info)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self._spread()

    def _spread(self) -> None:
        """From now on the engine has the epochs."""
        if self._small is not None:
            self._small.session.close()
        self._small, self._made = None, {}

    def _frames(self, given: Mapping[str, Any]) -> dict[str, DataFrame]:
        return {name: self.framed(name, parts) for name, parts in given.items()}

    def _ended(self, report: FrameReport, change: ChangeSet) -> Epoch[DataFrame]:
        self._spread()
        self.epoch, self._made = report.epoch, {}
        inserted = self._changes(report.inserted_counts, report.inserted)
        deleted = self._changes(report.deleted_counts, report.deleted)
        if self._recorder is not None:
            sizes = {name: Size(self.count(name), {}) for name in self.vocabulary.relations}
            clauses = self.checked.clauses
            report.profile = self._recorder.profile(report.epoch, report.strategy, report.why, clauses, sizes)
        summary: EpochSummary = report
        return Epoch(summary, inserted, deleted, self.feed, self.told(change.warnings, self._skipped(change)))

    def _ended_small(self, done: Epoch[pa.Table], change: ChangeSet) -> Epoch[DataFrame]:
        self.epoch, self._made = done.number, {}
        inserted, deleted = self._as_frames(done.inserted), self._as_frames(done.deleted)
        return Epoch(done.report, inserted, deleted, self.feed, self.told(change.warnings, self._skipped(change)))

    def _as_frames(self, side: Changes[pa.Table]) -> Changes[DataFrame]:
        return Changes({name: side.count(name) for name in side}, lambda name: self._local(name, side[name]))

    def _skipped(self, change: ChangeSet) -> list[Diagnostic]:
        return merged(problem for frame in _read_by_tasks(change) for problem in frame.skipped())

    def _changes(self, counts: dict[str, int], frames: dict[str, DataFrame]) -> Changes[DataFrame]:
        def frame(name: str) -> DataFrame:
            info = self.vocabulary.info(name)
            return counted(frames[name], counts[name]) if name in frames else local_frame(self.spark, None, info)

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
