"""What all sessions on Spark have in common: the facts of an epoch, read and checked before anything changes; and the
batches of streams, each applied once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.epochs.changes import Batch
from tidelog.epochs.holder import Position
from tidelog.epochs.report import EpochSummary
from tidelog.errors import Diagnostic, Report, TidelogError, error
from tidelog.io.bad_rows import BadRows
from tidelog.lang import tree
from tidelog.local import Changes, Epoch, Settings
from tidelog.local.epoch import tell
from tidelog.local.feed import Sides, change_set, split_table
from tidelog.plain import dataclass, field
from tidelog.spark.feed import feed_frame, split_frame
from tidelog.spark.frames import Frame, is_frame
from tidelog.spark.local_frames import local_frame
from tidelog.spark.read import FactReader, Given
from tidelog.spark.write import write_output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class ChangeSet:
    """The facts of an epoch, as they can be used more than once; `warnings` are of reading them."""

    insert: dict[str, list[Given]] = field(default_factory=dict)
    delete: dict[str, list[Given]] = field(default_factory=dict)
    clear: tuple[str, ...] = ()
    batch: Batch | None = None
    warnings: tuple[Diagnostic, ...] = ()


class OnSpark(ABC):
    """A session's program and settings, and the reading of its facts."""

    def __init__(self, checked: Checked, settings: Settings, spark: SparkSession) -> None:
        self.checked, self.settings, self.spark = checked, settings, spark
        self.vocabulary = Vocabulary(checked)
        self.epoch = 0
        self._told: set[str] = set()  # what need not be said again
        self._position = Position()  # of the streams: what this session has applied

    @abstractmethod
    def update(
        self,
        insert: Mapping[str, Any] | None = None,
        delete: Mapping[str, Any] | None = None,
        clear: str | Iterable[str] = (),
        batch: Batch | None = None,
    ) -> Epoch[DataFrame]: ...

    @abstractmethod
    def relation(self, name: str) -> DataFrame: ...

    @abstractmethod
    def count(self, name: str) -> int: ...

    def write_output(self, directive: tree.Directive, folder: Path) -> list[Diagnostic]:
        """Write a relation where its `.output` says; gives warnings."""
        return write_output(self, directive, folder)

    def apply(self, changes: Mapping[str, Any], batch: Batch | None = None) -> Epoch[DataFrame]:
        """The next epoch, of change feeds: see `spark.feed`."""
        self.check_ready()
        if self.has_applied(batch):
            return self.nothing(batch)
        bad_rows = self._bad_rows()

        def split(info: RelationInfo, feed: Any) -> Sides[Any]:
            if is_frame(feed):
                return split_frame(feed, info, bad_rows)
            return split_table(feed, info, self.checked.types, bad_rows)

        insert, delete = change_set(changes, self.vocabulary, split)
        epoch = self.update(insert, delete, (), batch)
        epoch.warnings = (*self.told(bad_rows.report()), *epoch.warnings)
        return epoch

    # ---- batches of streams

    def has_applied(self, batch: Batch | None) -> bool:
        """Whether this session has applied a batch; what was before it, a state directory knows."""
        return self._position.has(batch)

    def remember(self, batch: Batch | None) -> None:
        self._position = self._position.after(batch)

    def nothing(self, batch: Batch | None) -> Epoch[DataFrame]:
        """What a batch that is replayed does."""
        assert batch is not None
        none: Changes[DataFrame] = Changes({}, lambda name: local_frame(self.spark, None, self.vocabulary.info(name)))
        summary = EpochSummary(self.epoch, "none", f"batch {batch[1]} was applied before", 0.0, 0)
        return Epoch(summary, none, none, self.feed)

    def feed(self, name: str, sides: Iterable[tuple[str, DataFrame]], epoch: int) -> DataFrame:
        return feed_frame(self.vocabulary.info(name), sides, epoch)

    # ---- facts

    def beginning(self, facts: Mapping[str, Any] | None) -> ChangeSet:
        """What a bootstrap begins with: these facts, or those of the program's `.input` directives."""
        reader, report = self._reader(), Report()
        given = reader.inputs() if facts is None else reader.given(facts, report)
        report.check_in_order()
        return ChangeSet(insert=given, warnings=tuple(reader.bad_rows.report()))

    def change(
        self,
        insert: Mapping[str, Any] | None,
        delete: Mapping[str, Any] | None,
        clear: str | Iterable[str],
        batch: Batch | None,
    ) -> ChangeSet:
        """What an update is to change."""
        reader, report = self._reader(), Report()
        deleted, inserted = reader.given(delete or {}, report), reader.given(insert or {}, report)
        names = [clear] if isinstance(clear, str) else list(clear)
        cleared = tuple(name for name in dict.fromkeys(names) if self.vocabulary.is_input(name, report))
        report.check_in_order()
        return ChangeSet(inserted, deleted, cleared, batch, tuple(reader.bad_rows.report()))

    def validated(self, name: str, facts: Any) -> Any:
        report = Report()
        given = self._reader().given({name: facts}, report)
        report.check_in_order()
        (found,) = given[name]
        return found.typed() if isinstance(found, Frame) else found

    def _reader(self) -> FactReader:
        return FactReader(self.spark, self.checked, Path(self.settings.facts), self._bad_rows())

    def _bad_rows(self) -> BadRows:
        return BadRows(self.settings.skip_bad_rows, told=self._told)

    def told(self, *warnings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The warnings of an epoch that has ended."""
        found = tuple(chain.from_iterable(warnings))
        tell(found, self._told)
        return found

    def framed(self, name: str, given: Iterable[Given]) -> DataFrame:
        """Facts of a relation as one DataFrame."""
        info = self.checked.relations[name]
        frames = [part.typed() if isinstance(part, Frame) else local_frame(self.spark, part, info) for part in given]
        result = frames[0]
        for frame in frames[1:]:
            result = result.unionByName(frame)
        return result

    def check_ready(self) -> None:
        if not self.epoch:
            raise error(
                "TL1102", "the session has no facts yet",
                help="call bootstrap(); without an argument it reads the program's `.input` files",
            )  # fmt: skip


def closed() -> TidelogError:
    return error("TL1101", "the session is closed", help="use it inside its `with`, or make a new one")
