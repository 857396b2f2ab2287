"""`ord` of a symbol or record is a number that this implementation chose: a warning, once, where results depend on it.

They do where it is compared with an order, or aggregated; as another name for the value it does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.types.typing import ClauseTypes
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.values import Kind

_ORDERS = ("<", "<=", ">", ">=")


def warn_of_ord(typed: Iterable[ClauseTypes], report: Report) -> None:
    """At the first place of the program."""
    for types in typed:
        if not types.has_functors:
            continue
        place = next((node for node in _deciding(types.clause) if _is_numbered(node, types)), None)
        if place is not None:
            report.warn(
                "TL0286",
                "what is derived depends on `ord`, and so on how values were numbered: it may differ from Soufflé's",
                place.span,
                help="compare the values themselves, where an order of your own choice matters",
            )
            return


def _is_numbered(node: tree.Functor, types: ClauseTypes) -> bool:
    return node.op == "ord" and types.kind_of(node.args[0]) in (Kind.SYMBOL, Kind.RECORD)


def _deciding(clause: Clause) -> Iterator[tree.Functor]:
    """The functors whose values are compared with an order or aggregated, or are called by a name that is."""
    literals = clause.literals()
    names: set[str] = set()
    for node in (node for literal in (clause.head, *literals) for node in literal.walk()):
        if isinstance(node, (tree.Aggregate, tree.UserAggregate)) or (
            isinstance(node, tree.Comparison) and node.op in _ORDERS
        ):
            sides = node.children() if isinstance(node, tree.Comparison) else filter(None, (node.target,))
            for inner in (inner for side in sides for inner in side.walk()):
                if isinstance(inner, tree.Functor):
                    yield inner
                elif isinstance(inner, tree.Variable):
                    names.add(inner.name)
    for node in (node for literal in literals for node in literal.walk()):
        if isinstance(node, tree.Comparison) and node.op == "=":
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(side, tree.Variable) and side.name in names:
                    yield from (inner for inner in other.walk() if isinstance(inner, tree.Functor))
