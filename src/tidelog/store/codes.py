"""The numbers by which Python and the kernels name things: statuses, modes, views, kinds.

The fields of the blocks that they share are in `blocks.py`.
"""

from __future__ import annotations

# What a kernel answers. Anything but DONE means: Python acts, then calls again, and the kernel goes on.
DONE, GROW_ROWS, GROW_IDENTITY, MISFIT, GROW_KEYS, GROW_ARENA, MISFIT_KEY, PAUSE, FAULT = range(9)
GROW_WAITING, GROW_BUCKETS, GROW_SUMS, GROW_LISTS, PYTHON, ROUND = range(9, 15)  # asked for by an update
GROW_HEAP, NOT_WORSE = 15, 16  # the latter: a derivation is better than its body, or no number

# A row (see RelationBlock) that is not there has iteration NEVER.
NEVER = 2**31 - 1
MOST_DERIVATIONS = 2**31 - 1  # that a row's count can say; the relation's overflow tells that there were more

# How a relation knows its tuples: not at all (a bag), by packed keys, by (hash tag, row number), by bitmaps of 64 keys;
# and, where a tuple must lead to its row: by (packed key, row number), by bitmaps with 64 row numbers.
BAG, PACKED, TAGGED, BITMAP, NUMBERED, BLOCKED = range(6)
SLOT_WORDS = {BAG: 0, PACKED: 1, TAGGED: 1, BITMAP: 2, NUMBERED: 2, BLOCKED: 4}
TOP = -(2**63)  # marks a slot in use
GOLDEN = -7046029254386353131

ROW = -1  # in place of a column: the number of the row
THROUGH_ROW = -2  # less a column, in place of a position in an entry: not in the entry, but in the row that it names

# Views, as the kernels number them: three are ranges of rows, four are lists of rows; two ask for the state of a row,
# and three for its level in the running round of an update.
ALL, DELTA, OLD, LEFT, CAME, LOST, MOVED, BEFORE, AFTER, EITHER, BOTH, STILL = range(12)

# The sources of levels, the operations on chunks, and the checks of entries.
UNIT, SCAN, PROBE, CROSS, RANGE, LIST = range(6)
FILTER, COMPUTE, EXISTS, ABSENT, MEMBER, NONMEMBER, EMIT, UNPACK, PACK, ITERATION = range(1, 11)
FEWER, FOLD, TELL, RANK, OFFER = range(11, 16)
CHECK_SAME, CHECK_COLUMN, CHECK_BOUND, CHECK_STATE, CHECK_ROW = range(5)

# Work is counted in bindings: to insert a derivation, or to tell its head and settle that, is as much as this many.
EMIT_EFFORT, TELL_EFFORT = 4, 16

# Comparisons and kinds of values.
EQ, NE, LT, LE, GT, GE = range(6)
SIGNED, UNSIGNED, FLOAT = range(3)
NAN = 0x7FF8000000000000
LEAST_VALUE = -(2**63)  # in the order of ranks, that of what follows from lower strata alone

# Where a stratum is, and where an update is.
PHASE_PLANS, PHASE_ADVANCE, PHASE_INDEXES = range(3)
PHASE_BUCKET, PHASE_EXTEND, PHASE_TELL = range(3)

# What a part of a body is to its derivation.
OWN, LOWER, NEGATED = range(3)

# How the places of texts are given: by offsets of 32 or 64 bits, or (begin, end).
OFFSETS, WIDE_OFFSETS, PAIRS = range(3)

# Classes of characters in lines of triples.
IN_HOST, IN_PATH, IN_SCHEME, IN_LABEL, IN_TEXT, IN_ESCAPE, IS_LETTER, IS_SMALL = (1 << i for i in range(8))
RECENT_TERMS = 256
NO_TERM = -1
