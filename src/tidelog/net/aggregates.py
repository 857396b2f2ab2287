"""Aggregates kept in step with their contributions, one contribution at a time.

A group holds its present contributions and the head fact they give. A new contribution moves a min or max in one
comparison; taking away one that is not the extreme changes nothing; only losing the extreme looks through the group.
The result depends on the set of contributions alone, never on the order in which they came: sums of floats are exactly
rounded (`fsum`), so every schedule ends with the same number.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

from tidelog.errors import error
from tidelog.net.functions import FUNCTIONS, WrongKind
from tidelog.net.program import Aggregation
from tidelog.net.values import Fact, Value, normal, order_key, show


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


def result(aggregation: Aggregation, contributions: Iterable[Fact]) -> Fact | None:
    """The head fact of a group; None for an empty group."""
    facts = list(contributions)
    if not facts:
        return None
    try:
        args = tuple(
            facts[0].args[i] if op is None else aggregate(op, (f.args[i] for f in facts))
            for i, op in enumerate(aggregation.operators)
        )
    except WrongKind as problem:
        raise error("TL1031", f"rule `{aggregation.label}` cannot be evaluated: {problem}", aggregation.span) from None
    return Fact(aggregation.head, args)


class Groups:
    """The groups of one aggregation."""

    def __init__(self, aggregation: Aggregation) -> None:
        self.aggregation = aggregation
        self.extreme = all(op in (None, "min", "max") for op in aggregation.operators)
        self._members: dict[tuple[Value, ...], dict[Fact, None]] = {}
        self._results: dict[tuple[Value, ...], Fact] = {}

    def change(self, contribution: Fact, present: bool) -> tuple[Fact | None, Fact | None]:
        """The group's head fact before and after the contribution appears or disappears."""
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
        return before, after

    def _after(self, before: Fact | None, changed: Fact, present: bool, members: dict[Fact, None]) -> Fact | None:
        if before is not None and self.extreme:
            if present:
                return result(self.aggregation, (Fact(before.name, before.args), changed))
            if members and all(
                op is None or before.args[i] != changed.args[i] for i, op in enumerate(self.aggregation.operators)
            ):
                return before
        return result(self.aggregation, members)

    def copy(self) -> Groups:
        other = Groups(self.aggregation)
        other._members = {key: dict(members) for key, members in self._members.items()}
        other._results = dict(self._results)
        return other
