"""Runs of a program about time that are watched: does each have the properties, whatever goes wrong?

Time has no end and delays are real numbers, so not every run can be tried: `check_runs` tries many, each with its own
seed, and puts the faults that are allowed at places of its own choice. A run is repeated by its seed and its faults. Of
the runs that break a property, the one in which that shows first is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tidelog.net.meter import Meter
from tidelog.net.properties import Property
from tidelog.net.timed.program import TimedProgram
from tidelog.net.timed.simulation import Crash, Simulation, SimulationFaults
from tidelog.net.values import Fact, Update, Value, show
from tidelog.plain import dataclass, field


@dataclass(frozen=True)
class Scenario:
    """The nodes, what they are given at first, and what the user does when."""

    nodes: tuple[Value, ...]
    facts: tuple[Fact, ...]
    bursts: tuple[tuple[float, Sequence[Update]], ...] = ()


@dataclass(frozen=True)
class Broken:
    """A property that a run does not have, and when that was known."""

    property: Property
    time: float

    def __str__(self) -> str:
        how = {"always": "does not hold", "eventually": "has not held by", "finally": "does not hold at the end,"}
        return f"broken: {self.property} {how[self.property.when]} at {self.time:.2f}".replace("by at", "until")


@dataclass(frozen=True)
class RunsVerdict:
    """Of how many runs, and the one that breaks a property first."""

    runs: int
    asked: tuple[str, ...]
    broken: Broken | None = None
    seed: int = 0
    faults: SimulationFaults = field(default_factory=SimulationFaults)
    breaking: int = 0

    def __str__(self) -> str:
        if self.broken is None:
            return f"in all of {self.runs:,} runs: {'; '.join(self.asked)}"
        told = [f"message {n} is lost" for n in sorted(self.faults.lost)]
        told += [f"message {n} comes twice" for n in sorted(self.faults.duplicated)]
        told += [
            f"{show(c.node)} is down from {c.since:.2f} to {c.until:.2f}{', and keeps its tables' if c.keeps else ''}"
            for c in self.faults.crashes
        ]
        faults = f" ({'; '.join(told)})" if told else ""
        return f"{self.breaking:,} of {self.runs:,} runs; first, with --seed {self.seed}{faults}:\n{self.broken}"


def watch(simulation: Simulation, scenario: Scenario, until: float, properties: Sequence[Property]) -> Broken | None:
    """Runs a scenario until the time; the first property that is seen to be broken."""
    simulation.at(0.0, [Update(1, f) for f in scenario.facts])
    for time, burst in scenario.bursts:
        simulation.at(time, burst)
    broken: Broken | None = None
    always = [p for p in properties if p.when == "always"]
    waiting = [p for p in properties if p.when == "eventually"]
    changed = -1
    for now in simulation.run(until):
        if simulation.spent.updates == changed or not (always or waiting):
            continue
        changed = simulation.spent.updates
        facts = simulation.facts()
        waiting = [p for p in waiting if not p.holds(facts)]
        wrong = next((p for p in always if not p.holds(facts)), None)
        if wrong is not None and now > 0 and broken is None:
            broken = Broken(wrong, now)
            always = []
    if broken is None:
        facts = simulation.facts()
        late = [p for p in waiting if not p.holds(facts)]
        late += [p for p in properties if p.when == "finally" and not p.holds(facts)]
        broken = Broken(late[0], until) if late else None
    return broken


def check_runs(
    program: TimedProgram,
    scenario: Scenario,
    until: float,
    properties: Sequence[Property],
    runs: int,
    seed: int = 0,
    allowed: tuple[int, int, int, bool] = (0, 0, 0, False),
    limit: int | None = None,
) -> RunsVerdict:
    """Runs with the seeds from `seed` on, each with as many lost and doubled messages and crashes as are allowed."""
    asked = tuple(map(str, properties))
    found: list[tuple[float, int, SimulationFaults, Broken]] = []
    for number in range(seed, seed + runs):
        faults = _faults(program, scenario, until, number, allowed)
        meter = Meter(limit) if limit else None
        simulation = Simulation(program, scenario.nodes, seed=number, faults=faults, meter=meter)
        broken = watch(simulation, scenario, until, properties)
        if broken is not None:
            found.append((broken.time, number, faults, broken))
    if not found:
        return RunsVerdict(runs, asked)
    _, number, faults, broken = min(found, key=lambda f: f[:2])
    return RunsVerdict(runs, asked, broken, number, faults, len(found))


def _faults(
    program: TimedProgram, scenario: Scenario, until: float, seed: int, allowed: tuple[int, int, int, bool]
) -> SimulationFaults:
    """Faults of this run: which messages, of those that a run without faults sends, and which nodes, when."""
    lose, duplicate, crashes, keeps = allowed
    if not (lose or duplicate or crashes):
        return SimulationFaults()
    choose = Random(f"faults {seed}")
    trial = Simulation(program, scenario.nodes, seed=seed)
    watch(trial, scenario, until, ())
    messages = max(1, trial.spent.messages)
    places = [p for p in trial.nodes if p is not None]
    down: list[Crash] = []
    for node in choose.sample(places, min(crashes, len(places))):
        since = choose.random() * until * 0.5
        down.append(Crash(node, since, since + choose.random() * until * 0.25 + 1e-6, keeps))
    return SimulationFaults(
        lost=frozenset(choose.randint(1, messages) for _ in range(lose)),
        duplicated=frozenset(choose.randint(1, messages) for _ in range(duplicate)),
        crashes=tuple(down),
    )  # fmt: skip
