"""Records whose fields are numbers and symbols: whole columns of them at once.

Most records of real programs are such pairs and triples. Those that are written plainly, `[1, abc]`, are taken apart
by one regular expression over all of them; what is written otherwise is left to `record_text`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from tidelog.analysis.types import RecordType, Type
from tidelog.arrow import pc
from tidelog.io.numbers import ARROW_TYPES, float_texts
from tidelog.io.record_text import BLANKS, Quotes, base_type, symbol_text
from tidelog.values import Kind


class TextDictionary(Protocol):
    def encode(self, array: Any) -> Any: ...
    def decode(self, ids: Any) -> Any: ...


class RecordDictionary(Protocol):
    def pack(self, fields: Any) -> Any: ...
    def unpack(self, ids: Any, arity: int) -> Any: ...


class Dictionaries(Protocol):
    """What of a database the codec needs; `store.Database` is one."""

    @property
    def symbols(self) -> TextDictionary: ...
    @property
    def records(self) -> RecordDictionary: ...


_PLAIN = {Kind.NUMBER: "-?[0-9]{1,18}", Kind.UNSIGNED: "[0-9]{1,18}", Kind.SYMBOL: rf'(?:[^{BLANKS},\])"][^,\])]*)?'}


def is_flat(declared: Type) -> bool:
    """Whether it is a record type whose fields are not records."""
    return (
        isinstance(declared, RecordType)
        and bool(declared.types)
        and all(t.kind is not Kind.RECORD for t in declared.types)
    )


def simple_records(texts: pa.Array, declared: Type) -> tuple[np.ndarray, list[pa.Array]] | None:
    """Which texts are plainly written records, and the fields of those; None if the type is not that simple."""
    if not isinstance(declared, RecordType) or not declared.types or any(t.kind not in _PLAIN for t in declared.types):
        return None
    kinds = [t.kind for t in declared.types]
    groups = ", ".join(f"(?P<f{i}>{_PLAIN[kind]})" for i, kind in enumerate(kinds))
    found = pc.extract_regex(texts, rf"^\[{groups}\]$")
    matched = pc.is_valid(found).to_numpy(zero_copy_only=False)
    fields = found.filter(pa.array(matched))
    return matched, [pc.cast(fields.field(i), ARROW_TYPES[kind]) for i, kind in enumerate(kinds)]


def not_plain(texts: pa.Array, declared: Type) -> list[str]:
    """The texts that must be parsed to know whether they are records of the type."""
    simple = simple_records(texts, base_type(declared))
    return (texts if simple is None else texts.filter(pa.array(~simple[0]))).to_pylist()


def flat_texts(ids: np.ndarray, declared: Type, database: Dictionaries) -> pa.Array:
    """The texts of records, given by their distinct ids in order."""
    assert isinstance(declared, RecordType)
    has_nil = len(ids) > 0 and ids[0] == 0
    rows = np.asarray(database.records.unpack(ids[int(has_nil) :], len(declared.types)))
    pieces: list[Any] = ["["]
    for i, kind in enumerate(t.kind for t in declared.types):
        pieces += [_field_texts(np.ascontiguousarray(rows[:, i]), kind, database), ", "]
    pieces[-1] = "]"
    texts = pc.binary_join_element_wise(*pieces, "")
    return pa.concat_arrays([pa.array(["nil"]), texts]) if has_nil else texts


def _field_texts(words: np.ndarray, kind: Kind, database: Dictionaries) -> pa.Array:
    if kind is Kind.FLOAT:
        return float_texts(words.view(np.float64))
    if kind is Kind.SYMBOL:
        return _symbol_texts(words, database)
    return pc.cast(pa.array(words).view(ARROW_TYPES[kind]), pa.string())


def _symbol_texts(words: np.ndarray, database: Dictionaries) -> pa.Array:
    distinct, codes = np.unique(words, return_inverse=True)
    texts = [symbol_text(t, Quotes.NEEDED) for t in database.symbols.decode(distinct).to_pylist()]
    return pa.array(texts, pa.string()).take(pa.array(codes.reshape(-1)))
