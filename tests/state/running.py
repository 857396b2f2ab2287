"""An engine with a state directory, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from strategies.engine import checked_program
from strategies.subject import Subject
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import EngineOptions
from tidelog.state import open_state

REACH = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl far(x: number, n: number)
far(x, n) :- path(x, _), n = count : { path(x, _) }.
.decl lonely(x: number)
lonely(x) :- edge(_, x), !edge(x, _).
"""


class DurableSubject(Subject):
    """Values as the oracle has them go in and come out; `with` closes it."""

    def __init__(self, text: str, folder: Path, migrate: bool = False, **options: Any) -> None:
        self.checked = checked_program(text)
        self.engine, self.durable = open_state(self.checked, EngineOptions(**options), folder, migrate=migrate)
        self.database = self.engine.database

    def update(self, delete: Any, insert: Any, batch: Any = None) -> Any:
        return self.engine.update(NetChange(self.words(delete), self.words(insert), batch))

    def __enter__(self) -> DurableSubject:
        return self

    def __exit__(self, *problem: object) -> None:
        self.durable.close()
