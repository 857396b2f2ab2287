"""The workloads: real ones from the data folder when it is there, generated ones always.

The data folder is $TIDELOG_DATA or ../shared/data beside the repository; archives are unpacked once into the cache.
"""

from __future__ import annotations

import os
import random
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tidelog" / "workloads"


@dataclass(frozen=True)
class Workload:
    """A program, a folder of facts, and the sizes that it must give (empty: whatever it gives is only shown)."""

    name: str
    program: Path
    facts: Path
    expected: dict[str, int] = field(default_factory=dict)
    closure: bool = False  # whether peers can run it as a transitive closure


def data_folder() -> Path | None:
    folder = Path(os.environ.get("TIDELOG_DATA", REPOSITORY.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


REAL: tuple[tuple[str, str | None, dict[str, int], bool], ...] = (
    ("galen", "galen.dl", {"p": 7_560_179, "q": 16_595_494}, False),
    ("crdt", "crdt.dl", {"result": 104_653}, False),  # 104,851 pairs of operations, fewer of their counters
    ("doop", None, {}, False),
    ("cspa10k", "cspa.dl", {"value_flow": 30_152, "value_alias": 384_485, "memory_alias": 112_761}, False),
    ("csda100k", "csda.dl", {"null": 170_698}, False),
    ("ego_facebook", "closure.dl", {"path": 2_508_102}, True),
    ("cal_cedge", "closure.dl", {"path": 501_755}, True),
    ("sf_cedge", "closure.dl", {}, True),
)


def workloads() -> Iterator[Workload]:
    """Everything that can be run here."""
    data = data_folder()
    for name, program, expected, closure in REAL if data else ():
        archive = data / f"{name}.tar.xz" if data else Path()
        if archive.is_file():
            path = HERE / "programs" / f"{name}.dl" if program is None else archive.parent / "programs" / program
            yield Workload(name, path, unpacked(archive, name), expected, closure)
    for name, program, make in GENERATED:
        yield Workload(name, HERE / "programs" / program, generated(name, make), closure=program == "closure.dl")


def unpacked(archive: Path, name: str) -> Path:
    folder = CACHE / name
    if not folder.is_dir():
        partial = folder.with_suffix(".partial")
        with tarfile.open(archive) as tar:
            tar.extractall(partial, filter="data")
        partial.rename(folder)
    return folder


Pairs = set[tuple[int, int]]


def generated(name: str, make: Callable[[random.Random], dict[str, Pairs]]) -> Path:
    """The folder of a generated workload's facts, which are written if it is not there. Several may ask at once."""
    folder = CACHE / name
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=CACHE))
        for relation, rows in make(random.Random(1)).items():
            text = "".join("\t".join(map(str, row)) + "\n" for row in sorted(rows))
            (partial / f"{relation}.facts").write_text(text)
        try:
            partial.rename(folder)
        except OSError:  # someone else was faster
            shutil.rmtree(partial)
    return folder


def _random_graph(nodes: int, edges: int) -> Callable[[random.Random], dict[str, Pairs]]:
    def make(numbers: random.Random) -> dict[str, Pairs]:
        found: Pairs = set()
        while len(found) < edges:
            found.add((numbers.randrange(nodes), numbers.randrange(nodes)))
        return {"edge": found}

    return make


def _tree(depth: int) -> Callable[[random.Random], dict[str, Pairs]]:
    return lambda _: {"parent": {(child, (child - 1) // 2) for child in range(1, 2**depth - 1)}}


def _grid(side: int) -> Callable[[random.Random], dict[str, Pairs]]:
    def make(_: random.Random) -> dict[str, Pairs]:
        cells = [(x, y) for x in range(side) for y in range(side)]
        right = {(x * side + y, x * side + y + 1) for x, y in cells if y + 1 < side}
        down = {(x * side + y, (x + 1) * side + y) for x, y in cells if x + 1 < side}
        return {"edge": right | down}

    return make


GENERATED = (
    ("closure_random", "closure.dl", _random_graph(2_000, 10_000)),
    ("closure_grid", "closure.dl", _grid(50)),
    ("same_generation", "same_generation.dl", _tree(12)),
    ("triangles", "triangles.dl", _random_graph(30_000, 600_000)),
    ("equivalence", "equivalence.dl", _random_graph(100_000, 200_000)),
    ("equivalence_small", "equivalence.dl", _random_graph(2_000, 3_000)),
    ("equivalence_listed", "equivalence_listed.dl", _random_graph(2_000, 3_000)),
    ("subsumption", "subsumption.dl", _grid(150)),
    ("choice", "choice.dl", _random_graph(100_000, 400_000)),
)
