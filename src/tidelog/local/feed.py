"""Change feeds: changes as rows, in the shape of Delta's change data feed.

A row is a fact and what happened to it, in `_change_type`. Feeds that a session gives say `insert` and `delete`, and in
`_epoch` when; feeds that it takes may also say `update_preimage`, which is a deletion, and `update_postimage`, an
insertion. Columns named `_commit_version` or `_epoch` order the changes, `_commit_timestamp` is passed over.

What is always true of a feed that was split: deleting the one side and then inserting the other leaves a fact present
if and only if the last word about it was an insertion; within one version deletions come first. Cost: a sort and a
grouping if there are versions, else a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.analysis.vocabulary import Vocabulary
from tidelog.arrow import pc
from tidelog.errors import Diagnostic, Report, TidelogError, error
from tidelog.floats import float_words
from tidelog.io.bad_rows import BadRows
from tidelog.io.columns import CHANGE, EPOCH, chosen_columns, names_of_row, values_of_row
from tidelog.io.tables import nullary_table, table_of_arrow
from tidelog.plain import dataclass

INSERTIONS, DELETIONS = ("insert", "update_postimage"), ("delete", "update_preimage")
VERSIONS = ("_commit_version", EPOCH)
RESERVED = (CHANGE, *VERSIONS, "_commit_timestamp")
INSERT, DELETE = "insert", "delete"

Table = TypeVar("Table")
Rows = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sides(Generic[Table]):
    """What a feed deletes and what it then inserts; None is nothing."""

    delete: Table | None
    insert: Table | None


def feed_names(info: RelationInfo) -> list[str]:
    """The attributes as a feed's columns: different from those that a feed adds."""
    return [f"{name}_" if name in RESERVED else name for name in info.attributes]


def feed_table(info: RelationInfo, sides: Iterable[tuple[str, pa.Table]], epoch: int) -> pa.Table:
    """An epoch's changes of a relation as a feed; `sides` are change types with their tuples."""
    return pa.concat_tables(_told(info, change, table, epoch) for change, table in sides)


def _told(info: RelationInfo, change: str, table: pa.Table, epoch: int) -> pa.Table:
    rows = table.num_rows
    columns = [*table.columns, pa.repeat(pa.scalar(change), rows), pa.repeat(pa.scalar(epoch, pa.int64()), rows)]
    return pa.table(columns, names=[*feed_names(info), CHANGE, EPOCH])


def change_set(
    changes: Any, vocabulary: Vocabulary, split: Callable[[RelationInfo, Any], Sides[Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Feeds by relation as what to insert and what to delete; all that is wrong with them is raised together."""
    if not isinstance(changes, Mapping):
        raise error("TL1108", f"changes are given by relation, not as a {type(changes).__name__}",
                    help='write a dict, such as {"edge": feed}')  # fmt: skip
    report = Report()
    insert: dict[str, Any] = {}
    delete: dict[str, Any] = {}
    for name, feed in changes.items():
        if not vocabulary.is_input(name, report):
            continue
        try:
            sides = split(vocabulary.checked.relations[name], feed)
        except TidelogError as problem:
            report.diagnostics += problem.diagnostics
            continue
        for found, side in ((sides.insert, insert), (sides.delete, delete)):
            if found is not None:
                side[name] = found
    if report.errors:
        raise TidelogError(report.errors)
    return insert, delete


def split_table(feed: Any, info: RelationInfo, types: TypeSystem, bad: BadRows | None = None) -> Sides[pa.Table]:
    """A feed in this process: Arrow, pandas or polars, a dict of columns or a list of rows with names. Rows that are no
    facts are raised together, or left out and counted if `bad` skips them."""
    table = _arrow(feed, info)
    check_columns(table.column_names, info)
    check_types(pc.unique(table.column(CHANGE)).to_pylist(), info)
    facts, table = _facts(table, info, types, BadRows() if bad is None else bad)
    inserts = np.asarray(pc.is_in(table.column(CHANGE), pa.array(INSERTIONS, table.column(CHANGE).type)))
    versions = [_version(table, name, info) for name in VERSIONS if name in table.column_names]
    order = np.lexsort([inserts, *reversed(versions)])
    inserts = inserts[order]
    if not info.arity:
        return Sides(nullary_table(not inserts.all()), nullary_table(bool(inserts[-1:].any())))
    facts = facts.take(pa.array(order))
    if not versions:
        return Sides(facts.filter(pa.array(~inserts)), facts.filter(pa.array(inserts)))
    first, last = _ends(facts)
    gone = ~inserts[first] | ~inserts[last]
    return Sides(facts.take(pa.array(last[gone])), facts.take(pa.array(last[inserts[last]])))


def _facts(table: pa.Table, info: RelationInfo, types: TypeSystem, bad: BadRows) -> tuple[pa.Table, pa.Table]:
    """The facts of a feed, and its rows that have one."""
    columns, warning = fact_columns(table.column_names, info)
    bad.tell_once(warning)
    wrong: list[int] = []

    def problem(code: str, message: str, row: int) -> None:
        wrong.append(row)
        bad.add_row(code, message, f"changes of relation `{info.name}`", row + 1)

    named = pa.table([table.column(i) for i in columns], names=list(info.attributes)) if columns else table
    facts = table_of_arrow(named, info, types, problem, bad.tell_once)
    bad.check()
    if wrong:
        kept = np.ones(table.num_rows, bool)
        kept[wrong] = False
        table = table.filter(pa.array(kept))
    return facts, table


def _version(table: pa.Table, name: str, info: RelationInfo) -> Rows:
    """A column that orders changes; one that says nothing comes first."""
    try:
        return pc.fill_null(pc.cast(table.column(name), pa.int64()), -1).to_numpy()
    except pa.ArrowInvalid:
        raise error("TL1221", f"changes of relation `{info.name}`: `{name}` is {table.column(name).type}",
                    help="it orders changes, and is a whole number") from None  # fmt: skip


def _ends(facts: pa.Table) -> tuple[Rows, Rows]:
    """For each distinct fact, its first and its last row."""
    bits = [pa.array(float_words(c.to_numpy())) if pa.types.is_floating(c.type) else c for c in facts.columns]
    keys = [str(i) for i in range(len(bits))]
    table = pa.table([*bits, pa.array(np.arange(facts.num_rows))], names=[*keys, "#"])
    found = table.group_by(keys, use_threads=False).aggregate([("#", "min"), ("#", "max")])
    return found.column("#_min").to_numpy(), found.column("#_max").to_numpy()


def _arrow(feed: Any, info: RelationInfo) -> pa.Table:
    if isinstance(feed, (pa.Table, pa.RecordBatch)) or hasattr(feed, "__arrow_c_stream__"):
        return pa.table(feed)
    try:
        if isinstance(feed, Mapping):
            return pa.table(dict(feed))
        if isinstance(feed, list):
            return pa.Table.from_pylist([_named(row) for row in feed])
    except (pa.ArrowInvalid, pa.ArrowTypeError, AttributeError) as problem:
        raise error("TL1221", f"changes of relation `{info.name}` are no table: {problem}") from None
    raise error(
        "TL1221", f"changes of relation `{info.name}` cannot be taken from a value of type {type(feed).__name__}",
        help="give a data frame, an Arrow table, a dict of columns or a list of dicts; on Spark, a DataFrame",
    )  # fmt: skip


def _named(row: Any) -> Any:
    names = names_of_row(row)
    return row if names is None else dict(zip(names, values_of_row(row, names), strict=True))


# ---- what all feeds have in common


def check_columns(names: Iterable[str], info: RelationInfo) -> None:
    if CHANGE not in names:
        raise error(
            "TL1221", f"changes of relation `{info.name}` have no column `{CHANGE}`",
            help=f"it says {', '.join((*INSERTIONS, *DELETIONS))}; "
            f"facts without it go to update(insert={{{info.name!r}: …}})",
        )  # fmt: skip


def check_types(found: Iterable[Any], info: RelationInfo) -> None:
    """Raise if there are change types that nobody knows."""
    odd = sorted("null" if change is None else f"`{change}`" for change in found
                 if change not in (*INSERTIONS, *DELETIONS))  # fmt: skip
    if odd:
        raise error(
            "TL1222", f"changes of relation `{info.name}`: unknown change type{'s' * (len(odd) > 1)} {', '.join(odd)}",
            help=f"`{CHANGE}` is one of {', '.join((*INSERTIONS, *DELETIONS))}",
        )  # fmt: skip


def fact_columns(names: Sequence[str], info: RelationInfo) -> tuple[list[int], Diagnostic | None]:
    """The column of a feed for each attribute, counted from 0; and what to tell about it."""
    places = [i for i, name in enumerate(names) if name not in RESERVED]
    choice = chosen_columns([names[i] for i in places], info, feed_names(info))
    return [places[p] for p in choice.positions], choice.warning
