"""The algorithms over one store, in the order in which they are to be read.

1. What runs a plan: `bindings.py`, `context.py`, `prepare.py`; `stages.py`, with steps in Python (`functors.py`,
   `mathematics.py`, `user_functors.py`, `aggregates.py`, and `remarks.py`, what they have to say); `statistics.py`,
   by which orders are chosen; `limits.py`, `machine_memory.py`. `facts.py` is how facts come in, `rows.py` sets of
   rows as arrays.
2. From scratch: `fixpoint.py`, with relations that keep some of what is derived (`special.py`, `subsumption.py`,
   `lattices.py`; `best_of.py`, where only the best counts); `query.py` answers an ad-hoc query; `profile.py` says where
   the time went.
3. With state: `state.py`, `bootstrap.py`, `anew.py` (a stratum from scratch in the middle of an epoch), `effects.py`
   (what an epoch has done).
4. From the state before: `updates/`, one way of updating a stratum per file.

What an epoch is, and who decides which of these runs, is in `epochs/`.
"""
