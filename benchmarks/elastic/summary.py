"""Records put together: what a job measured, by workload and strategy."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks.elastic.jobs import SIZES, STRATEGIES
from benchmarks.elastic.runner import Record


@dataclass(frozen=True)
class Span:
    """Several measurements of one thing."""

    values: tuple[float, ...]

    @property
    def least(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def most(self) -> float:
        return max(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)


@dataclass
class Results:
    """The records of epochs, and those of the runs that they are from."""

    epochs: list[Record]
    runs: list[Record]

    @staticmethod
    def of(records: Iterable[Record], clock: str = "wall") -> Results:
        """`clock` is "wall", or "cpu" for seconds of the processor, which a busy machine disturbs less."""
        found = list(records)
        if clock == "cpu":
            found = [{**r, "seconds": r["cpu"], "ready": r["ready_cpu"]} if "cpu" in r else r for r in found]
        epochs = [r for r in found if "run" not in r]
        used = {r.get("of") for r in epochs}
        return Results(epochs, [r for r in found if "run" in r and r["run"] in used])

    def where(self, **values: object) -> list[Record]:
        """The records with these values."""
        return [r for r in self.epochs if all(r.get(name) == value for name, value in values.items())]

    def workloads(self, experiment: str) -> list[str]:
        named = {r["workload"] for r in self.epochs if r["experiment"] == experiment}
        order = list(SIZES)
        return sorted(named, key=lambda w: (order.index(w) if w in order else len(order), len(w), w))

    def strategies(self, experiment: str, workload: str) -> list[str]:
        return in_order(r["strategy"] for r in self.where(experiment=experiment, workload=workload))


def in_order(strategies: Iterable[str]) -> list[str]:
    return sorted(set(strategies), key=STRATEGIES.index)


def ok(records: Iterable[Record]) -> list[Record]:
    return [r for r in records if r["status"] == "ok"]


def span(records: Iterable[Record], value: str | Callable[[Record], float] = "seconds") -> Span:
    """The values of those that were measured."""
    read = value if callable(value) else lambda r: r[value]
    return Span(tuple(read(r) for r in ok(records)))


def whole(record: Record) -> float:
    """All the time that an epoch takes: the call, and what it put off."""
    return float(record["seconds"] + record["ready"])


def outcome(records: Iterable[Record]) -> str:
    """What to write where there is no figure."""
    statuses = {r["status"] for r in records}
    for status in ("failed", "out of memory", "timeout", "unavailable", "left out"):
        if status in statuses:
            return status
    return "–"


def total(records: list[Record]) -> float | None:
    """The seconds of a mixed workload, if all of its epochs were measured."""
    return sum(map(whole, records)) if records and len(ok(records)) == len(records) else None


def seconds(value: float) -> str:
    """Three digits, in the unit that suits."""
    if value < 1e-6:
        return f"{value * 1e9:.3g} ns"
    if value < 0.001:
        return f"{value * 1e6:.3g} µs"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:,.3g} s" if value < 1000 else f"{value:,.0f} s"


def mebibytes(value: float) -> str:
    return f"{value / 2**20:,.0f}"
