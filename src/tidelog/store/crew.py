"""A crew: several threads that run the same plan over shares of one scan, and share one insertion.

What is always true: threads take chunks of the scan from one shared cursor; they insert into the head's table with
atomic operations; nothing that they read is replaced before all of them have stopped. Cost: starting all threads
takes some ten microseconds, so small deltas stay on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tidelog.store import codes
from tidelog.store.encoded import Encoded
from tidelog.store.index import Index
from tidelog.store.memory import address

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from tidelog.store.database import Database

T = TypeVar("T")
R = TypeVar("R")


class Crew:
    """The threads of a database, the calling one among them."""

    def __init__(self, database: Database, threads: int) -> None:
        self.database, self.threads = database, threads
        self._pool: ThreadPoolExecutor | None = None

    def _threads(self) -> ThreadPoolExecutor:
        """The other threads, from the first time on that there is enough to do for them."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(max(self.threads - 1, 1), thread_name_prefix="tidelog")
        return self._pool

    def _map(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """work(item) for all items at once, under the caller's limit of memory; the first on this thread."""
        if len(items) == 1:
            return [work(items[0])]
        others = [self._threads().submit(copy_context().run, work, item) for item in items[1:]]
        try:
            first = [work(items[0])]
        finally:
            rest = [o.exception() or o.result() for o in others]
        for result in rest:
            if isinstance(result, BaseException):
                raise result
        return first + rest  # type: ignore[operator]

    def run(self, team: Sequence[Encoded], pause: Callable[[], None]) -> None:
        """Run copies of one plan, one per thread, from its beginning to its end."""
        shared = np.zeros(8, np.int64)
        for encoded in team:
            scan = encoded.scan
            if scan is not None and scan.viewed == codes.DELTA:
                shared[0] = self.database.relation_at(scan.relation).delta_start
            encoded.source.shared = address(shared)
            encoded.plan.level = -1
            encoded.plan.sharing = self.database.chunk * (len(team) - 1)
        kernels, running = self.database.kernels, list(team)
        try:
            while running:
                statuses = self._map(lambda e: kernels.run_plan(e.address), running)
                wishes = [(e, s) for e, s in zip(running, statuses, strict=True) if s not in (codes.DONE, codes.PAUSE)]
                if wishes:  # the others ask again if this did not serve them too
                    self.database.serve_plan(wishes[0][1], wishes[0][0])
                running = [e for e, s in zip(running, statuses, strict=True) if s != codes.DONE]
                if codes.PAUSE in statuses:
                    pause()
        finally:
            for encoded in team:
                encoded.source.shared = encoded.plan.sharing = 0

    def update(self, indexes: Sequence[Index], threads: int | None = None) -> None:
        """Bring indexes up to date, each on one thread: of so many, or of the crew's."""
        todo = list(indexes)

        def work(_: int) -> None:
            scratch = np.zeros(1024, np.int64)
            while todo:
                try:
                    index = todo.pop(0)
                except IndexError:
                    return
                self.database.update(index, scratch)

        self._map(work, range(min(threads or self.threads, max(len(todo), 1))))
