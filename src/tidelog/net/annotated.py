"""PSN that detects cycles (paper 000, section 5): for recursive programs.

The algorithm is Algorithm 1 with the commands of Fig. 3: the same `psn`, on a configuration whose facts carry
derivation sets S and infinite-count sets H (`derivations`). This module puts the two together and answers what only
annotations can: which facts have infinitely many derivations.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.net.configuration import Configuration
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.psn import Run, psn
from tidelog.net.schedulers import Scheduler
from tidelog.net.store import OLD
from tidelog.net.values import Fact, Update


def annotated(
    program: NetProgram,
    facts: Iterable[Fact] = (),
    scheduler: Scheduler | None = None,
    picking: int | None = 1,
    cut: bool = False,
    meter: Meter | None = None,
) -> Run:
    """The state of a program for its own facts and the given ones, computed by PSN with annotations.

    Further bursts go to `psn(run.configuration, burst)`. With `cut`, cyclic derivations are not followed once round.
    """
    configuration = Configuration(program, Derivations(cut=cut), meter)
    return psn(configuration, (Update(1, f) for f in (*program.facts, *facts)), scheduler, picking)


def infinite(configuration: Configuration) -> frozenset[Fact]:
    """The facts with an infinite count: p such that some (p,S,H) in 𝒦 has p ∈ H."""
    derivations = configuration.derivations
    if derivations is None:
        return frozenset()
    return frozenset(
        fact
        for fact in configuration.K.facts(OLD)
        if any(tag and derivations.sets.contains(tag.infinite, fact) for tag in configuration.K.copies(OLD, fact))
    )
