"""Memory that threads of Arrow may be the last to hold.

A thread of Arrow's pool lets go of what it has read after the call that asked for it has returned; at the end of a
process that can be after the interpreter has gone. If the memory is a Python object's, the thread then asks for the
interpreter's lock, is ended in the middle of a destructor, and the process is aborted. So whatever Arrow reads with
threads is a file, or a copy in memory of Arrow's own; and what it groups or joins has `use_threads=False`, because
columns made from numpy arrays are numpy's memory.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def reader_of(data: bytes) -> pa.BufferReader:
    """A file of these bytes that does not hold them: a copy, at the speed of memory."""
    copy = pa.allocate_buffer(len(data))
    np.frombuffer(copy, np.uint8)[:] = np.frombuffer(data, np.uint8)
    return pa.BufferReader(copy)
