"""A history of epochs, each held against the definition of its state."""

from __future__ import annotations

from typing import Any

import numpy as np

import interpreter
from strategies.budget import note_seed
from strategies.epochs import Facts, History
from strategies.subject import Subject
from tidelog.errors import TidelogError


def net(before: Facts, after: Facts) -> tuple[Facts, Facts]:
    return {n: before[n] - after[n] for n in before}, {n: after[n] - before[n] for n in before}


def compare(history: History, strategy: str, **options: Any) -> None:
    note_seed(history)
    try:
        subject = Subject(history.example.text, strategy, **options)
    except TidelogError:
        return
    follow(subject, history)


def follow(subject: Subject, history: History) -> None:
    """Every epoch of a history: the states, and what each epoch says has changed, are those of the definition."""
    before: Facts = {}
    known: dict[str, set[Any]] = {name: set() for name in subject.checked.relations}
    for facts in history.facts():
        wanted = interpreter.state(subject.checked, facts, by_classes=True)  # first: it gives up where it is much
        report = subject.update(*net(before, facts)) if before else subject.bootstrap(facts)
        found = subject.state()
        for name, rows in wanted.items():
            if name in subject.whole():
                assert set(found[name]) == set(rows), name
            else:
                assert found[name] == rows, name
            inserted = set(subject.values(name, report.inserted.get(name, np.empty((0, 0), np.int64))))
            deleted = set(subject.values(name, report.deleted.get(name, np.empty((0, 0), np.int64))))
            assert (inserted, deleted) == (set(rows) - known[name], known[name] - set(rows)), f"change of {name}"
            known[name] = set(rows)
        before = facts
