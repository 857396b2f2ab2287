"""Signs of life of a worker, and what it does when there are none of the other end.

A thread with a line of its own says at regular times that the process is there, whatever the others are at, and hears
the answers. If these stay away for longer than `patience`, nobody would ever end this process: it ends itself.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import zmq

from tidelog.wire.messages import Beat, Messages
from tidelog.wire.sockets import Sockets, until_closed

BEAT = 0.5
"""Seconds between two signs of life."""


class Pulse(threading.Thread):
    """Beats until its sockets are closed."""

    def __init__(
        self, sockets: Sockets, address: str, messages: Messages, beat: Callable[[], Beat], patience: float
    ) -> None:
        super().__init__(name="tidelog-pulse", daemon=True)
        self._line = sockets.connected(zmq.DEALER, address)
        self._messages, self._beat, self._patience = messages, beat, patience

    def run(self) -> None:
        heard = time.monotonic()
        with until_closed(self._line):
            while True:
                self._line.send_multipart(self._messages.frames(self._beat()))
                due = time.monotonic() + BEAT
                while (left := due - time.monotonic()) > 0:
                    if self._line.poll(int(1000 * left) + 1):
                        self._line.recv_multipart()
                        heard = time.monotonic()
                if time.monotonic() - heard > self._patience:
                    os._exit(1)
