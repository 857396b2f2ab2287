"""Between Arrow tables and the words of the store.

A word is 64 bits: a number is itself, unsigned numbers and floats are their bits, a symbol is its id in the
database's dictionary, a record is its id among the database's records, nil is 0. A value of an ADT whose branches
all lack fields is its branch's tag; of any other ADT it is the record of the tag and the fields, with zeros behind
them so that all branches of the type have the same width (records of different widths are numbered separately: an
id alone would not say whose it is). Each distinct record is parsed and printed once, not once per row.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tidelog import room
from tidelog.analysis.types import AdtType, RecordType, RelationInfo, Type, TypeSystem
from tidelog.arrow import numbers as arrow_numbers
from tidelog.arrow import pc
from tidelog.errors import error
from tidelog.floats import float_words
from tidelog.io.distinct import distinct_texts
from tidelog.io.flat_records import Dictionaries, flat_texts, is_flat, simple_records
from tidelog.io.numbers import ARROW_TYPES
from tidelog.io.record_text import (
    Made,
    MalformedRecord,
    Opened,
    Quotes,
    base_type,
    leaf_text,
    opened_branch,
    opened_record,
    parse,
    render,
)
from tidelog.io.record_values import python_value, text_of_python
from tidelog.io.tables import nullary_table
from tidelog.values import Kind, canonical


def record_width(declared: RecordType | AdtType) -> int:
    """How many words the record of a value of this type has."""
    if isinstance(declared, RecordType):
        return len(declared.types)
    return declared.width


def encode(table: pa.Table, info: RelationInfo, types: TypeSystem, database: Dictionaries) -> np.ndarray:
    """The words of a table's rows: int64[n, arity]. The table is as `read_facts` and `table_of` make it."""
    room.ensure(table.num_rows * info.arity * 8)
    words = np.empty((table.num_rows, info.arity), np.int64)
    for i, kind in enumerate(info.kinds):
        words[:, i] = encode_column(table.column(i), kind, types.types[info.types[i]], database)
    return words


def encode_column(column: pa.ChunkedArray, kind: Kind, declared: Type, database: Dictionaries) -> np.ndarray:
    """The words of one column; of a number column without a copy, if it is in one piece."""
    if kind is Kind.SYMBOL and not pa.types.is_dictionary(column.type):
        return np.asarray(database.symbols.encode(column))
    if kind in (Kind.SYMBOL, Kind.RECORD):
        texts, codes = distinct_texts(column)
        ids = database.symbols.encode(texts) if kind is Kind.SYMBOL else _packed(texts, declared, database)
        return np.asarray(ids)[codes]
    return _number_words(column.to_numpy(), kind)


def _number_words(values: np.ndarray, kind: Kind) -> np.ndarray:
    return float_words(values) if kind is Kind.FLOAT else values.view(np.int64)


def decode(
    array: np.ndarray, info: RelationInfo, types: TypeSystem, database: Dictionaries, compact: bool = False
) -> pa.Table:
    """The table that words stand for. With `compact`, columns of text are Arrow dictionaries, which takes less."""
    if not info.arity:
        return nullary_table(len(array) > 0)
    room.ensure(len(array) * info.arity * 8)
    array = np.asarray(array)
    columns = [
        decode_column(array[:, i], kind, types.types[info.types[i]], database, compact)
        for i, kind in enumerate(info.kinds)
    ]
    return pa.table(columns, names=list(info.attributes))


def decode_column(
    column: np.ndarray, kind: Kind, declared: Type, database: Dictionaries, compact: bool = False
) -> pa.ChunkedArray:
    words = np.ascontiguousarray(column, np.int64)
    if kind not in (Kind.SYMBOL, Kind.RECORD):
        return pa.chunked_array([arrow_numbers(words, ARROW_TYPES[kind])])
    if kind is Kind.SYMBOL and not compact:
        parts = (words[start : start + _CHUNK] for start in range(0, max(len(words), 1), _CHUNK))
        return pa.chunked_array([pc.cast(database.symbols.decode(part), pa.string()) for part in parts])
    distinct, codes = _distinct(words) if kind is Kind.SYMBOL else np.unique(words, return_inverse=True)
    texts = database.symbols.decode(distinct) if kind is Kind.SYMBOL else _texts(distinct, declared, database)
    coded = pa.DictionaryArray.from_arrays(arrow_numbers(codes.reshape(-1)), texts)
    return pa.chunked_array([coded] if compact else _expanded(coded))


def _distinct(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids, and for each id which of those it is. Symbol ids are dense, so no sort is needed."""
    used = np.zeros(int(ids.max(initial=0)) + 1, bool)
    used[ids] = True
    numbers = np.cumsum(used, dtype=np.int32 if len(used) < 2**31 else np.int64) - 1
    return np.flatnonzero(used), numbers[ids]


_CHUNK = 1 << 20


def _expanded(coded: pa.DictionaryArray) -> list[pa.Array]:
    parts = [coded.indices.slice(start, _CHUNK) for start in range(0, len(coded), _CHUNK)] or [coded.indices]
    return [pc.cast(coded.dictionary.take(part), pa.string()) for part in parts]


def record_values(words: np.ndarray, declared: Type, database: Dictionaries) -> list[Any]:
    """Records and branches as Python has them: tuples, as `record_words` takes them."""
    texts = _texts(words, base_type(declared), database).to_pylist()
    return [parse(text, declared, python_value) for text in texts]


def record_words(values: Iterable[Any], declared: Type, database: Dictionaries) -> np.ndarray:
    """The words of records and branches given as Python values; ValueError says what does not fit."""
    return _packed(pa.array([text_of_python(value, declared) for value in values], pa.string()), declared, database)


class _Packer:
    """Makes records of parsed values: collects all of them first, then packs those of one depth and width at once."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []  # the words of each record, zeros where a symbol or record is yet to come
        self.depths: list[int] = []
        self.symbols: dict[str, list[tuple[int, int]]] = defaultdict(list)  # text -> (record, field)
        self.inner: dict[int, list[tuple[int, int]]] = defaultdict(list)  # record -> (field, record)

    def make(self, made: Made, values: list[Any]) -> int:
        """A record, by its number among those collected; for an enumeration, the tag itself."""
        if isinstance(made, RecordType):
            fields, row, width = made.types, [], len(values)
        else:
            if made.adt.is_enum:
                return made.tag
            fields, row, width = made.types, [made.tag], record_width(made.adt)
        number, depth = len(self.rows), 0
        for declared, value in zip(fields, values, strict=True):
            word = 0
            kind = base_type(declared)
            if kind.kind is Kind.SYMBOL:
                self.symbols[value].append((number, len(row)))
            elif kind.kind is not Kind.RECORD:
                word = _word(kind.kind, value)
            elif isinstance(kind, AdtType) and kind.is_enum:
                word = value
            elif value is not None:
                self.inner[number].append((len(row), value))
                depth = max(depth, self.depths[value] + 1)
            row.append(word)
        self.rows.append(row + [0] * (width - len(row)))
        self.depths.append(depth)
        return number

    def ids(self, database: Dictionaries) -> np.ndarray:
        """The ids of all records, in the order of their numbers."""
        if self.symbols:
            words = database.symbols.encode(pa.array(list(self.symbols), pa.string()))
            for places, word in zip(self.symbols.values(), words.tolist(), strict=True):
                for number, field in places:
                    self.rows[number][field] = word
        groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, depth in enumerate(self.depths):
            groups[depth, len(self.rows[number])].append(number)
        ids: list[int] = [0] * len(self.rows)
        for (_, width), numbers in sorted(groups.items()):
            for number in numbers:
                for field, child in self.inner.get(number, ()):
                    self.rows[number][field] = ids[child]
            rows = np.array([self.rows[n] for n in numbers], np.int64).reshape(len(numbers), width)
            for number, found in zip(numbers, np.asarray(database.records.pack(rows)).tolist(), strict=True):
                ids[number] = found
        return np.array(ids, np.int64)


def _word(kind: Kind, value: int | float) -> int:
    if kind is Kind.FLOAT:
        return int(struct.unpack("<q", struct.pack("<d", canonical(value)))[0])
    return value - 2**64 if value >= 2**63 else int(value)  # type: ignore[return-value]


def _packed(texts: pa.Array, declared: Type, database: Dictionaries) -> np.ndarray:
    """The words of records and branches given as text."""
    simple = simple_records(texts, base_type(declared))
    if simple is None:
        return _packed_each(texts.to_pylist(), declared, database)
    matched, columns = simple
    words = np.zeros(len(texts), np.int64)
    rows = [database.symbols.encode(c) if c.type == pa.string() else _field_words(c) for c in columns]
    words[matched] = database.records.pack(np.column_stack(rows))
    if not matched.all():
        words[~matched] = _packed_each(texts.filter(pa.array(~matched)).to_pylist(), declared, database)
    return words


def _field_words(column: pa.Array) -> np.ndarray:
    return _number_words(column.to_numpy(), Kind.FLOAT if pa.types.is_floating(column.type) else Kind.NUMBER)


def _packed_each(texts: Sequence[str], declared: Type, database: Dictionaries) -> np.ndarray:
    packer = _Packer()
    try:
        numbers = [parse(text, declared, packer.make) for text in texts]
    except MalformedRecord as problem:
        raise error("TL0635", f"a text that is not a `{declared.name}`: {problem}") from None
    kind = base_type(declared)
    if isinstance(kind, AdtType) and kind.is_enum:
        return np.array(numbers, np.int64)
    ids = packer.ids(database)
    return np.array([0 if number is None else ids[number] for number in numbers], np.int64)


def _texts(ids: np.ndarray, declared: Type, database: Dictionaries) -> pa.Array:
    """The texts of the distinct words of a column of records or branches."""
    root = base_type(declared)
    if is_flat(root):
        return flat_texts(ids, root, database)
    fields = _reachable(ids, root, database)
    symbols = _symbols_in(fields, database)
    print_leaf = leaf_text(Quotes.NEEDED)

    def take_apart(kind: Type, word: int) -> Opened | str:
        if isinstance(kind, RecordType):
            return "nil" if word == 0 else opened_record(kind, fields[kind][word])
        assert isinstance(kind, AdtType)
        if kind.is_enum:
            return f"${_branch(kind, word).name}"
        row = fields[kind][word]
        return opened_branch(_branch(kind, row[0]), row[1:])

    def leaf(kind: Kind, word: int) -> str:
        if kind is Kind.SYMBOL:
            return print_leaf(kind, symbols[word])
        if kind is Kind.FLOAT:
            return print_leaf(kind, struct.unpack("<d", struct.pack("<q", word))[0])
        return str(word % 2**64 if kind is Kind.UNSIGNED else word)

    return pa.array([render(root, word, take_apart, leaf) for word in ids.tolist()], pa.string())


Fields = dict[Type, dict[int, list[int]]]


def _reachable(ids: np.ndarray, root: Type, database: Dictionaries) -> Fields:
    """The fields of all records reachable from some, by type and id; each generation is unpacked at once."""
    known: Fields = defaultdict(dict)
    todo: dict[Type, set[int]] = {root: set(ids.tolist())}
    while todo:
        following: dict[Type, set[int]] = defaultdict(set)
        for kind, wanted in todo.items():
            if isinstance(kind, AdtType) and kind.is_enum:
                continue
            assert isinstance(kind, (RecordType, AdtType))
            fresh = [i for i in wanted if i not in known[kind] and i != 0]
            if not fresh:
                continue
            rows = np.asarray(database.records.unpack(np.array(fresh, np.int64), record_width(kind))).tolist()
            known[kind].update(zip(fresh, rows, strict=True))
            for inner, word in _inner(kind, rows):
                following[inner].add(word)
        todo = following
    return known


def _inner(kind: RecordType | AdtType, rows: Iterable[list[int]]) -> Iterable[tuple[Type, int]]:
    """The records inside of records."""
    if isinstance(kind, RecordType):
        places = _record_fields(kind.types, 0)
        return [(inner, row[at]) for at, inner in places for row in rows]
    by_tag = {b.tag: _record_fields(b.types, 1) for b in kind.branches.values()}
    return [(inner, row[at]) for row in rows for at, inner in by_tag[row[0]]]


def _record_fields(types: Sequence[Type], first: int) -> list[tuple[int, Type]]:
    found = [(at, base_type(t)) for at, t in enumerate(types, first)]
    return [(at, t) for at, t in found if t.kind is Kind.RECORD]


def _symbols_in(fields: Fields, database: Dictionaries) -> dict[int, str]:
    """The texts of all symbols in these records."""
    words: set[int] = set()
    for kind, rows in fields.items():
        if isinstance(kind, RecordType):
            places = [at for at, t in enumerate(kind.types) if t.kind is Kind.SYMBOL]
            words.update(row[at] for at in places for row in rows.values())
        elif isinstance(kind, AdtType):
            by_tag = {
                b.tag: [at for at, t in enumerate(b.types, 1) if t.kind is Kind.SYMBOL] for b in kind.branches.values()
            }
            words.update(row[at] for row in rows.values() for at in by_tag[row[0]])
    ids = sorted(words)
    return dict(zip(ids, database.symbols.decode(np.array(ids, np.int64)).to_pylist(), strict=True)) if ids else {}


def _branch(adt: AdtType, tag: int) -> Any:
    return next(b for b in adt.branches.values() if b.tag == tag)
