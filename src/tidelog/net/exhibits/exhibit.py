"""What the exhibits share: a program without negation and aggregates, as ground instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from tidelog.errors import error
from tidelog.net.ground import Grounding
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.values import Fact, Update, show_counts


class Exhibit:
    """A transition system (see `systems.System`) that starts from a state and a burst of updates."""

    reduces = False

    def __init__(self, program: NetProgram, view: Mapping[Fact, int], burst: Iterable[Update], meter: Meter) -> None:
        if program.negated or program.aggregations:
            raise error("TL1046", "the exhibits are for programs without negation and aggregates")
        self.program, self.meter = program, meter
        self.start, self.burst = Counter(view), list(burst)
        self.grounding = Grounding(program)
        for fact in (*self.start, *(u.fact for u in self.burst)):
            self.grounding.know(fact)

    def expects(self, counts: Counter[Fact]) -> Hashable:
        """The outcome that SN's state corresponds to: a set, unless the exhibit counts."""
        return frozenset(counts)

    def facts(self, state: Any) -> Counter[Fact]:
        """Of the outcome: facts, or facts with their counts."""
        outcome: Any = self.outcome(state)
        return Counter(dict(f if not isinstance(f, Fact) else (f, 1) for f in outcome))

    def outcome(self, state: Any) -> Hashable:
        raise NotImplementedError

    def waiting(self, state: Any) -> list[tuple[Update, int]]:
        """The exhibits lose what cannot be picked, or keep it; either way the facts tell."""
        return []

    def show_facts(self, facts: Iterable[Fact]) -> str:
        return show_counts(Counter(facts))
