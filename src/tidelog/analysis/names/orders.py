"""Checks that need to know which clauses are recursive: counters, and the orders of `.plan`.

Orders are chosen by what the relations hold, so that a plan has no effect, and one that does not fit is no obstacle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.uses import ClauseUses, ProgramUses
from tidelog.analysis.recursion import component_numbers
from tidelog.analysis.strata import Stratum
from tidelog.errors import Report, amount
from tidelog.lang import tree


def check_counters(uses: ProgramUses, report: Report) -> None:
    counting = [clause for clause in uses.clauses if _counters(clause)] if uses.has_counters else []
    if not counting:
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


def warn_of_plans(clauses: list[Clause], strata: Iterable[Stratum], report: Report) -> None:
    """Plans that do not fit their rules, as these are after inlining: there Soufflé looks at them as well."""
    for stratum in strata:
        for clause in (clauses[number] for number in stratum.clauses):
            if clause.plan is not None and (why := _misfit(clause, clause.plan, stratum.relations)):
                report.warn("TL0284", why, clause.plan.span, help="it has no effect: orders are chosen by the data")


def _misfit(clause: Clause, plan: tree.ExecutionPlan, stratum: Collection[str]) -> str | None:
    """An order names each atom of the body once; there is a version for each recursive atom."""
    atoms = list(clause.atoms())
    versions = sum(atom.name in stratum for atom in atoms)
    if not versions:
        return "a plan for a rule that is not recursive"
    for version, order in plan.orders:
        if sorted(order) != list(range(1, len(atoms) + 1)):
            shown = ", ".join(map(str, order))
            return f"the order ({shown}) of plan {version} does not fit a body with {amount(len(atoms), 'atom')}"
        if version >= versions:
            return f"a plan for version {version} of a rule that has {amount(versions, 'recursive atom')}"
    return None
