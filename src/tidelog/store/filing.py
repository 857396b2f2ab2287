"""Where the events of an update wait: an arena of records, buckets of chains, and a table of those met in a bucket.

What it holds: the update block (see `layout`), the memory that it points to, and one *form* for each rule that files:
its head relation and the relations and roles of its body, which is what settling needs to know of a record. What is
always true: record 0 is none; bucket numbers are iterations; the records of a settled bucket are used again. Cost: 4
bytes per word of a record that waits; others may have the memory when a stratum is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tidelog.plan.steps import Part, Role
from tidelog.store import layout as y
from tidelog.store.memory import Growable, address
from tidelog.store.relation import Relation

ROLES = {Role.OWN: y.OWN, Role.LOWER: y.LOWER, Role.NEGATED: y.NEGATED, Role.VALUE: y.VALUE}
SMALL = 1 << 16


class Filing:
    """The events of one stratum's update."""

    def __init__(self, relation: Callable[[str], Relation]) -> None:
        self._relation = relation
        self.block = np.zeros(y.U_SIZE, np.int64)
        self.address = address(self.block)
        self._forms: dict[tuple[int, str], int] = {}
        self._form_blocks: list[np.ndarray] = []
        self._form_parts: list[np.ndarray] = []
        self._buckets = np.zeros((64, y.BUCKET_BYTES // 8), np.int64)
        self._seen = np.zeros(64, np.int64)
        self._arena = Growable(1, False, 64)
        self.reset()

    def reset(self) -> None:
        """Forget all events."""
        if self._arena.capacity > SMALL:
            self._arena.recycle()
            self._arena = Growable(1, False, 64)
        if len(self._seen) > SMALL:
            self._seen = np.zeros(64, np.int64)
        self._buckets[: self.highest + 1] = 0
        self.block[y.U_ARENA_USED // 8] = 1
        self.block[y.U_FREE // 8 :] = 0
        self.block[y.U_HIGHEST // 8] = 0
        self._publish()

    def _publish(self) -> None:
        block = self.block
        block[y.U_ARENA // 8], block[y.U_ARENA_CAPACITY // 8] = address(self._arena.data), self._arena.capacity
        block[y.U_BUCKETS // 8], block[y.U_NBUCKET // 8] = address(self._buckets), len(self._buckets)
        block[y.U_SEEN // 8], block[y.U_SEEN_CAPACITY // 8] = address(self._seen), len(self._seen)

    @property
    def highest(self) -> int:
        return int(self.block[y.U_HIGHEST // 8])

    @property
    def nbytes(self) -> int:
        return self._arena.capacity * 4 + self._buckets.nbytes + self._seen.nbytes

    def enter(self, rule: int, head: str, parts: Sequence[Part]) -> int:
        """The number of a rule's form."""
        number = self._forms.get((rule, head))
        if number is None:
            number = self._forms[rule, head] = len(self._form_blocks)
            words = [w for p in parts for w in (0, self.part_address(p), ROLES[p.role])]
            body, form = np.array(words, np.int64), np.zeros(y.O_SIZE, np.int64)
            form[y.O_A // 8], form[y.O_RELATION // 8] = rule, self._relation(head).address
            form[y.O_NCHECK // 8], form[y.O_CHECKS // 8] = len(parts), address(body)
            self._form_blocks.append(form)
            self._form_parts.append(body)
            self._addresses = np.array([address(f) for f in self._form_blocks], np.int64)
            self.block[y.U_OPS // 8] = address(self._addresses)
        return number

    def part_address(self, part: Part) -> int:
        return self._relation(part.relation).address if part.relation else 0

    # Growth, when a kernel asks for it

    def grow(self, status: int) -> None:
        need = int(self.block[y.U_NEED // 8])
        if status == y.GROW_EVENTS:
            used = int(self.block[y.U_ARENA_USED // 8])
            if used + need >= 2**31:
                raise MemoryError("an update has more events than fit into 8 GiB; use a smaller switch")
            self._arena.grow(used, used + need)
        elif status == y.GROW_BUCKETS:
            larger = np.zeros((max(2 * len(self._buckets), need + 1), y.BUCKET_BYTES // 8), np.int64)
            larger[: len(self._buckets)] = self._buckets
            self._buckets = larger
        else:
            self._seen = np.zeros(max(2 * len(self._seen), 8 * need + 32), np.int64)
        self._publish()
