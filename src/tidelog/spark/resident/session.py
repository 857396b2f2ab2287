"""A session whose columnar store lives in a Spark task.

What is always true: the driver holds no facts but those it was handed as Python data. A worker that is lost is noticed
within seconds and replaced, and what the session knew is there again: from its state directory if it has one, else from
the facts that Spark holds and the changes since. A command that was cut off is carried out by the new worker.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Diagnostic, Severity, Source, TidelogError, error
from tidelog.evaluate.changes import Batch
from tidelog.evaluate.engine import EpochSummary, StratumReport
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.query import HEAD, query_program
from tidelog.io.bad_rows import merged
from tidelog.lang import tree
from tidelog.local import Changes, Epoch, Settings
from tidelog.spark.frames import Frame
from tidelog.spark.packed import unpacked_diagnostics
from tidelog.spark.read import split_given
from tidelog.spark.resident.crew import Crew
from tidelog.spark.resident.exchange import FACTS, ROWS
from tidelog.spark.resident.history import History
from tidelog.spark.resident.messages import Bootstrap, Count, Query, Recall, Update
from tidelog.spark.resident.rendezvous import Answer, Member, WorkerLost
from tidelog.spark.resident.results import Results
from tidelog.spark.resident.tasks import PART_SCHEMA, pusher
from tidelog.spark.session import ChangeSet, OnSpark, closed, local_frame
from tidelog.spark.words import spark_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Done = TypeVar("Done")
Ended: TypeAlias = tuple[Answer, list[Diagnostic]]
MOST_LOSSES = 3
"""How often a command is tried with a new worker."""


class ColumnarSession(OnSpark):
    """See the module's docstring, and `tidelog.Session` for what its methods promise."""

    def __init__(
        self, checked: Checked, settings: Settings, spark: SparkSession, observer: Observer | None = None
    ) -> None:
        super().__init__(checked, settings, spark)
        functors = settings.loaded_functors()
        Prepared(checked, functors)  # what is wrong with program or functors is known before anything starts
        declared = {decl.name for decl in checked.program.of(tree.FunctorDecl)}
        settings = replace(settings, functors={name: f for name, f in functors.items() if name in declared})
        self._history = History(spark, checked) if settings.state is None else None
        self._crew: Crew | None = Crew(spark, checked, settings, observer)
        self._results = Results(self._crew)
        self.epoch = self._started().epoch

    def _started(self) -> Member:
        try:
            return self._open().start()
        except BaseException:
            self.close()
            raise

    # ---- epochs

    def bootstrap(self, facts: Mapping[str, Any] | None = None) -> Epoch[DataFrame]:
        self._open()
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

    def _bootstrap(self, begun: ChangeSet, before: int = 0) -> Ended:
        """Tell the worker to begin; `before` are the epochs that another worker ended before."""
        here, there = split_given(begun.insert)
        gathering = str(uuid.uuid4())
        parts, warnings = self._pushed(there, gathering)
        answer = self._open().tell(lambda n: Bootstrap(n, parts, list(here), before, gathering), list(here.values()))
        return answer, warnings

    def _update(self, change: ChangeSet) -> Ended:
        gone, gone_there = split_given(change.delete)
        come, come_there = split_given(change.insert)
        gone_parts, odd = self._pushed(gone_there)
        come_parts, more = self._pushed(come_there)
        answer = self._open().tell(
            lambda n: Update(
                n, gone_parts, come_parts, list(gone), list(come), list(change.clear), list(change.batch or ())
            ),
            [*gone.values(), *come.values()],
        )
        return answer, odd + more

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
            task = pusher(address, keys, str(uuid.uuid4()), frame, gathering if frame.files is not None else "")
            return list(frame.frame.mapInArrow(task, PART_SCHEMA).collect())

        jobs = [(name, frame) for name, several in frames.items() for frame in several]
        if not jobs:
            return {}, []
        with ThreadPoolExecutor(min(4, len(jobs))) as pool:
            try:
                done = list(pool.map(lambda job: push(job[1]), jobs))
            except Exception as problem:
                crew.check()  # if the worker is gone, that is why
                raise error("TL1207", f"Spark could not bring the facts: {spark_words(problem)}") from problem
        found = [d for rows in done for row in rows for d in unpacked_diagnostics(row["problems"])]
        wrong = [d for d in found if d.severity is Severity.ERROR]
        if wrong:
            for _, frame in jobs:
                frame.locate_malformed()
            raise TidelogError(wrong)
        parts: dict[str, list[str]] = {name: [] for name in frames}
        for (name, _), rows in zip(jobs, done, strict=True):
            parts[name] += [row["part"] for row in rows]
        return parts, merged(found)

    # ---- reading

    def count(self, name: str) -> int:
        return int(self._counted(self.vocabulary.info(name))["rows"])

    def _counted(self, info: RelationInfo) -> dict[str, Any]:
        self._ready()
        return self._insisting(lambda: self._open().tell(lambda n: Count(n, info.name)))[0]

    def relation(self, name: str) -> DataFrame:
        info = self.vocabulary.info(name)
        found = self._counted(info)
        return self._results.frame(info, f"{ROWS} {name}", found["epoch"], found["rows"])

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, DataFrame]:
        self._ready()
        source = text if isinstance(text, Source) else Source("<query>", text)
        info = query_program(source, self.checked).relations[HEAD]
        _, (table,) = self._insisting(lambda: self._open().tell(lambda n: Query(n, source.name, source.text)))
        return info, local_frame(self.spark, table, info)

    def _ended(self, ended: Ended, change: ChangeSet) -> Epoch[DataFrame]:
        (result, _), warnings = ended
        strata = [StratumReport(**(s | {"relations": tuple(s["relations"])})) for s in result["strata"]]
        summary = EpochSummary(**result["summary"], strata=strata)
        self.epoch = summary.epoch
        inserted, deleted = (self._changes(result, side) for side in ("inserted", "deleted"))
        return Epoch(summary, inserted, deleted, self.feed, (*change.warnings, *warnings))

    def _changes(self, result: dict[str, Any], side: str) -> Changes[DataFrame]:
        counts, epoch = result["counts"][side], result["summary"]["epoch"]

        def frame(name: str) -> DataFrame:
            info = self.vocabulary.info(name)
            if name not in counts:
                return local_frame(self.spark, None, info)
            return self._results.frame(info, f"{side} {name}", epoch, counts[name])

        return Changes(counts, frame)

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
                losses.append(str(problem))
                self._open().dismiss()
                if len(losses) == MOST_LOSSES:
                    raise error(
                        "TL1208", f"{MOST_LOSSES} workers were lost one after the other: {'; '.join(losses)}",
                        help="look at Spark's log for the reason; a worker that needs more memory than its "
                        "container has is "
                        "killed (spark.executor.memoryOverhead)",
                    ) from None  # fmt: skip

    def _epoch(self, act: Callable[[], Ended]) -> Ended:
        """The same for a command that makes an epoch: it may have become durable before its worker was lost."""

        def once() -> Ended:
            worker = self._open().worker
            if worker is not None and self.settings.state is not None and worker.epoch > self.epoch:
                return self._open().tell(Recall), []
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
        found, _ = self._open().tell(lambda n: Count(n, name, given=True))
        info = self.checked.relations[name]
        return self._results.frame(info, f"{FACTS} {name}", self.epoch, found["rows"])

    # ---- its end

    def close(self) -> None:
        if self._crew is not None:
            self._crew.close()
            self._crew = None

    def _open(self) -> Crew:
        if self._crew is None:
            raise closed()
        return self._crew

    def _ready(self) -> None:
        self._open()
        self.check_ready()
