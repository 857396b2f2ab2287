"""What workers that hold parts of the relations are asked, and what they answer: see `epochs/holder.py` for most of it.

Every question is asked of all workers at once; those with shares of facts differ from worker to worker, the others are
the same for all. Strata go by their number.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from numpy.typing import NDArray

from tidelog.exchange.dictionaries import Entries, Extent
from tidelog.exchange.waves import GaveUp, Marker, Portion
from tidelog.plain import dataclass, field
from tidelog.store.update import UNLIMITED
from tidelog.wire.messages import Message

Rows = NDArray[Any]


class About(Enum):
    """What is done to a stratum; the answers are the work that it took, which adds up."""

    PASS_BY = "pass by"
    TAKE_FACTS = "take facts"
    UPDATE = "update"
    GIVE_UP = "give up"
    EVALUATE = "evaluate"


class Ending(Enum):
    """How an epoch ends."""

    COMMIT = "commit"
    UNDO = "undo"


# Questions


@dataclass(frozen=True)
class BeginEpoch(Message):
    """An epoch has begun so many seconds ago; `doing` says in an error what is done before the first stratum."""

    doing: str
    elapsed: float


@dataclass(frozen=True)
class EndEpoch(Message):
    how: Ending


@dataclass(frozen=True)
class Learn(Message):
    """Entries of the dictionaries, before anything that mentions them."""

    entries: Entries


@dataclass(frozen=True)
class AskExtent(Message):
    """How far do your dictionaries go?"""


@dataclass(frozen=True)
class AskEntries(Message):
    """What do they have from there on?"""

    start: Extent


@dataclass(frozen=True)
class StartOver(Message):
    """Evaluate everything from these facts; the derivations found."""

    facts: dict[str, Rows]


@dataclass(frozen=True)
class ApplyChange(Message):
    delete: dict[str, Rows]
    insert: dict[str, Rows]


@dataclass(frozen=True)
class AboutStratum(Message):
    what: About
    stratum: int
    work: int = UNLIMITED
    """What an update of all workers together may do."""


@dataclass(frozen=True)
class AskStrata(Message):
    """How is it with so many strata, from this one on?"""

    first: int
    count: int


@dataclass(frozen=True)
class TellChanges(Message):
    """What came and went in this epoch? What is large stays where it is, under this number, until it is in `forget`."""

    number: int
    forget: list[int]


@dataclass(frozen=True)
class FetchChange(Message):
    """What came, or went, of a relation in a change that was told under a number."""

    number: int
    came: bool
    relation: str


@dataclass(frozen=True)
class FetchTuples(Message):
    """The tuples of a relation that each worker owns; with their states, if these are wanted as well."""

    relation: str
    states: bool = False


@dataclass(frozen=True)
class CountTuples(Message):
    relation: str


@dataclass(frozen=True)
class AskEffects(Message):
    """What has the running epoch done to these relations?"""

    relations: list[str]


@dataclass(frozen=True)
class AskCosts(Message):
    """What have strata counted, and what has their evaluation cost?"""


@dataclass(frozen=True)
class LoadPart(Message):
    """Tuples of a relation, which is empty, as a state has them; without states, its facts."""

    relation: str
    rows: Rows
    iterations: Rows | None = None
    counts: Rows | None = None


@dataclass(frozen=True)
class Resume(Message):
    """All parts are loaded: go on from them."""

    costs: CostsAre


@dataclass(frozen=True)
class AskTraffic(Message):
    """What have you sent to whom, and how much memory have you?"""


# Answers


@dataclass(frozen=True)
class Amount(Message):
    """`over`: it was more work than allowed."""

    value: float
    over: bool = False


@dataclass(frozen=True)
class StrataAre(Message):
    """For each stratum: whether the change reaches it, how many of the tuples that it reads changed, how many there
    were, and what it would take to evaluate it anew. All of these add up."""

    reached: list[int]
    changed: list[int]
    read: list[int]
    cost: list[float]


@dataclass(frozen=True)
class ExtentIs(Message):
    extent: Extent


@dataclass(frozen=True)
class EntriesAre(Message):
    entries: Entries


@dataclass(frozen=True)
class Tuples(Message):
    """Rows; with states, their iterations and counts."""

    rows: Rows
    iterations: Rows | None = None
    counts: Rows | None = None


@dataclass(frozen=True)
class SideOfChange(Message):
    """What came, or went: the numbers of tuples, the tuples themselves where they are few, and of equivalences the
    columns that their pairs follow from."""

    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)
    pairs: dict[str, Rows] = field(default_factory=dict)


@dataclass(frozen=True)
class Changed(Message):
    came: SideOfChange
    gone: SideOfChange


@dataclass(frozen=True)
class EffectsAre(Message):
    """By relation, for what has changed: tuples, what happened to each, and their iterations and counts after it."""

    rows: dict[str, Rows] = field(default_factory=dict)
    change: dict[str, Rows] = field(default_factory=dict)
    iterations: dict[str, Rows] = field(default_factory=dict)
    counts: dict[str, Rows] = field(default_factory=dict)


@dataclass(frozen=True)
class CostsAre(Message):
    """By the number of a stratum, as text: the program's counter before and after it; the bindings that it made."""

    counters: dict[str, tuple[int, int]]
    efforts: dict[str, int]


@dataclass(frozen=True)
class TrafficIs(Message):
    messages: Rows
    bytes: Rows
    memory: int
    seconds_waited: float = 0.0


KINDS: tuple[type[Message], ...] = (
    BeginEpoch, EndEpoch, Learn, AskExtent, AskEntries, StartOver, ApplyChange, AboutStratum, AskStrata, TellChanges,
    FetchChange, FetchTuples, CountTuples, AskEffects, AskCosts, LoadPart, Resume, AskTraffic,
    Amount, StrataAre, ExtentIs, EntriesAre, Tuples, Changed, EffectsAre, CostsAre, TrafficIs,
    Portion, Marker, GaveUp,
)  # fmt: skip
"""All that is said, between peers as well."""
