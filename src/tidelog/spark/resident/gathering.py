"""Facts that are entered into relations while others are still on their way.

The facts of a Bootstrap that tasks read from files are not kept until all are there: a thread of its own enters them as
they come, a few batches behind. What is always true: these relations belong to no epoch until a command names their
gathering. A fact counts once however often it comes, so a task that Spark ran twice does no harm: it has read the same
file. (That cannot be said of a DataFrame, whose rows may be others the second time; hence the *parts* of `exchange`.)
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

from tidelog.evaluate.bindings import Words
from tidelog.local import LocalSession
from tidelog.store import Relation

AHEAD = 3
"""Batches that may wait."""


class Gathering:
    """See the module's docstring."""

    def __init__(self, session: LocalSession) -> None:
        self._session = session
        self._relations: dict[str, Relation] = {}
        self._thread = ThreadPoolExecutor(1, "tidelog-gathering")
        self._waiting: deque[Future[int]] = deque()

    def enter(self, name: str, words: Words, expected: int) -> None:
        """Facts of a relation; about how many there will be in the end."""
        if name not in self._relations:
            self._relations[name] = self._session.gather(name)
        relation = self._relations[name]
        limited = copy_context()  # the limits of whoever calls hold for the thread as well
        self._waiting.append(self._thread.submit(limited.run, self._insert, relation, words, expected))
        while len(self._waiting) > AHEAD:
            self._waiting.popleft().result()

    @staticmethod
    def _insert(relation: Relation, words: Words, expected: int) -> int:
        return relation.insert(words, later=max(expected - relation.count - len(words), 0))

    def finish(self) -> dict[str, Relation]:
        """The relations, with all that was entered. Whoever asks has to give them to a Bootstrap."""
        while self._waiting:
            self._waiting.popleft().result()
        self._thread.shutdown()
        found, self._relations = self._relations, {}
        return found

    def dismiss(self) -> None:
        """Forget everything."""
        self._thread.shutdown(cancel_futures=True)
        for relation in self._relations.values():
            self._session.dismiss(relation)
