"""Where an epoch spent its time: for each rule and iteration, seconds, new tuples and derivations; bytes per relation.

A `Recorder` is told what was done while an epoch is evaluated; a `Profile` is what it has to say in the end: a value,
which can be sent to another process and written to a file (`tidelog profile` shows it). Beside rules there is work that
belongs to none of them, such as reading facts or telling new tuples from known ones; it has a sentence for its text.
What is always true: no second is counted twice, so those of all tasks are at most those of the epoch, and its stages,
with what nobody has told of, add up to all of its time; likewise its parts of memory, to all that the process has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tidelog.analysis.clauses import Clause
from tidelog.errors import error
from tidelog.plain import asdict, dataclass, field, replace

FORMAT = 3
STAGES = (
    "starting", "reading facts", "planning", "rules", "indexes", "iterations", "other work", "writing",
    "not accounted for",
)  # fmt: skip
"""What an epoch, or the run of a command, does, in this order."""


@dataclass(frozen=True)
class Task:
    """What time is spent on: a rule, with its place in the program, or other work, of one of the STAGES."""

    text: str
    place: str = ""
    stage: str = "rules"


@dataclass(frozen=True)
class Measurement:
    """What one iteration spent on a task, which is given by its number."""

    task: int
    iteration: int
    seconds: float
    tuples: int
    derivations: int


@dataclass(frozen=True)
class Size:
    """How large a relation is; `bytes` are those of its parts, as far as they are known."""

    tuples: int
    bytes: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.bytes.values())


class Total(NamedTuple):
    """What all iterations spent on a task; `iterations` is the number of the last."""

    task: Task
    seconds: float
    tuples: int
    derivations: int
    iterations: int


@dataclass(frozen=True)
class Profile:
    """See the module's docstring."""

    epoch: int
    strategy: str
    why: str
    seconds: float
    tasks: list[Task]
    records: list[Measurement]
    relations: dict[str, Size]
    memory: dict[str, int] = field(default_factory=dict)  # of the process, in bytes, by what it is for

    def stages(self) -> dict[str, float]:
        """The seconds of each of the STAGES that took any: all of `seconds`."""
        found = dict.fromkeys(STAGES, 0.0)
        for record in self.records:
            found[self.tasks[record.task].stage] += record.seconds
        found[STAGES[-1]] = max(0.0, self.seconds - sum(found.values()))
        return {stage: seconds for stage, seconds in found.items() if seconds > 0}

    def with_work(self, text: str, stage: str, seconds: float) -> Profile:
        """With something that was done before or after the epoch."""
        seconds = max(0.0, seconds)
        tasks = [*self.tasks, Task(text, stage=stage)]
        records = [*self.records, Measurement(len(self.tasks), 0, seconds, 0, 0)]
        return replace(self, seconds=self.seconds + seconds, tasks=tasks, records=records)

    def totals(self) -> list[Total]:
        """What was spent on each task, most of all first."""
        found: dict[int, list[Measurement]] = {}
        for record in self.records:
            found.setdefault(record.task, []).append(record)
        totals = [_total(self.tasks[number], records) for number, records in found.items()]
        return sorted(totals, key=lambda total: -total.seconds)

    def sizes(self) -> list[tuple[str, Size]]:
        """The relations, the largest first."""
        return sorted(self.relations.items(), key=lambda item: (-item[1].total, -item[1].tuples))

    def write(self, path: str | Path) -> None:
        """Write it to a file, for `tidelog profile`."""
        import json

        try:
            Path(path).write_text(json.dumps({"format": FORMAT} | asdict(self), indent=1), encoding="utf-8")
        except OSError as problem:
            raise error("TL0871", f"cannot write the profile to {path}: {problem.strerror}") from None

    @staticmethod
    def read(path: str | Path) -> Profile:
        """What `write` wrote."""
        import json

        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            if (found := document.pop("format")) != FORMAT:
                raise error("TL0913", f"{path} has format {found}; this version reads format {FORMAT}",
                            help="make the profile anew")  # fmt: skip
            return Profile.of(document)
        except OSError as problem:
            raise error("TL0912", f"cannot read {path}: {problem.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            raise error("TL0912", f"{path} is not a profile", help="make one with `tidelog run --profile`") from None

    @staticmethod
    def of(document: Mapping[str, Any]) -> Profile:
        """The profile whose fields, down to numbers and texts, these are."""
        return Profile(
            **{
                **document,
                "tasks": [Task(**task) for task in document["tasks"]],
                "records": [Measurement(**record) for record in document["records"]],
                "relations": {name: Size(**size) for name, size in document["relations"].items()},
            }
        )


def _total(task: Task, records: Sequence[Measurement]) -> Total:
    return Total(
        task, sum(r.seconds for r in records), sum(r.tuples for r in records), sum(r.derivations for r in records),
        max(r.iteration for r in records),
    )  # fmt: skip


class Recorder:
    """Is told what an epoch does."""

    def __init__(self) -> None:
        self._begun = 0.0
        self._depth = 0
        self._numbers: dict[int | str, int] = {}  # of tasks, by the number of their rule or by their text
        self._stages: dict[int | str, str] = {}
        self._records: list[Measurement] = []
        self._seconds = 0.0  # of all records

    @contextmanager
    def epoch(self) -> Iterator[None]:
        """Meanwhile an epoch is made; one within another is part of it."""
        if not self._depth:
            self._begun, self._numbers, self._records, self._seconds = time.perf_counter(), {}, [], 0.0
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def rule(self, number: int, iteration: int, seconds: float, tuples: int, derivations: int) -> None:
        """A rule was evaluated."""
        self._add(number, iteration, seconds, tuples, derivations)

    @contextmanager
    def work(
        self, text: str, iteration: int = 0, tuples: Callable[[], int] = int, stage: str = "other work"
    ) -> Iterator[None]:
        """Meanwhile something else is done: what is recorded within is told apart. `tuples` says in the end how many
        new ones there are."""
        start, before = time.perf_counter(), self._seconds
        try:
            yield
        finally:
            inside = self._seconds - before
            self._stages[text] = stage
            self._add(text, iteration, time.perf_counter() - start - inside, tuples(), 0)

    def spent(self, text: str, stage: str, iteration: int, seconds: float) -> None:
        """So much was spent on something else."""
        self._stages[text] = stage
        self._add(text, iteration, seconds, 0, 0)

    def _add(self, task: int | str, iteration: int, seconds: float, tuples: int, derivations: int) -> None:
        number = self._numbers.setdefault(task, len(self._numbers))
        self._records.append(Measurement(number, iteration, max(0.0, seconds), tuples, derivations))
        self._seconds += seconds

    def profile(
        self,
        epoch: int,
        strategy: str,
        why: str,
        clauses: Sequence[Clause],
        relations: dict[str, Size],
        memory: dict[str, int] | None = None,
    ) -> Profile:
        """What the epoch at hand did, now that it is done."""
        tasks = [
            Task(key, stage=self._stages[key]) if isinstance(key, str) else _rule(clauses[key]) for key in self._numbers
        ]
        seconds = time.perf_counter() - self._begun
        return Profile(epoch, strategy, why, seconds, tasks, list(self._records), relations, memory or {})


def _rule(clause: Clause) -> Task:
    return Task(clause.text, str(clause.span) if clause.span else "")
