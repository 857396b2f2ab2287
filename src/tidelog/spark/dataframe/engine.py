"""The DataFrame executor: keeps the relations of one program up to date with DataFrame operations and nothing else.

It needs the public DataFrame API only, so it runs on Spark Connect as on a classic session, whose settings it neither
needs nor changes. Slower per iteration than the columnar executor by the price of a Spark job, it holds what does not
fit into memory and survives the loss of executors as far as Spark does.

What is always true: `contents` are those of the last epoch that ended. An epoch makes new contents from the old ones,
frames that never change, so that a call which raises leaves everything as it was. Values inside are described in
`values.py`, relations in `tables.py`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.errors import InternalError, Source
from tidelog.evaluate.engine import EngineOptions
from tidelog.evaluate.limits import Observer, Silent
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.user_functors import kinds_of
from tidelog.io.sizes import size_limits
from tidelog.lang import tree
from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.epoch import Contents, Epoch
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.given import FactChange, change_facts, given_table
from tidelog.spark.dataframe.query import answer
from tidelog.spark.dataframe.refuse import refuse_unsupported
from tidelog.spark.dataframe.report import FrameReport
from tidelog.spark.dataframe.sql import Query
from tidelog.spark.dataframe.strata import facts_of, program_of
from tidelog.spark.dataframe.tables import ALONE, COUNT, ITERATION, Table, column
from tidelog.spark.dataframe.transitions import Transition, between
from tidelog.spark.dataframe.translate import Surroundings
from tidelog.spark.dataframe.values import go_out

STRATEGIES = ("elastic", "update-paper", "batch")


class DataFrames:
    """The engine. `strategy` is one of STRATEGIES; the frames it takes and gives have the relation's attributes as
    columns (`values.py` says of which types; a nullary relation has one column `_`)."""

    def __init__(
        self,
        checked: Checked,
        spark: SparkSession,
        options: EngineOptions,
        strategy: str = "elastic",
        observer: Observer | None = None,
    ) -> None:
        if strategy not in STRATEGIES:
            raise InternalError(f"no strategy {strategy}")
        Prepared(checked, options.functors)
        refuse_unsupported(checked)
        self.checked, self.spark, self.options, self.strategy = checked, spark, options, strategy
        self.program = program_of(checked, counted=strategy != "batch")
        functor_kinds = {d.name: kinds_of(d, checked.types) for d in checked.program.of(tree.FunctorDecl)}
        self.evaluation = Evaluation(
            Surroundings(spark, self.program.kinds, options.functors, functor_kinds),
            Checkpoints(spark, checked.clauses),
            options.limits,
            size_limits(checked.directives("limitsize")),
            observer or Silent(),
        )
        self.epoch = 0
        self.contents: Contents | None = None

    # ---- epochs

    def bootstrap(self, facts: Mapping[str, DataFrame]) -> FrameReport:
        """Begin anew with these facts of the `.input` relations and no others. The report's change is from the state
        before, whatever it was."""
        start, actions = time.perf_counter(), self.evaluation.checkpoints.actions
        self._begin()
        given = given_table(self.evaluation, self.checked, facts)
        contents = Epoch(self.evaluation, self.program, given).start_over()
        report = FrameReport(self.epoch + 1, "bootstrap", "asked for", 0.0, contents.derivations)
        for name in self.checked.relations:
            self._compare(report, name, contents)
        self.contents, self.epoch = contents, report.epoch
        report.actions = self.evaluation.checkpoints.actions - actions
        report.seconds = time.perf_counter() - start
        return report

    def _compare(self, report: FrameReport, name: str, contents: Contents) -> None:
        """Enter what has changed of a relation since the last epoch."""
        new = contents.tables[name]
        if self.contents is not None:
            self._enter(report, name, self._transition(name, self.contents.tables[name], new))
        elif new.counts[name]:
            report.inserted[name] = self._outside(name, new.relation(name))
            report.inserted_counts[name] = new.counts[name]

    def _transition(self, name: str, old: Table, new: Table) -> Transition:
        tables = [facts_of(self.program, (name,), {name: table}) for table in (old, new)]
        return between(self.evaluation.checkpoints, *tables)

    def update(
        self, delete: Mapping[str, DataFrame], insert: Mapping[str, DataFrame], strict: bool = False
    ) -> FrameReport:
        """The next epoch. Rows that change nothing are left out, and counted; they are an error if it is strict."""
        if self.contents is None:
            raise InternalError("an update before the first bootstrap")
        start, actions = time.perf_counter(), self.evaluation.checkpoints.actions
        self._begin()
        change = change_facts(self.evaluation, self.checked, self.contents.given, delete, insert)
        if strict:
            change.refuse_needless()
        epoch = Epoch(self.evaluation, self.program, change.transition.after)
        contents = epoch.follow(self.contents, change.transition, self.options, self.strategy)
        report = self._report(epoch, contents, change)
        for name in self.checked.relations:
            if name in epoch.changes:
                self._enter(report, name, epoch.changes[name])
        self.contents, self.epoch = contents, report.epoch
        report.actions = self.evaluation.checkpoints.actions - actions
        report.seconds = time.perf_counter() - start
        return report

    def _begin(self) -> None:
        """Limits hold for each epoch anew."""
        self.evaluation.limits = replace(self.options.limits, started=time.monotonic())

    def _report(self, epoch: Epoch, contents: Contents, change: FactChange) -> FrameReport:
        report = FrameReport(self.epoch + 1, "update", "it fits the budget", 0.0, contents.derivations)
        report.strata = epoch.strata
        report.ignored_inserts, report.ignored_deletes = change.ignored_inserts, change.ignored_deletes
        if self.strategy == "batch":
            report.strategy, report.why = "batch", "this strategy keeps no state"
        else:
            summarise(report)
        return report

    def _enter(self, report: FrameReport, name: str, change: Transition) -> None:
        if change.inserted[name]:
            report.inserted[name] = self._outside(name, change.rows_inserted(name))
            report.inserted_counts[name] = change.inserted[name]
        if change.deleted[name]:
            report.deleted[name] = self._outside(name, change.rows_deleted(name))
            report.deleted_counts[name] = change.deleted[name]

    # ---- contents

    def rows(self, name: str) -> DataFrame:
        """The tuples of a relation, whether given or derived."""
        return self._outside(name, self._contents.tables[name].relation(name))

    def facts(self, name: str) -> DataFrame:
        """The rows of an `.input` relation that were given as facts."""
        return self._outside(name, self._contents.given.relation(name))

    def count(self, name: str) -> int:
        return self._contents.tables[name].counts[name]

    def states(self, name: str) -> DataFrame:
        """The tuples with `_iteration` and `_count`; relations that are evaluated as a whole have no such state."""
        frame = self._contents.tables[name].relation(name, ITERATION, COUNT).frame(self.spark)
        state = F.col(ITERATION).alias("_iteration"), F.col(COUNT).alias("_count")
        return frame.select(*self._columns(self.checked.relations[name], self.checked), *state)

    def query(self, source: Source) -> tuple[RelationInfo, DataFrame]:
        """The distinct answers to an ad-hoc conjunctive query."""
        info, found, checked = answer(source, self.checked, self.evaluation.surroundings, self._contents.tables)
        return info, found.frame(self.spark).select(*self._columns(info, checked))

    def close(self) -> None:
        """Let go of all frames: Spark then drops what it holds for them."""
        self.contents = None

    @property
    def _contents(self) -> Contents:
        if self.contents is None:
            raise InternalError("nothing was bootstrapped yet")
        return self.contents

    def _outside(self, name: str, rows: Query) -> DataFrame:
        return rows.frame(self.spark).select(*self._columns(self.checked.relations[name], self.checked))

    def _columns(self, info: RelationInfo, checked: Checked) -> list[Column]:
        """A relation's columns as users see them."""
        types = [checked.types.types[name] for name in info.types]
        return [
            go_out(column(i), declared).alias(attribute)
            for i, (attribute, declared) in enumerate(zip(info.attributes, types, strict=True))
        ] or [F.lit(True).alias(ALONE)]


def summarise(report: FrameReport) -> None:
    """What the epoch did in the end: an update, a bootstrap, or one for some strata and the other for others."""
    anew = [stratum for stratum in report.strata if stratum.strategy == "bootstrap"]
    if anew:
        report.strategy = "bootstrap" if len(anew) == len(report.strata) else "mixed"
        report.why = "; ".join(f"{', '.join(stratum.relations)} anew: {stratum.why}" for stratum in anew)
