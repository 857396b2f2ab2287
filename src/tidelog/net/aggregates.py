"""Aggregates kept in step with their contributions, one contribution at a time.

A group holds its present contributions and the head fact they give. A new contribution moves a min or max in one
comparison; taking away one that is not the extreme changes nothing; only losing the extreme looks through the group.
The result depends on the set of contributions alone, never on the order in which they came: sums of floats are exactly
rounded (`fsum`), so every schedule ends with the same number.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import Protocol

from tidelog.errors import error
from tidelog.net.functions import FUNCTIONS, WrongKind
from tidelog.net.program import CHOICE, Aggregation
from tidelog.net.values import Annotation, Fact, Update, Value, normal, order_key, show


def aggregate(operator: str, values: Iterable[Value]) -> Value:
    """The aggregate of one column of a group that is not empty."""
    if operator == "min":
        return min(values, key=order_key)
    if operator == "max":
        return max(values, key=order_key)
    items = list(values)
    if operator == "count":
        return len(items)
    numbers: list[int | float] = []
    for item in items:
        if not isinstance(item, (int, float)):
            raise WrongKind(f"{show(item)} is not a number")
        numbers.append(item)
    total: Value = sum(numbers) if all(isinstance(n, int) for n in numbers) else normal(fsum(numbers))
    return total if operator == "sum" else FUNCTIONS["/"].apply(total, len(items))


class _Last:
    """A value that comes before all lesser ones."""

    def __init__(self, key: tuple[int, object]) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Last) and self.key == other.key

    def __lt__(self, other: _Last) -> bool:
        return other.key < self.key  # type: ignore[operator]

    __hash__ = None  # type: ignore[assignment]


def choice_order(aggregation: Aggregation, fact: Fact) -> tuple[object, ...]:
    """Of facts with one key the least is chosen: first by the preferred column, then column by column.

    The preferred column is in the order in which the recursion derives its values, of whatever kind they are. In
    another order a fact could displace the one that it was derived from, come and go, and the run would never end.
    """
    ordered = tuple(map(order_key, fact.args))
    if aggregation.preference is None:
        return ordered
    column, how = aggregation.preference
    value = fact.args[column]
    if how == "gets longer":
        return (len(value) if isinstance(value, tuple) else 0, *ordered)
    return (_Last(ordered[column]) if how == "falls" else ordered[column], *ordered)


def result(aggregation: Aggregation, contributions: Iterable[Fact]) -> Fact | None:
    """The head fact of a group; None for an empty group."""
    facts = list(contributions)
    if not facts:
        return None
    if aggregation.chooses:
        return Fact(aggregation.head, min(facts, key=lambda f: choice_order(aggregation, f)).args)
    try:
        args = tuple(
            facts[0].args[i] if op is None else aggregate(op, (f.args[i] for f in facts))
            for i, op in enumerate(aggregation.operators)
        )
    except WrongKind as problem:
        raise error("TL1031", f"rule `{aggregation.label}` cannot be evaluated: {problem}", aggregation.span) from None
    return Fact(aggregation.head, args)


class GroupsOf(Protocol):
    """The groups of one aggregation, kept in step with their contributions."""

    aggregation: Aggregation

    def change(self, update: Update, n: int, appears: int) -> list[tuple[Update, int]]:
        """The head facts that n copies of a contribution, inserted or deleted, replace; `appears` as in `Presence`."""

    def copy(self) -> GroupsOf: ...


class Groups:
    """Groups of sets of contributions; their head facts are annotated with `tag`."""

    def __init__(self, aggregation: Aggregation, tag: Annotation | None = None) -> None:
        self.aggregation = aggregation
        self.extreme = all(op in (None, "min", "max", CHOICE) for op in aggregation.operators)
        self._tag = tag
        self._members: dict[tuple[Value, ...], dict[Fact, None]] = {}
        self._results: dict[tuple[Value, ...], Fact] = {}

    def change(self, update: Update, n: int, appears: int) -> list[tuple[Update, int]]:
        if not appears:
            return []
        contribution, present = update.fact, appears > 0
        key = self.aggregation.group(contribution)
        members = self._members.setdefault(key, {})
        before = self._results.get(key)
        if present:
            members[contribution] = None
        else:
            del members[contribution]
        after = self._after(before, contribution, present, members)
        if after is None:
            del self._members[key]
            self._results.pop(key, None)
        else:
            self._results[key] = after
        if before == after:
            return []
        return [(Update(s, f, self._tag), 1) for s, f in ((-1, before), (1, after)) if f is not None]

    def _after(self, before: Fact | None, changed: Fact, present: bool, members: dict[Fact, None]) -> Fact | None:
        if before is not None and self.extreme:
            if present:
                return result(self.aggregation, (Fact(before.name, before.args), changed))
            differs = [
                op is None or before.args[i] != changed.args[i] for i, op in enumerate(self.aggregation.operators)
            ]
            if members and (before.args != changed.args if self.aggregation.chooses else all(differs)):
                return before
        return result(self.aggregation, members)

    def copy(self) -> Groups:
        other = Groups(self.aggregation, self._tag)
        other._members = {key: dict(members) for key, members in self._members.items()}
        other._results = dict(self._results)
        return other
