"""Checks of a program: Program -> Checked, every problem collected. `check.py` calls the rest, in this order:

    components/     every `.init` becomes what it stands for
    clauses/        rules as clauses with one head and a flat body, and what all later checks ask about them
    names/          everything mentioned is declared, and used where and as often as it may be; directives
    types/          the program's types, and the type of every term
    clauses/        again: inline relations put in place of their atoms
    safety.py       every variable has a value by the time it is needed
    strata.py       which relation depends on which; strata

`vocabulary.py` is what sessions ask about a checked program's relations; `unsupported.py` is asked by the planner:
what is parsed and checked but cannot be evaluated yet. `size_limits.py` is what `.limitsize` means. `suggest.py`
("did you mean") and `recursion.py` (strongly connected components) serve all of them.
"""
