"""Workers that each hold a part of the relations, and exchange what their joins need.

`transport.py` is how peers reach each other, whoever they are; `seeded.py` has all of them in one process, in an order
that a seed decides. Between processes it is `peer_sockets.py`, with windows that bound what is under way: `credits.py`.
`workers.py` says what workers are for who asks them, and what one of them is; `serving.py` is what the process of a
worker runs, `workforce.py` asks all of them, and `processes.py` has them as children of this process.
"""
