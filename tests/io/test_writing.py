"""Writing relations: the exact text, order, and replacement of files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tidelog.errors import TidelogError
from tidelog.io import size_line, table_of, write_relation

EDGE = ".decl edge(from: number, to: number)\n.output edge"


@pytest.fixture
def write(declared, tmp_path, monkeypatch):
    """write(program, rows, file) -> the bytes of the file."""
    monkeypatch.chdir(tmp_path)

    def writing(text, rows, name, folder=""):
        info, types, directive = declared(text)
        writing.warnings = write_relation(info, types, table_of(rows, info, types), directive, Path(folder))
        return Path(folder, name).read_bytes() if name else None

    return writing


def test_the_default_is_a_tab_separated_file_sorted_by_columns(write):
    assert write(EDGE, [(3, 1), (-1, 10), (3, -2), (-1, 9)], "edge.csv") == b"-1\t9\n-1\t10\n3\t-2\n3\t1\n"


def test_all_kinds_in_order(write):
    text = ".decl r(s: symbol, u: unsigned, f: float, n: number)\n.output r"
    rows = [("b", 2**64 - 1, 0.1, 1), ("a", 5, 1e20, -(2**63)), ("b", 0, 2.0, 2**63 - 1), ("", 0, -0.5, 0)]
    assert write(text, rows, "r.csv") == (
        b"\t0\t-0.5\t0\n"
        b"a\t5\t1e+20\t-9223372036854775808\n"
        b"b\t0\t2\t9223372036854775807\n"
        b"b\t18446744073709551615\t0.10000000000000001\t1\n"
    )


def test_floats_are_printed_with_seventeen_digits(write):
    values = [0.1, 1.0, 1e16, 1e17, 123456789012345680.0, 1e-5, float("inf"), float("-inf"), float("nan"), 1 / 3]
    assert write(".decl r(x: float)\n.output r", [(v,) for v in values], "r.csv").split() == [
        b"-inf", b"1.0000000000000001e-05", b"0.10000000000000001", b"0.33333333333333331", b"1",
        b"10000000000000000", b"1e+17", b"1.2345678901234568e+17", b"inf", b"nan",
    ]  # fmt: skip


def test_delimiter_headers_and_file_name(write):
    text = EDGE + '(delimiter=", ", headers=true, filename="sub/e.txt")'
    assert write(text, [(1, 2)], "sub/e.txt") == b"from, to\n1, 2\n"


def test_rfc4180_quotes_symbols_and_records(write):
    text = ".decl r(s: symbol, n: number, p: Pair)\n.output r(rfc4180=true, headers=true)"
    rows = [('a"b,\n', 1, ('x"y', 0.5)), ("", 2, None)]
    assert write(text, rows, "r.csv") == b's,n,p\n"",2,"nil"\n"a""b,\n",1,"[""x\\""y"", 0.5]"\n'


def test_symbols_in_records_are_printed_as_they_are(write):
    text = ".decl r(p: Pair, t: Tree)\n.output r"
    assert write(text, [(("a, b", 1.0), ("$Tag", "x)"))], "r.csv") == b"[a, b, 1]\t$Tag(x))\n"


def test_records_and_branches(write):
    text = ".decl r(l: List, c: Color, t: Tree)\n.output r"
    rows = [(None, "$Red", "$Leaf"), ((1, (2, None)), ("$Blue",), ("$Node", ("$Leaf",), 3, ("$Tag", "x")))]
    assert write(text, rows, "r.csv") == b"[1, [2, nil]]\t$Blue\t$Node($Leaf, 3, $Tag(x))\nnil\t$Red\t$Leaf\n"


def test_compressed_files_are_the_same_bytes_every_time(write):
    first = write(EDGE + '(compress="true")', [(1, 2)], "edge.csv.gz")
    assert gzip.decompress(first) == b"1\t2\n"
    assert write(EDGE + '(filename="other.csv.gz")', [(1, 2)], "other.csv.gz") == first


def test_nullary_relations(write):
    assert write(".decl r()\n.output r", [()], "r.csv") == b"()\n"
    assert write(".decl r()\n.output r", [], "r.csv") == b""
    assert write(".decl r()\n.output r(IO=jsonfile)", [()], "r.json") == b"[null\n]\n"


def test_json_lists_and_objects(write):
    text = ".decl r(n: number, s: symbol, l: List, f: float)\n.output r(IO=jsonfile{})"
    rows = [(1, 'a"b', (2, None), 0.5), (2**62, "ä", None, 2.0)]
    assert write(text.format(""), rows, "r.json").decode() == (
        '[[1, "a\\"b", [2, null], 0.5],\n[4611686018427387904, "ä", null, 2]]\n'
    )
    assert write(text.format(", format=object"), rows, "r.json").decode() == (
        '[{"n": 1, "s": "a\\"b", "l": {"head": 2, "tail": null}, "f": 0.5},\n'
        '{"n": 4611686018427387904, "s": "ä", "l": null, "f": 2}]\n'
    )


def test_printing(write, capfdbinary):
    write(EDGE + "(IO=stdout)", [(3, 4), (1, 2)], None)
    assert capfdbinary.readouterr().out == b"---------------\nedge\n===============\n1\t2\n3\t4\n===============\n"
    write(EDGE + '(IO=stdout, headers=true, delimiter=",")', [(1, 2)], None)
    assert capfdbinary.readouterr().out == (b"---------------\nedge\nfrom,to\n===============\n1,2\n===============\n")


def test_the_folder_dash_prints_everything_with_headers(write, capfdbinary):
    write(EDGE + "(IO=sqlite)", [(1, 2)], None, folder="-")
    assert capfdbinary.readouterr().out == (
        b"---------------\nedge\nfrom\tto\n===============\n1\t2\n===============\n"
    )


def test_sizes(write, capfdbinary):
    assert size_line("path", 1000) == "path\t1000"
    write(EDGE + "(IO=stdoutprintsize)", [(1, 2), (2, 3)], None)
    assert capfdbinary.readouterr().out == b"edge\t2\n"


def test_symbols_that_break_the_lines_are_written_with_a_warning(write):
    text = ".decl r(x: symbol, y: symbol)\n.output r"
    assert write(text, [("a", "b\tc")], "r.csv") == b"a\tb\tc\n"
    assert [w.message for w in write.warnings] == ["`r.csv`: symbols in attribute `y` of `r` contain the delimiter"]
    write(text, [("a", "b,c")], "r.csv")
    assert write.warnings == []


def test_a_file_is_replaced_only_when_the_new_one_is_complete(write, monkeypatch):
    write(EDGE, [(1, 2)], "edge.csv")

    def fails(*args):
        yield b"half"
        raise KeyboardInterrupt

    monkeypatch.setattr("tidelog.io.write.text_parts", fails)
    with pytest.raises(KeyboardInterrupt):
        write(EDGE, [(3, 4)], "edge.csv")
    assert Path("edge.csv").read_bytes() == b"1\t2\n"
    assert [p.name for p in Path().iterdir()] == ["edge.csv"]


def test_a_link_keeps_pointing_to_the_file_that_is_replaced(write):
    Path("real.csv").touch()
    Path("edge.csv").symlink_to("real.csv")
    assert write(EDGE, [(1, 2)], "real.csv") == b"1\t2\n"
    assert Path("edge.csv").is_symlink()


def test_devices_are_written_to_directly(write):
    write(EDGE + '(filename="/dev/null")', [(1, 2)], None)
    assert Path("/dev/null").exists()
    assert not Path("/dev/null").is_file()


def test_a_place_that_cannot_be_written_is_an_error(write):
    Path("edge.csv").mkdir()
    with pytest.raises(TidelogError, match=r"TL0630\]: cannot write to `.*edge.csv`: it is a folder"):
        write(EDGE, [(1, 2)], None)
    Path("file").touch()
    with pytest.raises(TidelogError, match=r"TL0630\]: cannot write to "):
        write(EDGE, [(1, 2)], None, folder="file")


def test_many_wide_rows_are_sorted_like_few_narrow_ones(write):
    text = ".decl r(a: number, b: number, c: symbol)\n.output r"
    rows = [(i * 7919 % 1000 * 2**50, -i * 2**40, f"s{i % 13}") for i in range(1000)]
    lines = write(text, rows, "r.csv").decode().splitlines()
    assert lines == ["\t".join(map(str, row)) for row in sorted(rows)]
