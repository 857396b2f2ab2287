"""Symbols: texts and their dense ids, in order of first appearance.

What it holds: the bytes of all texts, one behind the other, where each ends, and a hash table; as Arrow holds a column
of texts, so that decoding is a gather in Arrow without a copy before it. What is always true: id i names exactly one
text and no text has two ids. Cost: the bytes of a text, 8 for its end and 12 to 24 in the table; encoding is one
call of a kernel per batch (see `kernels/texts.py`).
"""

from __future__ import annotations

from ctypes import addressof
from typing import Any

import numpy as np

from tidelog.store import codes
from tidelog.store.blocks import SymbolsBlock
from tidelog.store.memory import Array, Growable, address, zeros
from tidelog.store.native import Kernels

FULLEST = 0.65
SLACK = 8  # bytes behind the last text that a copy may overwrite


class Symbols:
    """The symbol dictionary of a database."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self.block = SymbolsBlock()
        self.address = addressof(self.block)
        self._bytes = Growable(1, True, 128)
        self._ends = Growable(1, True, 64)
        self._ends.data[0] = 0
        self._publish(bits=6)

    def _publish(self, bits: int) -> None:
        """Tell the kernels where everything lies; a table of another size is filled anew."""
        if self.block.bits != bits:
            self._table = zeros(1 << bits)
            self.block.bits = bits
        self.block.table = address(self._table)
        self.block.bytes = address(self._bytes.data)
        self.block.capacity = self._bytes.capacity * 8
        self.block.ends = address(self._ends.data)
        self.block.limit = min(self._ends.capacity - 1, int((1 << bits) * FULLEST))

    def _grow(self, room: int) -> None:
        """Make room for one more text of so many bytes, and for many more of its like."""
        count, used = len(self), self._used
        bits = self.block.bits
        try:
            self._ends.grow(count + 1, count + 2)
            self._bytes.grow(-(-used // 8), -(-(used + room + SLACK) // 8))
        finally:
            self._publish(bits)
        if count >= int((1 << bits) * FULLEST):
            self._publish(bits + 2)
            self._kernels.rehash_texts(self.address)

    @property
    def _used(self) -> int:
        return int(self._ends.data[len(self), 0])

    def __len__(self) -> int:
        return self.block.count

    def id(self, text: str) -> int:
        """The id of a text, new if need be."""
        return int(self._number_one(text))

    def find(self, text: str) -> int | None:
        """The id of a text that is known."""
        self.block.frozen = 1
        try:
            found = self._number_one(text)
        finally:
            self.block.frozen = 0
        return found if found >= 0 else None

    def _number_one(self, text: str) -> int:
        data = text.encode("utf-8", "surrogateescape")
        return int(self._number(np.frombuffer(data or b"\0", np.uint8), np.array([0, len(data)]), 1)[0])

    def text(self, symbol: int) -> str:
        return self._bytes_of(symbol).decode("utf-8", "surrogateescape")

    def _bytes_of(self, symbol: int) -> bytes:
        start, stop = self._ends.data[symbol : symbol + 2, 0].tolist()
        return self._bytes.data.view(np.uint8).reshape(-1)[start:stop].tobytes()

    def memory(self) -> int:
        """Bytes in use."""
        return int(self._ends.data[len(self), 0]) + 8 * len(self) + int(self._table.nbytes)

    def lengths(self, symbols: Array) -> Array:
        """How many bytes each of these texts has."""
        ends: Array = self._ends.data[:, 0]
        return ends[symbols + 1] - ends[symbols]

    def encode(self, array: Any) -> Array:
        """Ids of an Arrow array (or chunked array) of strings without nulls."""
        import pyarrow as pa

        if isinstance(array, pa.ChunkedArray):
            return np.concatenate([np.zeros(0, np.int64), *map(self.encode, array.chunks)])
        if isinstance(array, pa.DictionaryArray):
            return self.encode(array.dictionary)[np.asarray(array.indices)]
        if len(array) == 0:
            return np.zeros(0, np.int64)
        width = np.int64 if pa.types.is_large_string(array.type) else np.int32
        _, ends, data = array.buffers()
        offsets = np.frombuffer(ends, width)[array.offset : array.offset + len(array) + 1]
        texts = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        return self._number(texts, offsets, len(array))

    def since(self, first: int) -> tuple[Array, Array]:
        """The texts from an id on: their bytes, one behind the other, and where each begins and the last ends."""
        places: Array = self._ends.data[first : len(self) + 1, 0]
        data: Array = self._bytes.data.view(np.uint8).reshape(-1)[int(places[0]) : int(places[-1])]
        return data.copy(), places - places[0]

    def encode_places(self, data: Any, places: Any) -> Array:
        """Ids of the texts data[begin:end] for the rows (begin, end) of `places`."""
        return self._number(data, places, len(places))

    def _number(self, data: Any, places: Any, n: int) -> Array:
        """The ids of the texts in these places of data; new ones get the next ids unless frozen."""
        ids = np.empty(n, np.int64)
        kind = codes.PAIRS if places.ndim == 2 else codes.WIDE_OFFSETS if places.itemsize == 8 else codes.OFFSETS
        done = 0
        while True:
            done += self._kernels.number_texts(
                self.address, address(data), address(places) + done * places.strides[0], kind,
                n - done, address(ids) + done * 8,
            )  # fmt: skip
            if done == n:
                return ids
            begin, end = places[done] if kind == codes.PAIRS else places[done : done + 2]
            self._grow(int(end) - int(begin))

    def decode(self, ids: Any) -> Any:
        """An Arrow array of the texts of some ids. Another thread may add texts meanwhile."""
        import pyarrow as pa

        from tidelog.arrow import FEW, texts_of

        if len(ids) <= FEW:
            return texts_of([self._bytes_of(symbol) for symbol in np.asarray(ids).tolist()], large=True)
        count = len(self)  # first: what is replaced later has at least as many
        ends, data = (pa.py_buffer(part.data[: part.capacity]) for part in (self._ends, self._bytes))
        texts = pa.LargeStringArray.from_buffers(count, ends, data)
        return texts.take(pa.array(np.ascontiguousarray(ids, np.int64)))
