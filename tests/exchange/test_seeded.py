"""The seeded transport: every message once, any order, the same run for the same seed, kills, and who is stuck."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tidelog.errors import InternalError
from tidelog.exchange.seeded import Seeded
from tidelog.exchange.transport import Transport, bytes_of
from tidelog.wire.messages import Message


@dataclass(frozen=True)
class Number(Message):
    number: int


@dataclass(frozen=True)
class Packed(Message):
    name: str
    flags: tuple[bool, ...]
    rows: np.ndarray


class Chatter:
    """Sends `count` numbers to everybody, itself included, one at a time, and is done when all of theirs are there."""

    def __init__(self, transport: Transport, count: int) -> None:
        self.transport, self.left, self.expected = transport, count, count * transport.size
        self.come: list[tuple[int, int]] = []

    @property
    def done(self) -> bool:
        return not self.left and len(self.come) == self.expected

    def act(self) -> bool:
        come = self.transport.receive()
        self.come += [(sender, message.number) for sender, message in come if isinstance(message, Number)]
        if self.left:
            self.left -= 1
            for to in range(self.transport.size):
                self.transport.send(to, Number(self.left))
            return True
        return bool(come)


def chatters(seeded: Seeded, count: int = 10) -> list[Chatter]:
    return [Chatter(transport, count) for transport in seeded.transports]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_every_message_arrives_once(size: int) -> None:
    seeded = Seeded(size, seed=3)
    peers = chatters(seeded)
    assert seeded.run(peers)
    for peer in peers:
        assert sorted(peer.come) == [(sender, number) for sender in range(size) for number in range(10)]
    assert seeded.under_way == 0


def test_the_same_seed_makes_the_same_run() -> None:
    def orders(seed: int) -> list[list[tuple[int, int]]]:
        seeded = Seeded(3, seed)
        peers = chatters(seeded)
        seeded.run(peers)
        return [peer.come for peer in peers]

    assert orders(1) == orders(1)
    assert orders(1) != orders(2)


def test_messages_of_a_pair_overtake_each_other_only_if_they_may() -> None:
    def in_order(reorder: bool, seed: int) -> bool:
        seeded = Seeded(2, seed, reorder)
        peers = chatters(seeded)
        seeded.run(peers)
        of_one = [number for sender, number in peers[1].come if sender == 0]
        return of_one == [*reversed(range(10))]

    assert all(in_order(False, seed) for seed in range(20))
    assert not all(in_order(True, seed) for seed in range(20))


def test_whoever_waits_for_nothing_is_reported() -> None:
    seeded = Seeded(2, seed=0)
    peers = chatters(seeded)
    peers[1].expected += 1
    with pytest.raises(InternalError, match=r"\[1\] of 2 peers"):
        seeded.run(peers)


def test_after_a_kill_others_run_on_the_same_transports() -> None:
    seeded = Seeded(3, seed=5)
    assert not seeded.run(chatters(seeded), most_steps=20)
    assert seeded.under_way > 0
    seeded.drop()
    assert seeded.under_way == 0
    again = chatters(seeded)
    assert seeded.run(again)
    assert all(len(peer.come) == 30 for peer in again)


def test_what_is_sent_is_counted_for_each_destination() -> None:
    seeded = Seeded(2, seed=0)
    transport = seeded.transports[0]
    message = Packed("edge", (True, False), np.zeros((3, 2), np.int32))
    assert bytes_of(message) == 4 + 2 * 8 + 24
    transport.send(1, message)
    transport.send(1, Number(7))
    assert transport.sent.messages.tolist() == [0, 2]
    assert transport.sent.bytes.tolist() == [0, 44 + 8]
