"""One step of the benchmark: `python -m benchmarks.state.child bootstrap|stored|open|update PROGRAM FACTS STATE`."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time

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
    with Session(program) as warm:  # kernels are loaded and the program is parsed by every process alike
        warm.bootstrap({})
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
                name = next(n for n in session.inputs if session[n].count())
                session.update(delete={name: session[name].to_arrow().slice(0, CHANGED)})
                found["updated"] = clock.read()
                session.update(insert={name: session[name].to_arrow().slice(0, 0)})
    print(json.dumps(found))


def prepared(session: Session) -> None:
    """Wait for the indexes that updates need."""
    session._backend.ready().query_database()  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
