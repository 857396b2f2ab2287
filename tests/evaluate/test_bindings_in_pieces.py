"""Where Python takes part in a rule, bindings come to it in pieces: the same result, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import interpreter
from strategies.subject import Subject
from tidelog.store import pipeline
from tidelog.store.pipeline import Pipeline

SPELLED = """
.decl a(x: number)
.decl b(x: number)
.input a
.input b
.decl spelled(text: symbol, x: number)
.decl short(text: symbol)
.decl pairs(n: number)
spelled(cat(to_string(x), to_string(y)), x) :- a(x), b(y).
spelled(substr(t, 0, 1), y) :- spelled(t, x), strlen(t) > 1, a(y), y <= x.
short(t) :- spelled(t, x), spelled(t, y), x < y, strlen(cat(t, "!")) < 3.
pairs(n) :- n = count : { spelled(_, _), short(_) }.
"""
FACTS = {"a": {(n,) for n in range(7)}, "b": {(n,) for n in range(5)}}
CHANGED = {"a": {(n,) for n in range(2, 7)} | {(40,)}, "b": {(n,) for n in range(5)}}


@pytest.mark.parametrize("strategy", ["batch", "update", "elastic", "update-paper", "counting"])
def test_results_do_not_depend_on_the_size_of_the_pieces(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PIECE", 3)
    pieces: list[int] = []

    def noted(self: Pipeline, batch: Any = None) -> Iterator[Any]:
        for rows in in_pieces(self, batch):
            pieces.append(len(rows))
            yield rows

    in_pieces = Pipeline.pieces
    monkeypatch.setattr(Pipeline, "pieces", noted)
    subject = Subject(SPELLED, strategy, switch=10.0)
    subject.database.budget = subject.database.chunk = 8
    subject.bootstrap(FACTS)
    expect(subject, FACTS)
    subject.update({"a": FACTS["a"] - CHANGED["a"]}, {"a": CHANGED["a"] - FACTS["a"]})
    expect(subject, CHANGED)
    assert len([n for n in pieces if n >= 3]) > 20
    assert max(pieces) < 30  # of 35 pairs of a and b


def expect(subject: Subject, facts: Any) -> None:
    for name, rows in interpreter.state(subject.checked, facts, by_classes=True).items():
        found = subject.state()[name]
        assert (set(found) == set(rows)) if name in subject.whole() else (found == rows), name
