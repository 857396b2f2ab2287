"""Where a worker takes facts from tasks and hands rows to them.

Facts arrive in *parts*: everything that one attempt of one task has put. The tasks have checked them; they are encoded
at once, and wait until a command of the driver names the parts whose tasks have succeeded; parts of attempts that
failed or were repeated are dropped with the rest of their job, so each row counts exactly once however often Spark ran
its task. Facts from files need not wait (see `gathering`).

Rows leave as columns of values, unsigned numbers as their bits. What is always true: rows of an epoch are only given
while the session is in that epoch; the changes of recent epochs can be asked for longer. Cost: one copy of a relation
while tasks read it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import zmq

from tidelog import room
from tidelog.analysis.types import RelationInfo
from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.io.codec import decode_column
from tidelog.local import LocalSession
from tidelog.spark.resident.gathering import Gathering
from tidelog.spark.resident.transfers import TRANSFERS, Get, Put, Rows, Side, Wanted, failure
from tidelog.store import Relation
from tidelog.values import Kind
from tidelog.wire.codec import MalformedMessage
from tidelog.wire.messages import Done, Message
from tidelog.wire.sockets import Sockets, until_closed

MOST_CHANGES = 1 << 28
"""Bytes of changes of past epochs that are kept for whoever reads them late."""

TAKING = "while taking facts from Spark's tasks"
"""What the worker was doing when it had no memory left."""


class Exchange(threading.Thread):
    """See the module's docstring. `working` is held by whoever uses the session."""

    def __init__(self, session: LocalSession, sockets: Sockets, host: str) -> None:
        super().__init__(name="tidelog-exchange", daemon=True)
        self.session = session
        self.working = threading.RLock()
        self._parts: dict[str, dict[str, list[Words]]] = {}
        self._gatherings: dict[str, Gathering] = {}
        self._changes: OrderedDict[Wanted, Words] = OrderedDict()
        self._read: tuple[Wanted, Words] | None = None  # the rows that tasks are reading now
        self._socket, self.address = sockets.bound(zmq.ROUTER, host)

    def run(self) -> None:
        with until_closed(self._socket):
            while True:
                sender, *frames = self._socket.recv_multipart()
                try:
                    message, tables, number = TRANSFERS.parcel(frames)
                except MalformedMessage:
                    continue
                with self.working:
                    answer, answered = self._answer(message, tables)
                self._socket.send_multipart([sender, *TRANSFERS.frames(answer, answered, number)], copy=False)

    def _answer(self, message: Message, tables: list[pa.Table]) -> tuple[Message, list[pa.Table]]:
        try:
            match message:
                case Put():
                    self._put(message, tables[0])
                    return Done(), []
                case Get():
                    return Rows(), [self.rows(message.wanted, message.start, message.stop)]
        except Exception as problem:
            return failure(problem), []
        return failure(ValueError(f"an exchange is not told {type(message).__name__}")), []

    # ---- facts

    def _put(self, put: Put, table: pa.Table) -> None:
        with self.session.limited(TAKING):
            room.ensure()  # one batch is not large, but they add up
            words = self.session.words(put.relation, table)
            if put.gathering:
                if put.gathering not in self._gatherings:
                    self._gatherings[put.gathering] = Gathering(self.session)
                self._gatherings[put.gathering].enter(put.relation, words, put.expected)
            else:
                self._parts.setdefault(put.part, {}).setdefault(put.relation, []).append(words)

    def taken(self, parts: dict[str, list[str]]) -> dict[str, Words]:
        """The facts of some parts, by relation; all other parts are forgotten."""
        return {
            name: np.concatenate(
                [self._none(name), *(w for part in names for w in self._parts.get(part, {}).get(name, ()))]
            )
            for name, names in parts.items()
        }

    def gathered(self, gathering: str) -> dict[str, Relation]:
        """The facts of a gathering, by relation."""
        return self._gatherings.pop(gathering).finish() if gathering in self._gatherings else {}

    def forget_facts(self) -> None:
        """Whatever has come and was not asked for, such as the facts of an epoch that failed."""
        self._parts = {}
        for gathering in self._gatherings.values():
            gathering.dismiss()
        self._gatherings = {}

    def _none(self, name: str) -> Words:
        return np.empty((0, self.session.checked.relations[name].arity), np.int64)

    # ---- rows

    def remember_changes(self, epoch: int, sides: Mapping[Side, dict[str, Words]]) -> None:
        """Keep an epoch's changes for readers; the oldest go when they are too many."""
        self._read = None
        for side, changed in sides.items():
            for name, rows in changed.items():
                self._changes[Wanted(name, side, epoch)] = rows
        while len(self._changes) > 1 and sum(rows.nbytes for rows in self._changes.values()) > MOST_CHANGES:
            self._changes.popitem(last=False)

    def rows(self, wanted: Wanted, start: int, stop: int) -> pa.Table:
        """The rows that are asked for. Whoever calls this is `working`."""
        rows = self._rows(wanted) if wanted.side in (Side.ROWS, Side.FACTS) else self._changed(wanted)
        return self._columns(rows[start:stop], self.session.checked.relations[wanted.relation])

    def _rows(self, wanted: Wanted) -> Words:
        if wanted.epoch != self.session.epoch:
            raise error(
                "TL1210", f"the tuples of `{wanted.relation}` in epoch {wanted.epoch} are gone: the session is in "
                f"epoch {self.session.epoch}",
                help="ask the session for the relation again, or keep a DataFrame with cache() and an action "
                "before the next epoch",
            )  # fmt: skip
        if self._read is None or self._read[0] != wanted:
            engine = self.session.ready()
            read = engine.facts if wanted.side is Side.FACTS else engine.rows
            self._read = wanted, read(wanted.relation)
        return self._read[1]

    def _changed(self, wanted: Wanted) -> Words:
        if wanted not in self._changes:
            raise error(
                "TL1210", f"the changes of `{wanted.relation}` in epoch {wanted.epoch} are no longer kept",
                help="read an epoch's changes before many large epochs follow, or give the session a state directory",
            )  # fmt: skip
        return self._changes[wanted]

    def _columns(self, rows: Words, info: RelationInfo) -> pa.Table:
        """Rows as columns named by position."""
        if not info.arity:
            return pa.table({"c0": pa.array([True] * len(rows), pa.bool_())})
        database, types = self.session.ready().database, self.session.checked.types
        columns = [
            decode_column(rows[:, i], Kind.NUMBER if kind is Kind.UNSIGNED else kind, types.types[declared], database)
            for i, (kind, declared) in enumerate(zip(info.kinds, info.types, strict=True))
        ]
        return pa.table(columns, names=[f"c{i}" for i in range(info.arity)])
