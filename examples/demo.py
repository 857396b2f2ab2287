"""What `make demo` runs: the closure of a graph, from facts on disk to results on disk, with what it cost."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = HERE / "reach" / "reach.dl"
NODES, EDGES = 2_000, 10_000


def tidelog(*args: str | Path) -> str:
    """Run the command as a user would, and give what it printed."""
    command = [sys.executable, "-m", "tidelog.cli.main", *map(str, args)]
    print("$ tidelog", *args)
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def main() -> None:
    print(tidelog("check", PROGRAM))
    print(tidelog("plan", PROGRAM))
    print(tidelog("run", PROGRAM, "-F", HERE / "reach" / "facts", "-D", "-"))
    with tempfile.TemporaryDirectory() as folder:
        facts, out = Path(folder, "facts"), Path(folder, "out")
        facts.mkdir()
        out.mkdir()
        numbers = random.Random(1)
        edges = {(numbers.randrange(NODES), numbers.randrange(NODES)) for _ in range(EDGES)}
        (facts / "edge.facts").write_text("".join(f"{a}\t{b}\n" for a, b in sorted(edges)))
        print(f"a random graph with {NODES:,} nodes and {len(edges):,} edges")
        start = time.perf_counter()
        tidelog("run", PROGRAM, "-F", facts, "-D", out)
        seconds = time.perf_counter() - start
        with (out / "path.csv").open() as paths:
            count = sum(1 for _ in paths)
        print(f"{count:,} paths in {seconds:.1f} s, reading and writing included")


if __name__ == "__main__":
    main()
