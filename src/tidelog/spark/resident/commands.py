"""What the driver tells a resident worker, and what the worker answers."""

from __future__ import annotations

from tidelog.epochs.changes import Batch
from tidelog.epochs.report import EpochSummary
from tidelog.exchange.stage import WorkerBeat
from tidelog.plain import dataclass
from tidelog.spark.resident.transfers import Rows, Wanted
from tidelog.wire.messages import Message, Messages


@dataclass(frozen=True)
class Begin(Message):
    """Begin with the facts that tasks have put (in `parts`, or in a `gathering`) and with the tables behind this
    message. The worker takes the place of one that had ended so many epochs `before`. The answer is `EpochEnded`."""

    parts: dict[str, list[str]]
    relations: list[str]
    before: int = 0
    gathering: str = ""


@dataclass(frozen=True)
class NextEpoch(Message):
    """The next epoch. The tables behind this message belong to `deleted`, then to `inserted`, in order. The answer is
    `EpochEnded`."""

    delete_parts: dict[str, list[str]]
    insert_parts: dict[str, list[str]]
    deleted: list[str]
    inserted: list[str]
    clear: list[str]
    batch: Batch | None = None


@dataclass(frozen=True)
class Recall(Message):
    """What did the last epoch do? For a driver whose worker was lost after the epoch had become durable. The answer is
    `EpochEnded`."""


@dataclass(frozen=True)
class RunQuery(Message):
    """The answer is `Rows`."""

    name: str
    text: str


@dataclass(frozen=True)
class CountRows(Message):
    """How many tuples has a relation? Or, how many facts were `given`? The answer is `RowCount`."""

    relation: str
    given: bool = False


@dataclass(frozen=True)
class FetchRows(Message):
    """All the rows of what is wanted, in the answer itself: for few. The answer is `Rows`."""

    wanted: Wanted
    rows: int


@dataclass(frozen=True)
class Close(Message):
    """The answer is `Done`, the last one."""


@dataclass(frozen=True)
class EpochEnded(Message):
    """An epoch has ended; how many tuples each relation has gained and lost."""

    summary: EpochSummary
    inserted: dict[str, int]
    deleted: dict[str, int]


@dataclass(frozen=True)
class RowCount(Message):
    epoch: int
    rows: int


COMMANDS = Messages(
    Begin, NextEpoch, Recall, RunQuery, CountRows, FetchRows, Close, WorkerBeat, EpochEnded, RowCount, Rows
)
