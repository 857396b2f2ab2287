"""What a session without a state directory does again when its worker is lost.

The first change set is what Bootstrap began with, the others followed it. What is always true: a new worker that is
told all of them in order is in the session's epoch, under its number. A batch of a stream can only be read while it is
at work, so its frames are kept as checkpoints. Cost: the rows of these; after `LONGEST` epochs the worker's facts take
the place of all that led to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidelog.analysis.checked import Checked
from tidelog.plain import replace
from tidelog.spark.cut import cutter
from tidelog.spark.frames import Frame
from tidelog.spark.on_spark import ChangeSet
from tidelog.spark.read import Given

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LONGEST = 100
"""Change sets after which the history begins anew: their replay should not take longer than their lives."""


class History:
    """See the module's docstring. `epoch` is the number of the epoch that the first change set made."""

    def __init__(self, spark: SparkSession, checked: Checked) -> None:
        self.checked = checked
        self.epoch = 0
        self.changes: list[ChangeSet] = []
        self._cut = cutter(spark)

    def begin(self, change: ChangeSet, epoch: int) -> None:
        self.epoch, self.changes = epoch, [change]

    def begin_with(self, facts: Mapping[str, DataFrame], epoch: int) -> None:
        """Begin with the facts of an epoch, whatever led to them."""
        relations, types = self.checked.relations, self.checked.types
        given: dict[str, list[Given]] = {
            name: [Frame(self._cut(frame), relations[name], types)] for name, frame in facts.items()
        }
        self.begin(ChangeSet(insert=given), epoch)

    def add(self, change: ChangeSet) -> None:
        self.changes.append(change)

    @property
    def is_long(self) -> bool:
        return len(self.changes) > LONGEST

    def lasting(self, change: ChangeSet) -> ChangeSet:
        """The change set with frames that can be read later, too."""
        if change.batch is None:
            return change
        return replace(change, insert=self._lasting(change.insert), delete=self._lasting(change.delete))

    def _lasting(self, given: Mapping[str, list[Given]]) -> dict[str, list[Given]]:
        return {
            name: [replace(part, frame=self._cut(part.frame)) if isinstance(part, Frame) else part for part in parts]
            for name, parts in given.items()
        }
