"""A run as it is asked for: a program, an algorithm, a schedule; in one process or in several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TextIO

from tidelog.errors import error
from tidelog.net.algorithms import START_OVER, Method, choose
from tidelog.net.meter import DEFAULT_LIMIT, Meter
from tidelog.net.program import NetProgram, load_local
from tidelog.net.runtime import inputs, topology_files
from tidelog.net.runtime.network import Convergence, Network, News
from tidelog.net.runtime.topologies import Link, Topology
from tidelog.net.runtime.trace import Trace
from tidelog.net.runtime.transport import InProcess
from tidelog.net.schedulers import Scheduler, scheduler
from tidelog.net.values import Fact, Update, Value, show
from tidelog.plain import dataclass, replace

MOST_RECORDS_ON_A_PAGE = 20_000


@dataclass(frozen=True)
class Setting:
    """Everything that decides a run but its facts and updates.

    With `auto`, the method is right for any facts; `for_facts` may find a cheaper one that is right for those given.
    """

    text: str
    name: str
    program: NetProgram
    original: frozenset[str]
    asked: str
    method: Method
    schedule: str = "fifo"
    seed: int = 0
    starve: Value | None = None
    delays: tuple[Link, ...] = ()
    batch: bool = False
    cancel: bool = False
    limit: int = DEFAULT_LIMIT
    processes: int = 1

    @staticmethod
    def load(
        path: Path,
        *,
        schedule: str = "fifo",
        seed: int = 0,
        starve: str | None = None,
        delays: Path | None = None,
        algorithm: str = "auto",
        batch: bool = False,
        cancel: bool = False,
        limit: int | None = None,
        processes: int = 1,
    ) -> Setting:
        text, name = inputs.read_text(path), str(path)
        if (schedule == "starve") != (starve is not None):
            raise error(
                "TL1042", "--schedule starve and --starve NODE go together", help="--starve names the node that waits"
            )  # fmt: skip
        if delays and schedule != "delays":
            raise error("TL1042", "--delays FILE is for --schedule delays")
        place: Value | None = int(starve) if starve and starve.isdecimal() else starve
        program = load_local(text, name)
        original = program.original or program
        setting = Setting(
            text, name, program, frozenset(original.arity), algorithm, choose(algorithm, program), schedule, seed,
            place, delays_of(delays) if delays else (), batch, cancel, limit or DEFAULT_LIMIT, processes,
        )  # fmt: skip
        setting.scheduler()
        return setting

    def for_facts(self, facts: Iterable[Fact]) -> Setting:
        """The setting of a run on these base facts: those at the start and all that updates insert."""
        return replace(self, method=choose(self.asked, self.program, facts))

    def scheduler(self) -> Scheduler:
        return scheduler(self.schedule, self.seed, self.starve, {(a, b): delay for a, b, delay in self.delays})

    @property
    def described(self) -> str:
        processes = f", {self.processes} processes" if self.processes > 1 else ""
        return f"{self.method.described}, {self.schedule}{processes}"


class Launched(Protocol):
    """A network that runs, wherever it is."""

    @property
    def size(self) -> int:
        """How many nodes have been spoken to."""

    @property
    def trace(self) -> Trace | None: ...

    def burst(self, updates: Iterable[Update]) -> Convergence: ...

    def facts(self) -> frozenset[Fact]: ...


class OneProcess:
    def __init__(self, setting: Setting, trace: Trace | None = None, news: News | None = None) -> None:
        self.trace = trace
        program, derivations = setting.method.start(setting.program)
        self.network = Network(
            program, InProcess(setting.scheduler()), derivations, Meter(setting.limit), setting.batch, setting.cancel,
            trace, news, start_over=START_OVER if setting.asked == "auto" and derivations is not None else None,
        )  # fmt: skip

    @property
    def size(self) -> int:
        return len(self.network.nodes)

    def burst(self, updates: Iterable[Update]) -> Convergence:
        return self.network.burst(updates)

    def facts(self) -> frozenset[Fact]:
        return self.network.facts()


@contextmanager
def launch(
    setting: Setting,
    topology: Topology | None = None,
    trace_to: TextIO | None = None,
    keep_trace: bool = False,
    news: News | None = None,
) -> Iterator[Launched]:
    """The network of a setting; with several processes they end when the context does."""
    trace = None
    if trace_to or keep_trace:
        trace = Trace(trace_to, MOST_RECORDS_ON_A_PAGE if keep_trace else 0)
        nodes = topology.nodes if topology else ()
        links = [(a, b) for a, b, _ in topology.links] if topology else []
        trace.network(nodes, links, program=setting.text, schedule=setting.schedule, seed=setting.seed)
    if setting.processes == 1:
        yield OneProcess(setting, trace, news)
        return
    from tidelog.net.runtime.pool import Pool
    from tidelog.net.runtime.processes import ManyProcesses

    with Pool(setting.processes) as pool:
        yield ManyProcesses(setting, pool, trace, news)


def delays_of(path: Path) -> tuple[Link, ...]:
    """The delay of each link, in both directions unless the file says otherwise: a topology whose costs are delays."""
    found = tuple(topology_files.read(path).both_ways())
    for a, b, delay in found:
        if delay < 0:
            raise error("TL1051", f"the link from {show(a)} to {show(b)} cannot take {delay} units of time")
    return found
