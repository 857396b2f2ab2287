"""The public Python API: a program, its facts, and what follows from them, kept up to date.

    with tidelog.Session("reach.dl") as s:
        s.bootstrap({"edge": "edges.csv"})
        epoch = s.update(insert={"edge": [(1, 2)]}, delete={"edge": [(4, 5)]})
        epoch.strategy, epoch.inserted["path"]
        s["path"].to_arrow()
        s.query("path(1, X)")

What is always true: everything handed in is checked before anything changes, and all that is wrong with it is raised
at once; the relations are those of the last epoch that ended, also after an error or an interrupt. Where the work is
done, in this process or on Spark, is the business of the sessions behind this one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.analysis.suggest import did_you_mean
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.epochs.changes import Batch
from tidelog.errors import Diagnostic, Report, Source, error
from tidelog.evaluate.limits import Limits, Observer
from tidelog.lang import tree
from tidelog.lang.load import check_evaluable, load_program, parse_program
from tidelog.local import Epoch, Facts, LocalSession, Settings
from tidelog.local.outputs import write_outputs

if TYPE_CHECKING:
    from tidelog.local.best_derivations import BestDerivation
    from tidelog.spark.stream import Streams

__all__ = ["Epoch", "Session"]

EXECUTORS = ("columnar", "dataframe")


class Backend(Protocol):
    """A session at work. Tables are Arrow tables in this process, and DataFrames on Spark."""

    checked: Checked
    vocabulary: Vocabulary

    @property
    def epoch(self) -> int: ...
    def bootstrap(self, facts: Facts | None = None) -> Epoch[Any]: ...
    def update(
        self, insert: Facts | None, delete: Facts | None, clear: str | Iterable[str], batch: Batch | None
    ) -> Epoch[Any]: ...
    def apply(self, changes: Facts, batch: Batch | None) -> Epoch[Any]: ...
    def validated(self, name: str, facts: Any) -> Any: ...
    def relation(self, name: str) -> Any: ...
    def count(self, name: str) -> int: ...
    def typed_query(self, text: str | Source) -> tuple[RelationInfo, Any]: ...
    def write_output(self, directive: tree.Directive, folder: Path) -> list[Diagnostic]: ...
    def close(self) -> None: ...


class Session:
    """A program over facts that change.

    `program` is a file's name, a program's text, or a program parsed or checked before; a string is a text if it has a
    line break, a `:-` or a `.decl` in it. `strategy` is one of "elastic", "update", "update-paper", "counting" and
    "batch"; `switch` and `budget` are for "elastic": the share of the last Bootstrap's cost, in "derivations" or
    "seconds", after which an Update is given up, and `switching`: whether then the "stratum" at hand is evaluated
    anew or the whole "program". `threads` are for "batch" and for Bootstrap. With `strict`, deleting an
    absent fact or inserting a present one is an error. `facts` is the folder of the program's own `.input` files.

    With `spark`, a SparkSession that stays its owner's, facts may be DataFrames and results are. `executor` says how it
    evaluates: "columnar", the default, keeps the store in a Spark task that lives as long as this session; "dataframe"
    uses nothing but DataFrame operations.

    `state` is a state directory, a path or a URI: if it has a state, the session begins with that, and every epoch is
    in it before it counts. A state of another program is refused, or with `migrate` brought to this one. A session
    that is `read_only` takes no lock and changes nothing. With `profile`, every epoch has a
    `profile` that says where its time went; rules are then evaluated one by one, which takes longer.

    With `workers`, the relations are shared out to so many processes (on Spark: tasks), which evaluate together.
    `placement` says where relations are that should not be where the planner puts them: by the attribute whose value
    decides, by several for copies, or "replicate" to have all of one at every worker, as `.decl e(…) replicate` does.
    With the strategy "async" workers evaluate without rounds, from scratch in every epoch, each tuple at one of them.

    `macros` are the preprocessor's, such as `{"SIZE": "3"}`, and `include` the folders in which a program's file looks
    for those that it includes.
    """

    def __init__(
        self,
        program: str | os.PathLike[str] | tree.Program | Checked,
        *,
        spark: Any = None,
        executor: str | None = None,
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
        state: str | os.PathLike[str] | None = None,
        migrate: bool = False,
        read_only: bool = False,
        profile: bool = False,
        workers: int | None = None,
        placement: Mapping[str, Any] | None = None,
        macros: Mapping[str, str] | None = None,
        include: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        settings = Settings(
            strategy, switch, budget, switching, strict, threads, functors, facts, skip_bad_rows, limits or Limits(),
            state, migrate, read_only, profile, workers, placement,
        )  # fmt: skip
        settings.check()
        self.checked = checked_program(program, macros, include)
        self._turn = threading.RLock()  # streams use the session from threads of their own
        self._streams: Streams | None = None
        self._backend = _backend(self.checked, settings, spark, executor, observer)

    # ---- epochs

    def bootstrap(self, facts: Facts | None = None) -> Epoch[Any]:
        """Begin with these facts and no others; without an argument, with those of the program's `.input` files."""
        with self._turn:
            return self._backend.bootstrap(facts)

    def update(
        self,
        insert: Facts | None = None,
        delete: Facts | None = None,
        clear: str | Iterable[str] = (),
        batch: Batch | None = None,
    ) -> Epoch[Any]:
        """The next epoch: delete facts, then insert others. Of the relations in `clear`, all facts are deleted.

        A fact that is both deleted and inserted ends up present; one given twice counts once. `batch` is the name of a
        stream and the number of a batch of it: a batch that was applied before changes nothing, also in another process
        if the session has a state directory.
        """
        with self._turn:
            return self._backend.update(insert, delete, clear, batch)

    def apply(self, changes: Facts, batch: Batch | None = None) -> Epoch[Any]:
        """The next epoch, of change feeds by relation: tables of facts with a column `_change_type`.

        It says `insert` or `delete`, or as Delta's change feeds do `update_preimage` (a deletion) and
        `update_postimage` (an insertion). If there is a `_commit_version` or an `_epoch`, the last one's word about
        a fact counts; within one, deletions come first. `epoch.changes[…]` of another session is such a feed.
        """
        with self._turn:
            return self._backend.apply(changes, batch)

    def apply_stream(
        self,
        stream: Any,
        relation: str | None = None,
        *,
        name: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        trigger: Mapping[str, Any] | None = None,
        on_epoch: Callable[[Epoch[Any]], None] | None = None,
    ) -> Any:
        """Let a streaming DataFrame feed a relation, an epoch for each of its micro-batches; gives the StreamingQuery.

        A stream with a column `_change_type` is a change feed, see `apply`; without it, its rows are inserted. The
        relation need not be named if the program has one input. `name` is the query's name, `checkpoint` its checkpoint
        location, `trigger` what Spark's `trigger` takes, such as `{"availableNow": True}`. `on_epoch` is called with
        each epoch, in the query's thread; until it returns the session stays in that epoch. The epoch of a batch that
        was applied before has the strategy "none" and changes nothing.

        With a state directory and a checkpoint every batch is applied exactly once, whatever process ends when. Without
        a state directory that holds within this session only: another one does not know the batches of this one, and
        Spark does not repeat those that the checkpoint has. Closing the session stops its streams.
        """
        from tidelog.spark.on_spark import OnSpark
        from tidelog.spark.stream import StreamOptions, Streams

        with self._turn:
            if not isinstance(self._backend, OnSpark):
                raise error("TL1224", "only a session on Spark can be fed by a stream", help="give it `spark=`")
            self._streams = self._streams or Streams(self._backend, self._turn)
            place = None if checkpoint is None else os.fspath(checkpoint)
            return self._streams.start(stream, relation, StreamOptions(name, place, trigger or {}, on_epoch))

    def validated(self, name: str, facts: Any) -> Any:
        """The facts as a table, if `update` would take them for this relation; an error if not."""
        with self._turn:
            return self._backend.validated(name, facts)

    # ---- reading

    def __getitem__(self, name: str) -> Any:
        """A relation, as it is whenever it is looked at; on Spark, a DataFrame of it."""
        with self._turn:
            return self._backend.relation(name)

    def count(self, name: str) -> int:
        """How many tuples a relation has."""
        with self._turn:
            return self._backend.count(name)

    def __contains__(self, name: object) -> bool:
        return name in self._backend.vocabulary

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of all relations that have tuples, in the order of their declarations: of all but `inline` ones."""
        return self._backend.vocabulary.relations

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the relations whose facts may be changed."""
        return self._backend.vocabulary.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the relations with an `.output`."""
        return self._backend.vocabulary.outputs

    @property
    def epoch(self) -> int:
        """How many epochs have ended."""
        return self._backend.epoch

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the checks of the program found odd."""
        return self.checked.warnings

    def query(self, text: str | Source) -> Any:
        """The answers to a body of literals, a column for each variable; each answer once.

        A variable whose name begins with `_` gets no column. A query without variables gives one row if it holds.
        """
        return self.typed_query(text)[1]

    def typed_query(self, text: str | Source) -> tuple[RelationInfo, Any]:
        """The same, with the types of the columns."""
        with self._turn:
            return self._backend.typed_query(text)

    def best(self, name: str, key: Iterable[Any]) -> list[BestDerivation]:
        """The derivations that give a key of a relation with subsumption its best value: each with the tuples of its
        body, such as the predecessor and the edge of a shortest path. None, if the key has no value."""
        from tidelog.local.best_derivations import best_derivations

        return best_derivations(self.checked, self.typed_query, name, tuple(key))

    def write_outputs(self, folder: str | os.PathLike[str] = ".") -> list[Diagnostic]:
        """Write what the program's `.output` and `.printsize` ask for; the folder `-` prints. Gives warnings."""
        with self._turn:
            return write_outputs(self._backend, Path(folder))

    # ---- its end

    def close(self) -> None:
        """Let go of everything. Tables and epochs that were handed out stay valid."""
        if self._streams is not None:
            self._streams.stop()  # without our turn, for which a batch may be waiting
        with self._turn:
            self._backend.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _backend(
    checked: Checked, settings: Settings, spark: Any, executor: str | None, observer: Observer | None
) -> Backend:
    if executor not in (None, *EXECUTORS):
        raise error("TL1106", f"there is no executor `{executor}`",
                    help=did_you_mean(str(executor), EXECUTORS) or f"it is one of {', '.join(EXECUTORS)}")  # fmt: skip
    if spark is None:
        if executor == "dataframe":
            raise error("TL1106", "the executor `dataframe` needs Spark", help="give the session `spark=`")
        return LocalSession(checked, settings, observer)
    if executor == "dataframe" and settings.workers is not None:
        raise error("TL1274", "the executor `dataframe` has no workers: Spark shares its work out",
                    help="leave `executor` away, or `workers`")  # fmt: skip
    if executor == "dataframe":
        from tidelog.spark.dataframe.dataframe_session import DataFrameSession

        return DataFrameSession(checked, settings, spark, observer)
    from tidelog.spark.resident.columnar_session import ColumnarSession

    return ColumnarSession(checked, settings, spark, observer)


def checked_program(
    program: str | os.PathLike[str] | tree.Program | Checked,
    macros: Mapping[str, str] | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
) -> Checked:
    """The program that a session was given, however it was given."""
    if isinstance(program, Checked):
        return program
    report = Report()
    if isinstance(program, str) and any(mark in program for mark in ("\n", ":-", ".decl")):
        program = parse_program(program, report, include_dirs=map(Path, include), macros=macros)
    elif isinstance(program, (str, os.PathLike)):
        program = load_program(Path(program), report, map(Path, include), macros)
    check_evaluable(program)
    return check(program, report)
