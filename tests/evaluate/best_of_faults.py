"""Faults to plant in recursion for the best, one at a time: each must be found by random programs (`test_best_of`).

    python tests/evaluate/best_of_faults.py [NAME …]     plants those of the kernels, in a copy that is compiled anew

A fault is a piece of source, which stands there once, and what takes its place. Those of plans need no compiler, and CI
plants them; those of kernels take half a minute each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PLANS, RANKS, LOOP, VIEWS = (
    f"src/tidelog/{name}.py"
    for name in (
        "plan/orders/rank_plans", "store/kernels/ranks", "store/kernels/rank_update", "store/kernels/membership",
    )
)  # fmt: skip
CASES = 2000


class Fault(NamedTuple):
    """What is wrong, in words; where; and how."""

    why: str
    file: str
    right: str
    wrong: str


OF_PLANS = {
    "no-again": Fault(
        "a lost key does not ask for its other derivations",
        PLANS,
        "    yield _offering(scheduler, best, parts_of(scheduler, own), HEAD, asked=True)",
        "    yield from ()",
    ),
    "silent": Fault(
        "what moves does not withdraw what it offered before",
        PLANS,
        "yield _offering(scheduler, best, parts_of(scheduler, own), position, asked=False)",
        "yield _offering(scheduler, best, parts_of(scheduler, own), position, asked=True)",
    ),
    "twice": Fault(
        "a derivation with two moved facts is told twice",
        PLANS,
        "atom: seen_from(atom, before_pivot=other < place) for other, atom in enumerate(atoms)\n"
        "        }\n        scheduler = from_pivot(",
        "atom: seen_from(atom, before_pivot=False) for other, atom in enumerate(atoms)\n"
        "        }\n        scheduler = from_pivot(",
    ),
}
OF_KERNELS = {
    "no-level": Fault(
        "equal values without an order: two keys of a cycle of zero weight support each other",
        RANKS,
        "return level + 1 if value == worst else 1",
        "return 1",
    ),
    "unordered": Fault(
        "ranks as they come, not the least first",
        RANKS,
        "        if not is_behind(above.value, above.level, value, level):\n            break",
        "        if True:\n            break",
    ),
    "late-view": Fault(
        "what is withdrawn is computed from the ranks after the round",
        RANKS,
        "was, was_value = state.was, state.was_value",
        "was, was_value = now, state.value",
    ),
    "unflagged": Fault(
        "a key lost in this round also takes what others tell besides the answers it asked for",
        RANKS,
        "return state.lost != u.round or asked != 0",
        "return True",
    ),
    "keep-behind": Fault(
        "a key keeps what is worse than its value, and hears of it again when it is lost",
        RANKS,
        "    return not is_behind(value, level, r.ranks[row].value, r.now[row])",
        "    return True",
    ),
    "one": Fault(
        "a found key counts one derivation, however many there are",
        LOOP,
        "move(u, r, entered, value, level, countable(r, more))",
        "move(u, r, entered, value, level, 1)",
    ),
    "hidden": Fault(
        "ordinary facts of the stratum have no hidden value",
        RANKS,
        "            before, after = before + 1, after + 1",
        "            before, after, before_value, after_value = before + 1, after + 1, LEAST_VALUE, LEAST_VALUE",
    ),
    "moved": Fault(
        "a row that moved in a round is still seen by atoms before the pivot",
        VIEWS,
        "        if r.own and r.ranks and moved_in_round(r, row):\n            return False\n",
        "",
    ),
}
RUN = """
import sys
sys.path[:0] = [{source!r}, {tests!r}]
from evaluate.test_best_of import check
for seed in range({cases}):
    try:
        check(seed, "update")
    except Exception as problem:
        print("found in case", seed, type(problem).__name__, flush=True)
        raise SystemExit({found})
"""
FOUND = 3


def planted(fault: Fault, folder: Path) -> Path:
    """A copy of the sources with the fault in it."""
    copy = folder / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.o", "*.egg-info"))
    place = folder / fault.file
    text = place.read_text(encoding="utf-8")
    assert text.count(fault.right) == 1, fault
    place.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    return copy


def found(name: str, fault: Fault, cases: int = CASES) -> bool:
    """Whether random programs find it, within so many; a process that dies has found it, too."""
    with tempfile.TemporaryDirectory() as folder:
        source = planted(fault, Path(folder))
        script = RUN.format(source=str(source), tests=str(ROOT / "tests"), cases=cases, found=FOUND)
        cache = {**os.environ, "TIDELOG_CACHE": folder} if fault in OF_KERNELS.values() else dict(os.environ)
        done = subprocess.run(
            [sys.executable, "-c", script], env=cache, capture_output=True, text=True, timeout=900, check=False
        )
    print(f"{name:12} {done.stdout.strip() or done.returncode}: {fault.why}", flush=True)
    if done.returncode not in (0, FOUND) and done.returncode > 0:
        raise AssertionError(done.stderr)
    return done.returncode != 0


if __name__ == "__main__":
    chosen = {name: OF_KERNELS[name] for name in sys.argv[1:] or OF_KERNELS}
    missed = [name for name, fault in chosen.items() if not found(name, fault)]
    sys.exit(f"not found: {', '.join(missed)}" if missed else 0)
