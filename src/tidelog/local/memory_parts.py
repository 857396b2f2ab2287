"""What the memory of a process is for, as far as its store can tell; the rest is what nobody has told of."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.evaluate.profile import Size
from tidelog.room import resident_bytes
from tidelog.store import Database


def memory_parts(database: Database, sizes: Mapping[str, Size], at_first: int) -> dict[str, int]:
    """All that this process has, in bytes; `at_first` is what it had before there was any data. Relations are counted
    by what they use, not by what they have reserved."""
    records = (database.records.relation(arity) for arity in database.records.arities)
    found = {
        "Python and libraries": at_first,
        "relations": sum(size.total for size in sizes.values()),
        "texts": database.symbols.memory(),
        "records": sum(sum(relation.memory().values()) for relation in records),
    }
    found["not accounted for"] = max(0, resident_bytes() - sum(found.values()))
    return {part: size for part, size in found.items() if size}
