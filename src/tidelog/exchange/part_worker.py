"""A worker of a program: a part of the relations, and answers to the questions of whoever asks all workers.

It is the same whatever its transport is: between processes (`serving.py`), or on the seeded one. What is always true
between two questions: nothing is under way, and its dictionaries have what those of all others have.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.epochs.changes import NetChange
from tidelog.epochs.report import EpochReport
from tidelog.errors import InternalError
from tidelog.evaluate.effects import Effect
from tidelog.evaluate.limits import Limits
from tidelog.evaluate.user_functors import load_module
from tidelog.exchange.dictionaries import Extent, entries_since, learn
from tidelog.exchange.part_store import PartStore
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
    SideOfChange,
    StartOver,
    StrataAre,
    TellChanges,
    TrafficIs,
    Tuples,
)
from tidelog.exchange.stage import Stage, StageObserver
from tidelog.exchange.transport import WaitingTransport
from tidelog.exchange.waves import narrow
from tidelog.lang import tree
from tidelog.plain import dataclass, replace
from tidelog.plan.exchange.cut import Placements
from tidelog.plan.exchange.placement import Placement, place
from tidelog.plan.stateful import StatefulProgram, stateful_program
from tidelog.room import resident_bytes
from tidelog.store import PairRows
from tidelog.store.update import OverBudget
from tidelog.wire.messages import Done, Message

FEW = 1 << 16
"""So many changed words of a relation are told at once; more are fetched when somebody looks at them."""


@dataclass(frozen=True)
class PartOrder:
    """What a worker is made from. `functors` are functions of modules, or the path of a file that has them; `said` is
    where the user wants relations to be."""

    program: tree.Program
    functors: Mapping[str, Callable[..., Any]] | str
    limits: Limits
    said: Mapping[str, Placement]


def part_worker(order: PartOrder, line: WaitingTransport) -> PartWorker:
    """The worker of an order. The program is checked again: what checking finds out does not travel."""
    return PartWorker(check(order.program), functors_of(order), order.limits, line, order.said)


def functors_of(order: PartOrder) -> Mapping[str, Callable[..., Any]]:
    """The user's functions, loaded here if they are in a file."""
    return load_module(Path(order.functors)) if isinstance(order.functors, str | os.PathLike) else order.functors


class PartWorker:
    """See the module's docstring."""

    store_class: type[PartStore] = PartStore

    def __init__(
        self,
        checked: Checked,
        functors: Mapping[str, Callable[..., Any]],
        limits: Limits,
        line: WaitingTransport,
        said: Mapping[str, Placement],
    ) -> None:
        placed = self.placements(stateful_program(checked, by_classes=True, by_ranks=True), said)
        self.limits, self.line = limits, line
        self._observer = StageObserver()
        self.store = self.store_class(checked, functors, limits, line, placed, self._observer)
        self._tasks, self._since, self._doing = 0, time.monotonic(), ""
        self._kept: dict[int, EpochReport] = {}

    def placements(self, program: StatefulProgram, said: Mapping[str, Placement]) -> Placements:
        """Where the tuples of each relation are."""
        return place(program, said)

    @property
    def stage(self) -> Stage | None:
        """How far it is, for its signs of life."""
        return self._observer.stage

    def answer(self, question: Message) -> Message:
        self._tasks += 1
        if isinstance(question, BeginEpoch):
            self._since, self._doing = time.monotonic() - question.elapsed, question.doing
            self._observer.stage = None
            return Done()
        with self.limits.epoch(self._doing), self.store.task(self._tasks):
            self.limits.started = self._since
            answer = self._answered(question)
            self._check_dictionaries()
            return answer

    def _check_dictionaries(self) -> None:
        """Nobody makes values that the others do not know."""
        known, found = self.store.share.known, Extent.of(self.store.database)
        if found != known:
            raise InternalError(f"worker {self.line.me} has made values on its own: {found} instead of {known}")

    def _answered(self, question: Message) -> Message:
        store = self.store
        match question:
            case Learn(entries=entries):
                learn(store.database, entries)
                store.share.known = Extent.of(store.database)
            case StartOver(facts=facts):
                return Amount(int(store.start_over(facts)))
            case ApplyChange(delete=delete, insert=insert):
                store.apply(NetChange(delete, insert))
            case AboutStratum():
                return self._about(question)
            case AskStrata():
                return self._strata(question)
            case TellChanges():
                return self._changes(question)
            case LoadPart():
                self._load(question)
            case Resume(costs=costs):
                store.resume(costs.counters, costs.efforts)
            case EndEpoch(how=how):
                store.commit() if how is Ending.COMMIT else store.undo()
            case _:
                return self._read(question)
        return Done()

    def _about(self, question: AboutStratum) -> Amount:
        store, stratum = self.store, self.store.strata[question.stratum]
        match question.what:
            case About.PASS_BY:
                store.pass_by(stratum)
            case About.TAKE_FACTS:
                store.take_facts(stratum)
            case About.UPDATE:
                try:
                    return Amount(int(store.update_within(stratum, question.work)))
                except OverBudget:
                    return Amount(question.work, over=True)
            case About.GIVE_UP:
                store.give_up(stratum)
            case About.EVALUATE:
                return Amount(int(store.evaluate(stratum)))
        return Amount(0)

    def _strata(self, question: AskStrata) -> StrataAre:
        store, told = self.store, StrataAre([], [], [], [])
        for stratum in store.strata[question.first : question.first + question.count]:
            told.reached.append(int(store.reached(stratum)))
            told.changed.append(int(store.changed(stratum)))
            told.read.append(int(store.read(stratum)))
            told.cost.append(float(store.cost(stratum).work))
        return told

    # ---- what is there

    def _read(self, question: Message) -> Message:
        store = self.store
        match question:
            case FetchTuples(relation=name, states=False):
                return Tuples(narrow(np.asarray(store.owned_rows(name))))
            case FetchTuples(relation=name):
                return Tuples(*store.owned_states(name))
            case CountTuples(relation=name):
                return Amount(int(store.owned_count(name)))
            case FetchChange(number=number, came=came, relation=name):
                report = self._kept[number]
                return Tuples(narrow(np.asarray((report.inserted if came else report.deleted)[name])))
            case AskEffects(relations=names):
                return self._effects(names)
            case AskCosts():
                return CostsAre(*store.costs())
            case AskExtent():
                return ExtentIs(Extent.of(store.database))
            case AskEntries(start=start):
                return EntriesAre(entries_since(store.database, start))
            case AskTraffic():
                sent = self.line.sent
                return TrafficIs(sent.messages, sent.bytes, resident_bytes())
        raise InternalError(f"a worker is not asked {type(question).__name__}")

    def _effects(self, names: list[str]) -> EffectsAre:
        told, effects = EffectsAre(), self.store.effects()
        for name in names:
            effect = effects.on(name)
            if not self.store.owns_all(name):
                mine = self.store.owned(name, effect.rows)
                effect = Effect(effect.rows[mine], effect.change[mine], effect.iterations[mine], effect.counts[mine])
            if len(effect):
                told.rows[name], told.change[name] = narrow(effect.rows), narrow(effect.change)
                told.iterations[name], told.counts[name] = effect.iterations, effect.counts
        return told

    def _load(self, question: LoadPart) -> None:
        if question.iterations is None or question.counts is None:
            self.store.load_facts(question.relation, question.rows)
        else:
            self.store.load(question.relation, question.rows, question.iterations, question.counts)

    def _changes(self, question: TellChanges) -> Changed:
        for number in question.forget:
            self._kept.pop(number, None)
        report = EpochReport(0, "", "", 0.0, 0)
        self.store.report_changes(report)
        self._kept[question.number] = report
        return Changed(_told(report.inserted), _told(report.deleted))


def _told(side: Mapping[str, Any]) -> SideOfChange:
    told = SideOfChange()
    for name, rows in side.items():
        if isinstance(rows, PairRows):
            told.pairs[name] = np.column_stack(rows.columns)
        elif len(rows):
            told.counts[name] = len(rows)
            if rows.size <= FEW:
                told.rows[name] = narrow(rows)
    return told


def shared_memory(limits: Limits, size: int) -> Limits:
    """The limits of each of so many workers on one machine: the default one on memory is for all of them."""
    return replace(limits, share=limits.share / size)
