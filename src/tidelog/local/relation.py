"""A relation of a session in this process, as it is whenever it is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidelog.analysis.types import RelationInfo
from tidelog.io.tables import table_of

if TYPE_CHECKING:
    from tidelog.local.local_session import LocalSession


class LiveRelation:
    """A relation of a session: its tuples as they are when they are asked for."""

    def __init__(self, session: LocalSession, info: RelationInfo) -> None:
        self._session = session
        self._info = info

    @property
    def name(self) -> str:
        return self._info.name

    @property
    def attributes(self) -> tuple[str, ...]:
        return self._info.attributes

    def count(self) -> int:
        return self._session.ready().count(self.name)

    def to_arrow(self) -> pa.Table:
        """A table with the attributes as columns; records and ADT values as text in Soufflé's syntax."""
        return self._session.table(self._info, self._session.ready().rows(self.name))

    def to_pandas(self) -> Any:
        """The same as a pandas data frame; needs pandas."""
        return self.to_arrow().to_pandas()

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return tuples(self.to_arrow())

    def __contains__(self, row: Any) -> bool:
        """Whether it has the tuple; one of the wrong types is an error."""
        session = self._session
        words = session.words(self.name, table_of([row], self._info, session.checked.types))
        return bool(session.ready().query_database().meant(self.name).contains(words)[0])

    def __repr__(self) -> str:
        return f"<relation {self.name}({', '.join(self.attributes)}), {self.count():,} tuples>"


def tuples(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """The rows of a table as Python values."""
    if not table.num_columns:
        return iter([()] * table.num_rows)
    return zip(*(column.to_pylist() for column in table.columns), strict=True)
