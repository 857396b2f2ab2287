"""A warning, once, where what is derived depends on the numbers that `ord` gives."""

import pytest

from evaluate.running import checked_text

DECLARED = ".decl s(x: symbol, y: symbol) .input s .decl n(x: number, y: number) .input n .decl r(x: number) "


def warned(text: str) -> int:
    return sum(warning.code == "TL0286" for warning in checked_text(DECLARED + text).warnings)


@pytest.mark.parametrize(
    "text",
    [
        "r(1) :- s(x, y), ord(x) < ord(y).",
        "r(1) :- s(x, y), a = ord(x), b = ord(y), a + 1 >= b.",
        "r(m) :- m = max ord(x) : { s(x, _) }.",
        "r(m) :- m = min o : { s(x, _), o = ord(x) }.",
        ".type L = [a: number] .decl l(x: L) .input l r(1) :- l(x), l(y), ord(x) > ord(y).",
        "r(1) :- s(x, y), ord(x) < ord(y). r(2) :- s(x, y), ord(x) > ord(y).",
    ],
)
def test_it_is_said_once(text: str) -> None:
    assert warned(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "r(ord(x)) :- s(x, _).",
        "r(1) :- s(x, y), ord(x) != ord(y).",
        "r(1) :- n(x, y), ord(x) < ord(y).",
        "r(1) :- s(x, y), x < y.",
    ],
)
def test_a_name_for_a_value_does_no_harm(text: str) -> None:
    assert warned(text) == 0
