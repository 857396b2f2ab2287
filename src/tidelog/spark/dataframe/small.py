"""Programs that are small: evaluated in this process, because all of it costs less there than one Spark job does.

A session of the DataFrame executor begins here. Its facts are collected, if they are few, and a session of this process
keeps the relations; DataFrames of them are made when somebody asks. What is always true: nothing here has more than
MOST_FACTS facts in a change set or MOST_TUPLES tuples in its relations. What would raises `TooLarge` and leaves
everything as it was; the session then goes on with the spread-out relations of `engine.py`, for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from tidelog.analysis.checked import Checked
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.limits import Limits, Observer
from tidelog.io.bad_rows import BadRows
from tidelog.io.tables import table_of
from tidelog.local import Epoch, LocalSession, Settings
from tidelog.plain import dataclass, field, fields, replace
from tidelog.spark.dataframe.faults import translated
from tidelog.spark.frames import Frame
from tidelog.spark.on_spark import ChangeSet
from tidelog.spark.read import Given

MOST_FACTS = 200_000
"""More are not collected: reading them back and forth would begin to cost what Spark's jobs do. With fewer than none,
every session is spread out from the beginning; tests of that say so."""
MOST_TUPLES = 2_000_000
"""About what this process computes in the time of a few Spark jobs, in some hundred megabytes at most."""


class TooLarge(Exception):
    """This is for Spark."""


@dataclass
class Bounded(Limits):
    """The user's limits, and ours. `tuples` are those of each stratum when it was last looked at."""

    tuples: dict[tuple[str, ...], int] = field(default_factory=dict)

    def check(self, iteration: int, tuples: int) -> None:
        self.tuples[self.relations] = tuples
        if sum(self.tuples.values()) > MOST_TUPLES:
            raise TooLarge
        super().check(iteration, tuples)


class Small:
    """The relations of a program in this process."""

    def __init__(self, checked: Checked, settings: Settings, observer: Observer | None) -> None:
        limits = Bounded(**{f.name: getattr(settings.limits, f.name) for f in fields(settings.limits) if f.init})
        self.checked = checked
        self.session = LocalSession(checked, replace(settings, limits=limits), observer)

    def bootstrap(self, begun: ChangeSet) -> Epoch[pa.Table]:
        return self.session.bootstrap_words(self._words(begun.insert))

    def update(self, change: ChangeSet) -> Epoch[pa.Table]:
        delete, insert = self._words(change.delete), self._words(change.insert)
        return self.session.update_words(delete, insert, change.clear)

    def rows(self, name: str) -> pa.Table:
        """The tuples of a relation."""
        return self.session.table(self.checked.relations[name], self.session.ready().rows(name))

    def facts(self, name: str) -> pa.Table:
        """Those of an `.input` relation that were given."""
        return self.session.table(self.checked.relations[name], self.session.ready().facts(name))

    def _words(self, given: Mapping[str, Iterable[Given]]) -> dict[str, Words]:
        """The facts in this process, checked and encoded; nothing has changed if they are too many or malformed."""
        if MOST_FACTS < 0:
            raise TooLarge
        left, tables = MOST_FACTS, []
        for name, part in ((name, part) for name, parts in given.items() for part in parts):
            table = self._collected(part, left) if isinstance(part, Frame) else part
            left -= table.num_rows
            tables.append((name, table))
            if left < 0:
                raise TooLarge
        words: dict[str, list[Words]] = {}
        for name, table in tables:
            words.setdefault(name, []).append(self.session.words(name, table))
        return {name: found[0] if len(found) == 1 else np.concatenate(found) for name, found in words.items()}

    def _collected(self, facts: Frame, most: int) -> pa.Table:
        """The facts of a frame if they are no more than `most`."""
        source = facts.typed() if facts.columns is None else facts.columns
        with translated(self.checked.clauses):
            table = source.limit(most + 1).toArrow()
        if table.num_rows > most:
            raise TooLarge
        return table_of(table, facts.info, facts.types, BadRows(facts.skip_bad_rows), numbered=False)
