"""What a small run needs of Arrow, without what it does not: Arrow's own start is a good part of such a run.

`pc` is `pyarrow.compute`, imported when the first of its functions is called: it makes a Python function, with its
documentation, for each of some 300 kernels (20 ms, 12 MB). `numbers` gives an array without asking numpy whether it is
a masked one, for which `pa.array` imports `numpy.ma` (7 ms, 4 MB).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa


class _Compute:
    """`pyarrow.compute`, from the first use on."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.compute

        found = getattr(pyarrow.compute, name)
        setattr(self, name, found)
        return found


pc: Any = _Compute()

FEW = 1000
"""Values that Python handles by itself before `pyarrow.compute` is imported."""


def numbers(words: np.ndarray, type: pa.DataType | None = None) -> pa.Array:
    """An array over the memory of a contiguous numpy array of numbers, of its own type or another of the same width."""
    kind = pa.from_numpy_dtype(words.dtype) if type is None else type
    return pa.Array.from_buffers(kind, len(words), [None, pa.py_buffer(words)])


def bytes_of(texts: pa.Array) -> list[bytes]:
    """The texts of an array, or of a dictionary's, as they lie in memory. There are no nulls in it."""
    if isinstance(texts, pa.DictionaryArray):
        distinct = bytes_of(texts.dictionary)
        return [distinct[code] for code in np.asarray(texts.indices).tolist()]
    if not len(texts):
        return []
    _, ends, data = texts.buffers()
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    offsets = np.frombuffer(ends, width)[texts.offset : texts.offset + len(texts) + 1].tolist()
    memory = memoryview(data) if data is not None else memoryview(b"")
    return [bytes(memory[a:b]) for a, b in pairwise(offsets)]


def texts_of(texts: list[bytes], large: bool = False) -> pa.Array:
    """An array of strings of these bytes; if it is `large`, with 64-bit offsets."""
    ends = np.zeros(len(texts) + 1, np.int64 if large else np.int32)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    kind = pa.LargeStringArray if large else pa.StringArray
    return kind.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts)))
