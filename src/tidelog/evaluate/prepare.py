"""A checked program made ready for evaluation: its plans, its functors, and the databases and contexts it runs in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from tidelog.analysis.check import Checked
from tidelog.analysis.clauses import Clause
from tidelog.errors import Report
from tidelog.evaluate.context import Context
from tidelog.evaluate.user_functors import check_functors, kinds_of
from tidelog.lang import tree
from tidelog.plan.program import ProgramPlan, plan_program, refuse_unplannable
from tidelog.store import Database


class Prepared:
    """A program whose functors are all there. Any number of evaluations may share it."""

    def __init__(self, checked: Checked, functors: Mapping[str, Callable[..., Any]]) -> None:
        self.checked = checked
        self.functors = functors
        refuse_unplannable(checked)
        used = {n.name for c in checked.clauses for n in _nodes(c) if isinstance(n, tree.UserFunctor)}
        report = Report()
        check_functors(checked.program, used, functors, report)
        report.check()

    @cached_property
    def plan(self) -> ProgramPlan:
        """The plans of batch evaluation."""
        return plan_program(self.checked)

    def create_relations(self, database: Database) -> None:
        """Every relation of the program, empty."""
        for name, info in self.checked.relations.items():
            database.create(name, info.arity)

    def context(self, database: Database) -> Context:
        """What one evaluation over the database shares."""
        kinds = {d.name: kinds_of(d, self.checked.types) for d in self.checked.program.of(tree.FunctorDecl)}
        return Context(database, self.checked.clauses, self.functors, functor_kinds=kinds)


def _nodes(clause: Clause) -> Iterator[tree.Node]:
    for literal in (clause.head, *clause.body):
        yield from literal.walk()
