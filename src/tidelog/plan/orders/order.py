"""CoreRule to steps: the order in which a body is evaluated.

The atoms come in the order that `search.py` finds cheapest. What can be decided with what is known is decided at
once: filters first, then records taken apart, values computed, absences, ranges, aggregates. An inequality between a
new column and a known value travels with the atom, so that a sorted index can serve it. Columns that nobody uses
later are not bound; with `existential` an atom that binds nothing only asks whether a tuple exists (this keeps the
set of heads but not the number of derivations).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tidelog.errors import InternalError
from tidelog.plan import core, steps
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.search import best_order
from tidelog.plan.steps import Operand, Slot, View
from tidelog.values import Kind

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def order(
    rule: core.CoreRule, views: dict[int, View], estimate: Estimate, pivot: int | None = None, existential: bool = True
) -> steps.Plan:
    """The plan of a rule. `views` says what each atom (by position) sees; the pivot, if any, comes first."""
    scheduler = BodyScheduler(rule, views, estimate, existential)
    scheduler.schedule(rule.body, pivot)
    scheduler.steps.append(steps.Emit(rule.relation, rule.args))
    return steps.Plan(rule.number, pivot, tuple(scheduler.steps), tuple(scheduler.slots))


class BodyScheduler:
    """Turns the items of a body into steps. With `state`, every atom is seen in that state of an update (but for those
    in `views` and `states`), and gives the number of the row that it matched: `rows` says in which slot."""

    def __init__(
        self,
        rule: core.CoreRule,
        views: dict[int, View],
        estimate: Estimate,
        existential: bool,
        state: View | None = None,
        states: Mapping[core.CoreItem, View] | None = None,
    ) -> None:
        self.rule = rule
        self.views = views
        self.estimate = estimate
        self.existential = existential
        self.numbers = any(  # whether it has an autoinc(): then each tuple of the first atom gets a number of its own
            isinstance(item, core.CoreDefine) and isinstance(item.expression, core.Counted) for item in rule.body
        )
        self.state, self.states = state, states or {}
        self.rows: dict[core.CoreAtom | core.CoreAbsent, int] = {}
        self.inside = False  # whether there are bindings before the first step, as in the body of an aggregate
        self.slots = list(rule.slots)
        self.steps: list[steps.Step] = []
        self.bound: set[int] = set()
        self.uses: Counter[int] = Counter(core.slots_in(rule.args))

    def schedule(self, body: Iterable[core.CoreItem], pivot: int | None) -> None:
        pending = list(body)
        for item in pending:
            self.uses.update(core.mentions(item))
        if pivot is not None:
            first = next(i for i in pending if isinstance(i, core.CoreAtom) and i.position == pivot)
            self.place_atom(first, pending, is_pivot=True)
        atoms = [item for item in pending if isinstance(item, core.CoreAtom)]
        others = [item for item in pending if not isinstance(item, core.CoreAtom)]
        order = iter(self.atom_order(atoms, others))
        while pending:
            if not self.place_ready(pending):
                atom = next(order, None)
                if atom is None:
                    raise InternalError(f"rule {self.rule.number}: nothing can be evaluated of {pending}")
                self.place_atom(atom, pending)

    def atom_order(self, atoms: list[core.CoreAtom], others: Sequence[core.CoreItem]) -> Iterable[core.CoreAtom]:
        if len(atoms) < 2:
            return atoms
        return best_order(atoms, others, self.bound, self.fanout, self.index_work, connected=self.state is not None)

    # ---- what needs no search

    def place_ready(self, pending: list[core.CoreItem]) -> bool:
        """Place the cheapest item that is ready, if there is one."""
        atoms_wait = any(isinstance(item, core.CoreAtom) for item in pending)
        ready = [
            (rank, item)
            for item in pending
            if (rank := self.readiness(item)) is not None and not (atoms_wait and _counts(item))
        ]
        if not ready:
            return False
        _, item = min(ready, key=lambda pair: pair[0])
        self.retire(item, pending)
        match item:
            case core.CoreFilter(op=op, kind=kind, left=left, right=right):
                self.steps.append(steps.Filter(op, kind, left, right))
            case core.CoreAbsent(relation=relation, args=args):
                match = steps.Match(relation, self.seen(item), self.key(args), row=self.row(item))
                self.steps.append(steps.Absent(match))
            case core.CoreDefine(slot=slot, expression=core.Packed(fields=fields)) if slot in self.bound:
                self.place_unpack(slot, fields)
            case core.CoreDefine(slot=slot, expression=expression):
                self.place_definition(slot, expression)
        return True

    def readiness(self, item: core.CoreItem) -> int | None:
        """How early an item should come (smaller is earlier); None while it cannot be evaluated."""
        match item:
            case core.CoreFilter(left=left, right=right):
                return 0 if self.known(left) and self.known(right) else None
            case core.CoreAbsent(args=args):
                return 3 if self.bound.issuperset(core.slots_in(args)) else None
            case core.CoreDefine(slot=slot, expression=core.Packed()) if slot in self.bound:
                return 1
            case core.CoreDefine(expression=expression):
                if not core.inputs_of(expression) <= self.bound:
                    return None
                if isinstance(expression, core.Counted):
                    return 6
                if isinstance(expression, core.Aggregated):
                    return 5
                return 4 if isinstance(expression, core.Computed) and expression.op == "range" else 2
        return None

    def place_unpack(self, slot: int, fields: tuple[Operand, ...]) -> None:
        outputs: list[tuple[int, int]] = []
        checks: list[tuple[int, Operand]] = []
        twice: list[tuple[int, int]] = []
        fresh: set[int] = set()
        for field, operand in enumerate(fields):
            if isinstance(operand, Slot) and operand.index in fresh:  # [x, x]: the second goes beside the first
                twice.append((operand.index, self.new_slot(self.slots[operand.index][1])))
                outputs.append((field, twice[-1][1]))
            elif isinstance(operand, Slot) and operand.index not in self.bound:
                fresh.add(operand.index)
                outputs.append((field, operand.index))
            else:
                checks.append((field, operand))
        self.bound.update(slot for _, slot in outputs)
        self.steps.append(steps.Unpack(Slot(slot), len(fields), tuple(outputs), tuple(checks)))
        for first, second in twice:
            self.steps.append(steps.Filter("=", self.slots[first][1], Slot(first), Slot(second)))

    def place_definition(self, slot: int, expression: core.Expression) -> None:
        """slot := expression; when the slot has a value already, compute beside it and compare."""
        kind = self.slots[slot][1]
        target = slot if slot not in self.bound else self.new_slot(kind)
        match expression:
            case core.Computed(op="range", kind=result, args=args):
                self.steps.append(steps.Generate(target, result, args))
            case core.Computed(op=op, kind=result, args=args, arg_kinds=kinds):
                self.steps.append(steps.Compute(target, op, result, args, kinds))
            case core.Called(functor=functor, args=args):
                self.steps.append(steps.Call(target, functor, args))
            case core.Packed(fields=fields):
                self.steps.append(steps.Pack(target, fields))
            case core.Counted():
                self.steps.append(steps.Fresh(target))
            case core.Iterated():
                self.steps.append(steps.CurrentIteration(target))
            case core.Aggregated():
                self.place_aggregate(target, expression)
        self.bound.add(target)
        if target != slot:
            self.steps.append(steps.Filter("=", kind, Slot(target), Slot(slot)))

    def place_aggregate(self, target: int, aggregate: core.Aggregated) -> None:
        inner = BodyScheduler(self.rule, {}, self.estimate, existential=False)
        inner.slots, inner.bound, inner.inside = self.slots, set(self.bound), True
        if aggregate.value is not None:
            inner.uses.update(core.slots_in((aggregate.value,)))
        inner.uses.update(aggregate.distinct or ())
        inner.schedule(aggregate.body, None)
        distinct = None if aggregate.distinct is None else tuple(sorted(aggregate.distinct))
        self.steps.append(
            steps.AggregateStep(
                target, aggregate.op, aggregate.kind, aggregate.value, tuple(inner.steps), distinct, aggregate.init
            )
        )

    # ---- atoms

    def fanout(self, atom: core.CoreAtom, columns: tuple[int, ...]) -> float:
        view = self.view(atom)
        if columns:
            found = self.estimate.fanout(atom.relation, view, columns)
        else:
            found = self.estimate.size(atom.relation, view)
        return min(found, 1.0) if self.existential and self.only_asks(atom, columns) else found

    def only_asks(self, atom: core.CoreAtom, known: tuple[int, ...]) -> bool:
        """Whether the atom binds nothing that is used, once these columns are known."""
        rest = (arg for column, arg in enumerate(atom.args) if column not in known)
        return all(not isinstance(arg, Slot) or self.uses[arg.index] < 2 for arg in rest)

    def index_work(self, atom: core.CoreAtom, columns: tuple[int, ...]) -> float:
        """What it takes before the atom can be looked up by these columns: nothing in a plan with a pivot, which runs
        again and again, nor if all columns are known, or none."""
        if self.steps or not columns or len(columns) == len(atom.args):
            return 0.0
        return self.estimate.index_work(atom.relation, columns)

    def place_atom(self, atom: core.CoreAtom, pending: list[core.CoreItem], is_pivot: bool = False) -> None:
        """Look the atom up. The pivot is scanned, since the last iteration's tuples lie side by side."""
        self.retire(atom, pending)
        first: dict[int, int] = {}  # new slot -> the column that binds it
        same: list[tuple[int, int]] = []
        for column, arg in enumerate(atom.args):
            if isinstance(arg, Slot) and arg.index not in self.bound:
                if arg.index in first:
                    same.append((first[arg.index], column))
                else:
                    first[arg.index] = column
        bounds = self.take_bounds(first, pending)
        key = self.key(atom.args)
        self.bound.update(first)
        outputs = tuple((column, slot) for slot, column in first.items() if self.uses[slot] > 0)
        match = steps.Match(atom.relation, self.view(atom), key, outputs, tuple(same), tuple(bounds), self.row(atom))
        begins = not self.steps and not self.inside
        if not outputs and self.existential and not is_pivot and not (begins and self.numbers):
            self.steps.append(steps.Exists(match))
        elif begins and (is_pivot or not key):
            self.steps.append(steps.Scan(match))
        else:
            self.steps.append(steps.Probe(match))

    def take_bounds(self, first: dict[int, int], pending: list[core.CoreItem]) -> list[steps.Bound]:
        """The pending inequalities between a column of the new atom and a known value; they leave `pending`."""
        bounds = []
        for item in list(pending):
            if isinstance(item, core.CoreFilter) and item.op in _FLIPPED and item.kind is Kind.NUMBER:
                for op, new, other in ((item.op, item.left, item.right), (_FLIPPED[item.op], item.right, item.left)):
                    if isinstance(new, Slot) and new.index in first and self.known(other):
                        bounds.append(steps.Bound(first[new.index], op, other, item.kind))
                        self.retire(item, pending)
                        break
        return bounds

    # ---- bookkeeping

    def view(self, atom: core.CoreAtom) -> View:
        return self.views.get(atom.position, self.seen(atom))

    def seen(self, item: core.CoreAtom | core.CoreAbsent) -> View:
        return self.states.get(item, self.state or View.ALL)

    def row(self, atom: core.CoreAtom | core.CoreAbsent) -> int | None:
        """A slot for the number of the row that the atom matches, where that is asked for."""
        if self.state is None:
            return None
        if atom not in self.rows:
            self.rows[atom] = self.new_slot(Kind.NUMBER)
        return self.rows[atom]

    def key(self, args: tuple[core.Argument, ...]) -> tuple[tuple[int, Operand], ...]:
        return tuple((column, a) for column, a in enumerate(args) if a is not None and self.known(a))

    def known(self, operand: Operand) -> bool:
        return not isinstance(operand, Slot) or operand.index in self.bound

    def retire(self, item: core.CoreItem, pending: list[core.CoreItem]) -> None:
        pending.remove(item)
        self.uses.subtract(core.mentions(item))

    def new_slot(self, kind: Kind) -> int:
        self.slots.append((f"t{len(self.slots)}", kind))
        return len(self.slots) - 1


def _counts(item: core.CoreItem) -> bool:
    """Whether the item takes a number from the counter: then it comes after all atoms, once for each binding."""
    return isinstance(item, core.CoreDefine) and isinstance(item.expression, core.Counted)
