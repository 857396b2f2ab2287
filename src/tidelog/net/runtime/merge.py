"""The traces of several processes as one, in a causal order.

Each process records its own steps in its own order, and a message has one number wherever it is. A step may follow once
everything it received has been sent: that is Lamport's order of events, so it always exists. Of the steps that may come
next those of the processes take turns, so that what happened side by side is seen side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from tidelog.errors import InternalError

Record = dict[str, Any]


def merge(traces: list[list[Record]]) -> Iterator[Record]:
    """The records of all traces: each trace in its own order, and each message sent before it is received."""
    queues = deque(deque(trace) for trace in traces if trace)
    in_flight: set[int] = set()
    passed_over = 0
    while queues:
        queue = queues.popleft()
        if in_flight.issuperset(queue[0].get("received", ())):
            record = queue.popleft()
            in_flight.difference_update(record.get("received", ()))
            in_flight.update(message[0] for message in record.get("sent", ()))
            passed_over = 0
            yield record
        else:
            passed_over += 1
            if passed_over > len(queues):
                raise InternalError("the traces have no causal order: a message was received that nobody sent")
        if queue:
            queues.append(queue)
