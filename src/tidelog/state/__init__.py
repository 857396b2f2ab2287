"""Durable state: epochs that outlive their process, in a directory of Parquet and JSON.

`opening.py` is where to begin; `durable.py` keeps the epochs of an engine, and `directory.py` says what is in the
directory.
"""

from tidelog.state.durable import Durable
from tidelog.state.opening import open_state

__all__ = ["Durable", "open_state"]
