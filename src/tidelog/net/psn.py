"""Algorithm 1 of paper 000: pipelined semi-naïve maintenance, one update at a time in any order.

A scheduler decides which update a node picks next; `picking` says how many make a complete-iteration: one (a
PSN-iteration), several, or all that the chosen node holds (section 4, discussion). With `cancel`, an update that meets
its complement in the buffer disappears with it (Lemma 17). On a configuration with annotations this is the PSN of
section 5. A message is an update, of whatever weight, that a node makes for another node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from tidelog.net.algorithms import check_program
from tidelog.net.configuration import Configuration
from tidelog.net.delta import Made
from tidelog.net.schedulers import Fifo, PendingUpdate, Scheduler
from tidelog.net.values import Update
from tidelog.plain import dataclass, field

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
    check_program(configuration.program, configuration.derivations, cancel)
    run = Run(configuration)
    node = configuration.program.node
    for update, count in configuration.U.items():
        scheduler.add(update, None, node(update.fact), copies=count)
    for update, count in Counter(configuration.insert(burst)).items():
        _send(run, scheduler, update, count, None, cancel)
    while True:
        first = scheduler.take(configuration.may_pick)
        if first is None:
            break
        picked = _choose(configuration, scheduler, first, picking)
        made = configuration.complete_iteration(picked)
        run.iterations += 1
        run.updates += len(picked)
        for update, count in made:
            run.messages += node(update.fact) != first.destination
            _send(run, scheduler, update, count, first.destination, cancel)
        if watch:
            watch(list(picked.elements()), made)
    run.waiting = list(configuration.U.elements())
    return run


def _send(run: Run, scheduler: Scheduler, update: Update, count: int, source: object, cancel: bool) -> None:
    """The update, already in 𝒰, is handed to the scheduler, or leaves 𝒰 together with its complement."""
    met = run.configuration.cancel(update, count) if cancel else 0
    if met:
        scheduler.withdraw(update.complement, met)
        run.cancelled += met
    if count > met:
        scheduler.add(update, source, run.configuration.program.node(update.fact), copies=count - met)


def _choose(
    configuration: Configuration, scheduler: Scheduler, first: PendingUpdate, picking: int | None
) -> Counter[Update]:
    """What is picked now: as much of the first as may be, and up to `picking` updates for the same node with it.

    Insertions come first, so that a deletion finds what is inserted with it.
    """
    taken: Counter[Update] = Counter()

    def possible(update: Update) -> bool:
        gained = taken[update.complement] - taken[update]
        return update.sign > 0 or configuration.available(update) + gained > 0

    chosen = 0
    found: PendingUpdate | None = first
    while found is not None:
        update, count = found.update, found.copies
        gained = taken[update.complement] - taken[update]
        n = count if update.sign > 0 else min(count, configuration.available(update) + gained)
        if n < count:
            scheduler.add(update, None, found.destination, copies=count - n)
        taken[update] += n
        chosen += 1
        if chosen == picking:
            break
        found = scheduler.take_at(first.destination, possible)
    return Counter(dict(sorted(taken.items(), key=lambda t: -t[0].sign)))
