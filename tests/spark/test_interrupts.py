"""A test that is interrupted, by its time limit for instance, leaves the session to the others as it was."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

import pytest


class Interrupt(BaseException):
    """As pytest's own, which no `except Exception` catches."""


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next(spark: Any) -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    try:
        with pytest.raises(Interrupt) as kept:  # whose traceback keeps the connection
            spark._jvm.java.lang.Thread.sleep(5_000)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert spark.range(3).count() == 3
    assert kept.value is not None
