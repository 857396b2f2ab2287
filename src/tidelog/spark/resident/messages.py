"""What the driver, the workers and the tasks say to each other.

A message is one of the classes below, sent as a frame of JSON, and behind it frames of Arrow IPC for the tables that
go with it. Nothing that comes from a socket is unpickled or evaluated: a frame that is not the JSON of a known message
with fields of the right types raises `Malformed`, and its sender is not answered.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

import pyarrow as pa

from tidelog.errors import Diagnostic, TidelogError
from tidelog.spark.packed import packed, unpacked

Frames: TypeAlias = list[bytes]


class Malformed(Exception):
    """Frames that are no message."""


@dataclass(frozen=True)
class Message:
    """Anything that can be said."""


# ---- worker to driver


@dataclass(frozen=True)
class Hello(Message):
    """A worker is there, and takes and gives tables at `address`. `epoch` is that of the state it has opened."""

    worker: int
    attempt: int
    address: str
    pid: int
    epoch: int


@dataclass(frozen=True)
class Refused(Message):
    """A worker that cannot begin: its state cannot be opened, for instance."""

    worker: int
    attempt: int
    diagnostics: list[dict[str, Any]]


@dataclass(frozen=True)
class Beat(Message):
    """I am alive; the answer is the same message. A worker that evaluates also says how far it is: the stratum, of how
    many, its relations; the iteration and the tuples in it."""

    worker: int
    attempt: int
    stratum: list[Any] = field(default_factory=list)
    iteration: int = 0
    tuples: int = 0


@dataclass(frozen=True)
class Done(Message):
    """A command was carried out; what there is to say about it."""

    command: int
    result: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed(Message):
    """A command was not carried out, and nothing has changed."""

    command: int
    diagnostics: list[dict[str, Any]]
    internal: str = ""


# ---- driver to worker


@dataclass(frozen=True)
class Bootstrap(Message):
    """Begin with the facts that tasks have put (in `parts`, or in a `gathering`) and with the tables behind this
    message. The worker takes the place of one that had ended so many epochs `before`."""

    command: int
    parts: dict[str, list[str]]
    relations: list[str]
    before: int = 0
    gathering: str = ""


@dataclass(frozen=True)
class Update(Message):
    """The next epoch. The tables behind this message belong to `deleted`, then to `inserted`, in order."""

    command: int
    delete_parts: dict[str, list[str]]
    insert_parts: dict[str, list[str]]
    deleted: list[str]
    inserted: list[str]
    clear: list[str]
    batch: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Query(Message):
    command: int
    name: str
    text: str


@dataclass(frozen=True)
class Count(Message):
    """How many tuples has a relation? Or, how many facts were `given`?"""

    command: int
    relation: str
    given: bool = False


@dataclass(frozen=True)
class Recall(Message):
    """What did the last epoch do? For a driver whose worker was lost after the epoch had become durable."""

    command: int


@dataclass(frozen=True)
class Close(Message):
    command: int


# ---- tasks to a worker's exchange


@dataclass(frozen=True)
class Put(Message):
    """Facts for a relation, one table behind this message; `part` names a task's attempt. Those of a `gathering` can be
    entered at once: they are among about so many that are `expected`."""

    part: str
    relation: str
    gathering: str = ""
    expected: int = 0


@dataclass(frozen=True)
class Get(Message):
    """Some rows of what `source` names, as it was in `epoch`."""

    source: str
    epoch: int
    start: int
    stop: int


@dataclass(frozen=True)
class Taken(Message):
    """A table was put."""

    part: str


KINDS = {
    kind.__name__: kind
    for kind in (
        Hello, Refused, Beat, Done, Failed, Bootstrap, Update, Query, Count, Recall, Close, Put, Get, Taken,
    )
}  # fmt: skip


def frames_of(message: Message, tables: Sequence[pa.Table] = ()) -> list[Any]:
    """What goes over the socket."""
    header = json.dumps({"kind": type(message).__name__} | asdict(message)).encode()
    return [header, *(_ipc(table) for table in tables)]


def message_of(frames: Sequence[bytes]) -> tuple[Message, list[pa.Table]]:
    """What came over the socket."""
    try:
        said = json.loads(frames[0])
        kind = KINDS[said.pop("kind")]
        hints = get_type_hints(kind)
        if said.keys() - hints.keys() or not all(_fits(value, hints[name]) for name, value in said.items()):
            raise Malformed(f"fields of {kind.__name__}")
        return kind(**said), [pa.ipc.open_stream(frame).read_all() for frame in frames[1:]]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, pa.ArrowException) as problem:
        raise Malformed(str(problem)) from None


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint) or hint
    if origin is Any:
        return True
    if not isinstance(value, origin) or (origin is int and isinstance(value, bool)):
        return False
    inner = get_args(hint)
    if origin is dict:
        return all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    return origin is not list or all(_fits(v, inner[0]) for v in value)


def _ipc(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


# ---- errors


def refusal(worker: int, attempt: int, problem: TidelogError) -> Refused:
    return Refused(worker, attempt, [packed(d) for d in problem.diagnostics])


def failure(command: int, problem: Exception) -> Failed:
    """An error on its way to the driver."""
    if isinstance(problem, TidelogError):
        return Failed(command, [packed(d) for d in problem.diagnostics])
    return Failed(command, [], f"{type(problem).__name__}: {problem}")


def diagnostics_of(failed: Failed | Refused) -> list[Diagnostic]:
    return [unpacked(d) for d in failed.diagnostics]
