"""Algorithm 1 of paper 000: pipelined semi-naïve maintenance, one update at a time in any order.

A scheduler decides which update a node picks next; `picking` says how many make a complete-iteration: one (a
PSN-iteration), several, or all that the chosen node holds (section 4, discussion). With `cancel`, an update that meets
its complement in the buffer disappears with it (Lemma 17). On a configuration with annotations this is the PSN of
section 5. A message is an update that a node makes for another node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tidelog.net.configuration import Configuration
from tidelog.net.delta import Made
from tidelog.net.schedulers import Fifo, Scheduler
from tidelog.net.values import Update

Watch = Callable[[list[Update], Made], None]


@dataclass
class Run:
    """What a run did. `waiting` are deletions of facts that never came: empty if the burst deletes only what exists."""

    configuration: Configuration
    iterations: int = 0
    updates: int = 0
    messages: int = 0
    cancelled: int = 0
    waiting: list[Update] = field(default_factory=list)


def psn(
    configuration: Configuration,
    burst: Iterable[Update] = (),
    scheduler: Scheduler | None = None,
    picking: int | None = 1,
    cancel: bool = False,
    watch: Watch | None = None,
) -> Run:
    """Runs until nothing can be picked. `picking` is the most updates of one iteration; None picks all of a node."""
    scheduler = scheduler or Fifo()
    run = Run(configuration)
    node = configuration.program.node
    for update in configuration.U.elements():
        scheduler.add(update, None, node(update.fact))
    for update in configuration.insert(burst):
        _send(run, scheduler, update, None, cancel)
    while True:
        chosen = scheduler.next(configuration.may_pick)
        if chosen is None:
            break
        picked = [chosen, *_more(configuration, scheduler, chosen, picking)]
        made = configuration.complete_iteration(picked)
        run.iterations += 1
        run.updates += len(picked)
        source = node(chosen.fact)
        for update, count in made:
            for _ in range(count):
                run.messages += node(update.fact) != source
                _send(run, scheduler, update, source, cancel)
        if watch:
            watch(picked, made)
    run.waiting = list(configuration.U.elements())
    return run


def _send(run: Run, scheduler: Scheduler, update: Update, source: object, cancel: bool) -> None:
    """The update, already in 𝒰, is handed to the scheduler, or leaves 𝒰 together with its complement."""
    if cancel and run.configuration.cancel(update):
        scheduler.withdraw(update.complement)
        run.cancelled += 1
    else:
        scheduler.add(update, source, run.configuration.program.node(update.fact))


def _more(configuration: Configuration, scheduler: Scheduler, chosen: Update, picking: int | None) -> list[Update]:
    """Further updates for the same node, up to the number asked for, that may be picked after the chosen ones."""
    if picking == 1:
        return []
    taken = {chosen: 1}
    place = configuration.program.node(chosen.fact)

    def may_pick(update: Update) -> bool:
        gained = taken.get(update.complement, 0) - taken.get(update, 0)
        return update.sign > 0 or configuration.available(update) + gained > 0

    more: list[Update] = []
    while picking is None or len(more) < picking - 1:
        update = scheduler.next_at(place, may_pick)
        if update is None:
            break
        taken[update] = taken.get(update, 0) + 1
        more.append(update)
    return sorted(more, key=lambda u: -u.sign)
