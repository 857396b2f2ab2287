"""The workers of a session, as the driver sees them: started, told things, and replaced when they are lost.

Each start is an *attempt*: a fresh Spark job with workers that say hello under its number, so that a message of a
worker that was taken for dead is never mistaken for one of its successor. The driver knows one worker; where relations
are shared out, that one asks those who have the parts (`parts.py`), which are tasks of the same job.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import pyarrow as pa

from tidelog.analysis.checked import Checked
from tidelog.errors import TidelogError, error
from tidelog.evaluate.limits import Observer, Silent
from tidelog.exchange.stage import Stage, WorkerBeat
from tidelog.local import Settings
from tidelog.spark.injected import check_python, check_session
from tidelog.spark.resident.bars import HiddenStages
from tidelog.spark.resident.commands import COMMANDS, Close
from tidelog.spark.resident.common_place import CommonPlace
from tidelog.spark.resident.job import Job
from tidelog.spark.resident.own_process import OwnProcess, reserve_of
from tidelog.spark.resident.worker import Assignment
from tidelog.spark.slots import Claim, claim, classic_context, is_crowded, sessions
from tidelog.state.files import Files
from tidelog.state.lock import break_lock
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Beat, Done, Message
from tidelog.wire.rendezvous import Member, Rendezvous, WorkerLost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = TypeVar("Answer", bound=Message)


@runtime_checkable
class MemoryObserver(Protocol):
    """An observer that wants to know how much memory the process has that evaluates, where it is not this one."""

    def memory(self, size: int) -> None: ...


class WorkerCrew:
    """See the module's docstring."""

    def __init__(
        self, spark: SparkSession, checked: Checked, settings: Settings, observer: Observer | None = None
    ) -> None:
        self.spark, self.checked, self.settings = spark, checked, settings
        self._observer = observer or Silent()
        self._shown: Stage | None = None  # the stage that the observer was told of last
        self._bars = HiddenStages()
        self._reserve = reserve_of(spark)
        self._claim: Claim | None = None
        if self._reserve is None and not self._may_wait():
            self._claim = claim(spark, self._tasks)
        try:
            if self._reserve is None:
                check_python(spark)
            self.keys = Keys.new()
            self.rendezvous = Rendezvous(driver_host(spark), self.keys, COMMANDS, watch=self._watch)
        except BaseException:
            self._give_back()
            raise
        self.attempt = 0
        self.job: Job | OwnProcess | None = None
        self.worker: Member | None = None

    def _may_wait(self) -> bool:
        """Whether nothing but other sessions is in the way. They may be about to go: in a cell that is run again, the
        old session of `s = Session(…)` goes when the new one is there. What is in a state must be known at once."""
        return self.settings.state is None and is_crowded(self.spark, self._tasks)

    @property
    def has_room(self) -> bool:
        """Whether there is room for the worker; if not, `start` looks for it."""
        return self._claim is not None or self._reserve is not None

    @property
    def _tasks(self) -> int:
        """That of the worker, and those that have parts of its relations."""
        return 1 + (self.settings.workers or 0)

    def start(self) -> Member:
        """Submit a fresh job and wait for its worker."""
        check_session(self.spark)
        if not self.has_room:
            self._claim = claim(self.spark, self._tasks)
        self.attempt += 1
        with CommonPlace(self.settings, self._elsewhere) as place:
            return self._started(place)

    def _started(self, place: CommonPlace) -> Member:
        assignment = Assignment(
            self.rendezvous.address, self.keys, self.attempt, self.checked.program, self.settings, place.token,
            sessions(self.spark),
        )  # fmt: skip
        if self._reserve is None:
            self.job = Job(self.spark, assignment, self._tasks)
        else:
            self.job = self._reserve.take()
            self.job.assign(assignment)
        try:
            self.worker = self.rendezvous.joined(0, self.attempt, self.job.alive, self.job.patience)
        except TidelogError:
            self.job = None
            raise
        except WorkerLost as problem:
            self.job.end(0.0)
            self.job = None
            raise error(
                "TL1206", f"the worker did not start: {problem}",
                help="Spark's tasks need the Python of this process (PYSPARK_PYTHON) with Tidelog installed, "
                "and a way to "
                f"connect to {self.rendezvous.address}",
            ) from None  # fmt: skip
        if isinstance(self.job, Job):
            self._bars.hide(classic_context(self.spark), self.job.tag)
        return self.worker

    def tell(
        self, command: Message, kind: type[Answer], tables: Sequence[pa.Table] = ()
    ) -> tuple[Answer, list[pa.Table]]:
        """The worker's answer to a command. Raises `WorkerLost` if it is gone."""
        if self.worker is None or self.job is None:
            raise WorkerLost("it has not started")
        return self.rendezvous.ask(self.worker, command, kind, self.job.alive, tables)

    def _watch(self, beat: Beat) -> None:
        """Tell whoever watches how far the worker has come."""
        if not isinstance(beat, WorkerBeat) or beat.stage is None or not self.rendezvous.is_asked:
            return
        if isinstance(self._observer, MemoryObserver):
            self._observer.memory(beat.memory)
        stage = beat.stage
        if self._shown is None or stage.place != self._shown.place:
            self._observer.stratum(*stage.place)
        self._shown = stage
        self._observer.progress(stage.iteration, stage.tuples)

    @property
    def _elsewhere(self) -> bool:
        """Whether the worker may be on another machine."""
        context = classic_context(self.spark)
        return context is None or not str(context.master).startswith("local")

    def check(self) -> None:
        """Raise `WorkerLost` if the worker is gone. It is given time for a sign of life: for a moment after its loss
        only those who talk to it have noticed."""
        if self.worker is None or self.job is None:
            raise WorkerLost("it has not started")
        self.rendezvous.sign_of_life(self.worker, self.job.alive)

    @property
    def last_size(self) -> str:
        """What is known of the worker's memory, as part of a sentence."""
        if self.worker is None or not self.worker.memory:
            return ""
        return f" (it had {self.worker.memory / 2**20:,.0f} MiB of memory when it was last heard of)"

    def dismiss(self) -> None:
        """End a job whose worker is lost, and take the state's lock away from it: on another machine, nobody could tell
        that its owner is gone."""
        self._bars.show()
        if self.job is not None:
            self.job.end(0.0)
        if self.worker is not None and self.settings.state is not None:
            break_lock(Files.at(self.settings.state), self.worker.pid)
        self.job = self.worker = None

    def close(self) -> None:
        """Let the worker go home."""
        try:
            if self.job is not None:
                self._bars.show()
                try:
                    self.tell(Close(), Done)
                    self.job.end(5.0)
                except WorkerLost:
                    self.dismiss()
            self.rendezvous.close()
        finally:
            self._give_back()

    def forget(self) -> None:
        """Close, for a session that nobody can reach any more: in another thread, because this one may be doing
        anything when the session is collected."""
        if self._claim is not None:
            self._claim.leave()

        def close() -> None:
            with contextlib.suppress(Exception):  # there is nobody to be told
                self.close()

        with contextlib.suppress(RuntimeError):  # the interpreter is ending, and everything with it
            threading.Thread(target=close, name="tidelog-close", daemon=True).start()

    def _give_back(self) -> None:
        if self._claim is not None:
            self._claim.give_back()


def driver_host(spark: SparkSession) -> str:
    """The address at which Spark's tasks reach this process. Of a Spark Connect server only one on this machine can."""
    context = classic_context(spark)
    if context is None or str(context.master).startswith("local"):
        return "127.0.0.1"
    return str(context.getConf().get("spark.driver.host", "127.0.0.1"))
