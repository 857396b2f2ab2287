"""Workers of a program on the seeded transport, asked as those of other processes are."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tidelog.analysis.checked import Checked
from tidelog.epochs.budget import Policy
from tidelog.evaluate.limits import Limits
from tidelog.exchange.front import Front
from tidelog.exchange.many import Many
from tidelog.exchange.part_worker import PartWorker
from tidelog.exchange.questions import KINDS
from tidelog.exchange.seeded import Seeded
from tidelog.exchange.turns import SeededLine, Turn, in_turns
from tidelog.exchange.workers_engine import WorkersEngine
from tidelog.plan.exchange.placement import Placement, place
from tidelog.wire.messages import Message, Messages
from tidelog.wire.rendezvous import WorkerLost

SPOKEN = Messages(*KINDS)


class ByteLine(SeededLine):
    """A line on which messages are bytes, as between processes."""

    def send(self, to: int, message: Message) -> None:
        super().send(to, through_bytes(message))


class Kills:
    """Kills workers in the middle of questions: up to `most` in an epoch, and not when the epoch is over."""

    def __init__(self, seed: int, most: int = 2) -> None:
        self.random, self.most, self.done, self.left = random.Random(seed), most, 0, 0

    def begin(self) -> None:
        self.left = self.random.randint(0, self.most)

    def strikes(self) -> bool:
        if not self.left or self.random.random() > 0.15:
            return False
        self.left -= 1
        self.done += 1
        return True

    def after(self) -> int:
        """So many steps of all workers."""
        return self.random.choice((0, 1, 3, 10, 30, 100))


class SeededTeam:
    """A `workers.Workers`. What is asked and answered goes through bytes, too."""

    def __init__(
        self, checked: Checked, size: int, seed: int, said: Mapping[str, Placement], kills: Kills | None = None
    ) -> None:
        self.size, self.seeded, self.kills = size, Seeded(size, seed), kills
        self.lines = [ByteLine(transport) for transport in self.seeded.transports]
        self.workers = [PartWorker(checked, {}, Limits(), line, said) for line in self.lines]

    def ask(self, questions: Sequence[Message]) -> list[Message]:
        work = [partial(self._answer, worker, asked) for worker, asked in zip(self.workers, questions, strict=True)]
        if self.kills is None or not self.kills.strikes():
            return in_turns(self.seeded, self.lines, work)
        turns = [Turn(line, each) for line, each in zip(self.lines, work, strict=True)]
        try:
            self.seeded.run(turns, self.kills.after())
        finally:
            for turn in turns:
                turn.end()
        raise WorkerLost("a worker was killed")

    def _answer(self, worker: PartWorker, question: Message) -> Message:
        return through_bytes(worker.answer(through_bytes(question)))

    def close(self) -> None:
        pass


def through_bytes(message: Message) -> Message:
    return SPOKEN.parcel([bytes(frame) for frame in SPOKEN.frames(message)]).message


def seeded_engine(
    checked: Checked,
    size: int,
    seed: int,
    strategy: str = "elastic",
    said: Mapping[str, Placement] | None = None,
    kills: Kills | None = None,
) -> WorkersEngine:
    said = said or {}
    front = Front(checked, {})
    hire: Callable[[], SeededTeam] = partial(SeededTeam, checked, size, seed, said, kills)
    many = Many(hire, front, place(front.state.program, said), Limits())
    return WorkersEngine(many, Policy(strategy))
