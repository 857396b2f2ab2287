"""The sockets of one process: who binds and who connects.

They are behind the keys of a session, but for those that a user has said to be on a network which can be trusted, and
those between processes of one user on one machine, which the system keeps from others.

What is always true: a socket is used, and closed, by one thread. `Sockets.close` waits until all of them are closed;
a thread that is waiting for a message is told so by `zmq.ContextTerminated`, which `until_closed` turns into its end.
Nothing is dropped and no sender blocks, unless whoever made a socket bounds its queues.
"""

from __future__ import annotations

import os
import socket
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import zmq

from tidelog.wire.keys import Guard, Keys

Socket: TypeAlias = "zmq.Socket[bytes]"
PATIENCE = 1.0
"""Seconds that a machine may take to say that nobody listens."""


class Sockets:
    """See the module's docstring."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._context: zmq.Context[Socket] = zmq.Context()
        self._guard: Guard | None = None

    def bound(self, kind: int, host: str, trusted: bool = False) -> tuple[Socket, str]:
        """A socket at a free port of a host, and its address; if the network is trusted, without keys."""
        made = self._made(kind)
        if not trusted:
            if self._guard is None:
                self._guard = Guard(self._context, self._keys)
            self._keys.serve(made)
        port = made.bind_to_random_port(f"tcp://{host}")
        return made, f"tcp://{host}:{port}"

    def bound_near(self, kind: int) -> tuple[Socket, str] | None:
        """A socket for processes of this user on this machine alone, and its address; None if there is no such thing
        here. It has no file: nothing of it is left behind by a process that is killed."""
        if sys.platform != "linux":
            return None
        made = self._made(kind)
        made.setsockopt(zmq.IPC_FILTER_UID, os.getuid())
        made.bind(address := f"ipc://@tidelog-{uuid.uuid4()}")
        return made, address

    def connected(self, kind: int, address: str, trusted: bool = False) -> Socket:
        made = self._made(kind)
        if not trusted:
            self._keys.join(made)
        made.connect(address)
        return made

    def pair(self, name: str) -> tuple[Socket, Socket]:
        """Two ends between threads of this process."""
        ends = self._made(zmq.PAIR), self._made(zmq.PAIR)
        ends[0].bind(f"inproc://{name}")
        ends[1].connect(f"inproc://{name}")
        return ends

    def close(self) -> None:
        if self._guard is not None:
            self._guard.stop()
        self._context.term()

    def _made(self, kind: int) -> Socket:
        made = self._context.socket(kind)
        made.linger = 0
        made.sndhwm = made.rcvhwm = 0
        return made


@contextmanager
def until_closed(*used: Socket) -> Iterator[None]:
    """What a thread does with its sockets: they are closed when it ends, and it ends when they are to be closed."""
    try:
        yield
    except zmq.ContextTerminated:
        pass
    finally:
        for each in used:
            each.close()


def received(socket: Socket, small: int = 1) -> list[Any]:
    """The frames of the next message: so many small ones, which are copied, and others that lie where they came in."""
    frames: list[Any] = [socket.recv()]
    while socket.rcvmore:
        frames.append(socket.recv() if len(frames) < small else socket.recv(copy=False).buffer)
    return frames


def is_near(address: str) -> bool:
    """Whether a socket that is `bound_near` somewhere is on this machine, or in this container."""
    try:
        return bool(address) and address.removeprefix("ipc://") in Path("/proc/net/unix").read_text()
    except OSError:
        return False


def host_towards(address: str) -> str:
    """The address of this machine from which it reaches another one: those that the other reaches can use it too."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_place(address))  # sends nothing: it only chooses a route
        return str(probe.getsockname()[0])


def is_listening(address: str) -> bool:
    """Whether somebody is at an address; one that only cannot be reached at the moment may be."""
    try:
        socket.create_connection(_place(address), PATIENCE).close()
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    return True


def _place(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port
