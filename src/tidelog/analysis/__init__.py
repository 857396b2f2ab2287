"""Checks of a program: Program -> Checked, every problem collected. `check.py` calls the rest, in this order:

    components   components.py (expansion), component_scopes.py, component_checks.py, renaming.py
    clauses      clauses.py: one head, a flat body
    names        names.py, relation_checks.py, aggregate_checks.py, variable_warnings.py, plan_checks.py,
                 inlining_checks.py; they share uses.py (one walk over each literal), recursion.py and suggest.py
    directives   directives.py
    types        declarations.py makes types.py's TypeSystem; typing.py infers clauses with inference.py, cells.py and
                 calls.py, and typechecks.py says what does not fit
    inlining     inline.py
    safety       grounded.py, with scopes.py: what binds a variable, and what an aggregate shares with its surroundings
    strata       graph.py

unsupported.py is asked by the planner: what is parsed and checked but cannot be evaluated yet.
"""
