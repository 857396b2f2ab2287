"""Durable state: epochs that outlive their process, in a directory of Parquet and JSON.

`durable.py` is where to begin: an engine around an engine. `directory.py` says what is in the directory.
"""

from tidelog.state.durable import Durable, open_state
from tidelog.state.log import Batch

__all__ = ["Batch", "Durable", "open_state"]
