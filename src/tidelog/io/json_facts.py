"""Facts in JSON: one array with a list or an object per fact, as Soufflé's IO=jsonfile has them (IO=json: from
standard input and to standard output), or an object per line.

Inside, numbers are numbers, symbols strings, records lists or objects of their fields, nil is null. Soufflé has no
form for ADTs; here a branch is a list that begins with its name, `["$Node", 1, null]`, or a string with its text.
Unlike in Soufflé, numbers keep all 64 bits and floats their fractions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from tidelog.analysis.types import AdtType, RecordType, RelationInfo, Type, TypeSystem
from tidelog.errors import Diagnostic, Source, Span, TidelogError, error
from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.io.numbers import float_text
from tidelog.io.order import plain
from tidelog.io.place import Place
from tidelog.io.record_text import base_type, parse
from tidelog.io.streams import opened
from tidelog.io.tables import nullary_table, table_of_rows
from tidelog.io.write import Parts, print_bytes, write_file
from tidelog.values import Kind


def read_json_file(place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    with opened(place) as stream:
        return read_json(stream, place, info, types, bad)


def read_json(stream: BinaryIO, place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    raw = stream.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        number = raw.count(b"\n", 0, problem.start) + 1
        message = f"`{place.shown}`, line {number}: byte 0x{raw[problem.start]:02x} is not valid UTF-8"
        raise error("TL0623", message, place.span) from None
    try:
        rows = _loaded(text)
    except json.JSONDecodeError as problem:
        span = Span(Source(place.shown, text), problem.pos, problem.pos + 1)
        raise error("TL0625", f"malformed JSON: {problem.msg}", span) from None
    except RecursionError:
        raise error("TL0625", f"`{place.shown}` is nested too deeply", place.span) from None
    if not isinstance(rows, list):
        raise _no_list(place, text)
    if not info.arity:
        return nullary_table(bool(rows))
    found: list[tuple[int, str, str]] = []
    table = table_of_rows(rows, info, types, lambda code, message, row: found.append((row, code, message)))
    _report(found, text, place, bad)
    return table


def _loaded(text: str) -> Any:
    """The value of a text, or of one object after the other."""
    try:
        return _rows(text, json.JSONDecoder())
    except json.JSONDecodeError:
        raise
    except ValueError:  # a number that Python refuses to read, for its length
        return _rows(text, json.JSONDecoder(parse_int=_integer))


def _rows(text: str, decoder: json.JSONDecoder) -> Any:
    if not text.lstrip().startswith("{"):
        return decoder.decode(text)
    rows, pos = list[Any](), 0
    while (pos := _after(text, pos)) < len(text):
        row, pos = decoder.raw_decode(text, pos)
        rows.append(row)
    return rows


def _integer(digits: str) -> int:
    return int(digits[:100])  # longer ones are out of range, too


def _after(text: str, pos: int, passed: str = " \t\r\n") -> int:
    while pos < len(text) and text[pos] in passed:
        pos += 1
    return pos


def _no_list(place: Place, text: str) -> TidelogError:
    span = Span(Source(place.shown, text), 0, 1)
    return error("TL0625", "the facts are not in a JSON array", span, help="write [[1, 2], [3, 4]]")


def _report(found: list[tuple[int, str, str]], text: str, place: Place, bad: BadRows) -> None:
    """Find the places of bad facts, given by their numbers, in the text."""
    if not found:
        return
    wanted = {row for row, _, _ in sorted(found)[: bad.limit]}
    places = dict(_places(text, wanted, place.shown))
    nowhere = (FactLine(place.shown, 1, ""), 0, 1)
    for row, _, message in sorted(found):
        line, start, end = places.get(row, nowhere)
        bad.add("TL0621", message, line, start, end)


def _places(text: str, wanted: set[int], file: str) -> Iterator[tuple[int, tuple[FactLine, int, int]]]:
    decoder = json.JSONDecoder(parse_int=_integer)
    pos = 0 if text.lstrip().startswith("{") else text.index("[") + 1
    for number in range(max(wanted) + 1):
        pos = _after(text, pos, " \t\r\n,")
        _, end = decoder.raw_decode(text, pos)
        if number in wanted:
            start = text.rfind("\n", 0, pos) + 1
            stop = text.find("\n", pos)
            line = text[start : stop if stop >= 0 else len(text)]
            yield number, (FactLine(file, text.count("\n", 0, pos) + 1, line), pos - start, min(end - start, len(line)))
        pos = end


def write_json(place: Place, info: RelationInfo, types: TypeSystem, parts: Parts) -> list[Diagnostic]:
    first, *others = map(plain, parts.tables)
    table = pa.concat_tables([first, *others]) if others else first  # which may have a row but no columns
    text = (part.encode() for part in json_text(table, info, types, place.objects))
    print_bytes(text) if place.path is None else write_file(place, text)
    return []


def json_text(table: pa.Table, info: RelationInfo, types: TypeSystem, objects: bool) -> Iterator[str]:
    """The text of a JSON file, in parts."""
    if not info.arity:
        yield "[null\n]\n" if table.num_rows else "[]\n"
        return
    declared = [types.types[name] for name in info.types]
    heads = [f"{json.dumps(name, ensure_ascii=False)}: " if objects else "" for name in info.attributes]
    opening, closing = "{}" if objects else "[]"
    yield "["
    first = True
    for batch in table.to_batches(max_chunksize=65536):
        columns = [
            [head + text for text in _texts(column, kind, objects)]
            for head, column, kind in zip(heads, batch.columns, declared, strict=True)
        ]
        rows = (f"{opening}{', '.join(row)}{closing}" for row in zip(*columns, strict=True))
        yield ("" if first else ",\n") + ",\n".join(rows)
        first = False
    yield "]\n"


def _texts(column: pa.Array, declared: Type, objects: bool) -> list[str]:
    values = column.to_pylist()
    if declared.kind in (Kind.NUMBER, Kind.UNSIGNED):
        return list(map(str, values))
    known = {value: _value_text(value, declared, objects) for value in dict.fromkeys(values)}
    return [known[value] for value in values]


def _leaf(kind: Kind, value: Any) -> str:
    if kind is Kind.SYMBOL:
        return json.dumps(value, ensure_ascii=False)
    if kind is Kind.FLOAT:
        # JSON has no infinities; these are what Python and JavaScript libraries write and read.
        return float_text(value) if math.isfinite(value) else json.dumps(value)
    return str(value)


def _value_text(value: Any, declared: Type, objects: bool) -> str:
    """A cell as JSON; a record's text is parsed and its parts written, without recursion."""
    if declared.kind is not Kind.RECORD:
        return _leaf(declared.kind, value)
    out: list[str] = []
    todo: list[Any] = [(base_type(declared), parse(value, declared))]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        kind, inner = item
        if kind.kind is not Kind.RECORD:
            out.append(_leaf(kind.kind, inner))
        elif inner is None:
            out.append("null")
        else:
            todo.extend(reversed(_parts(kind, inner, objects)))
    return "".join(out)


def _parts(declared: Type, value: Any, objects: bool) -> list[Any]:
    """What stands for a record or branch: texts, and (type, value) for its fields."""
    if isinstance(declared, RecordType):
        opening, closing = "{}" if objects else "[]"
        names, fields, values = declared.fields, declared.types, value
    else:
        assert isinstance(declared, AdtType)
        if not value.branch.types:
            return [json.dumps(f"${value.branch.name}")]
        opening, closing, objects = f'["${value.branch.name}", ', "]", False
        names, fields, values = value.branch.fields, value.branch.types, value.values
    parts: list[Any] = [opening]
    for i, (name, kind) in enumerate(zip(names, fields, strict=True)):
        if i:
            parts.append(", ")
        if objects:
            parts.append(f"{json.dumps(name, ensure_ascii=False)}: ")
        parts.append((base_type(kind), values[i]))
    return [*parts, closing]
