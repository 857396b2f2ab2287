"""Workers that each hold a part of the relations, and exchange what their joins need.

`transport.py` is how peers reach each other, whoever they are; `seeded.py` has all of them in one process, in an order
that a seed decides, and `turns.py` lets them wait for each other there. Between processes it is `peer_sockets.py`, with
windows that bound what is under way: `credits.py`. `workers.py` says what workers are for who asks them, and what one
of them is; `serving.py` is what the process of a worker runs, `workforce.py` asks all of them, and `processes.py` has
them as children of this process. `stage.py` is how far they are, for who watches.

What workers do together: `waves.py` and `agreement.py`; `homes.py` says who holds what, `journeys.py` lets matches
travel, `part_fixpoint.py` evaluates, `part_update.py` updates, and `part_store.py` is a worker's part of the relations.
`part_worker.py` answers what it is asked (`questions.py`). Whoever asks has the facts and the dictionaries (`front.py`,
`dictionaries.py`), and is a holder like any other: `many.py`, `many_anew.py`, `workers_engine.py`; what stays with the
workers until it is looked at is in `far_rows.py`, `far_effects.py` and `fetched.py`.

`dynamic/` is the other way to evaluate on workers: from scratch, without rounds.
"""
