"""Warnings about variables whose number of uses suggests a typing mistake."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from tidelog.analysis.clauses.uses import AggregateUses, ClauseUses, ProgramUses, Uses
from tidelog.errors import Report
from tidelog.lang import tree

RULE = 0
"""The owner of a variable that is not local to an aggregate."""


def warn_of_variables(uses: ProgramUses, report: Report) -> None:
    """A variable that occurs once, in no head; a variable marked with `_` that occurs more than once.

    The clauses of one rule (several heads, alternatives of its body) are judged together.
    """
    for _, group in groupby(uses.clauses, key=lambda member: id(member.clause.origin)):
        members = list(group)
        if members[0].literals:
            _warn_of_rule(members, report)


def _warn_of_rule(members: list[ClauseUses], report: Report) -> None:
    in_heads = {name for member in members for name in member.head.names()}
    most: Counter[tuple[int, str]] = Counter()
    place: dict[tuple[int, str], tree.Variable] = {}
    seen: set[int] = set()
    for member in members:
        if id(member.clause.body) in seen:
            continue
        seen.add(id(member.clause.body))
        occurrences = _Occurrences(member)
        for key, variable in occurrences.first.items():
            place.setdefault(key, variable)
        most |= occurrences.count
    for (owner, name), times in most.items():
        variable = place[owner, name]
        if name.startswith("_"):
            total = times + (name in in_heads)
            if total > 1:
                report.warn(
                    "TL0282", f"the variable `{name}` is marked as used once, but occurs more often", variable.span
                )
        elif times == 1 and not (owner == RULE and name in in_heads):
            report.warn("TL0281", f"the variable `{name}` occurs only once", variable.span, help="write `_` instead")


class _Occurrences:
    """How often a body mentions each variable; equal names in different aggregates are different variables."""

    def __init__(self, clause: ClauseUses) -> None:
        self.count: Counter[tuple[int, str]] = Counter()
        self.first: dict[tuple[int, str], tree.Variable] = {}
        self._clause = clause
        for level in clause.literals:
            self._add(level, ())

    def _add(self, level: Uses, around: tuple[AggregateUses, ...]) -> None:
        for variable in level.variables:
            key = (self._owner(variable.name, around), variable.name)
            self.count[key] += 1
            self.first.setdefault(key, variable)
        for aggregate in level.aggregates:
            self._add(aggregate.uses, (*around, aggregate))

    def _owner(self, name: str, around: tuple[AggregateUses, ...]) -> int:
        for aggregate in reversed(around):
            if name in self._clause.scopes[id(aggregate.node)].local:
                return id(aggregate.node)
        return RULE
