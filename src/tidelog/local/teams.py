"""Engines whose relations are with workers, made from what a session's user has said: how many, and what is where."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tidelog.analysis.checked import Checked
from tidelog.analysis.suggest import did_you_mean
from tidelog.analysis.types import RelationInfo
from tidelog.epochs.engine import EngineOptions
from tidelog.errors import Report, error
from tidelog.evaluate.limits import Observer
from tidelog.exchange.front import Front
from tidelog.exchange.many import Many, ManyAnew
from tidelog.exchange.part_worker import PartOrder, part_worker, shared_memory
from tidelog.exchange.processes import process_workers
from tidelog.exchange.questions import KINDS
from tidelog.exchange.workers import Workers
from tidelog.exchange.workers_engine import WorkersEngine
from tidelog.local.settings import Settings
from tidelog.plan.exchange.placement import EVERYWHERE, Placement, place

REPLICATE = "replicate"
Team = Callable[[PartOrder, int], Workers]
"""Makes so many workers of an order, wherever they run."""


def processes(order: PartOrder, size: int) -> Workers:
    """Children of this process."""
    return process_workers(size, part_worker, order, KINDS)


def workers_engine(
    checked: Checked,
    settings: Settings,
    options: EngineOptions,
    observer: Observer | None = None,
    team: Team | None = None,
) -> WorkersEngine:
    """The engine of a session with workers, which are to be closed in the end."""
    if settings.state is not None:
        raise error("TL1274", "workers keep no state directory yet", help="leave `state` away, or `workers`")
    size = settings.workers or 1
    said = said_placements(checked, settings.placement or {})
    functors: Any = settings.functors or {}
    if isinstance(functors, (str, os.PathLike)):
        functors = str(Path(functors).absolute())
    front = Front(checked, options.functors)
    order = PartOrder(checked.program, functors, shared_memory(options.limits, size), said)
    kind = ManyAnew if settings.strategy == "batch" else Many
    hire = partial(team or processes, order, size)
    return WorkersEngine(
        kind(hire, front, place(front.state.program, said), options.limits, observer), options.policy(settings.strategy)
    )


def said_placements(checked: Checked, given: Mapping[str, Any]) -> dict[str, Placement]:
    """Where the user wants relations to be: by `replicate` in a declaration, or by what a session is given."""
    report = Report()
    found = {name: EVERYWHERE for name, info in checked.relations.items() if REPLICATE in info.decl.qualifiers}
    for name, where in given.items():
        if name not in checked.relations:
            report.error("TL1103", f"there is no relation `{name}` to be placed",
                         help=did_you_mean(name, checked.relations))  # fmt: skip
            continue
        placed = _placement(checked.relations[name], where, report)
        if placed is not None:
            found[name] = placed
    report.check()
    return found


def _placement(info: RelationInfo, where: Any, report: Report) -> Placement | None:
    if where == REPLICATE and REPLICATE not in info.attributes:
        return EVERYWHERE
    columns = [where] if isinstance(where, str) else list(where)
    unknown = [column for column in columns if column not in info.attributes]
    if columns and not unknown:
        return Placement(tuple(info.attributes.index(column) for column in columns))
    what = f"`{unknown[0]}` is no attribute of {info.name}" if unknown else f"no attribute of {info.name} is named"
    report.error(
        "TL1275", f"{info.name} cannot be placed: {what}",
        help=f"name one of {', '.join(info.attributes)}, or several for copies, or say \"{REPLICATE}\" to have all of "
        "it at every worker",
    )  # fmt: skip
    return None
