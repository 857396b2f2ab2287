"""Workers that are children of this process, on this machine.

What is always true: they end when this process does, however it ends (`wire.children`). What a worker is made from goes
to its standard input as a pickle, which nobody else can write to; functions in it are found by their module and name,
or, where they have none, travel whole.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from tidelog.errors import error
from tidelog.exchange.serving import serve
from tidelog.exchange.workers import Contract, Factory
from tidelog.exchange.workforce import Workforce
from tidelog.wire import children
from tidelog.wire.children import Child
from tidelog.wire.messages import Beat, Message
from tidelog.wire.rendezvous import WorkerLost

HOST = "127.0.0.1"


class Children:
    """The processes of an attempt: a `workforce.Running`."""

    patience = 600.0
    """Seconds that they may take to start, kernels to be compiled included: if one ends meanwhile, that is noticed."""

    def __init__(self, contract: Contract) -> None:
        orders = [_pickled((contract, number)) for number in range(contract.size)]
        self._children: list[Child] = []
        for order in orders:
            self._children.append(Child(__name__))
            self._children[-1].employ(order)

    def alive(self) -> None:
        for number, child in enumerate(self._children):
            try:
                child.alive()
            except WorkerLost as problem:
                raise WorkerLost(f"worker {number} of {len(self._children)}: {problem}") from None

    def end(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        for child in self._children:
            child.end(max(0.0, deadline - time.monotonic()))


def _pickled(order: Any) -> bytes:
    """By value where a function cannot be found by its name, as those of a script."""
    with contextlib.suppress(pickle.PicklingError, AttributeError, TypeError):
        by_name = pickle.dumps(order)
        if b"__main__" not in by_name:
            return by_name
    from pyspark import cloudpickle  # takes a while to import, in the child as well

    try:
        return bytes(cloudpickle.dumps(order))  # type: ignore[no-untyped-call]
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise error(
            "TL1271", f"what the workers need cannot be handed to other processes: {problem}",
            help="functors have to be functions that use nothing but values and modules: no locks, no open files",
        ) from None  # fmt: skip


def process_workers(
    size: int,
    factory: Factory,
    order: Any,
    kinds: Sequence[type[Message]],
    watch: Callable[[Beat], None] | None = None,
) -> Workforce:
    """So many workers, each in a process of its own."""
    children.refuse_too_many(size)
    try:
        return Workforce(size, factory, order, kinds, Children, HOST, watch=watch)
    except WorkerLost as problem:
        raise error("TL1272", f"the workers did not start: {problem}") from None


def main() -> None:
    order = children.order()
    if order is None:
        return  # the parent has ended, or needs no worker
    serve(*pickle.loads(order))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # all is closed, and to take a large store apart takes time


if __name__ == "__main__":
    main()
