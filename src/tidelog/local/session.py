"""A session whose engine works in this process.

What is always true: everything handed in is checked before anything changes, and all that is wrong with it is raised
at once; the relations are those of the last epoch that ended, also after an error or an interrupt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.errors import Diagnostic, Report, Source, TidelogError, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.changes import Batch, NetChange, net_change
from tidelog.evaluate.engine import Engine, EpochReport, make_engine
from tidelog.evaluate.facts import Facts as EncodedFacts
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.query import answer
from tidelog.evaluate.rows import no_rows
from tidelog.io.bad_rows import BadRows
from tidelog.io.codec import decode, encode
from tidelog.io.given import given_table
from tidelog.io.read import read_inputs
from tidelog.lang.parsing import escape
from tidelog.local.epoch import Changes, Epoch
from tidelog.local.feed import change_set, feed_table, split_table
from tidelog.local.relation import Relation, tuples
from tidelog.local.settings import Settings
from tidelog.store import Relation as Gathered
from tidelog.store import release_spare

if TYPE_CHECKING:
    from tidelog.state import Durable

Facts = Mapping[str, Any]
"""Relation -> a file's name, rows, columns, a numpy array, or a pandas, polars or Arrow table."""


class LocalSession:
    """See the module's docstring, and `tidelog.Session` for what its methods promise."""

    def __init__(self, checked: Checked, settings: Settings, observer: Observer | None = None) -> None:
        self.checked = checked
        self.vocabulary = Vocabulary(checked)
        self.settings = settings
        self._options = settings.engine_options()
        engine = make_engine(checked, self._options, settings.strategy, observer)
        self.epoch = 0
        self._before = 0
        self._streams: dict[str, int] = {}  # the last batch of each that was applied
        self._durable: Durable | None = None
        if settings.state is not None:
            from tidelog.state import open_state  # reads and writes Parquet, which takes a while to import

            engine = self._durable = open_state(
                engine, settings.strategy, settings.state, settings.migrate, settings.read_only
            )
            self.epoch = self._durable.epoch
        self._engine: Engine | None = engine

    # ---- epochs

    def bootstrap(self, facts: Facts | None = None) -> Epoch[pa.Table]:
        """Begin with these facts and no others; without an argument, with those of the program's `.input` files."""
        self._open()
        bad_rows = BadRows(self.settings.skip_bad_rows)
        if facts is None:
            inputs = [(self.checked.relations[d.relation], d) for d in self.checked.directives("input")]
            tables = read_inputs(inputs, self.checked.types, Path(self.settings.facts), bad_rows)
        else:
            report = Report()
            tables = {name: [table] for name, table in self._tables(facts, bad_rows, report).items()}
            report.check_in_order()
        words = {name: [self.words(name, table) for table in found] for name, found in tables.items()}
        whole = {name: w[0] if len(w) == 1 else np.concatenate(w) for name, w in words.items()}
        return self.bootstrap_words(whole, tuple(bad_rows.report()))

    def bootstrap_words(
        self, words: Mapping[str, EncodedFacts], warnings: tuple[Diagnostic, ...] = ()
    ) -> Epoch[pa.Table]:
        """Begin with facts that have been checked and encoded."""
        return self._ended(self._numbered(self._open().bootstrap(words)), warnings)

    def gather(self, name: str) -> Gathered:
        """A relation for encoded facts that come little by little, to be given to `bootstrap_words` or `dismiss`."""
        return self._open().gather(name)

    def dismiss(self, gathered: Gathered) -> None:
        """Forget facts that will not be needed."""
        gathered.database.retire(gathered)

    def go_on_from(self, epoch: int) -> None:
        """Take the place of a session that has ended so many epochs: the next one has the next number."""
        self._before = epoch

    def _numbered(self, report: EpochReport) -> EpochReport:
        report.epoch += self._before
        return report

    def update(
        self,
        insert: Facts | None = None,
        delete: Facts | None = None,
        clear: str | Iterable[str] = (),
        batch: Batch | None = None,
    ) -> Epoch[pa.Table]:
        """The next epoch: delete facts, then insert others. Of the relations in `clear`, all facts are deleted.

        A fact that is both deleted and inserted ends up present; one given twice counts once.
        """
        self.ready()
        bad_rows, report = BadRows(self.settings.skip_bad_rows), Report()
        deleted = self._tables(delete or {}, bad_rows, report)
        inserted = self._tables(insert or {}, bad_rows, report)
        names = [clear] if isinstance(clear, str) else list(clear)
        cleared = [name for name in dict.fromkeys(names) if self.vocabulary.is_input(name, report)]
        report.check_in_order()
        removals = {name: self.words(name, table) for name, table in deleted.items()}
        additions = {name: self.words(name, table) for name, table in inserted.items()}
        return self.update_words(removals, additions, cleared, batch, tuple(bad_rows.report()))

    def apply(self, changes: Facts, batch: Batch | None = None) -> Epoch[pa.Table]:
        """The next epoch, of change feeds: see `local.feed`."""
        self.ready()
        types = self.checked.types
        insert, delete = change_set(changes, self.vocabulary, lambda info, feed: split_table(feed, info, types))
        return self.update(insert, delete, (), batch)

    def update_words(
        self,
        delete: Mapping[str, Words],
        insert: Mapping[str, Words],
        clear: Iterable[str] = (),
        batch: Batch | None = None,
        warnings: tuple[Diagnostic, ...] = (),
    ) -> Epoch[pa.Table]:
        """The next epoch, of facts that have been checked and encoded."""
        engine = self.ready()
        if batch is not None and self.has_applied(batch):
            return self._ended(
                EpochReport(self.epoch, "none", f"batch {batch[1]} was applied before", 0.0, 0), warnings
            )
        removals = {**delete, **{name: engine.facts(name) for name in clear}}
        net = net_change(removals, insert, engine.contains)
        if self.settings.strict:
            self._refuse_needless(net)
        if batch is not None and self._durable is not None:
            done = self._numbered(self._durable.update(net.delete, net.insert, batch))
        else:
            done = self._numbered(engine.update(net.delete, net.insert))
        if batch is not None:
            self._streams[batch[0]] = batch[1]
        done.ignored_deletes = {name: len(rows) for name, rows in net.absent.items()}
        done.ignored_inserts = {name: len(rows) for name, rows in net.present.items()}
        return self._ended(done, warnings)

    def has_applied(self, batch: Batch) -> bool:
        """Whether a batch of a stream is part of the state."""
        stored = self._durable is not None and self._durable.seen(batch)
        return stored or batch[1] <= self._streams.get(batch[0], -1)

    def validated(self, name: str, facts: Any) -> pa.Table:
        """The facts as a table, if `update` would take them for this relation; an error if not."""
        report = Report()
        tables = self._tables({name: facts}, BadRows(), report)
        report.check_in_order()
        return tables[name]

    # ---- reading

    def relation(self, name: str) -> Relation:
        self.ready()
        return Relation(self, self.vocabulary.info(name))

    def count(self, name: str) -> int:
        return self.ready().count(self.vocabulary.info(name).name)

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, pa.Table]:
        """The same, with the types of the columns."""
        engine = self.ready()
        source = text if isinstance(text, Source) else Source("<query>", text)
        found = answer(source, self.checked, engine.query_database(), self._options.functors)
        return found.info, self.table(found.info, found.rows)

    def close(self) -> None:
        """Let go of everything. Tables and epochs that were handed out stay valid."""
        if self._durable is not None:
            self._durable.close()
        self._engine = self._durable = None
        release_spare()

    # ---- between values and words

    def _tables(self, facts: Facts, bad_rows: BadRows, report: Report) -> dict[str, pa.Table]:
        """The facts as tables; whatever is wrong with them goes to the report."""
        tables: dict[str, pa.Table] = {}
        if not isinstance(facts, Mapping):
            report.error("TL1108", f"facts are given by relation, not as a {type(facts).__name__}",
                         help='write a dict, such as {"edge": [(1, 2)]}')  # fmt: skip
            return tables
        for name, data in facts.items():
            if not self.vocabulary.is_input(name, report):
                continue
            info = self.checked.relations[name]
            try:
                tables[name] = given_table(data, info, self.checked.types, self.vocabulary.directives[name], bad_rows)
            except TidelogError as problem:
                report.diagnostics += problem.diagnostics
        return tables

    def words(self, name: str, table: pa.Table) -> Words:
        return encode(table, self.checked.relations[name], self.checked.types, self._open().database)

    def table(self, info: RelationInfo, rows: Words) -> pa.Table:
        return decode(rows, info, self.checked.types, self._open().database)

    def _refuse_needless(self, net: NetChange) -> None:
        report = Report()
        for side, what in ((net.absent, "deleted and is not there"), (net.present, "inserted and is there already")):
            for name, rows in side.items():
                first = next(tuples(self.table(self.checked.relations[name], rows[:1])))
                shown = f"{name}({', '.join(escape(v) if isinstance(v, str) else str(v) for v in first)})"
                more = f", and {len(rows) - 1:,} more like it" if len(rows) > 1 else ""
                report.error(
                    "TL1105", f"{shown} was to be {what}{more}", help="the session is strict: nothing was changed"
                )
        report.check_in_order()

    # ---- what state it is in

    def _open(self) -> Engine:
        if self._engine is None:
            raise error("TL1101", "the session is closed", help="use it inside its `with`, or make a new one")
        return self._engine

    def ready(self) -> Engine:
        engine = self._open()
        if not self.epoch:
            raise error(
                "TL1102", "the session has no facts yet",
                help="call bootstrap(); without an argument it reads the program's `.input` files",
            )  # fmt: skip
        return engine

    def _ended(self, report: EpochReport, warnings: tuple[Diagnostic, ...]) -> Epoch[pa.Table]:
        self.epoch = report.epoch
        inserted, deleted = self._changes(report.inserted), self._changes(report.deleted)
        return Epoch(report, inserted, deleted, self._feed, warnings)

    def _feed(self, name: str, sides: Iterable[tuple[str, pa.Table]], epoch: int) -> pa.Table:
        return feed_table(self.vocabulary.info(name), sides, epoch)

    def _changes(self, rows: dict[str, Words]) -> Changes[pa.Table]:
        dictionaries = self._open().database

        def table(name: str) -> pa.Table:
            info = self.vocabulary.info(name)
            return decode(rows.get(name, no_rows(info.arity)), info, self.checked.types, dictionaries)

        return Changes({name: len(found) for name, found in rows.items()}, table)
