"""Relations as Arrow tables with their state: how the files of a state are laid out.

A snapshot has the attributes of a relation as columns, and `_iteration` and `_count`. A file of changes has these and
`_change_type` (insert, delete, or update: the tuple stays, its iteration or count is another) and `_epoch`; a deleted
tuple has no iteration and no count. A snapshot has no nulls, and says so, which makes it quicker to read. Numbers are
int64, unsigned uint64, floats double, symbols text (dictionary encoded), records and branches text in Soufflé's syntax.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.analysis.names.inlining import inline_relations
from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.evaluate.effects import DELETE, Effect
from tidelog.evaluate.state import State
from tidelog.io.codec import decode
from tidelog.io.columns import CHANGE, EPOCH
from tidelog.io.numbers import ARROW_TYPES
from tidelog.lang import tree
from tidelog.plain import dataclass
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Database
from tidelog.values import Kind

ITERATION, COUNT = "_iteration", "_count"
STATE_FIELDS = [pa.field(ITERATION, pa.int32()), pa.field(COUNT, pa.int32())]
CHANGE_TYPES = ("insert", "delete", "update")
TEXT = pa.dictionary(pa.int32(), pa.string())
ROW_GROUP = 1 << 20
"""Rows that are encoded and written at a time."""
RELATION, AUXILIARY, GIVEN = "relation", "auxiliary", "given"
EQUIVALENCE = "eqrel"
"""A relation of the program of which the pairs are stored that it follows from."""
DECLARED = (RELATION, EQUIVALENCE)


@dataclass(frozen=True)
class Shape:
    """What a stored relation looks like; `source` is its name in the database."""

    kind: str
    info: RelationInfo

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def file(self) -> str:
        """What its files are called by: nobody shall take the pairs of an equivalence for all of it."""
        return f"{self.name}@pairs" if self.kind == EQUIVALENCE else self.name

    @property
    def names(self) -> list[str]:
        """The names of the columns: the attributes', different from those that a state adds."""
        reserved = {ITERATION, COUNT, CHANGE, EPOCH}
        return [f"{name}_" if name in reserved else name for name in self.info.attributes]

    @property
    def fields(self) -> list[Any]:
        texts = (Kind.SYMBOL, Kind.RECORD)
        types = [TEXT if kind in texts else ARROW_TYPES[kind] for kind in self.info.kinds]
        return [pa.field(name, found) for name, found in zip(self.names, types, strict=True)]

    @property
    def snapshot_schema(self) -> Any:
        return pa.schema([field.with_nullable(False) for field in (*self.fields, *STATE_FIELDS)])

    @property
    def change_schema(self) -> Any:
        change = pa.field(CHANGE, pa.dictionary(pa.int8(), pa.string()))
        return pa.schema([*self.fields, change, *STATE_FIELDS, pa.field(EPOCH, pa.int64())])


def shapes(state: State) -> dict[str, Shape]:
    """The relations that are stored, by their names in the database."""
    checked = state.checked
    inlined = inline_relations(checked.program)
    implicit = state.program.implicit
    kinds_of = {name: EQUIVALENCE if name in implicit else RELATION for name in checked.relations}
    found = {name: Shape(kinds_of[name], info) for name, info in checked.relations.items() if name not in inlined}
    for name in state.program.auxiliaries:
        types = state.program.types.get(name)
        if types is not None:
            found[name] = Shape(AUXILIARY, _auxiliary(name, state.program.kinds[name], types))
    for name, given in state.given.items():
        info = checked.relations[name]
        found[given] = Shape(GIVEN, RelationInfo(given, info.attributes, info.types, info.kinds, info.decl))
    return found


def rebuilt(state: State) -> list[StatefulStratum]:
    """Strata of relations that are not stored, because the types of their records have no names."""
    stored = shapes(state)
    auxiliaries = set(state.program.auxiliaries)
    return [s for s in state.program.strata if s.relations[0] in auxiliaries and s.relations[0] not in stored]


def _auxiliary(name: str, kinds: tuple[Kind, ...], types: tuple[str, ...]) -> RelationInfo:
    attributes = tuple(f"c{i}" for i in range(len(kinds)))
    columns = tuple(tree.Attribute(a, t) for a, t in zip(attributes, types, strict=True))
    return RelationInfo(name, attributes, types, kinds, tree.RelationDecl(name, columns))


def values(shape: Shape, rows: Any, types: TypeSystem, database: Database) -> list[Any]:
    """The columns of tuples, as Arrow arrays."""
    if not shape.info.arity:
        return []
    table = decode(rows, shape.info, types, database, compact=True)
    return [_as_text(c) if pa.types.is_dictionary(c.type) else c.combine_chunks() for c in table.columns]


def _as_text(column: Any) -> Any:
    """A dictionary column with the types that files have."""
    (coded,) = column.chunks or [pa.array([], TEXT)]
    return pa.DictionaryArray.from_arrays(coded.indices.cast(pa.int32()), coded.dictionary.cast(pa.string()))


def snapshot_table(
    shape: Shape, rows: Any, iterations: Any, counts: Any, types: TypeSystem, database: Database
) -> pa.Table:
    states = [pa.array(iterations, pa.int32()), pa.array(counts, pa.int32())]
    return pa.Table.from_arrays([*values(shape, rows, types, database), *states], schema=shape.snapshot_schema)


def change_table(shape: Shape, effect: Effect, epoch: int, types: TypeSystem, database: Database) -> pa.Table:
    gone = effect.change == DELETE
    change = pa.DictionaryArray.from_arrays(pa.array(effect.change, pa.int8()), pa.array(CHANGE_TYPES))
    states = [
        change,
        pa.array(effect.iterations, pa.int32(), mask=gone),
        pa.array(effect.counts, pa.int32(), mask=gone),
        pa.array(np.full(len(effect), epoch), pa.int64()),
    ]
    return pa.Table.from_arrays([*values(shape, effect.rows, types, database), *states], schema=shape.change_schema)


def parquet_writer(sink: Any, schema: Any) -> Any:
    """How all files are written: dictionaries, which make repeated values small and quick to read, with checksums."""
    return pq.ParquetWriter(
        sink, schema, compression="snappy", dictionary_pagesize_limit=1 << 24, write_page_checksum=True
    )
