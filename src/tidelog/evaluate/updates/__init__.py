"""Ways to update a stratum: from what changed below it and among its facts to the state that Bootstrap would compute.

`signed_counts.py` is the one for rules; `best_of.py` is the same where only the best value of a key counts;
`aggregates.py` and `equivalences.py` are for what is no sum of derivations.
Two are for comparison, over derivations as row numbers (`derivation_rows.py`): `paper.py`, the paper's Algorithm 3 with
its `diffs.py`, and `counting.py`, a count per iteration with its `level_counts.py`.
"""
