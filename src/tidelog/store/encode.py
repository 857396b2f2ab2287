"""Encoding a plan: steps become levels and operations, slots become columns of a scratch area.

A level is a source (scan, probe, range) and the operations that follow it up to the next source. Each level has its
own column for every slot that is still needed, so that a chunk of one level survives while the levels below work.
Constants are columns too, filled once. What is always true: addresses written here stay valid as long as the
`Encoded` object; relations and indexes are referred to by their blocks, which do not move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tidelog.plan.steps import (
    Absent,
    Bound,
    Compute,
    Const,
    CurrentIteration,
    Emit,
    Exists,
    File,
    Filter,
    Generate,
    Match,
    Operand,
    Pack,
    Probe,
    Scan,
    Slot,
    Step,
    Unpack,
    View,
)  # fmt: skip
from tidelog.store import layout as y
from tidelog.store.adaptive import Fewer
from tidelog.store.encoded import Encoded, Scratch
from tidelog.store.filing import ROLES, Filing
from tidelog.store.index import Index
from tidelog.store.memory import Array, address
from tidelog.store.operations import COMPARISONS, COPY, VALUE_KINDS, operation
from tidelog.store.relation import Relation
from tidelog.values import Kind

if TYPE_CHECKING:
    from tidelog.store.database import Database

RESTLESS = 3
VIEWS = {
    View.ALL: y.ALL, View.DELTA: y.DELTA, View.OLD: y.OLD, View.BEFORE: y.BEFORE, View.AFTER: y.AFTER,
    View.LEFT: y.LEFT, View.CAME: y.CAME, View.LOST: y.LOST,
}  # fmt: skip
LISTS = (View.LEFT, View.CAME, View.LOST)
STATES = {View.BEFORE: y.BEFORE_NOW, View.AFTER: y.NOW}


def uses(step: Step | Fewer) -> Iterable[Operand]:
    """The operands that a step reads."""
    match step:
        case Fewer(left, right):
            return [o for _, o in (*left.key, *right.key)]
        case Scan(m) | Probe(m) | Exists(m) | Absent(m):
            return [o for _, o in m.key] + [b.operand for b in m.bounds]
        case Filter(_, _, left, right):
            return [left, right]
        case Compute(args=args) | Emit(args=args) | Generate(args=args):
            return args
        case Pack(fields=fields):
            return fields
        case Unpack(record=record, checks=checks):
            return [record, *(o for _, o in checks)]
        case File(args=args, parts=parts):
            return [*args, *(Slot(part.row) for part in parts)]
        case CurrentIteration():
            return []
    raise TypeError(f"not a native step: {step}")


class Encoder:
    """Encodes one plan for one thread."""

    def __init__(
        self, database: Database, changing: frozenset[str], scratch: Scratch, filing: Filing | None = None
    ) -> None:
        self.database, self.changing, self.scratch, self.filing = database, changing, scratch, filing
        self.chunk = database.chunk
        self.keep: list[Array] = []
        self.indexes: list[tuple[Index, int]] = []
        self.levels: list[Array] = []
        self.ops: list[list[Array]] = []
        self.where: dict[int, int] = {}  # slot -> column address at the present level
        scratch.rewind()

    def encode(
        self,
        steps: Sequence[Step | Fewer],
        source: Relation | None,
        inputs: Sequence[int],
        sink: Relation | None,
        outputs: Sequence[int],
    ) -> Encoded:
        needed: list[set[int]] = [set(outputs)]  # needed[i]: slots read by steps i.. (built backwards)
        for step in reversed(steps):
            needed.append(needed[-1] | {o.index for o in uses(step) if isinstance(o, Slot)})
        needed.reverse()
        rest = list(steps)
        if source is not None:
            self._scan_level(source, y.ALL, [(c, s) for c, s in enumerate(inputs) if s in needed[0]], [])
        elif not (rest and isinstance(rest[0], Scan)):
            self._level(y.UNIT)
        for i, step in enumerate(rest):
            self._step(step, needed[i + 1])
        if sink is not None:
            self._emit(sink, [Slot(s) for s in outputs])
        encoded = self._finish()
        encoded.sink, encoded.filing = sink, self.filing
        return encoded

    # Levels

    def _level(self, kind: int) -> Array:
        level = np.zeros(y.L_SIZE, np.int64)
        level[y.L_KIND // 8] = kind
        level[y.L_SORT_COLUMN // 8] = -1
        self.levels.append(level)
        self.ops.append([])
        return level

    def _scan_level(
        self, relation: Relation, view: int, outs: list[tuple[int, int]], checks: list[list[int]], kind: int = y.SCAN
    ) -> None:
        level = self._level(kind)
        level[y.L_RELATION // 8] = relation.address
        level[y.L_VIEW // 8] = view
        self._set(level, y.L_NCHECK, y.L_CHECKS, [w for c in checks for w in c], len(checks))
        self._outs(level, outs)

    def _outs(self, level: Array, outs: list[tuple[int, int]]) -> None:
        """(position in the entry, slot) pairs; slots get new columns."""
        words = []
        for at, slot in outs:
            self.where[slot] = self.scratch.column()
            words += [at, self.where[slot]]
        self._set(level, y.L_NOUT, y.L_OUTS, words, len(outs))

    def _below(self, kind: int, live: set[int]) -> Array:
        """A level under the present one; the columns that live on are carried over."""
        level = self._level(kind)
        words, where = [], {}
        for slot, column in self.where.items():
            if slot in live:
                where[slot] = self.scratch.column()
                words += [column, where[slot]]
        self._above, self.where = self.where, where
        self._set(level, y.L_NCARRY, y.L_CARRY, words, len(where))
        level[y.L_SEGMENTS // 8] = self.scratch.column()
        level[y.L_LENGTHS // 8] = self.scratch.column()
        return level

    def _set(self, block: Array, count: int, pointer: int, words: Sequence[int], n: int | None = None) -> None:
        array = np.array(words, np.int64)
        self.keep.append(array)
        block[count // 8] = len(words) if n is None else n
        block[pointer // 8] = address(array)

    def _column(self, operand: Operand, where: dict[int, int] | None = None) -> int:
        if isinstance(operand, Const):
            return self.database.constant(self.database.encode(operand))
        return (self.where if where is None else where)[operand.index]

    # Steps

    def _step(self, step: Step | Fewer, live: set[int]) -> None:
        match step:
            case Scan(m):
                scanned = m.view is View.DELTA or m.view in LISTS
                if (m.key and not scanned) or any(isinstance(b.operand, Slot) for b in m.bounds):
                    self._level(y.UNIT)
                    self._probe(m, live)
                else:
                    relation, m = self._seen(m)
                    checks = self._checks(m, lambda column: column, self.where, keys=True)
                    checks += self._row_checks(relation, m.view)
                    outs = [(c, s) for c, s in self._outputs(m) if s in live]
                    kind = y.LIST if m.view in LISTS else y.SCAN
                    self._scan_level(relation, VIEWS[m.view], outs, checks, kind)
            case Probe(m):
                self._probe(m, live)
            case Exists(m):
                self._exists(m, live, y.MEMBER, y.EXISTS)
            case Absent(m):
                self._exists(m, live, y.NONMEMBER, y.ABSENT)
            case Fewer(left, right, strict):
                self._fewer(left, right, strict, live)
            case Filter(op, kind, left, right):
                block = self._op(y.FILTER, live)
                block[y.O_CODE // 8] = COMPARISONS[op]
                block[y.O_VALUE_KIND // 8] = VALUE_KINDS[kind]
                block[y.O_A // 8], block[y.O_B // 8] = self._column(left), self._column(right)
            case Compute():
                self._compute(step, live)
            case Generate(target, kind, args):
                self._generate(target, kind, args, live)
            case Pack(target, fields):
                columns = [self._column(f) for f in fields]
                block = self._op(y.PACK, live)
                records = self.database.records.relation(len(fields))
                block[y.O_RELATION // 8] = records.address
                self._set(block, y.O_NKEY, y.O_KEYS, columns)
                block[y.O_TARGET // 8] = self._target(target)
            case Unpack():
                self._unpack(step, live)
            case CurrentIteration(target):
                block = self._op(y.ITERATION, live)
                block[y.O_TARGET // 8] = self._target(target)
            case Emit(relation, args):
                self._emit(self.database[relation], args)
            case File():
                self._file(step)
            case _:
                raise TypeError(f"not a native step: {step}")

    def _op(self, kind: int, live: set[int]) -> Array:
        block = np.zeros(y.O_SIZE, np.int64)
        block[y.O_KIND // 8] = kind
        self._set(block, y.O_NLIVE, y.O_LIVE, [c for s, c in self.where.items() if s in live])
        self.ops[-1].append(block)
        return block

    def _target(self, slot: int) -> int:
        self.where[slot] = self.scratch.column()
        return self.where[slot]

    def _emit(self, relation: Relation, args: Sequence[Operand]) -> None:
        columns = [self._column(a) for a in args]
        block = self._op(y.EMIT, set())
        block[y.O_RELATION // 8] = relation.address
        self._set(block, y.O_NKEY, y.O_KEYS, columns)

    def _file(self, step: File) -> None:
        assert self.filing is not None, "only an update files derivations"
        columns = [self._column(a) for a in step.args]
        block = self._op(y.FILE, set())
        block[y.O_RELATION // 8] = self.database[step.relation].address
        block[y.O_CODE // 8] = step.arrives
        block[y.O_A // 8], block[y.O_TARGET // 8] = step.rule, self.filing.address
        block[y.O_B // 8] = self.filing.enter(step.rule, step.relation, step.parts)
        self._set(block, y.O_NKEY, y.O_KEYS, columns)
        parts = [[self.where[p.row], self.filing.part_address(p), ROLES[p.role]] for p in step.parts]
        self._set(block, y.O_NCHECK, y.O_CHECKS, [w for part in parts for w in part], len(parts))

    def _compute(self, step: Compute, live: set[int]) -> None:
        """Functors of several arguments (min, max) are folded two at a time."""
        columns = [self._column(a) for a in step.args]
        code = operation(step)
        if code is None:
            raise TypeError(f"not a native step: {step}")
        left = columns[0]
        for right in columns[1:] or [left]:
            block = self._op(y.COMPUTE, live)
            block[y.O_CODE // 8] = code
            block[y.O_VALUE_KIND // 8] = VALUE_KINDS[step.arg_kinds[0] if step.arg_kinds else step.kind]
            block[y.O_A // 8], block[y.O_B // 8] = left, right
            left = block[y.O_TARGET // 8] = self._target(step.target)

    def _generate(self, target: int, kind: Kind, args: Sequence[Operand], live: set[int]) -> None:
        columns = [self._column(a) for a in args]
        level = self._below(y.RANGE, live)
        self._set(level, y.L_NKEY, y.L_KEYS, columns)
        level[y.L_SORT_KIND // 8] = VALUE_KINDS[kind]
        level[y.L_TARGET // 8] = self._target(target)

    def _unpack(self, step: Unpack, live: set[int]) -> None:
        record = self._column(step.record)
        checks = [[y.CHECK_COLUMN, f, self._column(o), 0, 0] for f, o in step.checks]
        outs = []
        for f, s in step.outputs:
            if s in live:
                outs += [f, self._target(s)]
        block = self._op(y.UNPACK, live)
        block[y.O_RELATION // 8] = self.database.records.relation(step.arity).address
        block[y.O_A // 8] = record
        self._set(block, y.O_NCHECK, y.O_CHECKS, [w for c in checks for w in c], len(checks))
        self._set(block, y.O_NOUT, y.O_OUTS, outs, len(outs) // 2)

    # Atoms

    def _seen(self, match: Match) -> tuple[Relation, Match]:
        """The relation, and the match with what `all` means for it: where rows have died, those that are there."""
        relation = self.database[match.relation]
        if match.view is View.ALL and relation.dirty and match.relation not in self.changing:
            match = replace(match, view=View.AFTER)
        return relation, match

    def _outputs(self, match: Match) -> list[tuple[int, int]]:
        """The columns that a match binds, the row number among them."""
        return [*match.outputs, *([] if match.row is None else [(y.ROW, match.row)])]

    def _row_checks(self, relation: Relation, view: View) -> list[list[int]]:
        """Whether a row, found by itself, is in a state."""
        if view not in STATES:
            return []
        return [[y.CHECK_ROW, 0, relation.address, STATES[view], 0]]

    def _entry_checks(self, relation: Relation, index: Index, view: View) -> list[list[int]]:
        """Whether the row of an index entry is in a state."""
        if view not in STATES:
            return []
        return [[y.CHECK_STATE, index.position(y.ROW), relation.address, STATES[view], 0]]

    def _checks(
        self,
        match: Match,
        at: Callable[[int], int],
        where: dict[int, int],
        keys: bool = False,
        served: Sequence[Bound] = (),
    ) -> list[list[int]]:
        """What an entry must meet besides its key (with `keys`, that too); `at` places columns in an entry."""
        checks: list[list[int]] = []
        bound = dict(match.key)
        if keys:
            checks += [[y.CHECK_COLUMN, at(c), self._column(o, where), 0, 0] for c, o in match.key]
        for a, b in match.same:
            if a in bound and not keys:
                checks.append([y.CHECK_COLUMN, at(b), self._column(bound[a], where), 0, 0])
            else:
                checks.append([y.CHECK_SAME, at(a), at(b), 0, 0])
        for limit in match.bounds:
            if limit not in served:
                kind = VALUE_KINDS[limit.kind]
                column = self._column(limit.operand, where)
                checks.append([y.CHECK_BOUND, at(limit.column), column, COMPARISONS[limit.op], kind])
        return checks

    def _normal(self, match: Match) -> Match:
        """A column that must equal a key column is a key column."""
        key, same = dict(match.key), list(match.same)
        changed = True
        while changed:
            changed = False
            for a, b in list(same):
                if a in key or b in key:
                    if a in key and b in key:
                        continue
                    key[a if a not in key else b] = key[a if a in key else b]
                    same.remove((a, b))
                    changed = True
        return replace(match, key=tuple(sorted(key.items())), same=tuple(same))

    def _probe(self, original: Match, live: set[int]) -> None:
        relation, match = self._seen(self._normal(original))
        outs = [(c, s) for c, s in self._outputs(match) if s in live]
        keyed = dict(match.key)
        for c, s in list(outs):  # an output whose column became a key: a copy
            if c in keyed:
                outs.remove((c, s))
        copies = [(s, keyed[c]) for c, s in match.outputs if s in live and c in keyed]
        if len(match.key) == relation.arity and not match.bounds and not match.same:
            after = live | {o.index for _, o in copies if isinstance(o, Slot)}
            self._member(relation, match, after, y.MEMBER)
        else:
            after = live | {o.index for _, o in copies if isinstance(o, Slot)}
            above = self.where
            if not match.key:
                level = self._below(y.CROSS, after)
                level[y.L_RELATION // 8] = relation.address
                checks = self._checks(match, lambda column: column, above)
                checks += self._row_checks(relation, match.view)
                self._outs(level, outs)
            else:
                index, served = self._choose_index(relation, match, outs)
                level = self._below(y.PROBE, after)
                level[y.L_INDEX // 8], level[y.L_RELATION // 8] = index.address, relation.address
                self._set(level, y.L_NKEY, y.L_KEYS, [self._column(o, above) for _, o in match.key])
                checks = self._checks(match, index.position, above, served=served)
                checks += self._entry_checks(relation, index, match.view)
                self._sorted_bounds(level, index, served, above)
                self._outs(level, [(index.place(c), s) for c, s in outs])
            level[y.L_VIEW // 8] = VIEWS[match.view]
            self._set(level, y.L_NCHECK, y.L_CHECKS, [w for c in checks for w in c], len(checks))
        for slot, operand in copies:
            column = self._column(operand)
            block = self._op(y.COMPUTE, live)
            block[y.O_CODE // 8] = COPY
            block[y.O_A // 8] = block[y.O_B // 8] = column
            block[y.O_TARGET // 8] = self._target(slot)

    def _choose_index(
        self, relation: Relation, match: Match, outs: list[tuple[int, int]]
    ) -> tuple[Index, Sequence[Bound]]:
        """A sorted index serves the bounds of one column, if the relation does not change meanwhile."""
        columns = tuple(c for c, _ in match.key)
        values = {c for pair in match.same for c in pair} | {b.column for b in match.bounds}
        if not self._through_rows(relation, match):
            values |= {c for c, _ in outs}
        values -= set(columns)
        served: Sequence[Bound] = ()
        calm = match.relation not in self.changing and relation.restless < RESTLESS
        if match.bounds and calm and match.view is View.ALL:
            by = match.bounds[0].column
            if by not in columns:
                kind = VALUE_KINDS[match.bounds[0].kind]
                ours = [b for b in match.bounds if b.column == by and VALUE_KINDS[b.kind] == kind]
                served = [b for b in (self._first(ours, ">"), self._first(ours, "<")) if b is not None]
                index = relation.index(columns, values, by, kind)
                self.indexes.append((index, index.version))
                return index, served
        index = relation.index(columns, values)
        self.indexes.append((index, index.version))
        return index, served

    def _through_rows(self, relation: Relation, match: Match) -> bool:
        """Whether a probe takes its columns from rows, so far as entries do not have them: in an update, and where the
        index is there already and would have to be built anew."""
        if match.view in STATES:
            return True
        index = relation.indexes.get((tuple(c for c, _ in match.key), None))
        return relation.stateful and match.relation not in self.changing and index is not None and index.filled

    @staticmethod
    def _first(bounds: Sequence[Bound], direction: str) -> Bound | None:
        return next((b for b in bounds if b.op.startswith(direction)), None)

    def _sorted_bounds(self, level: Array, index: Index, served: Sequence[Bound], above: dict[int, int]) -> None:
        for b in served:
            level[y.L_SORT_COLUMN // 8] = index.position(b.column)
            level[y.L_SORT_KIND // 8] = VALUE_KINDS[b.kind]
            side = y.L_SORT_LOW if b.op.startswith(">") else y.L_SORT_HIGH
            level[side // 8] = self._column(b.operand, above) | (len(b.op) == 1)

    def _exists(self, original: Match, live: set[int], whole: int, part: int) -> None:
        relation, match = self._seen(self._normal(original))
        if len(match.key) == relation.arity and not match.bounds and not match.same:
            self._member(relation, match, live, whole)
            return
        columns = tuple(c for c, _ in match.key)
        values = {c for pair in match.same for c in pair} | {b.column for b in match.bounds}
        index = relation.index(columns, values - set(columns))
        self.indexes.append((index, index.version))
        keys = [self._column(o) for _, o in match.key]
        checks = self._checks(match, index.position, self.where)
        checks += self._entry_checks(relation, index, match.view)
        block = self._op(part, live)
        block[y.O_INDEX // 8] = index.address
        block[y.O_VIEW // 8] = VIEWS[match.view]
        self._set(block, y.O_NKEY, y.O_KEYS, keys)
        self._set(block, y.O_NCHECK, y.O_CHECKS, [w for c in checks for w in c], len(checks))

    def _fewer(self, left: Match, right: Match, strict: bool, live: set[int]) -> None:
        block = self._op(y.FEWER, live)
        block[y.O_CODE // 8] = strict
        fields = ((left, y.O_INDEX, y.O_VIEW, y.O_KEYS), (right, y.O_TARGET, y.O_SPARE, y.O_A))
        for match, at, view, keys in fields:
            columns = tuple(c for c, _ in match.key)
            relation = self.database[match.relation]
            through = self._through_rows(relation, match)
            index = relation.index(columns, set() if through else {c for c, _ in match.outputs})
            self.indexes.append((index, index.version))
            block[at // 8], block[view // 8] = index.address, VIEWS[match.view]
            self._set(block, y.O_NKEY, keys, [self._column(o) for _, o in match.key])

    def _member(self, relation: Relation, match: Match, live: set[int], kind: int) -> None:
        keys = [self._column(o) for _, o in match.key]
        numbers = self._target(match.row) if match.row is not None and match.row in live else 0
        block = self._op(kind, live)
        block[y.O_RELATION // 8] = relation.address
        block[y.O_VIEW // 8], block[y.O_TARGET // 8] = VIEWS[match.view], numbers
        self._set(block, y.O_NKEY, y.O_KEYS, keys)

    def _finish(self) -> Encoded:
        for level, ops in zip(self.levels, self.ops, strict=True):
            code = np.concatenate(ops) if ops else np.zeros(0, np.int64)
            self.keep.append(code)
            level[y.L_NOPS // 8], level[y.L_OPS // 8] = len(ops), address(code)
        levels = np.concatenate(self.levels)
        plan = np.zeros(y.P_SIZE, np.int64)
        plan[y.P_NLEVEL // 8], plan[y.P_LEVELS // 8] = len(self.levels), address(levels)
        plan[y.P_LEVEL // 8] = -1
        plan[y.P_CHUNK // 8] = self.chunk
        plan[y.P_BUDGET // 8] = self.database.budget
        for offset in (y.P_KEYS, y.P_SLOTS, y.P_CHOSEN, y.P_ENTRIES, y.P_SOURCES):
            plan[offset // 8] = self.scratch.column()
        return Encoded(plan, levels, [*self.keep, *self.scratch.areas], list(self.indexes))
