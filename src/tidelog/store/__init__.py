"""Relations in memory, and the native execution of plan steps over them.

What it holds: a `Database` of relations (row-major words, identity table, indexes built when a plan asks for them),
the symbol and record dictionaries, and *pipelines*: plan steps encoded as integers that one precompiled interpreter
runs over chunks of bindings. No kernel is compiled per rule or program. The API that `evaluate/` codes against:

    db = Database(threads=1)
    db.sibling()                                # an empty database with the same symbols and records
    edge = db.create("edge", 2)                 # arity 0 is fine; db["edge"], "edge" in db, db.relations, db.drop
    edge.insert(array2d) -> int                 # new rows among them; behind delta_stop, like an Emit
    edge.count, len(edge)                       # all rows, those of the running iteration included
    edge.rows(View.ALL | DELTA | OLD | None)    # 2-D array; None is everything. A snapshot: valid for ever
    edge.contains(array2d) -> bool array
    edge.clear(); edge.memory() -> {"rows": bytes, "identity": bytes, "index(0)": bytes, ...}
    edge.advance() -> int                       # new rows become the delta (their number); old delta becomes old
    edge.settle()                               # everything is old, the delta is empty (the end of a stratum)
    edge.restart() -> int                       # everything is the delta (the beginning of a recursive stratum)

    db.complete_equivalence("same")             # from the pairs it has to all of their closure, held as classes

    db.symbols.encode(pyarrow string array) -> int64 ids;  db.symbols.decode(ids) -> pyarrow string array
    db.symbols.id(text) -> int;  db.symbols.text(id) -> str;  db.symbols.find(text) -> int | None
    db.records.pack(array2d) -> ids;  db.records.unpack(ids, arity) -> array2d   (id 0 is nil)
    db.encode(Const) -> int                     # the 64-bit word

    pipe = db.pipeline(steps)                   # from a Scan (or one empty binding) to an Emit
    pipe.run(); pipe.derivations                # derivations so far (emits before duplicates are dropped)
    pipe = db.pipeline(steps, inputs=(slots,), outputs=(slots,))
    pipe.run(batch) -> batch                    # int64[n, len(inputs)], one column per slot; outputs likewise. With
                                                # inputs only, steps end in Emit; with outputs only, begin with Scan
    is_native(step) -> bool                     # whether a pipeline can hold the step
    changing=[names]                            # option: relations that grow between runs (no sorted index for them)

    keep = db.create("path", 2, stateful=True)  # each row with its iteration and number of derivations (`row_states`):
    keep.now(rows), keep.derived(rows)          # set by inserting in a stratum; changed by a `NativeUpdate`, undone or
    keep.log; keep.commit(); keep.undo()        # committed by its log; `keep.find(array2d)` gives row numbers

    stratum = db.stratum(relations, plans)      # plans with pivot None run once, the others until nothing is new
    stratum.run(progress=None, every_iteration=False) -> iterations
                                                # progress(iteration, tuples) is called about every 50 ms, and at the
                                                # end; it may raise to stop (the database stays usable)
    stratum.derivations, stratum.seconds        # per plan; stratum.iterations

    native.announce = print                     # told in one line before kernels are compiled, if none came compiled

Views are ranges of rows: OLD = [0, delta_start), DELTA = [delta_start, delta_stop), ALL = [0, delta_stop). A relation
that no stratum runs over must be settled for its facts to be seen: `insert` outside a stratum then `settle()`.
To drive iterations by hand: `restart()` the stratum's relations, run pipelines, `advance()` them, until all are 0,
`settle()`. Indexes are built and brought up to date when a pipeline that needs them runs.

A probe whose columns are all bound is answered by the identity table, whatever its view: it may see tuples of the
running iteration, which is sound in batch evaluation (a true fact is used early, or once more).

A plan that probes X and then closes a cycle with Y is split so that each binding begins with the smaller of the two
(see `adaptive`). Join order between acyclic atoms is the planner's business.

Errors at run time: `ArithmeticFault` (division by zero: operation, operands, `plan`: which plan of the stratum).

To read it, in this order:

- memory: `memory` (arrays that grow without moving), `blocks` (what Python and the kernels share, field by field),
  `codes` (their numbers for things), `native` (how kernels are found and called), `compiling` (how they are made);
- relations: `relation`, made of `row_states` (iterations and counts of rows), `rank_states` (ranks, where only the
  best counts) and `bulk_rows` (many rows at once);
  `packing` (keys of several columns in one word), `index`; `difference`, `distinct`, `components`;
- dictionaries: `symbols`, `records`; `triple_lines` (terms of N-Triples); `equivalence` with `pair_rows` (`eqrel`);
- plans: `operations` (what is native), `adaptive` (which of two atoms first), `encode` with `assembly` (steps to
  blocks), `encoded`, `pipeline`, `faults`;
- execution: `stratum` (to a fixpoint), `crew` (several threads), `pending` and `update` (an epoch's changes),
  `rank_update` (the same where only the best counts),
  `database` (owns all of it, and serves what kernels ask for);
- `kernels/`: `raw` and `access` (loads and stores), `arithmetic`; `identity`, `shared_rows` (of several threads),
  `insertion`, `membership`, `rebuild`, `matching`
  (tables of tuples); `segments`, `first_build`, `lookup` (indexes); `levels` and `machine` (plans and strata);
  `signed_counts` and `update`, `ranks` and `rank_update`; `texts`, `triples`; `entry` (how Python calls them).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidelog.store.codes import MOST_DERIVATIONS, NEVER
    from tidelog.store.database import Database
    from tidelog.store.equivalence import Equivalence, classified, present
    from tidelog.store.faults import ArithmeticFault, NotWorse
    from tidelog.store.memory import release_spare
    from tidelog.store.operations import is_native
    from tidelog.store.pair_rows import PairRows, pair_changes
    from tidelog.store.pipeline import Pipeline
    from tidelog.store.relation import Relation
    from tidelog.store.stratum import NativeStratum

__all__ = [
    "MOST_DERIVATIONS",
    "NEVER",
    "ArithmeticFault",
    "Database",
    "Equivalence",
    "NativeStratum",
    "NotWorse",
    "PairRows",
    "Pipeline",
    "Relation",
    "classified",
    "is_native",
    "pair_changes",
    "present",
    "release_spare",
]  # fmt: skip

_WHERE = {
    "ArithmeticFault": "faults",
    "Database": "database",
    "Equivalence": "equivalence",
    "MOST_DERIVATIONS": "codes",
    "NEVER": "codes",
    "NotWorse": "faults",
    "PairRows": "pair_rows",
    "Pipeline": "pipeline",
    "Relation": "relation",
    "NativeStratum": "stratum",
    "classified": "equivalence",
    "is_native": "operations",
    "pair_changes": "pair_rows",
    "present": "equivalence",
    "release_spare": "memory",
}


def __getattr__(name: str) -> Any:
    """The API is imported when it is first asked for: the build step has kernels, but neither numpy nor pyarrow."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
