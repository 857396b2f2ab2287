"""What tasks that bring facts or fetch rows say to a worker's exchange, and what it answers."""

from __future__ import annotations

import socket
from enum import Enum

from tidelog.errors import TidelogError, error
from tidelog.plain import dataclass
from tidelog.wire.messages import Failed, Message, Messages

OUT_OF_MEMORY = "TL1241"


class Side(Enum):
    """Which rows of a relation: its tuples, those that were given, or what an epoch has changed."""

    ROWS = "rows"
    FACTS = "facts"
    INSERTED = "inserted"
    DELETED = "deleted"


@dataclass(frozen=True)
class Wanted:
    """Rows of a relation, as they were in `epoch`."""

    relation: str
    side: Side
    epoch: int


@dataclass(frozen=True)
class Put(Message):
    """Facts for a relation, one table behind this message; `part` names a task's attempt. Those of a `gathering` can be
    entered at once: they are among about so many that are `expected`. The answer is `Done`."""

    part: str
    relation: str
    gathering: str = ""
    expected: int = 0


@dataclass(frozen=True)
class Get(Message):
    """Some of the rows of what is wanted. The answer is `Rows`."""

    wanted: Wanted
    start: int
    stop: int


@dataclass(frozen=True)
class Rows(Message):
    """The rows that were asked for are in the table behind this message."""


TRANSFERS = Messages(Put, Get, Rows)


def failure(problem: Exception) -> Failed:
    """An error on its way to the driver."""
    return Failed.because(out_of_memory(problem) if isinstance(problem, MemoryError) else problem)


def out_of_memory(problem: MemoryError) -> TidelogError:
    """What to tell a user whose worker got no memory from the system."""
    return error(
        OUT_OF_MEMORY, f"memory ran out on {socket.gethostname()}" + (f": {problem}" if str(problem) else ""),
        help="the session is as it was after the last epoch; give the worker's machine or container more memory, or "
        "use executor='dataframe', which spills to disk",
    )  # fmt: skip
