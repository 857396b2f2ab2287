"""What processes say to each other: typed messages, with arrays and tables behind them.

Each kind of message is a dataclass. A set of processes lists the kinds that they understand (`Messages`), beside those
that everyone does, which are here. On the wire a message is a frame of JSON, `[kind, number, fields]`, a frame for each
array among its fields, and a frame for each table that goes with it. The number is that of the question that a message
asks or answers, 0 if it is neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tidelog.errors import InternalError, TidelogError
from tidelog.plain import dataclass, field
from tidelog.wire.codec import MalformedMessage, loads, read, split
from tidelog.wire.problems import Problem, diagnostics, problems
from tidelog.wire.tables import frame_of, table_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Message:
    """Anything that can be said."""


@dataclass(frozen=True)
class Hello(Message):
    """A worker is there, and listens to others at `address`. `epoch` is the one that it is in."""

    worker: int
    attempt: int
    address: str
    pid: int
    epoch: int = 0


@dataclass(frozen=True)
class Refused(Message):
    """A worker that cannot begin: its state cannot be opened, for instance."""

    worker: int
    attempt: int
    problems: list[Problem]


@dataclass(frozen=True)
class Beat(Message):
    """A sign of life: the process has so many bytes of memory. The answer is the same message."""

    worker: int
    attempt: int
    memory: int = 0


@dataclass(frozen=True)
class Done(Message):
    """What was asked for has been done."""


@dataclass(frozen=True)
class Failed(Message):
    """What was asked for has not been done, or the sender cannot go on. `internal` is what we have done wrong."""

    problems: list[Problem] = field(default_factory=list)
    internal: str = ""

    @staticmethod
    def because(problem: Exception) -> Failed:
        if isinstance(problem, TidelogError):
            return Failed(problems(problem.diagnostics))
        return Failed(internal=f"{type(problem).__name__}: {problem}")

    def error(self) -> Exception:
        if self.problems:
            return TidelogError(diagnostics(self.problems))
        return InternalError(f"the worker failed: {self.internal}")


class Parcel(NamedTuple):
    """A message as it comes in."""

    message: Message
    tables: list[pa.Table]
    number: int


class Messages:
    """The kinds of messages that a set of processes understands."""

    def __init__(self, *kinds: type[Message]) -> None:
        self._kinds = {kind.__name__: kind for kind in (Hello, Refused, Beat, Done, Failed, *kinds)}

    def frames(self, message: Message, tables: Sequence[pa.Table] = (), number: int = 0) -> list[Any]:
        """What goes over the socket."""
        kind = type(message)
        assert self._kinds.get(kind.__name__) is kind, f"{kind} is not among these messages"
        header, arrays = split((kind.__name__, number, message))
        return [header, *arrays, *map(frame_of, tables)]

    def parcel(self, frames: Sequence[Any]) -> Parcel:
        """What came over the socket; raises `MalformedMessage` if it is no message."""
        match loads(frames[0]) if frames else None:
            case [str() as kind, number, said] if kind in self._kinds:
                behind = iter(frames[1:])
                message: Message = read(self._kinds[kind], said, behind)
                return Parcel(message, [table_of(frame) for frame in behind], read(int, number))
        raise MalformedMessage("no message that is known here")
