"""What is asked of whoever holds the relations of a program, and of whoever makes its epochs last.

A *holder* is one store, the DataFrames of a Spark session, or many stores that work together: every question can be
asked of many at once, because the answers add up (work, costs, numbers of tuples), or hold if they hold for one
("is this stratum reached"). What is decided from the answers is decided once, by the driver.

What is always true of a holder: between two epochs its relations are those of the last one that was committed; `undo`
brings them back at any moment before `commit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeVar

from tidelog.epochs.budget import Allowance, CostAnew
from tidelog.epochs.changes import Batch
from tidelog.epochs.report import EpochSummary
from tidelog.plain import dataclass, field, replace
from tidelog.plan.stateful import StatefulStratum

GivenFacts = TypeVar("GivenFacts")
Report = TypeVar("Report", bound=EpochSummary)


class ChangeOfFacts(Protocol):
    """What an epoch changes: the holder knows what is in it; of a stream, it carries its batch."""

    @property
    def batch(self) -> Batch | None: ...


Changing = TypeVar("Changing", bound=ChangeOfFacts, contravariant=True)


class Holder(Protocol[GivenFacts, Changing, Report]):
    """Holds the relations of a program. Strata are asked about in order, each after what was done to those before."""

    @property
    def strata(self) -> Sequence[StatefulStratum]: ...

    @property
    def least_budget(self) -> int:
        """What an Update of a stratum may always cost: less than starting over does, whatever there is."""
        ...

    @property
    def few_changes(self) -> int:
        """So many changed tuples are never too many to try an Update."""
        ...

    def epoch(self, doing: str = "") -> AbstractContextManager[None]:
        """Around an epoch: nobody else works on the relations, and limits hold. `doing` says in an error about memory
        what was done before the first stratum."""
        ...

    # ---- from scratch

    def start_over(self, facts: GivenFacts) -> int:
        """Evaluate everything from these facts and no others; the derivations found."""
        ...

    def facts_after(self, change: Changing) -> GivenFacts:
        """All facts, once a change is applied; nothing has changed yet."""
        ...

    # ---- from the epoch before

    def apply(self, change: Changing) -> None:
        """Change the facts. Raises OverBudget, with the reason, if no Update can go on from what is held."""
        ...

    def reached(self, stratum: StatefulStratum) -> bool:
        """Whether the change reaches a stratum: through the strata below, its own facts, or the program's counter."""
        ...

    def pass_by(self, stratum: StatefulStratum) -> None:
        """Keep a stratum that is not reached."""
        ...

    def changed(self, stratum: StatefulStratum) -> int:
        """How many tuples that the stratum reads came or went."""
        ...

    def read(self, stratum: StatefulStratum) -> int:
        """How many tuples it read before."""
        ...

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        """What it would take to evaluate the stratum anew, so far as is known."""
        ...

    def take_facts(self, stratum: StatefulStratum) -> None:
        """Follow the change of a stratum that is nothing but facts."""
        ...

    def update(self, stratum: StatefulStratum, allowance: Allowance) -> int:
        """Follow the change; the work done. Raises OverBudget where the allowance does not suffice."""
        ...

    def give_up(self, stratum: StatefulStratum) -> None:
        """Take back what an Update has done to the stratum, before it is evaluated anew."""
        ...

    def evaluate(self, stratum: StatefulStratum) -> int:
        """Evaluate a stratum anew; the derivations found."""
        ...

    # ---- the end

    def new_report(self, epoch: int, strategy: str, why: str) -> Report: ...

    def report_changes(self, report: Report) -> None:
        """Enter which tuples came and went in the running epoch."""
        ...

    def effects(self) -> Any:
        """What the running epoch has done, for the keeper; it is valid until the epoch ends."""
        ...

    def commit(self) -> None: ...

    def undo(self) -> None:
        """As if the epoch had never begun; there is memory enough for it. Harmless where nothing has begun."""
        ...


@dataclass(frozen=True)
class Position:
    """Where an engine is: the last epoch, the seconds of the last Bootstrap, and of each stream the last batch that was
    applied. With the relations, it is what another process needs to go on."""

    epoch: int = 0
    bootstrap_seconds: float = 0.0
    streams: Mapping[str, int] = field(default_factory=dict)

    def after(self, batch: Batch | None) -> Position:
        """The position one epoch later."""
        streams = self.streams if batch is None else {**self.streams, batch[0]: batch[1]}
        return replace(self, epoch=self.epoch + 1, streams=streams)

    def has(self, batch: Batch | None) -> bool:
        """Whether a batch of a stream has been applied."""
        return batch is not None and batch[1] <= self.streams.get(batch[0], -1)


class Keeper(Protocol):
    """Makes epochs last."""

    def around(self, epoch: int, change: Any) -> AbstractContextManager[None]:
        """Around an epoch, from before anything changes until it has ended or was given up; `change` is None if it
        begins with facts."""
        ...

    def keep(self, report: Any, effects: Any, position: Position) -> None:
        """Make an epoch last that is about to end. If it raises, the epoch is given up and nothing of it remains."""
        ...


class Forgetful:
    """A keeper of epochs that end with their process."""

    def around(self, epoch: int, change: Any) -> AbstractContextManager[None]:
        return nullcontext()

    def keep(self, report: Any, effects: Any, position: Position) -> None:
        pass
