"""The sets of the paper's Algorithm 3 (paper 002, with section 3.3), by the iterations of tuples before and now.

A tuple is in I_k^o if its iteration before is at most k, in I_k if that of now is, and in N_k if it is k; one that is
nowhere has an iteration beyond all others. When iteration k begins, what is below k is final, and all else is still
what it was. Executors ask with what they have, arrays of numbers or expressions of SQL: anything that can be compared
with a number (`<`, `>=`) and whose comparisons can be combined (`&`, `|`, `~`). Decision 0005 says where the terms
depart from the printed text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from tidelog.plan.orders.paper_terms import PaperTerm, TermPlan

Iterations = Any
Truth = Any


def in_minus(k: int, before: Iterations, now: Iterations) -> Truth:
    """I_{k-1}^-: in I_{k-1}^o and not in I_{k-1}"""
    return (before < k) & (now >= k)


def in_plus(k: int, before: Iterations, now: Iterations) -> Truth:
    """I_{k-1}^+: in I_{k-1} and not in I_{k-1}^o"""
    return (now < k) & (before >= k)


def wanted(
    plan: TermPlan,
    k: int,
    before: Iterable[Iterations],
    now: Iterable[Iterations],
    negated: Iterable[bool],
    always: Truth,
    never: int,
) -> Truth:
    """Which derivations of a plan its term has in iteration k, by the iterations of their parts."""
    parts = list(zip(negated, before, now, strict=True))
    match plan.term:
        case PaperTerm.DELETION:  # Pi#[I_{k-1}^o | N_{k-1}^o | I_{k-1}^-, I_0^+]
            diffs = [(in_plus if n else in_minus)(k, b, w) for n, b, w in parts]
            return is_first(diffs, plan.diff) & has_level(k, [b for n, b, _ in parts if not n], always)
        case PaperTerm.INSERTION:  # Pi#[I_{k-1} | N_{k-1} | I_{k-1}^+, I_0^-]
            diffs = [(in_minus if n else in_plus)(k, b, w) for n, b, w in parts]
            return is_first(diffs, plan.diff) & has_level(k, [w for n, _, w in parts if not n], always)
    # Pi#[I_{k-1}^o and I_{k-1} | N_{k-1}], where no negated tuple is in either
    there_before = [b >= never if n else b < k for n, b, _ in parts]
    return reduce(and_, there_before, has_level(k, [w for n, _, w in parts if not n], always))


def has_level(k: int, iterations: Sequence[Iterations], always: Truth) -> Truth:
    """Whether the greatest iteration of a derivation's positive parts is k - 1; it is 0 if it has none."""
    below = reduce(and_, [i < k for i in iterations], always)
    if k == 1:
        return below
    return below & reduce(or_, [i >= k - 1 for i in iterations] or [~always])


def is_first(in_diff: Sequence[Truth], part: int | None) -> Truth:
    """Whether this part is the first that is in the diff: so that a derivation with several is counted once."""
    assert part is not None
    return reduce(and_, [~earlier for earlier in in_diff[:part]], in_diff[part])


def counted(term: PaperTerm, k: int, before: Iterations, now: Iterations) -> Truth:
    """Of which heads a term changes the count."""
    match term:
        case PaperTerm.DELETION:  # without I_{k-1}^o
            return before >= k
        case PaperTerm.INSERTION:  # without I_{k-1}
            return now >= k
    return in_minus(k, before, now)
