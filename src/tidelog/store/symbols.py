"""Symbols: texts and their dense ids, in order of first appearance.

What is always true: id i names exactly one text and no text has two ids. Cost: encoding a batch is one dictionary
encoding in Arrow plus a Python step per *distinct* text of the batch; decoding is one gather in Arrow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.store.memory import Array


class Symbols:
    """The symbol dictionary of a database."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._texts: list[str] = []
        self._arrow: Any = None

    def __len__(self) -> int:
        return len(self._texts)

    def id(self, text: str) -> int:
        """The id of a text, new if need be."""
        found = self._ids.get(text)
        if found is None:
            found = self._ids[text] = len(self._texts)
            self._texts.append(text)
        return found

    def find(self, text: str) -> int | None:
        """The id of a text that is known."""
        return self._ids.get(text)

    def text(self, symbol: int) -> str:
        return self._texts[symbol]

    def texts(self, ids: Any) -> list[str]:
        texts = self._texts
        return [texts[i] for i in np.asarray(ids).tolist()]

    def ids(self, texts: list[str]) -> Array:
        """The ids of many texts."""
        known = self._ids
        fresh = [t for t in dict.fromkeys(texts) if t not in known]
        first = len(self._texts)
        known.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        self._texts.extend(fresh)
        return np.fromiter(map(known.__getitem__, texts), np.int64, len(texts))

    def encode(self, array: Any) -> Array:
        """Ids of an Arrow array (or chunked array) of strings without nulls."""
        import pyarrow as pa

        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        encoded = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
        ids = self.ids(encoded.dictionary.to_pylist())
        return ids[np.asarray(encoded.indices)] if len(encoded) else np.zeros(0, np.int64)

    def decode(self, ids: Any) -> Any:
        """An Arrow array of the texts of some ids."""
        import pyarrow as pa

        if self._arrow is None or len(self._arrow) < len(self._texts):
            self._arrow = pa.array(self._texts, pa.large_string())
        return self._arrow.take(pa.array(np.ascontiguousarray(ids, np.int64)))
