"""One step of the benchmark: `python -m benchmarks.state.child bootstrap|stored|open|update PROGRAM FACTS STATE`."""

from __future__ import annotations

import json
import shutil
import sys
import time

from tidelog.session import Session

CHANGED = 10


def main() -> None:
    what, program, facts, state = sys.argv[1:]
    with Session(program) as warm:  # kernels are loaded and the program is parsed by every process alike
        warm.bootstrap({})
    found: dict[str, float] = {}
    if what in ("bootstrap", "stored"):
        if what == "stored":
            shutil.rmtree(state, ignore_errors=True)
        with Session(program, facts=facts, state=state if what == "stored" else None) as session:
            found["seconds"] = session.bootstrap().seconds
            found["tuples"] = sum(session[name].count() for name in session.relations)
    else:
        start = time.perf_counter()
        with Session(program, state=state) as session:
            found["open"] = time.perf_counter() - start
            if what == "open":
                session.query_ready()
                found["ready"] = time.perf_counter() - start
            else:
                name = next(n for n in session.inputs if session[n].count())
                session.update(delete={name: session[name].to_arrow().slice(0, CHANGED)})
                found["updated"] = time.perf_counter() - start
    print(json.dumps(found))


if __name__ == "__main__":
    main()
