"""Where the milliseconds of a command go before it does anything, beside importing numpy and pyarrow in the same run.

    python -m benchmarks.start_up [ROUNDS] [commands | parts]

A round runs every command once, in a process of its own; the run is of ten rules, which the first round has parsed. The
first table has the least processor time and the peak of
memory; the second what is imported by a tiny run, by package, in the order of the time that their own modules take
(`-X importtime`, which itself makes imports slower). Some 20 seconds with 10 rounds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

FAMILY = Path(__file__).parent / "start_up_program"
TIDELOG = ["-m", "tidelog"]
RUN = [*TIDELOG, "run", str(FAMILY / "family.dl"), "-F", str(FAMILY / "facts"), "-D", "-", "--local"]
COMMANDS = {
    "python": ["-c", "pass"],
    "import numpy, pyarrow": ["-c", "import numpy, pyarrow"],
    "tidelog --help": [*TIDELOG, "--help"],
    "tidelog check": [*TIDELOG, "check", str(FAMILY / "family.dl")],
    "tidelog run --local": RUN,
}


def cost(arguments: list[str]) -> tuple[float, float]:
    """Seconds of processor time and megabytes at the peak."""
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{arguments} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def by_package(arguments: list[str]) -> dict[str, float]:
    """Milliseconds that the modules of each package take to be imported, without those that they import."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True
    )  # fmt: skip
    found: dict[str, float] = defaultdict(float)
    for line in done.stderr.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        if own.strip().isdigit():
            name = rest.partition("|")[2].strip().split(".")
            found[".".join(name[: 2 if name[0] == "tidelog" else 1])] += int(own) / 1000
    return found


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    if wanted in ("", "commands"):
        show_commands(rounds)
    if wanted in ("", "parts"):
        show_parts()


def show_commands(rounds: int) -> None:
    runs = [{name: cost(arguments) for name, arguments in COMMANDS.items()} for _ in range(rounds)]
    least = {name: min(run[name] for run in runs) for name in COMMANDS}
    beside = least["import numpy, pyarrow"][0]
    print(f"load {os.getloadavg()[0]:.1f}, {rounds} rounds\n")
    print("| command | ms | of importing numpy and pyarrow | MB |\n|---|---|---|---|")
    for name, (seconds, memory) in least.items():
        print(f"| {name} | {seconds * 1000:.0f} | {seconds / beside:.2f} | {memory:.0f} |")


def show_parts() -> None:
    print("\n| package | ms to import in a tiny run |\n|---|---|")
    for name, milliseconds in sorted(by_package(RUN).items(), key=lambda item: -item[1])[:30]:
        print(f"| {name} | {milliseconds:.1f} |")


if __name__ == "__main__":
    main()
