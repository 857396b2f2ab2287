"""`python -m benchmarks.machine`: what the measurements of a page were made on, and what else it had to do then."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path


def processor() -> str:
    """Its name, where the system says it."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pyarrow"))
    row = [
        time.strftime("%Y-%m-%d"), processor(), str(os.cpu_count()), f"{memory:.0f} GiB",
        f"{platform.python_version()}, {packages}", f"{os.getloadavg()[0]:.1f}",
    ]  # fmt: skip
    print("| date | processor | cores | memory | Python | load when the measurements began |")
    print("|---|---|---|---|---|---|")
    print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
