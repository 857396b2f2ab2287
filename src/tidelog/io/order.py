"""A repeatable order for results: by the first column, then the second, …; numbers by value, symbols by their text.

Soufflé writes tuples in the order of its B-trees, where symbols are sorted by when they were first seen; for numbers
this is the same order. Each column is turned into codes that sort as its values do; when the codes of a row fit into
64 bits together, one sort of plain integers does it all, several times faster than sorting rows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tidelog.arrow import FEW, bytes_of, numbers, pc, texts_of
from tidelog.io.distinct import distinct_texts
from tidelog.plain import dataclass

_CHUNK = 1 << 20


@dataclass
class Coded:
    """A column as unsigned codes in the order of its values. A code's value is `lowest + code`, or `values[code]`."""

    codes: np.ndarray
    bits: int
    lowest: int = 0
    values: pa.Array | None = None
    type: pa.DataType | None = None

    def decoded(self, codes: np.ndarray) -> pa.Array:
        """The column for other codes; texts stay a dictionary, because all of them together may be very large."""
        if self.values is None:
            with np.errstate(over="ignore"):
                words = codes + np.uint64(self.lowest % 2**64)
            return numbers(words, self.type)
        indices = numbers(codes.astype(np.int32 if len(self.values) < 2**31 else np.int64))
        return pa.DictionaryArray.from_arrays(indices, self.values)


def places_in_order(column: pa.ChunkedArray) -> np.ndarray:
    """The places of a column's values, from the first in order to the last."""
    return np.argsort(_coded(column).codes, kind="stable")


def sorted_table(table: pa.Table) -> pa.Table:
    """The table in order; columns of text and floats become dictionaries."""
    if table.num_columns == 0:
        return table
    coded = [_coded(column) for column in table.columns]
    if sum(c.bits for c in coded) <= 64:
        columns = _sorted_packed(coded)
    else:
        order = np.lexsort([c.codes for c in reversed(coded)])
        columns = [c.codes[order] for c in coded]
    arrays = [c.decoded(codes) for c, codes in zip(coded, columns, strict=True)]
    return pa.table(arrays, names=table.column_names)


def _sorted_packed(coded: list[Coded]) -> list[np.ndarray]:
    keys = np.zeros(len(coded[0].codes), np.uint64)
    for column in coded:
        if column.bits < 64:
            keys <<= np.uint64(column.bits)
        keys |= column.codes
    keys.sort()
    columns = []
    for column in reversed(coded):
        columns.append(keys & np.uint64(2**column.bits - 1))
        if column.bits < 64:
            keys = keys >> np.uint64(column.bits)
    return columns[::-1]


def _coded(column: pa.ChunkedArray) -> Coded:
    if pa.types.is_integer(column.type):
        return _coded_integers(column)
    if pa.types.is_floating(column.type):
        values, codes = np.unique(column.to_numpy(), return_inverse=True)
        return Coded(codes.reshape(-1).astype(np.uint64), _bits(len(values)), values=numbers(values))
    if len(column) <= FEW:
        return _coded_few(column)
    texts, codes = distinct_texts(column)
    texts = _shorter(texts)
    order = pc.sort_indices(texts)
    ranks = np.empty(len(texts), np.uint64)
    ranks[order.to_numpy()] = np.arange(len(texts), dtype=np.uint64)
    return Coded(ranks[codes], _bits(len(texts)), values=texts.take(order))


def _coded_few(column: pa.ChunkedArray) -> Coded:
    """The same, in Python. Texts are in the order of their bytes, as Arrow's are."""
    texts = [b for chunk in column.chunks for b in bytes_of(chunk)]
    values = sorted(set(texts))
    ranks = {text: rank for rank, text in enumerate(values)}
    codes = np.fromiter((ranks[text] for text in texts), np.uint64, len(texts))
    return Coded(codes, _bits(len(values)), values=texts_of(values))


def _coded_integers(column: pa.ChunkedArray) -> Coded:
    words = column.to_numpy()
    if not len(words):
        return Coded(np.zeros(0, np.uint64), 0, type=column.type)
    lowest, highest = int(words.min()), int(words.max())
    codes = words.view(np.uint64) - np.uint64(lowest % 2**64)
    return Coded(codes, (highest - lowest).bit_length(), lowest, type=column.type)


def _shorter(texts: pa.Array) -> pa.Array:
    """With 32-bit offsets if these suffice."""
    return pc.cast(texts, pa.string()) if texts.nbytes < 2**31 else texts


def _bits(distinct: int) -> int:
    return max(distinct - 1, 0).bit_length()


def plain(table: pa.Table) -> pa.Table:
    """The table with values where `sorted_table` left dictionaries, in chunks that no text overflows."""
    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type) and column.num_chunks:
            whole = column.chunk(0)
            parts = [whole.slice(start, _CHUNK) for start in range(0, len(whole), _CHUNK)]
            column = pa.chunked_array([p.dictionary.take(p.indices) for p in parts], whole.dictionary.type)
        columns.append(column)
    return pa.table(columns, names=table.column_names) if columns else table
