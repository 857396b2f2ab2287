"""Workers with rounds against workers without, in processes on this machine, one after the other in each round.

python -m benchmarks.distributed.with_and_without_rounds [--workers 2] [--rounds 3] [--shares 20]

What is compared are seconds of `bootstrap`, and messages and bytes between the workers; the results must be the same.
Figures of a machine that does other things as well are good for their ratio alone.
"""

from __future__ import annotations

import argparse
import statistics
import time

import tidelog
from benchmarks.distributed.growing_data import WORKLOADS

STRATEGIES = ("batch", "async")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shares", type=int, default=20)
    given = parser.parse_args()
    print("| workload | strategy | derived | s | messages | MB |\n|---|---|--:|--:|--:|--:|")
    for name, workload in WORKLOADS.items():
        facts = {k: [*map(tuple, rows.tolist())] for k, rows in workload.facts(given.workers, given.shares).items()}
        seconds: dict[str, list[float]] = {strategy: [] for strategy in STRATEGIES}
        sent: dict[str, tuple[int, int]] = {}
        derived: dict[str, int] = {}
        sessions = {s: tidelog.Session(workload.program, strategy=s, workers=given.workers) for s in STRATEGIES}
        for _ in range(given.rounds):
            for strategy, session in sessions.items():
                start = time.perf_counter()
                session.bootstrap(facts)
                seconds[strategy].append(time.perf_counter() - start)
        for strategy, session in sessions.items():
            many = session._backend._open().many  # type: ignore[attr-defined]
            traffic = many.traffic()
            sent[strategy] = (
                int(sum(part.messages.sum() for part in traffic)) // given.rounds,
                int(sum(part.bytes.sum() for part in traffic)) // given.rounds,
            )
            derived[strategy] = sum(many.count(relation) for relation in session.checked.relations)
            session.close()
        assert len(set(derived.values())) == 1, f"{name}: {derived}"
        for strategy in STRATEGIES:
            messages, size = sent[strategy]
            print(
                f"| {name} | {strategy} | {derived[strategy]:,} | {statistics.median(seconds[strategy]):.2f} "
                f"| {messages:,} | {size / 1e6:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
