"""Strata that one worker evaluates for all: aggregates, and those that are no sum of derivations.

The first worker has a second store for them, into which all send what such a stratum reads; there it is evaluated as in
one process, and what it derives goes to its owners. What is always true: the second store has nothing between two such
phases. Cost: what the stratum reads and holds must fit into the memory of one worker.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tidelog.analysis.checked import Checked
from tidelog.epochs.one_store import Functors
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import rules_of_strata
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.limits import Limits
from tidelog.evaluate.prepare import Prepared
from tidelog.plan.exchange.phases import AsyncPhase
from tidelog.plan.stateful import StatefulProgram
from tidelog.store import NEVER, Database


class AtFirst:
    """See the module's docstring."""

    def __init__(
        self, checked: Checked, program: StatefulProgram, functors: Functors, database: Database, limits: Limits
    ) -> None:
        self._program, self._limits = program, limits
        self._database = database
        self._context = Prepared(checked, functors).context(database)
        self._gathered: dict[str, list[Words]] = {}

    def gather(self, name: str, rows: Words) -> None:
        self._gathered.setdefault(name, []).append(rows)

    def evaluate(self, phase: AsyncPhase) -> Iterator[tuple[str, Words]]:
        """What the stratum of a phase holds, relation by relation."""
        (stratum,) = phase.strata
        database = self._database
        names = dict.fromkeys((*phase.inputs, *stratum.relations))
        for name in names:
            relation = database.create(name, self._program.arities[name], stateful=True)
            for rows in self._gathered.pop(name, []):
                relation.insert(rows)
            relation.settle()
        plan = rules_of_strata(self._program, [stratum])
        Fixpoint(plan, self._context, self._limits).run_one(0, plan.strata[0])
        for name in stratum.relations:
            relation = database[name]
            rows = relation.rows()[relation.now() != NEVER] if relation.dirty else relation.rows()[:]
            yield name, np.array(rows, np.int64)
        for name in names:
            database.drop(name)
