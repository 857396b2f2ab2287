"""Casts: `xsd:integer(?x)` and the others that SPARQL names."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np

from tidelog.rdf.sparql.moments import DATE, DATE_TIME, TIME, Moment
from tidelog.rdf.sparql.numbers import XSD, Number, Single, as_double, format_number, is_true, parse_number
from tidelog.rdf.sparql.terms import BOOLEAN, STRING, RdfTerm, Strange, TermKind, boolean, literal, number


def _to_string(term: RdfTerm) -> RdfTerm | None:
    """Numbers and truth values by their value, as XPath has it: `1E0` is "1"."""
    if term.kind is TermKind.BLANK:
        return None
    if isinstance(term.value, bool):
        return literal("true" if term.value else "false")
    value = term.number
    return literal(term.lexical if value is None else _number_text(value))


def _number_text(value: Number) -> str:
    if isinstance(value, float) and (value == 0 or 1e-6 <= abs(value) < 1e6):
        shortest = np.float32(value) if isinstance(value, Single) else np.float64(value)
        return np.format_float_positional(shortest, trim="-")
    return format_number(value)


def _to_boolean(term: RdfTerm) -> RdfTerm | None:
    value = term.value
    if isinstance(value, bool):
        return boolean(value)
    if term.number is not None:
        return boolean(is_true(term.number))
    found = {"true": True, "1": True, "false": False, "0": False}.get(term.lexical) if _is_string(term) else None
    return None if found is None else boolean(found)


def _is_string(term: RdfTerm) -> bool:
    return term.kind is TermKind.LITERAL and term.datatype == STRING


def _to_number(datatype: str) -> Callable[[RdfTerm], RdfTerm | None]:
    def cast(term: RdfTerm) -> RdfTerm | None:
        value: Number | None = term.number
        if _is_string(term):
            value = parse_number(term.lexical, datatype)
        elif isinstance(term.value, bool):
            value = int(term.value)
        made = None if value is None else _converted(value, datatype)
        return None if made is None else number(made)

    return cast


def _converted(value: Number, datatype: str) -> Number | None:
    if datatype == XSD + "double":
        return as_double(value)
    if datatype == XSD + "float":
        return Single(as_double(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if datatype == XSD + "integer":
        return int(value)
    return Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)


def _to_moment(datatype: str) -> Callable[[RdfTerm], RdfTerm | None]:
    def cast(term: RdfTerm) -> RdfTerm | None:
        if term.datatype == datatype and not isinstance(term.value, Strange):
            return term
        if _is_string(term):
            made = literal(term.lexical, datatype)
            return None if isinstance(made.value, Strange) else made
        if not isinstance(term.value, Moment):
            return None
        day, _, time = term.lexical.partition("T")
        zone = term.value.zone
        if term.value.kind == DATE_TIME:
            return literal(day + zone if datatype == DATE else time, datatype)
        if term.value.kind == DATE and datatype == DATE_TIME:
            return literal(f"{day.removesuffix(zone)}T00:00:00{zone}", datatype)
        return None

    return cast


CASTS: dict[str, Callable[[RdfTerm], RdfTerm | None]] = {
    STRING: _to_string,
    BOOLEAN: _to_boolean,
    **{name: _to_number(name) for name in (XSD + "integer", XSD + "decimal", XSD + "float", XSD + "double")},
    **{name: _to_moment(name) for name in (DATE_TIME, DATE, TIME)},
}
