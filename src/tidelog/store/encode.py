"""Encoding a plan: steps become levels and operations, slots become columns of a scratch area.

A level is a source (scan, probe, range) and the operations that follow it up to the next source. Each level has its
own column for every slot that is still needed, so that a chunk of one level survives while the levels below work.
Constants are columns too, filled once. What is always true: addresses written here stay valid as long as the
`Encoded` object; relations and indexes are referred to by their blocks, which do not move.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from tidelog.plain import replace
from tidelog.plan.steps import (
    Absent,
    Bound,
    Compute,
    Const,
    CurrentIteration,
    Emit,
    Exists,
    Filter,
    Fold,
    Generate,
    Match,
    Offer,
    Operand,
    Pack,
    Probe,
    Rank,
    Role,
    Scan,
    Slot,
    Step,
    Tell,
    Unpack,
    View,
)  # fmt: skip
from tidelog.store import codes
from tidelog.store.adaptive import Fewer
from tidelog.store.assembly import Item, Link, assemble
from tidelog.store.blocks import (
    Block,
    BodyPart,
    Carried,
    ComputeOperation,
    EmitOperation,
    EntryCheck,
    ExistsOperation,
    FewerOperation,
    FilterOperation,
    FoldOperation,
    IterationOperation,
    Level,
    MatchLevel,
    MemberOperation,
    OfferOperation,
    Operation,
    Output,
    PackOperation,
    PlanBlock,
    ProbeLevel,
    RangeLevel,
    RankOperation,
    ScanLevel,
    TellOperation,
    TupleOperation,
    UnpackOperation,
)
from tidelog.store.encoded import Encoded, Scratch
from tidelog.store.index import Index
from tidelog.store.operations import COMPARISONS, COPY, VALUE_KINDS, operation
from tidelog.store.pending import Pending
from tidelog.store.relation import Relation
from tidelog.values import Kind

if TYPE_CHECKING:
    from tidelog.store.database import Database

L = TypeVar("L", bound=Level)
RESTLESS = 3
VIEWS = {
    View.ALL: codes.ALL, View.DELTA: codes.DELTA, View.OLD: codes.OLD, View.BEFORE: codes.BEFORE,
    View.AFTER: codes.AFTER, View.LEFT: codes.LEFT, View.CAME: codes.CAME, View.LOST: codes.LOST,
    View.MOVED: codes.MOVED, View.EITHER: codes.EITHER, View.BOTH: codes.BOTH, View.STILL: codes.STILL,
}  # fmt: skip
LISTS = (View.LEFT, View.CAME, View.LOST, View.MOVED)
STATES = (View.BEFORE, View.AFTER, View.EITHER, View.BOTH, View.STILL)
ROLES = {Role.OWN: codes.OWN, Role.LOWER: codes.LOWER, Role.NEGATED: codes.NEGATED}


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
        case Fold(parts=parts, since=since):
            return [Slot(slot) for slot in (*(part.row for part in parts), *(since or ()))]
        case Tell(args=args, before=before, after=after):
            return [*args, Slot(before), Slot(after)]
        case Rank(value=value, parts=parts):
            return [*(() if value is None else (value,)), *(Slot(part.row) for part in parts)]
        case Offer(args=args, before=before, after=after):
            return [*args, *map(Slot, (before.value, before.level, after.value, after.level))]
        case CurrentIteration():
            return []
    raise TypeError(f"not a native step: {step}")


class Encoder:
    """Encodes one plan for one thread."""

    def __init__(
        self, database: Database, changing: frozenset[str], scratch: Scratch, pending: Pending | None = None
    ) -> None:
        self.database, self.changing, self.scratch, self.pending = database, changing, scratch, pending
        self.chunk = database.plan_chunk
        self.indexes: list[tuple[Index, int]] = []
        self.levels: list[Level] = []
        self.ops: list[list[Operation]] = []
        self.items: list[Item] = []  # what levels and operations point to
        self.links: list[Link] = []
        self.where: dict[int, int] = {}  # slot -> column address at the present level
        self.ranked: dict[int, int] = {}  # the same, where derivations are ranked
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
            self._scan_level(source, codes.ALL, [(c, s) for c, s in enumerate(inputs) if s in needed[0]], [])
        elif not (rest and isinstance(rest[0], Scan)):
            self._level(Level(kind=codes.UNIT))
        for i, step in enumerate(rest):
            self._step(step, needed[i + 1])
        if sink is not None:
            self._emit(sink, [Slot(s) for s in outputs])
        encoded = self._finish()
        encoded.sink, encoded.pending, encoded.columns = sink, self.pending, self.ranked
        return encoded

    # Levels

    def _level(self, level: L) -> L:
        self.levels.append(level)
        self.ops.append([])
        return level

    def _scan_level(
        self,
        relation: Relation,
        view: int,
        outs: list[tuple[int, int]],
        checks: list[EntryCheck],
        kind: int = codes.SCAN,
    ) -> None:
        level = self._level(ScanLevel(kind=kind, relation=relation.address, viewed=view))
        self._point_to_blocks(level, "ncheck", "checks", checks)
        self._outs(level, outs)

    def _outs(self, level: MatchLevel, outs: list[tuple[int, int]]) -> None:
        """(position in the entry, slot) pairs; slots get new columns."""
        self._point_to_blocks(level, "nout", "outs", [Output(at, self._target(slot)) for at, slot in outs])

    def _below(self, level: L, live: set[int]) -> L:
        """A level under the present one; the columns that live on are carried over."""
        self._level(level)
        carried = [(slot, column, self.scratch.column()) for slot, column in self.where.items() if slot in live]
        self.where = {slot: target for slot, _, target in carried}
        self._point_to_blocks(level, "ncarry", "carry", [Carried(source, target) for _, source, target in carried])
        return level

    def _point_to_words(self, block: Block, pointer: str, words: Sequence[int]) -> None:
        self._point(block, pointer, array("q", words))

    def _point_to_blocks(self, block: Block, count: str, pointer: str, blocks: Sequence[Block]) -> None:
        setattr(block, count, len(blocks))
        if blocks:
            self._point(block, pointer, blocks[0])
            self.items += blocks[1:]

    def _point(self, block: Block, pointer: str, item: Item) -> None:
        self.items.append(item)
        self.links.append(Link(block, pointer, item))

    def _column(self, operand: Operand, where: dict[int, int] | None = None) -> int:
        if isinstance(operand, Const):
            return self.database.constant(self.database.encode(operand), self.chunk)
        return (self.where if where is None else where)[operand.index]

    # Steps

    def _step(self, step: Step | Fewer, live: set[int]) -> None:
        match step:
            case Scan(m):
                scanned = m.view is View.DELTA or m.view in LISTS
                if (m.key and not scanned) or any(isinstance(b.operand, Slot) for b in m.bounds):
                    self._level(Level(kind=codes.UNIT))
                    self._probe(m, live)
                else:
                    relation, m = self._seen(m)
                    checks = self._checks(m, lambda column: column, self.where, keys=True)
                    checks += self._row_checks(relation, m.view)
                    outs = [(c, s) for c, s in self._outputs(m) if s in live]
                    kind = codes.LIST if m.view in LISTS else codes.SCAN
                    self._scan_level(relation, VIEWS[m.view], outs, checks, kind)
            case Probe(m):
                self._probe(m, live)
            case Exists(m):
                self._exists(m, live, codes.MEMBER, codes.EXISTS)
            case Absent(m):
                self._exists(m, live, codes.NONMEMBER, codes.ABSENT)
            case Fewer(left, right, strict):
                self._fewer(left, right, strict, live)
            case Filter(op, kind, left, right):
                test = FilterOperation(kind=codes.FILTER, comparison=COMPARISONS[op], value_kind=VALUE_KINDS[kind])
                test.left, test.right = self._column(left), self._column(right)
                self._op(test, live)
            case Compute():
                self._compute(step, live)
            case Generate(target, kind, args):
                self._generate(target, kind, args, live)
            case Pack(target, fields):
                columns = [self._column(f) for f in fields]
                pack = PackOperation(kind=codes.PACK)
                self._op(pack, live)
                self._tuples(pack, self.database.records.relation(len(fields)), columns)
                pack.numbers = self._target(target)
            case Unpack():
                self._unpack(step, live)
            case CurrentIteration(target):
                iteration = IterationOperation(kind=codes.ITERATION)
                self._op(iteration, live)
                iteration.target = self._target(target)
            case Emit(relation, args):
                self._emit(self.database[relation], args)
            case Fold():
                self._fold(step, live)
            case Tell():
                self._tell(step)
            case Rank():
                self._rank(step, live)
            case Offer():
                self._offer(step)
            case _:
                raise TypeError(f"not a native step: {step}")

    def _op(self, op: Operation, live: set[int]) -> None:
        """Add an operation, before its targets get their columns."""
        columns = [c for s, c in self.where.items() if s in live]
        op.nlive = len(columns)
        self._point_to_words(op, "live", columns)
        self.ops[-1].append(op)

    def _tuples(self, op: TupleOperation, relation: Relation, columns: Sequence[int]) -> None:
        op.relation, op.ncolumn = relation.address, len(columns)
        self._point_to_words(op, "columns", columns)

    def _target(self, slot: int) -> int:
        self.where[slot] = self.scratch.column()
        return self.where[slot]

    def _emit(self, relation: Relation, args: Sequence[Operand]) -> None:
        emit = EmitOperation(kind=codes.EMIT)
        self._op(emit, set())
        self._tuples(emit, relation, [self._column(a) for a in args])

    def _fold(self, step: Fold, live: set[int]) -> None:
        fold = FoldOperation(kind=codes.FOLD, asked=step.asked, last=step.last, goes_on=step.since is not None)
        if step.since is not None:
            fold.since_before, fold.since_after = (self.where[slot] for slot in step.since)
        body = [BodyPart(self.where[p.row], self.database[p.relation].address, ROLES[p.role]) for p in step.parts]
        # its targets are among the columns that live on: bindings that it drops, it drops from them, too
        fold.before, fold.after = self._target(step.before), self._target(step.after)
        self._op(fold, live)
        self._point_to_blocks(fold, "npart", "parts", body)

    def _tell(self, step: Tell) -> None:
        assert self.pending is not None, "only an update tells heads"
        tell = TellOperation(kind=codes.TELL, update=self.pending.address, asked=step.asked)
        tell.number = self.pending.own.index(step.relation)
        tell.before, tell.after = self.where[step.before], self.where[step.after]
        self._op(tell, set())
        self._tuples(tell, self.database[step.relation], [self._column(a) for a in step.args])

    def _rank(self, step: Rank, live: set[int]) -> None:
        assert self.pending is not None, "only an update ranks derivations"
        rank = RankOperation(kind=codes.RANK, asked=step.asked, update=self.pending.address)
        if step.value is not None:
            rank.value, rank.order = self._column(step.value), self.database[step.relation].block.order
        body = [BodyPart(self.where[p.row], self.database[p.relation].address, ROLES[p.role]) for p in step.parts]
        self.ranked = dict(self.where)
        rank.before_value, rank.before = self._target(step.before.value), self._target(step.before.level)
        rank.after_value, rank.after = self._target(step.after.value), self._target(step.after.level)
        self._op(rank, live)
        self._point_to_blocks(rank, "npart", "parts", body)

    def _offer(self, step: Offer) -> None:
        assert self.pending is not None, "only an update tells heads"
        head = self.database[step.relation]
        offer = OfferOperation(kind=codes.OFFER, update=self.pending.address, asked=step.asked, head=head.address)
        offer.number = self.pending.own.index(step.relation)
        offer.before_value, offer.before = self.where[step.before.value], self.where[step.before.level]
        offer.after_value, offer.after = self.where[step.after.value], self.where[step.after.level]
        self._op(offer, set())
        self._tuples(offer, head if head.keys is None else head.keys, [self._column(a) for a in step.args])

    def _compute(self, step: Compute, live: set[int]) -> None:
        """Functors of several arguments (min, max) are folded two at a time."""
        columns = [self._column(a) for a in step.args]
        code = operation(step)
        if code is None:
            raise TypeError(f"not a native step: {step}")
        left = columns[0]
        for right in columns[1:] or [left]:
            kind = VALUE_KINDS[step.arg_kinds[0] if step.arg_kinds else step.kind]
            left = self._functor(code, kind, left, right, step.target, live)

    def _functor(self, code: int, kind: int, left: int, right: int, target: int, live: set[int]) -> int:
        """Apply a functor to two columns; the column of its target."""
        block = ComputeOperation(kind=codes.COMPUTE, functor=code, value_kind=kind, left=left, right=right)
        self._op(block, live)
        column = self._target(target)
        block.target = column
        return column

    def _generate(self, target: int, kind: Kind, args: Sequence[Operand], live: set[int]) -> None:
        start, stop, *step = (self._column(a) for a in args)
        level = RangeLevel(kind=codes.RANGE, start=start, stop=stop, step=sum(step), value_kind=VALUE_KINDS[kind])
        self._below(level, live)
        level.target = self._target(target)

    def _unpack(self, step: Unpack, live: set[int]) -> None:
        unpack = UnpackOperation(kind=codes.UNPACK, records=self._column(step.record))
        unpack.relation = self.database.records.relation(step.arity).address
        checks = [EntryCheck(kind=codes.CHECK_COLUMN, place=f, column=self._column(o)) for f, o in step.checks]
        outs = [Output(f, self._target(s)) for f, s in step.outputs if s in live]
        self._op(unpack, live)
        self._point_to_blocks(unpack, "ncheck", "checks", checks)
        self._point_to_blocks(unpack, "nout", "outs", outs)

    # Atoms

    def _seen(self, match: Match) -> tuple[Relation, Match]:
        """The relation, and the match with what `all` means for it: where rows have died, those that are there."""
        relation = self.database[match.relation]
        if match.view is View.ALL and relation.dirty and match.relation not in self.changing:
            match = replace(match, view=View.AFTER)
        return relation, match

    def _outputs(self, match: Match) -> list[tuple[int, int]]:
        """The columns that a match binds, the row number among them."""
        return [*match.outputs, *([] if match.row is None else [(codes.ROW, match.row)])]

    def _row_checks(self, relation: Relation, view: View) -> list[EntryCheck]:
        """Whether a row, found by itself, is in a state."""
        if view not in STATES:
            return []
        return [EntryCheck(kind=codes.CHECK_ROW, relation=relation.address, viewed=VIEWS[view])]

    def _entry_checks(self, relation: Relation, index: Index, view: View) -> list[EntryCheck]:
        """Whether the row of an index entry is in a state."""
        if view not in STATES:
            return []
        place = index.position(codes.ROW)
        return [EntryCheck(kind=codes.CHECK_STATE, place=place, relation=relation.address, viewed=VIEWS[view])]

    def _checks(
        self,
        match: Match,
        at: Callable[[int], int],
        where: dict[int, int],
        keys: bool = False,
        served: Sequence[Bound] = (),
    ) -> list[EntryCheck]:
        """What an entry must meet besides its key (with `keys`, that too); `at` places columns in an entry."""

        def equal(column: int, operand: Operand) -> EntryCheck:
            return EntryCheck(kind=codes.CHECK_COLUMN, place=at(column), column=self._column(operand, where))

        bound = dict(match.key)
        checks = [equal(c, o) for c, o in match.key] if keys else []
        for a, b in match.same:
            if a in bound and not keys:
                checks.append(equal(b, bound[a]))
            else:
                checks.append(EntryCheck(kind=codes.CHECK_SAME, place=at(a), other_place=at(b)))
        for limit in match.bounds:
            if limit not in served:
                check = EntryCheck(
                    kind=codes.CHECK_BOUND, place=at(limit.column), column=self._column(limit.operand, where)
                )
                check.comparison, check.value_kind = COMPARISONS[limit.op], VALUE_KINDS[limit.kind]
                checks.append(check)
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
            self._member(relation, match, after, codes.MEMBER)
        else:
            after = live | {o.index for _, o in copies if isinstance(o, Slot)}
            above = self.where
            if not match.key:
                level = self._below(self._probe_level(codes.CROSS, relation, match.view), after)
                checks = self._checks(match, lambda column: column, above)
                checks += self._row_checks(relation, match.view)
                self._outs(level, outs)
            else:
                index, served = self._choose_index(relation, match, outs)
                level = self._below(self._probe_level(codes.PROBE, relation, match.view), after)
                level.index = index.address
                self._point_to_words(level, "keys", [self._column(o, above) for _, o in match.key])
                checks = self._checks(match, index.position, above, served=served)
                checks += self._entry_checks(relation, index, match.view)
                self._sorted_bounds(level, index, served, above)
                self._outs(level, [(index.place(c), s) for c, s in outs])
            self._point_to_blocks(level, "ncheck", "checks", checks)
        for slot, operand in copies:
            column = self._column(operand)
            self._functor(COPY, codes.SIGNED, column, column, slot, live)

    def _probe_level(self, kind: int, relation: Relation, view: View) -> ProbeLevel:
        level = ProbeLevel(kind=kind, relation=relation.address, viewed=VIEWS[view], sort_place=-1)
        level.offsets, level.lengths = self.scratch.column(), self.scratch.column()
        return level

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

    def _sorted_bounds(self, level: ProbeLevel, index: Index, served: Sequence[Bound], above: dict[int, int]) -> None:
        for b in served:
            level.sort_place = index.position(b.column)
            level.sort_kind = VALUE_KINDS[b.kind]
            side = "low" if b.op.startswith(">") else "high"
            setattr(level, side, self._column(b.operand, above))
            setattr(level, f"{side}_strict", len(b.op) == 1)

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
        exists = ExistsOperation(kind=part, index=index.address, viewed=VIEWS[match.view])
        self._op(exists, live)
        self._point_to_words(exists, "keys", keys)
        self._point_to_blocks(exists, "ncheck", "checks", checks)

    def _fewer(self, left: Match, right: Match, strict: bool, live: set[int]) -> None:
        fewer = FewerOperation(kind=codes.FEWER, strict=strict)
        self._op(fewer, live)
        for side, match in (("left", left), ("right", right)):
            columns = tuple(c for c, _ in match.key)
            relation = self.database[match.relation]
            through = self._through_rows(relation, match)
            index = relation.index(columns, set() if through else {c for c, _ in match.outputs})
            self.indexes.append((index, index.version))
            setattr(fewer, side, index.address)
            setattr(fewer, f"{side}_view", VIEWS[match.view])
            self._point_to_words(fewer, f"{side}_keys", [self._column(o) for _, o in match.key])

    def _member(self, relation: Relation, match: Match, live: set[int], kind: int) -> None:
        keys = [self._column(o) for _, o in match.key]
        numbers = self._target(match.row) if match.row is not None and match.row in live else 0
        member = MemberOperation(kind=kind, viewed=VIEWS[match.view], numbers=numbers)
        self._op(member, live)
        self._tuples(member, relation, keys)

    def _finish(self) -> Encoded:
        plan = PlanBlock(nlevel=len(self.levels), level=-1, chunk=self.chunk, budget=self.database.budget)
        plan.keys, plan.slots, plan.chosen, plan.entries, plan.sources = (self.scratch.column() for _ in range(5))
        self._point_to_addresses(plan, "levels", self.levels)
        for level, ops in zip(self.levels, self.ops, strict=True):
            level.nop = len(ops)
            self._point_to_addresses(level, "ops", ops)
        plan = assemble(plan, self.items, self.links)
        return Encoded(plan, tuple(self.scratch.areas), tuple(self.indexes))

    def _point_to_addresses(self, block: Block, pointer: str, blocks: Sequence[Block]) -> None:
        addresses = array("q", bytes(8 * len(blocks)))
        self._point(block, pointer, addresses)
        for number, target in enumerate(blocks):
            self.links.append(Link(addresses, number, target))
        self.items += blocks
