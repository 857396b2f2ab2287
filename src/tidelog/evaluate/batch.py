"""A whole batch run: read the inputs, evaluate, write the outputs. What `tidelog run` does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Diagnostic, TidelogError
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.profile import Profile
from tidelog.io.bad_rows import BadRows
from tidelog.io.codec import decode, encode
from tidelog.io.order import places_in_order
from tidelog.io.read import read_facts
from tidelog.io.sizes import size_limits, size_line
from tidelog.io.write import Parts, write_relation
from tidelog.store import Database, Equivalence


@dataclass
class Options:
    """How to run: folders, threads, functors, limits."""

    facts: Path = Path(".")
    output: Path = Path(".")  # a folder, or "-" for standard output
    threads: int = 1
    functors: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    skip_bad_rows: bool = False
    profile: str | None = None


class BatchRun:
    """One run of a checked program. After `evaluate`, `table(name)` gives any relation."""

    def __init__(self, checked: Checked, options: Options, observer: Observer | None = None) -> None:
        self.checked = checked
        self.options = options
        self.observer = observer
        self.prepared = Prepared(checked, options.functors)
        self.database = Database(threads=options.threads)
        self.prepared.create_relations(self.database)
        self.context = self.prepared.context(self.database)
        self.bad_rows = BadRows(skip=options.skip_bad_rows)
        self.derivations = 0
        self.warnings: list[Diagnostic] = []
        self.profile = Profile() if options.profile else None

    def run(self) -> None:
        """Everything: read, evaluate, write."""
        start = time.perf_counter()
        self.read()
        self.evaluate()
        self.write()
        if self.profile is not None and self.options.profile:
            self.profile.write(self.options.profile, self.context, time.perf_counter() - start)

    def read(self) -> None:
        """The facts of all `.input` relations; what is wrong with any of them is raised together."""
        types = self.checked.types
        problems: list[Diagnostic] = []
        for directive in self.checked.directives("input"):
            info = self.checked.relations[directive.relation]
            try:
                table = read_facts(info, types, directive, self.options.facts, self.bad_rows)
            except TidelogError as problem:
                problems += problem.diagnostics
                continue
            if not problems:
                self.database[info.name].insert(encode(table, info, types, self.database))
                self.database[info.name].settle()
        if problems:
            raise TidelogError(problems)

    def evaluate(self) -> None:
        sizes = size_limits(self.checked.directives("limitsize"))
        fixpoint = Fixpoint(self.prepared.plan, self.context, self.options.limits, self.observer, self.profile, sizes)
        fixpoint.run()
        self.derivations = fixpoint.derivations

    def write(self) -> None:
        for directive in self.checked.directives("output"):
            info = self.checked.relations[directive.relation]
            self.warnings += write_relation(
                info, self.checked.types, self._tuples(info), directive, self.options.output
            )
        for directive in self.checked.directives("printsize"):
            print(size_line(directive.relation, self.database[directive.relation].count))

    def table(self, name: str, compact: bool = False) -> Any:
        """A relation as an Arrow table; compact keeps its texts as dictionaries."""
        info, rows = self.checked.relations[name], self.database[name].rows(None)
        return decode(rows, info, self.checked.types, self.database, compact)

    def _tuples(self, info: RelationInfo) -> Any:
        """What is to be written; all pairs of an equivalence are never in memory together."""
        relation, types = self.database[info.name], self.checked.types
        if not isinstance(relation, Equivalence):
            return self.table(info.name, compact=True)
        elements = decode(np.column_stack((relation.elements,) * 2), info, types, self.database, compact=True)
        batches = relation.batches(places_in_order(elements.column(0)))
        return Parts(relation.count, (decode(b, info, types, self.database, compact=True) for b in batches))
