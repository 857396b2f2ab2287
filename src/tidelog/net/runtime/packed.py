"""Updates and facts as JSON.

An update is `[n, relation, [arguments]]`: n copies are inserted, or -n deleted; behind that, its annotation
(`dictionary`). A list value is an array. What comes in is checked: a payload that is not of this form is refused.
"""

from __future__ import annotations

import math
from typing import Any

from tidelog.net.values import Fact, Update, Value, normal
from tidelog.wire.codec import MalformedMessage, dumps


def size(update: Update, copies: int = 1) -> int:
    """How many bytes the update takes on the wire, without its annotation."""
    return len(dumps(pack(update, copies)))


def pack(update: Update, copies: int = 1) -> list[Any]:
    """An update of a base fact, or any without its annotation."""
    return [update.sign * copies, update.fact.name, update.fact.args]


def pack_fact(fact: Fact) -> list[Any]:
    return [fact.name, fact.args]


def unpack_fact(packed: Any) -> Fact:
    match packed:
        case [str() as name, list() as args]:
            return Fact(name, values(args))
    raise MalformedMessage(f"{packed!r} is no fact")


def values(args: list[Any]) -> tuple[Value, ...]:
    return tuple(map(value, args))


def value(packed: Any) -> Value:
    if isinstance(packed, list):
        return values(packed)
    if isinstance(packed, str):
        return packed
    if isinstance(packed, int | float) and not isinstance(packed, bool) and not math.isnan(packed):
        return normal(packed)
    raise MalformedMessage(f"{packed!r} is no value")
