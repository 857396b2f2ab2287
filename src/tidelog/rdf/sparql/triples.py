"""What a query asks of whoever holds the triples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from tidelog.rdf.sparql.solutions import Solutions
from tidelog.store.symbols import Symbols

Place: TypeAlias = int | str
"""A term's number, or a variable's name."""

Pattern: TypeAlias = tuple[Place, Place, Place]


class Triples(Protocol):
    """Triples that can be matched. They must not change while a query is answered."""

    @property
    def symbols(self) -> Symbols:
        """The terms."""

    def one(self, number: int) -> int:
        """The number of the term that stands for a term: its own, unless equal resources are one."""

    def match(self, patterns: Sequence[Pattern]) -> Solutions:
        """The terms for the variables that make every pattern a triple. There is a column for each variable; without
        variables there is one solution or none. No patterns have one solution."""
