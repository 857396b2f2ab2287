"""What the running epoch of many workers has done, for whoever keeps it: an `evaluate.effects.EpochEffects`.

Cost: what has changed is brought here, all relations at once, when the first of them is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from tidelog.epochs.changes import NetChange
from tidelog.evaluate.effects import Effect, effect_on_facts
from tidelog.exchange.front import Front
from tidelog.exchange.questions import CostsAre


class FarEffects:
    """See the module's docstring. `tell` has the workers tell what they have done to relations, `costs` what their
    strata have counted and cost."""

    def __init__(
        self,
        front: Front,
        change: NetChange,
        tell: Callable[[Sequence[str]], dict[str, Effect]],
        costs: Callable[[], CostsAre],
    ) -> None:
        self._front, self._change, self._tell, self._ask_costs = front, change, tell, costs
        self.from_scratch = front.state.epoch.from_scratch

    @cached_property
    def _costs(self) -> CostsAre:
        return self._ask_costs()

    @property
    def counters(self) -> dict[tuple[str, ...], tuple[int, int]]:
        return {self._relations(number): found for number, found in self._costs.counters.items()}

    @property
    def efforts(self) -> dict[tuple[str, ...], int]:
        return {self._relations(number): found for number, found in self._costs.efforts.items()}

    def _relations(self, number: str) -> tuple[str, ...]:
        return self._front.state.program.strata[int(number)].relations

    @cached_property
    def _effects(self) -> dict[str, Effect]:
        return self._tell(list(self._front.state.program.arities))

    def on(self, name: str) -> Effect:
        if name in self._effects:
            return self._effects[name]
        none = np.empty(0, np.int64)
        return Effect(np.empty((0, self._arity(name)), np.int64), none, none.astype(np.int32), none)

    def on_facts(self, name: str) -> Effect:
        return effect_on_facts(self._change.delete, self._change.insert, name, self._arity(name))

    def _arity(self, name: str) -> int:
        return self._front.database[name].arity
