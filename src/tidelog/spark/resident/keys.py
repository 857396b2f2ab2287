"""The CURVE keys of a session: who may connect to its sockets.

One pair of keys is the servers' (the driver's rendezvous and the workers' exchanges), the other every legitimate
client's. Both are made by the driver for one session and handed out inside the closures of its Spark jobs. A peer that
lacks them is turned away during the handshake: it learns nothing and nothing that it sends is ever looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import zmq
from zmq.auth.thread import ThreadAuthenticator

DOMAIN = b"tidelog"


@dataclass(frozen=True)
class Keys:
    """`server_secret` is empty in the hands of tasks that only connect."""

    server: bytes
    client: bytes
    client_secret: bytes = field(repr=False)
    server_secret: bytes = field(default=b"", repr=False)

    @staticmethod
    def new() -> Keys:
        server, server_secret = zmq.curve_keypair()
        client, client_secret = zmq.curve_keypair()
        return Keys(server, client, client_secret, server_secret)

    def of_a_client(self) -> Keys:
        """What a task that only connects needs."""
        return Keys(self.server, self.client, self.client_secret)

    def serve(self, socket: zmq.Socket[bytes]) -> None:
        """Make a socket, before it binds, one that only clients with the key can talk to."""
        socket.curve_server = True
        socket.curve_secretkey = self.server_secret
        socket.zap_domain = DOMAIN

    def connect(self, socket: zmq.Socket[bytes], address: str) -> None:
        socket.curve_serverkey = self.server
        socket.curve_publickey = self.client
        socket.curve_secretkey = self.client_secret
        socket.connect(address)


class Guard:
    """Answers ZeroMQ's question whether a client may connect, for all server sockets of a context."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], keys: Keys) -> None:
        self._key = keys.client
        self._authenticator = ThreadAuthenticator(context)
        self._authenticator.start()
        self._authenticator.configure_curve_callback(domain=DOMAIN.decode(), credentials_provider=self)

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self._key

    def stop(self) -> None:
        self._authenticator.stop()
