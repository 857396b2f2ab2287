"""Texts that functors make are memory like any other."""

from __future__ import annotations

import pytest

from tidelog import Session, room
from tidelog.errors import TidelogError
from tidelog.evaluate import functors
from tidelog.evaluate.limits import Limits

DOUBLING = '.decl s(x: symbol)\ns("abcdefgh").\ns(cat(x, x)) :- s(x).'


@pytest.mark.parametrize("strategy", ["batch", "elastic"])
def test_texts_that_double_in_a_recursion_end_at_the_limit(strategy: str) -> None:
    limits = Limits(max_memory=room.resident_bytes() + (200 << 20))
    with Session(DOUBLING, strategy=strategy, limits=limits) as session, pytest.raises(TidelogError) as caught:
        session.bootstrap({})
    assert caught.value.codes == ("TL0903",)
    assert " of s, with " in str(caught.value)


def test_memory_that_runs_out_in_a_functor_is_an_error_with_its_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*texts: str) -> str:
        raise MemoryError

    monkeypatch.setitem(functors._FUNCTORS, "cat", greedy)
    with Session(DOUBLING, strategy="batch") as session, pytest.raises(TidelogError) as caught:
        session.bootstrap({})
    assert caught.value.codes == ("TL0910",)
    assert " of s, with " in str(caught.value)


def test_a_text_of_thousands_of_digits_is_out_of_range() -> None:
    text = '.decl p(x: number)\np(to_number("' + "9" * 5000 + '")) :- true.'
    with Session(text) as session, pytest.raises(TidelogError, match="out of range"):
        session.bootstrap({})
