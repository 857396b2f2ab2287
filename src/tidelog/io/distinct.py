"""The distinct texts of a column, and which of them each row has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tidelog.arrow import pc


def distinct_texts(column: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """The distinct texts, in order of first appearance, and for each row the number of its text."""
    if not len(column):
        return pa.array([], pa.string()), np.zeros(0, np.int32)
    coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    texts = coded.chunk(0).dictionary
    if any(not _same(chunk.dictionary, texts) for chunk in coded.chunks[1:]):
        coded = coded.unify_dictionaries()  # costs the whole dictionary for each chunk
        texts = coded.chunk(0).dictionary
    return texts, np.concatenate([chunk.indices.to_numpy() for chunk in coded.chunks])


def _same(a: pa.Array, b: pa.Array) -> bool:
    """Whether two arrays are the same memory."""
    if len(a) != len(b) or a.offset != b.offset or a.type != b.type:
        return False
    pairs = zip(a.buffers(), b.buffers(), strict=True)
    return all((x is None and y is None) or (x and y and x.address == y.address) for x, y in pairs)
