"""The CURVE keys of a session: who may connect to its sockets.

One pair of keys is that of sockets which are bound, the other that of sockets which connect to them. Both are made for
one session by the process that begins it, which hands them to the others on a way that is its own: inside the closures
of Spark's jobs, or to the standard input of a child. A peer that lacks them is turned away during the handshake: it
learns nothing, and nothing that it sends is ever looked at.
"""

from __future__ import annotations

import zmq
from zmq.auth.thread import ThreadAuthenticator

from tidelog.plain import dataclass, field

DOMAIN = "tidelog"


@dataclass(frozen=True)
class Keys:
    """The keys as ZeroMQ prints them. `server_secret` is empty in the hands of those who only connect."""

    server: str
    client: str
    client_secret: str = field(repr=False)
    server_secret: str = field(default="", repr=False)

    @staticmethod
    def new() -> Keys:
        server, server_secret = zmq.curve_keypair()
        client, client_secret = zmq.curve_keypair()
        return Keys(server.decode(), client.decode(), client_secret.decode(), server_secret.decode())

    def of_a_client(self) -> Keys:
        """What someone who only connects needs."""
        return Keys(self.server, self.client, self.client_secret)

    def serve(self, socket: zmq.Socket[bytes]) -> None:
        """Make a socket, before it binds, one that only clients with the key can talk to."""
        socket.curve_server = True
        socket.curve_secretkey = self.server_secret.encode()
        socket.zap_domain = DOMAIN.encode()

    def join(self, socket: zmq.Socket[bytes]) -> None:
        """Make a socket, before it connects, one that such servers let in."""
        socket.curve_serverkey = self.server.encode()
        socket.curve_publickey = self.client.encode()
        socket.curve_secretkey = self.client_secret.encode()


class Guard:
    """Answers ZeroMQ's question whether a client may connect, for all server sockets of a context."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], keys: Keys) -> None:
        self._key = keys.client.encode()
        self._authenticator = ThreadAuthenticator(context)
        self._authenticator.start()
        self._authenticator.configure_curve_callback(domain=DOMAIN, credentials_provider=self)

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self._key

    def stop(self) -> None:
        self._authenticator.stop()
