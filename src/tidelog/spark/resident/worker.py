"""The worker: what the barrier task of the background job runs until its session closes.

It holds a session like one in a process of its own, carries out the driver's commands one after the other, and lets
its exchange serve other tasks in between. What is always true: a command either ends with its epoch or changes
nothing. A second thread tells the driver that the worker lives and listens whether the driver does: if that falls
silent the process ends itself, because nobody would ever end it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import zmq

from tidelog.analysis.check import check
from tidelog.epochs.report import EpochReport, EpochSummary
from tidelog.errors import Source, TidelogError, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.limits import resident_bytes
from tidelog.exchange.stage import StageObserver, WorkerBeat
from tidelog.lang import tree
from tidelog.local import Epoch, LocalSession, Settings
from tidelog.plain import dataclass, fields, replace
from tidelog.spark.resident.commands import (
    COMMANDS,
    Begin,
    Close,
    CountRows,
    EpochEnded,
    FetchRows,
    NextEpoch,
    Recall,
    RowCount,
    RunQuery,
)
from tidelog.spark.resident.common_place import check_common_place
from tidelog.spark.resident.exchange import TAKING, Exchange
from tidelog.spark.resident.parts import BarrierTeam
from tidelog.spark.resident.transfers import Rows, Side, failure
from tidelog.wire.codec import MalformedMessage
from tidelog.wire.keys import Keys
from tidelog.wire.life import Pulse
from tidelog.wire.messages import Done, Hello, Message, Refused
from tidelog.wire.problems import problems
from tidelog.wire.sockets import Socket, Sockets, host_towards

SILENCE = 15.0
"""Seconds without a sign of life after which the driver is taken for dead."""
LAST_WORDS = 2000
"""Milliseconds for which an answer may still be on its way when the task ends."""


@dataclass(frozen=True)
class Assignment:
    """What the driver hands to a worker through Spark. The program is checked again there: what checking finds out is
    kept by the identity of its nodes, which do not survive the journey."""

    rendezvous: str
    keys: Keys
    attempt: int
    program: tree.Program
    settings: Settings
    token: str = ""
    """The name of a file that is in the state directory if this is the driver's; empty if it needs not be asked."""
    sessions: int = 1
    """How many sessions of the application have a worker, which have to get along with the memory that there is."""


def serve(assignment: Assignment, worker: int, team: BarrierTeam | None = None) -> Iterator[pa.RecordBatch]:
    """The task's function: returns when the session closes, and gives no rows. If the session has workers, these are
    the `team`, or else children of this process."""
    sockets = Sockets(assignment.keys)
    line = sockets.connected(zmq.DEALER, assignment.rendezvous)
    line.linger = LAST_WORDS
    try:
        check_common_place(assignment.settings, assignment.token)
        progress = StageObserver()
        session = LocalSession(check(assignment.program), own_settings(assignment), progress, team)
    except TidelogError as problem:
        if team is not None:
            team.dismiss()
        refused = Refused(worker, assignment.attempt, problems(problem.diagnostics))
        line.send_multipart(COMMANDS.frames(refused))
    else:
        ResidentWorker(assignment, worker, session, progress, sockets).run(line)
    line.close()
    sockets.close()
    yield from ()


def own_settings(assignment: Assignment) -> Settings:
    """The session's settings for this worker: the default limit on memory is one for all sessions of the application,
    whose workers may be on this machine as well."""
    limits = replace(assignment.settings.limits, share=1 / max(assignment.sessions, 1))
    return replace(assignment.settings, limits=limits)


class ResidentWorker:
    """See the module's docstring."""

    def __init__(
        self, assignment: Assignment, number: int, session: LocalSession, progress: StageObserver, sockets: Sockets
    ) -> None:
        self.assignment, self.number, self.session, self.progress = assignment, number, session, progress
        self.exchange = Exchange(session, sockets, host_towards(assignment.rendezvous))
        self.pulse = Pulse(sockets, assignment.rendezvous, COMMANDS, self._beat, SILENCE)
        self.closing = False

    def run(self, line: Socket) -> None:
        """Serve until the session closes."""
        self.exchange.start()
        self.pulse.start()
        hello = Hello(self.number, self.assignment.attempt, self.exchange.address, os.getpid(), self.session.epoch)
        line.send_multipart(COMMANDS.frames(hello))
        while not self.closing:
            try:
                message, tables, number = COMMANDS.parcel(line.recv_multipart())
            except MalformedMessage:
                continue
            with self.exchange.working:
                line.send_multipart(COMMANDS.frames(*self._answer(message, tables), number))
        self.session.close()

    def _beat(self) -> WorkerBeat:
        return WorkerBeat(self.number, self.assignment.attempt, resident_bytes(), self.progress.stage)

    # ---- commands

    def _answer(self, message: Message, tables: list[pa.Table]) -> tuple[Message, list[pa.Table]]:
        try:
            match message:
                case Begin():
                    return self._bootstrap(message, tables), []
                case NextEpoch():
                    return self._update(message, tables), []
                case Recall():
                    return self._recall(), []
                case RunQuery():
                    return Rows(), [self.session.typed_query(Source(message.name, message.text))[1]]
                case CountRows():
                    return self._count(message), []
                case FetchRows():
                    return Rows(), [self.exchange.rows(message.wanted, 0, message.rows)]
                case Close():
                    self.closing = True
                    return Done(), []
        except Exception as problem:
            return failure(problem), []
        return failure(ValueError(f"a worker is not told {type(message).__name__}")), []

    def _bootstrap(self, message: Begin, tables: list[pa.Table]) -> EpochEnded:
        with self.session.limited(TAKING):
            facts = merged(self.exchange.taken(message.parts), self._encoded(message.relations, tables))
            gathered = self.exchange.gathered(message.gathering)
            for name in gathered.keys() & facts.keys():
                gathered[name].insert(facts[name])
        if message.before:
            self.session.go_on_from(message.before)
        return self._ended(self.session.bootstrap_words({**facts, **gathered}))

    def _update(self, message: NextEpoch, tables: list[pa.Table]) -> EpochEnded:
        split = len(message.deleted)
        delete = merged(self.exchange.taken(message.delete_parts), self._encoded(message.deleted, tables[:split]))
        insert = merged(self.exchange.taken(message.insert_parts), self._encoded(message.inserted, tables[split:]))
        return self._ended(self.session.update_words(delete, insert, message.clear, message.batch))

    def _encoded(self, names: list[str], tables: list[pa.Table]) -> dict[str, Words]:
        """Facts that came with the command: the driver has checked them."""
        return {name: self.session.words(name, table) for name, table in zip(names, tables, strict=True)}

    def _ended(self, epoch: Epoch[pa.Table]) -> EpochEnded:
        self.exchange.forget_facts()
        report = epoch.report
        assert isinstance(report, EpochReport)
        self.exchange.remember_changes(report.epoch, {Side.INSERTED: report.inserted, Side.DELETED: report.deleted})
        summary = EpochSummary(**{f.name: getattr(report, f.name) for f in fields(EpochSummary)})
        inserted, deleted = (
            {name: len(rows) for name, rows in changed.items()} for changed in (report.inserted, report.deleted)
        )
        return EpochEnded(summary, inserted, deleted)

    def _recall(self) -> EpochEnded:
        last = self.session.last_kept()
        summary = EpochSummary(last.epoch, last.strategy, "told by the state directory", last.seconds, 0)
        return EpochEnded(summary, last.inserted, last.deleted)

    def _count(self, message: CountRows) -> RowCount:
        engine, name = self.session.ready(), message.relation
        if name not in self.session.vocabulary:
            raise error("TL1103", f"there is no relation `{name}`")
        rows = len(engine.facts(name)) if message.given else engine.count(name)
        return RowCount(self.session.epoch, rows)


def merged(some: Mapping[str, Words], more: Mapping[str, Words]) -> dict[str, Words]:
    """The facts of both, by relation: those of one may come in several ways."""
    both = {name: np.concatenate((some[name], more[name])) for name in some.keys() & more.keys()}
    return {**some, **more, **both}
