"""Progress of several workers: the stratum they are at, the iteration of the slowest, the tuples of all."""

from __future__ import annotations

from tidelog.exchange.stage import SlowestWorker, Stage, WorkerBeat


class Seen:
    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None:
        self.told.append((number, total, *relations))

    def progress(self, iteration: int, tuples: int) -> None:
        self.told.append((iteration, tuples))


def test_the_slowest_of_those_at_the_last_stratum_is_shown() -> None:
    seen = Seen()
    watch = SlowestWorker(seen)
    watch(WorkerBeat(0, 7, 0, None))
    watch(WorkerBeat(0, 7, 0, Stage(1, 3, ("p",), 5, 100)))
    watch(WorkerBeat(1, 7, 0, Stage(1, 3, ("p",), 4, 50)))
    watch(WorkerBeat(1, 7, 0, Stage(2, 3, ("q",), 1, 9)))
    watch(WorkerBeat(0, 7, 0, Stage(2, 3, ("q",), 2, 1)))
    assert seen.told == [(1, 3, "p"), (5, 100), (4, 150), (2, 3, "q"), (1, 9), (1, 10)]
