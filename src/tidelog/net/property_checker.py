"""Properties of every run of a small network, with the faults that a user allows: a shortest run that breaks one.

Breadth first over the states of `faulty`, each once. `always P` is broken by a state, `finally P` by a state in which
nothing is left to happen, `eventually P` by such a state behind states of which none had P. Faults may happen, and need
not: a run ends where nothing is due, whatever could still go wrong. Without any property a run must end with the facts
that evaluation from scratch gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidelog.errors import error
from tidelog.net import algorithms, scratch
from tidelog.net.checker import DEFAULT_LIMIT, Progress
from tidelog.net.faulty import Allowed, FaultyNetwork, Move, NetworkState
from tidelog.net.ledger import Ledger
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.properties import Property
from tidelog.net.sn import materialise
from tidelog.net.values import Fact, Update, show_counts
from tidelog.plain import dataclass, field, replace

Seen = tuple[bool, ...]
"""Which `eventually` properties have held."""


@dataclass(frozen=True)
class PropertyVerdict:
    """`broken` names the property that the run `moves` breaks; `states` are the facts before and after each move."""

    broken: str | None
    asked: tuple[str, ...]
    configurations: int
    transitions: int
    longest: int
    moves: tuple[Move, ...] = ()
    states: tuple[frozenset[Fact], ...] = ()
    expected: str = ""
    system: FaultyNetwork | None = field(default=None, repr=False)
    path: tuple[NetworkState, ...] = field(default=(), repr=False)
    left_out: tuple[Update, ...] = ()

    @property
    def holds(self) -> bool:
        return self.broken is None

    def __str__(self) -> str:
        size = f"{self.configurations:,} configurations, {self.transitions:,} transitions"
        if self.broken is None:
            return f"in all runs: {'; '.join(self.asked)} ({size})"
        lines = [f"a run breaks: {self.broken} ({size})", f"     {show_counts(dict.fromkeys(self.states[0], 1))}"]
        for i, (move, facts) in enumerate(zip(self.moves, self.states[1:], strict=True), 1):
            lines.append(f"{i:3}. {move}  ⟶  {show_counts(dict.fromkeys(facts, 1))}")
        return "\n".join([*lines, f"expected:  {self.expected}"] if self.expected else lines)


def check_properties(
    program: NetProgram,
    facts: Iterable[Fact],
    bursts: Sequence[Sequence[Update]],
    properties: Sequence[Property] = (),
    allowed: Allowed = Allowed(),  # noqa: B008
    algorithm: str = "auto",
    *,
    limit: int = DEFAULT_LIMIT,
    progress: Progress | None = None,
) -> PropertyVerdict:
    """Whether all runs have the properties, with any of the faults that are allowed, anywhere."""
    ledger = Ledger(program.keys)
    ledger.admit(Update(1, f) for f in (*program.facts, *facts))
    base = list(ledger.counts.elements())
    known = [*base, *(u.fact for burst in bursts for u in burst if u.sign > 0)]
    running, derivations = algorithms.choose(algorithm, program, known).start(program)
    start = materialise(replace(running, facts=()), base, derivations, Meter(limit))
    admitted, left_out = [], list[Update]()
    for burst in bursts:
        done, without = ledger.admit(burst)
        admitted.append(done)
        left_out += without
    original = program.original or program
    end = scratch.evaluate(replace(original, facts=()), ledger.counts, limit) if not properties else frozenset()
    system = FaultyNetwork(start, admitted, allowed, limit * 1_000)
    search = _Search(system, list(properties), _own(end, original), original, limit, progress)
    broken = search.run()
    asked = tuple(map(str, properties)) or ("finally the facts of evaluation from scratch",)
    verdict = PropertyVerdict(
        broken, asked, len(search.seen), search.transitions, search.depth, left_out=tuple(left_out)
    )
    if broken is None:
        return verdict
    path, moves = search.path()
    states = tuple(_own(system.facts(state), original) for state, _ in path)
    shown = show_counts(dict.fromkeys(_own(end, original), 1)) if not properties else ""
    return replace(
        verdict, moves=tuple(moves), states=states, expected=shown, system=system, path=tuple(s for s, _ in path)
    )  # fmt: skip


def _own(facts: Iterable[Fact], program: NetProgram) -> frozenset[Fact]:
    """The facts of relations that the program as written speaks of."""
    return frozenset(f for f in facts if f.name in program.arity)


class _Search:
    def __init__(
        self,
        system: FaultyNetwork,
        properties: list[Property],
        end: frozenset[Fact],
        program: NetProgram,
        limit: int,
        progress: Progress | None,
    ) -> None:
        self.system, self.end, self.program = system, end, program
        self.limit, self.progress = limit, progress
        self.always = [p for p in properties if p.when == "always"]
        self.eventually = [p for p in properties if p.when == "eventually"]
        self.final = [p for p in properties if p.when == "finally"]
        self.judges_end = not properties
        self.seen: dict[tuple[NetworkState, Seen], tuple[tuple[NetworkState, Seen], Move] | None] = {}
        self.transitions = self.depth = 0
        self.last: tuple[NetworkState, Seen] | None = None

    def run(self) -> str | None:
        """The property that a shortest run breaks; None if all runs have all of them."""
        first = self._entered(self.system.first, (False,) * len(self.eventually))
        self.seen[first] = None
        layer = [first]
        while layer:
            following: list[tuple[NetworkState, Seen]] = []
            for here in layer:
                broken = self._broken(here)
                if broken is not None:
                    self.last = here
                    return broken
                due = self.system.due(here[0])
                if not due:
                    broken = self._broken_at_end(here)
                    if broken is not None:
                        self.last = here
                        return broken
                for move, state in (*due, *self.system.faults(here[0])):
                    self.transitions += 1
                    then = self._entered(state, here[1])
                    if then not in self.seen:
                        self._count()
                        self.seen[then] = (here, move)
                        following.append(then)
            layer = following
            self.depth += bool(layer)
        return None

    def path(self) -> tuple[list[tuple[NetworkState, Seen]], list[Move]]:
        """The run to the state at which the search ended."""
        assert self.last is not None
        states, moves = [self.last], list[Move]()
        while (before := self.seen[states[-1]]) is not None:
            states.append(before[0])
            moves.append(before[1])
        return states[::-1], moves[::-1]

    def _entered(self, state: NetworkState, seen: Seen) -> tuple[NetworkState, Seen]:
        if not self.eventually or all(seen):
            return state, seen
        facts = list(self.system.facts(state))
        return state, tuple(s or p.holds(facts) for s, p in zip(seen, self.eventually, strict=True))

    def _broken(self, here: tuple[NetworkState, Seen]) -> str | None:
        if not self.always:
            return None
        facts = list(self.system.facts(here[0]))
        return next((str(p) for p in self.always if not p.holds(facts)), None)

    def _broken_at_end(self, here: tuple[NetworkState, Seen]) -> str | None:
        facts = list(self.system.facts(here[0]))
        for p, held in zip(self.eventually, here[1], strict=True):
            if not held:
                return str(p)
        if self.judges_end and _own(facts, self.program) != self.end:
            return "finally the facts of evaluation from scratch"
        return next((str(p) for p in self.final if not p.holds(facts)), None)

    def _count(self) -> None:
        number = len(self.seen)
        if number >= self.limit:
            raise error(
                "TL1045", f"more than {self.limit:,} configurations, runs of {self.depth} steps so far",
                help="take a smaller network or burst, or raise the limit; a program that never settles has no end",
            )  # fmt: skip
        if self.progress and number % 10_000 == 0:
            self.progress(number, self.depth)
