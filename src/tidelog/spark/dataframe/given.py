"""The facts of a program's input relations, all in one table, and what an epoch changes of them.

What is always true: a fact is in the table once. Checking and counting a change set is one Spark action, whatever the
number of relations.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo, Type
from tidelog.errors import Report
from tidelog.plain import dataclass, field
from tidelog.spark.dataframe.checkpoints import in_one_partition
from tidelog.spark.dataframe.faults import FACTS, raised
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.sql import Select, of_frame, union
from tidelog.spark.dataframe.tables import (
    ALONE,
    COUNT,
    ITERATION,
    Table,
    TableLayout,
    TablePart,
    column,
    in_one_task,
    is_small,
)
from tidelog.spark.dataframe.transitions import BEFORE_COUNT, NOW_COUNT, Transition
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW
from tidelog.spark.dataframe.values import come_in
from tidelog.values import Kind


def input_layout(checked: Checked) -> TableLayout:
    names = dict.fromkeys(directive.relation for directive in checked.directives("input"))
    return TableLayout({name: checked.relations[name].kinds for name in names})


def inside(frame: DataFrame, info: RelationInfo, checked: Checked) -> Select:
    """A user's frame with columns as the executor has them."""
    types = [checked.types.types[name] for name in info.types]
    columns = [
        _present(info, attribute, declared, come_in(f"`{attribute}`", declared)).alias(column(i))
        for i, (attribute, declared) in enumerate(zip(info.attributes, types, strict=True))
    ] or [F.lit(True).alias(ALONE)]
    return of_frame(frame.select(*columns), [column(i) for i in range(info.arity)] or [ALONE])


def _present(info: RelationInfo, attribute: str, declared: Type, value: Column) -> Column:
    """The value; a null, or an unsigned number that is negative, makes the job fail."""
    where = f"facts of relation `{info.name}`: attribute `{attribute}`: ".replace("'", "''")
    found = F.when(F.col(f"`{attribute}`").isNull(), F.expr(raised(FACTS, f"'{where}null is not a value'")))
    if declared.kind is Kind.UNSIGNED:
        shown = f"'{where}', cast(`{attribute}` AS string), ' is negative'"
        found = found.when(F.col(f"`{attribute}`") < 0, F.expr(raised(FACTS, shown)))
    return found.otherwise(value)


def given_table(evaluation: Evaluation, checked: Checked, facts: Mapping[str, DataFrame]) -> Table:
    """The facts to begin with."""
    layout = input_layout(checked)
    rows = [layout.tagged(name, inside(frame, checked.relations[name], checked)) for name, frame in facts.items()]
    found = union(rows).distinct().adding({ITERATION: "0", COUNT: "1L"}) if rows else layout.empty()
    taken, counts = evaluation.checkpoints.take(found, layout.counted("true"))
    size = sum(counts.values())
    if is_small(size):
        frame = in_one_partition(taken.frame(evaluation.surroundings.spark), size)
        taken = of_frame(frame, taken.columns, single=True)
    return Table(layout, (TablePart(taken, 0, 0),), counts, size)


@dataclass
class FactChange:
    """The input facts before and after an epoch; what of the change set changed nothing is counted."""

    transition: Transition
    ignored_inserts: dict[str, int] = field(default_factory=dict)
    ignored_deletes: dict[str, int] = field(default_factory=dict)

    def refuse_needless(self) -> None:
        """Raise an error if anything of the change set changed nothing."""
        report = Report()
        for found, what in ((self.ignored_deletes, "deleted and are"), (self.ignored_inserts, "inserted and are")):
            there = "not there" if what.startswith("deleted") else "there already"
            for name, count in found.items():
                message = f"{count:,} facts of relation `{name}` were to be {what} {there}"
                report.error("TL1105", message, help="the session is strict: nothing was changed")
        report.check()


def change_facts(
    evaluation: Evaluation,
    checked: Checked,
    given: Table,
    delete: Mapping[str, DataFrame],
    insert: Mapping[str, DataFrame],
) -> FactChange:
    """Deletions are applied first: a fact that is deleted and inserted ends up present."""
    layout = given.layout
    rows = [given.rows.only(layout.columns).adding({"mark": "'known'"})]
    for frames, mark in ((delete, "deleted"), (insert, "inserted")):
        for name, frame in frames.items():
            rows.append(layout.tagged(name, inside(frame, checked.relations[name], checked), {"mark": f"'{mark}'"}))
    flags = {mark: f"bool_or(mark = '{mark}')" for mark in ("known", "deleted", "inserted")}
    grouped = in_one_task(union(rows), given.size).grouped(layout.columns, flags)
    after = "(inserted OR (known AND NOT deleted))"
    states = {
        BEFORE: f"IF(known, 0, {NEVER})",
        BEFORE_COUNT: "cast(known AS bigint)",
        NOW: f"IF({after}, 0, {NEVER})",
        NOW_COUNT: f"cast({after} AS bigint)",
    }
    ignored = {"present": "inserted AND known AND NOT deleted", "absent": "deleted AND NOT known"}
    counted = layout.counted("present", "present ") | layout.counted("absent", "absent ")
    found = grouped.select({c: c for c in layout.columns} | states | ignored)
    transition, counts = Transition.take(evaluation.checkpoints, layout, found, counted)
    return FactChange(transition, _nonzero(counts, "present "), _nonzero(counts, "absent "))


def _nonzero(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): n for name, n in counts.items() if name.startswith(prefix) and n}
