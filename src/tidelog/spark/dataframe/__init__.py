"""The DataFrame executor: every step of a plan is a DataFrame operation, every iteration a Spark job.

To be read in this order:

- Values: `values.py`, `records.py`, `arithmetic.py`, `functors.py` and `aggregates.py` are kinds, functors and
  aggregates as Spark expressions; `faults.py` is how errors in them reach the user.
- Plans: `sql.py` puts queries together, `translate.py` makes them of plans, `tables.py` holds the relations of a
  stratum in one frame, `checkpoints.py` cuts frames off from their past. `refuse.py` is what cannot be done.
- A stratum from scratch: `strata.py`, `text_facts.py`, `fixpoint.py`, `special.py`.
- A stratum that changes: `given.py`, `transitions.py`, `touched.py`, `update.py`, `update_aggregate.py`.
- The whole: `engine.py` keeps a program up to date, with `holder.py`, by which the driver of epochs asks it;
  `report.py` says what an epoch did, `query.py` asks, `small.py` is for programs that are small, and
  `dataframe_session.py` is the session in front of it all.
"""
