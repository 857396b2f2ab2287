"""The worker: what the barrier task of the background job runs until its session closes.

It holds a session like one in a process of its own, carries out the driver's commands one after the other, and lets
its exchange serve other tasks in between. What is always true: a command either ends with its epoch or changes
nothing. A second thread tells the driver that the worker lives and listens whether the driver does: if that falls
silent the process ends itself, because nobody would ever end it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import zmq

from tidelog.analysis.check import check
from tidelog.errors import Source, TidelogError, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.engine import EpochReport, EpochSummary
from tidelog.lang import tree
from tidelog.local import Epoch, LocalSession, Settings
from tidelog.spark.resident.exchange import Exchange
from tidelog.spark.resident.keys import Guard, Keys
from tidelog.spark.resident.messages import (
    Beat,
    Bootstrap,
    Close,
    Count,
    Done,
    Hello,
    Malformed,
    Message,
    Query,
    Recall,
    Update,
    failure,
    frames_of,
    message_of,
    refusal,
)
from tidelog.state import Durable

BEAT = 0.5
"""Seconds between two signs of life."""
SILENCE = 15.0
"""Seconds without a sign of life after which the other end is taken for dead."""


@dataclass(frozen=True)
class Assignment:
    """What the driver hands to a worker through Spark. The program is checked again there: what checking finds out is
    kept by the identity of its nodes, which do not survive the journey."""

    rendezvous: str
    keys: Keys
    attempt: int
    program: tree.Program
    settings: Settings


class Progress:
    """An evaluate.limits.Observer that remembers how far the worker is."""

    def __init__(self) -> None:
        self._stratum: list[Any] = []
        self._iteration = self._tuples = 0

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None:
        self._stratum, self._iteration, self._tuples = [number, total, list(relations)], 0, 0

    def progress(self, iteration: int, tuples: int) -> None:
        self._iteration, self._tuples = iteration, tuples

    def beat(self, worker: int, attempt: int) -> Beat:
        return Beat(worker, attempt, self._stratum, self._iteration, self._tuples)


def serve(assignment: Assignment, worker: int) -> Iterator[pa.RecordBatch]:
    """The task's function: returns when the session closes, and gives no rows."""
    line = connected(assignment)
    try:
        session = LocalSession(check(assignment.program), assignment.settings, progress := Progress())
    except TidelogError as problem:
        line.send_multipart(frames_of(refusal(worker, assignment.attempt, problem)))
        line.close()
        return
    Worker(assignment, worker, session, progress, line).run()
    yield from ()


def connected(assignment: Assignment) -> zmq.Socket[bytes]:
    """A line to the driver."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    line = context.socket(zmq.DEALER)
    line.linger = 2000  # the last answer may still be on its way when the task ends
    assignment.keys.of_a_client().connect(line, assignment.rendezvous)
    return line


class Worker:
    """See the module's docstring."""

    def __init__(
        self, assignment: Assignment, number: int, session: LocalSession, progress: Progress, line: zmq.Socket[bytes]
    ) -> None:
        self.assignment, self.number, self.session, self.progress = assignment, number, session, progress
        self.socket = line
        self.guard = Guard(zmq.Context.instance(), assignment.keys)
        self.exchange = Exchange(session, assignment.keys, reachable_host(assignment.rendezvous))
        self.closing = threading.Event()

    def run(self) -> None:
        self.exchange.start()
        threading.Thread(target=self._live, name="tidelog-heartbeat", daemon=True).start()
        hello = Hello(self.number, self.assignment.attempt, self.exchange.address, os.getpid(), self.session.epoch)
        self.socket.send_multipart(frames_of(hello))
        while not self.closing.is_set():
            try:
                message, tables = message_of(self.socket.recv_multipart())
            except Malformed:
                continue
            with self.exchange.working:
                self.socket.send_multipart(frames_of(*self._answer(message, tables)))
        self.session.close()
        self.socket.close()
        self.guard.stop()

    def _live(self) -> None:
        """Signs of life, to and fro."""
        line = connected(self.assignment)
        heard = time.monotonic()
        while not self.closing.is_set():
            line.send_multipart(frames_of(self.progress.beat(self.number, self.assignment.attempt)))
            if line.poll(int(1000 * BEAT)):
                while line.poll(0):
                    line.recv_multipart()
                heard = time.monotonic()
                time.sleep(BEAT)
            if time.monotonic() - heard > SILENCE:
                os._exit(1)
        line.close(linger=0)

    # ---- commands

    def _answer(self, message: Message, tables: list[pa.Table]) -> tuple[Message, list[pa.Table]]:
        command: int = getattr(message, "command", 0)
        try:
            match message:
                case Bootstrap():
                    return Done(command, self._bootstrap(message, tables)), []
                case Update():
                    return Done(command, self._update(message, tables)), []
                case Query():
                    return self._query(message)
                case Count():
                    return Done(command, self._count(message)), []
                case Recall():
                    return Done(command, self._recall()), []
                case Close():
                    self.closing.set()
                    return Done(command), []
        except Exception as problem:
            return failure(command, problem), []
        return failure(command, ValueError(f"a worker is not told {type(message).__name__}")), []

    def _bootstrap(self, message: Bootstrap, tables: list[pa.Table]) -> dict[str, Any]:
        facts = merged(self.exchange.taken(message.parts), self._encoded(message.relations, tables))
        gathered = self.exchange.gathered(message.gathering)
        for name in gathered.keys() & facts.keys():
            gathered[name].insert(facts[name])
        if message.before:
            self.session.go_on_from(message.before)
        return self._ended(self.session.bootstrap_words({**facts, **gathered}))

    def _update(self, message: Update, tables: list[pa.Table]) -> dict[str, Any]:
        split = len(message.deleted)
        delete = merged(self.exchange.taken(message.delete_parts), self._encoded(message.deleted, tables[:split]))
        insert = merged(self.exchange.taken(message.insert_parts), self._encoded(message.inserted, tables[split:]))
        batch = (str(message.batch[0]), int(message.batch[1])) if message.batch else None
        return self._ended(self.session.update_words(delete, insert, message.clear, batch))

    def _encoded(self, names: list[str], tables: list[pa.Table]) -> dict[str, Words]:
        """Facts that came with the command: the driver has checked them."""
        return {name: self.session.words(name, table) for name, table in zip(names, tables, strict=True)}

    def _ended(self, epoch: Epoch[pa.Table]) -> dict[str, Any]:
        self.exchange.forget_facts()
        report = epoch.report
        assert isinstance(report, EpochReport)
        sides = {"inserted": report.inserted, "deleted": report.deleted}
        self.exchange.remember_changes(report.epoch, sides)
        counts = {side: {name: len(rows) for name, rows in changed.items()} for side, changed in sides.items()}
        return self._told(report, counts)

    def _recall(self) -> dict[str, Any]:
        engine = self.session.ready()
        assert isinstance(engine, Durable)
        last = engine.last_epoch()
        summary = EpochSummary(last.epoch, last.strategy, "told by the state directory", last.seconds, 0)
        return self._told(summary, {"inserted": last.inserted, "deleted": last.deleted})

    def _told(self, summary: EpochSummary, counts: dict[str, dict[str, int]]) -> dict[str, Any]:
        return {
            "summary": {f.name: getattr(summary, f.name) for f in fields(EpochSummary) if f.name != "strata"},
            "strata": [asdict(stratum) for stratum in summary.strata],
            "counts": counts,
        }

    def _query(self, message: Query) -> tuple[Message, list[pa.Table]]:
        return Done(message.command), [self.session.typed_query(Source(message.name, message.text))[1]]

    def _count(self, message: Count) -> dict[str, Any]:
        engine, name = self.session.ready(), message.relation
        if name not in self.session.vocabulary:
            raise error("TL1103", f"there is no relation `{name}`")
        rows = len(engine.facts(name)) if message.given else engine.count(name)
        return {"epoch": self.session.epoch, "rows": rows}


def merged(some: Mapping[str, Words], more: Mapping[str, Words]) -> dict[str, Words]:
    """The facts of both, by relation: those of one may come in several ways."""
    both = {name: np.concatenate((some[name], more[name])) for name in some.keys() & more.keys()}
    return {**some, **more, **both}


def reachable_host(rendezvous: str) -> str:
    """The address of this machine from which it reaches the driver: other tasks of the session can use it too."""
    host, port = rendezvous.removeprefix("tcp://").rsplit(":", 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, int(port)))  # sends nothing: it only chooses a route
        return str(probe.getsockname()[0])
