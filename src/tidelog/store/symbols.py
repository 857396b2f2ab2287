"""Symbols: texts and their dense ids, in order of first appearance.

What is always true: id i names exactly one text and no text has two ids. Cost: encoding a batch is one dictionary
encoding in Arrow plus a Python step per *distinct* text of the batch; decoding is one gather in Arrow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.store.memory import Array


class _Ids(dict[str, int]):
    """Text -> id; looking an unknown text up gives it the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self.texts)
        self.texts.append(text)
        return number


class Symbols:
    """The symbol dictionary of a database."""

    def __init__(self) -> None:
        self._ids = _Ids()
        self._texts = self._ids.texts
        self._arrow: Any = None

    def __len__(self) -> int:
        return len(self._texts)

    def id(self, text: str) -> int:
        """The id of a text, new if need be."""
        return self._ids[text]

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
        return np.fromiter(map(self._ids.__getitem__, texts), np.int64, len(texts))

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
