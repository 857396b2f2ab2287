"""The plans that a session runs, taken from the objects that run them.

With facts, the program is evaluated, and whoever orders a stratum tells an observer how (`PlanObserver`); the indexes
are those that the store has then. Without facts nothing is evaluated: the orders are guesses, and the indexes those
that the store makes ready for them.
"""

from __future__ import annotations

from tidelog.analysis.checked import Checked
from tidelog.epochs.one_store import OneStore
from tidelog.evaluate.context import Context
from tidelog.evaluate.limits import Silent
from tidelog.evaluate.stages import PlanRun
from tidelog.local.local_session import LocalSession
from tidelog.local.settings import Settings
from tidelog.plan import steps
from tidelog.plan.program import StratumPlan, plan_program
from tidelog.plan.show.plans import PlannedIndex, ProgramPlans, StratumPlans, show_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.whole import SUBSUMPTION
from tidelog.store import Database, is_native
from tidelog.store.pipeline import Alternatives


def guessed_plans(checked: Checked) -> ProgramPlans:
    """The plans of batch evaluation as they would be chosen without a look at the facts."""
    program = plan_program(checked)
    database = Database()
    for name, columns in program.columns.items():
        database.create(name, len(columns))
    context = Context(database, checked.clauses, {})
    for stratum in program.strata:
        for plan in (*stratum.once, *stratum.delta):
            for pipeline in PlanRun(context, plan, changing=stratum.stratum.relations).pipelines:
                for way in pipeline.pipelines if isinstance(pipeline, Alternatives) else (pipeline,):
                    way.encoded()
    strata = [StratumPlans([s], whole=_of_subsumption(s.whole)) for s in program.strata if s.rules]
    return ProgramPlans(strata, _indexes(checked, database))


def _of_subsumption(whole: str | None) -> str | None:
    """Why updates cannot follow a subsumption, if that is what makes a stratum whole."""
    return whole if whole is not None and whole.startswith(SUBSUMPTION) else None


def evaluated_plans(checked: Checked, settings: Settings) -> ProgramPlans:
    """The plans by which a session evaluates the facts of the program's `.input` files, and keeps them up to date."""
    watching = _Watching()
    session = LocalSession(checked, settings, watching)
    try:
        session.bootstrap()
        engine = session.engine
        database = engine.query_database()
        if isinstance(engine.holder, OneStore):
            for stratum in engine.holder.strata:
                watching.add(stratum, list(engine.holder.update_plans(stratum)))
        return ProgramPlans(list(watching.strata.values()), _indexes(checked, database, filled=True))
    finally:
        session.close()


class _Watching(Silent):
    """Keeps what is planned, in the order in which strata begin."""

    def __init__(self) -> None:
        self.strata: dict[tuple[str, ...], StratumPlans] = {}

    def planned(self, stratum: StratumPlan) -> None:
        self.strata.setdefault(stratum.stratum.relations, StratumPlans([])).ordered.append(stratum)

    def add(self, stratum: StatefulStratum, updates: list[steps.Plan]) -> None:
        if stratum.relations in self.strata:
            found = self.strata[stratum.relations]
            found.updates, found.whole = updates, stratum.whole


def _indexes(checked: Checked, database: Database, filled: bool = False) -> list[PlannedIndex]:
    """The indexes of a database, in the order of its relations; how many rows are in them if they are `filled`."""
    found = []
    for relation in database:
        info = checked.relations.get(relation.name)
        names = tuple(info.attributes) if info else tuple(map(str, range(relation.arity)))
        for index in relation.indexes.values():
            by = None if index.by is None else names[index.by]
            rows = relation.count - index.behind if filled else None
            found.append(PlannedIndex(relation.name, tuple(names[c] for c in index.columns), by, rows))
    return found


def show(plans: ProgramPlans) -> str:
    return show_plans(plans, is_native)
