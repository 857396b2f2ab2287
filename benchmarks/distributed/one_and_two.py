"""`python -m benchmarks.distributed.one_and_two`: a program in one process, with one worker, and with several.

Each is a session that is bootstrapped and then updated: facts of its largest input are deleted and inserted again, as
many as `--changes` says. Rounds are interleaved, so that a noisy machine disturbs all alike; shown are medians, and how
they compare with one worker. Start-up of processes and reading of files are not in the times; sharing facts out is.
Workers evaluate on one thread each, so the machine must have as many free cores as there are workers.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
from typing import Any

from benchmarks.batch.workloads import REPOSITORY, Workload, workloads

DEFAULT = ("sf_cedge", "cspa10k", "galen", "doop", "closure_random", "same_generation")
CHILD = "from benchmarks.distributed.one_and_two import child; child()"


def child() -> None:
    """One session, in a process of its own: prints what it took."""
    import tidelog

    given = json.loads(sys.argv[1])
    drawn = random.Random(1)
    with tidelog.Session(
        given["program"], facts=given["facts"], workers=given["workers"], strategy="update"
    ) as session:
        found: dict[str, Any] = {"bootstrap": session.bootstrap().seconds}
        sizes = {name: session.count(name) for name in session.relations}
        largest = max(session.inputs, key=lambda name: sizes[name])
        facts = drawn.sample(sorted(session[largest]), min(given["changes"], sizes[largest]))
        for _ in range(2):  # the first pair gets everything ready
            found["delete"] = session.update(delete={largest: facts}).seconds
            found["insert"] = session.update(insert={largest: facts}).seconds
        assert {name: session.count(name) for name in session.relations} == sizes
        found["tuples"] = sum(sizes.values())
        found["sent"] = found["memory"] = 0
        if given["workers"]:
            traffic = session._backend.engine.many.traffic()  # type: ignore[attr-defined]
            found["sent"] = sum(int(part.bytes.sum()) for part in traffic)
            found["memory"] = max(part.memory for part in traffic)
    print(json.dumps(found))


def measured(workload: Workload, workers: int | None, changes: int) -> dict[str, Any] | None:
    given = {"program": str(workload.program), "facts": str(workload.facts), "workers": workers, "changes": changes}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(given)], capture_output=True, text=True, cwd=REPOSITORY, check=False
    )
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=DEFAULT)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--changes", type=int, default=100, help="facts that an update deletes, and inserts again")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    teams = [None, 1, asked.workers]
    print("| workload | tuples | workers | Bootstrap s | against one | delete ms | insert ms | sent MB | memory MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for workload in (found for found in workloads() if found.name in asked.workloads):
        runs: dict[int | None, list[dict[str, Any]]] = {team: [] for team in teams}
        for _ in range(asked.rounds):
            for team in teams:
                run = measured(workload, team, asked.changes)
                if run is not None:
                    runs[team].append(run)
        _show(workload.name, runs)


def _show(name: str, runs: dict[int | None, list[dict[str, Any]]]) -> None:
    def middle(team: int | None, what: str) -> float:
        return statistics.median(run[what] for run in runs[team])

    for team, found in runs.items():
        if not found:
            print(f"| {name} | | {team or 'none'} | failed | | | | | |", flush=True)
            continue
        against = f"{middle(1, 'bootstrap') / middle(team, 'bootstrap'):.2f}x" if runs[1] else ""
        print(
            f"| {name} | {found[0]['tuples']:,} | {team or 'none'} | {middle(team, 'bootstrap'):.2f} | {against} "
            f"| {1000 * middle(team, 'delete'):.1f} | {1000 * middle(team, 'insert'):.1f} "
            f"| {middle(team, 'sent') / 1e6:.1f} | {middle(team, 'memory') / 1e6:.0f} |",
            flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
