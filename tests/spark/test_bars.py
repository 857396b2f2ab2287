"""The bars of stages that Spark draws on a terminal: those of the user's jobs, none for a task that never ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


def test_a_resident_task_has_no_bar_once_it_serves() -> None:
    script = Path(__file__).with_name("bars_run.py")
    surroundings = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, env=surroundings)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "served 0\nclosed 0\n"
    lines = re.split(r"[\r\n]+", done.stderr.partition("the session serves")[2])
    bars = [line for line in lines if "[Stage" in line]
    assert bars, done.stderr  # of the user's job
    assert all(line.count("[Stage") == 1 and "[Stage 0:" not in line for line in bars), bars
