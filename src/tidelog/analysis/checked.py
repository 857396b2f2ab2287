"""What the checks of a program give, and all stages behind them take."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tidelog.analysis.size_limits import SizeLimits
from tidelog.plain import dataclass

if TYPE_CHECKING:
    from tidelog.analysis.clauses.flat import Clause
    from tidelog.analysis.strata import Stratum
    from tidelog.analysis.types.system import RelationInfo, TypeSystem
    from tidelog.analysis.types.typing import ClauseTypes
    from tidelog.errors import Diagnostic
    from tidelog.lang import tree


@dataclass(frozen=True)
class Checked:
    """A program that means something: flat, typed, safe and stratified."""

    program: tree.Program
    types: TypeSystem
    clauses: list[Clause]
    clause_types: list[ClauseTypes]
    strata: list[Stratum]
    warnings: tuple[Diagnostic, ...]

    @property
    def relations(self) -> dict[str, RelationInfo]:
        return self.types.relations

    def directives(self, *kinds: str) -> list[tree.Directive]:
        """The directives of these kinds, the old qualifiers `input`, `output` and `printsize` included."""
        return [d for d in self._directives if d.kind in kinds]

    @cached_property
    def _directives(self) -> list[tree.Directive]:
        from tidelog.analysis.names.directives import directives_of

        return directives_of(self.program)

    @cached_property
    def size_limits(self) -> SizeLimits:
        return SizeLimits(self._directives)
