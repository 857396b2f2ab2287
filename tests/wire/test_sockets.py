"""Who has the keys is heard; a stranger learns nothing, and nothing that it sends is looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import zmq
import zmq.utils.monitor

from tidelog.wire.keys import Keys
from tidelog.wire.sockets import Sockets, host_towards, is_listening

ENDS = (
    zmq.EVENT_DISCONNECTED, zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL,
    zmq.EVENT_HANDSHAKE_FAILED_AUTH,
)  # fmt: skip


@pytest.fixture
def keys() -> Keys:
    return Keys.new()


@pytest.fixture
def sockets(keys: Keys) -> Iterator[Sockets]:
    made = Sockets(keys)
    yield made
    made.close()


def test_a_peer_with_the_keys_is_heard_and_answered(keys: Keys, sockets: Sockets) -> None:
    inside, address = sockets.bound(zmq.ROUTER, "127.0.0.1")
    outside = Sockets(keys.of_a_client())
    with inside, outside.connected(zmq.DEALER, address) as peer:
        peer.send(b"hello")
        assert inside.poll(5000)
        sender, said = inside.recv_multipart()
        inside.send_multipart([sender, said + b" yourself"])
        assert peer.poll(5000)
        assert peer.recv() == b"hello yourself"
    outside.close()


@pytest.mark.parametrize("kind", ["no keys", "the server's key only", "wrong keys"])
def test_a_peer_without_the_keys_is_not_heard(kind: str, keys: Keys, sockets: Sockets) -> None:
    stranger = Keys.new()
    inside, address = sockets.bound(zmq.PULL, "127.0.0.1")
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with inside, context.socket(zmq.PUSH) as peer:
        peer.linger = 0
        if kind == "the server's key only":
            Keys(keys.server, stranger.client, stranger.client_secret).join(peer)
        elif kind == "wrong keys":
            stranger.join(peer)
        with peer.get_monitor_socket() as monitor:
            peer.connect(address)
            peer.send(b"let me in", zmq.NOBLOCK)
            events = []
            while monitor.poll(1000) and not set(events) & set(ENDS):
                events.append(zmq.utils.monitor.recv_monitor_message(monitor)["event"])
            assert zmq.EVENT_HANDSHAKE_SUCCEEDED not in events
            assert not inside.poll(100)
            peer.disable_monitor()
    context.term()


def test_secrets_are_not_shown(keys: Keys) -> None:
    assert keys.client_secret not in repr(keys)
    assert keys.server_secret not in repr(keys)
    assert keys.of_a_client().server_secret == ""


def test_an_address_is_listened_to_until_its_socket_is_closed(sockets: Sockets) -> None:
    inside, address = sockets.bound(zmq.PULL, "127.0.0.1")
    assert host_towards(address) == "127.0.0.1"
    assert is_listening(address)
    inside.close()
    sockets.close()
    assert not is_listening(address)
