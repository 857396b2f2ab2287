"""Plans are data: ordered steps over a batch of variable bindings (design section 2).

A plan belongs to one rule and one pivot (the changed body atom). Its bindings live in numbered *slots*. Each
step takes a batch of bindings and gives a batch; `Emit` ends the plan. Every executor runs these same steps.
What is always true: a slot is written by one step only, before any step reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TypeAlias

from tidelog.plain import dataclass
from tidelog.values import Kind


class View(Enum):
    """Which tuples of a relation a step sees: in iteration k of a fixpoint, by the iteration of the tuple; or in an
    update, by the states between which it leads."""

    ALL = "<="  # everything known before iteration k: <= k-1
    DELTA = "="  # found in the last iteration: = k-1
    OLD = "<"  # known before that: < k-1
    BEFORE = "before"  # in the state before the update
    AFTER = "after"  # in the state that the update makes, as known so far
    LEFT = "left"  # in the present bucket, these left their place in the state before
    CAME = "came"  # these came to their place in the state after
    LOST = "lost"  # in the present round, these lost all derivations that they had
    MOVED = "moved"  # these moved to another iteration, or came, or were lost
    EITHER = "either"  # there just before the round, or after it
    BOTH = "both"  # there just before the round, and after it
    STILL = "still"  # there, and did not move in the round


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable or an intermediate value of the plan."""

    index: int


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; encoded when the plan meets a store."""

    kind: Kind
    value: int | float | str


Operand: TypeAlias = Slot | Const


@dataclass(frozen=True, slots=True)
class Bound:
    """`column op operand`, an inequality that a sorted index may serve; op is < <= > or >=."""

    column: int
    op: str
    operand: Operand
    kind: Kind


@dataclass(frozen=True, slots=True)
class Match:
    """How the columns of one atom meet the bindings."""

    relation: str
    view: View
    key: tuple[tuple[int, Operand], ...]  # bound columns, in column order
    outputs: tuple[tuple[int, int], ...] = ()  # (column, slot) that it binds
    same: tuple[tuple[int, int], ...] = ()  # pairs of columns that must be equal
    bounds: tuple[Bound, ...] = ()  # inequalities on columns
    row: int | None = None  # slot for the number of the row, in an update


@dataclass(frozen=True, slots=True)
class Scan:
    """Begin with every tuple of the view that fits."""

    match: Match


@dataclass(frozen=True, slots=True)
class Probe:
    """Extend each binding by every tuple that agrees with it on the key columns."""

    match: Match


@dataclass(frozen=True, slots=True)
class Exists:
    """Keep the bindings for which some tuple fits: a probe that binds nothing."""

    match: Match


@dataclass(frozen=True, slots=True)
class Absent:
    """Keep the bindings for which no tuple fits (negation)."""

    match: Match


@dataclass(frozen=True, slots=True)
class Filter:
    """Keep the bindings for which `left op right` holds."""

    op: str
    kind: Kind
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Compute:
    """target := op(args); `op` names a functor of functors.FUNCTORS, `kind` picks its variant."""

    target: int
    op: str
    kind: Kind
    args: tuple[Operand, ...]
    arg_kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """target := a user's functor."""

    target: int
    functor: str
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Generate:
    """target := each number of range(start, stop, step)."""

    target: int
    kind: Kind
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """target := the record (or ADT branch) with these fields, made if it does not exist."""

    target: int
    fields: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Unpack:
    """Take a record apart; bindings whose record is nil or has another arity are dropped."""

    record: Operand
    arity: int
    outputs: tuple[tuple[int, int], ...]  # (field, slot)
    checks: tuple[tuple[int, Operand], ...] = ()  # (field, value it must have)


@dataclass(frozen=True, slots=True)
class Fresh:
    """target := the next number of the program's counter."""

    target: int


@dataclass(frozen=True, slots=True)
class CurrentIteration:
    """target := the number of the running iteration."""

    target: int


@dataclass(frozen=True, slots=True)
class AggregateStep:
    """target := op over the matches of `body` for each binding.

    `body` runs from the current bindings; `value` is what it aggregates (None for count). With no match, count
    and sum give zero; min, max and mean drop the binding. With `distinct`, matches that differ in none of these slots
    are one. A functor of the user, its name in `op` behind an `@`, folds the values one by one, from `init` on.
    """

    target: int
    op: str
    kind: Kind
    value: Operand | None
    body: tuple[Step, ...]
    distinct: tuple[int, ...] | None = None
    init: Operand | None = None


@dataclass(frozen=True, slots=True)
class Emit:
    """Derive the head."""

    relation: str
    args: tuple[Operand, ...]


class Role(Enum):
    """What a part is to a derivation: a tuple of the stratum itself, of a lower one, or one that must be absent."""

    OWN = "own"
    LOWER = "lower"
    NEGATED = "negated"


@dataclass(frozen=True, slots=True)
class MatchedRow:
    """A body atom of a derivation, by the row that it matched (-1: a negated atom that has no row)."""

    row: int  # slot
    relation: str
    role: Role


@dataclass(frozen=True, slots=True)
class File:
    """Name the derivation by its rows: one that departs from the state before, or one that arrives in the state after.
    (For the strategies that do set algebra with derivations.)"""

    arrives: bool
    relation: str
    args: tuple[Operand, ...]
    parts: tuple[MatchedRow, ...]
    rule: int


@dataclass(frozen=True, slots=True)
class Fold:
    """before, after := the levels of the derivation just before the round and after it; keeps those where they differ.
    Of derivations that a lost tuple has `asked` for, only the latter counts.

    Where a plan is cut, the levels so far travel with the match: a fold that is not the `last` keeps what can still
    hold in one of the two states, and goes on from the levels in the slots `since`."""

    before: int
    after: int
    parts: tuple[MatchedRow, ...]
    asked: bool
    since: tuple[int, int] | None = None
    last: bool = True


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell the head: one derivation less behind the level before, one more behind the level after."""

    relation: str
    args: tuple[Operand, ...]
    before: int
    after: int
    asked: bool


@dataclass(frozen=True, slots=True)
class RankSlots:
    """The slots of a rank: its value and its level."""

    value: int
    level: int


@dataclass(frozen=True, slots=True)
class Rank:
    """before, after := the ranks of the derivation just before the round and after it, where only the best value of a
    key counts; keeps those where they differ. `value` is what it gives its head, which has none in an ordinary
    `relation`. Of derivations that a lost key has `asked` for, only the rank after the round counts."""

    relation: str
    value: Operand | None
    before: RankSlots
    after: RankSlots
    parts: tuple[MatchedRow, ...]
    asked: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """Tell the head, by its key (`args`): one derivation less of the rank before, one more of the rank after."""

    relation: str
    args: tuple[Operand, ...]
    before: RankSlots
    after: RankSlots
    asked: bool


# ---- where data travels between stores (design section 5)


@dataclass(frozen=True, slots=True)
class HomeOf:
    """To the worker that is the home of a value."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class FirstWorker:
    """To the worker that has what is kept in one place."""


@dataclass(frozen=True, slots=True)
class Everyone:
    """To all workers: none knows who has matches."""


@dataclass(frozen=True, slots=True)
class HoldersOf:
    """To all who hold the tuple with these values."""

    relation: str
    args: tuple[Operand, ...]


Route: TypeAlias = HomeOf | FirstWorker | Everyone | HoldersOf


@dataclass(frozen=True, slots=True)
class Send:
    """Let the bindings of these slots travel. What follows, a `Receive` on the same port first, happens where they
    arrive."""

    port: int
    route: Route
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Receive:
    """Begin with what has arrived on a port."""

    port: int
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AtHome:
    """Keep the bindings whose value has its home here (None: those of the first worker): of a tuple that several
    workers hold, one begins."""

    operand: Operand | None


Step: TypeAlias = (
    Scan | Probe | Exists | Absent | Filter | Compute | Call | Generate | Pack | Unpack | Fresh
    | CurrentIteration | AggregateStep | Emit | File | Fold | Tell | Rank | Offer | Send | Receive | AtHome
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps for one rule and one pivot; `pivot` is the body position of the changed atom, if any."""

    rule: int
    pivot: int | None
    steps: tuple[Step, ...]
    slots: tuple[tuple[str, Kind], ...]  # name and kind of each slot


def matches_of(plan_steps: Iterable[Step]) -> Iterator[Match]:
    """Every look-up of a plan, those inside aggregates too."""
    for step in plan_steps:
        if isinstance(step, (Scan, Probe, Exists, Absent)):
            yield step.match
        elif isinstance(step, AggregateStep):
            yield from matches_of(step.body)
