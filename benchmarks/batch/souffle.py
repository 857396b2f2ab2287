"""Compiled Soufflé as a peer, if there is one on the PATH; it is compiled once for each number of threads, untimed.

Its generated code uses threads only if it was compiled with `-jN`; the option of the program alone is not enough.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

_SIZE = re.compile(r"^(\w+)\t(\d+)$", re.MULTILINE)


@cache
def compiled(program: Path, threads: int) -> str | None:
    """The program as Soufflé compiles it; None if there is no Soufflé, or it does not take the program."""
    souffle = shutil.which("souffle")
    if souffle is None:
        return None
    made = Path(mkdtemp(prefix="souffle-")) / f"{program.stem}-j{threads}"
    done = subprocess.run([souffle, f"-j{threads}", "-o", str(made), str(program)], capture_output=True, check=False)
    return str(made) if done.returncode == 0 and made.exists() else None


def sizes(printed: str, folder: Path) -> dict[str, int]:
    """How many tuples it found: as `.printsize` says, and as there are lines in what it wrote."""
    found = {name: int(size) for name, size in _SIZE.findall(printed)}
    for file in folder.glob("*.csv"):
        with open(file, "rb") as lines:
            found[file.stem] = sum(1 for _ in lines)
    return dict(sorted(found.items()))
