"""Tables read ahead: while one is numbered and entered, a thread reads the next.

What is always true: the tables come in their order, so texts get the numbers that they would get otherwise; one table
more than without it is in memory; what reading raises is raised where its table would have come. Whoever stops early
waits until the table at hand has been read. Cost: a thread, so nothing to gain for facts that are few.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import copy_context
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def ahead(tables: Iterator[T], threads: int) -> Iterator[T]:
    """The same, of which one is read ahead if there are threads to do it."""
    if threads < 2:
        yield from tables
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="tidelog-read") as reader:
        coming = reader.submit(copy_context().run, _next, tables)
        while table := coming.result():
            coming = reader.submit(copy_context().run, _next, tables)
            yield table.pop()  # nobody else has it while the one after the next is read


def _next(tables: Iterator[T]) -> list[T]:
    """The next one, or none."""
    return list(islice(tables, 1))
