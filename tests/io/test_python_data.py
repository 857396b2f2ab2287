"""Facts given as Python data."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tidelog.errors import TidelogError
from tidelog.io import table_of

ROWS = [("a", 1), ("b", -2)]
COLUMNS = {"x": ["a", "b"], "y": [1, -2]}


@pytest.fixture
def relation(declared):
    return declared(".decl r(x: symbol, y: number)")[0]


class Frame:
    """Hands out Arrow data, as data frames do."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_rows_columns_and_frames_give_the_same_table(relation):
    expected = pa.table(COLUMNS)
    shapes = [
        ROWS,
        [list(r) for r in ROWS],
        iter(ROWS),
        [{"y": 1, "x": "a"}, {"x": "b", "y": -2}],
        COLUMNS,
        {"y": np.array([1, -2], np.int32), "x": ["a", "b"]},
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
        pa.table({"y": pa.array([1, -2], pa.int8()), "x": pa.array(["a", "b"]).dictionary_encode(), "z": [0, 0]}),
        Frame(pa.table(COLUMNS)),
        Frame(pa.table({**COLUMNS, "__index_level_0__": [5, 6]})),
    ]
    for shape in shapes:
        assert table_of(shape, relation).equals(expected), shape


def test_numpy_arrays_and_single_values(declared):
    pair = declared(".decl r(x: number, y: number)")[0]
    assert table_of(np.array([[1, 2], [3, 4]]), pair).to_pydict() == {"x": [1, 3], "y": [2, 4]}
    unary = declared(".decl r(x: symbol)")[0]
    assert table_of(["a", "bc"], unary).to_pydict() == {"x": ["a", "bc"]}


def test_whole_numbers_are_floats_if_they_are_exact(declared):
    info = declared(".decl r(x: float)")[0]
    assert table_of([(1,), (2.5,)], info).to_pydict() == {"x": [1.0, 2.5]}
    with pytest.raises(TidelogError, match=r"TL0633.*9007199254740993 is not exactly a float"):
        table_of([(2**53 + 1,)], info)


def test_no_facts(relation, declared):
    for nothing in ([], {"x": [], "y": []}, pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.int64())})):
        assert table_of(nothing, relation).num_rows == 0
    assert table_of([], declared(".decl r()")[0]).num_rows == 0
    assert table_of([()], declared(".decl r()")[0]).num_rows == 1


def test_records_are_text_or_nested_values(declared):
    info, types, _ = declared(".decl r(l: List, p: Pair, t: Tree)")
    rows = [
        ("[1, nil]", None, "$Leaf"),
        ((1, {"head": 2, "tail": None}), ["a, b", 1], ("$Node", "$Leaf", 1, ("Tag", "x"))),
    ]
    assert table_of(rows, info, types).to_pydict() == {
        "l": ["[1, nil]", "[1, [2, nil]]"],
        "p": ["nil", '["a, b", 1]'],
        "t": ["$Leaf", "$Node($Leaf, 1, $Tag(x))"],
    }


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([("a", 1), ("b",)], "error[TL0631]: facts of relation `r`, row 2: 1 value for 2 attributes"),
        ([("a", 1, 2)], "error[TL0631]: facts of relation `r`, row 1: 3 values for 2 attributes"),
        ([("a", "1")], "error[TL0632]: facts of relation `r`, row 1: attribute `y`: '1' is not a number"),
        ([("a", 1), ("a", 2.5)], "error[TL0632]: facts of relation `r`, row 2: attribute `y`: 2.5 is not a number"),
        ([("a", True)], "error[TL0632]: facts of relation `r`, row 1: attribute `y`: True is not a number"),
        ([("a", None)], "error[TL0632]: facts of relation `r`, row 1: attribute `y`: None is not a number"),
        ([(b"a", 1)], "error[TL0632]: facts of relation `r`, row 1: attribute `x`: b'a' is not a symbol"),
        (
            [("\udc80", 1)],
            "error[TL0632]: facts of relation `r`, row 1: attribute `x`: "
            "'\\udc80' has characters that are not valid text",
        ),
        (
            [("a", 2**63)],
            "error[TL0633]: facts of relation `r`, row 1: attribute `y`: 9223372036854775808 does not fit into 64 bits",
        ),
        (
            {"x": ["a"], "z": [1]},
            "error[TL0631]: facts of relation `r`: no column `y`, an unknown column `z`\n"
            "  help: name the columns as the attributes: x, y",
        ),
        ({"x": ["a"], "y": [1, 2]}, "error[TL0631]: facts of relation `r`: the columns have different lengths"),
        (
            pa.table({"x": ["a"], "y": [1.0]}),
            "error[TL0632]: facts of relation `r`: attribute `y`: a column of double cannot hold values of kind number",
        ),
        (
            pa.table({"x": ["a", None], "y": [1, 2]}),
            "error[TL0632]: facts of relation `r`, row 2: attribute `x`: null is not a value",
        ),
        (
            np.array([[1, 2, 3]]),
            "error[TL0631]: facts of relation `r`: rows of 3 values, but it has 2 attributes\n"
            "  help: its attributes are x, y",
        ),
        (
            7,
            "error[TL0632]: facts of relation `r` cannot be taken from a value of type int\n"
            "  help: give a list of rows, a dict of columns, a data frame or an Arrow table",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value)[:20],
)
def test_what_does_not_fit_is_said(relation, data, text):
    with pytest.raises(TidelogError) as raised:
        table_of(data, relation)
    assert str(raised.value) == text


def test_unsigned_numbers_are_not_negative(declared):
    with pytest.raises(TidelogError, match=r"TL0633.*-1 is negative"):
        table_of([(-1,)], declared(".decl r(x: unsigned)")[0])


def test_all_that_is_wrong_is_said_up_to_twenty(relation):
    with pytest.raises(TidelogError) as raised:
        table_of([("a", "b")] * 50, relation)
    assert raised.value.codes == ("TL0632",) * 20 + ("TL0629",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1,), "1 values for the 2 fields of `List`"),
        ({"head": 1}, "{'head': 1} does not have the fields head, tail of `List`"),
        (("x", None), "'x' is not a number"),
        ((2**63, None), "9223372036854775808 does not fit into 64 bits"),
        ("[1, ni]", "`[1, ni]` is not a `List`: `n` where `[` should be"),
        (5, "5 is not a record of type `List`"),
    ],
    ids=str,
)
def test_records_that_do_not_fit(declared, value, text):
    info, types, _ = declared(".decl r(l: List)")
    with pytest.raises(TidelogError) as raised:
        table_of([(value,)], info, types)
    assert raised.value.diagnostics[0].message == f"facts of relation `r`, row 1: attribute `l`: {text}"


def test_branches_that_do_not_fit(declared):
    info, types, _ = declared(".decl r(t: Tree)")
    for value, text in [
        (("$Nod", 1), "('$Nod', 1) is not a branch of type `Tree`"),
        (("$Tag",), "0 values for the 1 fields of `$Tag`"),
        (None, "None is not a branch of type `Tree`"),
    ]:
        with pytest.raises(TidelogError) as raised:
            table_of([(value,)], info, types)
        assert raised.value.diagnostics[0].message.endswith(text)
