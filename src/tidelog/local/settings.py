"""How a session works: what its user may choose, checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tidelog.analysis.suggest import did_you_mean
from tidelog.epochs.engine import STRATEGIES, EngineOptions
from tidelog.errors import Report
from tidelog.evaluate.limits import Limits
from tidelog.evaluate.profile import Recorder
from tidelog.evaluate.user_functors import load_module
from tidelog.plain import dataclass, field

Functors = Mapping[str, Callable[..., Any]]
ASYNC = "async"
WITH_WORKERS = ("elastic", "update", "batch", ASYNC)
_BUDGETS = ("derivations", "seconds")
_SWITCHING = ("stratum", "program")


@dataclass(frozen=True)
class Settings:
    """`facts` is the folder of the program's own `.input` files; the others are explained at `tidelog.Session`."""

    strategy: str = "elastic"
    switch: float = 0.2
    budget: str = "derivations"
    switching: str = "stratum"
    strict: bool = False
    threads: int = 1
    functors: Functors | str | os.PathLike[str] | None = None
    facts: str | os.PathLike[str] = "."
    skip_bad_rows: bool = False
    limits: Limits = field(default_factory=Limits)
    state: str | os.PathLike[str] | None = None
    migrate: bool = False
    read_only: bool = False
    profile: bool = False
    workers: int | None = None
    placement: Mapping[str, Any] | None = None

    def check(self) -> None:
        report = Report()
        known = (*STRATEGIES, ASYNC)
        if self.strategy not in known:
            help = did_you_mean(self.strategy, known) or f"it is one of {', '.join(known)}"
            report.error("TL1106", f"there is no strategy `{self.strategy}`", help=help)
        if not self.switch >= 0:
            report.error("TL1106", f"the switch {self.switch} is negative",
                         help="it is a share of Bootstrap's cost, such as 0.2")  # fmt: skip
        if self.budget not in _BUDGETS:
            report.error("TL1106", f"there is no budget in `{self.budget}`", help=f"it is in {' or '.join(_BUDGETS)}")
        if self.switching not in _SWITCHING:
            help = f"it is by {' or '.join(_SWITCHING)}"
            report.error("TL1106", f"there is no switching by `{self.switching}`", help=help)
        if self.threads < 1:
            report.error("TL1106", f"{self.threads} threads are too few", help="give 1 or more")
        if self.state is not None and not (
            isinstance(self.state, (str, os.PathLike)) and os.fspath(self.state).strip()
        ):
            report.error("TL1106", f"{self.state!r} is no state directory",
                         help="give a path or a URI, or leave `state` away to keep nothing")  # fmt: skip
        self._check_limits(report)
        self._check_workers(report)
        report.check()

    def _check_workers(self, report: Report) -> None:
        """What several workers cannot do yet is refused, and not left away."""
        if self.workers is None:
            if self.placement:
                report.error("TL1106", "`placement=` says which worker has what, and there are no workers",
                             help="give the session `workers=` as well")  # fmt: skip
            if self.strategy == ASYNC:
                report.error("TL1106", "the strategy `async` is that of several workers, and there are none",
                             help="give the session `workers=` as well, or take the strategy batch")  # fmt: skip
            return
        if not isinstance(self.workers, int) or isinstance(self.workers, bool) or self.workers < 1:
            report.error("TL1106", f"{self.workers!r} workers are none: it is a whole number, 1 or more")
        if self.strategy not in WITH_WORKERS and self.strategy in STRATEGIES:
            report.error("TL1274", f"workers do not evaluate by the strategy `{self.strategy}`",
                         help=f"it is one of {', '.join(WITH_WORKERS)}; or leave `workers` away")  # fmt: skip
        if self.budget == "seconds":
            report.error("TL1274", "workers give an Update up by the work done, not by the clock",
                         help="leave `budget` away, or `workers`")  # fmt: skip
        if self.profile:
            report.error("TL1274", "there are no profiles of workers yet", help="leave `profile` away, or `workers`")
        if self.threads > 1:
            report.error("TL1274", f"a worker evaluates on one thread, not on {self.threads}",
                         help="take more workers instead of threads")  # fmt: skip

    def _check_limits(self, report: Report) -> None:
        if not isinstance(self.limits, Limits):
            report.error("TL1106", f"`limits=` takes a tidelog.Limits, not a {type(self.limits).__name__}",
                         help='write limits=tidelog.Limits(max_memory="4G", timeout=60)')  # fmt: skip
            return
        for name, kinds, unit in (("max_iterations", int, "a whole number"), ("timeout", int | float, "seconds")):
            value = getattr(self.limits, name)
            if value is not None and not (isinstance(value, kinds) and not isinstance(value, bool) and value > 0):
                report.error("TL1106", f"the limit {name}={value!r} is none: it is {unit} above 0, or None",
                             help="None, which is the default, means no limit")  # fmt: skip

    def loaded_functors(self) -> Functors:
        """The user's functors, from their file if that is how they were given."""
        if isinstance(self.functors, (str, os.PathLike)):
            return load_module(Path(self.functors))
        return self.functors or {}

    def engine_options(self) -> EngineOptions:
        return EngineOptions(
            self.threads, self.loaded_functors(), self.limits, self.switch, self.budget, self.switching,
            recorder=Recorder() if self.profile else None,
        )  # fmt: skip
