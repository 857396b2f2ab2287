"""How far workers are with an evaluation: told with their signs of life, and shown to whoever watches."""

from __future__ import annotations

from tidelog.evaluate.limits import Observer
from tidelog.plain import dataclass, replace
from tidelog.wire.messages import Beat


@dataclass(frozen=True)
class Stage:
    """How far an evaluation is: the stratum, of how many, its relations; the iteration and the tuples in it."""

    stratum: int
    strata: int
    relations: tuple[str, ...]
    iteration: int = 0
    tuples: int = 0

    @property
    def place(self) -> tuple[int, int, tuple[str, ...]]:
        return self.stratum, self.strata, self.relations


@dataclass(frozen=True)
class WorkerBeat(Beat):
    """A sign of life of a worker that may be evaluating."""

    stage: Stage | None = None


class StageObserver:
    """An evaluate.limits.Observer that remembers how far the worker is."""

    def __init__(self) -> None:
        self.stage: Stage | None = None

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None:
        self.stage = Stage(number, total, relations)

    def progress(self, iteration: int, tuples: int) -> None:
        if self.stage is not None:
            self.stage = replace(self.stage, iteration=iteration, tuples=tuples)


class SlowestWorker:
    """Tells an observer of the stratum that workers are at: the iteration of the slowest of them, the tuples of all."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._stages: dict[int, Stage] = {}
        self._shown: Stage | None = None

    def __call__(self, beat: Beat) -> None:
        stage = beat.stage if isinstance(beat, WorkerBeat) else None
        if stage is None:
            self._stages.pop(beat.worker, None)
            return
        self._stages[beat.worker] = stage
        last = max(each.stratum for each in self._stages.values())
        there = [each for each in self._stages.values() if each.stratum == last]  # others have nothing to do with it
        slowest = min(there, key=lambda each: each.iteration)
        if self._shown is None or self._shown.place != slowest.place:
            self._observer.stratum(*slowest.place)
        self._shown = slowest
        self._observer.progress(slowest.iteration, sum(each.tuples for each in there))
