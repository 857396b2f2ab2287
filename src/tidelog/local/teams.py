"""Engines whose relations are with workers, made from what a session's user has said: how many, and what is where."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidelog.analysis.checked import Checked
from tidelog.analysis.suggest import did_you_mean
from tidelog.analysis.types import RelationInfo
from tidelog.epochs.engine import EngineOptions
from tidelog.errors import Report, error
from tidelog.evaluate.limits import Observer, Silent
from tidelog.evaluate.state import State
from tidelog.exchange.dynamic.async_worker import alone, async_worker, refuse_async
from tidelog.exchange.dynamic.messages import KINDS as ASYNC_KINDS
from tidelog.exchange.front import Front
from tidelog.exchange.many import Many
from tidelog.exchange.many_anew import ManyAnew
from tidelog.exchange.part_worker import PartOrder, part_worker, shared_memory
from tidelog.exchange.processes import process_workers
from tidelog.exchange.questions import KINDS
from tidelog.exchange.stage import SlowestWorker
from tidelog.exchange.workers import Workers
from tidelog.exchange.workers_engine import WorkersEngine
from tidelog.local.settings import ASYNC, Settings
from tidelog.plain import replace
from tidelog.plan.exchange.placement import EVERYWHERE, Placement, place
from tidelog.wire.messages import Beat

if TYPE_CHECKING:
    from tidelog.state import Durable
    from tidelog.state.columns import Shape
    from tidelog.state.snapshot import Picture

REPLICATE = "replicate"
Watch = Callable[[Beat], None]
Team = Callable[[PartOrder, int, Watch], Workers]
"""Makes so many workers of an order, wherever they run, whose signs of life are told."""


def processes(order: PartOrder, size: int, watch: Watch) -> Workers:
    """Children of this process."""
    shared = replace(order, limits=shared_memory(order.limits, size))
    return process_workers(size, part_worker, shared, KINDS, watch)


def workers_engine(
    checked: Checked,
    settings: Settings,
    options: EngineOptions,
    observer: Observer | None = None,
    team: Team | None = None,
) -> tuple[WorkersEngine, Durable | None]:
    """The engine of a session with workers, and what keeps its epochs if there is a state directory; both are to be
    closed in the end."""
    said = said_placements(checked, settings.placement or {})
    if settings.state is None:
        return _engine(checked, settings, options, said, Front(checked, options.functors), observer, team), None
    from tidelog.state import Durable, problems  # reads and writes Parquet, which takes a while to import
    from tidelog.state.opening import STRATEGIES

    if settings.strategy not in STRATEGIES:
        raise problems.strategy_without_state(settings.strategy, STRATEGIES)
    state = State(checked, options.functors)
    keeper = Durable(state, settings.strategy, settings.state, settings.migrate, settings.read_only)
    engine = None
    try:
        front = Front(checked, options.functors, state)
        engine = _engine(checked, settings, options, said, front, observer, team, keeper)
        if keeper.position.epoch:
            engine.many.deal_out()
        keeper.pictures = partial(_picture, engine.many)
        if keeper.position.epoch:
            engine.go_on_from(keeper.position)
            keeper.replay(engine.update)
    except BaseException:
        if engine is not None:
            engine.close()
        keeper.close()
        raise
    return engine, keeper


def _engine(
    checked: Checked,
    settings: Settings,
    options: EngineOptions,
    said: Mapping[str, Placement],
    front: Front,
    observer: Observer | None,
    team: Team | None,
    keeper: Durable | None = None,
) -> WorkersEngine:
    size = settings.workers or 1
    functors: Any = settings.functors or {}
    if isinstance(functors, (str, os.PathLike)):
        functors = str(Path(functors).absolute())
    order = PartOrder(checked.program, functors, options.limits, said)
    if settings.strategy == ASYNC:
        return _async_engine(front, order, size, options, observer, team)
    kind = ManyAnew if settings.strategy == "batch" else Many
    hire = partial(team or processes, order, size, SlowestWorker(observer or Silent()))
    many = kind(hire, front, place(front.state.program, said), options.limits, observer)
    return WorkersEngine(many, options.policy(settings.strategy), keeper)


def _picture(many: Many, name: str, shape: Shape, lasting: bool) -> Picture:
    """A relation that workers hold, as a state directory keeps it: brought here for as long as it is written."""
    from tidelog.state.columns import GIVEN
    from tidelog.state.snapshot import Picture, picture

    if shape.kind == GIVEN:
        return picture(shape, many.database[name], lasting)
    return Picture(shape, *many.states(name), None)


def _async_engine(
    front: Front, order: PartOrder, size: int, options: EngineOptions, observer: Observer | None, team: Team | None
) -> WorkersEngine:
    """Workers that evaluate without rounds, from scratch in every epoch."""
    if team is not None:
        raise error("TL1286", "workers without rounds run on this machine only", help="leave `spark` away")
    program = front.state.program
    refuse_async(front.state.checked, program, order.said)
    shared = replace(order, limits=shared_memory(order.limits, size))
    hire = partial(process_workers, size, async_worker, shared, (*KINDS, *ASYNC_KINDS))
    return WorkersEngine(
        ManyAnew(hire, front, alone(program, order.said), options.limits, observer), options.policy("batch")
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
