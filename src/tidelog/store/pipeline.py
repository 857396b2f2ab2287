"""A pipeline: plan steps over a database, run natively, growing whatever the kernels say is full.

What is always true: between two calls of a kernel the plan's place is kept in its block, so growing, widening or
pausing loses and repeats nothing. Cost: a call is some microseconds; encoding happens once, and again when an index
that it uses has got another layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tidelog.plan.steps import Step
from tidelog.store import codes
from tidelog.store.adaptive import Fewer
from tidelog.store.blocks import PlanBlock, TupleOperation, words_at
from tidelog.store.encode import Encoder
from tidelog.store.encoded import Encoded, Scratch
from tidelog.store.faults import ArithmeticFault, NotWorse
from tidelog.store.memory import Array, address
from tidelog.store.operations import OPERATIONS
from tidelog.store.pending import Pending
from tidelog.store.relation import Relation

if TYPE_CHECKING:
    from tidelog.store.database import Database


PIECE = 1 << 18
"""Rows of output from which on they are handed over at the next pause."""


class Pipeline:
    """See the module's docstring. Made by `Database.pipeline`."""

    def __init__(
        self,
        database: Database,
        steps: Sequence[Step | Fewer],
        inputs: Sequence[int] | None = None,
        outputs: Sequence[int] | None = None,
        changing: frozenset[str] = frozenset(),
        scratch: Scratch | None = None,
        sink: Relation | None = None,
        pending: Pending | None = None,
    ) -> None:
        self.database, self.steps, self.changing = database, tuple(steps), changing
        self.inputs, self.outputs = inputs, outputs
        self.scratch = scratch or Scratch(database.chunk)
        self._source = None if inputs is None else Relation(database, "(input)", len(inputs), codes.BAG, wide=True)
        self._sink, self._keeps = sink, sink is not None
        self._pending = pending
        self._encoded: Encoded | None = None
        self._derivations = self._cycles = self._effort = 0

    @property
    def derivations(self) -> int:
        """Tuples emitted so far, known ones included."""
        return self._derivations + self._counter("derivations")

    @property
    def cycles(self) -> int:
        """Processor cycles spent so far."""
        return self._cycles + self._counter("cycles")

    @property
    def effort(self) -> int:
        """Bindings made so far, at all levels."""
        return self._effort + self._counter("effort")

    def _counter(self, name: str) -> int:
        return 0 if self._encoded is None else int(getattr(self._encoded.plan, name))

    def encoded(self) -> Encoded:
        """The plan block, encoded now if it was not or is no longer valid. Not while the plan is running."""
        while self._encoded is None or self._encoded.stale:
            self._derivations, self._cycles, self._effort = self.derivations, self.cycles, self.effort
            if self.outputs is not None and self._sink is None:
                self._sink = self._new_sink()
            encoder = Encoder(self.database, self.changing, self.scratch, self._pending)
            self._encoded = encoder.encode(self.steps, self._source, self.inputs or (), self._sink, self.outputs or ())
        return self._encoded

    def _new_sink(self) -> Relation:
        return Relation(self.database, "(output)", len(self.outputs or ()), codes.BAG, wide=True)

    def run(self, batch: Any = None) -> Array | None:
        """Run over the database, or over a batch (one column per input slot); gives the output batch, if any."""
        for _ in self.database.run_plan(self._begin(batch)):
            pass
        return None if self._sink is None or self._keeps else self._sink.rows()

    def pieces(self, batch: Any = None) -> Iterator[Array]:
        """The same, for a pipeline with output: as it comes, so that never all of it need be in memory."""
        encoded, sink = self._begin(batch), self._sink
        assert sink is not None, "an output"
        for _ in self.database.run_plan(encoded):
            if sink.count >= PIECE:
                yield sink.rows().copy()
                sink.count = 0
        yield sink.rows()

    def _begin(self, batch: Any) -> Encoded:
        encoded = self.encoded()
        if self._source is not None:
            rows = np.ascontiguousarray(batch, np.int64).reshape(len(batch), len(self.inputs or ()))
            block = self._source.block
            block.rows = address(rows)
            block.count = block.delta_stop = len(rows)
        if self._sink is not None and not self._keeps:
            self._sink.clear()
        for index, _ in encoded.indexes:
            self.database.update(index)
        return encoded


class Alternatives:
    """A plan whose bindings each go through one of several pipelines (see `adaptive`)."""

    def __init__(self, pipelines: Sequence[Pipeline]) -> None:
        self.pipelines = tuple(pipelines)

    @property
    def derivations(self) -> int:
        return sum(p.derivations for p in self.pipelines)

    @property
    def cycles(self) -> int:
        return sum(p.cycles for p in self.pipelines)

    @property
    def effort(self) -> int:
        return sum(p.effort for p in self.pipelines)

    def run(self, batch: Any = None) -> None:
        for pipeline in self.pipelines:
            pipeline.run()


def chunk_limits(encoded: Encoded) -> tuple[list[int], list[int]]:
    """Least and greatest value of each column of the chunk that a plan could not store in a relation."""
    level = encoded.level
    op = TupleOperation.from_address(words_at(level.ops, level.nop)[encoded.plan.op])
    columns = [words_at(column, level.count) for column in words_at(op.columns, op.ncolumn)]
    return [min(column) for column in columns], [max(column) for column in columns]


def fault(plan: PlanBlock) -> ArithmeticFault:
    """What a plan stopped at."""
    return ArithmeticFault(OPERATIONS[plan.fault_functor], plan.fault_left, plan.fault_right)


def not_worse(encoded: Encoded) -> NotWorse:
    """The derivation that a plan stopped at, since it is better than its body or its value is no number."""
    at = encoded.plan.fault_left
    words = {slot: words_at(column, at + 1)[at] for slot, column in encoded.columns.items()}
    return NotWorse(words, encoded.plan.fault_right, is_number=not encoded.plan.fault_functor)


def encode_together(pipelines: Sequence[Pipeline]) -> None:
    """Encode all plans; the coverage that one asks of an index may make another stale, so until none is."""
    while sum(pipeline.encoded().stale for pipeline in pipelines):
        pass
