"""What is measured: each job is a program, facts, a strategy and a list of epochs, in a process of its own.

There are two kinds of jobs. *Cycles* (section 5.1): for each size some sets of facts, each deleted in one epoch and
inserted in the next. *Mixed* (section 5.2): 13 epochs, small changes and two large ones. The other experiments are
cycles over inputs of their own: `bootstrap` has no changes at all, `small` many of ten facts, `chain` deletes the edge
in the middle of a chain, `copies` changes one of many disjoint copies of a graph.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial

from benchmarks.batch.workloads import HERE as BATCH
from benchmarks.batch.workloads import Pairs, Workload, generated, workloads

STRATEGIES = ("plain", "batch", "counting", "update-paper", "update", "elastic")
"""Those of the engine, and "plain": evaluation anew without finding what changed, as a batch engine would do it."""
EXPERIMENTS = ("bootstrap", "cycles", "mixed", "small", "chain", "copies", "switches")
SMALL = 10
SIZES: dict[str, tuple[int, ...]] = {
    "doop": (10, 100, 400, 700, 1_000),  # of the paper, as the next two
    "crdt": (10, 40, 70, 100),
    "galen": (10, 10_000, 40_000, 70_000, 100_000),
    "cspa10k": (10, 100, 500, 1_000, 2_000),
    "csda100k": (10, 100, 1_000, 10_000, 24_000),
    "ego_facebook": (10, 100, 1_000, 9_000),
    "cal_cedge": (10, 100, 500, 1_000, 2_000),
    "sf_cedge": (10, 100, 1_000, 10_000, 22_000),
    "closure_random": (10, 100, 500, 1_000),
    "closure_grid": (10, 100, 490),
    "same_generation": (10, 100, 400),
    "triangles": (10, 1_000, 10_000, 60_000),
    "tiny": (5, 20),
}
"""The largest is the large change of the mixed workload; for those that the paper does not have, 10 % of the facts."""
CHAINS = (500, 1_000, 2_000, 4_000)
COPIES = (1, 4, 16)
COPY_NODES, COPY_EDGES = 1_000, 1_500
MANY = 30
"""How many sets of facts the experiments `small` and `copies` take."""
SWITCHED = ("cspa10k", "csda100k", "cal_cedge")
"""Where the effect of switches is measured, that of elastic's also on doop, which has many strata; the first workload
if none of them is there."""

Options = dict[str, str | float]
PAPER_SWITCHES: tuple[Options, ...] = ({}, {"diffs": "lazy"}, {"rediscovery": "joined"}, {"scheduling": "textual"})
ELASTIC_SWITCHES: tuple[Options, ...] = (
    {},
    {"switching": "program"},
    {"budget": "seconds"},
    {"switching": "program", "budget": "seconds"},
    {"switch": 0.05},
    {"switch": 1.0},
)


@dataclass(frozen=True)
class EpochKey:
    """Which epoch of a job: of which size of change, which of the sets, and what is done with it."""

    size: int
    number: int
    step: str  # "bootstrap", "delete", "insert"; in the mixed workload "0" to "12"


@dataclass(frozen=True)
class Job:
    """One process. `pool` restricts the facts that are chosen from to the first so many; `fixed` is the change itself,
    by relation, instead of a choice."""

    experiment: str
    kind: str  # "cycles" or "mixed"
    workload: str
    program: str
    facts: str
    strategy: str
    options: Options = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    repeat: int = 1
    repetition: int = 0
    seed: int = 1
    pool: int | None = None
    fixed: dict[str, list[list[int]]] | None = None

    @property
    def variant(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.options.items())

    def name(self) -> dict[str, str | int]:
        """What tells the job from others, in each of its records."""
        return {
            "experiment": self.experiment, "kind": self.kind, "workload": self.workload, "strategy": self.strategy,
            "variant": self.variant, "repetition": self.repetition, "seed": self.seed,
        }  # fmt: skip

    def epochs(self) -> Iterator[EpochKey]:
        """All that it will measure, in this order."""
        if self.kind == "mixed":
            for number, name in enumerate(MIXED):
                yield EpochKey(0 if not name else self.sizes[-1] if name.startswith("L") else SMALL, 0, str(number))
            return
        yield EpochKey(0, 0, "bootstrap")
        for size in self.sizes:
            for number in range(self.repeat):
                yield EpochKey(size, number, "delete")
                yield EpochKey(size, number, "insert")

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Job:
        values = json.loads(text)
        return Job(**{**values, "sizes": tuple(values["sizes"])})


MIXED = ("", "S0-", "S0+", "S1-", "S1+", "S2-", "S2+", "L-", "S3-", "S3+", "S4-", "S4+", "L+")
"""The epochs of Fig. 6: the start, six small ones, a large one, four small ones, a large one; - deletes, + inserts."""


@dataclass(frozen=True)
class Choice:
    """What the command line asked for."""

    workloads: list[str]
    strategies: list[str]
    experiments: list[str]
    sizes: list[int]
    repeat: int
    seed: int
    quick: bool


def jobs(choice: Choice) -> Iterator[Job]:
    found = [w for w in available(choice.quick) if not choice.workloads or w.name in choice.workloads]
    for experiment in EXPERIMENTS:
        if experiment in choice.experiments:
            yield from MAKERS[experiment](choice, found)


def available(quick: bool) -> list[Workload]:
    """The workloads of `benchmarks.batch`; if in a hurry, one that is tiny."""
    if quick:
        return [Workload("tiny", BATCH / "programs" / "closure.dl", generated("tiny", _tiny))]
    return list(workloads())


def _job(
    experiment: str, choice: Choice, workload: Workload, strategy: str, kind: str = "cycles", **more: object
) -> Job:
    return Job(
        experiment, kind, workload.name, str(workload.program), str(workload.facts), strategy, seed=choice.seed,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _sizes(choice: Choice, workload: Workload) -> tuple[int, ...]:
    return tuple(choice.sizes) or SIZES.get(workload.name, (10, 100))


def _bootstrap(choice: Choice, found: list[Workload]) -> Iterator[Job]:
    wanted = [s for s in ("plain", "elastic") if s in choice.strategies]
    for workload in found:
        for repetition in range(min(choice.repeat, 3)):
            for strategy in wanted:
                yield _job("bootstrap", choice, workload, strategy, repetition=repetition)


def _cycles(choice: Choice, found: list[Workload]) -> Iterator[Job]:
    for workload in found:
        for strategy in choice.strategies:
            yield _job(
                "cycles", choice, workload, strategy, sizes=_sizes(choice, workload), repeat=choice.repeat
            )  # fmt: skip


def _mixed(choice: Choice, found: list[Workload]) -> Iterator[Job]:
    for workload in found:
        for strategy in choice.strategies:
            yield _job("mixed", choice, workload, strategy, "mixed", sizes=_sizes(choice, workload))


def _small(choice: Choice, found: list[Workload]) -> Iterator[Job]:
    for workload in found:
        if workload.name in ("galen", "tiny") and "elastic" in choice.strategies:
            many = 3 if choice.quick else MANY
            yield _job("small", choice, workload, "elastic", sizes=(SMALL,), repeat=many)


def _chain(choice: Choice, found: list[Workload]) -> Iterator[Job]:
    strategies = [s for s in choice.strategies if s != "batch"]
    for nodes in (30, 60) if choice.quick else CHAINS:
        folder = generated(f"chain{nodes}", partial(_chained, nodes=nodes))
        workload = Workload(f"chain{nodes}", BATCH / "programs" / "closure.dl", folder)
        middle = {"edge": [[nodes // 2 - 1, nodes // 2]]}
        for strategy in strategies[-1:] if choice.quick else strategies:
            yield _job(
                "chain", choice, workload, strategy, sizes=(1,), repeat=min(choice.repeat, 3), fixed=middle
            )  # fmt: skip


def _copies(choice: Choice, found: list[Workload]) -> Iterator[Job]:
    strategies = [s for s in choice.strategies if s in ("update", "elastic", "counting")]
    for copies in (1, 2) if choice.quick else COPIES:
        folder = generated(f"copies{copies}of{COPY_EDGES}", partial(_copied, copies=copies))
        workload = Workload(f"copies{copies}", BATCH / "programs" / "closure.dl", folder)
        for strategy in strategies[-1:] if choice.quick else strategies:
            yield _job(
                "copies", choice, workload, strategy,
                sizes=(SMALL,), repeat=3 if choice.quick else MANY, pool=COPY_EDGES,
            )  # fmt: skip


def _switches(choice: Choice, found: list[Workload]) -> Iterator[Job]:
    named = [w for w in found if w.name in (*SWITCHED, "doop") or w.name in choice.workloads]
    for workload in named or found[:1]:
        sizes = _sizes(choice, workload)
        for options in PAPER_SWITCHES if "update-paper" in choice.strategies and workload.name != "doop" else ():
            yield _job(
                "switches", choice, workload, "update-paper",
                options=options, sizes=sizes[:2], repeat=min(choice.repeat, 3),
            )  # fmt: skip
        for options in ELASTIC_SWITCHES[: 2 if choice.quick else None] if "elastic" in choice.strategies else ():
            yield _job("switches", choice, workload, "elastic", "mixed", options=options, sizes=sizes)


MAKERS = {
    "bootstrap": _bootstrap, "cycles": _cycles, "mixed": _mixed, "small": _small, "chain": _chain, "copies": _copies,
    "switches": _switches,
}  # fmt: skip


def _tiny(numbers: random.Random) -> dict[str, Pairs]:
    return {"edge": {(a, a + numbers.randrange(1, 10)) for a in range(150) for _ in range(2)}}


def _chained(_: random.Random, nodes: int) -> dict[str, Pairs]:
    return {"edge": {(node, node + 1) for node in range(nodes - 1)}}


def _copied(numbers: random.Random, copies: int) -> dict[str, Pairs]:
    """Disjoint copies of a graph whose nodes reach some way ahead; the first copy has the smallest numbers."""
    one: Pairs = set()
    while len(one) < COPY_EDGES:
        node = numbers.randrange(COPY_NODES)
        one.add((node, node + numbers.randrange(1, 40)))
    step = 2 * COPY_NODES
    return {"edge": {(a + step * copy, b + step * copy) for a, b in one for copy in range(copies)}}
