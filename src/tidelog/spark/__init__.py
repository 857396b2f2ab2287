"""Tidelog on Spark: facts from DataFrames, results as DataFrames, and two executors.

To be read in this order:

- The SparkSession: `injected.py` is one that a user hands in, `start.py` one of our own (`no_start.py` says why there
  is none), `slots.py` how many tasks it runs at once, `words.py` what it says when something goes wrong.
- Facts: `places.py` and `files.py` are where they are, `read.py` what a session is handed, `frames.py` and
  `fitting.py` their columns as a relation's, `local_frames.py` small ones without a job, `cut.py` those that are
  computed once, `packed.py` what is wrong with them.
- Sessions: `on_spark.py` is what they have in common. `resident/` keeps the columnar store in a Spark task that
  serves epochs until the session closes; `dataframe/` evaluates with nothing but DataFrame operations.
- Around them: `feed.py` is for change feeds, `stream.py` for streams (`courier.py` for those of Spark Connect),
  `write.py` writes outputs, and `source.py` reads state directories without a session.
"""
