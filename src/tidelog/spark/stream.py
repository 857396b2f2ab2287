"""Streams that feed a session: every micro-batch of a streaming query is one epoch.

What is always true: a batch is applied once. The number that Spark gives it is part of its epoch, so a batch that Spark
repeats, because it could not note that the batch had ended, changes nothing; a session with a state directory knows
this also after a restart. Numbers belong to a checkpoint, so a stream is known by its name and the id that Spark keeps
there: one with a new checkpoint is another stream. Several streams of one session take turns.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from tidelog.epochs.changes import Batch
from tidelog.errors import Report
from tidelog.io.bad_rows import BadRows
from tidelog.io.columns import CHANGE
from tidelog.local import Epoch
from tidelog.local.feed import fact_columns
from tidelog.plain import dataclass, field
from tidelog.spark.courier import Courier
from tidelog.spark.frames import framed, selected
from tidelog.spark.on_spark import OnSpark
from tidelog.spark.slots import classic_context

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

OnEpoch = Callable[[Epoch[Any]], None]


@dataclass(frozen=True)
class StreamOptions:
    """See `tidelog.Session.apply_stream`."""

    name: str | None = None
    checkpoint: str | None = None
    trigger: Mapping[str, Any] = field(default_factory=dict)
    on_epoch: OnEpoch | None = None


class Streams:
    """The streams of a session. `turn` is held by whoever uses the session."""

    def __init__(self, session: OnSpark, turn: threading.RLock) -> None:
        self.session, self.turn = session, turn
        self._queries: list[StreamingQuery] = []

    def start(self, stream: DataFrame, relation: str | None, options: StreamOptions) -> StreamingQuery:
        """Begin to apply a stream to a relation."""
        name = self._checked(stream, relation)
        feeder = Feeder(self, name, CHANGE in stream.columns, options)
        writer = stream.writeStream
        if options.name is not None:
            writer = writer.queryName(options.name)
        if options.checkpoint is not None:
            writer = writer.option("checkpointLocation", options.checkpoint)
        if options.trigger:
            writer = writer.trigger(**options.trigger)
        if feeder.remote:
            query = Courier(self.session.spark, feeder.feed).begin(writer)
        else:
            query = writer.foreachBatch(feeder.feed).start()
        feeder.stream.set_result(f"{options.name or name} {query.id}")
        self._queries = [running for running in self._queries if running.isActive] + [query]
        return query

    def stop(self) -> None:
        """End all streams, each after the batch that it is at."""
        for query in self._queries:
            query.stop()

    def _checked(self, stream: Any, relation: str | None) -> str:
        """The relation that is fed; all that can be said against it before the first batch is raised."""
        session, report = self.session, Report()
        session.check_ready()
        if not getattr(stream, "isStreaming", False):
            report.error("TL1224", "this is no stream: it has all of its rows already",
                         help="give what spark.readStream makes, or use update() or apply()")  # fmt: skip
        name = self._relation(relation, report)
        report.check()
        info = session.checked.relations[name]
        if CHANGE in stream.columns:
            stream = selected(stream, fact_columns(stream.columns, info)[0], info.attributes)
        framed(stream, info, session.checked.types, BadRows())
        return name

    def _relation(self, relation: str | None, report: Report) -> str:
        vocabulary = self.session.vocabulary
        if relation is not None:
            vocabulary.is_input(relation, report)
            return relation
        if len(vocabulary.inputs) != 1:
            report.error("TL1224", f"which relation does the stream feed? There are {len(vocabulary.inputs)} inputs",
                         help=f"say relation=, one of {', '.join(vocabulary.inputs)}")  # fmt: skip
        return vocabulary.inputs[0] if vocabulary.inputs else ""


class Feeder:
    """What a streaming query calls for each batch. `stream` is known once the query has started."""

    def __init__(self, streams: Streams, relation: str, is_feed: bool, options: StreamOptions) -> None:
        self.streams, self.relation, self.is_feed = streams, relation, is_feed
        self.on_epoch = options.on_epoch
        self.remote = classic_context(streams.session.spark) is None  # a session of Spark Connect
        self.stream: Future[str] = Future()

    def feed(self, frame: DataFrame, number: int) -> None:
        """One batch, one epoch. The session stays in it while `on_epoch` looks at it."""
        batch = self.stream.result(), number
        with self.streams.turn:
            epoch = self._apply(frame, batch)
            if self.on_epoch is not None:
                self.on_epoch(epoch)

    def _apply(self, frame: DataFrame, batch: Batch) -> Epoch[Any]:
        session = self.streams.session
        with nullcontext(frame) if self.remote else _brought(frame, session.spark) as own:
            if not self.is_feed:
                return session.update({self.relation: own}, None, (), batch)
            with _held(own):
                return session.apply({self.relation: own}, batch)


@contextmanager
def _brought(frame: DataFrame, spark: SparkSession) -> Iterator[DataFrame]:
    """The frame of a batch, which belongs to a copy of the session that Spark made for the query, in the session."""
    name = f"tidelog_{uuid.uuid4().hex}"
    frame.createGlobalTempView(name)
    try:
        yield spark.table(f"{spark.conf.get('spark.sql.globalTempDatabase')}.{name}")
    finally:
        spark.catalog.dropGlobalTempView(name)


@contextmanager
def _held(frame: DataFrame) -> Iterator[None]:
    """Keep the rows of a frame that is read more than once."""
    frame.persist()
    try:
        yield
    finally:
        frame.unpersist()
