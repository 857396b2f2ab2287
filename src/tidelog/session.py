"""The public Python API: a program, its facts, and what follows from them, kept up to date.

    with tidelog.Session("reach.dl") as s:
        s.bootstrap({"edge": "edges.csv"})
        epoch = s.update(insert={"edge": [(1, 2)]}, delete={"edge": [(4, 5)]})
        epoch.strategy, epoch.inserted["path"]
        s["path"].to_arrow()
        s.query("path(1, X)")

What is always true: everything handed in is checked before anything changes, and all that is wrong with it is raised
at once; the relations are those of the last epoch that ended, also after an error or an interrupt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from tidelog.analysis.check import Checked, check
from tidelog.analysis.inlining_checks import inline_relations
from tidelog.analysis.suggest import did_you_mean
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Diagnostic, Report, Source, TidelogError, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.changes import NetChange, net_change
from tidelog.evaluate.engine import STRATEGIES, Engine, EngineOptions, EpochReport, make_engine
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.query import answer
from tidelog.evaluate.rows import no_rows
from tidelog.evaluate.user_functors import load_module
from tidelog.io.bad_rows import BadRows
from tidelog.io.codec import decode, encode
from tidelog.io.given import given_table
from tidelog.io.read import read_inputs
from tidelog.io.tables import table_of
from tidelog.lang import tree
from tidelog.lang.load import load_program, parse_program
from tidelog.lang.parsing import escape
from tidelog.store import release_spare

Facts = Mapping[str, Any]
"""Relation -> a file's name, rows, columns, a numpy array, or a pandas, polars or Arrow table."""

_BUDGETS = ("derivations", "seconds")
_SWITCHING = ("stratum", "program")


class Session:
    """A program over facts that change.

    `program` is a file's name, a program's text, or a program parsed or checked before; a string is a text if it has a
    line break, a `:-` or a `.decl` in it. `strategy` is one of "elastic", "update", "update-paper", "counting" and
    "batch"; `switch` and `budget` are for "elastic": the share of the last Bootstrap's cost, in "derivations" or
    "seconds", after which an Update is given up, and `switching`: whether then the "stratum" at hand is evaluated
    anew or the whole "program". `threads` are for "batch"; the others evaluate on one. With `strict`, deleting an
    absent fact or inserting a present one is an error. `facts` is the folder of the program's own `.input` files.
    """

    def __init__(
        self,
        program: str | os.PathLike[str] | tree.Program | Checked,
        *,
        strategy: str = "elastic",
        switch: float = 0.2,
        budget: str = "derivations",
        switching: str = "stratum",
        strict: bool = False,
        threads: int = 1,
        functors: Mapping[str, Callable[..., Any]] | str | os.PathLike[str] | None = None,
        facts: str | os.PathLike[str] = ".",
        skip_bad_rows: bool = False,
        limits: Limits | None = None,
        observer: Observer | None = None,
    ) -> None:
        _check_settings(strategy, switch, budget, switching, threads)
        self.strategy = strategy
        self.strict = strict
        self.checked = _checked(program)
        self.functors = load_module(Path(functors)) if isinstance(functors, (str, os.PathLike)) else functors or {}
        self._folder = Path(facts)
        self._skip_bad_rows = skip_bad_rows
        self._inputs = {d.relation: d for d in reversed(self.checked.directives("input"))}
        self._inlined = inline_relations(self.checked.program)
        options = EngineOptions(threads, self.functors, limits or Limits(), switch, budget, switching)
        self._engine: Engine | None = make_engine(self.checked, options, strategy, observer)
        self._epoch = 0

    # ---- epochs

    def bootstrap(self, facts: Facts | None = None) -> Epoch:
        """Begin with these facts and no others; without an argument, with those of the program's `.input` files."""
        engine = self._open()
        bad_rows = BadRows(self._skip_bad_rows)
        if facts is None:
            inputs = [(self.checked.relations[d.relation], d) for d in self.checked.directives("input")]
            tables = read_inputs(inputs, self.checked.types, self._folder, bad_rows)
        else:
            report = Report()
            tables = {name: [table] for name, table in self._tables(facts, bad_rows, report).items()}
            _raise(report)
        words = {name: np.concatenate([self._words(name, t) for t in found]) for name, found in tables.items()}
        return self._ended(engine.bootstrap(words), bad_rows)

    def update(
        self, insert: Facts | None = None, delete: Facts | None = None, clear: str | Iterable[str] = ()
    ) -> Epoch:
        """The next epoch: delete facts, then insert others. Of the relations in `clear`, all facts are deleted.

        A fact that is both deleted and inserted ends up present; one given twice counts once.
        """
        engine = self._ready()
        bad_rows, report = BadRows(self._skip_bad_rows), Report()
        deleted = self._tables(delete or {}, bad_rows, report)
        inserted = self._tables(insert or {}, bad_rows, report)
        names = [clear] if isinstance(clear, str) else list(clear)
        cleared = [name for name in dict.fromkeys(names) if self._is_input(name, report)]
        _raise(report)
        removals = {name: self._words(name, table) for name, table in deleted.items()}
        removals |= {name: engine.facts(name) for name in cleared}
        additions = {name: self._words(name, table) for name, table in inserted.items()}
        net = net_change(removals, additions, engine.contains)
        if self.strict:
            self._refuse_needless(net)
        done = engine.update(net.delete, net.insert)
        done.ignored_deletes = {name: len(rows) for name, rows in net.absent.items()}
        done.ignored_inserts = {name: len(rows) for name, rows in net.present.items()}
        return self._ended(done, bad_rows)

    def validated(self, name: str, facts: Any) -> pa.Table:
        """The facts as a table, if `update` would take them for this relation; an error if not."""
        report = Report()
        tables = self._tables({name: facts}, BadRows(), report)
        _raise(report)
        return tables[name]

    # ---- reading

    def __getitem__(self, name: str) -> Relation:
        """A relation, as it is whenever it is looked at."""
        self._ready()
        return Relation(self, self._info(name))

    def __contains__(self, name: object) -> bool:
        return name in self.checked.relations and name not in self._inlined

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of all relations that have tuples, in the order of their declarations: of all but `inline` ones."""
        return tuple(name for name in self.checked.relations if name not in self._inlined)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the relations whose facts may be changed."""
        return tuple(name for name in self.checked.relations if name in self._inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the relations with an `.output`."""
        wanted = {d.relation for d in self.checked.directives("output")}
        return tuple(name for name in self.checked.relations if name in wanted)

    @property
    def epoch(self) -> int:
        """How many epochs have ended."""
        return self._epoch

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the checks of the program found odd."""
        return self.checked.warnings

    def query(self, text: str | Source) -> pa.Table:
        """The answers to a body of literals, a column for each variable; each answer once.

        A variable whose name begins with `_` gets no column. A query without variables gives one row if it holds.
        """
        return self.typed_query(text)[1]

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, pa.Table]:
        """The same, with the types of the columns."""
        engine = self._ready()
        source = text if isinstance(text, Source) else Source("<query>", text)
        found = answer(source, self.checked, engine.query_database(), self.functors)
        return found.info, self._table(found.info, found.rows)

    # ---- its end

    def close(self) -> None:
        """Let go of everything. Tables and epochs that were handed out stay valid."""
        self._engine = None
        release_spare()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- between values and words

    def _tables(self, facts: Facts, bad_rows: BadRows, report: Report) -> dict[str, pa.Table]:
        """The facts as tables; whatever is wrong with them goes to the report."""
        tables: dict[str, pa.Table] = {}
        if not isinstance(facts, Mapping):
            report.error("TL1108", f"facts are given by relation, not as a {type(facts).__name__}",
                         help='write a dict, such as {"edge": [(1, 2)]}')  # fmt: skip
            return tables
        for name, data in facts.items():
            if not self._is_input(name, report):
                continue
            info = self.checked.relations[name]
            try:
                tables[name] = given_table(data, info, self.checked.types, self._inputs[name], bad_rows)
            except TidelogError as problem:
                report.diagnostics += problem.diagnostics
        return tables

    def _is_input(self, name: str, report: Report) -> bool:
        """Whether facts may be given for a relation; if not, the report says why."""
        if name in self._inputs:
            return True
        if name not in self.checked.relations:
            report.diagnostics.append(self._unknown(name))
        else:
            report.error(
                "TL1104", f"relation `{name}` is not an input: its tuples follow from rules",
                help=f"only facts of `.input` relations can be given; to make it one, write `.input {name}`",
            )  # fmt: skip
        return False

    def _info(self, name: str) -> RelationInfo:
        if name not in self.checked.relations:
            raise TidelogError(self._unknown(name))
        if name in self._inlined:
            raise error("TL1107", f"relation `{name}` is inline and has no tuples of its own",
                        help=f"ask a query, such as `{name}(…)`")  # fmt: skip
        return self.checked.relations[name]

    def _unknown(self, name: str) -> Diagnostic:
        known = ", ".join(self.relations[:10]) + (", …" if len(self.relations) > 10 else "")
        help = did_you_mean(str(name), self.relations) or f"the program has {known or 'no relations'}"
        return Diagnostic("TL1103", f"there is no relation `{name}`", help=help)

    def _words(self, name: str, table: pa.Table) -> Words:
        return encode(table, self.checked.relations[name], self.checked.types, self._open().database)

    def _table(self, info: RelationInfo, rows: Words) -> pa.Table:
        return decode(rows, info, self.checked.types, self._open().database)

    def _refuse_needless(self, net: NetChange) -> None:
        report = Report()
        for side, what in ((net.absent, "deleted and is not there"), (net.present, "inserted and is there already")):
            for name, rows in side.items():
                first = next(_tuples(self._table(self.checked.relations[name], rows[:1])))
                shown = f"{name}({', '.join(escape(v) if isinstance(v, str) else str(v) for v in first)})"
                more = f", and {len(rows) - 1:,} more like it" if len(rows) > 1 else ""
                report.error(
                    "TL1105", f"{shown} was to be {what}{more}", help="the session is strict: nothing was changed"
                )
        _raise(report)

    # ---- what state it is in

    def _open(self) -> Engine:
        if self._engine is None:
            raise error("TL1101", "the session is closed", help="use it inside its `with`, or make a new one")
        return self._engine

    def _ready(self) -> Engine:
        engine = self._open()
        if not self._epoch:
            raise error(
                "TL1102", "the session has no facts yet",
                help="call bootstrap(); without an argument it reads the program's `.input` files",
            )  # fmt: skip
        return engine

    def _ended(self, report: EpochReport, bad_rows: BadRows) -> Epoch:
        self._epoch = report.epoch
        return Epoch(self, report, tuple(bad_rows.report()))


class Relation:
    """A relation of a session: its tuples as they are when they are asked for."""

    def __init__(self, session: Session, info: RelationInfo) -> None:
        self._session = session
        self._info = info

    @property
    def name(self) -> str:
        return self._info.name

    @property
    def attributes(self) -> tuple[str, ...]:
        return self._info.attributes

    def count(self) -> int:
        return self._session._ready().count(self.name)

    def to_arrow(self) -> pa.Table:
        """A table with the attributes as columns; records and ADT values as text in Soufflé's syntax."""
        return self._session._table(self._info, self._session._ready().rows(self.name))

    def to_pandas(self) -> Any:
        """The same as a pandas data frame; needs pandas."""
        return self.to_arrow().to_pandas()

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return _tuples(self.to_arrow())

    def __contains__(self, row: Any) -> bool:
        """Whether it has the tuple; one of the wrong types is an error."""
        session = self._session
        words = session._words(self.name, table_of([row], self._info, session.checked.types))
        return bool(session._ready().query_database()[self.name].contains(words)[0])

    def __repr__(self) -> str:
        return f"<relation {self.name}({', '.join(self.attributes)}), {self.count():,} tuples>"


class Epoch:
    """What an epoch did: the strategy and why, the work, and the impact."""

    def __init__(self, session: Session, report: EpochReport, warnings: tuple[Diagnostic, ...]) -> None:
        self.number = report.epoch
        self.strategy = report.strategy  # what was done in the end, such as "update" or "bootstrap"
        self.why = report.why
        self.seconds = report.seconds
        self.derivations = report.derivations
        self.budget = report.budget  # the derivations that an Update was allowed, if there was a limit
        self.strata = report.strata  # one report for each stratum that was visited
        self.inserted = Tables(session, report.inserted)
        self.deleted = Tables(session, report.deleted)
        self.ignored_inserts = report.ignored_inserts  # facts that were there already, per relation
        self.ignored_deletes = report.ignored_deletes  # facts that were not there, per relation
        self.warnings = warnings  # such as malformed facts that were skipped

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


class Tables(Mapping[str, pa.Table]):
    """The changed relations of an epoch, each decoded when it is asked for. One that did not change has no tuples."""

    def __init__(self, session: Session, rows: dict[str, Words]) -> None:
        self._session = session
        self._dictionaries = session._open().database
        self._rows = rows

    def __getitem__(self, name: str) -> pa.Table:
        info = self._session._info(name)
        rows = self._rows.get(name, no_rows(info.arity))
        return decode(rows, info, self._session.checked.types, self._dictionaries)

    def count(self, name: str) -> int:
        """How many tuples of a relation changed, without decoding them."""
        return len(self._rows.get(name, ()))

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _checked(program: str | os.PathLike[str] | tree.Program | Checked) -> Checked:
    if isinstance(program, Checked):
        return program
    report = Report()
    if isinstance(program, str) and any(mark in program for mark in ("\n", ":-", ".decl")):
        program = parse_program(program, report)
    elif isinstance(program, (str, os.PathLike)):
        program = load_program(Path(program), report)
    if program.dialect != "souffle":
        raise error(
            "TL0702", f"not supported yet: a session over a .{program.dialect} program",
            help="Network Datalog runs with `tidelog net run`",
        )  # fmt: skip
    return check(program, report)


def _check_settings(strategy: str, switch: float, budget: str, switching: str, threads: int) -> None:
    report = Report()
    if strategy not in STRATEGIES:
        report.error("TL1106", f"there is no strategy `{strategy}`",
                     help=did_you_mean(strategy, STRATEGIES) or f"it is one of {', '.join(STRATEGIES)}")  # fmt: skip
    if not switch >= 0:
        report.error(
            "TL1106", f"the switch {switch} is negative", help="it is a share of Bootstrap's cost, such as 0.2"
        )
    if budget not in _BUDGETS:
        report.error("TL1106", f"there is no budget in `{budget}`", help=f"it is in {' or '.join(_BUDGETS)}")
    if switching not in _SWITCHING:
        report.error("TL1106", f"there is no switching by `{switching}`", help=f"it is by {' or '.join(_SWITCHING)}")
    if threads < 1:
        report.error("TL1106", f"{threads} threads are too few", help="give 1 or more")
    report.check()


def _raise(report: Report) -> None:
    """All that was found, in the order in which it was found."""
    if report.errors:
        raise TidelogError(report.errors)


def _tuples(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    if not table.num_columns:
        return iter([()] * table.num_rows)
    return zip(*(column.to_pylist() for column in table.columns), strict=True)
