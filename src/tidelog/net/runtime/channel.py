"""ZeroMQ on loopback between the processes of one network, encrypted and authenticated with CURVE keys.

Every process receives on one socket and sends on one socket per peer. All processes of a network share a key pair that
exists for one run and is handed to them over their standard input. A socket accepts a peer only if it proves to hold
that pair; a peer without it is not answered and nothing it sends is read. Payloads are JSON (`wire`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import zmq
from zmq.auth.thread import ThreadAuthenticator

from tidelog.net.runtime import wire


class Keys(NamedTuple):
    public: str
    secret: str

    @staticmethod
    def fresh() -> Keys:
        public, secret = zmq.curve_keypair()
        return Keys(public.decode(), secret.decode())


class Channel:
    """The sockets of one process."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._context = zmq.Context()
        self._guard = ThreadAuthenticator(self._context)
        self._guard.start()
        self._guard.configure_curve_callback(domain="*", credentials_provider=_OnlyOurs(keys))
        self._inbox = self._context.socket(zmq.PULL)
        self._secure(self._inbox)
        self._inbox.curve_server = True
        self.port: int = self._inbox.bind_to_random_port("tcp://127.0.0.1")
        self._peers: dict[int, zmq.Socket[bytes]] = {}

    def connect(self, peer: int, port: int) -> None:
        """From now on `send(peer, …)` reaches the process that receives on this port."""
        socket = self._context.socket(zmq.PUSH)
        self._secure(socket)
        socket.curve_serverkey = self._keys.public.encode()
        socket.connect(f"tcp://127.0.0.1:{port}")
        self._peers[peer] = socket

    def knows(self, peer: int) -> bool:
        return peer in self._peers

    def send(self, peer: int, payload: Any) -> None:
        self._peers[peer].send(wire.dumps(payload))

    def receive(self, milliseconds: int) -> Any | None:
        """The next payload; None if none comes in this time."""
        if not self._inbox.poll(milliseconds):
            return None
        return wire.loads(self._inbox.recv())

    def close(self) -> None:
        for socket in (*self._peers.values(), self._inbox):
            socket.close(linger=0)
        self._guard.stop()
        self._context.term()

    def _secure(self, socket: zmq.Socket[bytes]) -> None:
        socket.sndhwm = socket.rcvhwm = 0  # nothing is dropped and no sender blocks: two processes may both be sending
        socket.curve_publickey = self._keys.public.encode()
        socket.curve_secretkey = self._keys.secret.encode()


class _OnlyOurs:
    """Lets in who holds the key pair of this network."""

    def __init__(self, keys: Keys) -> None:
        self._public = keys.public.encode()

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self._public
