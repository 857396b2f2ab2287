"""The blocks of memory that Python and the kernels share, each declared once.

A block is a class whose annotations are its fields, in their order. In Python it is a `ctypes.Structure`: fields are
attributes, and whoever makes a block keeps it. In a kernel a value of the class is the address of a block, its fields
are attributes, too, and each is one load or one store (`kernels/access.py`). What a field may be:

    int                    64 bits: a number, a flag, or an address that is not looked through here
    Half                   32 bits, to the kernels a number like any other
    Words, Halves          the address of 64-bit or 32-bit numbers: words[i]
    Addresses[SomeBlock]   the address of addresses of blocks: plans[i]
    Columns                the address of addresses of words: columns[c][i]
    SomeBlock              the address of one block, or of several side by side: buckets[i]
    Inside[SomeBlock]      a block within this one
    Annotated[Words, n]    n numbers within this one; 0 if they lie behind it, however many

What is always true: a block never moves while its Python owner lives; what it points to may be replaced, but only while
no kernel runs. To Python all addresses are integers.

First come the relation and its index, then the plan with its levels, what an entry must meet, and the operations; then
what runs plans (a stratum, an update); last the symbols and lines of triples.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

T = TypeVar("T")
Half = int
Inside = Annotated[T, "inside"]


def _field(kind: str) -> Any:
    """What a field is to ctypes, by its annotation."""
    if kind == "Half":
        return ctypes.c_int32
    if kind.startswith("Inside["):
        return globals()[kind[7:-1]]
    if kind.startswith("Annotated["):
        element, number = kind[10:-1].split(", ")
        return (ctypes.c_int64 if element == "Words" else ctypes.c_int32) * int(number)
    return ctypes.c_int64


if TYPE_CHECKING:
    from typing import Self

    class Pointer:
        """To the type checker, fields that are addresses take integers as well."""

        def __init__(self, *values: Any, **fields: Any) -> None: ...
        def __get__(self, instance: object, owner: object) -> Self: ...
        def __set__(self, instance: object, value: int | Pointer) -> None: ...
        def __bool__(self) -> bool: ...

    class Block(Pointer, ctypes.Structure):
        def __getitem__(self, i: int) -> Self: ...

else:

    class Pointer:
        pass

    class Declared(type(ctypes.Structure)):
        """Makes fields of annotations."""

        def __new__(meta, name, bases, members):
            annotations = members.get("__annotations__", {})
            members["_fields_"] = [(name, _field(kind)) for name, kind in annotations.items()]
            return super().__new__(meta, name, bases, members)

    class Block(ctypes.Structure, metaclass=Declared):
        """A block of fields. In a kernel, `SomeBlock(a)` is the one at address a."""


class Words(Pointer):
    """64-bit numbers side by side. In a kernel, `Words(a)` are those from address a on, `words + n` those behind n."""

    if TYPE_CHECKING:

        def __getitem__(self, i: int) -> int: ...
        def __setitem__(self, i: int, value: object) -> None: ...
        def __add__(self, n: int) -> Words: ...


class Halves(Pointer):
    """32-bit numbers side by side."""

    if TYPE_CHECKING:

        def __getitem__(self, i: int) -> int: ...
        def __setitem__(self, i: int, value: object) -> None: ...
        def __add__(self, n: int) -> Halves: ...


class Addresses(Pointer, Generic[T]):
    """Addresses of blocks, side by side."""

    if TYPE_CHECKING:

        def __getitem__(self, i: int) -> T: ...


class Columns(Pointer):
    """Addresses of words, side by side: the columns of a chunk."""

    if TYPE_CHECKING:

        def __getitem__(self, c: int) -> Words: ...
        def __setitem__(self, c: int, column: object) -> None: ...


def size(block: type[Block]) -> int:
    """Bytes."""
    return ctypes.sizeof(block)


def words_at(address: Any, count: int) -> Any:
    """So many words, as Python sees them: a sequence of integers."""
    return (ctypes.c_int64 * count).from_address(address)


def clear(block: Block, field: str) -> None:
    """Make numbers within a block zeros."""
    place = getattr(type(block), field)
    ctypes.memset(ctypes.addressof(block) + place.offset, 0, place.size)


def offset(block: type[Block], field: str) -> int:
    """Bytes before a field, for atomic operations on it."""
    return int(getattr(block, field).offset)


class PackedColumn(Block):
    """How a column takes part in a packed key: a value v as (v - low) << shift, if that needs no more than its bits."""

    low: int
    bits: int
    shift: int


class RowList(Block):
    """Rows by their numbers."""

    rows: Words
    count: int


class RowNote(Block):
    """A row that an update changed, and its state before."""

    row: Half
    iteration: Half
    derivations: Half


class RankState(Block):
    """Of a row of a stratum in which only the best counts, beside its iteration (which is its level, plus one): its
    value, as a number of which less is better; when it moved last, and its value and iteration just before; the number
    of its key, if its relation has keys."""

    value: int
    was_value: int
    stamp: int
    was: Half
    key: Half


class KeyState(Block):
    """Of a key: the row that has its value, plus one, or 0 if it has none; the round in which it was lost; and, where
    evaluation begins with nothing, the least rank that was offered to it (of level 0: none)."""

    row: int
    lost: int
    value: int
    level: int


class NumberedSlot(Block):
    """Of an identity table with row numbers: a packed key with TOP, and ~row: 0 while a thread is making the row."""

    key: int
    row: int


class BitmapSlot(Block):
    """Of an identity table of bitmaps: packed keys without their six low bits, with TOP, and a bit for each."""

    key: int
    bits: int


class RowsSlot(Block):
    """Of a table of bitmaps with row numbers: ~`list` says which 64 words, ~row each, are those of its tuples; `fresh`
    has the bits that iteration `stamp` added, so that a tuple of an earlier one is settled without a look at its row.
    A list or row that a thread is making is 0."""

    key: int
    bits: int
    list: Half
    stamp: Half
    fresh: int


class RelationBlock(Block):
    """A relation. Rows are `stride` words each, of 8 bytes if `wide`, else of 4."""

    arity: int
    wide: int
    rows: int
    capacity: int
    count: int
    delta_start: int
    delta_stop: int
    table: int  # of keys, or of slots, by its `mode`
    bits: int
    used: int
    limit: int
    mode: int
    pack: PackedColumn
    tick: int
    stride: int
    lock: int
    update: UpdateBlock  # the running one, in which it is `own`, or of a lower stratum
    own: int
    first: int  # the number of the first row that counts
    stateful: int
    iteration: int  # that of new rows
    overflow: int  # whether a row has more derivations than its count can say
    left: Inside[RowList]  # this list and the next three lie side by side, in the order of their views
    came: Inside[RowList]
    lost: Inside[RowList]
    moved: Inside[RowList]
    list_capacity: int
    log: RowNote
    log_length: int
    log_capacity: int
    numbers: Halves  # of a table of bitmaps with row numbers, 64 for each of its lists
    number_capacity: int
    now: Halves  # by row: the iteration in which it is found now,
    before: Halves  # that before the running update, as its complement, or 0 if it is the same,
    derived: (
        Halves  # and its derivations in that iteration, less one; the last two are mostly zeros, which cost nothing
    )
    ranks: RankState  # by row, if only the best counts in its stratum, else 0; of a relation of keys, their states
    keys: RelationBlock  # the relation of its keys, else 0
    order: int  # of its values: their kind, doubled, and 1 if the greatest is the best
    value_column: int
    value_log: Words  # the values beside the iterations of the log, or 0


class IndexSlot(Block):
    """A key with TOP, and its segment: where in the arena, how many entries, for how many there is room; how many there
    were before those of iteration `stamp`."""

    key: int
    offset: int
    length: Half
    capacity: Half
    previous: Half
    stamp: Half


class IndexBlock(Block):
    """An index: a table of keys, and an arena of entries (other columns, row numbers), one segment per key."""

    relation: RelationBlock
    nkey: int
    keys: Words
    nvalue: int
    values: Words
    table: IndexSlot
    bits: int
    used: int
    limit: int
    arena: int
    arena_capacity: int
    arena_used: int
    mode: int
    pack: PackedColumn
    upto: int  # rows before this one are in it
    counted: int  # rows that a first build has counted
    multiplier: int
    shift: int
    need: int  # words of the arena that it asks for
    order: Words  # of a sorted index: the rows in their order, else 0
    slots: Halves  # the slots that a first build has noted for its rows, else 0
    free: Annotated[Words, 32]  # by size class: the first segment that is free, plus one


class Output(Block):
    """A word of an entry (or ROW, or THROUGH_ROW less a column), and the column that receives it."""

    place: int
    column: Words


class Carried(Block):
    """A column of the level above, and where it is copied to."""

    source: Words
    target: Words


class EntryCheck(Block):
    """What an entry must meet, by its kind: the word at `place` equals another word of the entry (CHECK_SAME), equals
    the binding's value (CHECK_COLUMN), compares with it (CHECK_BOUND), or is the number of a row that a
    view has (CHECK_STATE); or the entry is such a row (CHECK_ROW)."""

    kind: int
    place: int
    other_place: int
    column: Words
    comparison: int
    value_kind: int
    relation: RelationBlock
    viewed: int  # the number of the view


class Operation(Block):
    """An operation on a chunk; the kinds of operations add to it. `live` are the columns that live on after it."""

    kind: int
    nlive: int
    live: Columns


class FilterOperation(Operation):
    """FILTER: keep the bindings for which left and right compare."""

    comparison: int
    value_kind: int
    left: Words
    right: Words


class ComputeOperation(Operation):
    """COMPUTE: target := left functor right."""

    functor: int
    value_kind: int
    left: Words
    right: Words
    target: Words


class ExistsOperation(Operation):
    """EXISTS, ABSENT: whether an index has a fitting entry."""

    index: IndexBlock
    viewed: int  # the number of its view
    keys: Columns
    ncheck: int
    checks: EntryCheck


class FewerOperation(Operation):
    """FEWER: whether the left index has fewer entries than the right one; not strict: or as many."""

    strict: int
    left: IndexBlock
    left_view: int
    left_keys: Columns
    right: IndexBlock
    right_view: int
    right_keys: Columns


class TupleOperation(Operation):
    """An operation with whole tuples of a relation, given as columns, as many as it has."""

    relation: RelationBlock
    ncolumn: int
    columns: Columns


class MemberOperation(TupleOperation):
    """MEMBER, NONMEMBER: whether a tuple is known; `numbers` (if not 0) receives the rows."""

    viewed: int  # the number of its view
    numbers: Words


class EmitOperation(TupleOperation):
    """EMIT: insert."""


class PackOperation(TupleOperation):
    """PACK: insert records; `numbers` receives their rows."""

    numbers: Words


class BodyPart(Block):
    """A part of a derivation's body: its rows (a column), their relation, and its role in the rule."""

    rows: Words
    relation: RelationBlock
    role: int


class FoldOperation(Operation):
    """FOLD: the levels of derivations, those just before the round left out if they were `asked` for. It goes on from
    the levels `since_before` and `since_after`, if `goes_on`, and chooses by whether it is the `last`."""

    asked: int
    npart: int
    parts: BodyPart
    before: Words
    after: Words
    goes_on: int
    since_before: Words
    since_after: Words
    last: int


class TellOperation(TupleOperation):
    """TELL: tell heads of their derivations, by their levels. `number` is that of their relation in the update."""

    update: UpdateBlock
    number: int
    asked: int
    before: Words
    after: Words


class RankOperation(Operation):
    """RANK: the ranks of derivations just before the round, left out if they were `asked` for, and after it. Heads have
    a `value`, whose `order` is that of their relation, or (0) the greatest of their bodies."""

    asked: int
    npart: int
    parts: BodyPart
    value: Words
    order: int
    update: UpdateBlock
    before_value: Words
    before: Words
    after_value: Words
    after: Words


class OfferOperation(TupleOperation):
    """OFFER: tell heads of their derivations, by their ranks. Its tuples are heads, or the keys of heads."""

    update: UpdateBlock
    head: RelationBlock
    number: int
    asked: int
    before_value: Words
    before: Words
    after_value: Words
    after: Words


class UnpackOperation(Operation):
    """UNPACK: the fields of records, which are rows of a relation by number."""

    relation: RelationBlock
    records: Words
    ncheck: int
    checks: EntryCheck
    nout: int
    outs: Output


class IterationOperation(Operation):
    """ITERATION: target := the running iteration."""

    target: Words


class Level(Block):
    """A level of a plan: a source of bindings, and the operations done on each of its chunks. The kinds of sources add
    to it. `cursor` and `position` say how far it is."""

    kind: int
    count: int  # of the chunk's bindings
    nop: int
    ops: Addresses[Operation]
    cursor: int
    position: int
    shared: Words  # the cursor that several threads share, else 0
    ncarry: int
    carry: Carried


class MatchLevel(Level):
    """A source with entries: rows of a relation, or of an index."""

    relation: RelationBlock
    viewed: int  # the number of its view
    nout: int
    outs: Output
    ncheck: int
    checks: EntryCheck


class ScanLevel(MatchLevel):
    """SCAN: the rows of a view up to `stop`. LIST: rows by their numbers."""

    stop: int


class ProbeLevel(MatchLevel):
    """PROBE: entries of an index by the bindings above; CROSS: for each of these, all rows of a view. `ready` once the
    segments of all bindings are found."""

    ready: int
    offsets: Words
    lengths: Words
    index: IndexBlock
    keys: Columns
    sort_place: int  # where in an entry the column is by which the index is sorted, or -1
    sort_kind: int
    low: Words  # limits of that column, or 0
    low_strict: int
    high: Words
    high_strict: int


class RangeLevel(Level):
    """RANGE: numbers from start to stop by steps (0 if none are given), for each binding above."""

    start: Words
    stop: Words
    step: Words
    value_kind: int
    target: Words


class PlanBlock(Block):
    """A plan: its levels, how far it is, what it has done, and columns of scratch."""

    nlevel: int
    levels: Addresses[Level]
    level: int  # where it is, -1 before it begins
    op: int
    chunk: int
    work: int
    budget: int
    derivations: int
    cycles: int
    effort: int
    keys: Words
    slots: Words
    chosen: Words
    entries: Words
    sources: Words
    subject: int  # the relation that it asks something for
    fault_left: int
    fault_right: int
    fault_functor: int
    sharing: int  # how many tuples other threads may be inserting meanwhile
    iteration: int
    python: int  # whether it has steps that only Python can do


class StratumBlock(Block):
    """A stratum."""

    nplan: int
    plans: Addresses[PlanBlock]
    nrelation: int
    relations: Addresses[RelationBlock]
    nindex: int
    indexes: Addresses[IndexBlock]
    phase: int
    position: int
    iteration: int
    new: int
    max_iterations: int
    subject: int  # the plan or index that asks for something, or 0
    scratch: Words
    threshold: int  # new tuples from which Python goes on


class Bucket(Block):
    """The counts that wait for an iteration: the first of their chain, and how many they are."""

    first: int
    count: int


class Waiting(Block):
    """A count that waits: the next of its chain, the number of a relation in the update, a row, and how many
    derivations more (or, below zero, fewer) it has."""

    next: Half
    number: Half
    row: Half
    more: Half


class Sum(Block):
    """The counts of a bucket that have reached a row (its relation's number in the upper half), in sum."""

    row: int
    more: int


class Offered(Block):
    """A count that waits for its rank: value and level (as an iteration), the number of a relation in the update, a row
    of it or the number of a key, and how many derivations more (or, below zero, fewer)."""

    value: int
    level: Half
    number: Half
    head: Half
    more: Half


class RankSum(Block):
    """The counts that have reached a head (its relation's number in the upper half) in sum, and the row that was
    entered for it."""

    head: int
    more: int
    entered: int


class UpdateBlock(Block):
    """An update of a stratum. Counts wait in buckets, as chains; number 0 is none. Where only the best counts, they
    wait in a heap, the least rank first."""

    phase: int
    position: int
    bucket: int
    highest: int
    nplan: int
    plans: Addresses[PlanBlock]
    nown: int
    own: Addresses[RelationBlock]
    nrelation: int
    relations: Addresses[RelationBlock]
    nindex: int
    indexes: Addresses[IndexBlock]
    waiting: Waiting
    waiting_capacity: int
    nwaiting: int
    free: int  # the first of a chain of those that wait no longer
    buckets: Bucket
    nbucket: int
    sums: Words  # of the bucket that is being settled: a hash table of numbers of sums, plus one, and then the sums
    sums_capacity: int
    need: int
    subject: int
    work: int
    budget: int
    scratch: Words
    together: int  # whether the next bucket is agreed on with other stores
    agreed: int  # that bucket, or -1 while it is not known
    round: int  # how many ranks were settled, in this and all earlier updates of the database
    rank_value: int  # the rank that is being settled, or was last
    rank_level: int
    heap: Offered
    heap_capacity: int
    nheap: int
    npopped: int  # those of the rank at hand, behind the heap
    nsum: int
    entered: int  # how many sums have been looked at for rows to be entered
    from_nothing: int  # whether there was no state before
    entry: Columns  # a tuple to be entered, and four words of scratch


class SymbolsBlock(Block):
    """The symbol dictionary: a hash table, the bytes of all texts, and where each ends."""

    table: Words
    bits: int
    count: int
    limit: int
    bytes: int
    capacity: int
    ends: Words
    frozen: int


class TextPlace(Block):
    """Where a term or line is in a text."""

    begin: int
    end: int


class RecentTerm(Block):
    """A term met lately: where it begins, its length, its number."""

    begin: int
    length: int
    number: int


class LinesBlock(Block):
    """Lines of triples to be split: the text, its length and how far it is split; classes of characters; where terms
    begin and end; which terms each line has; lines that are not plain; the subject of the line before (with the space
    behind it) and its term; terms met lately."""

    text: int
    length: int
    at: int
    classes: int
    terms: TextPlace
    nterm: int
    codes: Halves
    nline: int
    odd: TextPlace
    nodd: int
    graphs: int
    subject: int
    subject_length: int
    subject_term: int
    recent: RecentTerm
