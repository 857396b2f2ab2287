"""A limit on the work of a run, so that a program that never settles ends with an error that names the rule."""

from __future__ import annotations

from collections import Counter

from tidelog.errors import TidelogError, error
from tidelog.net.program import Aggregation, NetRule

DEFAULT_LIMIT = 10_000_000


class Meter:
    """Counts the updates that each rule makes."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self.total = 0
        self.by_rule: Counter[NetRule | Aggregation] = Counter()

    def add(self, rule: NetRule | Aggregation, updates: int = 1) -> None:
        """The rule made an update, of whatever weight, or several."""
        self.by_rule[rule] += updates
        self.total += updates
        if self.total > self.limit:
            raise self._exceeded()

    def _exceeded(self) -> TidelogError:
        rule, made = self.by_rule.most_common(1)[0]
        return error(
            "TL1030",
            f"the run has not settled after {self.limit} updates; rule `{rule.label}` alone made {made}",
            rule.span,
            help="a function that makes ever new values, or a cycle under multiset semantics, never ends: "
            "bound it with a condition, use --algorithm supported, or raise the limit",
        )
