"""How workers share a program, `tidelog plan --workers 4`: what is where, and which joins communicate.

The orders are guesses, as without workers; where matches travel follows from the orders that are chosen for the facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tidelog.analysis.strata import Stratum
from tidelog.plan import steps
from tidelog.plan.exchange.cut import cut, hops
from tidelog.plan.exchange.making import makes_values
from tidelog.plan.exchange.placement import Placement, at_first
from tidelog.plan.orders.estimate import Guess
from tidelog.plan.program import plan_stratum
from tidelog.plan.show.plans import occasion, step_lines
from tidelog.plan.show.rules import show_rule
from tidelog.plan.stateful import StatefulProgram, StatefulStratum
from tidelog.plan.steps import HoldersOf


def show_workers(program: StatefulProgram, placed: Mapping[str, Placement], size: int) -> str:
    return "\n".join(_lines(program, placed, size)) + "\n"


def _lines(program: StatefulProgram, placed: Mapping[str, Placement], size: int) -> Iterator[str]:
    yield f"{size} worker{'s' * (size != 1)}; each tuple is"
    for name in program.arities:
        yield f"  {name}: {_where(program, name, placed[name])}"
    for stratum in program.strata:
        if stratum.defined:
            yield from _stratum(program, stratum, placed)


def _where(program: StatefulProgram, name: str, placement: Placement) -> str:
    info = program.checked.relations.get(name)
    if info is None or placement.everywhere:
        return str(placement)
    parts = [f"at the home of its {info.attributes[column]}" for column in placement.columns]
    return " and ".join((*parts, *(["at the first worker"] if placement.first else [])))


def _stratum(program: StatefulProgram, stratum: StatefulStratum, placed: Mapping[str, Placement]) -> Iterator[str]:
    names = ", ".join(stratum.relations)
    if at_first(stratum, placed):
        yield f"stratum {names}: by the first worker, {_why_at_first(stratum)}"
        return
    if stratum.aggregate is not None:
        yield f"stratum {names}: each worker has whole groups; nothing travels"
        return
    planned = plan_stratum(
        Stratum(stratum.relations, (), stratum.recursive), stratum.rules, Guess(program.arities), counted=True
    )
    plans = {plan: cut(plan, placed) for plan in (*planned.starting, *planned.delta)}
    travelling = {plan: found for plan, found in plans.items() if hops(found)}
    yield f"stratum {names}: " + ("by all workers" if travelling else "by each worker for itself; nothing travels")
    for rule in stratum.rules:
        own = [found for plan, found in travelling.items() if plan.rule == rule.number]
        if own:
            yield f"  {show_rule(rule)}"
        for plan in own:
            yield f"    {occasion(plan)}: {_journeys(plan)}"
            yield from ("      " + line for line in step_lines(plan.steps, plan.slots))


def _why_at_first(stratum: StatefulStratum) -> str:
    if stratum.whole:
        return f"because it is evaluated as a whole: {stratum.whole}"
    if stratum.best is not None:
        return "because it goes by ranks: only the best of each group counts"
    if makes_values(stratum):
        return "because it makes texts or records, or takes records apart"
    if stratum.equivalence is not None:
        return "because the classes of an equivalence are found in one place"
    return "because no worker has whole groups of the aggregate"


def _journeys(plan: steps.Plan) -> str:
    sent = hops(plan)
    matches = sum(not isinstance(step.route, HoldersOf) for step in sent)
    parts = [f"its matches travel {matches} time{'s' * (matches != 1)}"] if matches else []
    return ", and ".join(parts + ["its heads travel"] * (len(sent) > matches))
