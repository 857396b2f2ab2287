"""Which columns of a table stand for which attributes of a relation: decided here, for all facts that have names.

- By name, if every attribute is the name of a column: in any order, and in any case where that leaves no doubt. Other
  columns are passed over.
- By position, if no column has the name of an attribute and there are as many as attributes. The names say nothing
  then, which is told: `ColumnChoice.warning`.
- Names that are attributes in part are an error. Whoever wrote them meant something by them, and a position that
  contradicts them would be a wrong answer that nobody sees (decision 0011).

Rows have names, too: dicts, which never go by position; named tuples, Spark's rows and data classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tidelog.analysis.types import RelationInfo
from tidelog.errors import Diagnostic, Severity, TidelogError, error
from tidelog.plain import dataclass, fields, is_dataclass

CHANGE, EPOCH = "_change_type", "_epoch"
"""What the rows of a change feed say beside their facts."""
BY_POSITION = "TL1260"
_SHOWN = 10


@dataclass(frozen=True)
class ColumnChoice:
    """The column of each attribute, counted from 0; and what to tell if names had no part in it."""

    positions: tuple[int, ...]
    warning: Diagnostic | None = None


def chosen_columns(
    names: Sequence[str], info: RelationInfo, attributes: Sequence[str] | None = None, positional: bool = True
) -> ColumnChoice:
    """The columns that are meant. `attributes` are the names to look for, if not those of the relation; columns of what
    is not `positional` have no order."""
    wanted = list(info.attributes if attributes is None else attributes)
    if not wanted:
        return ColumnChoice(())
    found = [_position(attribute, wanted, names, info) for attribute in wanted]
    if None not in found:
        return ColumnChoice(tuple(p for p in found if p is not None))
    if positional and all(p is None for p in found):
        if len(names) != len(wanted):
            raise wrong_width(info, f"{_counted(len(names), 'column')} ({_listed(names)})")
        return ColumnChoice(tuple(range(len(wanted))), _by_position(names, wanted, info))
    raise _named_in_part([a for a, p in zip(wanted, found, strict=True) if p is None], names, found, wanted, info)


def _position(attribute: str, wanted: Sequence[str], names: Sequence[str], info: RelationInfo) -> int | None:
    """The column of an attribute: that of its very name, else the one of its name in another case."""
    for same in (str, str.casefold):
        if same is str.casefold and sum(other.casefold() == attribute.casefold() for other in wanted) > 1:
            return None
        found = [i for i, name in enumerate(names) if same(name) == same(attribute)]
        if len(found) > 1:
            raise error(
                "TL0631",
                f"facts of relation `{info.name}`: which column is `{attribute}`? "
                f"There are {_listed([names[i] for i in found])}",
                help="give each attribute one column of its name",
            )
        if found:
            return found[0]
    return None


def _by_position(names: Sequence[str], wanted: Sequence[str], info: RelationInfo) -> Diagnostic:
    return Diagnostic(
        BY_POSITION,
        f"facts of relation `{info.name}`: no column is named as an attribute, so they are taken by position: "
        + ", ".join(f"`{name}` as `{attribute}`" for name, attribute in zip(names, wanted, strict=True)),
        help=f"name the columns as the attributes ({_listed(wanted)}), then their order does not matter",
        severity=Severity.WARNING,
    )


def _named_in_part(
    missing: Sequence[str], names: Sequence[str], found: Sequence[int | None], wanted: Sequence[str], info: RelationInfo
) -> TidelogError:
    unknown = [name for i, name in enumerate(names) if i not in found]
    what = [f"no column `{attribute}`" for attribute in missing]
    what += [f"an unknown column `{name}`" for name in unknown[:_SHOWN]]
    more = "" if len(unknown) <= _SHOWN else f", and {len(unknown) - _SHOWN:,} more unknown columns"
    return error(
        "TL0631",
        f"facts of relation `{info.name}`: {', '.join(what)}{more}",
        help=f"name the columns as the attributes: {', '.join(wanted)}",
    )


def wrong_width(info: RelationInfo, what: str) -> TidelogError:
    """Facts that are not as wide as the relation."""
    message = f"facts of relation `{info.name}`: {what}, but it has {_counted(info.arity, 'attribute')}"
    return error("TL0631", message, help=f"its attributes are {', '.join(info.attributes) or 'none'}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


# ---- rows with names


def names_of_row(row: Any) -> tuple[str, ...] | None:
    """The names of a row's values; None if it has none."""
    if isinstance(row, Mapping):
        return tuple(map(str, row))
    if isinstance(row, tuple):
        names = getattr(row, "_fields", None) or getattr(row, "__fields__", None)  # of a named tuple; of a Spark row
        return None if names is None else tuple(names)
    if is_dataclass(row) and not isinstance(row, type):
        return tuple(f.name for f in fields(row))
    return None


def values_of_row(row: Any, names: Sequence[str]) -> Sequence[Any]:
    """The values of a row with names."""
    if isinstance(row, Mapping):
        return list(row.values())
    return row if isinstance(row, tuple) else [getattr(row, name) for name in names]


class NamedRows:
    """Puts the values of rows into the order of a relation's attributes. What names mean is decided once for all rows
    that have them."""

    def __init__(self, info: RelationInfo) -> None:
        self.info = info
        self.warnings: list[Diagnostic] = []
        self._known: dict[tuple[tuple[str, ...], bool], ColumnChoice] = {}

    def ordered(self, row: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
        """The values of a row; an error if its names are not those of the attributes."""
        positional = not isinstance(row, Mapping)
        choice = self._known.get((names, positional))
        if choice is None:
            choice = self._known[names, positional] = chosen_columns(names, self.info, positional=positional)
            if choice.warning is not None:
                self.warnings.append(choice.warning)
        values = values_of_row(row, names)
        return tuple(values[p] for p in choice.positions)
