"""Tidelog on Spark: facts from DataFrames, results as DataFrames, and two executors.

`resident/` keeps the columnar store in a Spark task that serves epochs until the session closes; `dataframe/` evaluates
with nothing but DataFrame operations. `facts.py` makes a DataFrame of whatever a user hands in.
"""
