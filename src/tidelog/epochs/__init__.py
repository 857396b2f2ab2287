"""Epochs: what an epoch is, for everybody who keeps relations up to date.

To be read in this order: `changes.py` (what an epoch is given), `report.py` (what it says it did), `holder.py` (what is
asked of whoever holds the relations, and of whoever makes epochs last), `budget.py` (what an Update may cost, and in
which words it is given up), `driver.py` (an epoch, from its change set to its end). Then those that hold relations in
this process: `one_store.py` (with their state) and `recompute.py` (without); `engine.py` puts them behind the driver.
DataFrames are another holder (`spark/dataframe/holder.py`).
"""
