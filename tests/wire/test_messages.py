"""What processes say to each other arrives as it was said; what nobody says is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tidelog.errors import Diagnostic, LineOrigin, Severity, Source, Span, TidelogError
from tidelog.wire.codec import Json, MalformedMessage, dumps, dumps_ascii, loads, read
from tidelog.wire.messages import Beat, Failed, Hello, Message, Messages


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Point:
    x: int
    y: float = 0.0


@dataclass(frozen=True)
class Everything(Message):
    number: int
    text: str
    truth: bool
    colour: Colour
    point: Point | None
    points: list[Point]
    pair: tuple[str, int]
    names: tuple[str, ...]
    counts: dict[str, int]
    rest: Json = None
    more: list[str] = field(default_factory=list)


SPOKEN = Messages(Everything)
points = st.builds(Point, st.integers(), st.floats(allow_nan=False))
everything = st.builds(
    Everything, st.integers(), st.text(st.characters(exclude_categories=())), st.booleans(), st.sampled_from(Colour),
    st.none() | points, st.lists(points), st.tuples(st.text(), st.integers()), st.lists(st.text()).map(tuple),
    st.dictionaries(st.text(), st.integers()), st.none() | st.lists(st.integers()), st.lists(st.text()),
)  # fmt: skip


@given(everything, st.integers(0))
def test_a_message_arrives_as_it_was_said(message: Everything, number: int) -> None:
    found = SPOKEN.parcel(SPOKEN.frames(message, number=number))
    assert (found.message, found.number) == (message, number)
    assert type(found.message) is Everything


def test_tables_go_behind_a_message() -> None:
    tables = [pa.table({"a": [1, 2], "b": ["x", None]}), pa.table({})]
    found = SPOKEN.parcel([bytes(frame) for frame in SPOKEN.frames(Beat(1, 2), tables)])
    assert found.tables == tables


JUST = (
    '{"number":1,"text":"a","truth":true,"colour":"red","point":null,"points":[],"pair":["a",1],"names":[],"counts":{}}'
)


@pytest.mark.parametrize(
    ("said", "instead"),
    [('"number":1', '"number":true'), ('"number":1', '"number":1.5'), ('"text":"a"', '"text":null'),
     ('"truth":true', '"truth":1'), ('"red"', '"green"'), ('"point":null', '"point":{"y":1.0}'),
     ('"point":null', '"point":{"x":1,"z":2}'), ('"points":[]', '"points":{}'), ('"points":[]', '"points":[null]'),
     ('["a",1]', '["a",1,2]'), ('["a",1]', '["a","b"]'), ('"names":[]', '"names":[1]'),
     ('"counts":{}', '"counts":{"a":"b"}'), ('"counts":{}', '"counts":[]'), ('"counts":{}', '"counts":{},"odd":1'),
     (',"counts":{}', "")],
)  # fmt: skip
def test_a_field_of_another_type_is_refused(said: str, instead: str) -> None:
    frame = f'["Everything",0,{JUST}]'
    assert isinstance(SPOKEN.parcel([frame.encode()]).message, Everything)
    assert frame.count(said) == 1
    with pytest.raises(MalformedMessage):
        SPOKEN.parcel([frame.replace(said, instead).encode()])


@pytest.mark.parametrize(
    "frames",
    [[], [b""], [b"\xff"], [b"[" * 100_000], [b"{}"], [b"[]"], [b'["Beat",0]'], [b'["Nobody",0,{}]'],
     [b'["Beat","0",{}]'], [b'["Beat",0,{"worker":1,"attempt":1}]', b"no table"],
     [b'["Beat",0,{"worker":1,"attempt":1}]', b""]],
)  # fmt: skip
def test_what_is_no_message_is_refused(frames: list[bytes]) -> None:
    with pytest.raises(MalformedMessage):
        SPOKEN.parcel(frames)


@given(st.binary())
def test_bytes_are_a_message_or_refused(garbage: bytes) -> None:
    with pytest.raises(MalformedMessage):
        SPOKEN.parcel([garbage])


def test_a_kind_that_is_not_listed_is_not_said() -> None:
    @dataclass(frozen=True)
    class Beat(Message):
        """Another than everybody's."""

    with pytest.raises(AssertionError, match="not among these messages"):
        SPOKEN.frames(Beat())
    assert SPOKEN.parcel(SPOKEN.frames(Hello(1, 2, "here", 3))).message == Hello(1, 2, "here", 3)


def test_all_diagnostics_of_an_error_arrive_with_places_notes_and_advice() -> None:
    source = Source("whole", "first\nsecond «line»\n", [LineOrigin(1, "main.dl", 1), LineOrigin(2, "other.dl", 7)])
    problem = TidelogError([
        Diagnostic("TL0001", "one", Span(source, 6, 12), "do this", (("see", Span(source, 0, 5)), ("and", None))),
        Diagnostic("TL0002", "two", None, None, (), Severity.WARNING),
    ])  # fmt: skip
    failed = SPOKEN.parcel(SPOKEN.frames(Failed.because(problem))).message
    assert isinstance(failed, Failed)
    assert str(failed.error()) == str(problem)
    assert "other.dl:7:1" in str(failed.error())
    assert str(Failed.because(ValueError("odd")).error()) == "the worker failed: ValueError: odd"


def test_texts_of_ascii_say_the_same() -> None:
    value: list[Any] = [Point(1, 0.5), "«ü\ud800»"]
    text = dumps_ascii(value)
    assert text.isascii()
    assert loads(text.encode()) == loads(dumps(value))
    assert read(Point, loads(text.encode())[0]) == Point(1, 0.5)


@dataclass(frozen=True)
class Arrays(Message):
    words: NDArray[np.unsignedinteger[Any]]
    pair: tuple[NDArray[np.int64], NDArray[np.bool_]]
    hop: int = 0


NUMBERS = Messages(Arrays)
SOME = Arrays(np.arange(5, dtype=np.uint32), (np.ones((2, 3), np.int64), np.array([True, False])), 7)


def test_arrays_go_behind_a_message_and_tables_behind_these() -> None:
    table = pa.table({"a": [1, 2]})
    message, tables, _ = NUMBERS.parcel([bytes(memoryview(f).cast("B")) for f in NUMBERS.frames(SOME, [table])])
    assert isinstance(message, Arrays)
    assert message.words.dtype == np.uint32
    assert message.words.tolist() == [0, 1, 2, 3, 4]
    assert message.pair[0].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert message.pair[1].tolist() == [True, False]
    assert (message.hop, tables) == (7, [table])


@pytest.mark.parametrize(
    ("said", "instead"),
    [('"<u4"', '"<i4"'), ('"<u4"', '"|O"'), ('"<u4"', '"<u3"'), ("[5]", "[50]"), ("[5]", "[-1]"), ("[2,3]", "[2,4]"),
     ("[5]", "5"), ('"<i8"', '"<u8"')],
)  # fmt: skip
def test_an_array_of_another_type_or_size_is_refused(said: str, instead: str) -> None:
    header, *arrays = NUMBERS.frames(SOME)
    text = header.decode()
    assert text.count(said) == 1
    with pytest.raises(MalformedMessage):
        NUMBERS.parcel([text.replace(said, instead).encode(), *arrays])
    with pytest.raises(MalformedMessage):
        NUMBERS.parcel([header, *arrays[:2]])


def test_an_array_that_came_askew_is_copied() -> None:
    header, *arrays = NUMBERS.frames(SOME)
    askew = memoryview(b"-" + arrays[0].tobytes())[1:]
    message = NUMBERS.parcel([header, askew, *arrays[1:]]).message
    assert isinstance(message, Arrays)
    assert message.words.flags.aligned
    assert message.words.tolist() == [0, 1, 2, 3, 4]
