"""A checked program made ready for evaluation: its plans, its functors, and the databases and contexts it runs in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from tidelog.analysis.checked import Checked
from tidelog.analysis.clauses import Clause
from tidelog.errors import Report
from tidelog.evaluate.context import Context
from tidelog.evaluate.profile import Recorder
from tidelog.evaluate.user_functors import check_functors, functor_types
from tidelog.lang import tree
from tidelog.plan.gates import lubs_of
from tidelog.plan.program import ProgramPlan, refuse_unplannable, rules_of_program
from tidelog.store import Database


class Prepared:
    """A program whose functors are all there. Any number of evaluations may share it."""

    def __init__(self, checked: Checked, functors: Mapping[str, Callable[..., Any]]) -> None:
        self.checked = checked
        self.functors = functors
        refuse_unplannable(checked)
        if any(isinstance(item, tree.FunctorDecl) for item in checked.program.items):
            calls = (tree.UserFunctor, tree.UserAggregate)
            used = {n.name for c in checked.clauses for n in _nodes(c) if isinstance(n, calls)}
            for info in checked.relations.values():
                used.update(lubs_of(checked.program, info.decl))
            report = Report()
            check_functors(checked.program, used, functors, report)
            report.check()

    @cached_property
    def plan(self) -> ProgramPlan:
        """What batch evaluation runs, not ordered yet."""
        return rules_of_program(self.checked)

    def create_relations(self, database: Database) -> None:
        """Every relation of the program and of its plans, empty."""
        for name, info in self.checked.relations.items():
            database.create(name, info.arity)
        for name, columns in self.plan.parts.items():
            database.create(name, len(columns))

    def context(self, database: Database, recorder: Recorder | None = None) -> Context:
        """What one evaluation over the database shares."""
        types = functor_types(self.checked.program, self.checked.types)
        return Context(database, self.checked.clauses, self.functors, types, recorder)


def _nodes(clause: Clause) -> Iterator[tree.SyntaxNode]:
    for literal in (clause.head, *clause.body):
        yield from literal.walk()
