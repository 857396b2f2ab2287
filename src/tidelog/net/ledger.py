"""The base facts as the user's bursts leave them: what a burst means, wherever it is run or checked.

Base facts are a multiset. The updates of one burst have no order: they go to their nodes at once, so a deletion may
overtake its insertion and waits for it. A burst may delete what is there or what it inserts itself, and no more. A
deletion beyond that is left out and told, as sessions do with a change that changes nothing: waiting on, it would
swallow an insertion of a later burst.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from tidelog.net.values import Fact, Update, Value

FEW = 32
"""With fewer facts nothing is worth starting over for."""


class Ledger:
    """`keys` are the key columns of relations whose facts replace each other (`materialize`)."""

    def __init__(self, keys: Mapping[str, tuple[int, ...]] | None = None) -> None:
        self.counts: Counter[Fact] = Counter()
        self._keys = keys or {}
        self._holders: dict[tuple[str, tuple[Value, ...]], dict[Fact, None]] = {}

    def share_changed(self, burst: Collection[Update]) -> float:
        """What the burst deletes, or inserts, whichever is more, as a part of the facts that are there."""
        there, deleted = self.counts.total(), sum(u.sign < 0 for u in burst)
        return max(deleted, len(burst) - deleted) / there if there >= FEW else 0.0

    def admit(self, burst: Iterable[Update]) -> tuple[list[Update], list[Update]]:
        """The updates of a burst that take place, and the deletions that are left out: the last ones of their fact.

        Of a relation with a key, the fact that the burst inserts last stays, and others with its key are deleted.
        """
        updates = list(burst)
        for update in updates:
            self.counts[update.fact] += update.sign
        left_out: list[Update] = []
        admitted: list[Update] = []
        for update in reversed(updates):
            if update.sign < 0 and self.counts[update.fact] < 0:
                self.counts[update.fact] += 1
                left_out.append(update)
            else:
                admitted.append(update)
        self.counts = +self.counts
        admitted.reverse()
        return admitted + (self._replace(admitted) if self._keys else []), left_out[::-1]

    def _replace(self, burst: list[Update]) -> list[Update]:
        """Deletions of facts that others with their key replace."""
        deletions: list[Update] = []
        for update in burst:
            if update.sign > 0 and update.fact.name in self._keys and self.counts[update.fact]:
                name, args = update.fact
                holders = self._holders.setdefault((name, tuple(args[i] for i in self._keys[name])), {})
                holders.pop(update.fact, None)
                for other in holders:
                    deletions += [Update(-1, other)] * self.counts.pop(other, 0)
                holders.clear()
                holders[update.fact] = None
        return deletions
