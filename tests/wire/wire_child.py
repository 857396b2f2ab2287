"""A child for test_children: does what its order says."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass

import zmq

from tidelog.errors import error
from tidelog.wire import children
from tidelog.wire.codec import loads, read
from tidelog.wire.keys import Keys
from tidelog.wire.life import Pulse
from tidelog.wire.messages import Beat, Done, Failed, Hello, Message, Messages
from tidelog.wire.sockets import Sockets


@dataclass(frozen=True)
class Order:
    rendezvous: str
    keys: Keys
    patience: float


@dataclass(frozen=True)
class Do(Message):
    what: str


@dataclass(frozen=True)
class Where(Message):
    path: list[str]


MESSAGES = Messages(Do, Where)


def main() -> None:
    text = children.order()
    if text is None:
        return
    order = read(Order, loads(text))
    sockets = Sockets(order.keys)
    line = sockets.connected(zmq.DEALER, order.rendezvous)
    Pulse(sockets, order.rendezvous, MESSAGES, lambda: Beat(0, 0, 7), order.patience).start()
    line.send_multipart(MESSAGES.frames(Hello(0, 0, "nowhere", os.getpid())))
    while True:
        message, _, number = MESSAGES.parcel(line.recv_multipart())
        assert isinstance(message, Do)
        match message.what:
            case "say where":
                line.send_multipart(MESSAGES.frames(Where(sys.path), number=number))
            case "say something":
                line.send_multipart(MESSAGES.frames(Done()))
                line.send_multipart(MESSAGES.frames(Done(), number=number))
            case "answer nonsense":
                line.send_multipart([b"nonsense"])
                line.send_multipart(MESSAGES.frames(Where([]), number=number))
            case "give up":
                line.send_multipart(MESSAGES.frames(Failed.because(error("TL0001", "cannot go on"))))
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "be busy":
                while True:
                    time.sleep(0)


if __name__ == "__main__":
    main()
