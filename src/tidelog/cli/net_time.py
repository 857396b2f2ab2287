"""`tidelog net run` and `check` of programs about time: one run on a virtual clock, or many with faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from tidelog.cli.net import create, linked, parse_asked, show_facts, warn, write_page
from tidelog.errors import error
from tidelog.net.meter import DEFAULT_LIMIT, Meter
from tidelog.net.program import Place
from tidelog.net.runtime import inputs
from tidelog.net.runtime.launch import MOST_RECORDS_ON_A_PAGE, delays_of
from tidelog.net.runtime.trace import Trace
from tidelog.net.timed import Crash, Simulation, SimulationFaults, TimedProgram, load
from tidelog.net.timed.runs import RunsVerdict, Scenario, check_runs, watch
from tidelog.net.values import Value

if TYPE_CHECKING:
    from tidelog.net.runtime.topologies import Topology

Asked = tuple[list[str] | None, list[str] | None, list[str] | None]


def run(
    program: Path, topology: str | None, updates: Path | None, facts: Path | None, *, seed: int, delays: Path | None,
    link: str, limit: int | None, show: Sequence[str], trace: Path | None, html: Path | None, until: float,
    faults: tuple[float, float, float, Sequence[str]], asked: Asked, no_warn: bool,
) -> None:  # fmt: skip
    """One run until a time: what it cost, what the tables hold then, and whether it had the properties."""
    timed, network, scenario = _scenario(program, topology, updates, facts, seed, link, no_warn)
    for relation in show:
        if relation not in timed.written:
            raise error("TL1040", f"the program has no relation `{relation}`")
    properties = parse_asked(asked, timed.views.arity)
    lose, duplicate, late, crashes = faults
    wrong = SimulationFaults(lose, duplicate, late, crashes=tuple(map(_crash, crashes)))
    with ExitStack() as stack:
        out = stack.enter_context(create(trace)) if trace else None
        recorded = _trace(out, html, timed, network, program, seed)
        times: dict[tuple[Place, Place], float] | None = None
        if delays:
            times = {(a, b): delay for a, b, delay in delays_of(delays)}
        simulation = Simulation(
            timed, scenario.nodes, seed=seed, delays=times, faults=wrong, meter=Meter(limit or DEFAULT_LIMIT),
            trace=recorded,
        )  # fmt: skip
        broken = watch(simulation, scenario, until, properties)
        _summary(simulation, until, show)
        if html and recorded:
            write_page(recorded, html, program)
    for told in properties:
        if broken is None or told is not broken.property:
            typer.echo(f"holds: {told}")
    if broken is not None:
        typer.echo(str(broken))
        raise typer.Exit(2)


def check(
    program: Path, topology: str | None, updates: Path | None, facts: Path | None, *, seed: int, link: str,
    limit: int | None, html: Path | None, until: float, runs: int, faults: tuple[int, int, int, bool], asked: Asked,
    no_warn: bool,
) -> None:  # fmt: skip
    """Many runs, each with its own seed and its own faults; the one that breaks a property first is shown."""
    timed, network, scenario = _scenario(program, topology, updates, facts, seed, link, no_warn)
    properties = parse_asked(asked, timed.views.arity)
    if not properties:
        raise error(
            "TL1055", "there is nothing to check", help="give --always, --eventually or --finally: a program about "
            "time has no one state that is right",
        )  # fmt: skip
    found: RunsVerdict = check_runs(timed, scenario, until, properties, runs, seed, faults, limit or DEFAULT_LIMIT)
    typer.echo(str(found))
    if found.broken is not None:
        if html:
            recorded = _trace(None, html, timed, network, program, found.seed)
            assert recorded is not None
            simulation = Simulation(timed, scenario.nodes, seed=found.seed, faults=found.faults, trace=recorded)
            watch(simulation, scenario, until, properties)
            write_page(recorded, html, program)
        raise typer.Exit(2)


def _scenario(
    program: Path, topology: str | None, updates: Path | None, facts: Path | None, seed: int, link: str, no_warn: bool
) -> tuple[TimedProgram, Topology | None, Scenario]:
    timed = load(inputs.read_text(program), str(program))
    warn(timed.warnings, [], no_warn)
    network, links = linked(topology, seed, timed.views, link)
    given = [*timed.views.facts, *links, *(inputs.load_facts(facts, timed.views) if facts else ())]
    bursts = inputs.load_timed_bursts(updates, timed.views) if updates else []
    if not given and not network and not bursts:
        raise error("TL1054", "there is no network to run on", help="give --topology, --facts, or facts in the program")
    return timed, network, Scenario(tuple(network.nodes if network else ()), tuple(given), tuple(bursts))


def _crash(text: str) -> Crash:
    parts = text.split(":")
    try:
        if len(parts) not in (3, 4) or (len(parts) == 4 and parts[3] != "keeps"):
            raise ValueError
        node: Value = int(parts[0]) if parts[0].isdecimal() else parts[0]
        since, until = float(parts[1]), float(parts[2])
        if not 0 <= since < until:
            raise ValueError
    except ValueError:
        raise typer.BadParameter("NODE:FROM:TO or NODE:FROM:TO:keeps, as in n3:5:20", param_hint="--crash") from None
    return Crash(node, since, until, len(parts) == 4)


def _trace(
    out: TextIO | None, html: Path | None, program: TimedProgram, network: Topology | None, path: Path, seed: int
) -> Trace | None:
    if out is None and html is None:
        return None
    trace = Trace(out, MOST_RECORDS_ON_A_PAGE if html else 0)
    links = [(a, b) for a, b, _ in network.links] if network else []
    trace.network(network.nodes if network else (), links, program=inputs.read_text(path), schedule="time", seed=seed)
    return trace


def _summary(simulation: Simulation, until: float, show: Iterable[str]) -> None:
    spent, facts = simulation.spent, simulation.facts()
    counts = Counter(f.name for f in facts if f.name in simulation.program.written)
    held = ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items())) or "nothing"
    wrong = f", {spent.lost:,} lost" * bool(spent.lost) + f", {spent.duplicated:,} twice" * bool(spent.duplicated)
    typer.echo(
        f"until {until:g}: {spent.updates:,} updates, {spent.messages:,} messages ({spent.bytes:,} bytes{wrong}); "
        f"last change at {spent.last_change:.2f}"
    )
    typer.echo(f"{len(simulation.nodes):,} nodes hold: {held}")
    show_facts(facts, show)


__all__ = ["check", "run"]
