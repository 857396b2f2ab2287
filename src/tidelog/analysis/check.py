"""All checks of a program, in order, every problem collected: Program -> Checked.

A later check runs even if an earlier one failed, as long as what it needs is there, so that the user sees all
errors at once.
"""

from __future__ import annotations

from tidelog.analysis.checked import Checked
from tidelog.analysis.clauses.flat import clauses_of
from tidelog.analysis.clauses.inline import inline
from tidelog.analysis.clauses.lattices import compare_in_lattices
from tidelog.analysis.clauses.witnesses import bind_witnesses
from tidelog.analysis.components.expand import expand
from tidelog.analysis.names.check import check_names
from tidelog.analysis.names.directives import check_directives
from tidelog.analysis.names.inlining import inline_relations
from tidelog.analysis.names.orders import warn_of_plans
from tidelog.analysis.names.ordinals import warn_of_ord
from tidelog.analysis.safety import check_grounded
from tidelog.analysis.strata import DependencyGraph
from tidelog.analysis.types.declarations import types_of
from tidelog.analysis.types.typing import infer
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.lang.depth import deep_recursion

DEPRECATED = "TL0105"


def check(program: tree.Program, report: Report | None = None) -> Checked:
    """The checked program; raises one TidelogError with every problem found."""
    report = report or Report()
    if program.pragma("legacy") is not None:
        report.forget(DEPRECATED)
    with deep_recursion():
        program = expand(program, report)
        if any(d.code.startswith("TL05") for d in report.errors):
            report.check()  # without its components, most names of the program would seem to be undeclared
        clauses = clauses_of(program, report)
        check_names(program, clauses, report)
        check_directives(program, report)
        clauses = compare_in_lattices(bind_witnesses(clauses, report), program, report)
        types = types_of(program, report)
        typed = infer(clauses, types, report)
        warn_of_ord(typed, report)
        inlined = inline_relations(program)
        if inlined and not report.errors:
            clauses = inline(clauses, inlined, report)
            typed = infer(clauses, types, Report())
        check_grounded(clauses, report, inlined)
        graph = DependencyGraph((name for name in types.relations if name not in inlined), clauses)
        strata = graph.strata(report)
        warn_of_plans(clauses, strata, report)
        report.check()
    return Checked(program, types, clauses, typed, strata, tuple(report.warnings))
