"""What a coordinator and the processes that host a network's nodes say to each other.

Values, updates and facts travel as `packed` and `dictionary` have them, and are checked where they are unpacked.
"""

from __future__ import annotations

from tidelog.net.runtime.network import BurstCost
from tidelog.plain import dataclass
from tidelog.wire.codec import Json
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Message, Messages


@dataclass(frozen=True)
class StartOrder:
    """The order of a process: its number, and where the coordinator is."""

    index: int
    keys: Keys
    coordinator: str


@dataclass(frozen=True)
class Peers(Message):
    """Where the processes of a pool listen, in the order of their numbers. The answer is `Done`."""

    addresses: list[str]


@dataclass(frozen=True)
class HostNetwork(Message):
    """Host your part of this network, and no longer of any other (see `launch.Setting`). The answer is `Done`."""

    text: str
    name: str
    method: tuple[str, list[list[str]]]
    schedule: str
    seed: int
    starve: Json
    delays: list[tuple[Json, Json, float]]
    batch: bool
    cancel: bool
    limit: int
    traced: bool = False


@dataclass(frozen=True)
class Burst(Message):
    """Updates of base facts for nodes of this process."""

    updates: list[Json]


@dataclass(frozen=True)
class ReportWhenIdle(Message):
    """Send an `Idle` with this number when there is nothing left to do."""

    wave: int


@dataclass(frozen=True)
class Settle(Message):
    """The burst is over. The answer is `Settled`."""


@dataclass(frozen=True)
class GiveTrace(Message):
    """The answer is `Traced`."""


@dataclass(frozen=True)
class GiveFacts(Message):
    """The answer is `AllFacts`."""


@dataclass(frozen=True)
class Stop(Message):
    """There is no answer: the process ends."""


@dataclass(frozen=True)
class Idle(Message):
    """There is nothing left to do here. Updates sent to and received from others since the network was loaded, and the
    cost of this burst; 0 if nobody has probed."""

    sent: int
    received: int
    cost: BurstCost
    wave: int = 0


@dataclass(frozen=True)
class Settled(Message):
    """What a burst has cost here, and how many nodes there are."""

    cost: BurstCost
    waiting: list[Json]
    left_out: list[Json]
    nodes: int


@dataclass(frozen=True)
class Traced(Message):
    records: list[Json]


@dataclass(frozen=True)
class AllFacts(Message):
    facts: list[Json]


@dataclass(frozen=True)
class Updates(Message):
    """From one process to another: updates for nodes of the other."""

    process: int
    updates: list[Json]


MESSAGES = Messages(
    Peers, HostNetwork, Burst, ReportWhenIdle, Settle, GiveTrace, GiveFacts, Stop,
    Idle, Settled, Traced, AllFacts, Updates,
)  # fmt: skip
