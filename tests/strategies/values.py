"""What random programs are made of: types, constants, relations, and choices that shrink to the first one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis.strategies import SearchStrategy

from oracle import NAN

T = TypeVar("T")

DECLARATIONS = {
    ("Pair",): ".type Pair = [a: number, b: symbol]",
    ("Shape", "Dot", "Box", "Tag"): ".type Shape = Dot {} | Box {w: number, h: number} | Tag {s: symbol}",
    ("Colour", "Red", "Green", "Blue"): ".type Colour = Red {} | Green {} | Blue {}",
    ("List",): ".type List = [head: number, tail: List]",
}
"""Type declarations, by the words that need them."""

CONSTANTS: dict[str, dict[str, Any]] = {
    "number": {"0": 0, "1": 1, "2": 2, "3": 3, "-1": -1},
    "unsigned": {"0u": 0, "1u": 1, "2u": 2, "0xFu": 15},
    "float": {
        "0.0": 0.0, "0.5": 0.5, "1.0": 1.0, "2.5": 2.5, "-0.0": 0.0, "-1.0": -1.0, "0.1": 0.1, "(0.0 / 0.0)": NAN,
        "(1.0 / 0.0)": math.inf, "(-1.0 / 0.0)": -math.inf, "1.0e16": 1e16,
    },
    "symbol": {'"a"': "a", '"b"': "b", '"ab"': "ab", '""': ""},
    "Pair": {"nil": None, '[1, "a"]': (1, "a"), '[2, "a"]': (2, "a"), '[1, "b"]': (1, "b")},
    "Shape": {"$Dot()": ("Dot",), "$Box(1, 2)": ("Box", 1, 2), "$Box(2, 2)": ("Box", 2, 2), '$Tag("a")': ("Tag", "a")},
    "Colour": {"$Red()": ("Red",), "$Green()": ("Green",), "$Blue()": ("Blue",)},
    "List": {"nil": None, "[1, nil]": (1, None), "[1, [2, nil]]": (1, (2, None))},
}  # fmt: skip
"""For each type some constants: how they are written, and what they are to the oracle."""

FIELDS: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "Pair": (("[", "]", ("number", "symbol")),),
    "Shape": (("$Dot(", ")", ()), ("$Box(", ")", ("number", "number")), ("$Tag(", ")", ("symbol",))),
    "List": (("[", "]", ("number", "List")),),
}
"""How values are put together: what stands before and behind the fields, and their types."""


@dataclass(frozen=True)
class Relation:
    name: str
    columns: tuple[str, ...]


class Chooser:
    """Choices that hypothesis makes and shrinks; the simplest is the first."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.spans = 1000  # each round of `repeat` has a label of its own

    def repeat(self, least: int, most: int, tenths: int = 6) -> Iterator[int]:
        """Numbers from 0, so long as luck wills. Hypothesis may leave out any of the rounds when it shrinks."""
        for number in range(most):
            self.spans += 1
            self.data.start_span(self.spans)
            if number < least or self.chance(tenths):
                yield number
                self.data.stop_span()
            else:
                self.data.stop_span()
                return

    def upto(self, most: int) -> int:
        return self.data.draw_integer(0, most) if most else 0  # type: ignore[no-any-return]

    def pick(self, options: Sequence[T]) -> T:
        return options[self.upto(len(options) - 1)]

    def chance(self, tenths: int) -> bool:
        """True in so many of ten cases."""
        return self.upto(9) >= 10 - tenths

    def weighted(self, options: dict[T, int]) -> T:
        number = self.upto(sum(options.values()) - 1)
        for option, weight in options.items():
            number -= weight
            if number < 0:
                return option
        raise AssertionError

    def shuffled(self, items: list[T]) -> list[T]:
        rest, result = list(items), []
        while rest:
            result.append(rest.pop(self.upto(len(rest) - 1)))
        return result


class Written(SearchStrategy[T]):
    """A strategy that makes many choices in one go.

    Hypothesis mutates an example wherever it can tell its parts from each other; of a program with hundreds of
    parts that gives crowds of near-copies. Here no two parts have the same label, so that each example is a new one.
    """

    def __init__(self, write: Callable[[Chooser], T]) -> None:
        super().__init__()
        self.write = write

    def do_draw(self, data: Any) -> T:
        return self.write(Chooser(data))
