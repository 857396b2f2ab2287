"""A session whose columnar store lives in a Spark task.

What is always true: the driver holds no facts but those it was handed as Python data. A worker that is lost is noticed
within seconds and replaced, and what the session knew is there again: from its state directory if it has one, else from
the facts that Spark holds and the changes since. A command that was cut off is carried out by the new worker.
"""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.epochs.changes import Batch
from tidelog.errors import Diagnostic, Severity, Source, TidelogError, error
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.query import HEAD, query_program
from tidelog.io.bad_rows import merged
from tidelog.lang import tree
from tidelog.local import Changes, Epoch, Settings
from tidelog.plain import replace
from tidelog.spark.frames import Frame
from tidelog.spark.injected import check_session
from tidelog.spark.local_frames import local_frame
from tidelog.spark.on_spark import ChangeSet, OnSpark, closed
from tidelog.spark.packed import unpacked_diagnostics
from tidelog.spark.read import split_given
from tidelog.spark.resident.commands import Begin, CountRows, EpochEnded, NextEpoch, Recall, RowCount, RunQuery
from tidelog.spark.resident.common_place import absolute
from tidelog.spark.resident.crew import WorkerCrew
from tidelog.spark.resident.history import History
from tidelog.spark.resident.results import Results
from tidelog.spark.resident.tasks import PART_SCHEMA, pusher
from tidelog.spark.resident.transfers import OUT_OF_MEMORY, Rows, Side, Wanted
from tidelog.spark.words import spark_words
from tidelog.wire.rendezvous import Member, WorkerLost

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Done = TypeVar("Done")
Outcome: TypeAlias = tuple[EpochEnded, list[Diagnostic]]
LIMITS = "TL09"
"""How the codes of errors begin that say that a limit was reached."""
MOST_LOSSES = 2
"""How many workers a command may lose. A machine may go away once; what ends two workers is most likely the command."""


class ColumnarSession(OnSpark):
    """See the module's docstring, and `tidelog.Session` for what its methods promise."""

    def __init__(
        self, checked: Checked, settings: Settings, spark: SparkSession, observer: Observer | None = None
    ) -> None:
        check_session(spark)
        super().__init__(checked, settings, spark)
        functors = settings.loaded_functors()
        Prepared(checked, functors)  # what is wrong with program or functors is known before anything starts
        declared = {decl.name for decl in checked.program.of(tree.FunctorDecl)}
        settings = replace(
            settings, functors={name: f for name, f in functors.items() if name in declared},
            state=None if settings.state is None else absolute(settings.state),
        )  # fmt: skip
        self._history = History(spark, checked) if settings.state is None else None
        self._crew: WorkerCrew | None = WorkerCrew(spark, checked, settings, observer)
        self._collected = weakref.finalize(self, self._crew.forget)
        self._collected.atexit = False  # then everything ends with the driver
        self._results = Results(self._crew)
        if self._crew.has_room:
            self.epoch = self._started().hello.epoch

    def _started(self) -> Member:
        try:
            return self._open().start()
        except BaseException:
            self.close()
            raise

    # ---- epochs

    def bootstrap(self, facts: Mapping[str, Any] | None = None) -> Epoch[DataFrame]:
        if not self._open().has_room:
            self._open().start()
        begun = self.beginning(facts)
        epoch = self._ended(self._epoch(lambda: self._bootstrap(begun)), begun)
        if self._history is not None:
            self._history.begin(begun, self.epoch)
        return epoch

    def update(
        self,
        insert: Mapping[str, Any] | None = None,
        delete: Mapping[str, Any] | None = None,
        clear: str | Iterable[str] = (),
        batch: Batch | None = None,
    ) -> Epoch[DataFrame]:
        self._ready()
        if self.has_applied(batch):
            return self.nothing(batch)
        change = self.change(insert, delete, clear, batch)
        if self._history is not None:
            change = self._history.lasting(change)
        epoch = self._ended(self._epoch(lambda: self._update(change)), change)
        self.remember(batch)
        if self._history is not None:
            self._history.add(change)
            self._shorten(self._history)
        return epoch

    def _bootstrap(self, begun: ChangeSet, before: int = 0) -> Outcome:
        """Tell the worker to begin; `before` are the epochs that another worker ended before."""
        here, there = split_given(begun.insert)
        gathering = str(uuid.uuid4())
        parts, warnings = self._pushed(there, gathering)
        command = Begin(parts, list(here), before, gathering)
        return self._open().tell(command, EpochEnded, list(here.values()))[0], warnings

    def _update(self, change: ChangeSet) -> Outcome:
        gone, gone_there = split_given(change.delete)
        come, come_there = split_given(change.insert)
        gone_parts, odd = self._pushed(gone_there)
        come_parts, more = self._pushed(come_there)
        command = NextEpoch(gone_parts, come_parts, list(gone), list(come), list(change.clear), change.batch)
        return self._open().tell(command, EpochEnded, [*gone.values(), *come.values()])[0], odd + more

    def _pushed(
        self, frames: Mapping[str, list[Frame]], gathering: str = ""
    ) -> tuple[dict[str, list[str]], list[Diagnostic]]:
        """Let Spark's tasks bring facts to the worker: the parts that have arrived, and what was odd. If there is a
        gathering, facts from files go there."""
        crew = self._open()
        if crew.worker is None:
            raise WorkerLost("it has not started")
        address, keys = crew.worker.address, crew.keys.of_a_client()

        def push(frame: Frame) -> list[Any]:
            task = pusher(address, keys, str(uuid.uuid4()), frame, gathering if frame.shares is not None else "")
            return list(frame.frame.mapInArrow(task, PART_SCHEMA).collect())

        jobs = [(name, frame) for name, several in frames.items() for frame in several]
        if not jobs:
            return {}, []
        with ThreadPoolExecutor(min(4, len(jobs))) as pool:
            try:
                done = list(pool.map(lambda job: push(job[1]), jobs))
            except Exception as problem:
                crew.check()  # if the worker is gone, that is why
                raise error("TL1207", f"Spark could not bring the facts: {spark_words(problem)}") from None
        found = [d for rows in done for row in rows for d in unpacked_diagnostics(row["problems"])]
        wrong = [d for d in found if d.severity is Severity.ERROR]
        if wrong:
            if any(d.code.startswith(LIMITS) or d.code == OUT_OF_MEMORY for d in wrong):
                raise TidelogError(wrong[0])  # it is not the facts that are wrong, and every task says so
            for _, frame in jobs:
                frame.locate_malformed()
            raise TidelogError(merged(wrong))
        parts: dict[str, list[str]] = {name: [] for name in frames}
        for (name, _), rows in zip(jobs, done, strict=True):
            parts[name] += [row["part"] for row in rows]
        return parts, merged(found)

    # ---- reading

    def count(self, name: str) -> int:
        return self._counted(self.vocabulary.info(name)).rows

    def _counted(self, info: RelationInfo) -> RowCount:
        self._ready()
        return self._insisting(lambda: self._open().tell(CountRows(info.name), RowCount))[0]

    def relation(self, name: str) -> DataFrame:
        info = self.vocabulary.info(name)

        def made() -> DataFrame:
            found = self._counted(info)
            return self._results.frame(info, Wanted(name, Side.ROWS, found.epoch), found.rows)

        return self._insisting(made)

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, DataFrame]:
        self._ready()
        source = text if isinstance(text, Source) else Source("<query>", text)
        info = query_program(source, self.checked).relations[HEAD]
        _, (table,) = self._insisting(lambda: self._open().tell(RunQuery(source.name, source.text), Rows))
        return info, local_frame(self.spark, table, info)

    def _ended(self, outcome: Outcome, change: ChangeSet) -> Epoch[DataFrame]:
        ended, warnings = outcome
        self.epoch = ended.summary.epoch
        inserted = self._changes(ended.inserted, Side.INSERTED, self.epoch)
        deleted = self._changes(ended.deleted, Side.DELETED, self.epoch)
        return Epoch(ended.summary, inserted, deleted, self.feed, self.told(change.warnings, warnings))

    def _changes(self, counts: dict[str, int], side: Side, epoch: int) -> Changes[DataFrame]:

        def frame(name: str) -> DataFrame:
            info = self.vocabulary.info(name)
            if name not in counts:
                return local_frame(self.spark, None, info)
            return self._insisting(lambda: self._with_worker().frame(info, Wanted(name, side, epoch), counts[name]))

        return Changes(counts, frame)

    def _with_worker(self) -> Results:
        if self._open().worker is None:
            raise WorkerLost("it has not started")
        return self._results

    # ---- losing a worker

    def _insisting(self, act: Callable[[], Done]) -> Done:
        """Carry out a command, with a new worker if the one that we have is lost on the way."""
        losses: list[str] = []
        while True:
            try:
                if losses:
                    self._recover()
                return act()
            except WorkerLost as problem:
                losses.append(f"{problem}{self._open().last_size}")
                self._open().dismiss()
                if len(losses) == MOST_LOSSES:
                    raise error(
                        "TL1208", f"{MOST_LOSSES} workers were lost one after the other: {'; '.join(losses)}",
                        help="most likely they needed more memory than their machine or container has, and were "
                        "killed: give them more (spark.executor.memoryOverhead on a cluster), set "
                        "limits=tidelog.Limits(max_memory=…) to be told before that, or use executor='dataframe', "
                        "which spills to disk; Spark's log may say more",
                    ) from None  # fmt: skip

    def _epoch(self, act: Callable[[], Outcome]) -> Outcome:
        """The same for a command that makes an epoch: it may have become durable before its worker was lost."""

        def once() -> Outcome:
            worker = self._open().worker
            if worker is not None and self.settings.state is not None and worker.hello.epoch > self.epoch:
                return self._open().tell(Recall(), EpochEnded)[0], []
            return act()

        return self._insisting(once)

    def _recover(self) -> None:
        """A new worker, in the epoch that the session is in."""
        self._open().start()
        if self._history is None or not self._history.changes:
            return  # it has opened the state, or there is none yet
        begun, *changes = self._history.changes
        self._bootstrap(begun, self._history.epoch - 1)
        for change in changes:
            self._update(change)

    def _shorten(self, history: History) -> None:
        """Let the worker's facts take the place of a long history."""
        if not history.is_long:
            return
        try:
            history.begin_with({name: self._given(name) for name in self.vocabulary.inputs}, self.epoch)
        except (
            Exception
        ):  # whatever it is, the history is still there and the epoch has ended; the next one tries again
            return

    def _given(self, name: str) -> DataFrame:
        """The facts of a relation, without those that rules derive."""
        found, _ = self._open().tell(CountRows(name, given=True), RowCount)
        return self._results.frame(self.checked.relations[name], Wanted(name, Side.FACTS, self.epoch), found.rows)

    # ---- its end

    def close(self) -> None:
        crew, self._crew = self._crew, None
        if crew is not None:
            self._collected.detach()
            crew.close()

    def _open(self) -> WorkerCrew:
        if self._crew is None:
            raise closed()
        return self._crew

    def _ready(self) -> None:
        self._open()
        self.check_ready()
