"""Symbols and records: equal things have equal ids, whatever the batches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tidelog.store import Database


def test_symbols_keep_their_ids_across_batches() -> None:
    symbols = Database().symbols
    first = symbols.encode(pa.array(["b", "a", "b"]))
    second = symbols.encode(pa.chunked_array([["c"], ["a"]]))
    assert first.tolist() == [0, 1, 0]
    assert second.tolist() == [2, 1]
    assert symbols.decode(np.array([2, 0])).to_pylist() == ["c", "b"]
    assert symbols.id("c") == 2
    assert symbols.find("d") is None
    assert symbols.encode(pa.array([], pa.string())).tolist() == []


def test_equal_records_have_equal_ids_and_nil_is_none_of_them() -> None:
    records = Database(chunk=2, initial_capacity=1).records
    ids = records.pack([[1, 2], [3, 4], [1, 2], [2**40, -1]])
    assert ids.tolist() == [1, 2, 1, 3]
    assert records.pack([[3, 4]]).tolist() == [2]
    assert records.unpack(ids, 2).tolist() == [[1, 2], [3, 4], [1, 2], [2**40, -1]]
    assert records.pack([[1]]).tolist() == [1]


def test_no_record_is_taken_for_nil_even_after_growth() -> None:
    records = Database(chunk=8, initial_capacity=1).records
    many = [[0, 0], [-(2**31), -(2**31)], *([i, i] for i in range(1, 500))]
    ids = records.pack(many)
    assert ids.tolist() == list(range(1, 502))
    assert records.pack(many).tolist() == ids.tolist()
    assert records.pack(np.zeros((2, 0))).tolist() == [1, 1]
