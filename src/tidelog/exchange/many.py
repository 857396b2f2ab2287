"""Many workers as the holder of a program's relations: every question is asked of all of them at once.

The answers add up, or hold if they hold for one. What an epoch is, and what is decided from the answers, is said once,
in `epochs/driver.py`, which does not know that there are many. What is always true between two epochs: the facts here
(`front.py`) and the relations of the workers are those of the same epoch, and all have the same dictionaries. Workers
that are lost end what is being done with `WorkerLost`; `recover` makes others, from the facts.
"""

from __future__ import annotations

import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tidelog.epochs.budget import Allowance, CostAnew
from tidelog.epochs.changes import NetChange
from tidelog.epochs.one_store import OneStore
from tidelog.epochs.report import EpochReport
from tidelog.errors import InternalError, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.effects import Effect
from tidelog.evaluate.facts import Facts
from tidelog.evaluate.limits import Limits, Observer, Silent
from tidelog.exchange.dictionaries import Extent, entries_since, learn
from tidelog.exchange.far_effects import FarEffects
from tidelog.exchange.far_rows import FarRows
from tidelog.exchange.fetched import Fetched
from tidelog.exchange.front import Front
from tidelog.exchange.homes import FIRST, holders
from tidelog.exchange.questions import (
    About,
    AboutStratum,
    Amount,
    ApplyChange,
    AskCosts,
    AskEffects,
    AskEntries,
    AskExtent,
    AskStrata,
    AskTraffic,
    BeginEpoch,
    Changed,
    CostsAre,
    CountTuples,
    EffectsAre,
    EndEpoch,
    Ending,
    EntriesAre,
    ExtentIs,
    FetchChange,
    FetchTuples,
    Learn,
    LoadPart,
    Resume,
    StartOver,
    StrataAre,
    TellChanges,
    TrafficIs,
    Tuples,
)
from tidelog.exchange.workers import Workers
from tidelog.plan.exchange.cut import Placements
from tidelog.plan.exchange.making import makes_values
from tidelog.plan.rewrites.read_classes import classes_of
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Database, PairRows, Relation
from tidelog.store.update import OverBudget
from tidelog.wire.messages import Message
from tidelog.wire.rendezvous import WorkerLost

Answer = TypeVar("Answer", bound=Message)
AT_ONCE = 16
"""So many strata are asked about at once: most are not reached, and each question takes its time."""
SIDES = ("reached", "changed", "read", "cost")


class Standing(NamedTuple):
    """How it is with a stratum: see `questions.StrataAre`."""

    reached: int
    changed: int
    read: int
    cost: float


Hire = Callable[[], Workers]


class Many:
    """See the module's docstring, and `holder.Holder`. Changes and facts come whole, and are shared out; `hire` makes
    the workers, and others in the place of those that are lost."""

    least_budget, few_changes = OneStore.least_budget, OneStore.few_changes

    def __init__(
        self, hire: Hire, front: Front, placed: Placements, limits: Limits, observer: Observer | None = None
    ) -> None:
        self.front, self.placed, self.limits = front, placed, limits
        self.strata = self._numbered = front.state.program.strata
        self._hire, self._observer = hire, observer or Silent()
        self._taught = Extent()  # how far the dictionaries go that all workers have
        self._told, self._forgotten = 0, list[int]()  # numbers of changes that were told, and those nobody has any more
        self._fetched: Fetched | None = None
        self._standings: dict[int, Standing] = {}  # by the number of the stratum, as long as nothing is done
        self._costs: list[float] | None = None  # by the number of the stratum, in this epoch
        self.change = NetChange()  # of the running epoch
        self._begun = False  # whether an epoch has ended
        self.insisting: Callable[[Callable[[], Words]], Words] = lambda act: act()  # who replaces workers says how
        self._workers: Workers | None = hire()

    # ---- workers

    @property
    def workers(self) -> Workers:
        if self._workers is None:
            raise WorkerLost("the workers are gone")
        return self._workers

    @property
    def size(self) -> int:
        return self.workers.size

    def _ask(self, kind: type[Answer], questions: Sequence[Message]) -> list[Answer]:
        try:
            answers = self.workers.ask(questions)
        except WorkerLost:
            self._workers = None
            raise
        for answer in answers:
            if not isinstance(answer, kind):
                raise InternalError(f"a worker answers {type(answer).__name__} instead of {kind.__name__}")
        return cast(list[Answer], answers)

    def _all(self, kind: type[Answer], question: Message) -> list[Answer]:
        return self._ask(kind, [question] * self.size)

    def _sum(self, question: Message) -> int:
        return int(sum(answer.value for answer in self._all(Amount, question)))

    def recover(self) -> None:
        """Have workers again after a loss, at the epoch that was committed last; before the first, they are empty."""
        self.close()
        self._workers, self._taught = self._hire(), Extent()
        if not self._begun:
            return
        facts = {name: rows for name, rows in self.front.all_facts().items() if len(rows)}
        with self.epoch("while starting other workers"):
            self._evaluate_all(facts)
            self._all(Message, EndEpoch(Ending.COMMIT))

    def close(self) -> None:
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()

    # ---- dictionaries

    def _teach(self) -> None:
        """Let all workers know what the facts mention."""
        new = entries_since(self.front.database, self._taught)
        if new:
            self._all(Message, Learn(new))
            self._taught = Extent.of(self.front.database)

    def _agree(self) -> None:
        """Have all dictionaries alike, after the first worker may have made values; also if it was interrupted."""
        if not self.front.makes_values:
            return
        extents = [answer.extent for answer in self._all(ExtentIs, AskExtent())]
        here = Extent.of(self.front.database)
        if extents[FIRST] != here:
            learn(self.front.database, self._all(EntriesAre, AskEntries(here))[FIRST].entries)
        least = here = Extent.of(self.front.database)
        for extent in extents:
            least = least.least(extent)
        if least != here:
            self._all(Message, Learn(entries_since(self.front.database, least)))
        self._taught = here

    # ---- sharing out

    def _shares(self, facts: Mapping[str, Any]) -> list[dict[str, Words]]:
        shares: list[dict[str, Words]] = [{} for _ in range(self.size)]
        for name, rows in facts.items():
            held = holders(self.placed[name], rows, self.size)
            for share, mask in zip(shares, held, strict=True):
                share[name] = rows if mask.all() else rows[mask]
        return shares

    # ---- from scratch

    @contextmanager
    def epoch(self, doing: str = "") -> Iterator[None]:
        with self.limits.epoch(doing):
            self._all(Message, BeginEpoch(doing, max(0.0, time.monotonic() - self.limits.started)))
            yield

    def gather(self, name: str) -> Relation:
        return self.front.gather(name)

    def start_over(self, facts: Mapping[str, Facts]) -> int:
        return self._evaluate_all(self.front.begin(facts))

    def _evaluate_all(self, facts: Mapping[str, Words]) -> int:
        self._teach()
        shares = self._shares(facts)
        self._observer.stratum(0, len(self._numbered), tuple(n for s in self._numbered for n in s.relations if s.rules))
        found = int(sum(answer.value for answer in self._ask(Amount, [StartOver(share) for share in shares])))
        self._agree()
        return found

    def facts_after(self, change: NetChange) -> dict[str, Facts]:
        return self.front.facts_after(change)

    # ---- from the epoch before

    def apply(self, change: NetChange) -> None:
        self._teach()
        self.change, self._standings = change, {}
        self.front.apply(change)
        shares = zip(self._shares(change.delete), self._shares(change.insert), strict=True)
        self._ask(Message, [ApplyChange(delete, insert) for delete, insert in shares])

    def _about(self, what: About, stratum: StatefulStratum) -> int:
        self._standings = {}
        return self._sum(AboutStratum(what, self._number(stratum)))

    def _number(self, stratum: StatefulStratum) -> int:
        return next(n for n, other in enumerate(self._numbered) if other is stratum)

    def _about_strata(self, first: int, count: int) -> list[Standing]:
        parts = self._all(StrataAre, AskStrata(first, count))
        sides = ([sum(found) for found in zip(*(getattr(p, side) for p in parts), strict=True)] for side in SIDES)
        return [Standing(*found) for found in zip(*sides, strict=True)]

    def _standing(self, stratum: StatefulStratum) -> Standing:
        """How it is with a stratum now; those behind it are asked about as well, for as long as nothing is done."""
        number = self._number(stratum)
        if number not in self._standings:
            self._standings = dict(enumerate(self._about_strata(number, AT_ONCE), number))
        return self._standings[number]

    def reached(self, stratum: StatefulStratum) -> bool:
        return self._standing(stratum).reached > 0

    def pass_by(self, stratum: StatefulStratum) -> None:
        if stratum.whole:  # others count nothing
            self._about(About.PASS_BY, stratum)

    def changed(self, stratum: StatefulStratum) -> int:
        return self._standing(stratum).changed

    def read(self, stratum: StatefulStratum) -> int:
        return self._standing(stratum).read

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        if self._costs is None:
            self._costs = [standing.cost for standing in self._about_strata(0, len(self._numbered))]
        return CostAnew(self._costs[self._number(stratum)])

    def take_facts(self, stratum: StatefulStratum) -> None:
        self._about(About.TAKE_FACTS, stratum)

    def update(self, stratum: StatefulStratum, allowance: Allowance) -> int:
        """Together they may do what one might; who gives up, does so with all others."""
        self._observe(stratum)
        self._standings = {}
        answers = self._all(Amount, AboutStratum(About.UPDATE, self._number(stratum), allowance.work))
        if makes_values(stratum):
            self._agree()
        if any(answer.over for answer in answers):
            raise OverBudget
        allowance.done = int(sum(answer.value for answer in answers))
        return allowance.done

    def give_up(self, stratum: StatefulStratum) -> None:
        self._about(About.GIVE_UP, stratum)

    def evaluate(self, stratum: StatefulStratum) -> int:
        self._observe(stratum)
        found = self._about(About.EVALUATE, stratum)
        if makes_values(stratum):
            self._agree()
        return found

    def _observe(self, stratum: StatefulStratum) -> None:
        self.limits.relations = stratum.relations
        self._observer.stratum(self._number(stratum), len(self._numbered), stratum.relations)

    # ---- the end

    def new_report(self, epoch: int, strategy: str, why: str) -> EpochReport:
        return EpochReport(epoch, strategy, why, 0.0, 0)

    def report_changes(self, report: EpochReport) -> None:
        self._told += 1
        forget, self._forgotten = self._forgotten, []
        parts = self._all(Changed, TellChanges(self._told, forget))
        kept = self._enter(report.inserted, [part.came for part in parts], True)
        kept = self._enter(report.deleted, [part.gone for part in parts], False) or kept
        if not kept:
            self._forgotten.append(self._told)

    def _enter(self, side: dict[str, Words], parts: Sequence[Any], came: bool) -> bool:
        """One side of a change, from what all workers tell; whether some of it stays with them."""
        kept = False
        for name in dict.fromkeys(name for part in parts for name in (*part.counts, *part.pairs)):
            pairs = [part.pairs[name] for part in parts if name in part.pairs]
            if pairs:
                elements, classes, elsewhere = np.concatenate(pairs).T
                side[name] = cast(Words, PairRows(elements, classes, elsewhere))  # to its readers, an array
                continue
            if all(name in part.rows for part in parts if name in part.counts):
                side[name] = np.concatenate([part.rows[name] for part in parts if name in part.rows])
                continue
            count = sum(part.counts.get(name, 0) for part in parts)
            side[name] = cast(Words, self._far(FetchChange(self._told, came, name), count))
            kept = True
        return kept

    def _far(self, question: FetchChange, count: int) -> FarRows:
        workers = self.workers

        def fetch() -> Words:
            if self._workers is not workers:
                raise error(
                    "TL1276", f"the changes of {question.relation} were many, and the workers that had them are gone",
                    help="look at an epoch's large changes before the session is closed",
                )  # fmt: skip
            return np.concatenate([answer.rows for answer in self._all(Tuples, question)])

        rows = FarRows(count, self.front.database[question.relation].arity, fetch)
        weakref.finalize(rows, self._forgotten_later, question.number)
        return rows

    def _forgotten_later(self, number: int) -> None:
        self._forgotten.append(number)

    def effects(self) -> FarEffects:
        return FarEffects(self.front, self.change, self.told_effects, self.costs)

    def told_effects(self, relations: Sequence[str]) -> dict[str, Effect]:
        """What the running epoch has done to relations, from all who own a part of them."""
        parts = self._all(EffectsAre, AskEffects(list(relations)))
        found = {}
        for name in dict.fromkeys(name for part in parts for name in part.rows):
            some = [part for part in parts if name in part.rows]
            sides = (
                [getattr(part, side)[name] for part in some] for side in ("rows", "change", "iterations", "counts")
            )
            found[name] = Effect(*map(np.concatenate, sides))
        return found

    def costs(self) -> CostsAre:
        """The counters are those of the first worker, which alone counts; efforts add up."""
        parts = self._all(CostsAre, AskCosts())
        efforts: Counter[str] = Counter()
        for part in parts:
            efforts.update(part.efforts)
        return CostsAre(parts[FIRST].counters, dict(efforts))

    def states(self, name: str) -> tuple[Words, Words, Words]:
        """The tuples of a relation, with their iterations and counts."""
        parts = self._all(Tuples, FetchTuples(name, states=True))
        return cast(
            tuple[Words, Words, Words],
            tuple(np.concatenate([getattr(p, side) for p in parts]) for side in ("rows", "iterations", "counts")),
        )

    def deal_out(self) -> None:
        """Let the workers have what the front has loaded; it keeps the facts."""
        self._teach()
        state, facts = self.front.state, self.front.all_facts()
        for name in state.program.arities:
            relation, there = self.database[name], state.present(name)
            rows, now, derived = relation.rows()[there], relation.now(there), relation.derived(there)
            held = holders(self.placed[name], rows, self.size)
            self._ask(Message, [LoadPart(name, rows[mask], now[mask], derived[mask]) for mask in held])
        for name in state.given:
            held = holders(self.placed[name], facts[name], self.size)
            self._ask(Message, [LoadPart(name, facts[name][mask]) for mask in held])
        numbers = {stratum.relations: str(number) for number, stratum in enumerate(self._numbered)}
        counters = {numbers[names]: found for names, found in state.counters.items()}
        efforts = {numbers[names]: int(found) for names, found in state.efforts.items()}
        shares = [efforts if me == FIRST else {} for me in range(self.size)]
        self._ask(Message, [Resume(CostsAre(counters, share)) for share in shares])
        self.front.begin({name: rows for name, rows in facts.items() if len(rows)})
        self.front.commit()
        self._begun = True

    def commit(self) -> None:
        """From here on the epoch counts: workers that are lost now are replaced by others that are in it, when somebody
        needs them."""
        self.front.commit()
        self._begun = True
        self._forget_figures()
        with suppress(WorkerLost):
            self._all(Message, EndEpoch(Ending.COMMIT))

    def _forget_figures(self) -> None:
        """What was asked in an epoch is no longer true."""
        self._fetched, self._standings, self._costs = None, {}, None

    def undo(self) -> None:
        self.front.undo()
        self._forget_figures()
        if self._workers is not None:
            with suppress(WorkerLost):
                self._all(Message, EndEpoch(Ending.UNDO))
                self._agree()

    # ---- contents

    @property
    def database(self) -> Database:
        return self.front.database

    def rows(self, name: str) -> Words:
        if name in self.front.state.program.implicit:
            elements, numbers = self._tuples(classes_of(name)).astype(np.int64).T
            return cast(Words, PairRows(elements, numbers))  # to its readers, an array
        return self._tuples(name)

    def _tuples(self, name: str) -> Words:
        return np.concatenate([answer.rows for answer in self._all(Tuples, FetchTuples(name))])

    def count(self, name: str) -> int:
        return self._sum(CountTuples(name))

    def facts(self, name: str) -> Words:
        return self.front.facts(name)

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return self.front.contains(name, rows)

    def query_database(self) -> Database:
        """What is asked for of it is brought here first, once in an epoch."""
        if self._fetched is None:
            self._fetched = Fetched(self.front, lambda name: self.insisting(lambda: self._tuples(name)))
        return self._fetched

    def traffic(self) -> list[TrafficIs]:
        """What each worker has sent to the others so far, and its memory."""
        return self._all(TrafficIs, AskTraffic())
