"""Tables as words of the store, and back, with the store itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from io_support import StandIn

from tidelog.errors import TidelogError
from tidelog.io import decode, encode, table_of


@pytest.fixture(params=["stand-in", "store"])
def database(request):
    if request.param == "stand-in":
        return StandIn()
    return pytest.importorskip("tidelog.store.database").Database()


def test_numbers_are_themselves_and_others_their_bits(declared, database):
    info, types, _ = declared(".decl r(n: number, u: unsigned, f: float)")
    table = table_of([(-1, 2**64 - 1, 1.0), (5, 7, -0.0)], info)
    words = encode(table, info, types, database)
    assert words.dtype == np.int64
    assert words.tolist() == [[-1, -1, 0x3FF0000000000000], [5, 7, 0]]  # there is one zero
    assert decode(words, info, types, database).equals(table)


def test_equal_symbols_have_equal_words(declared, database):
    info, types, _ = declared(".decl r(x: symbol, y: Name)")
    words = encode(table_of([("a", "b"), ("b", "a")], info), info, types, database)
    assert words[0].tolist() == words[1, ::-1].tolist()
    assert decode(words, info, types, database).to_pydict() == {"x": ["a", "b"], "y": ["b", "a"]}


def test_equal_records_have_equal_words_however_they_are_written(declared, database):
    info, types, _ = declared(".decl r(l: List)")
    texts = ["nil", "[1, nil]", " [ 1 ,nil ] ", "[0x1, [2, nil]]", "[1, [2, nil]]"]
    words = encode(table_of(texts, info), info, types, database)[:, 0].tolist()
    assert words[0] == 0
    assert words[1] == words[2] != 0
    assert words[3] == words[4] != words[1]
    found = decode(np.array([words]).T, info, types, database).column(0).to_pylist()
    assert found == ["nil", "[1, nil]", "[1, nil]", "[1, [2, nil]]", "[1, [2, nil]]"]


def test_an_enumeration_is_its_tag_and_other_branches_are_records_of_one_width(declared):
    info, types, _ = declared(".decl r(c: Color, t: Tree)")
    database = StandIn()
    rows = [("$Red", "$Leaf"), ("$Blue", "$Tag(x)"), ("$Green()", "$Node($Leaf, 5, $Leaf)")]
    table = table_of(rows, info, types)
    words = encode(table, info, types, database)
    assert words[:, 0].tolist() == [2, 0, 1]
    assert list(database.records.known) == [4]
    leaf, tag, node = (database.records.rows[4][w] for w in words[:, 1])
    assert (leaf, tag, node) == ((0, 0, 0, 0), (2, 0, 0, 0), (1, words[0, 1], 5, words[0, 1]))
    assert decode(words, info, types, database).to_pydict() == {
        "c": ["$Red", "$Blue", "$Green"],
        "t": ["$Leaf", "$Tag(x)", "$Node($Leaf, 5, $Leaf)"],
    }


def test_long_lists_need_no_recursion(declared, database):
    info, types, _ = declared(".decl r(l: List)")
    length = 20_000 if isinstance(database, StandIn) else 2_000  # the store packs each level on its own
    long = "".join(f"[{i}, " for i in range(length)) + "nil" + "]" * length
    words = encode(table_of([long, f"[{length - 1}, nil]"], info, types), info, types, database)
    assert decode(words, info, types, database).column(0).to_pylist() == [long, f"[{length - 1}, nil]"]


def test_records_without_fields(declared):
    info, types, _ = declared(".type Empty = []\n.decl r(e: Empty)")
    database = StandIn()
    words = encode(table_of(["[]", "nil"], info, types), info, types, database)
    assert decode(words, info, types, database).column(0).to_pylist() == ["[]", "nil"]


def test_relations_without_attributes(declared, database):
    info, types, _ = declared(".decl r()")
    for rows in ([()], []):
        words = encode(table_of(rows, info), info, types, database)
        assert words.shape == (len(rows), 0)
        assert decode(words, info, types, database).num_rows == len(rows)


def test_tables_in_chunks(declared, database):
    info, types, _ = declared(".decl r(x: symbol, n: number)")
    parts = [table_of([(f"s{i % 3}", i)], info) for i in range(7)]
    table = pa.concat_tables(parts)
    words = encode(table, info, types, database)
    assert decode(words, info, types, database).to_pydict() == table.to_pydict()
    assert decode(words[:0], info, types, database).num_rows == 0


def test_malformed_text_of_a_record_is_an_error(declared):
    info, types, _ = declared(".decl r(l: List)")
    with pytest.raises(TidelogError, match=r"TL0635\]: a text that is not a `List`: `n` where `\[` should be"):
        encode(table_of(["[1, no]"], info), info, types, StandIn())
