"""Programs, facts and names that nobody writes by accident: a message and exit status 1, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import tidelog

COPY = ".decl e(x: number)\n.input e{}\n.decl o(x: number)\no(x) :- e(x).\n.output o{}\n"


def refused(folder: Path, program: str | bytes, *args: str) -> str:
    (folder / "p.dl").write_bytes(program if isinstance(program, bytes) else program.encode())
    done = tidelog("run", "p.dl", "--local", "-D", "out", *args, cwd=folder)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (b"\0", "TL0101"),
        (".decl a(x: number)".encode("utf-16"), "TL0101"),
        (".decl a(x: number)\na(" + "(" * 100_000, "TL0103"),
        (".decl a(x: number)\na(0x" + "f" * 5000 + ").", "TL0323"),
        (".decl a(x: number)\na(" + "9" * 5000 + ".1.1.1).", "TL0111"),
        (".decl a(x: number)\na(1) :- " + ", ".join(["a(2)"] * 20_000) + ".", "TL0192"),
        (COPY.format('(filename="a\\0b")', ""), "TL0193"),
        (COPY.format("", '(filename="a\\0b")'), "TL0193"),
        ("#include\n#define\n#if\n", "TL0116"),
    ],
    ids=["zero", "utf-16", "nested", "hexadecimal", "address", "body", "input", "output", "directives"],
)
def test_a_program_out_of_an_attackers_mind(tmp_path: Path, program: str | bytes, code: str) -> None:
    assert f"error[{code}]" in refused(tmp_path, program)


@pytest.mark.parametrize(
    ("io", "content", "code"),
    [
        ("jsonfile", b"[[" + b"9" * 5000 + b"]]", "TL0621"),
        ("jsonfile", b"[" * 100_000, "TL0625"),
        ("file", b"9" * 100_000 + b"\n", "TL062"),
        ("file", b"\0\n", "TL062"),
    ],
)
def test_facts_out_of_an_attackers_mind(tmp_path: Path, io: str, content: bytes, code: str) -> None:
    (tmp_path / "facts").write_bytes(content)
    assert f"error[{code}" in refused(tmp_path, COPY.format(f'(IO={io}, filename="facts")', ""))


@pytest.mark.parametrize("place", [".", "there/is/no/such/folder"])
def test_a_profile_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    (tmp_path / "e.facts").write_text("1\n")
    assert "error[TL0871]: cannot write the profile" in refused(tmp_path, COPY.format("", ""), "--profile", place)
