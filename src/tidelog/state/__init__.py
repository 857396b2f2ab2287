"""Durable state: epochs that outlive their process, in a directory of Parquet and JSON.

`durable.py` is where to begin: an engine around an engine. `directory.py` says what is in the directory.
"""

from tidelog.state.durable import Durable, open_state

__all__ = ["Durable", "open_state"]
