"""Tables read ahead come in their order, and what goes wrong comes where it would."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import pytest

from tidelog import Session
from tidelog.errors import TidelogError
from tidelog.io.ahead import ahead

LIMIT: ContextVar[int] = ContextVar("LIMIT", default=0)


def numbers(read: list[int], fails_at: int = -1) -> Iterator[int]:
    for number in range(4):
        if number == fails_at:
            raise ValueError("no such file")
        read.append(LIMIT.get())
        yield number


def test_the_order_and_the_context_stay() -> None:
    token = LIMIT.set(7)
    try:
        read: list[int] = []
        assert list(ahead(numbers(read), 2)) == [0, 1, 2, 3]
        assert read == [7] * 4
        assert list(ahead(numbers([]), 1)) == [0, 1, 2, 3]
    finally:
        LIMIT.reset(token)


def test_the_next_is_read_while_one_is_used() -> None:
    second = threading.Event()

    def tables() -> Iterator[int]:
        yield 1
        second.set()
        yield 2

    for table in ahead(tables(), 2):
        if table == 1:
            assert second.wait(20)


def test_an_error_comes_in_its_place() -> None:
    tables = ahead(numbers([], fails_at=2), 3)
    assert [next(tables), next(tables)] == [0, 1]
    with pytest.raises(ValueError, match="no such file"):
        next(tables)


@pytest.mark.parametrize("strategy", ["batch", "elastic"])
def test_a_session_reads_the_same_facts_and_finds_the_same_mistakes(tmp_path: Path, strategy: str) -> None:
    text = "".join(f".decl r{n}(a: symbol, b: number)\n.input r{n}\n" for n in range(5)) + (
        ".decl all(a: symbol)\n" + "".join(f"all(a) :- r{n}(a, _).\n" for n in range(5)) + ".output all\n"
    )
    for n in range(5):
        (tmp_path / f"r{n}.facts").write_text("".join(f"t{n * 50 + i}\t{i}\n" for i in range(100)))
    found = []
    for threads in (1, 2):
        with Session(text, strategy=strategy, threads=threads, facts=tmp_path) as s:
            s.bootstrap()
            found.append((s["all"].to_arrow().sort_by("a"), s.query("r3(X, 99)")))
    assert found[0] == found[1]
    (tmp_path / "r1.facts").write_text("a\tb\n")
    (tmp_path / "r4.facts").unlink()
    said = []
    for threads in (1, 2):
        with Session(text, strategy=strategy, threads=threads, facts=tmp_path) as s, pytest.raises(TidelogError) as no:
            s.bootstrap()
        said.append(str(no.value))
    assert said[0] == said[1]
    assert "r4.facts" in said[0]
