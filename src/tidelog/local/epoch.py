"""What an epoch did, as a session's user sees it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from tidelog.epochs.report import EpochSummary
from tidelog.errors import Diagnostic, TidelogWarning
from tidelog.evaluate.remarks import remark
from tidelog.io.columns import BY_POSITION

Table = TypeVar("Table")
MakeFeed = Callable[[str, Iterable[tuple[str, Table]], int], Table]
"""A relation, its tuples by type of change, and an epoch: the change feed of it."""


class Epoch(Generic[Table]):
    """What an epoch did: the strategy and why, the work, and the impact."""

    def __init__(
        self,
        report: EpochSummary,
        inserted: Changes[Table],
        deleted: Changes[Table],
        feed: MakeFeed[Table],
        warnings: tuple[Diagnostic, ...] = (),
    ) -> None:
        self.report = report
        self.number = report.epoch
        self.strategy = report.strategy  # what was done in the end, such as "update" or "bootstrap"
        self.why = report.why
        self.seconds = report.seconds
        self.derivations = report.derivations
        self.budget = report.budget  # the derivations that an Update was allowed, if there was a limit
        self.strata = report.strata  # one report for each stratum that was visited
        self.profile = report.profile  # where the time went, if the session was told to look
        self.inserted = inserted
        self.deleted = deleted
        self.changes = self._feeds(feed)  # the same as one table, with `_change_type` and `_epoch`: a change feed
        self.ignored_inserts = report.ignored_inserts  # facts that were there already, per relation
        self.ignored_deletes = report.ignored_deletes  # facts that were not there, per relation
        self.warnings = (*warnings, *map(remark, report.remarks))  # such as malformed facts that were skipped

    def _feeds(self, feed: MakeFeed[Table]) -> Changes[Table]:
        sides = {"delete": self.deleted, "insert": self.inserted}
        names = dict.fromkeys((*self.inserted, *self.deleted))
        counts = {name: sum(side.count(name) for side in sides.values()) for name in names}

        def table(name: str) -> Table:
            changed = [change for change, side in sides.items() if name in side] or ["insert"]
            return feed(name, [(change, sides[change][name]) for change in changed], self.number)

        return Changes(counts, table)

    def __str__(self) -> str:
        """One line: strategy, work, impact."""
        budget = f" of {self.budget:,}" if self.budget is not None else ""
        sides = (("+", self.inserted), ("-", self.deleted))
        impact = [
            name + "".join(f" {sign}{side.count(name):,}" for sign, side in sides if name in side)
            for name in dict.fromkeys((*self.inserted, *self.deleted))
        ]
        ignored = sum(self.ignored_inserts.values()) + sum(self.ignored_deletes.values())
        return (
            f"epoch {self.number}: {self.strategy} ({self.why}), {self.derivations:,}{budget} derivations "
            f"in {1000 * self.seconds:,.1f} ms; {', '.join(impact) or 'nothing changed'}"
            + (f"; {ignored:,} changes ignored" if ignored else "")
        )

    __repr__ = __str__


class Changes(Mapping[str, Table]):
    """The changed relations of an epoch, each made a table when it is asked for. One that did not change is empty."""

    def __init__(self, counts: Mapping[str, int], table: Callable[[str], Table]) -> None:
        self._counts = counts
        self._table = table

    def __getitem__(self, name: str) -> Table:
        return self._table(name)

    def count(self, name: str) -> int:
        """How many tuples of a relation changed, without making a table of them."""
        return self._counts.get(name, 0)

    def __contains__(self, name: object) -> bool:
        return name in self._counts

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)


def tell(found: Iterable[Diagnostic], told: set[str]) -> None:
    """Warn of what nobody should miss who does not look at an epoch's warnings, and remember that it was told."""
    for warning in found:
        if warning.code == BY_POSITION and warning.message not in told:
            told.add(warning.message)
            warnings.warn(f"{warning.message} ({warning.help})", TidelogWarning, stacklevel=2)
