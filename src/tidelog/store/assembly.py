"""Blocks that point at each other, put together as one piece of memory.

A plan is a dozen small blocks. Each in memory of its own would cost more than what it holds: a program of a hundred
thousand rules has some millions of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from ctypes import addressof, sizeof
from typing import NamedTuple, TypeVar, Union

from tidelog.store.blocks import Block

B = TypeVar("B", bound=Block)
Item = Union[Block, "array[int]"]


class Link(NamedTuple):
    """A field of a block, or a word of an array, shall be the address of another item of the same piece."""

    item: Item
    field: str | int
    target: Item


def assemble(first: B, others: Sequence[Item], links: Sequence[Link]) -> B:
    """The first block in its place, the others behind it, with their links; it holds the memory of all. They are
    different objects, even where they are equal."""
    items = [first, *others]
    starts: dict[int, int] = {}
    length = 0
    for item in items:
        starts[id(item)] = length
        length += len(item) * 8 if isinstance(item, array) else sizeof(item)
    memory = bytearray(length)
    placed = type(first).from_buffer(memory)
    base = addressof(placed)
    for item, field, target in links:
        if isinstance(field, int):
            item[field] = base + starts[id(target)]  # type: ignore[index]
        else:
            setattr(item, field, base + starts[id(target)])
    memory[:] = b"".join(items)  # type: ignore[arg-type]
    return placed
