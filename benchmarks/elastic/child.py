"""One job, in this process: a line of JSON on standard output for each epoch, as soon as it is over.

Facts are read and encoded before anything is measured. `seconds` is the wall-clock time of the call; `ready` is what
passes after it until the engine has done all that it put off (the indexes that only updates need), so that no cost is
hidden between two epochs; `cpu` and `ready_cpu` are the same in seconds of the processor. Memory is VmHWM, the peak of
this process, reset once the facts are read if the system lets us.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.elastic.engines import Plain, Unavailable, engine_of
from benchmarks.elastic.jobs import MIXED, SMALL, EpochKey, Job
from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import Engine
from tidelog.epochs.report import EpochReport
from tidelog.errors import Report
from tidelog.evaluate.bindings import Words
from tidelog.io import BadRows, encode
from tidelog.io.read import read_inputs
from tidelog.lang.load import load_program
from tidelog.store import Database

Facts = dict[str, Words]
LONG = 1.0
"""If an epoch of a strategy that knows no small changes takes longer than this, one set of each size must do."""


def main() -> None:
    job = Job.from_json(sys.argv[1])
    report = Report()
    checked = check(load_program(job.program, report), report)
    try:
        engine = engine_of(checked, job.strategy, job.options)
    except Unavailable as problem:
        for key in job.epochs():
            emit(job, key, status="unavailable", why=str(problem))
        return
    facts = read(checked, Path(job.facts), engine.database)
    Measurement(job, checked, engine, facts).run()


class Measurement:
    """An engine that goes through the epochs of its job."""

    def __init__(self, job: Job, checked: Checked, engine: Engine | Plain, facts: Facts) -> None:
        self.job, self.engine, self.facts = job, engine, facts
        self.derived = {clause.head.name for clause in checked.clauses}
        self.reading = peak_memory()
        reset_peak()
        self.before = peak_memory()
        self.longest = 0.0
        self.skipping = False

    def run(self) -> None:
        changes = (
            mixed_changes(self.job, self.facts) if self.job.kind == "mixed" else cycle_changes(self.job, self.facts)
        )
        for key, (delete, insert) in zip(self.job.epochs(), changes, strict=True):
            if self.left_out(key):
                emit(self.job, key, status="left out", why="one set must do: this strategy takes long for any change")
            else:
                self.epoch(key, delete, insert)

    def left_out(self, key: EpochKey) -> bool:
        """Whether to leave out the epoch; a cycle is left out as a whole."""
        if key.step != "insert":
            self.skipping = self.job.strategy in ("plain", "batch") and key.number > 0 and self.longest > LONG
        return self.skipping

    def epoch(self, key: EpochKey, delete: Facts, insert: Facts) -> None:
        start, start_cpu, start_all = time.perf_counter(), time.thread_time(), time.process_time()
        if key.step in ("bootstrap", "0"):
            report = self.engine.bootstrap(self.facts)
        else:
            report = self.engine.update(NetChange(delete, insert))
        done, cpu = time.perf_counter(), time.thread_time() - start_cpu
        self.engine.query_database()
        ready = time.perf_counter() - done
        seconds, ready_cpu = done - start, time.process_time() - start_all - cpu
        if isinstance(self.engine, Plain):
            seconds, cpu, ready, ready_cpu = report.seconds, self.engine.cpu, 0.0, 0.0
        self.longest = max(self.longest, seconds)
        emit(
            self.job, key, status="ok",
            seconds=seconds, ready=ready, cpu=cpu, ready_cpu=ready_cpu, reported=report.seconds,
            derivations=report.derivations, facts=sum(map(len, (*delete.values(), *insert.values()))),
            impact=self.impact(report), ended=report.strategy, why=report.why,
            anew=sum(s.strategy == "bootstrap" for s in report.strata), strata=len(report.strata),
            peak=peak_memory(), before=self.before, reading=self.reading, load=os.getloadavg()[0],
            tuples=sum(self.engine.count(name) for name in self.derived),
        )  # fmt: skip

    def impact(self, report: EpochReport) -> int | None:
        """Derived tuples inserted and deleted; the evaluation that looks at no change does not know."""
        if isinstance(self.engine, Plain):
            return None
        return sum(
            len(rows) for side in (report.inserted, report.deleted) for n, rows in side.items() if n in self.derived
        )


# ---- facts and changes


def read(checked: Checked, folder: Path, database: Database) -> Facts:
    """The distinct input facts, in an order that is the same in every process."""
    inputs = [(checked.relations[d.relation], d) for d in checked.directives("input")]
    scratch = database.sibling()
    for name, table in read_inputs(inputs, checked.types, folder, BadRows()):
        info = checked.relations[name]
        relation = scratch[name] if name in scratch else scratch.create(name, info.arity)
        relation.insert(encode(table, info, checked.types, database))
        relation.settle()
    return {relation.name: relation.rows().astype(np.int64) for relation in scratch}


def choose(facts: Facts, numbers: np.ndarray) -> Facts:
    """The facts of these numbers, counted through all relations."""
    chosen: Facts = {}
    start = 0
    for name in sorted(facts):
        rows = facts[name]
        own = numbers[(numbers >= start) & (numbers < start + len(rows))] - start
        if len(own):
            chosen[name] = rows[np.sort(own)]
        start += len(rows)
    return chosen


def pool_of(job: Job, facts: Facts) -> int:
    total = sum(map(len, facts.values()))
    return min(total, job.pool) if job.pool else total


def cycle_changes(job: Job, facts: Facts) -> Iterator[tuple[Facts, Facts]]:
    yield {}, {}
    for size in job.sizes:
        for number in range(job.repeat):
            if job.fixed is not None:
                chosen = {name: np.array(rows, np.int64) for name, rows in job.fixed.items()}
            else:
                random = np.random.default_rng((job.seed, size, number))
                pool = pool_of(job, facts)
                chosen = choose(facts, random.choice(pool, min(size, pool), replace=False))
            yield chosen, {}
            yield {}, chosen


def mixed_changes(job: Job, facts: Facts) -> Iterator[tuple[Facts, Facts]]:
    """See `jobs.MIXED`: S sets and the large set L are disjoint; the final epoch inserts what the large one deleted."""
    small, large = SMALL, job.sizes[-1]
    sets = 5
    pool = pool_of(job, facts)
    numbers = np.random.default_rng((job.seed, 13)).permutation(pool)[: sets * small + large]
    chosen = {f"S{i}": choose(facts, numbers[i * small : (i + 1) * small]) for i in range(sets)}
    chosen["L"] = choose(facts, numbers[sets * small :])
    for name in MIXED:
        change = chosen.get(name[:-1], {})
        yield (change, {}) if name.endswith("-") else ({}, change)


# ---- records


def emit(job: Job, key: EpochKey, **values: object) -> None:
    print(json.dumps({**job.name(), "size": key.size, "number": key.number, "step": key.step, **values}), flush=True)


def peak_memory() -> int:
    """VmHWM in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def reset_peak() -> None:
    """From now on, the peak is that of what follows."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


if __name__ == "__main__":
    main()
