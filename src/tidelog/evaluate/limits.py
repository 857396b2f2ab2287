"""Limits that end a run, and the observer that watches it.

A program may diverge (arithmetic in recursion), or have more tuples than fit into memory; these ends are clean: an
error that says how far the run got. Memory has a limit unless it is said that there is none: what this machine, or the
container that the process is in, can give it (`machine_memory.py`). It is asked for before a large table is made
(`room.py`), and besides looked at now and then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tidelog import room
from tidelog.errors import TidelogError, error
from tidelog.evaluate.machine_memory import default_memory
from tidelog.plain import dataclass, field, fields, replace
from tidelog.room import MemoryLimit, resident_bytes

if TYPE_CHECKING:
    from tidelog.plan.program import StratumPlan

__all__ = ["DEFAULT", "Limits", "Observer", "PlanObserver", "Silent", "default_memory", "resident_bytes"]

DEFAULT = "default"
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
LOOK_AGAIN = 1.0
"""Seconds after which the machine's memory is looked at anew; it takes as long as a small epoch."""
_FOR_EVER = "if the rules can make new values for ever (arithmetic in recursion), bound them with a constraint"


class Observer(Protocol):
    """What someone who watches a run is told."""

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None: ...

    def progress(self, iteration: int, tuples: int) -> None: ...


@runtime_checkable
class PlanObserver(Protocol):
    """An observer that wants to see the plans of a stratum each time that they have been ordered."""

    def planned(self, stratum: StratumPlan) -> None: ...


class Silent:
    """Watches nothing."""

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None:
        pass

    def progress(self, iteration: int, tuples: int) -> None:
        pass


@dataclass
class Limits:
    """None means no limit. Time is in seconds, memory in bytes or as a text such as "4G".

    Without a word about memory, or with "default", an epoch may take what the process can get when it begins
    (`default_memory`), or this `share` of it where several processes have to get along; 0 and "none" mean no limit.
    """

    max_iterations: int | None = None
    max_memory: int | str | None = DEFAULT
    timeout: float | None = None
    started: float = field(default_factory=time.monotonic)
    relations: tuple[str, ...] = ()
    share: float = 1.0
    _memory: int | None = field(default=None, init=False, repr=False, compare=False)
    _looked: float = field(default=-math.inf, init=False, repr=False, compare=False)
    _seen: tuple[int, int, tuple[str, ...]] | None = field(default=None, init=False, repr=False, compare=False)
    _doing: str = field(default="", init=False, repr=False, compare=False)
    _depth: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.max_memory != DEFAULT:
            self.max_memory = self._memory = memory_of(self.max_memory)

    def __getstate__(self) -> dict[str, Any]:
        """What another process is told: neither clocks nor what was found out about this machine."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and f.name != "started"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @contextmanager
    def epoch(self, doing: str = "") -> Iterator[None]:
        """Meanwhile these limits hold, beginning now: memory that would be too much, or that is not there, is an error
        that says what was being done. An epoch within an epoch is a part of it, whose clock goes on."""
        if not self._depth:
            self.started = time.monotonic()
        self.relations, self._seen, self._doing = (), None, doing
        self._memory = self.memory()
        self._depth += 1
        with room.limited(self._memory):
            try:
                yield
            except MemoryError as problem:
                raise self.out_of_memory(problem) from None
            finally:
                self._depth -= 1

    def apart(self) -> Limits:
        """The same limits for a reader, who may be at work while an epoch is."""
        other = replace(self)
        other._looked, other._memory = self._looked, self._memory
        return other

    def memory(self) -> int | None:
        """How large this process may be, as things are now."""
        if not isinstance(self.max_memory, str):
            return self.max_memory
        if time.monotonic() - self._looked > LOOK_AGAIN:
            self._looked, self._memory = time.monotonic(), default_memory(self.share)
        return self._memory

    def check(self, iteration: int, tuples: int) -> None:
        self._seen = iteration, tuples, self.relations
        if self.max_iterations is not None and iteration > self.max_iterations:
            raise self._reached("TL0901", f"the limit of {self.max_iterations:,} iterations", _FOR_EVER)
        if self.timeout is not None and time.monotonic() - self.started > self.timeout:
            raise self._reached("TL0902", f"the time limit of {self.timeout:g} s", _FOR_EVER)
        try:
            room.ensure(otherwise=self._memory)
        except MemoryLimit as problem:
            raise self.out_of_memory(problem) from None

    def out_of_memory(self, problem: MemoryError) -> TidelogError:
        """What to tell a user whose evaluation has no memory left."""
        more = "give it more with `max_memory` (--max-memory 16G; `none` for no limit)"
        if not isinstance(problem, MemoryLimit):
            return error(
                "TL0910", f"memory ran out {self._where()}" + (f": {problem}" if str(problem) else ""), help=_FOR_EVER
            )
        kind = "the memory limit" if self.max_memory != DEFAULT else "the default limit on memory"
        what = f"{kind} of {_mebibytes(problem.limit)}"
        if self.max_memory == DEFAULT:
            more += "; the default is what this machine or container could give when the evaluation began"
        sizes = f"{_mebibytes(problem.used)} in use" + (
            f", {_mebibytes(problem.wanted)} more needed" if problem.wanted else ""
        )
        return self._reached("TL0903", what, f"{more}; {_FOR_EVER}", sizes)

    def _reached(self, code: str, what: str, help: str, sizes: str = "") -> TidelogError:
        return error(code, f"{what} was reached {self._where()}" + (f" ({sizes})" if sizes else ""), help=help)

    def _where(self) -> str:
        names = ", ".join(self.relations[:5]) + (", …" if len(self.relations) > 5 else "")
        if self._seen is None or self._seen[2] != self.relations:
            return f"while evaluating {names}" if names else self._doing or "before the evaluation"
        iteration, tuples, _ = self._seen
        return (
            f"in iteration {iteration:,} of {names or 'the program'}, "
            f"with {tuples:,} tuples in {'its relations' if len(self.relations) != 1 else 'it'}"
        )


def memory_of(given: int | str | None) -> int | None:
    """Bytes: of a number, or of a text such as 4G, 500M or 1000000; "none" and 0 are no limit."""
    if given is None or given == 0 or (isinstance(given, str) and given.lower() in ("none", "0")):
        return None
    if isinstance(given, str):
        digits, unit = (given[:-1], _UNITS.get(given[-1:].upper())) if not given.isdigit() else (given, 1)
        if unit is not None and digits.replace(".", "", 1).isdigit():
            return int(float(digits) * unit)
    elif isinstance(given, int | float) and given > 0:
        return int(given)
    raise error(
        "TL0911", f"{given!r} is no amount of memory",
        help="give a size such as 4G, 500M or 1000000, `none` for no limit, or `default`",
    )  # fmt: skip


def _mebibytes(nbytes: int) -> str:
    return f"{nbytes / 2**20:,.0f} MiB"
