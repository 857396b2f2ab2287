"""A session whose engine works in this process.

What is always true: everything handed in is checked before anything changes, and all that is wrong with it is raised
at once; the relations are those of the last epoch that ended, also after an error or an interrupt.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.epochs.changes import Batch, NetChange, net_change
from tidelog.epochs.engine import Engine, make_engine
from tidelog.epochs.holder import Position
from tidelog.epochs.report import EpochReport
from tidelog.errors import Diagnostic, InternalError, Report, Source, TidelogError, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import recorded
from tidelog.evaluate.facts import Facts as EncodedFacts
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.profile import Profile, Size
from tidelog.evaluate.rows import no_rows
from tidelog.io.ahead import ahead
from tidelog.io.bad_rows import BadRows
from tidelog.io.codec import decode, encode
from tidelog.io.given import given_table
from tidelog.io.order import places_in_order
from tidelog.io.read import read_inputs
from tidelog.io.write import Parts, write_relation
from tidelog.lang import tree
from tidelog.lang.escapes import escape
from tidelog.local.epoch import Changes, Epoch, tell
from tidelog.local.memory_parts import memory_parts
from tidelog.local.relation import LiveRelation, tuples
from tidelog.local.settings import Settings
from tidelog.room import resident_bytes, trim
from tidelog.store import Database, Equivalence, release_spare
from tidelog.store import Relation as Gathered

if TYPE_CHECKING:
    from tidelog.local.teams import Team
    from tidelog.state import Durable
    from tidelog.state.manifest import KeptEpoch

Facts = Mapping[str, Any]
"""Relation -> a file's name, rows, columns, a numpy array, or a pandas, polars or Arrow table."""


READING = "while reading the facts"
READING_STAGE = "reading facts"
MUCH = 32 << 20
"""Bytes of facts that are worth asking for memory back after them."""


class LocalSession:
    """See the module's docstring, and `tidelog.Session` for what its methods promise."""

    def __init__(
        self, checked: Checked, settings: Settings, observer: Observer | None = None, team: Team | None = None
    ) -> None:
        self.checked = checked
        self.vocabulary = Vocabulary(checked)
        self.settings = settings
        self._options = settings.engine_options()
        self._told: set[str] = set()  # what need not be said again
        self._at_first = resident_bytes() if settings.profile else 0
        self._durable: Durable | None = None
        self._since: float | None = None  # when the running epoch was asked for
        engine: Engine
        if settings.workers is not None:
            from tidelog.local.teams import workers_engine  # speaks with other processes

            engine, self._durable = workers_engine(checked, settings, self._options, observer, team)
        elif settings.state is None:
            engine = make_engine(checked, self._options, settings.strategy, observer)
        else:
            from tidelog.state import open_state  # reads and writes Parquet, which takes a while to import

            engine, self._durable = open_state(
                checked, self._options, settings.state, settings.strategy, settings.migrate, settings.read_only,
                observer,
            )  # fmt: skip
        self.epoch = engine.epoch
        self._engine: Engine | None = engine
        for warning in checked.warnings:
            engine.database.remark(warning.message, told=True)

    # ---- epochs

    def bootstrap(self, facts: Facts | None = None) -> Epoch[pa.Table]:
        """Begin with these facts and no others; without an argument, with those of the program's `.input` files."""
        self._open()
        bad_rows = self._bad_rows()
        with self._making_epoch():
            gathered: dict[str, Gathered] = {}
            read = 0
            try:
                with self._reading():
                    for name, table in self._timed(self._given(facts, bad_rows)):
                        if name not in gathered:
                            gathered[name] = self.gather(name)
                        with recorded(self._options.recorder, f"entering the facts of {name}", stage=READING_STAGE):
                            gathered[name].insert(self.words(name, table))
                        read += table.nbytes
                        del table  # before the next is read
                    if read > MUCH:
                        trim()  # what reading has left unused; rules have more use for it
            except BaseException:
                for relation in gathered.values():
                    self.dismiss(relation)
                raise
            return self.bootstrap_words(gathered, tuple(bad_rows.report()))

    def _timed(self, tables: Iterator[tuple[str, pa.Table]]) -> Iterator[tuple[str, pa.Table]]:
        """The same tables; a profile is told how long each was waited for."""
        recorder = self._options.recorder
        if recorder is None:
            yield from tables
            return
        began = time.perf_counter()
        for name, table in tables:
            recorder.spent(f"reading {name}", READING_STAGE, 0, time.perf_counter() - began)
            yield name, table
            began = time.perf_counter()

    def _given(self, facts: Facts | None, bad_rows: BadRows) -> Iterator[tuple[str, pa.Table]]:
        """The facts as tables, those of files one after the other. What is wrong with any of them is raised in the
        end."""
        if facts is None:
            inputs = ((self.checked.relations[d.relation], d) for d in self.checked.directives("input"))
            read = read_inputs(inputs, self.checked.types, Path(self.settings.facts), bad_rows)
            yield from ahead(read, self.settings.threads)
        else:
            report = Report()
            tables = self._tables(facts, bad_rows, report)
            report.check_in_order()
            yield from tables.items()

    def bootstrap_words(
        self, words: Mapping[str, EncodedFacts], warnings: tuple[Diagnostic, ...] = ()
    ) -> Epoch[pa.Table]:
        """Begin with facts that have been checked and encoded."""
        with self._making_epoch():
            return self._ended(self._open().bootstrap(words), warnings)

    @contextmanager
    def _making_epoch(self) -> Iterator[None]:
        """Meanwhile an epoch is made: its limits and its profile begin with the reading of its facts."""
        recorder = self._options.recorder
        outermost, self._since = self._since, self._since or time.perf_counter()
        try:
            with self._options.limits.epoch(READING), nullcontext() if recorder is None else recorder.epoch():
                yield
        finally:
            self._since = outermost

    def _reading(self) -> AbstractContextManager[None]:
        return recorded(self._options.recorder, "reading the facts", stage=READING_STAGE)

    def limited(self, doing: str) -> AbstractContextManager[None]:
        """Meanwhile the session's limits hold, for whoever hands it facts without an epoch."""
        return self._options.limits.epoch(doing)

    def gather(self, name: str) -> Gathered:
        """A relation for encoded facts that come little by little, to be given to `bootstrap_words` or `dismiss`."""
        return self._open().gather(name)

    def dismiss(self, gathered: Gathered) -> None:
        """Forget facts that will not be needed."""
        gathered.database.retire(gathered)

    def go_on_from(self, epoch: int) -> None:
        """Take the place of a session that has ended so many epochs: the next one has the next number."""
        self._open().go_on_from(Position(epoch))

    def last_kept(self) -> KeptEpoch:
        """What the session's state directory tells about the last epoch."""
        if self._durable is None:
            raise InternalError("a session without a state directory keeps no epochs")
        return self._durable.last_epoch()

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
        return self._update(insert, delete, clear, batch, self._bad_rows())

    def _update(
        self,
        insert: Facts | None,
        delete: Facts | None,
        clear: str | Iterable[str],
        batch: Batch | None,
        bad_rows: BadRows,
    ) -> Epoch[pa.Table]:
        """The same; what there is to say about the facts goes to `bad_rows`, which may have something already."""
        self.ready()
        report = Report()
        with self._making_epoch():
            with self._reading():
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
        from tidelog.local.feed import change_set, split_table

        self.ready()
        types, bad_rows = self.checked.types, self._bad_rows()
        insert, delete = change_set(
            changes, self.vocabulary, lambda info, feed: split_table(feed, info, types, bad_rows)
        )
        return self._update(insert, delete, (), batch, bad_rows)

    def _bad_rows(self) -> BadRows:
        return BadRows(self.settings.skip_bad_rows, told=self._told)

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
        if batch is not None and engine.has_applied(batch):
            return self._ended(
                EpochReport(self.epoch, "none", f"batch {batch[1]} was applied before", 0.0, 0), warnings
            )
        with self._making_epoch():
            removals = {**delete, **{name: engine.facts(name) for name in clear}}
            net = net_change(removals, insert, engine.contains, batch)
            if self.settings.strict:
                self._refuse_needless(net)
            done = engine.update(net)
            done.ignored_deletes = {name: len(rows) for name, rows in net.absent.items()}
            done.ignored_inserts = {name: len(rows) for name, rows in net.present.items()}
            return self._ended(done, warnings)

    def validated(self, name: str, facts: Any) -> pa.Table:
        """The facts as a table, if `update` would take them for this relation; an error if not."""
        report = Report()
        tables = self._tables({name: facts}, BadRows(), report)
        report.check_in_order()
        return tables[name]

    # ---- reading

    @property
    def database(self) -> Database:
        """Whose symbols and records the words of facts refer to."""
        return self._open().database

    def relation(self, name: str) -> LiveRelation:
        self.ready()
        return LiveRelation(self, self.vocabulary.info(name))

    def count(self, name: str) -> int:
        return self.ready().count(self.vocabulary.info(name).name)

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, pa.Table]:
        """The same, with the types of the columns."""
        from tidelog.evaluate.query import answer

        engine = self.ready()
        source = text if isinstance(text, Source) else Source("<query>", text)
        with self._options.limits.apart().epoch("while answering a query"):
            found = answer(source, self.checked, engine.query_database(), self._options.functors)
        return found.info, self.table(found.info, found.rows)

    def write_output(self, directive: tree.Directive, folder: Path) -> list[Diagnostic]:
        """Write a relation where its `.output` says; gives warnings."""
        info = self.vocabulary.info(directive.relation)
        with self._options.limits.apart().epoch(f"while writing {info.name}"):
            return write_relation(info, self.checked.types, self._tuples(info), directive, folder)

    def _tuples(self, info: RelationInfo) -> pa.Table | Parts:
        """What is to be written; all pairs of an equivalence are never in memory together."""
        engine, types = self.ready(), self.checked.types
        held = engine.query_database()
        if info.name not in held.equivalences:
            return decode(engine.rows(info.name), info, types, engine.database, compact=True)
        relation = cast(Equivalence, held.meant(info.name))
        elements = decode(np.column_stack((relation.elements,) * 2), info, types, engine.database, compact=True)
        batches = relation.batches(places_in_order(elements.column(0)))
        return Parts(relation.count, (decode(b, info, types, engine.database, compact=True) for b in batches))

    def close(self) -> None:
        """Let go of everything. Tables and epochs that were handed out stay valid."""
        if self._durable is not None:
            self._durable.close()
        if self._engine is not None:
            self._engine.close()
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
        dictionaries = self._open().database
        with self._options.limits.apart().epoch(f"while making a table of {info.name}"):
            return decode(rows, info, self.checked.types, dictionaries)

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

    @property
    def engine(self) -> Engine:
        """What holds the relations, for whoever wants to see how it works."""
        return self._open()

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
        tell(warnings, self._told)
        report.remarks = self._open().database.take_remarks()
        report.profile = self._profile(report)
        if self._since is not None:
            report.seconds = time.perf_counter() - self._since  # as long as the caller has waited
        inserted, deleted = self._changes(report.inserted), self._changes(report.deleted)
        return Epoch(report, inserted, deleted, self._feed, warnings)

    def _profile(self, report: EpochReport) -> Profile | None:
        if self._options.recorder is None:
            return None
        engine, declared = self._open(), self.checked.relations
        sizes = {
            held.name: Size(engine.count(held.name) if held.name in declared else held.count, held.memory())
            for held in engine.query_database()
            if held.count or held.name in declared
        }
        memory = memory_parts(engine.database, sizes, self._at_first)
        clauses = self.checked.clauses
        return self._options.recorder.profile(report.epoch, report.strategy, report.why, clauses, sizes, memory)

    def _feed(self, name: str, sides: Iterable[tuple[str, pa.Table]], epoch: int) -> pa.Table:
        from tidelog.local.feed import feed_table

        return feed_table(self.vocabulary.info(name), sides, epoch)

    def _changes(self, rows: dict[str, Words]) -> Changes[pa.Table]:
        dictionaries, limits = self._open().database, self._options.limits

        def table(name: str) -> pa.Table:
            info = self.vocabulary.info(name)
            with limits.apart().epoch(f"while making a table of {name}"):
                return decode(rows.get(name, no_rows(info.arity)), info, self.checked.types, dictionaries)

        return Changes({name: len(found) for name, found in rows.items()}, table)
