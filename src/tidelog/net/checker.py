"""The model checker: every interleaving of a small network, compared with SN.

`check` explores the configurations that the algorithm can reach from a state and a burst of updates, each once
(identical updates are one move; configurations are remembered, long ones by a 128-bit digest), breadth first, so that
the first wrong outcome found ends a shortest run. With `reduce`, a state in which some update disturbs no other one is
left by that update alone; a wrong outcome is then looked for again without the reduction, to show a shortest run.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from tidelog.errors import TidelogError, error
from tidelog.net.configuration import Configuration
from tidelog.net.derivations import Derivations
from tidelog.net.exhibits import EXHIBITS
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.sn import materialise, sn
from tidelog.net.systems import CommandPsn, GroundPsn, System
from tidelog.net.values import Fact, Update

DEFAULT_LIMIT = 5_000_000
_UPDATES_PER_CONFIGURATION = 1_000
ALGORITHMS = ("psn", "annotated", *EXHIBITS)

Progress = Callable[[int, int], None]
"""Called now and then with the number of configurations seen and the length of the runs so far."""


@dataclass(frozen=True)
class Step:
    """One step of a run: what was picked, and the state after it."""

    picked: tuple[Update, ...]
    state: str

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.picked))}  ⟶  {self.state}"


@dataclass(frozen=True)
class Verdict:
    """`holds`: every run ends in the state of SN. `counterexample` is a shortest run that does not."""

    holds: bool
    algorithm: str
    configurations: int
    transitions: int
    runs: int
    longest: int
    reduced: bool
    expected: str
    start: str = ""
    counterexample: tuple[Step, ...] = ()
    reached: str = ""
    endless: bool = False

    def __str__(self) -> str:
        size = f"{self.configurations:,} configurations, {self.transitions:,} transitions"
        if self.holds and self.reduced:
            return f"all runs reach the state of SN, {self.expected} ({self.runs:,} runs stand for all; {size})"
        if self.holds:
            return f"all {self.runs:,} runs reach the state of SN, {self.expected} ({size})"
        if self.endless:
            return f"some run of {self.algorithm} never ends ({size})"
        lines = [f"a run of {self.algorithm} does not reach the state of SN ({size})", f"     {self.start}"]
        lines += [f"{i:3}. {step}" for i, step in enumerate(self.counterexample, 1)]
        return "\n".join([*lines, f"SN:  {self.expected}"])


def check(
    program: NetProgram,
    facts: Iterable[Fact] = (),
    updates: Iterable[Update] = (),
    algorithm: str = "psn",
    *,
    picking: int | None = 1,
    reduce: bool = True,
    limit: int = DEFAULT_LIMIT,
    most_updates: int | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Whether every run of the algorithm on the program, its facts and a burst of updates ends in the state of SN.

    `picking` is the most updates of one iteration (None: any number). `limit` bounds the configurations explored and
    `most_updates` the updates that SN makes, so that a program that never settles is reported.
    """
    if algorithm not in ALGORITHMS:
        raise error("TL1044", f"there is no algorithm `{algorithm}`", help=f"there are {', '.join(ALGORITHMS)}")
    burst, base = list(updates), list(facts)
    meter = Meter(most_updates) if most_updates else Meter()
    exhibit = EXHIBITS.get(algorithm)
    annotated = algorithm == "annotated" or (exhibit is not None and program.recursive)
    start = materialise(program, base, Derivations() if annotated else None, meter)
    goal = start.copy()
    goal.insert(burst)
    sn(goal)
    start.meter = Meter(limit * _UPDATES_PER_CONFIGURATION)  # of the whole exploration, not of one run
    if exhibit is not None:
        shown = exhibit(program, start.counts(), burst, start.meter)
        system: System = shown
        expected: Hashable = shown.expects(goal.counts())
    else:
        start.insert(burst)
        system = GroundPsn(start) if picking == 1 else CommandPsn(start, picking)
        expected = frozenset(goal.view().items())
    return _judge(system, expected, _show(goal), algorithm, reduce, limit, progress)


def _show(configuration: Configuration) -> str:
    counts = configuration.counts()
    return "{" + ", ".join(sorted(str(f) for f in counts.elements())) + "}"


def _judge(
    system: System, expected: Hashable, shown: str, algorithm: str, reduce: bool, limit: int, progress: Progress | None
) -> Verdict:
    reduce = reduce and system.reduces
    search = Search(system, expected, reduce, limit, progress)
    wrong = search.run()
    if wrong is not None and reduce:
        again = Search(system, expected, False, limit, progress)
        try:
            found = again.run()
        except TidelogError:
            found = None
        if found is not None:
            search, wrong = again, found
    runs = search.count_runs() if wrong is None else 0
    steps = search.steps_to(wrong) if wrong is not None else ()
    return Verdict(
        wrong is None and runs is not None, algorithm, len(search.seen), search.transitions, runs or 0, search.depth,
        search.reduce, shown, system.show(system.initial()), steps, steps[-1].state if steps else "",
        wrong is None and runs is None,
    )  # fmt: skip


class Search:
    """Breadth-first exploration of a system."""

    def __init__(
        self, system: System, expected: Hashable, reduce: bool, limit: int, progress: Progress | None = None
    ) -> None:
        self.system, self.expected, self.reduce = system, expected, reduce
        self.limit, self.progress = limit, progress
        self.seen: dict[Any, int] = {}
        self.parents = array("q")
        self.sources, self.targets = array("q"), array("q")
        self.final = array("q")
        self.depth = 0

    @property
    def transitions(self) -> int:
        return len(self.sources)

    def run(self) -> int | None:
        """The number of the first configuration with a wrong outcome; None if there is none."""
        first = self.system.initial()
        layer = [(self._see(first, -1)[0], first)]
        while layer:
            following: list[tuple[int, Any]] = []
            for number, state in layer:
                stuck = True
                for _, then in self.system.moves(state, self.reduce):
                    stuck = False
                    target, new = self._see(then, number)
                    self.sources.append(number)
                    self.targets.append(target)
                    if new:
                        following.append((target, then))
                if stuck:
                    self.final.append(number)
                    if self.system.outcome(state) != self.expected:
                        return number
            layer = following
            self.depth += bool(layer)
        return None

    def _see(self, state: Any, parent: int) -> tuple[int, bool]:
        key = state
        if isinstance(state, bytes) and len(state) > 32:
            key = blake2b(state, digest_size=16).digest()
        number = self.seen.get(key)
        if number is not None:
            return number, False
        number = self.seen[key] = len(self.parents)
        self.parents.append(parent)
        if number >= self.limit:
            raise error(
                "TL1045", f"more than {self.limit:,} configurations, runs of {self.depth} steps so far",
                help="take a smaller network or burst, or raise the limit; a program that never settles has no end",
            )  # fmt: skip
        if self.progress and number % 10_000 == 0:
            self.progress(number, self.depth)
        return number, True

    def count_runs(self) -> int | None:
        """How many runs there are; None if some run never ends (the configurations form a cycle)."""
        count = len(self.parents)
        entering = array("q", bytes(8 * count))
        outgoing: list[list[int]] = [[] for _ in range(count)]
        for source, target in zip(self.sources, self.targets, strict=True):
            entering[target] += 1
            outgoing[source].append(target)
        ways = [0] * count
        ways[0] = 1
        ready, done = [0], 0
        while ready:
            number = ready.pop()
            done += 1
            for target in outgoing[number]:
                ways[target] += ways[number]
                entering[target] -= 1
                if not entering[target]:
                    ready.append(target)
        return sum(ways[f] for f in self.final) if done == count else None

    def steps_to(self, number: int) -> tuple[Step, ...]:
        """A shortest run to a configuration, replayed from the start."""
        path: list[int] = []
        while number > 0:
            path.append(number)
            number = self.parents[number]
        state = self.system.initial()
        steps: list[Step] = []
        for target in reversed(path):
            for picked, then in self.system.moves(state, self.reduce):
                key = blake2b(then, digest_size=16).digest() if isinstance(then, bytes) and len(then) > 32 else then
                if self.seen.get(key) == target:
                    state = then
                    steps.append(Step(picked, self.system.show(then)))
                    break
        return tuple(steps)
