"""Durable state: epochs that outlive their process, in a directory of Parquet and JSON. In the order of reading:

- What is in the directory: `directory.py`, `manifest.py`, `program_text.py`, `columns.py`; `files.py` is what is
  asked of a file system, `lock.py` who may write, `problems.py` what can be wrong.
- Epochs that are kept: `opening.py` is where a session begins; `durable.py` keeps the epochs of an engine, with
  `log.py`, `snapshot.py` and `compaction.py`.
- From files to relations: `load.py`, `resume.py`, `equivalences.py`; `migrate.py`, for another program.
- Without a session: `reader.py`, `pieces.py` (for tasks that read side by side), `query.py`, `verify.py`.
"""

from tidelog.state.durable import Durable
from tidelog.state.opening import open_state

__all__ = ["Durable", "open_state"]
