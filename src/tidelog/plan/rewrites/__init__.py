"""Rewrites, in the order in which they are applied. Each is a function in a file of its name, with an example.

Of rules (`rewrite.py` says what a rewrite of a rule is), applied stratum by stratum in `plan/stateful.py`:

    read_classes          an `eqrel` is read by its classes
    extract_aggregates    aggregates become relations
    project_negations     a negated atom names one tuple
    drop_implied          atoms that another atom implies are left out
    separate_parts        parts of a body that have nothing to do with each other are joined once each
    ask_projections       atoms with columns that nobody looks at ask whether there is a tuple

Of whole programs, before they are checked; those of networks are given the relations of the program as written as well:

    localise              every body at one node
    push_conditions       conditions decided where the data comes from
    specialise            triples by predicate and class (`rdf/` applies it)
    magic_sets            only what the outputs ask for is derived

`example.py` shows what a rewrite does to rules in a text; `parts.py` is what several of them know of bodies.
"""

from tidelog.plan.rewrites.ask_projections import ask_projections
from tidelog.plan.rewrites.drop_implied import drop_implied
from tidelog.plan.rewrites.extract_aggregates import extract_aggregates
from tidelog.plan.rewrites.localise import localise
from tidelog.plan.rewrites.magic_sets import magic_sets
from tidelog.plan.rewrites.project_negations import project_negations
from tidelog.plan.rewrites.push_conditions import push_conditions
from tidelog.plan.rewrites.read_classes import read_classes
from tidelog.plan.rewrites.rewrite import DemandRewrite, ProgramRewrite, Rewrite
from tidelog.plan.rewrites.separate_parts import separate_parts

WHOLE: tuple[Rewrite, ...] = (read_classes,)
"""Of a stratum in which it matters when or how often something is derived."""

BATCH: tuple[Rewrite, ...] = (*WHOLE, separate_parts)
"""Of evaluation that keeps no state: what is found twice is found once."""

STATEFUL: tuple[Rewrite, ...] = (
    *WHOLE,
    extract_aggregates,
    project_negations,
    drop_implied,
    separate_parts,
    ask_projections,
)
"""Of evaluation that keeps its state, and counts each derivation."""

ON_DEMAND: tuple[DemandRewrite, ...] = (magic_sets,)
"""Of a run that asks for some relations only."""

NETWORK: tuple[ProgramRewrite, ...] = (localise, push_conditions)
"""Of Network Datalog, as nodes run it."""
