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
from tidelog.net.values import Annotation, Fact, Update, Value, fact_order, normal

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)


class Malformed(Exception):
    """The bytes are not what a node of this network sends."""


def size(update: Update, derivations: Derivations | None = None) -> int:
    """How many bytes the update takes on the wire."""
    return len(dumps(pack(update, derivations)))


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
            members = sorted(derivations.sets.members(number), key=fact_order)
            packed.append([[fact.name, fact.args] for fact in members])
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
