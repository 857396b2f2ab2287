"""What Spark's tasks run to bring facts to a worker and to fetch rows from it.

Both are functions over Arrow batches for `mapInArrow`. Columns of text that repeat themselves travel as Arrow
dictionaries, so that the worker looks at each distinct text of a batch once. Some batches are on their way before the
first is acknowledged; what a worker has not acknowledged is repeated by nobody but Spark, which runs the task again as
another part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import zmq

from tidelog.errors import Diagnostic, TidelogError, error
from tidelog.spark.files import ROWS
from tidelog.spark.frames import Batches, Frame, checked_batches
from tidelog.spark.packed import packed_diagnostics
from tidelog.spark.resident.transfers import TRANSFERS, Get, Put, Wanted
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Failed, Message
from tidelog.wire.problems import diagnostics
from tidelog.wire.sockets import Sockets, is_listening

WINDOW = 4
"""Messages on their way."""
SAMPLE = 4096
"""Texts that are looked at to see whether they repeat themselves."""
LOOK = 1000
"""Milliseconds after which somebody who waits looks whether the worker is still there."""

MOST_PROBLEMS = 20

PART = pa.schema([("part", pa.string()), ("rows", pa.int64()), ("problems", pa.string())])
"""What a task that pushes tells the driver: its part, how many facts it has, and what was wrong, as JSON."""
PART_SCHEMA = "part string, rows bigint, problems string"


def pusher(
    address: str, keys: Keys, job: str, facts: Frame, gathering: str
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Checks the batches of a partition and puts them, into the gathering if there is one; gives one row: see PART."""
    checked, relation, estimate = checked_batches(facts), facts.info.name, facts.estimate

    def push(batches: Batches) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        part = f"{job}/{task.partitionId()}/{task.taskAttemptId()}"
        rows, problems = 0, list[Diagnostic]()
        with Line(address, keys) as line:
            try:
                for table, found in checked(batches):
                    problems += found
                    if table.num_rows:
                        put = Put(part, relation, gathering, estimate(table.num_rows))
                        line.ask(put, _coded(table))
                        rows += table.num_rows
                    while line.waiting >= WINDOW:
                        line.answer()
                while line.waiting:
                    line.answer()
            except Unwelcome as problem:
                problems = list(problem.diagnostics)  # a task that fails would be tried again
        yield pa.RecordBatch.from_pydict(
            {"part": [part], "rows": [rows], "problems": [packed_diagnostics(problems[:MOST_PROBLEMS])]}, PART
        )

    return push


def fetcher(
    address: str, keys: Keys, wanted: Wanted, total: int, partitions: int
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Gets the share of the partition with the number in the one row that it is given."""

    def fetch(batches: Batches) -> Iterator[pa.RecordBatch]:
        for number in (n for batch in batches for n in batch.column(0).to_pylist()):
            start, stop = total * number // partitions, total * (number + 1) // partitions
            with Line(address, keys) as line:
                for first in range(start, stop, ROWS):
                    line.ask(Get(wanted, first, min(first + ROWS, stop)))
                    if line.waiting >= WINDOW:
                        yield from _batches(line.answer())
                while line.waiting:
                    yield from _batches(line.answer())

    return fetch


def _batches(answer: list[pa.Table]) -> list[pa.RecordBatch]:
    return answer[0].combine_chunks().to_batches()


class Unwelcome(TidelogError):
    """The worker's answer is an error: it has no memory for more facts, or has no such rows."""


class Line:
    """A connection of a task to a worker's exchange. Answers come in the order of the questions."""

    def __init__(self, address: str, keys: Keys) -> None:
        self._sockets = Sockets(keys)
        self._socket = self._sockets.connected(zmq.DEALER, address)
        self.address, self.waiting = address, 0

    def ask(self, message: Message, *tables: pa.Table) -> None:
        self._socket.send_multipart(TRANSFERS.frames(message, tables), copy=False)
        self.waiting += 1

    def answer(self) -> list[pa.Table]:
        """The next answer. A worker may be busy with an epoch for as long as it takes; one that hangs is killed by the
        driver, and then nobody listens any more."""
        while not self._socket.poll(LOOK):
            if not is_listening(self.address):
                raise error("TL1243", f"the worker at {self.address} is gone: it was lost, or its session is closed",
                            help="a DataFrame of a session reads from the worker that the session had then: ask the "
                            "session for it again, and keep the session while its DataFrames are used")  # fmt: skip
        message, tables, _ = TRANSFERS.parcel(self._socket.recv_multipart())
        self.waiting -= 1
        if isinstance(message, Failed):
            raise Unwelcome(diagnostics(message.problems)) if message.problems else message.error()
        return tables

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *exception: object) -> None:
        self._socket.close()
        self._sockets.close()


def _coded(table: pa.Table) -> pa.Table:
    """The same with texts as Arrow dictionaries where a sample of them repeats itself."""
    columns = [column.combine_chunks().dictionary_encode() if _repeats(column) else column for column in table.columns]
    return pa.table(columns, names=table.column_names) if columns else table


def _repeats(column: pa.ChunkedArray) -> bool:
    return pa.types.is_string(column.type) and 4 * len(column[:SAMPLE].unique()) < min(SAMPLE, len(column))
