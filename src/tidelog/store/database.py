"""A database: relations, symbols and records, and the one place where kernels are called and their wishes met.

What is always true: every relation and index that a running plan may name is known here by the address of its block.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from tidelog import deadline
from tidelog.plan.steps import Const, Plan, Step
from tidelog.store import codes, native
from tidelog.store.adaptive import alternatives
from tidelog.store.crew import Crew
from tidelog.store.encoded import Encoded
from tidelog.store.equivalence import Equivalence
from tidelog.store.index import Index
from tidelog.store.memory import Array, address
from tidelog.store.pending import Pending
from tidelog.store.pipeline import Alternatives, Pipeline, chunk_limits, fault, not_worse
from tidelog.store.records import Records
from tidelog.store.relation import Relation
from tidelog.store.stratum import NativeStratum
from tidelog.store.symbols import Symbols
from tidelog.values import Kind, canonical

MANY_CONSTANTS = 1 << 13
SHORT_CHUNK = 64


class Database:
    """Relations in memory. `chunk` is the number of bindings worked on at a time; the other settings are for tests."""

    def __init__(
        self,
        threads: int = 1,
        chunk: int = 512,
        initial_capacity: int = 64,
        bitmaps_from: int = 1 << 14,
        budget: int = 1 << 22,
        parallel_from: int = 1 << 14,
    ) -> None:
        self.threads, self.chunk, self.budget = threads, chunk, budget
        self.initial_capacity, self.bitmaps_from = initial_capacity, bitmaps_from
        self.parallel_from = parallel_from if threads > 1 else 2**62  # smaller deltas stay on one thread
        self.kernels = native.load()
        self.crew = Crew(self, threads)
        self.scratch = np.zeros(1024, np.int64)
        self.symbols = Symbols(self.kernels)
        self.relations: dict[str, Relation] = {}
        self.views: dict[str, Equivalence] = {}  # what a relation of pairs stands for, whose classes are kept beside it
        self.layout_version = 0  # goes up whenever an index gets another layout
        self._known: dict[int, Relation] = {}
        self._constants: dict[int, tuple[int, Array]] = {}  # with their addresses
        self._inserters: dict[int, Pipeline] = {}
        self._remarks: dict[str, bool] = {}  # whether they were told
        self.rounds = 0  # of all updates in which only the best counts
        self.indexing = 0.0  # seconds that indexes were brought up to date, but for those of a running stratum
        self.records = Records(self)
        self._clock = time.perf_counter(), self.kernels.now()

    def sibling(self) -> Database:
        """An empty database with the same settings that shares symbols and records, so that a row means the same in
        both. Only one of them may be running at a time."""
        made = Database(
            self.threads, self.chunk, self.initial_capacity, self.bitmaps_from, self.budget, self.parallel_from
        )
        made.share_dictionaries(self)
        return made

    def share_dictionaries(self, other: Database) -> None:
        """Have the symbols and records of another database. This one has no tuples yet."""
        self.symbols, self._remarks = other.symbols, other._remarks
        self.records = Records(self, other.records)

    def remark(self, text: str, told: bool = False) -> None:
        """Something about values that the user should know; each is told once."""
        self._remarks.setdefault(text, told)

    def take_remarks(self) -> list[str]:
        """What was remarked, here or in a sibling, and not yet told."""
        new = [text for text, told in self._remarks.items() if not told]
        self._remarks.update(dict.fromkeys(new, True))
        return new

    def cycles_per_second(self) -> float:
        """How fast the counter runs that plans are timed with."""
        seconds = time.perf_counter() - self._clock[0]
        return max((self.kernels.now() - self._clock[1]) / max(seconds, 1e-9), 1.0)

    def create(self, name: str, arity: int, stateful: bool = False) -> Relation:
        """A new, empty relation; a stateful one keeps for each tuple when and how often it was derived."""
        if name in self.relations:
            raise ValueError(f"relation {name} exists")
        relation = self.relations[name] = Relation(self, name, arity, stateful=stateful)
        self.adopt(relation)
        return relation

    @property
    def equivalences(self) -> frozenset[str]:
        """The relations that are held as classes."""
        whole = (name for name, found in self.relations.items() if isinstance(found, Equivalence))
        return frozenset((*self.views, *whole))

    def meant(self, name: str) -> Relation:
        """What a relation holds to those who ask for it by its name."""
        return cast(Relation, self.views[name]) if name in self.views else self[name]

    def view_equivalence(self, name: str) -> Equivalence:
        """Let a relation stand for the equivalence whose classes and sizes are kept beside it."""
        self.views[name] = Equivalence(self, name)
        return self.views[name]

    def complete_equivalence(self, name: str) -> Equivalence:
        """Replace a relation by the smallest equivalence that has its tuples."""
        given = self[name]
        equivalence = Equivalence.completed(self, given)
        self.drop(name)
        self.relations[name] = cast(Relation, equivalence)  # to its readers, a relation
        return equivalence

    def drop(self, name: str) -> None:
        """Forget a relation; pipelines that use it must not run again."""
        self.retire(self.relations.pop(name))

    def renew(self, names: Sequence[str]) -> list[Relation]:
        """Put an empty relation in the place of each of these; the ones that were there, which stay as they are but for
        their indexes: the memory of those is there for the new ones."""
        replaced = [self.relations[name] for name in names]
        for old in replaced:
            old.release_indexes()
            fresh = self.relations[old.name] = Relation(self, old.name, old.arity, stateful=old.stateful)
            self.adopt(fresh)
        return replaced

    def reinstate(self, relation: Relation) -> None:
        """Put a relation back in the place that `renew` took it from."""
        self.retire(self.relations[relation.name])
        self.relations[relation.name] = relation

    def retire(self, relation: Relation) -> None:
        """Forget a relation that has been replaced or dropped; its memory goes at once."""
        self._forget(relation)
        relation.dispose()

    def forget_keys(self, keys: Relation) -> None:
        """Forget a relation of keys."""
        if self.relations.get(keys.name) is keys:
            del self.relations[keys.name]
        self.retire(keys)

    def _forget(self, relation: Relation) -> None:
        self._inserters.pop(relation.address, None)
        self._known.pop(relation.address, None)

    @contextmanager
    def mounted(self, relations: Sequence[Relation]) -> Iterator[None]:
        """Meanwhile these relations, made by `unmounted`, have names; afterwards they are empty."""
        self.relations |= {relation.name: relation for relation in relations}
        try:
            yield
        finally:
            for relation in relations:
                del self.relations[relation.name]
                if relation.count:
                    relation.clear()

    def unmounted(self, name: str, arity: int, stateful: bool = False) -> Relation:
        """A relation that has its name only while it is `mounted`, so that others may use the same name."""
        relation = Relation(self, name, arity, stateful=stateful)
        self.adopt(relation)
        return relation

    def install(self, relation: Relation) -> None:
        """Put a relation that was made by `unmounted`, here or in a sibling, in the place of the one of its name."""
        relation.database._forget(relation)
        relation.database = self
        self.retire(self.relations[relation.name])
        self.relations[relation.name] = relation
        self.adopt(relation)

    def adopt(self, relation: Relation) -> None:
        self._known[relation.address] = relation

    def relation_at(self, address: Any) -> Relation:
        """The relation whose block is at an address."""
        return self._known[address]

    def __getitem__(self, name: str) -> Relation:
        return self.relations[name]

    def __contains__(self, name: str) -> bool:
        return name in self.relations

    def __iter__(self) -> Iterator[Relation]:
        return iter(list(self.relations.values()))

    def encode(self, const: Const) -> int:
        """The 64-bit word of a literal, as a signed integer."""
        value = const.value
        if isinstance(value, str):
            return self.symbols.id(value)
        if const.kind is Kind.FLOAT:
            return int(struct.unpack("<q", struct.pack("<d", canonical(float(value))))[0])
        return (int(value) + 2**63) % 2**64 - 2**63

    @property
    def plan_chunk(self) -> int:
        """The number of bindings that a plan encoded now works on at a time: fewer once there are very many constants,
        since each of them is a column of that length. It never grows, so that older columns are long enough."""
        return self.chunk if len(self._constants) < MANY_CONSTANTS else min(self.chunk, SHORT_CHUNK)

    def constant(self, word: int, chunk: int) -> int:
        """The address of a column full of one word, for plans with this chunk."""
        found = self._constants.get(word)
        if found is None:
            column = np.full(chunk + 8, word, np.int64)
            found = self._constants[word] = address(column), column
        return found[0]

    def pipeline(
        self,
        steps: Sequence[Step],
        inputs: Sequence[int] | None = None,
        outputs: Sequence[int] | None = None,
        changing: Sequence[str] = (),
        pending: Pending | None = None,
    ) -> Pipeline | Alternatives:
        """Steps to be run natively. `changing` names the relations that grow while it is in use."""
        parts = alternatives(steps, lambda name: self[name].arity) if inputs is None and outputs is None else [steps]
        pipelines = [Pipeline(self, part, inputs, outputs, frozenset(changing), pending=pending) for part in parts]
        return pipelines[0] if len(pipelines) == 1 else Alternatives(pipelines)

    def stratum(self, relations: Sequence[str], plans: Sequence[Plan]) -> NativeStratum:
        """Plans to be run to their fixpoint."""
        return NativeStratum(self, relations, plans)

    def inserter(self, relation: Relation) -> Pipeline:
        """The pipeline that inserts batches into a relation."""
        found = self._inserters.get(relation.address)
        if found is None:
            slots = range(relation.arity)
            found = self._inserters[relation.address] = Pipeline(self, [], slots, slots, sink=relation)
        return found

    def member(self, relation: Relation, batch: Array) -> Array:
        """For each row, 1 if the relation knows it, else 0."""
        found, keys, chosen = (np.empty(len(batch), np.int64) for _ in range(3))
        _held, pointers = _columns(batch)
        self.kernels.find_members(
            relation.address, address(pointers), len(batch), address(keys), address(chosen), address(found)
        )
        return found

    def find(self, relation: Relation, batch: Array) -> Array:
        """For each row, its number in a relation whose table leads to rows, or -1."""
        found, keys = np.empty(len(batch), np.int64), np.empty(len(batch), np.int64)
        _held, pointers = _columns(batch)
        self.kernels.find_rows(relation.address, address(pointers), len(batch), address(keys), address(found))
        return found

    # Kernels

    def update(self, index: Index, scratch: Array | None = None) -> None:
        """Bring an index up to date."""
        began = time.perf_counter()
        try:
            index.prepare()
        except MemoryError:
            index.reset()
            raise
        at = address(self.scratch if scratch is None else scratch)
        while (status := self.kernels.update_index(index.address, at)) != codes.DONE:
            self.serve_index(status, index)
        index.forget_slots()
        self.indexing += time.perf_counter() - began

    def build(self, indexes: Sequence[Index]) -> None:
        """Bring large indexes up to date, two at a time, those with most to do first: nobody but the caller has
        anything to do meanwhile."""
        self.crew.update(sorted(indexes, key=lambda index: -index.behind * len(index.columns)), threads=2)

    def serve_index(self, status: int, index: Index) -> None:
        wishes = {codes.GROW_KEYS: index.grow_keys, codes.GROW_ARENA: index.grow_arena, codes.MISFIT_KEY: index.rebuild}
        try:
            wishes[status]()
        except MemoryError:
            index.reset()  # who needs it again builds it again
            raise

    def run_plan(self, encoded: Encoded) -> Iterator[None]:
        """Run a plan from its beginning to its end, with a pause now and then (after `budget` bindings)."""
        encoded.plan.level = -1
        while (status := self.kernels.run_plan(encoded.address)) != codes.DONE:
            self.serve_plan(status, encoded)
            if status == codes.PAUSE:
                deadline.check()
                yield

    def serve_plan(self, status: int, encoded: Encoded) -> None:
        """Do what a plan asks for."""
        if status == codes.FAULT:
            raise fault(encoded.plan)
        if status == codes.NOT_WORSE:
            raise not_worse(encoded)
        if status == codes.PAUSE:
            return
        if encoded.pending is not None and status in (codes.GROW_WAITING, codes.GROW_BUCKETS, codes.GROW_HEAP):
            encoded.pending.grow(status)
            return
        relation = self._known.get(encoded.plan.subject, encoded.sink)
        assert relation is not None
        room = self.chunk * (self.threads + 1)
        if status == codes.GROW_ROWS:
            relation.grow_rows(room)
        elif status == codes.GROW_IDENTITY:
            relation.grow_identity(room)
        elif status == codes.MISFIT:
            relation.refit(*chunk_limits(encoded))
        else:
            raise AssertionError(f"status {status} of a plan")


def _columns(batch: Array) -> tuple[Array, Array]:
    """A batch column by column, and where each column begins."""
    columns = np.ascontiguousarray(batch.T)
    return columns, address(columns) + 8 * len(batch) * np.arange(len(columns))
