"""The engines that are measured: those of the strategies, and one that only evaluates."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.elastic.jobs import Options
from tidelog.analysis.checked import Checked
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import Engine, EngineOptions, make_engine
from tidelog.epochs.report import EpochReport
from tidelog.errors import InternalError
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.prepare import Prepared
from tidelog.store import Database


class Unavailable(Exception):
    """A strategy or an option that this version does not have."""


def engine_of(checked: Checked, strategy: str, options: Options) -> Engine | Plain:
    settings = engine_options(options)
    if strategy == "plain":
        return Plain(checked, settings)
    try:
        engine = make_engine(checked, settings, strategy)
    except (InternalError, ImportError, NotImplementedError) as problem:
        raise Unavailable(f"strategy {strategy}: {problem}") from problem
    return engine


def engine_options(options: Options) -> EngineOptions:
    """Options by name; those of update-paper are a record of their own, `EngineOptions.paper`."""
    known = {f.name: f for f in dataclasses.fields(EngineOptions)}
    values: dict[str, Any] = {key: value for key, value in options.items() if key in known}
    others = {key: value for key, value in options.items() if key not in known}
    if others:
        paper: Any = getattr(EngineOptions(), "paper", None)
        if paper is None or not set(others) <= {f.name for f in dataclasses.fields(paper)}:
            raise Unavailable(f"option {', '.join(others)} is not there yet")
        values["paper"] = dataclasses.replace(paper, **others)
    return EngineOptions(**values)


class Plain:
    """Evaluates everything anew in each epoch, and does not look at what changed.

    This is what a batch engine does, and the base line of the paper; the strategy "batch" also finds the change. The
    seconds of its reports are those from facts to the fixpoint; keeping the list of facts is not among them.
    """

    def __init__(self, checked: Checked, options: EngineOptions) -> None:
        self.prepared = Prepared(checked, options.functors)
        self.options = options
        self.database = Database(threads=options.threads)
        self.given: dict[str, Words] = {}
        self.current: Database | None = None
        self.cpu = 0.0  # of the last evaluation

    def bootstrap(self, facts: Mapping[str, Words]) -> EpochReport:
        self.given = dict(facts)
        if self.current is not None:
            for relation in self.current:
                relation.clear()
        start, start_cpu = time.perf_counter(), time.thread_time()
        self.current = self.database.sibling()
        self.prepared.create_relations(self.current)
        for name, rows in facts.items():
            self.current[name].insert(rows)
            self.current[name].settle()
        fixpoint = Fixpoint(self.prepared.plan, self.prepared.context(self.current), self.options.limits)
        fixpoint.run()
        self.cpu = time.thread_time() - start_cpu
        return EpochReport(0, "batch", "evaluation alone", time.perf_counter() - start, fixpoint.derivations)

    def update(self, change: NetChange) -> EpochReport:
        facts = dict(self.given)
        for name, rows in change.delete.items():
            gone = self.database.create("gone", rows.shape[1])
            gone.insert(rows)
            gone.settle()
            facts[name] = facts[name][~gone.contains(facts[name])]
            self.database.drop("gone")
        for name, rows in change.insert.items():
            facts[name] = np.concatenate((facts[name], rows))
        return self.bootstrap(facts)

    def count(self, name: str) -> int:
        assert self.current is not None
        return int(self.current[name].count)

    def query_database(self) -> Database:
        assert self.current is not None
        return self.current
