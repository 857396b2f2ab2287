"""The DataFrame executor: keeps the relations of one program up to date with DataFrame operations and nothing else.

It needs the public DataFrame API only, so it runs on Spark Connect as on a classic session, whose settings it neither
needs nor changes. Slower per iteration than the columnar executor by the price of a Spark job, it holds what does not
fit into memory and survives the loss of executors as far as Spark does. Its epochs are those of `epochs/driver.py` over
the frames of `holder.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.epochs.driver import Driver
from tidelog.epochs.engine import EngineOptions
from tidelog.epochs.holder import Position
from tidelog.errors import InternalError, Source
from tidelog.evaluate.limits import Observer, Silent
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.user_functors import functor_types
from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.holder import FrameChange, FrameHolder, outer_columns
from tidelog.spark.dataframe.query import answer
from tidelog.spark.dataframe.refuse import refuse_unsupported
from tidelog.spark.dataframe.report import FrameReport
from tidelog.spark.dataframe.strata import program_of
from tidelog.spark.dataframe.tables import COUNT, ITERATION, Table
from tidelog.spark.dataframe.translate import Surroundings

STRATEGIES = ("elastic", "update-paper", "batch")


class DataFrames(Driver[Mapping[str, DataFrame] | Table, FrameChange, FrameReport]):
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
        program = program_of(checked, counted=strategy != "batch")
        evaluation = Evaluation(
            Surroundings(spark, program.kinds, options.functors, functor_types(checked.program, checked.types)),
            Checkpoints(spark, checked.clauses),
            options.limits,
            checked.size_limits,
            observer or Silent(),
            options.recorder,
        )
        self.checked, self.spark, self.frames = checked, spark, FrameHolder(program, evaluation)
        super().__init__(self.frames, options.policy(strategy))

    def take_over(
        self, epoch: int, relations: Mapping[str, DataFrame], counts: Mapping[str, int], facts: Mapping[str, DataFrame]
    ) -> None:
        """Go on from an epoch that was computed elsewhere (`FrameHolder.take_over`)."""
        self.frames.take_over(relations, counts, facts)
        self.go_on_from(Position(epoch))

    def rows(self, name: str) -> DataFrame:
        """The tuples of a relation, whether given or derived."""
        return self.frames.outside(name, self.frames.old.tables[name].relation(name))

    def facts(self, name: str) -> DataFrame:
        """The rows of an `.input` relation that were given as facts."""
        return self.frames.outside(name, self.frames.old.given.relation(name))

    def count(self, name: str) -> int:
        return self.frames.old.tables[name].counts[name]

    def states(self, name: str) -> DataFrame:
        """The tuples with `_iteration` and `_count`; relations that are evaluated as a whole have no such state."""
        frame = self.frames.old.tables[name].relation(name, ITERATION, COUNT).frame(self.spark)
        state = F.col(ITERATION).alias("_iteration"), F.col(COUNT).alias("_count")
        return frame.select(*outer_columns(self.checked, self.checked.relations[name]), *state)

    def query(self, source: Source) -> tuple[RelationInfo, DataFrame]:
        """The distinct answers to an ad-hoc conjunctive query."""
        surroundings = self.frames.evaluation.surroundings
        info, found, checked = answer(source, self.checked, surroundings, self.frames.old.tables)
        return info, found.frame(self.spark).select(*outer_columns(checked, info))

    def close(self) -> None:
        """Let go of all frames: Spark then drops what it holds for them."""
        self.frames.contents = None
