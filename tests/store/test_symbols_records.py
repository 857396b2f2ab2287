"""Symbols and records: equal things have equal ids, whatever the batches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from strategies.budget import examples
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


TEXTS = st.lists(st.one_of(st.text(max_size=20), st.sampled_from(["", "a", "a\0", "1234567", "12345678", "é" * 9])))


@examples(200)
@given(st.lists(TEXTS, max_size=4), st.sampled_from([pa.string(), pa.large_string()]), st.integers(0, 3))
def test_every_text_has_the_number_of_its_first_appearance(
    batches: list[list[str]], width: pa.DataType, skipped: int
) -> None:
    symbols = Database().symbols
    known: dict[str, int] = {}
    for batch in batches:
        array = pa.array(batch, width)[skipped:]
        wanted = [known.setdefault(text, len(known)) for text in batch[skipped:]]
        assert symbols.encode(array).tolist() == wanted
        assert symbols.encode(array.dictionary_encode()).tolist() == wanted
    assert len(symbols) == len(known)
    assert symbols.decode(list(known.values())).to_pylist() == list(known)
    assert [symbols.text(number) for number in known.values()] == list(known)
    assert [symbols.find(text) for text in known] == list(known.values())
    assert symbols.find("nobody knows this one") is None


def test_many_texts_of_many_lengths_are_told_apart() -> None:
    symbols = Database().symbols
    texts = [f"{'x' * (n % 40)}{n}" for n in range(30_000)]
    assert symbols.encode(pa.array(texts)).tolist() == list(range(30_000))
    assert symbols.encode(pa.array(texts[::-1])).tolist() == list(range(30_000))[::-1]
    assert symbols.decode(np.arange(30_000)).to_pylist() == texts


def test_bytes_that_are_no_text_keep_their_identity() -> None:
    symbols = Database().symbols
    assert [symbols.id("\udcff"), symbols.id("ÿ"), symbols.id("\udcff")] == [0, 1, 0]
    assert symbols.text(0) == "\udcff"


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


def test_ids_stay_when_more_records_of_their_arity_are_made() -> None:
    records = Database().records
    first = records.pack([[1, 2], [3, 4]])
    assert records.pack([[5, 6], [3, 4], [7, 8]]).tolist() == [3, 2, 4]
    assert first.tolist() == [1, 2]
