"""Facts from tab-separated and other text: read by Arrow, in windows of whole lines.

Arrow's CSV reader does all the work as long as it does what Soufflé would do. Where it reports trouble, or where it
would read something else than Soufflé (lone carriage returns, empty lines, odd quotes, hexadecimal numbers that do
not fit), the window is read again in small pieces, and only the pieces that are still in trouble line by line
(`text_lines`), which finds the malformed lines. So the cost is that of Arrow, plus a little for each piece with
something odd in it; memory is bounded by a window besides the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from tidelog import room
from tidelog.arrow import pc
from tidelog.io.arrow_memory import reader_of
from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.io.flat_records import not_plain
from tidelog.io.numbers import ARROW_TYPES, numbers_of
from tidelog.io.record_text import MalformedRecord, parse
from tidelog.io.text_lines import FactLineReader, TextLayout
from tidelog.plain import dataclass, field
from tidelog.values import Kind

WINDOW = 32 << 20
PIECE = 256 << 10
SMALL = 8 << 10
"""Bytes that are read line by line before Arrow has made itself ready to read text."""


def read_text(
    stream: BinaryIO, layout: TextLayout, headers: bool, bad: BadRows, first: int = 1
) -> list[pa.ChunkedArray]:
    """The columns, in the order of the attributes, of all good lines; `first` is the number of the first line."""
    reader = _TextReader(layout, bad, first)
    for window in _windows(stream, whole=layout.rfc4180):
        reader.read(window, headers)
    if reader.wide is not None:
        bad.warn(
            "TL0637",
            f"lines with more values than relation `{layout.info.name}` has attributes",
            reader.wide,
            help="the values too many are ignored",
        )
    return [pa.chunked_array(c, ARROW_TYPES[k]) for c, k in zip(reader.columns, layout.kinds, strict=True)]


def _windows(stream: BinaryIO, whole: bool) -> Iterator[bytes]:
    """The text in stretches that end with a line; all of it at once where a line end may be inside a field."""
    while block := stream.read(-1 if whole else WINDOW):
        rest = stream.readline()
        yield block + rest if rest else block


@dataclass
class _TextReader:
    layout: TextLayout
    bad: BadRows
    line: int  # the number of the next line
    columns: list[list[pa.Array]] = field(init=False)
    wide: FactLine | None = None

    def __post_init__(self) -> None:
        self.columns = [[] for _ in self.layout.kinds]

    def read(self, window: bytes, headers: bool) -> None:
        if self.line == 1:
            window = window.removeprefix(b"\xef\xbb\xbf")
            if headers:
                window = window[(window.find(b"\n") + 1) or len(window) :]
                self.line = 2
        if not window:
            return
        room.ensure(len(window))
        if b"\r" in window:
            window = _with_line_feeds(window, self.layout.rfc4180)
        table = self.fast(window, typed=True) if len(window) > SMALL else None
        if table is not None:
            self.add([table.column(str(p)) for p in self.layout.positions], self.lines_in(window, table))
            return
        pieces = [window] if self.layout.rfc4180 else _pieces(window)
        for piece in pieces:
            self.read_piece(piece)

    def lines_in(self, window: bytes, table: pa.Table) -> int:
        return window.count(b"\n") if self.layout.rfc4180 else table.num_rows

    def add(self, columns: list[pa.ChunkedArray], lines: int) -> None:
        for kept, column in zip(self.columns, columns, strict=True):
            kept.extend(column.chunks)
        self.line += lines

    def read_piece(self, piece: bytes) -> None:
        for typed in (True, False) if len(piece) > SMALL else ():
            table = self.fast(piece, typed)
            columns = None if table is None else self.converted(table)
            if table is not None and columns is not None:
                self.add(columns, self.lines_in(piece, table))
                return
        reader = FactLineReader(self.layout, self.bad)
        self.add([pa.chunked_array([c]) for c in reader.read(piece, self.line)], piece.count(b"\n"))
        self.wide = self.wide or reader.wide

    def converted(self, table: pa.Table) -> list[pa.ChunkedArray] | None:
        """The columns of a table, numbers in text as numbers; None if one of them is malformed."""
        found = []
        for position, kind in zip(self.layout.positions, self.layout.kinds, strict=True):
            column = table.column(str(position))
            if column.type != ARROW_TYPES[kind]:
                column = numbers_of(column, kind)
                if column.null_count:
                    return None
            found.append(column)
        return found

    def fast(self, data: bytes, typed: bool) -> pa.Table | None:
        """What Arrow reads, if it can and if that is what Soufflé would read; numbers as text unless `typed`."""
        layout = self.layout
        if b"\r" in data:
            return None
        parsing = _parse_options(data, layout)
        if parsing is None:
            return None
        options, data = parsing
        first = _first_line(data, options)
        width = _width(first, options)
        if width < layout.width:
            return None
        needed = [str(p) for p in layout.positions]
        kinds = dict(zip(needed, layout.kinds, strict=True))
        try:
            table = csv.read_csv(
                reader_of(data),
                csv.ReadOptions(
                    column_names=[str(i) for i in range(width)], block_size=1 << 20 if typed else len(data) + 1
                ),
                options,
                csv.ConvertOptions(
                    column_types={c: ARROW_TYPES[k] if typed else pa.string() for c, k in kinds.items()},
                    include_columns=needed,
                    null_values=[],
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        if _hides_empty_lines(table, data, layout) or (typed and _overflowed(table, data, kinds)):
            return None
        if not all(_are_records(table.column(c), layout, i) for i, c in enumerate(needed)):
            return None
        if width > layout.width and not layout.chosen and self.wide is None:
            self.wide = FactLine(layout.file, self.line, first.replace(options.delimiter, layout.delimiter))
        return table


def _with_line_feeds(window: bytes, rfc4180: bool) -> bytes:
    """Lines that end with a line feed alone; what is inside a quoted field stays as it is."""
    if not rfc4180 or b'"' not in window:
        return window.replace(b"\r\n", b"\n")
    text = np.frombuffer(window, np.uint8)
    ends = np.flatnonzero((text[:-1] == ord("\r")) & (text[1:] == ord("\n")))
    inside = np.searchsorted(np.flatnonzero(text == ord('"')), ends) % 2 == 1
    return np.delete(text, ends[~inside]).tobytes()


def _first_line(data: bytes, options: csv.ParseOptions) -> str:
    """The first line; a quoted field may make it reach over several."""
    end = data.find(b"\n")
    while options.quote_char and end >= 0 and data.count(b'"', 0, end) % 2:
        end = data.find(b"\n", end + 1)
    return (data if end < 0 else data[:end]).decode(errors="replace")


def _width(line: str, options: csv.ParseOptions) -> int:
    """How many fields a line has whose quotes are regular."""
    if options.quote_char:
        line = "".join(line.split('"')[0::2])
    return line.count(options.delimiter) + 1


def _pieces(window: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(window):
        end = window.find(b"\n", start + PIECE) + 1 or len(window)
        yield window[start:end]
        start = end


_SUBSTITUTES = [bytes([b]) for b in (0x1F, 0x1E, 0x1D, 0x1C, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06)]


def _parse_options(data: bytes, layout: TextLayout) -> tuple[csv.ParseOptions, bytes] | None:
    """How Arrow can split these lines, and the text to give it; None if it cannot."""
    delimiter = layout.delimiter.encode()
    quoted = layout.rfc4180 and b'"' in data
    if "," in layout.delimiter and not layout.rfc4180 and (b"[" in data or b"]" in data):
        return None
    if len(delimiter) > 1:
        absent = next((b for b in _SUBSTITUTES if b not in data), None)
        if quoted or absent is None or b"\n" in delimiter:
            return None
        data, delimiter = data.replace(delimiter, absent), absent
    if delimiter in b'\r\n"' and (delimiter != b'"' or layout.rfc4180):
        return None
    if quoted and not _quotes_are_regular(data, delimiter):
        return None
    options = csv.ParseOptions(
        delimiter=delimiter.decode(),
        quote_char='"' if quoted else False,
        double_quote=True,
        ignore_empty_lines=False,
        newlines_in_values=quoted,
    )
    return options, data


def _quotes_are_regular(data: bytes, delimiter: bytes) -> bool:
    """Whether quotes enclose whole fields, and are doubled inside of them. Arrow would accept anything."""
    text = np.frombuffer(data, np.uint8)
    at = np.flatnonzero(text == ord('"'))
    if len(at) % 2:
        return False
    opening, closing = at[0::2], at[1::2]
    before = text[np.maximum(opening - 1, 0)]
    after = text[np.minimum(closing + 1, len(text) - 1)]
    separators = (ord(delimiter), ord("\n"), ord('"'))
    starts = (opening == 0) | np.isin(before, separators)
    ends = (closing == len(text) - 1) | np.isin(after, separators)
    return bool(starts.all() and ends.all())


def _hides_empty_lines(table: pa.Table, data: bytes, layout: TextLayout) -> bool:
    """Arrow reads an empty line as a row of empty values, which a number would have refused."""
    if layout.width == 1 or any(pa.types.is_primitive(t) for t in table.schema.types):
        return False
    if pc.min(pc.binary_length(table.column(0))).as_py() > 0:
        return False
    return data.startswith(b"\n") or b"\n\n" in data


def _overflowed(table: pa.Table, data: bytes, kinds: dict[str, Kind]) -> bool:
    """Whether numbers may have been too large: 0xffffffffffffffff is read as -1, and 1e999 as infinity."""
    for column, kind in kinds.items():
        if kind is Kind.NUMBER:
            lowest = pc.min(table.column(column)).as_py()
            if lowest is not None and lowest < 0 and (b"0x" in data or b"0X" in data):
                return True
        elif kind is Kind.FLOAT and pc.any(pc.is_inf(table.column(column))).as_py():
            return True
    return False


def _are_records(column: pa.ChunkedArray, layout: TextLayout, attribute: int) -> bool:
    """Whether all texts of a column of records are well formed; other columns are as they are."""
    if layout.kinds[attribute] is not Kind.RECORD:
        return True
    try:
        for text in not_plain(pc.unique(column), layout.types[attribute]):
            parse(text, layout.types[attribute])
    except MalformedRecord:
        return False
    return True
