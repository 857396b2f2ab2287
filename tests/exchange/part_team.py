"""Workers of a program on the seeded transport, asked as those of other processes are."""

from __future__ import annotations

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
from tidelog.exchange.turns import SeededLine, in_turns
from tidelog.exchange.workers_engine import WorkersEngine
from tidelog.plan.exchange.placement import Placement, place
from tidelog.wire.messages import Message, Messages

SPOKEN = Messages(*KINDS)


class ByteLine(SeededLine):
    """A line on which messages are bytes, as between processes."""

    def send(self, to: int, message: Message) -> None:
        super().send(to, through_bytes(message))


class SeededTeam:
    """A `workers.Workers`. What is asked and answered goes through bytes, too."""

    def __init__(self, checked: Checked, size: int, seed: int, said: Mapping[str, Placement]) -> None:
        self.size, self.seeded = size, Seeded(size, seed)
        self.lines = [ByteLine(transport) for transport in self.seeded.transports]
        self.workers = [PartWorker(checked, {}, Limits(), line, said) for line in self.lines]

    def ask(self, questions: Sequence[Message]) -> list[Message]:
        work = [partial(self._answer, worker, asked) for worker, asked in zip(self.workers, questions, strict=True)]
        return in_turns(self.seeded, self.lines, work)

    def _answer(self, worker: PartWorker, question: Message) -> Message:
        return through_bytes(worker.answer(through_bytes(question)))

    def close(self) -> None:
        pass


def through_bytes(message: Message) -> Message:
    return SPOKEN.parcel([bytes(frame) for frame in SPOKEN.frames(message)]).message


def seeded_engine(
    checked: Checked, size: int, seed: int, strategy: str = "elastic", said: Mapping[str, Placement] | None = None
) -> WorkersEngine:
    said = said or {}
    front = Front(checked, {})
    hire: Callable[[], SeededTeam] = partial(SeededTeam, checked, size, seed, said)
    many = Many(hire, front, place(front.state.program, said), Limits())
    return WorkersEngine(many, Policy(strategy))
