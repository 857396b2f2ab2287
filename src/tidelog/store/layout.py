"""The control blocks that Python and the kernels share: where each field lies.

A relation, an index, a level, an operation and a plan are each one block of int64 words at a fixed address; kernels
are given addresses of blocks and find everything else from there. Constants here are byte offsets into a block.
What is always true: a block never moves while its Python owner lives; what it points to may be replaced, but only
while no kernel runs.
"""

from __future__ import annotations


def _fields(count: int) -> tuple[int, ...]:
    return tuple(8 * i for i in range(count))


# What a kernel answers. Anything but DONE means: Python acts, then calls again, and the kernel goes on.
DONE, GROW_ROWS, GROW_IDENTITY, MISFIT, GROW_KEYS, GROW_ARENA, MISFIT_KEY, PAUSE, FAULT = range(9)
GROW_EVENTS, GROW_BUCKETS, GROW_SEEN, GROW_LISTS, PYTHON = range(9, 14)  # asked for by an update

# A relation.
(
    R_ARITY, R_WIDE, R_ROWS, R_CAPACITY, R_COUNT, R_DELTA_START, R_DELTA_STOP, R_TABLE, R_BITS, R_USED, R_LIMIT,
    R_MODE, R_PACK, R_TICK, R_STRIDE, R_LOCK, R_FIRST, R_STATE, R_ITERATION, R_OVERFLOW, R_LEFT, R_NLEFT, R_CAME,
    R_NCAME, R_LOST, R_NLOST, R_LIST_CAPACITY, R_LOG, R_NLOG, R_LOG_CAPACITY, R_NUMBERS, R_NUMBER_CAPACITY, R_NOW,
    R_BEFORE, R_DERIVED,
) = _fields(35)  # fmt: skip
R_SIZE = 35

# The state of a row, in arrays of 32-bit words beside the rows: the iteration in which it is found now; that in the
# state before the running update, as its complement, or 0 if it is the same; the number of its derivations in that
# iteration, less one. The last two are mostly zeros, which cost nothing. A row that is not there has iteration NEVER.
NOW, BEFORE_NOW = range(2)
NEVER = 2**31 - 1

# How a relation knows its tuples: not at all (a bag), by packed keys, by (hash tag, row number), by bitmaps of 64 keys;
# and, where a tuple must lead to its row: by (packed key, row number), by bitmaps with 64 row numbers.
BAG, PACKED, TAGGED, BITMAP, NUMBERED, BLOCKED = range(6)
SLOT_WORDS = {BAG: 0, PACKED: 1, TAGGED: 1, BITMAP: 2, NUMBERED: 2, BLOCKED: 4}
B_BITS, B_LIST, B_STAMP, B_FRESH = 8, 16, 20, 24  # in the slot of a block
TOP = -(2**63)  # marks a slot in use
GOLDEN = -7046029254386353131

# An index: a key table of 32-byte slots, and an arena of entries (other columns, row numbers), one segment per key.
(
    X_RELATION, X_NKEY, X_KEYS, X_NVALUE, X_VALUES, X_TABLE, X_BITS, X_USED, X_LIMIT, X_ARENA, X_ARENA_CAPACITY,
    X_ARENA_USED, X_MODE, X_PACK, X_UPTO, X_COUNTED, X_MULTIPLIER, X_SHIFT, X_NEED, X_ORDER, X_SLOTS, X_FREE,
) = _fields(22)  # fmt: skip
X_CLASSES = 32
X_SIZE = 22 + X_CLASSES
S_KEY, S_OFFSET, S_LENGTH, S_CAPACITY, S_PREVIOUS, S_STAMP, S_BYTES = 0, 8, 16, 20, 24, 28, 32

ROW = -1  # in place of a column: the number of the row
THROUGH_ROW = -2  # less a column, in place of a position in an entry: not in the entry, but in the row that it names

# Views, as the kernels number them: three are ranges of rows, two ask for the state of a row, three are lists of rows.
ALL, DELTA, OLD, BEFORE, AFTER, LEFT, CAME, LOST = range(8)

# A level of a plan: a source of bindings, and the operations done on each of its chunks.
(
    L_KIND, L_COUNT, L_NOPS, L_OPS, L_CURSOR, L_POSITION, L_STOP, L_RELATION, L_VIEW, L_INDEX, L_NKEY, L_KEYS,
    L_NOUT, L_OUTS, L_NCARRY, L_CARRY, L_NCHECK, L_CHECKS, L_SEGMENTS, L_LENGTHS, L_READY, L_SHARED,
    L_SORT_COLUMN, L_SORT_LOW, L_SORT_HIGH, L_SORT_KIND, L_TARGET, L_START,
) = _fields(28)  # fmt: skip
L_SIZE = 28
UNIT, SCAN, PROBE, CROSS, RANGE, LIST = range(6)

# An operation on a chunk.
(
    O_KIND, O_CODE, O_A, O_B, O_TARGET, O_RELATION, O_INDEX, O_VIEW, O_NKEY, O_KEYS, O_NLIVE, O_LIVE, O_NCHECK,
    O_CHECKS, O_NOUT, O_OUTS, O_VALUE_KIND, O_SPARE,
) = _fields(18)  # fmt: skip
O_SIZE = 18
FILTER, COMPUTE, EXISTS, ABSENT, MEMBER, NONMEMBER, EMIT, UNPACK, PACK, ITERATION, FEWER, FILE = range(1, 13)

# Work is counted in bindings; to insert a derivation, or to file one and settle it, is about as much as this many.
EMIT_EFFORT, FILE_EFFORT = 4, 16

# A check of an entry: words (type, position, position or column address, comparison, kind).
CHECK_SAME, CHECK_COLUMN, CHECK_BOUND, CHECK_STATE, CHECK_ROW = range(5)
CHECK_BYTES = 40

# Comparisons and kinds of values.
EQ, NE, LT, LE, GT, GE = range(6)
SIGNED, UNSIGNED, FLOAT = range(3)

# A plan.
(
    P_NLEVEL, P_LEVELS, P_LEVEL, P_OP, P_CHUNK, P_WORK, P_BUDGET, P_DERIVATIONS, P_CYCLES, P_KEYS, P_SLOTS, P_CHOSEN,
    P_ENTRIES, P_SOURCES, P_SUBJECT, P_FAULT_A, P_FAULT_B, P_FAULT_OP, P_SHARED, P_ITERATION, P_PIVOT, P_SCAN, P_EFFORT,
) = _fields(23)  # fmt: skip
P_SIZE = 23

# A stratum.
(
    T_NPLAN, T_PLANS, T_NRELATION, T_RELATIONS, T_NINDEX, T_INDEXES, T_PHASE, T_POSITION, T_ITERATION, T_NEW,
    T_BUDGET, T_MAX_ITERATIONS, T_SUBJECT, T_SCRATCH, T_THRESHOLD,
) = _fields(15)  # fmt: skip
T_SIZE = 15
PHASE_PLANS, PHASE_ADVANCE, PHASE_INDEXES = range(3)

# An update of a stratum. Events wait in buckets: chains of records in an arena of 32-bit words, a record being
# (next, number of the filing operation, head row, rows of the body). Record 0 is none.
(
    U_PHASE, U_POSITION, U_BUCKET, U_HIGHEST, U_NPLAN, U_PLANS, U_NOWN, U_OWN, U_NALL, U_ALL, U_NINDEX, U_INDEXES,
    U_ARENA, U_ARENA_CAPACITY, U_ARENA_USED, U_BUCKETS, U_NBUCKET, U_SEEN, U_SEEN_CAPACITY, U_OPS, U_NEED,
    U_SUBJECT, U_WORK, U_BUDGET, U_SCRATCH, U_FREE,
) = _fields(26)  # fmt: skip
U_LONGEST = 64  # words of a record: longer ones are not used again within an update
U_SIZE = 26 + U_LONGEST
PHASE_BUCKET, PHASE_EXTEND, PHASE_FILE = range(3)
RECORD = 3  # words of an event before the rows of its body
DEPARTURES, ARRIVALS, NDEPARTURE, NARRIVAL = 0, 8, 16, 24  # a bucket: first records, numbers of records
BUCKET_BYTES = 32

# The parts of a derivation that a filing operation names: words (column of row numbers, relation, role).
OWN, LOWER, NEGATED, VALUE = range(4)
PART_BYTES = 24

# The symbol dictionary: a hash table, the bytes of all texts, and where each ends.
D_TABLE, D_BITS, D_COUNT, D_LIMIT, D_BYTES, D_CAPACITY, D_OFFSETS, D_FROZEN = _fields(8)
D_SIZE = 8
