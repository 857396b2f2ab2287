"""The model checker: every interleaving of a small network, compared with evaluation from scratch and with SN.

`check` explores the configurations that an algorithm can reach from a state and bursts of updates, each once (identical
updates are one move; configurations are remembered, long ones by a 128-bit digest), breadth first, so that the first
wrong outcome found ends a shortest run. A burst follows when all runs of the one before ended alike. With `reduce`, a
state in which some update disturbs no other one is left by that update alone; a wrong outcome is then looked for again
without the reduction, to show a shortest run.

A run ends well if nothing waits, its facts are those that evaluation from scratch gives for the base facts (`scratch`),
and its copies are those of SN.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

from tidelog.errors import TidelogError, error
from tidelog.net import algorithms, scratch
from tidelog.net.configuration import Configuration
from tidelog.net.derivations import Derivations
from tidelog.net.exhibits import EXHIBITS
from tidelog.net.ledger import Ledger
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.sn import materialise, sn
from tidelog.net.systems import CELLS, CommandPsn, GroundPsn, System, TooNarrow
from tidelog.net.values import Fact, Update, show_counts
from tidelog.plain import dataclass, replace

DEFAULT_LIMIT = 5_000_000
_UPDATES_PER_CONFIGURATION = 1_000
ALGORITHMS = (*algorithms.ALGORITHMS, *EXHIBITS)

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
    """`holds`: every run ends in the right state. `counterexample` is a shortest run that does not, of `burst`."""

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
    waiting: tuple[str, ...] = ()
    burst: int = 1
    bursts: int = 1
    left_out: tuple[Update, ...] = ()
    judge: str = "SN"

    def __str__(self) -> str:
        size = f"{self.configurations:,} configurations, {self.transitions:,} transitions"
        if self.holds and self.reduced:
            runs = f"{self.runs:,} runs stand for all"
            return f"all runs reach the state of evaluation from scratch, {self.expected} ({runs}; {size})"
        if self.holds:
            return f"all {self.runs:,} runs reach the state of evaluation from scratch, {self.expected} ({size})"
        where = f" in burst {self.burst}" if self.bursts > 1 else ""
        if self.endless:
            return f"some run of {self.algorithm} never ends{where} ({size})"
        if self.judge != "SN" and not self.counterexample:
            return (
                f"{self.algorithm} does not end in the state of evaluation from scratch{where}\n"
                f"SN:            {self.reached}\nfrom scratch:  {self.expected}"
            )
        lines = [f"a run of {self.algorithm} does not reach the state of {self.judge}{where} ({size})"]
        lines.append(f"     {self.start}")
        lines += [f"{i:3}. {step}" for i, step in enumerate(self.counterexample, 1)]
        lines += [f"     {deletion} waits for ever" for deletion in self.waiting]
        return "\n".join([*lines, f"{self.judge}:  {self.expected}"])


def check(
    program: NetProgram,
    facts: Iterable[Fact] = (),
    updates: Iterable[Update] = (),
    algorithm: str = "psn",
    **options: Any,
) -> Verdict:
    """Whether every run of the algorithm on the program, its facts and a burst of updates ends in the right state.

    The options are those of `check_bursts`.
    """
    return check_bursts(program, facts, [list(updates)], algorithm, **options)


def check_bursts(
    program: NetProgram,
    facts: Iterable[Fact],
    bursts: Sequence[Sequence[Update]],
    algorithm: str = "auto",
    *,
    picking: int | None = 1,
    reduce: bool = True,
    limit: int = DEFAULT_LIMIT,
    most_updates: int = DEFAULT_LIMIT,
    progress: Progress | None = None,
) -> Verdict:
    """Whether every run of the algorithm, burst by burst, ends in the right state.

    `picking` is the most updates of one iteration (None: any number). `limit` bounds the configurations explored and
    `most_updates` what SN and evaluation from scratch make, so that a program that never settles is reported.
    """
    if algorithm not in ALGORITHMS:
        raise error("TL1044", f"there is no algorithm `{algorithm}`", help=f"there are {', '.join(ALGORITHMS)}")
    ledger = Ledger(program.keys)
    ledger.admit(Update(1, f) for f in (*program.facts, *facts))
    base = list(ledger.counts.elements())
    exhibit = EXHIBITS.get(algorithm)
    if exhibit is not None:
        running, derivations = program, Derivations() if program.recursive else None
        name = algorithm
    else:
        known = [*base, *(u.fact for burst in bursts for u in burst if u.sign > 0)]
        method = algorithms.choose(algorithm, program, known)
        (running, derivations), name = method.start(program), method.algorithm
    start = materialise(replace(running, facts=()), base, derivations, Meter(most_updates))
    judge = _Judge(program, most_updates)
    first = judge.start(start, ledger, name)
    if first is not None:
        return first
    total: Verdict | None = None
    for number, burst in enumerate(bursts, 1):
        admitted, left_out = ledger.admit(burst)
        goal = start.copy()
        goal.meter = Meter(most_updates)
        goal.insert(admitted)
        sn(goal)
        start.meter = Meter(limit * _UPDATES_PER_CONFIGURATION)  # of the whole exploration, not of one run
        judge.expect(goal, ledger)
        if exhibit is not None:
            shown = exhibit(program, start.counts(), admitted, start.meter)
            judge.outcome = shown.expects(goal.counts())
            makers: list[Callable[[], System]] = [lambda shown=shown: shown]  # type: ignore[misc]
        elif picking == 1:
            start.insert(admitted)
            makers = [lambda width=width, start=start: GroundPsn(start, width) for width in CELLS]  # type: ignore[misc]
        else:
            start.insert(admitted)
            makers = [lambda start=start: CommandPsn(start, picking)]  # type: ignore[misc]
        verdict = _explore(makers, judge, name, reduce, limit, progress)
        verdict = replace(verdict, burst=number, bursts=len(bursts), left_out=tuple(left_out))
        total = verdict if total is None else _together(total, verdict)
        if not verdict.holds:
            break
        start = goal
    assert total is not None
    return total


class _Judge:
    """What a run has to end in. For exhibits, which are about SN's state, only that is asked."""

    def __init__(self, program: NetProgram, limit: int) -> None:
        self.program = program.original or program
        self.limit = limit
        self.outcome: Hashable = None
        self.facts: frozenset[Fact] = frozenset()
        self.shown = ""

    def start(self, start: Configuration, ledger: Ledger, algorithm: str) -> Verdict | None:
        """A verdict if the state that the bursts start from is wrong already."""
        self.expect(start, ledger)
        found = self._own(start.facts())
        if found == self.facts:
            return None
        return Verdict(
            False, algorithm, 1, 0, 0, 0, False, show_counts(dict.fromkeys(self.facts, 1)), burst=0,
            reached=show_counts(dict.fromkeys(found, 1)), judge="evaluation from scratch",
        )  # fmt: skip

    def expect(self, goal: Configuration, ledger: Ledger) -> None:
        """The burst must end in SN's copies, and in the facts that evaluation from scratch gives."""
        self.outcome = frozenset(goal.view().items())
        self.facts = self._own(scratch.evaluate(replace(self.program, facts=()), ledger.counts, self.limit))
        self.shown = show_counts(goal.counts())

    def wrong(self, system: System, state: Any) -> tuple[str, str] | None:
        """Who says that the outcome is wrong, and what it should be."""
        found = self._own(system.facts(state))
        if found != self.facts:
            return "evaluation from scratch", show_counts(dict.fromkeys(self.facts, 1))
        return None if system.outcome(state) == self.outcome and not system.waiting(state) else ("SN", self.shown)

    def _own(self, facts: Iterable[Fact]) -> frozenset[Fact]:
        """The facts of relations that the program itself speaks of."""
        return frozenset(f for f in facts if f.name in self.program.arity)


def _together(one: Verdict, other: Verdict) -> Verdict:
    return replace(
        other, configurations=one.configurations + other.configurations,
        transitions=one.transitions + other.transitions, runs=one.runs * other.runs,
        longest=one.longest + other.longest, left_out=one.left_out + other.left_out,
    )  # fmt: skip


def _explore(
    makers: list[Callable[[], System]], judge: _Judge, algorithm: str, reduce: bool, limit: int,
    progress: Progress | None,
) -> Verdict:  # fmt: skip
    """The verdict on a burst, with cells as narrow as the counts allow."""
    for make in makers:
        try:
            return _judged(make(), judge, algorithm, reduce, limit, progress)
        except TooNarrow:
            continue
    raise error("TL1043", "a fact has more than 2^64 copies")


def _judged(
    system: System, judge: _Judge, algorithm: str, reduce: bool, limit: int, progress: Progress | None
) -> Verdict:
    reduce = reduce and system.reduces
    search = Exploration(system, judge, reduce, limit, progress)
    wrong = search.run()
    if wrong is not None and reduce:
        again = Exploration(system, judge, False, limit, progress)
        try:
            found = again.run()
        except TidelogError:
            found = None
        if found is not None:
            search, wrong = again, found
    runs = search.count_runs() if wrong is None else 0
    steps = search.steps_to(wrong) if wrong is not None else ()
    who, expected = search.verdict or ("SN", judge.shown)
    waiting = tuple(str(u) if n == 1 else f"{u} × {n}" for u, n in search.waiting)
    return Verdict(
        wrong is None and runs is not None, algorithm, len(search.seen), search.transitions, runs or 0, search.depth,
        search.reduce, expected, system.show(system.initial()), steps, steps[-1].state if steps else "",
        wrong is None and runs is None, waiting, judge=who,
    )  # fmt: skip


class Exploration:
    """Breadth-first exploration of a system."""

    def __init__(
        self, system: System, judge: _Judge, reduce: bool, limit: int, progress: Progress | None = None
    ) -> None:
        self.system, self.judge, self.reduce = system, judge, reduce
        self.limit, self.progress = limit, progress
        self.seen: dict[Any, int] = {}
        self.parents = array("q")
        self.sources, self.targets = array("q"), array("q")
        self.final = array("q")
        self.depth = 0
        self.verdict: tuple[str, str] | None = None
        self.waiting: list[tuple[Update, int]] = []

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
                    self.verdict = self.judge.wrong(self.system, state)
                    if self.verdict is not None:
                        self.waiting = self.system.waiting(state)
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
