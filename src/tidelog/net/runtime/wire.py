"""Updates as bytes: JSON, typed by its own kinds, never pickle.

An update is `[sign, relation, [arguments]]`; a list value is an array. With annotations a fourth and a fifth element
hold the members of S and H, because their numbers mean something in one process only. What comes in is checked: a
payload that is not of this form is refused.
"""

from __future__ import annotations

import json
import math
from typing import Any

from tidelog.errors import InternalError
from tidelog.net.derivations import Derivations
from tidelog.net.sets import EMPTY
from tidelog.net.values import Annotation, Fact, Update, Value, normal

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)


class Malformed(Exception):
    """The bytes are not what a node of this network sends."""


def size(update: Update) -> int:
    """How many bytes the update takes on the wire, without its annotation."""
    return len(dumps(pack(update._replace(tag=None))))


class Sizes:
    """How many bytes updates take on the wire; those of a set of facts are found once for each part that sets share."""

    def __init__(self, derivations: Derivations | None) -> None:
        self._derivations = derivations
        self._known: dict[int, int] = {EMPTY: 0}
        self._facts: dict[Fact, int] = {}

    def of(self, update: Update) -> int:
        tag = update.tag
        return size(update) if tag is None else size(update) + self._set(tag.support) + self._set(tag.infinite)

    def _set(self, number: int) -> int:
        """`,[…]`: the members with commas between them, of which the last is none."""
        return 3 + max(0, self._members(number) - 1)

    def _members(self, number: int) -> int:
        """Of the members, each with a comma behind it."""
        found = self._known.get(number)
        if found is None:
            assert self._derivations is not None
            shared, facts = self._derivations.sets.parts(number)
            found = sum(map(self._members, shared)) + sum(map(self._fact, facts))
            self._known[number] = found
        return found

    def _fact(self, fact: Fact) -> int:
        """Of a member, with a comma behind it."""
        found = self._facts.get(fact)
        if found is None:
            found = self._facts[fact] = len(dumps(pack_fact(fact))) + 1
        return found


def dumps(packed: Any) -> bytes:
    return _ENCODER.encode(packed).encode("utf-8", "surrogatepass")


def loads(payload: bytes) -> Any:
    try:
        return json.loads(payload.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as problem:
        raise Malformed(str(problem)) from None


def pack(update: Update, derivations: Derivations | None = None) -> list[Any]:
    packed = [update.sign, update.fact.name, update.fact.args]
    if update.tag is not None:
        if derivations is None:
            raise InternalError("an annotated update needs its derivation sets to be sent")
        for number in update.tag:
            packed.append([pack_fact(fact) for fact in derivations.sets.members(number)])
    return packed


def unpack(packed: Any, derivations: Derivations | None = None) -> Update:
    match packed:
        case [1 | -1 as sign, str() as name, list() as args] if derivations is None:
            return Update(sign, Fact(name, _values(args)))
        case [1 | -1 as sign, str() as name, list() as args, list() as support, list() as infinite] if derivations:
            sets = derivations.sets
            tag = Annotation(sets.of(map(unpack_fact, support)), sets.of(map(unpack_fact, infinite)))
            return Update(sign, Fact(name, _values(args)), tag)
    raise Malformed(f"{packed!r} is no update")


def pack_fact(fact: Fact) -> list[Any]:
    return [fact.name, fact.args]


def unpack_fact(packed: Any) -> Fact:
    match packed:
        case [str() as name, list() as args]:
            return Fact(name, _values(args))
    raise Malformed(f"{packed!r} is no fact")


def _values(args: list[Any]) -> tuple[Value, ...]:
    return tuple(map(value, args))


def value(packed: Any) -> Value:
    if isinstance(packed, list):
        return _values(packed)
    if isinstance(packed, str):
        return packed
    if isinstance(packed, int | float) and not isinstance(packed, bool) and not math.isnan(packed):
        return normal(packed)
    raise Malformed(f"{packed!r} is no value")
