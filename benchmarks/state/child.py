"""One step of the benchmark: `python -m benchmarks.state.child bootstrap|stored|open|update PROGRAM FACTS STATE`."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from itertools import islice
from pathlib import Path

import pyarrow as pa

from tidelog.session import Session

CHANGED = 10


class Clock:
    """Seconds, and seconds of processors, since it was made: on a busy machine the latter tell more."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), self._processors()

    @staticmethod
    def _processors() -> float:
        used = os.times()
        return used.user + used.system

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._start[0], self._processors() - self._start[1]


def main() -> None:
    what, program, facts, state = sys.argv[1:]
    with Session(program) as warm:  # kernels and pandas are loaded and the program is parsed by every process alike
        warm.bootstrap({})
    pa.scalar(0)
    found: dict[str, object] = {}
    if what in ("bootstrap", "stored"):
        if what == "stored":
            shutil.rmtree(state, ignore_errors=True)
        with Session(program, facts=facts, state=state if what == "stored" else None) as session:
            clock = Clock()
            session.bootstrap()
            found["bootstrap"] = clock.read()
            found["tuples"] = sum(session[name].count() for name in session.relations)
            prepared(session)
            found["ready"] = clock.read()
    else:
        clock = Clock()
        with Session(program, state=state) as session:
            found["open"] = clock.read()
            if what == "open":
                prepared(session)
                found["ready"] = clock.read()
            else:
                session.update(delete=some_facts(facts))
                found["updated"] = clock.read()
    print(json.dumps(found))


def some_facts(folder: str) -> dict[str, list[tuple[int, ...]]]:
    """The first facts of a relation of numbers."""
    file = min(Path(folder).glob("*.facts"))
    with file.open() as lines:
        return {file.stem: [tuple(map(int, line.split("\t"))) for line in islice(lines, CHANGED)]}


def prepared(session: Session) -> None:
    """Wait for the indexes that updates need."""
    session._backend.ready().query_database()  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
