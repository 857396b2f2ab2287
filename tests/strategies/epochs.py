"""Random programs whose facts change: a history is a program, its first facts, and up to five epochs.

An epoch deletes facts, then inserts facts. Its sizes are those at which something goes wrong: nothing, one fact, many,
everything; facts that come back after their deletion, that are deleted and inserted at once, that are there already or
were never there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis.strategies import SearchStrategy

from strategies.programs import Example, Features, ProgramWriter
from strategies.values import CONSTANTS, Chooser, Relation, Written

Facts = dict[str, set[tuple[Any, ...]]]

MOST_EPOCHS = 5


@dataclass(frozen=True)
class Epoch:
    """The facts of each input relation to delete, and then those to insert."""

    delete: Facts
    insert: Facts

    def after(self, facts: Facts) -> Facts:
        """The facts once the epoch is over."""
        return {
            name: (rows - self.delete.get(name, set())) | self.insert.get(name, set()) for name, rows in facts.items()
        }

    def __str__(self) -> str:
        return f"delete {_shown(self.delete)} insert {_shown(self.insert)}"


@dataclass(frozen=True)
class History:
    example: Example
    epochs: tuple[Epoch, ...]

    def facts(self) -> list[Facts]:
        """The facts at the start and after each epoch."""
        result = [self.example.facts]
        for epoch in self.epochs:
            result.append(epoch.after(result[-1]))
        return result

    def __str__(self) -> str:
        return str(self.example) + "".join(f"// {epoch}\n" for epoch in self.epochs)


def histories(features: Features = Features(derived_inputs=True)) -> SearchStrategy[History]:  # noqa: B008
    """Programs with facts that change. A simpler history has fewer epochs, and fewer facts in them."""

    def write(choose: Chooser) -> History:
        writer = ProgramWriter(choose, features)
        example = writer.write()
        epochs = _EpochWriter(choose, writer.inputs, example.facts)
        return History(example, tuple(epochs.write() for _ in choose.repeat(1, MOST_EPOCHS)))

    return Written(write)


@dataclass
class _EpochWriter:
    choose: Chooser
    inputs: list[Relation]
    facts: Facts
    gone: Facts = field(default_factory=dict)  # what was deleted at some time

    def write(self) -> Epoch:
        delete = {relation.name: self.deleted(relation) for relation in self.inputs}
        insert = {relation.name: self.inserted(relation, delete[relation.name]) for relation in self.inputs}
        epoch = Epoch(delete, insert)
        self.facts = epoch.after(self.facts)
        for name, rows in delete.items():
            self.gone.setdefault(name, set()).update(rows)
        return epoch

    def deleted(self, relation: Relation) -> set[tuple[Any, ...]]:
        facts = sorted(self.facts[relation.name], key=repr)
        match self.choose.weighted({"none": 6, "one": 6, "many": 4, "all": 2, "absent": 1}):
            case "one" if facts:
                return {self.choose.pick(facts)}
            case "many":
                return {row for row in facts if self.choose.chance(5)}
            case "all":
                return set(facts)
            case "absent":
                return {self.row(relation)}
        return set()

    def inserted(self, relation: Relation, deleted: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
        back = sorted(self.gone.get(relation.name, ()), key=repr)
        match self.choose.weighted({"none": 6, "one": 6, "many": 4, "back": 4, "deleted": 2, "present": 1}):
            case "one":
                return {self.row(relation)}
            case "many":
                return {self.row(relation) for _ in self.choose.repeat(2, 8, 8)}
            case "back":
                return {row for row in back if self.choose.chance(7)}
            case "deleted":
                return {row for row in sorted(deleted, key=repr) if self.choose.chance(7)}
            case "present":
                return set(sorted(self.facts[relation.name], key=repr)[:2])
        return set()

    def row(self, relation: Relation) -> tuple[Any, ...]:
        return tuple(self.choose.pick(list(CONSTANTS[kind].values())) for kind in relation.columns)


def _shown(facts: Facts) -> str:
    return ", ".join(f"{name}: {sorted(rows, key=repr)}" for name, rows in facts.items() if rows) or "nothing"
