"""What a graph tells: what an epoch did, and what contradicts the ontology."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from tidelog.local import Epoch


class Violation(NamedTuple):
    """Two triples (or one, twice) that an ontology does not allow, by a rule of OWL 2 RL."""

    rule: str
    triple: tuple[str, ...]
    other: tuple[str, ...]


class GraphEpoch(NamedTuple):
    """What an epoch did: how many triples came and went, given and derived alike, and how (see `tidelog.Epoch`). Where
    rules or axioms changed, each predicate and class counts by how many more or fewer triples it has."""

    number: int
    inserted: int
    deleted: int
    seconds: float
    strategy: str
    told: Epoch[pa.Table] | None = None

    @property
    def not_given(self) -> int:
        """How many triples were to be deleted that nobody had given: if they are there, they follow from others."""
        return 0 if self.told is None else sum(self.told.ignored_deletes.values())

    def __str__(self) -> str:
        changed = f"{self.inserted:,} triples inserted, {self.deleted:,} deleted"
        unknown = f" ({self.not_given:,} to delete were never given)" if self.not_given else ""
        return f"epoch {self.number}, {self.strategy} in {1000 * self.seconds:,.1f} ms: {changed}{unknown}"
