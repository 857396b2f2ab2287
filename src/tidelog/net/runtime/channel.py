"""Between the processes of one network: each receives on one socket and sends on one socket per peer.

What is always true: what one process sends to another arrives in that order, and nothing is dropped.
"""

from __future__ import annotations

import zmq

from tidelog.net.runtime.messages import MESSAGES
from tidelog.wire.messages import Message
from tidelog.wire.sockets import Socket, Sockets

HOST = "127.0.0.1"


class Channel:
    """The sockets of one process."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self.inbox, self.address = sockets.bound(zmq.PULL, HOST)
        self._peers: dict[int, Socket] = {}

    def connect(self, peer: int, address: str) -> None:
        """From now on `send(peer, …)` reaches the process that receives there."""
        self._peers[peer] = self._sockets.connected(zmq.PUSH, address)

    def send(self, peer: int, message: Message) -> None:
        self._peers[peer].send_multipart(MESSAGES.frames(message))

    def close(self) -> None:
        for socket in (*self._peers.values(), self.inbox):
            socket.close()
