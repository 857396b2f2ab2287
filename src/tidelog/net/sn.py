"""Algorithm 2 of paper 000: synchronous semi-naïve maintenance under multiset semantics.

An SN-iteration (Definition 7) is a complete-iteration that picks every update in 𝒰: insertions first, so that a
deletion of a fact inserted in the same iteration finds it. The updates made wait for the next iteration. With
annotations this is the extended SN of section 5. SN is what the checker and the tests compare every other run with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tidelog.net.configuration import Configuration
from tidelog.net.delta import DeltaRules, Made
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.values import Fact, Update


def sn_iteration(configuration: Configuration) -> Made:
    """Picks, fires and commits all updates. A deletion whose fact is nowhere stays in 𝒰."""
    U = configuration.U
    chosen = Counter({u: n for u, n in U.items() if u.sign > 0})
    for u, n in U.items():
        if u.sign < 0:
            found = min(n, configuration.available(u) + U.get(u.complement, 0))
            if found:
                chosen[u] = found
    return configuration.complete_iteration(chosen)


def sn(configuration: Configuration) -> int:
    """Runs until nothing can be picked; the number of iterations."""
    iterations = 0
    while any(True for _ in configuration.pickable()):
        sn_iteration(configuration)
        iterations += 1
    return iterations


def materialise(
    program: NetProgram,
    facts: Iterable[Fact] = (),
    derivations: Derivations | None = None,
    meter: Meter | None = None,
    rules: DeltaRules | None = None,
) -> Configuration:
    """The configuration ⟨𝒦,∅,∅,∅⟩ of the program's state for its own facts and the given ones."""
    configuration = Configuration(program, derivations, meter, rules)
    configuration.insert(Update(1, f) for f in (*program.facts, *facts))
    sn(configuration)
    return configuration
