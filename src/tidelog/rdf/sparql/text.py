"""The text of a query or an update, as rdflib's algebra.

rdflib's grammar and translation are used as they are, but that numbers keep their spelling (`01` is not `1`), and that
neither an inverse in a negated set (`!^:p`) nor FILTER(false) is lost. What is malformed is an error with its place;
rdflib lets some of it pass, so pyoxigraph's grammar is asked as well (`syntax.py`).
"""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, NamedTuple

from tidelog.errors import Source, Span, TidelogError, error
from tidelog.rdf.sparql.syntax import Misreading, malformed

_lock = threading.Lock()  # the parser and how it spells numbers are rdflib's, for the whole process


class Query(NamedTuple):
    """A query: SELECT, ASK, CONSTRUCT or DESCRIBE, its pattern, and what it asks for in order."""

    form: str
    pattern: Any  # None for a DESCRIBE of IRIs
    variables: list[str]  # of SELECT
    described: list[Any]  # variables and IRIs of DESCRIBE
    template: list[tuple[Any, Any, Any]]  # of CONSTRUCT
    base: str


def parse_query(text: str) -> Query:
    """The query of a text."""
    with _rdflib(text, "query"):
        from rdflib.plugins.sparql.algebra import translateQuery
        from rdflib.plugins.sparql.parser import parseQuery

        found = translateQuery(_with_all_filters(parseQuery(text)))
    _refuse(malformed(text, "query", complete=True), text, "query")
    algebra = found.algebra
    if algebra.datasetClause:
        raise _refused("FROM", "there is one graph, and a query is about that")
    form = algebra.name.removesuffix("Query").upper()
    asked = list(algebra.PV or []) if form in ("SELECT", "DESCRIBE") else []
    names = list(dict.fromkeys(str(one) for one in asked)) if form == "SELECT" else []
    if form == "SELECT" and _asks_for_all(text):
        visible = visible_variables(_projected(algebra.p))
        names = sorted((name for name in names if name in visible), key=lambda name: _first_place(text, name))
    template = algebra.template or []
    if form == "CONSTRUCT" and algebra.template is None:
        template = _triples_of(algebra.p)
    return Query(form, algebra.p, names, asked, list(template), str(found.prologue.base or ""))


def parse_update(text: str) -> tuple[list[Any], str]:
    """The operations of an update, and its base IRI."""
    with _rdflib(text, "update"):
        from rdflib.plugins.sparql.algebra import translateUpdate
        from rdflib.plugins.sparql.parser import parseUpdate

        parsed = parseUpdate(text)
        found = translateUpdate(_with_all_filters(parsed)) if parsed.request else None
    _refuse(malformed(text, "update", complete=True), text, "update")
    return ([], "") if found is None else (list(found.algebra), str(found.prologue.base or ""))


def group_pattern(tree: Any) -> Any:
    """The algebra of a group, which rdflib leaves untranslated in some places."""
    from rdflib.plugins.sparql import algebra

    if tree.name == "GroupGraphPatternSub":
        tree = algebra.traverse(tree, visitPost=algebra.translatePath)
        return algebra.traverse(algebra.translateGroupGraphPattern(tree), visitPost=algebra.simplify)
    return tree


def visible_variables(tree: Any) -> set[str]:
    """The variables that a pattern can bind."""
    import rdflib

    match tree.name:
        case "BGP":
            return {str(node) for triple in tree.triples for node in triple if isinstance(node, rdflib.Variable)}
        case "Project":
            return {str(node) for node in tree.PV}
        case "values":
            return {str(name) for row in tree.res or () for name in row}
        case "Minus":
            return visible_variables(tree.p1)
        case "AggregateJoin":
            return set()
    found = {str(tree.var)} if tree.name == "Extend" else set()
    for part in ("p", "p1", "p2"):
        if part in tree and hasattr(tree[part], "name"):
            found |= visible_variables(tree[part])
    return found


@contextmanager
def _rdflib(text: str, what: str) -> Iterator[None]:
    """rdflib made ready; what it says against a text becomes an error of ours."""
    try:
        import rdflib
        from pyparsing import ParseBaseException
    except ImportError:
        raise error(
            "TL1452", "SPARQL needs rdflib, which is not installed", help="pip install 'tidelog[rdf]'"
        ) from None
    with _lock:
        _mend_grammar()
        before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
        says = logging.getLogger("rdflib.term")
        said, says.disabled = says.disabled, True  # that a literal is malformed is no news in SPARQL
        try:
            with warnings.catch_warnings(action="ignore"):
                yield
        except ParseBaseException as problem:
            _refuse(malformed(text, what), text, what)  # it knows the place better
            _refuse(Misreading(problem.msg, problem.loc), text, what)
        except RecursionError:
            raise error("TL1454", f"this SPARQL {what} is nested too deeply") from None
        except TidelogError:
            raise
        except Exception as problem:  # rdflib raises all kinds: an unknown prefix is an `Exception`
            _refuse(malformed(text, what), text, what)
            raise error("TL1454", f"this is no SPARQL {what}: {str(problem).partition(chr(10))[0]}") from None
        finally:
            rdflib.NORMALIZE_LITERALS, says.disabled = before, said


def _refuse(found: Misreading | None, text: str, what: str) -> None:
    if found is not None:
        span = Span(Source(f"<{what}>", text), found.place, min(found.place + 1, len(text)))
        raise error("TL1454", f"this is no SPARQL {what}: {found.message}", span) from None


@cache
def _mend_grammar() -> None:
    """rdflib's grammar reads `^:p` in a negated set but gives no name to what it has read; and a number with a sign it
    computes, so that `-2.0E0` would be spelt `-2.0`."""
    from rdflib.plugins.sparql import parser
    from rdflib.plugins.sparql.parserutils import ParamValue

    for choice in getattr(parser.PathOneInPropertySet, "exprs", ()):
        if getattr(choice, "name", "") == "InversePath":
            choice.expr.add_parse_action(lambda tokens: ParamValue("part", [tokens[-1]], False))
    for sign, numbers in (
        ("-", (parser.INTEGER_NEGATIVE, parser.DECIMAL_NEGATIVE, parser.DOUBLE_NEGATIVE)),
        ("+", (parser.INTEGER_POSITIVE, parser.DECIMAL_POSITIVE, parser.DOUBLE_POSITIVE)),
    ):
        for number in numbers:
            number.set_parse_action(partial(_signed, sign))


def _signed(sign: str, tokens: Any) -> Any:
    from rdflib import Literal

    *_, last = tokens
    return Literal(sign + str(last).removeprefix(sign), datatype=last.datatype)


def _with_all_filters(tree: Any) -> Any:
    """rdflib leaves out a filter by a constant that Python takes for false, such as FILTER(false); twice negated it is
    as true as it was."""
    from rdflib.plugins.sparql.algebra import traverse
    from rdflib.plugins.sparql.parserutils import CompValue

    def kept(node: Any) -> None:
        if getattr(node, "name", "") == "Filter":
            inner = node.expr
            while isinstance(inner, CompValue) and inner.name.endswith("Expression") and inner.other in (None, []):
                inner = inner.expr
            if not isinstance(inner, CompValue) or inner.name == "literal":
                node["expr"] = CompValue("UnaryNot", expr=CompValue("UnaryNot", expr=inner))

    for part in [tree] if isinstance(tree, CompValue) else tree:
        traverse(part, visitPost=kept)
    return tree


def _refused(what: str, why: str) -> TidelogError:
    return error("TL1455", f"SPARQL's {what} is not there: {why}")


def _asks_for_all(text: str) -> bool:
    """Whether a query begins with SELECT *; comments, IRIs and quoted texts may have any words."""
    plain = re.sub(r'#[^\n]*(?=\n|$)|<[^<>\s]*>|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', " ", text)
    first = re.search(r"\bSELECT\b\s*(?:(?:DISTINCT|REDUCED)\b\s*)?(.)", plain, re.IGNORECASE | re.DOTALL)
    return first is not None and first[1] == "*"


def _projected(tree: Any) -> Any:
    """The pattern whose variables a query projects."""
    while tree.name != "Project":
        tree = tree.p
    return tree.p


def _first_place(text: str, name: str) -> int:
    found = re.search(rf"[?$]{re.escape(name)}\b", text)
    return found.start() if found else len(text)


def _triples_of(tree: Any) -> list[tuple[Any, Any, Any]]:
    """The template of CONSTRUCT WHERE { … }: its own triples."""
    if tree.name == "BGP":
        return list(tree.triples)
    return [triple for part in ("p", "p1", "p2") if part in tree for triple in _triples_of(tree[part])]
