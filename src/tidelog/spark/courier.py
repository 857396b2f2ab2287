"""Batches of streams on Spark Connect, where `foreachBatch` calls its function on the server, in a process of its own.

The session that a batch is for lives here, in the client. So the function on the server only makes the batch a
temporary view of the session that both have, and waits for another view, which has the answer; a thread here looks for
such batches, applies them, and answers. The views are the mailbox: nothing but Spark Connect itself is needed between
the two, whatever networks are between them. What is always true: a batch ends on the server after it was applied here,
and what was wrong with it ends the query, as in a classic session. Cost: a batch waits up to `LOOK` seconds to be seen.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidelog.errors import error
from tidelog.spark.words import spark_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

LOOK = 0.05
"""Seconds between two looks into the mailbox."""
PATIENCE = 150.0
"""Seconds in which a query is started again whose Python process on the server was too slow for Spark, which waits for
it ten seconds: not enough on a machine that is very busy."""
_SLOW = "failed to connect back"


def server_function(mailbox: str) -> Callable[[DataFrame, int], None]:
    """What `foreachBatch` calls on the server. It is sent there whole, and needs nothing of Tidelog."""
    look = LOOK

    def hand_over(frame: DataFrame, number: int) -> None:
        import time

        spark = frame.sparkSession
        batch, answer = f"{mailbox}_batch_{number}", f"{mailbox}_answer_{number}"
        frame.createOrReplaceTempView(batch)
        try:
            while not spark.catalog.tableExists(answer):
                time.sleep(look)
            problem = spark.table(answer).collect()[0][0]
        finally:
            spark.catalog.dropTempView(batch)
            spark.catalog.dropTempView(answer)
        if problem:
            raise RuntimeError(problem)

    return hand_over


class Courier(threading.Thread):
    """Takes the batches of one query out of its mailbox, one after the other."""

    def __init__(self, spark: SparkSession, apply: Callable[[DataFrame, int], None]) -> None:
        super().__init__(name="tidelog-courier", daemon=True)
        self.spark, self.apply = spark, apply
        self.mailbox = f"tidelog_{uuid.uuid4().hex}"
        self.query: StreamingQuery | None = None

    def begin(self, writer: DataStreamWriter) -> StreamingQuery:
        """Start the query and carry its batches until it ends."""
        writer = writer.foreachBatch(server_function(self.mailbox))
        deadline = time.monotonic() + PATIENCE
        while self.query is None:
            try:
                self.query = writer.start()
            except Exception as problem:  # gRPC's errors have no common base that is Spark's
                if _SLOW not in str(problem):
                    raise
                if time.monotonic() > deadline:
                    raise error(
                        "TL1264", f"the server of Spark Connect could not start a stream: {spark_words(problem)}",
                        help="its Python (PYSPARK_PYTHON) needs what Spark Connect needs, and ten seconds to start in",
                    ) from None  # fmt: skip
        self.start()
        return self.query

    def run(self) -> None:
        done: set[int] = set()
        while self.query is not None and self.query.isActive:
            for number in sorted(set(self._waiting()) - done):
                self._answer(number)
                done.add(number)
            time.sleep(LOOK)

    def _waiting(self) -> list[int]:
        begin = f"{self.mailbox}_batch_"
        return [int(table.name.removeprefix(begin)) for table in self.spark.catalog.listTables(pattern=f"{begin}*")]

    def _answer(self, number: int) -> None:
        problem = ""
        try:
            self.apply(self.spark.table(f"{self.mailbox}_batch_{number}"), number)
        except BaseException as raised:
            problem = str(raised) or type(raised).__name__
        answer: Any = self.spark.createDataFrame([(problem,)], "problem string")
        answer.createOrReplaceTempView(f"{self.mailbox}_answer_{number}")
