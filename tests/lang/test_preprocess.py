"""Macros, includes, and where errors point when a text was put together from several files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from tidelog.errors import Report, TidelogError
from tidelog.lang import preprocess
from tidelog.lang import tree as t
from tidelog.lang.load import load_program, parse_program
from tidelog.lang.preprocess import load, preprocess_text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is also the working directory, so that names in errors are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dl", ".dl")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def program(name: str = "main.dl", **options: object) -> t.Program:
    report = Report()
    found = load_program(Path(name), report, **options)  # type: ignore[arg-type]
    report.check()
    return found


def heads(found: t.Program) -> list[str]:
    return [rule.heads[0].name for rule in found.rules]


def errors(name: str = "main.dl", **options: object) -> list[tuple[str, str]]:
    report = Report()
    load_program(Path(name), report, **options)  # type: ignore[arg-type]
    return [(d.code, str(d.span)) for d in report.errors]


# ---- the C preprocessor


def test_a_macro_is_replaced(folder: Path) -> None:
    write(folder, main_dl="#define N 3\n#define TWICE(x) ((x) + (x))\np(N, TWICE(N)).\n")
    three = t.Number(3)
    assert program().items == (t.Rule((t.Atom("p", (three, t.Functor("+", (three, three)))),)),)


def test_macros_in_strings_and_comments_stay(folder: Path) -> None:
    write(folder, main_dl='#define N 3\np("N"). // N\n')
    assert program().items == (t.Rule((t.Atom("p", (t.String("N"),)),)),)


def strings(found: t.Program) -> list[str]:
    return [node.value for rule in found.rules for node in rule.heads[0].walk() if isinstance(node, t.String)]


@pytest.mark.parametrize("size", [10, 300])  # the long ones are hidden from the preprocessor
def test_literals_of_every_length_come_through_macros(folder: Path, size: int) -> None:
    long, quoted = "N" * size, r"a\"N\\" * (size // 6)
    main = (
        f'#define N 3\n#define SAME(x) x\n#define LONG "{long}"\n#include "a.dl"\n'
        f'p(LONG, SAME("{quoted}"), "N"). // it\'s " not a literal\nq("N", "{long}"). /* " N */ r("{quoted}").\n'
        f'#define TEXT(x) #x\ns(TEXT("{quoted}")).\n'
    )
    write(folder, main_dl=main, a_dl=f'#ifdef N\na("{long}").\n#endif\n')
    meant = 'a"N\\' * (size // 6)
    assert strings(program()) == [long, long, meant, "N", "N", long, meant, f'"{quoted}"']


def test_a_literal_of_ten_megabytes_takes_no_more_than_itself_beside_a_macro(folder: Path) -> None:
    write(folder, main_dl=f'#define N 3\np("{"N" * 10_000_000}").\n')
    tracemalloc.start()
    text = load("main.dl", Report()).text
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(text) > 10_000_000
    assert peak < 100_000_000


@pytest.mark.parametrize(("macros", "expected"), [({}, ["b"]), ({"A": ""}, ["a"]), ({"A": "1"}, ["a"])])
def test_ifdef_follows_the_macros_given(folder: Path, macros: dict[str, str], expected: list[str]) -> None:
    write(folder, main_dl="#ifdef A\na().\n#else\nb().\n#endif\n")
    assert heads(program(macros=macros)) == expected


def test_a_macro_from_outside_has_its_value(folder: Path) -> None:
    write(folder, main_dl="#if N > 2\np(N).\n#endif\n")
    assert program(macros={"N": "3"}).items == (t.Rule((t.Atom("p", (t.Number(3),)),)),)


def test_a_file_is_included_once_with_a_guard(folder: Path) -> None:
    write(folder, main_dl='#include "a.dl"\n#include "a.dl"\nmain().\n', a_dl="#ifndef G\n#define G\na().\n#endif\n")
    assert heads(program()) == ["a", "main"]


def test_an_included_file_is_found_in_the_folders_given(folder: Path) -> None:
    write(folder, main_dl='#include "a.dl"\n', lib__a_dl="a().\n")
    assert heads(program(include_dirs=[folder / "lib"])) == ["a"]


def test_an_error_in_a_file_included_by_the_preprocessor_points_there(folder: Path) -> None:
    write(folder, main_dl='// one\n#include "a.dl"\n\nmain(.\n', a_dl="\n\na().\na(.\n")
    places = errors()
    assert [code for code, _ in places] == ["TL0101", "TL0101"]
    assert [place.rpartition("/")[2] for _, place in places] == ["a.dl:4:3", "main.dl:4:6"]


def test_an_error_after_conditional_text_has_its_own_line(folder: Path) -> None:
    write(folder, main_dl="#ifdef A\n\n\n\n#endif\n\np(.\n")
    assert errors() == [("TL0101", "main.dl:7:3")]


def test_a_missing_file_of_the_preprocessor_is_reported(folder: Path) -> None:
    write(folder, main_dl='p().\n#include "gone.dl"\n')
    ((code, place),) = errors()
    assert (code, place) == ("TL0115", "main.dl:2:1")


def test_an_unfinished_condition_is_reported(folder: Path) -> None:
    write(folder, main_dl="p().\n#ifdef A\nq().\n")
    assert [code for code, _ in errors()] == ["TL0116"]


def test_an_error_directive_is_reported(folder: Path) -> None:
    write(folder, main_dl="#error not like this\n")
    report = Report()
    load_program(Path("main.dl"), report)
    assert "not like this" in report.errors[0].message


def test_line_marks_of_another_preprocessor_are_origins() -> None:
    report = Report()
    parse_program('# 10 "other.dl"\np().\nq(.\n', report, "main.dl")
    assert str(report.errors[0].span) == "other.dl:11:3"


# ---- .include and .once


def test_include_puts_the_file_where_it_stands(folder: Path) -> None:
    write(folder, main_dl='a(). .include "b.dl" c().\n', b_dl="b().\n")
    assert heads(program()) == ["a", "b", "c"]


def test_included_files_are_relative_to_the_file_that_includes_them(folder: Path) -> None:
    write(folder, main_dl='.include "lib/a.dl"\n', lib__a_dl='.include "b.dl"\na().\n', lib__b_dl="b().\n")
    assert heads(program()) == ["b", "a"]


def test_include_looks_in_the_folders_given(folder: Path) -> None:
    write(folder, main_dl='.include "a.dl"\n', lib__a_dl="a().\n")
    assert heads(program(include_dirs=["lib"])) == ["a"]


def test_once_skips_the_second_time(folder: Path) -> None:
    write(folder, main_dl='.include "a.dl"\n.include "a.dl"\nmain().\n', a_dl=".once\na().\n")
    assert heads(program()) == ["a", "main"]


def test_without_once_a_file_comes_twice(folder: Path) -> None:
    write(folder, main_dl='.include "a.dl"\n.include "a.dl"\n', a_dl="a().\n")
    assert heads(program()) == ["a", "a"]


def test_include_in_a_comment_or_a_string_is_none(folder: Path) -> None:
    write(folder, main_dl='// .include "a.dl"\n/* .include "a.dl" */ p(".include").\n')
    assert heads(program()) == ["p"]


def test_an_error_in_an_included_file_points_there(folder: Path) -> None:
    write(folder, main_dl='p().\n.include "a.dl"\nq(.\n', a_dl="\na(.\n")
    assert errors() == [("TL0101", "a.dl:2:3"), ("TL0101", "main.dl:3:3")]


def test_the_line_after_an_include_is_counted_in_its_own_file(folder: Path) -> None:
    write(folder, main_dl='.include "a.dl" p(.\n', a_dl="a().\na().\n")
    assert [place.rsplit(":", 1)[0] for _, place in errors()] == ["main.dl:1"]


def test_a_missing_include_is_reported_where_it_stands(folder: Path) -> None:
    write(folder, main_dl='p().\n  .include "gone.dl"\n')
    assert errors() == [("TL0115", "main.dl:2:3")]


def test_a_file_that_includes_itself_ends_in_an_error(folder: Path) -> None:
    write(folder, main_dl='p().\n.include "main.dl"\n')
    assert [code for code, _ in errors()] == ["TL0117"]


def test_a_file_that_includes_itself_by_the_preprocessor_ends_in_an_error(folder: Path) -> None:
    write(folder, main_dl='#define A 1\np().\n#include "main.dl"\n')
    with pytest.raises(TidelogError):
        program()


@pytest.mark.parametrize("how", [".include", "#define A 1\n#include"])
def test_a_file_that_includes_itself_twice_ends_soon(folder: Path, how: str) -> None:
    write(folder, main_dl=f'{how} "main.dl"\n{how} "main.dl"\n')
    assert "TL0117" in [code for code, _ in errors()]


MALFORMED = ("#ifdef", "#if", "#if 1 +", "#define", "#include", "#elif", "#if 1 / 0", "#undef", "#endif", "#include <")


@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_directive_is_an_error_or_nothing(folder: Path, line: str) -> None:
    write(folder, main_dl=f"p().\n{line}\nq().\n")
    assert {code for code, _ in errors()} <= {"TL0115", "TL0116"}


def test_an_error_of_the_preprocessor_in_an_included_file_points_there(folder: Path) -> None:
    write(folder, main_dl='#include "a.dl"\n', a_dl="\n#error no\n")
    ((code, place),) = errors()
    assert code == "TL0116"
    assert place.endswith("a.dl:2:1")


def test_a_program_that_does_not_exist_is_an_error(folder: Path) -> None:
    with pytest.raises(TidelogError) as caught:
        program("gone.dl")
    assert caught.value.codes == ("TL0115",)


def test_a_text_without_directives_passes_untouched() -> None:
    text = "p(1).\n// # include\n"
    assert preprocess_text(text, "a.dl", Report()).text == text


def test_bytes_that_are_no_utf_8_pass_through(folder: Path) -> None:
    (folder / "main.dl").write_bytes(b'p("\xff").\n')
    assert load("main.dl", Report()).text == 'p("\udcff").\n'


def test_macros_that_double_themselves_end_with_an_error(folder: Path) -> None:
    doubling = "\n".join(f"#define A{i + 1} A{i},A{i}" for i in range(30))
    write(folder, main_dl=f"#define A0 1,1\n{doubling}\n.decl a(x: number)\na(A30).\n")
    assert [code for code, _ in errors()] == ["TL0190"]


def test_macros_that_double_a_word_end_with_an_error(folder: Path) -> None:
    doubling = "\n".join(f"#define D{i + 1}(x) D{i}(CAT(x,x))" for i in range(30))
    write(
        folder, main_dl=f"#define CAT2(a,b) a##b\n#define CAT(a,b) CAT2(a,b)\n#define D0(x) x\n{doubling}\na(D30(1)).\n"
    )
    assert [code for code, _ in errors()] == ["TL0190"]


@pytest.mark.parametrize("include", [".include", "#include"])
def test_files_that_include_each_other_twice_end_with_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, include: str
) -> None:
    monkeypatch.setattr(preprocess, "MOST_INCLUDES", 50)
    for i in range(30):
        write(folder, **{f"f{i}_dl": f'{include} "f{i + 1}.dl"\n' * 2})
    write(folder, f30_dl="\n")
    assert [code for code, _ in errors("f0.dl")] == ["TL0191"]


def test_a_byte_order_mark_is_not_part_of_the_program(folder: Path) -> None:
    (folder / "main.dl").write_bytes(b"\xef\xbb\xbfp(1).\n")
    assert heads(program()) == ["p"]


def test_a_folder_in_place_of_a_program_is_said_to_be_one(folder: Path) -> None:
    (folder / "main.dl").mkdir()
    with pytest.raises(TidelogError, match="it is a folder"):
        program()


OPERATORS = """
#define apply(op, x, y, out) out = x op y
#if RAM_DOMAIN_SIZE == 64
r(z) :- apply(+, 1, 2, z), apply(band, 7, 12, z).
#else
r(0).
#endif
"""


def test_a_macro_takes_an_operator_and_numbers_have_64_bits() -> None:
    report = Report()
    text = preprocess_text(OPERATORS, "<text>", report).text
    assert "r(z) :- z = 1 + 2, z = 7 band 12." in " ".join(text.split())
    assert "r(0)" not in text
    assert "r(0)" in preprocess_text(OPERATORS, "<text>", report, macros={"RAM_DOMAIN_SIZE": "32"}).text
