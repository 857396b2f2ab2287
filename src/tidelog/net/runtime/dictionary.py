"""What the two ends of a connection have told each other: annotations are sent as what the other end does not know yet.

A connection delivers in the order of sending (what a schedule reorders is when nodes act on it). So both ends number
the facts and the sets of facts in the order in which they first go over it, and from then on a number stands for them:
a deletion names the set of its insertion, and a new set names the facts that were in others. An annotation is `S`, or
`S, H`, or `S, H, worst`; a set is its number (0 is the empty one), or the array of its members; a member is a number,
or `[relation, [arguments]]` the first time.
"""

from __future__ import annotations

from typing import Any

from tidelog.net.derivations import Derivations
from tidelog.net.runtime.packed import pack_fact, unpack_fact, value, values
from tidelog.net.sets import EMPTY
from tidelog.net.values import Annotation, Fact, Update
from tidelog.wire.codec import MalformedMessage


class Sender:
    """One end: packs updates, and remembers what has been sent. Without annotations there is nothing to remember."""

    def __init__(self, derivations: Derivations | None) -> None:
        self._derivations = derivations
        self._facts: dict[Fact, int] = {}
        self._sets: dict[int, int] = {EMPTY: 0}

    def pack(self, update: Update, copies: int) -> list[Any]:
        packed: list[Any] = [update.sign * copies, update.fact.name, update.fact.args]
        tag = update.tag
        if tag is not None:
            packed.append(self._set(tag.support))
            if tag.infinite != EMPTY or tag.worst is not None:
                packed.append(self._set(tag.infinite))
            if tag.worst is not None:
                packed.append(tag.worst)
        return packed

    def _set(self, number: int) -> Any:
        known = self._sets.get(number)
        if known is not None:
            return known
        assert self._derivations is not None
        self._sets[number] = len(self._sets)
        return [self._member(fact) for fact in self._derivations.sets.members(number)]

    def _member(self, fact: Fact) -> Any:
        known = self._facts.get(fact)
        if known is not None:
            return known
        self._facts[fact] = len(self._facts)
        return pack_fact(fact)


class Receiver:
    """The other end: unpacks updates, and remembers what has been received. Refuses what no `Sender` sends."""

    def __init__(self, derivations: Derivations | None) -> None:
        self._derivations = derivations
        self._facts: list[Fact] = []
        self._sets: list[int] = [EMPTY]

    def unpack(self, packed: Any) -> tuple[Update, int]:
        """The update and how many copies of it there are."""
        match packed:
            case [int() as n, str() as name, list() as args, *annotation] if n and not isinstance(n, bool):
                tag = self._annotation(annotation)
                return Update(1 if n > 0 else -1, Fact(name, values(args)), tag), abs(n)
        raise MalformedMessage(f"{packed!r} is no update")

    def _annotation(self, packed: list[Any]) -> Annotation | None:
        if self._derivations is None and not packed:
            return None
        if self._derivations is None or not 1 <= len(packed) <= 3:
            raise MalformedMessage(f"{packed!r} is no annotation")
        S = self._set(packed[0])
        H = self._set(packed[1]) if len(packed) > 1 else EMPTY
        return Annotation(S, H, value(packed[2]) if len(packed) > 2 else None)

    def _set(self, packed: Any) -> int:
        if isinstance(packed, list):
            assert self._derivations is not None
            self._sets.append(self._derivations.sets.of([self._member(m) for m in packed]))
            return self._sets[-1]
        return self._sets[self._known(packed, len(self._sets))]

    def _member(self, packed: Any) -> Fact:
        if isinstance(packed, list):
            self._facts.append(unpack_fact(packed))
            return self._facts[-1]
        return self._facts[self._known(packed, len(self._facts))]

    def _known(self, packed: Any, count: int) -> int:
        if isinstance(packed, int) and not isinstance(packed, bool) and 0 <= packed < count:
            return packed
        raise MalformedMessage(f"{packed!r} was never sent")
