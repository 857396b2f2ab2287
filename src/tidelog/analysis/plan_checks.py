"""Checks that need to know which clauses are recursive: counters, and the orders of `.plan`."""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.analysis.clauses import Clause
from tidelog.analysis.recursion import component_numbers
from tidelog.analysis.uses import ClauseUses, ProgramUses
from tidelog.errors import Report
from tidelog.lang import tree


def check_recursive_clauses(uses: ProgramUses, report: Report) -> None:
    counting = [clause for clause in uses.clauses if _counters(clause)] if uses.has_counters else []
    planned = [clause for clause in uses.clauses if clause.clause.plan is not None]
    if not counting and not planned:
        return
    numbers = component_numbers(dependencies(uses.clauses))
    for clause in counting:
        if _is_recursive(clause, numbers):
            head = clause.clause.head
            for counter in _counters(clause):
                report.error(
                    "TL0225",
                    "a counter in a recursive rule",
                    counter.span,
                    notes=((f"`{head.name}` depends on itself through this rule", head.span),),
                    help="number the tuples in a rule of their own",
                )
    for clause in planned:
        if _is_recursive(clause, numbers):
            _check_plan(clause.clause, numbers, report)
        elif clause.clause.plan is not None:
            report.warn("TL0284", "this rule is not recursive, so its plan has no effect", clause.clause.plan.span)


def dependencies(clauses: Iterable[ClauseUses]) -> dict[str, set[str]]:
    """Each defined relation and those that its clauses depend on."""
    graph: dict[str, set[str]] = {}
    for clause in clauses:
        graph.setdefault(clause.clause.head.name, set()).update(clause.relations())
    return graph


def _counters(clause: ClauseUses) -> list[tree.Counter]:
    return [counter for uses in clause.all() for level in uses.levels() for counter in level.counters]


def _is_recursive(clause: ClauseUses, numbers: dict[str, int]) -> bool:
    own = numbers[clause.clause.head.name]
    return any(numbers[name] == own for name in clause.relations())


def _check_plan(clause: Clause, numbers: dict[str, int], report: Report) -> None:
    """An order names each atom of the body once; there is a version for each recursive atom."""
    plan = clause.plan
    assert plan is not None
    atoms = list(clause.atoms())
    versions = sum(numbers[atom.name] == numbers[clause.head.name] for atom in atoms)
    for version, order in plan.orders:
        if sorted(order) != list(range(1, len(atoms) + 1)):
            wanted = "the number 1 once" if len(atoms) == 1 else f"each number from 1 to {len(atoms)} once"
            report.error(
                "TL0230",
                f"the order ({', '.join(map(str, order))}) of plan {version} does not fit a body with "
                f"{len(atoms)} atom{'' if len(atoms) == 1 else 's'}",
                plan.span,
                help=f"it needs {wanted}" if atoms else "it must be empty",
            )
        if version >= versions:
            known = "is version 0" if versions == 1 else f"are versions 0 to {versions - 1}"
            report.error(
                "TL0231",
                f"a plan for version {version} of a rule that has {versions} recursive "
                f"atom{'' if versions == 1 else 's'}",
                plan.span,
                help=f"there {known} only" if versions else None,
            )
