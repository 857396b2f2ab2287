"""Reading facts from text: what is accepted, and what is said about what is not."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

import tidelog
from tidelog.errors import TidelogError
from tidelog.io import BadRows, read_facts, read_inputs, text_read

EDGE = ".decl edge(from: number, to: number)\n.input edge"


@pytest.fixture
def read(declared, tmp_path, monkeypatch):
    """read(program, bytes) -> rows; messages have the folder's name left out."""
    monkeypatch.chdir(tmp_path)

    def reading(text, data, skip=False, name=None):
        info, types, directive = declared(text)
        Path(name or f"{info.name}.facts").write_bytes(data)
        bad = BadRows(skip)
        table = read_facts(info, types, directive, Path(), bad)
        table.validate(full=True)
        rows = list(zip(*(c.to_pylist() for c in table.columns), strict=True)) if info.arity else [()] * table.num_rows
        return (rows, bad) if skip else rows

    return reading


def message(read, *args, **more) -> str:
    with pytest.raises(TidelogError) as raised:
        read(*args, **more)
    return str(raised.value)


def test_tab_separated_lines_are_facts(read):
    assert read(EDGE, b"1\t2\n-3\t4\n") == [(1, 2), (-3, 4)]


def test_the_last_line_needs_no_line_end(read):
    assert read(EDGE, b"1\t2\n3\t4") == [(1, 2), (3, 4)]


def test_an_empty_file_has_no_facts(read):
    assert read(EDGE, b"") == []


def test_windows_line_ends_and_a_byte_order_mark_are_not_data(read):
    assert read(".decl r(x: symbol, y: symbol)\n.input r", b"\xef\xbb\xbfa\tb\r\nc\td\r") == [("a", "b"), ("c", "d")]


def test_numbers_may_be_hexadecimal_or_binary_and_signed(read):
    data = b"0x10\t0b11\n-0x10\t-0b1\n+7\t007\n 8\t9\n"
    assert read(EDGE, data) == [(16, 3), (-16, -1), (7, 7), (8, 9)]


def test_the_extremes_of_each_kind(read):
    text = ".decl r(n: number, u: unsigned)\n.input r"
    data = (
        b"-9223372036854775808\t0\n9223372036854775807\t18446744073709551615\n0x7fffffffffffffff\t0xffffffffffffffff\n"
    )
    assert read(text, data) == [(-(2**63), 0), (2**63 - 1, 2**64 - 1), (2**63 - 1, 2**64 - 1)]


def test_floats(read):
    rows = read(".decl r(x: float)\n.input r", b"1.5\n-2\n1e10\n.5\ninf\n-infinity\n0x1p3\n")
    assert rows == [(1.5,), (-2.0,), (1e10,), (0.5,), (float("inf"),), (float("-inf"),), (8.0,)]


def test_symbols_are_taken_as_they_are(read):
    text = ".decl r(x: symbol, y: Name)\n.input r"
    assert read(text, ' "a" \t\nnan\tNULL\n\tä\n'.encode()) == [(' "a" ', ""), ("nan", "NULL"), ("", "ä")]


def test_an_empty_line_is_an_empty_symbol_of_a_unary_relation(read):
    assert read(".decl r(x: symbol)\n.input r", b"\na\n\n") == [("",), ("a",), ("",)]


def test_a_lone_carriage_return_belongs_to_the_symbol(read):
    assert read(".decl r(x: symbol)\n.input r", b"a\rb\nc\r\n") == [("a\rb",), ("c",)]


def test_a_nullary_relation_holds_if_its_file_has_a_line(read):
    assert read(".decl r()\n.input r", b"()\n") == [()]
    assert read(".decl r()\n.input r", b"") == []


def test_delimiters_may_be_any_text(read):
    text = '.decl r(x: symbol, y: number)\n.input r(delimiter="{}")'
    assert read(text.format(","), b"a,1\nb,2\n") == [("a", 1), ("b", 2)]
    assert read(text.format("::"), b"a:b::1\n::2\n") == [("a:b", 1), ("", 2)]
    assert read(text.format("→"), "a→1\n".encode()) == [("a", 1)]
    assert read(text.format("\\t"), b"a\t1\n") == [("a", 1)]


def test_headers_are_passed_over(read):
    assert read(EDGE + "(headers=true)", b"from\tto\n1\t2\n") == [(1, 2)]
    assert read(EDGE + "(headers=true)", b"from\tto") == []


def test_columns_choose_and_reorder(read):
    text = '.decl r(x: symbol, y: number)\n.input r(columns="2:0")'
    assert read(text, b"1\tb\tc\td\n2\te\tf\tg\n") == [("c", 1), ("f", 2)]
    assert read(text, b"1\tb\tc\n2\te\tf\tg\n") == [("c", 1), ("f", 2)]


def test_extra_values_are_ignored_with_a_warning(read):
    rows, bad = read(EDGE, b"1\t2\t3\n4\t5\n", skip=True)
    assert rows == [(1, 2), (4, 5)]
    assert [w.render() for w in bad.report()] == [
        "warning[TL0637]: lines with more values than relation `edge` has attributes\n"
        "  --> edge.facts:1:1\n1 | 1 2 3\n  | ^^^^^\n  help: the values too many are ignored"
    ]


def test_records_and_branches_stay_text(read):
    text = ".decl r(l: List, t: Tree, c: Color)\n.input r"
    data = b"nil\t$Leaf\t$Red\n[1, [2, nil]]\t$Node($Leaf, 3, $Tag(a b))\t$Blue\n"
    rows = [("nil", "$Leaf", "$Red"), ("[1, [2, nil]]", "$Node($Leaf, 3, $Tag(a b))", "$Blue")]
    assert read(text, data) == rows


def test_commas_inside_brackets_do_not_delimit(read):
    text = '.decl r(x: number, l: List, y: number)\n.input r(delimiter=",")'
    assert read(text, b"1,[1,[2,nil]],2\n3,nil,4\n") == [(1, "[1,[2,nil]]", 2), (3, "nil", 4)]


def test_rfc4180(read):
    text = ".decl r(x: symbol, y: number)\n.input r(rfc4180=true)"
    data = b'"a,""b""",1\nplain,"2"\n"",3\nqu"ote,4\n"two\nlines",5\n'
    rows = [('a,"b"', 1), ("plain", 2), ("", 3), ('qu"ote', 4), ("two\nlines", 5)]
    assert read(text, data) == rows
    assert read(text, data.replace(b'qu"ote', b"quote")) == [("quote", y) if y == 4 else (x, y) for x, y in rows]


def test_compressed_files_are_recognised_by_their_content(read):
    assert read(EDGE, gzip.compress(b"1\t2\n")) == [(1, 2)]
    assert read(EDGE + '(filename="x.csv.gz")', gzip.compress(b"1\t2\n"), name="x.csv.gz") == [(1, 2)]


def test_a_damaged_compressed_file_is_an_error(read):
    data = gzip.compress(b"1\t2\n" * 1000)[:-20]
    assert message(read, EDGE, data).startswith("error[TL0639]: `edge.facts` is damaged: ")


def test_standard_input(declared, monkeypatch, tmp_path):
    info, types, directive = declared(EDGE + '(IO=stdin, delimiter=" ")')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 2\n3 4\n")))
    assert read_facts(info, types, directive, tmp_path, BadRows()).to_pydict() == {"from": [1, 3], "to": [2, 4]}


def test_lines_longer_than_a_block_of_arrow(read):
    long = "x" * 3_000_000
    assert read(".decl r(x: symbol, y: number)\n.input r", f"a\t1\n{long}\t2\nb\t3\n".encode()) == [
        ("a", 1),
        (long, 2),
        ("b", 3),
    ]


def test_windows_and_pieces_end_at_lines(read, monkeypatch):
    monkeypatch.setattr(text_read, "WINDOW", 16)
    monkeypatch.setattr(text_read, "PIECE", 5)
    lines = [f"{i}\t{'0x1' if i % 7 == 0 else 'bad' if i % 11 == 0 else i}" for i in range(300)]
    rows, bad = read(EDGE, "\n".join(lines).encode(), skip=True)
    assert rows == [(i, 1 if i % 7 == 0 else i) for i in range(300) if i % 7 == 0 or i % 11]
    assert bad.count == len([i for i in range(300) if i % 11 == 0 and i % 7])
    assert "\n12 | 11 bad\n" in bad.report()[0].render()


# ---- malformed input


def test_every_malformed_line_is_shown_with_its_place(read):
    data = b"1\t2\n3\t12x\n\n4\n5,6\n7\t9223372036854775808\n\t8\n"
    expected = """\
error[TL0621]: `12x` is not a number (attribute `to` of `edge`)
  --> edge.facts:2:3
2 | 3 12x
  |   ^^^
error[TL0622]: an empty line, but relation `edge` has 2 attributes
  --> edge.facts:3:1
3 |\x20
  | ^
  help: delete the line
error[TL0622]: 1 value, but relation `edge` has 2 attributes
  --> edge.facts:4:1
4 | 4
  | ^
  help: the delimiter between values is a tab
error[TL0622]: 1 value, but relation `edge` has 2 attributes
  --> edge.facts:5:1
5 | 5,6
  | ^^^
  help: the delimiter is a tab; for this file, write `.input edge(delimiter=",")`
error[TL0621]: `9223372036854775808` does not fit into 64 bits (attribute `to` of `edge`)
  --> edge.facts:6:3
6 | 7 9223372036854775808
  |   ^^^^^^^^^^^^^^^^^^^
error[TL0621]: a value is empty (attribute `from` of `edge`)
  --> edge.facts:7:1
7 |  8
  | ^"""
    assert message(read, EDGE, data) == expected


def test_hexadecimal_numbers_do_not_wrap_around(read):
    expected = """\
error[TL0621]: `0xffffffffffffffff` does not fit into 64 bits (attribute `from` of `edge`)
  --> edge.facts:1:1
1 | 0xffffffffffffffff 1
  | ^^^^^^^^^^^^^^^^^^"""
    assert message(read, EDGE, b"0xffffffffffffffff\t1\n") == expected


def test_unsigned_numbers_have_no_sign_and_floats_an_end(read):
    assert "error[TL0621]: `-1` is not an unsigned number: it has a minus sign" in message(
        read, ".decl r(x: unsigned)\n.input r", b"-1\n"
    )
    assert "error[TL0621]: `1e999` is too large for a float" in message(read, ".decl r(x: float)\n.input r", b"1e999\n")


def test_an_empty_line_is_no_fact_of_two_empty_symbols(read):
    assert "error[TL0622]: an empty line" in message(read, ".decl r(x: symbol, y: symbol)\n.input r", b"a\tb\n\n")


def test_text_that_is_not_utf8(read):
    expected = """\
error[TL0623]: byte 0xe4 is not valid UTF-8
  --> r.facts:2:2
2 | b\ufffdc
  |  ^
  help: fact files are read as UTF-8; convert the file"""
    assert message(read, ".decl r(x: symbol)\n.input r", b"a\nb\xe4c\n") == expected


def test_malformed_records(read):
    text = ".decl r(x: number, l: List)\n.input r"
    expected = """\
error[TL0621]: `[1, [x, nil]]` is not a `List` (attribute `l` of `r`): `x` is not a number
  --> r.facts:1:8
1 | 1 [1, [x, nil]]
  |        ^
error[TL0621]: `[1` is not a `List` (attribute `l` of `r`): it ends where `,` should be
  --> r.facts:2:5
2 | 2 [1
  |     ^
error[TL0621]: `[1, nil] 4` is not a `List` (attribute `l` of `r`): there is more text after the value
  --> r.facts:3:12
3 | 3 [1, nil] 4
  |            ^
error[TL0621]: `[1, nil, 2]` is not a `List` (attribute `l` of `r`): `,` where `]` should be
  --> r.facts:4:10
4 | 4 [1, nil, 2]
  |          ^"""
    assert message(read, text, b"1\t[1, [x, nil]]\n2\t[1\n3\t[1, nil] 4\n4\t[1, nil, 2]\n") == expected


def test_malformed_quotes(read):
    text = ".decl r(x: symbol, y: number)\n.input r(rfc4180=true)"
    expected = """\
error[TL0624]: a quoted field goes on after its closing quote
  --> r.facts:1:4
1 | "a"b,1
  |    ^
error[TL0624]: a quoted field does not end
  --> r.facts:2:1
2 | "c,2
  | ^^^^"""
    assert message(read, text, b'"a"b,1\n"c,2\nd,3\n') == expected


def test_unbalanced_brackets(read):
    text = '.decl r(x: number, l: List)\n.input r(delimiter=",")'
    assert "error[TL0624]: a record does not end: `]` is missing" in message(read, text, b"1,[1,nil\n")
    assert "error[TL0624]: `]` closes no record" in message(read, text, b"1,nil]\n")


def test_after_twenty_malformed_lines_the_rest_is_counted(read):
    text = message(read, EDGE, b"x\ty\n" * 1234)
    assert text.count("error[TL0621]") == 20
    assert text.endswith("error[TL0629]: edge.facts: 1,214 more malformed facts")


def test_malformed_lines_can_be_skipped_and_are_reported(read):
    rows, bad = read(EDGE, b"1\t2\nx\t3\n4\t5\n6\n", skip=True)
    assert rows == [(1, 2), (4, 5)]
    assert bad.count == 2
    expected = """\
warning[TL0636]: edge.facts: 2 malformed facts skipped
  note: the first one: `x` is not a number (attribute `from` of `edge`)
  --> edge.facts:2:1
2 | x 3
  | ^"""
    assert bad.report()[0].render() == expected


def test_a_missing_file_is_an_error_that_says_what_to_do(declared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    info, types, directive = declared(EDGE)
    with pytest.raises(TidelogError) as raised:
        read_facts(info, types, directive, Path(), BadRows())
    expected = """\
error[TL0620]: cannot open fact file `edge.facts`: there is no such file
   --> <text>:10:8
10 | .input edge
   |        ^^^^
  help: put the facts of `edge` there, name another folder with -F, or another file with `.input edge(filename=…)`"""
    assert str(raised.value) == expected
    Path("edge.parquet").touch()
    with pytest.raises(TidelogError, match=r'`edge.parquet` is there: write `.input edge\(filename="edge.parquet"\)`'):
        read_facts(info, types, directive, Path(), BadRows())
    with pytest.raises(TidelogError, match="there is no folder `nowhere`"):
        read_facts(info, types, directive, Path("nowhere"), BadRows())
    assert read_facts(info, types, directive, Path(), BadRows(), missing_ok=True).num_rows == 0


def test_a_folder_without_files_is_an_error(declared, tmp_path):
    (tmp_path / "edge.facts").mkdir()
    info, types, directive = declared(EDGE)
    with pytest.raises(TidelogError, match=r"TL1261.*there are no files"):
        read_facts(info, types, directive, tmp_path, BadRows())


def test_spark_is_refused_here(declared, tmp_path):
    info, types, directive = declared(EDGE + "(IO=spark)")
    with pytest.raises(TidelogError, match=r"TL0628.*needs a Spark session"):
        read_facts(info, types, directive, tmp_path, BadRows())


def test_what_is_wrong_in_several_files_is_raised_at_once(declared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.facts").write_text("1\nx\n")
    Path("c.facts").write_text("1.5\n")
    _, types, _ = declared(".decl a(x: number)\n.decl b(x: number)\n.decl c(x: number)")
    inputs = [(types.relations[name], None) for name in "abc"]
    with pytest.raises(TidelogError) as raised:
        list(read_inputs(inputs, types, Path(), BadRows()))
    assert raised.value.codes == ("TL0621", "TL0620", "TL0621")
    Path("a.facts").write_text("1\n")
    found = read_inputs(inputs[:1] * 2, types, Path(), BadRows())
    assert [(name, table.num_rows) for name, table in found] == [("a", 1), ("a", 1)]


def test_line_ends_inside_of_quotes_are_part_of_the_value(tmp_path):
    (tmp_path / "r.csv").write_bytes(b'1,"a\r\nb"\r\n2,"c\nd"\r\n3,"e"\r\n')
    with tidelog.Session(
        '.decl r(n: number, s: symbol)\n.input r(filename="r.csv", rfc4180=true)', facts=tmp_path
    ) as s:
        s.bootstrap()
        assert set(s["r"]) == {(1, "a\r\nb"), (2, "c\nd"), (3, "e")}
