"""Strata that make values: texts and records that no fact has.

A text or record is known by its number, the same at all workers, and two workers that number at the same time would
give one number to two values. So what makes values is evaluated by one worker, which tells the others (decision 0033).
A record that is taken apart counts as well: where its fields are known first, a plan makes it to look it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tidelog.plain import fields, is_dataclass
from tidelog.plan import core
from tidelog.plan.stateful import StatefulProgram, StatefulStratum
from tidelog.plan.steps import Const
from tidelog.values import Kind

NUMBERED = (Kind.SYMBOL, Kind.RECORD)
"""The kinds of values that words do not hold, but number."""


def makes_values(stratum: StatefulStratum) -> bool:
    """Whether a stratum may make texts or records."""
    bodies = [(rule.body, rule.slots) for rule in stratum.rules]
    if stratum.aggregate is not None:
        bodies.append((stratum.aggregate.aggregate.body, stratum.aggregate.slots))
    return any(_makes(body, slots) for body, slots in bodies)


def _makes(body: Iterable[core.CoreItem], slots: Sequence[tuple[str, Kind]]) -> bool:
    for item in body:
        if not isinstance(item, core.CoreDefine):
            continue
        match item.expression:
            case core.Computed() | core.Called() | core.Packed():
                if slots[item.slot][1] in NUMBERED:
                    return True
            case core.Aggregated(body=inner):
                if _makes(inner, slots):
                    return True
    return False


def texts_of(program: StatefulProgram) -> list[str]:
    """The texts that the rules of a program mention, in their order."""
    strata = [(stratum.rules, stratum.aggregate) for stratum in program.strata]
    return list(dict.fromkeys(_texts(strata)))


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, Const):
        if isinstance(node.value, str):
            yield node.value
    elif isinstance(node, (tuple, list)):
        for part in node:
            yield from _texts(part)
    elif is_dataclass(node) and type(node).__module__ == core.__name__:
        for field in fields(node):
            yield from _texts(getattr(node, field.name))
