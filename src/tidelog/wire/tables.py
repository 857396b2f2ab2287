"""Tables as frames of a message: Arrow's streaming format, which is read where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidelog.wire.codec import MalformedMessage

if TYPE_CHECKING:
    import pyarrow as pa


def frame_of(table: pa.Table) -> pa.Buffer:
    import pyarrow as pa  # who sends no tables does not wait for it

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def table_of(frame: bytes) -> pa.Table:
    import pyarrow as pa

    try:
        return pa.ipc.open_stream(frame).read_all()
    except (ValueError, OSError, pa.ArrowException) as problem:
        raise MalformedMessage(str(problem)) from None
