"""Definitions 2 and 3 of paper 004: what makes a proof a PSN^ν-proof or an SN-proof.

A complete iteration of a multiset T of updates picks all of T, then fires all of T, then updates with all of T. It is a
PSN^ν-iteration if T has one element, and an SN-iteration if T is all that `upd` holds before it. A proof is of the kind
if its executions can be partitioned into such iterations, followed by one `query`. The commands and the updates that
they unload are read off the proof; nothing is searched for.
"""

from __future__ import annotations

from collections import Counter

from tidelog.errors import InternalError
from tidelog.net.linear.encoding import decode
from tidelog.net.linear.search import Execution, Proof
from tidelog.net.values import Update

_ORDER = ("pick", "fire", "update")


def partition(proof: Proof, kind: str) -> list[tuple[Execution, ...]]:
    """The iterations of a PSN^ν-proof (`psn`) or an SN-proof (`sn`); an `InternalError` if it is none."""
    executions = list(proof.executions)
    if not executions or executions[-1].command != "query":
        raise InternalError("the proof does not end with an execution of query")
    executions.pop()
    found: list[tuple[Execution, ...]] = []
    while executions:
        size = 1 if kind == "psn" else sum(decode(executions[0].before).U.values())
        iteration = executions[: 3 * size]
        del executions[: 3 * size]
        _check(iteration, size, kind)
        found.append(tuple(iteration))
    return found


def _check(iteration: list[Execution], size: int, kind: str) -> None:
    """Definition 2, for as many updates as the kind asks for."""
    parts = [iteration[i * size : (i + 1) * size] for i in range(3)]
    for command, part in zip(_ORDER, parts, strict=True):
        if len(part) < size or any(e.command != command for e in part):
            told = "one update" if kind == "psn" else "all of upd"
            raise InternalError(f"this is no complete iteration of {told}: {command} is not executed for each")
    picked = _uses(parts[0])
    if any(_uses(part) != picked for part in parts[1:]):
        raise InternalError("an iteration fires or updates with something else than it picked")
    if kind == "sn" and picked != decode(iteration[0].before).U:
        raise InternalError("an SN-iteration picks all that upd holds")


def _uses(executions: list[Execution]) -> Counter[Update | None]:
    return Counter(e.uses for e in executions)
