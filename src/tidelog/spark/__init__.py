"""Tidelog on Spark: facts from DataFrames, results as DataFrames, and two executors.

`resident/` keeps the columnar store in a Spark task that serves epochs until the session closes; `dataframe/` evaluates
with nothing but DataFrame operations. `read.py` and `frames.py` make facts of whatever a user hands in,
`feed.py` of change feeds, `stream.py` of streams; `write.py` writes outputs, and `source.py` reads state directories
without a session.
"""
