"""Shared by all tests: this folder is on the path, so that test helpers can be imported from anywhere in it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Interrupts arrive, also where the tests run in the background, where a shell makes processes deaf to them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
