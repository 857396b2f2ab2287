"""Dates and times of XML Schema: when they are, how they compare, what they are made of.

A moment is held as seconds on a line without leap seconds, with its offset from UTC if it has one. Two moments of
which one has an offset and the other none compare only if they are more than 14 hours apart.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from tidelog.rdf.sparql.numbers import XSD

DATE_TIME, DATE, TIME = XSD + "dateTime", XSD + "date", XSD + "time"
TYPES = frozenset((DATE_TIME, DATE, TIME))

_DATE = r"(?P<year>-?(?:[1-9][0-9]{3,8}|0[0-9]{3}))-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]+)?)"
_ZONE = r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
_FORMS = {
    DATE_TIME: re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
    DATE: re.compile(f"{_DATE}{_ZONE}"),
    TIME: re.compile(f"{_TIME}{_ZONE}"),
}
_FOURTEEN_HOURS = 14 * 3600
_SOME_YEAR = 1972


class Moment(NamedTuple):
    """The parts of a date or time as they are written, and where it lies."""

    kind: str
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Decimal
    zone: str  # as written; empty if there is none
    seconds: Decimal  # since the year 0, in UTC, or where UTC would be if there is no zone


def parse_moment(lexical: str, kind: str) -> Moment | None:
    """The value of a literal, None if its text is malformed."""
    found = _FORMS[kind].fullmatch(lexical)
    if found is None:
        return None
    part = {name: text for name, text in found.groupdict().items() if text is not None}
    year, month, day = (int(part.get(name, first)) for name, first in (("year", _SOME_YEAR), ("month", 1), ("day", 1)))
    hour, minute, second = int(part.get("hour", 0)), int(part.get("minute", 0)), Decimal(part.get("second", 0))
    offset = _offset(part.get("zone", ""))
    midnight = hour == 24 and minute == 0 and second == 0
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month) or offset is None:
        return None
    if (hour > 23 and not midnight) or minute > 59 or second >= 60:
        return None
    seconds = Decimal(86400 * _days(year, month, day) + 3600 * hour + 60 * minute - offset) + second
    return Moment(kind, year, month, day, hour, minute, second, part.get("zone", ""), seconds)


def compared(a: Moment, b: Moment) -> int | None:
    """-1, 0 or 1; None if it depends on a zone that is not known, or they are of different types."""
    if a.kind != b.kind:
        return None
    apart = a.seconds - b.seconds
    if bool(a.zone) != bool(b.zone) and abs(apart) <= _FOURTEEN_HOURS:
        return None
    return (apart > 0) - (apart < 0)


def zone_duration(zone: str) -> str | None:
    """The zone as a dayTimeDuration, None if there is none."""
    offset = _offset(zone)
    if not zone or offset is None:
        return None
    if not offset:
        return "PT0S"
    hours, minutes = divmod(abs(offset) // 60, 60)
    return f"{'-' if offset < 0 else ''}PT{f'{hours}H' if hours else ''}{f'{minutes}M' if minutes else ''}"


def _offset(zone: str) -> int | None:
    """Seconds ahead of UTC."""
    if zone in ("", "Z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        return None
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return 30 + (month in (1, 3, 5, 7, 8, 10, 12)) if month != 2 else 28 + _is_leap(year)


def _days(year: int, month: int, day: int) -> int:
    """Days since the first of March of the year 0, which makes the leap day the last of its year."""
    if month < 3:
        year -= 1
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 1
