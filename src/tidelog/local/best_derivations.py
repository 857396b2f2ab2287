"""Why a key has its best value: the derivations that give it, so that a route can be shown (`Session.best`).

For each rule of the relation a query is asked that binds the head's key and value; so it costs what the query costs,
needs no state, and works wherever queries do. Where steps have no weight, keys of a cycle may name each other: who
follows predecessors must not visit a key twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tidelog.analysis.checked import Checked
from tidelog.analysis.clauses import Clause
from tidelog.analysis.types import RelationInfo
from tidelog.errors import error
from tidelog.lang import tree
from tidelog.lang.escapes import escape
from tidelog.lang.souffle_printer import show
from tidelog.plain import dataclass
from tidelog.plan.best_of import NotShown, value_column
from tidelog.plan.stateful import flat_rules
from tidelog.values import Kind

Ask = Callable[[str], tuple[RelationInfo, Any]]
VALUE = "best_value"


@dataclass(frozen=True)
class BestDerivation:
    """A derivation of a key's best value: the rule, the value, and the tuples of its body, by relation."""

    rule: str
    value: Any
    body: tuple[tuple[str, tuple[Any, ...]], ...]

    def __str__(self) -> str:
        return ", ".join(f"{name}({', '.join(map(str, row))})" for name, row in self.body)


def best_derivations(checked: Checked, ask: Ask, name: str, key: Sequence[Any]) -> list[BestDerivation]:
    """The derivations of the best value of a key, none if it has no value."""
    column = _value_column(checked, name)
    info = checked.relations[name]
    if len(key) != info.arity - 1:
        columns = [attribute for place, attribute in enumerate(info.attributes) if place != column]
        raise error(
            "TL1131", f"the key of {name} is ({', '.join(columns)}): {len(columns)} values, and not {len(key)}"
        )  # fmt: skip
    constants = [_text(value, kind) for value, kind in _with_kinds(key, info.kinds, column)]
    found = []
    for clause in checked.clauses:
        if clause.head.name == name and clause.greater is None:
            query, atoms = _query(clause, column, constants)
            for row in _rows(ask(query)[1]):
                body = tuple((atom, tuple(row[variable] for variable in variables)) for atom, variables in atoms)
                found.append(BestDerivation(clause.text, row[VALUE], body))
    return found


def _value_column(checked: Checked, name: str) -> int:
    if name not in checked.relations:
        raise error("TL1130", f"there is no relation {name}")
    stratum = next(s for s in checked.strata if name in s.relations)
    try:
        return value_column(flat_rules(checked, stratum), name)
    except NotShown as problem:
        raise error(
            "TL1130", f"{name} has no best value: {problem}",
            help="a subsumption of one column says which value is the best: p(x, a) <= p(x, b) :- b < a.",
        ) from None  # fmt: skip


def _with_kinds(key: Sequence[Any], kinds: Sequence[Kind], column: int) -> Iterator[tuple[Any, Kind]]:
    return zip(key, (kind for place, kind in enumerate(kinds) if place != column), strict=True)


def _text(value: Any, kind: Kind) -> str:
    """A value as the text of a query."""
    if kind is Kind.SYMBOL and isinstance(value, str):
        return escape(value)
    if kind in (Kind.NUMBER, Kind.UNSIGNED) and isinstance(value, int):
        return str(value)
    if kind is Kind.FLOAT and isinstance(value, (int, float)):
        return repr(float(value))
    raise error("TL1131", f"{value!r} is no value of type {kind.value}, which the key has here")


def _query(clause: Clause, column: int, key: Sequence[str]) -> tuple[str, list[tuple[str, list[str]]]]:
    """The query for a rule's derivations, and for each atom of its body the columns that have its tuple."""
    values = [*key[:column], VALUE, *key[column:]]
    literals, atoms = [f"{clause.head.name}({', '.join(values)})"], list[tuple[str, list[str]]]()
    for place, literal in enumerate(clause.body):
        if isinstance(literal, tree.Atom):
            variables = [f"best_{place}_{number}" for number in range(len(literal.args))]
            atoms.append((literal.name, variables))
            literals.append(f"{literal.name}({', '.join(variables)})")
            for variable, term in zip(variables, literal.args, strict=True):
                if not isinstance(term, tree.Wildcard):
                    literals.append(f"{variable} = {show(term)}")
        else:
            literals.append(show(literal))
    literals += [f"{show(term)} = {value}" for term, value in zip(clause.head.args, values, strict=True)]
    return ", ".join(literals), atoms


def _rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a table, or of a DataFrame."""
    if hasattr(table, "to_pylist"):
        found: list[dict[str, Any]] = table.to_pylist()
        return found
    return [row.asDict() for row in table.collect()]
