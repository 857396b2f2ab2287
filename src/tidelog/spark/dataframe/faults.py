"""Errors of a user's data and functors, on their way from a Spark task to the user.

A task can only fail with a text. Ours begin with a mark and the number of the rule, so that whatever Spark wraps
around them, the error that is raised in the end is the same as that of the other executors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from tidelog.analysis.clauses import Clause
from tidelog.errors import TidelogError, error
from tidelog.spark.dataframe.sql import Sql
from tidelog.spark.packed import problems_in

_MARK = re.compile(r"tidelog fault in rule (-?\d+): «(.*?)»", re.DOTALL)
FACTS = -1


class RuleFault(Exception):
    """A functor that has no result for its arguments, in a rule; raised in a task."""

    def __init__(self, rule: int, message: str) -> None:
        super().__init__(_marked(rule, message))

    def __reduce__(self) -> tuple[type[Exception], tuple[str]]:
        return RuntimeError, (str(self),)


class FactFault(RuleFault):
    """A fact that is no value of its type; raised in a task."""

    def __init__(self, message: str) -> None:
        super().__init__(FACTS, message)


class MalformedFacts(TidelogError):
    """What a task has found wrong with the facts that it reads; others may have found more."""


def raised(rule: int, *parts: Sql) -> Sql:
    """An expression that fails with a message about its row."""
    return f"raise_error(concat('tidelog fault in rule {rule}: «', {', '.join(parts)}, '»'))"


def _marked(rule: int, message: str) -> str:
    return f"tidelog fault in rule {rule}: «{message}»"


@contextmanager
def translated(clauses: list[Clause]) -> Iterator[None]:
    """Failures of Spark jobs become errors of the rules that caused them; others stay what they are."""
    try:
        yield
    except PySparkException as problem:
        problems, found = problems_in(str(problem)), _MARK.search(str(problem))
        if problems:
            raise MalformedFacts(problems) from None
        if found is None:
            raise
        raise _error(int(found[1]), found[2], clauses) from None


def _error(rule: int, message: str, clauses: list[Clause]) -> TidelogError:
    if rule == FACTS:
        return error("TL0635", message)
    clause = clauses[rule]
    return error("TL0801", message, clause.span, help=f"in the rule {clause.text}")
