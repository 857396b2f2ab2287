"""A reference interpreter of plan steps: bindings one by one, in plain Python.

It says what steps mean and tests the planner without any store. Values are those of the oracle, except that ADT
branches have their tags and nil is 0, as plans see them; `encode` and `decode` translate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import oracle
from state_oracle import Entry, Patient, State
from tidelog.analysis.checked import Checked
from tidelog.analysis.types import AdtType, RecordType, RelationInfo, Type, TypeSystem
from tidelog.plan import core, steps
from tidelog.plan.flatten import flatten
from tidelog.plan.orders.delta import delta_plans
from tidelog.plan.orders.estimate import Estimate, Guess
from tidelog.plan.orders.order import order
from tidelog.plan.rewrites.read_classes import classes_of, sizes_of
from tidelog.plan.stateful import StatefulProgram, StatefulStratum, stateful_program
from tidelog.plan.steps import Operand, Slot, View
from tidelog.values import Kind

Row = tuple[Any, ...]
Binding = dict[int, Any]
Rows = Callable[[str, View], Iterable[Row]]
Relations = dict[str, set[Row]]


# ---- steps


def emits(plan: steps.Plan, rows: Rows) -> Iterator[Row]:
    """The heads that a plan derives, each as often as it is derived."""
    last = plan.steps[-1]
    assert isinstance(last, steps.Emit)
    for binding in run_steps(plan.steps[:-1], {}, rows):
        yield tuple(value(arg, binding) for arg in last.args)


def run_steps(plan_steps: tuple[steps.Step, ...], binding: Binding, rows: Rows) -> Iterator[Binding]:
    if not plan_steps:
        yield binding
        return
    for extended in run_step(plan_steps[0], binding, rows):
        yield from run_steps(plan_steps[1:], extended, rows)


def value(operand: Operand, binding: Binding) -> Any:
    return binding[operand.index] if isinstance(operand, Slot) else operand.value


def run_step(step: steps.Step, binding: Binding, rows: Rows) -> Iterator[Binding]:
    """The bindings that one step makes of one binding."""

    def bound(slot: int, found: Any) -> Binding:
        assert slot not in binding, f"slot {slot} is written twice"
        return {**binding, slot: found}

    match step:
        case steps.Scan(match=m) | steps.Probe(match=m):
            for row in matching(m, binding, rows):
                assert not binding.keys() & {slot for _, slot in m.outputs}
                yield {**binding, **{slot: row[column] for column, slot in m.outputs}}
        case steps.Exists(match=m):
            if any(True for _ in matching(m, binding, rows)):
                yield binding
        case steps.Absent(match=m):
            if not any(True for _ in matching(m, binding, rows)):
                yield binding
        case steps.Filter(op=op, left=left, right=right):
            if compare(op, value(left, binding), value(right, binding)):
                yield binding
        case steps.Compute(target=target, op=op, kind=kind, args=args):
            yield bound(target, oracle.wrap(kind, oracle.FUNCTORS[op](*(value(a, binding) for a in args))))
        case steps.Generate(target=target, kind=kind, args=args):
            for found in oracle.numbers(*(value(a, binding) for a in args)):
                yield bound(target, oracle.wrap(kind, found))
        case steps.Pack(target=target, fields=fields):
            yield bound(target, tuple(value(f, binding) for f in fields))
        case steps.Unpack():
            yield from unpack(step, binding)
        case steps.AggregateStep(target=target):
            for found in aggregate(step, binding, rows):
                yield bound(target, found)
        case _:
            raise NotImplementedError(type(step).__name__)


def compare(op: str, left: Any, right: Any) -> bool:
    return oracle.COMPARISONS[op.removeprefix("not_")](left, right) != op.startswith("not_")


def matching(match: steps.Match, binding: Binding, rows: Rows) -> Iterator[Row]:
    for row in rows(match.relation, match.view):
        if (
            all(row[column] == value(operand, binding) for column, operand in match.key)
            and all(row[a] == row[b] for a, b in match.same)
            and all(compare(b.op, row[b.column], value(b.operand, binding)) for b in match.bounds)
        ):
            yield row


def unpack(step: steps.Unpack, binding: Binding) -> Iterator[Binding]:
    record = value(step.record, binding)
    if record == 0 or len(record) != step.arity:
        return
    if all(record[field] == value(operand, binding) for field, operand in step.checks):
        assert not binding.keys() & {slot for _, slot in step.outputs}
        yield {**binding, **{slot: record[field] for field, slot in step.outputs}}


def aggregate(step: steps.AggregateStep, binding: Binding, rows: Rows) -> list[Any]:
    matches = list(run_steps(step.body, binding, rows))
    if step.distinct is not None:
        matches = list({tuple(match[slot] for slot in step.distinct): match for match in matches}.values())
    if step.value is None:
        return [len(matches)]
    found = [value(step.value, match) for match in matches]
    if not found and step.op != "sum":
        return []
    return [oracle.wrap(Kind.FLOAT if step.op == "mean" else step.kind, oracle.FOLDS[step.op](found))]


# ---- programs


def evaluate(checked: Checked, facts: Relations, estimate: Estimate, existential: bool = True) -> Relations:
    """The whole program by semi-naive evaluation of its plans; to be compared with `oracle.evaluate`."""
    types = checked.types
    found: Relations = {}
    for name, info in checked.relations.items():
        found[name] = {encode_row(row, info, types) for row in facts.get(name, ())}
    for stratum in checked.strata:
        rules = [flatten(number, checked.clause_types[number]) for number in stratum.clauses]
        equivalences = {n for n in stratum.relations if "eqrel" in checked.relations[n].decl.qualifiers}
        run_stratum(rules, stratum.relations, equivalences, found, estimate, existential)
    return {name: {decode_row(row, info, types) for row in found[name]} for name, info in checked.relations.items()}


def run_stratum(
    rules: list[core.CoreRule],
    relations: tuple[str, ...],
    equivalences: set[str],
    known: Relations,
    estimate: Estimate,
    existential: bool,
) -> None:
    delta: Relations = {name: known[name] for name in relations}
    old: Relations = {name: set() for name in relations}

    def rows(name: str, view: View) -> Iterable[Row]:
        if name not in old:
            assert view is View.ALL, f"{name} does not change here"
        return known[name] if view is View.ALL else delta[name] if view is View.DELTA else old[name]

    def add(plans: list[steps.Plan]) -> None:
        """Run the plans over what is known; what is new is the next delta."""
        fresh: Relations = {name: set() for name in relations}
        for plan in plans:
            fresh[plan.steps[-1].relation].update(emits(plan, rows))  # type: ignore[union-attr]
        for name in relations:
            everything = known[name] | fresh[name]
            everything = oracle.closure(everything) if name in equivalences else everything
            old[name], delta[name], known[name] = known[name], everything - known[name], everything

    repeated = [plan for rule in rules for plan in delta_plans(rule, relations, estimate, existential)]
    recursive = {plan.rule for plan in repeated}
    add([order(rule, {}, estimate, existential=existential) for rule in rules if rule.number not in recursive])
    for name in relations:
        old[name], delta[name] = set(), known[name]
    while any(delta.values()):
        add(repeated)


# ---- states


def state(checked: Checked, facts: Relations, by_classes: bool = False) -> State:
    """Iteration and count of every tuple of the user's relations by the rules that evaluation with state goes by, in
    which a part of a body that only asks whether something is there is one derivation; the tuples are the oracle's.
    Where equivalences are known `by_classes`, so are they to the rules."""
    wanted = oracle.evaluate(checked, facts, Patient)
    program = stateful_program(checked, by_classes)
    found = bootstrap(program, facts, Guess(program.arities))
    for name, rows in wanted.items():
        assert set(found[name]) == rows, f"rewritten, {name} has other tuples"
    return found


def bootstrap(program: StatefulProgram, facts: Relations, estimate: Estimate) -> State:
    """The state of the user's relations by the rewritten program's plans; to be compared with `state_oracle.state`."""
    state = bootstrap_all(program, facts, estimate)
    declared, types = program.checked.relations, program.checked.types
    state |= {name: dict.fromkeys(oracle.closure(set(state[name])), Entry(0, 1)) for name in program.implicit}
    return {n: {decode_row(row, info, types): e for row, e in state[n].items()} for n, info in declared.items()}


def bootstrap_all(program: StatefulProgram, facts: Relations, estimate: Estimate) -> State:
    """The state of all relations, auxiliary ones too, with values as plans see them."""
    declared, types = program.checked.relations, program.checked.types
    state: State = {name: {} for name in program.kinds}
    for name, rows in facts.items():
        state[name] = {encode_row(row, declared[name], types): Entry(0, 1) for row in rows}
    for stratum in program.strata:
        if stratum.whole == "an eqrel":
            known: Relations = {name: set(rows) for name, rows in state.items()}
            equivalences = {name for name in stratum.relations if "eqrel" in declared[name].decl.qualifiers}
            run_stratum(list(stratum.rules), stratum.relations, equivalences, known, estimate, existential=False)
            state |= {name: dict.fromkeys(known[name], Entry(0, 1)) for name in stratum.relations}
        elif stratum.equivalence is not None:
            state |= classes(stratum.equivalence, set(state[stratum.equivalence]))
        else:
            bootstrap_stratum(stratum, state, estimate)
    return state


def classes(name: str, pairs: set[Row]) -> State:
    """Who is in which class, which is the least of its elements' places in some order, and how many are in each."""
    closed = oracle.closure(pairs)
    places = {element: place for place, element in enumerate(dict.fromkeys(x for x, _ in sorted(closed, key=repr)))}
    least = {x: min(places[y] for z, y in closed if z == x) for x in places}
    sizes = Counter(least.values())
    found = {classes_of(name): least.items(), sizes_of(name): sizes.items()}
    return {relation: dict.fromkeys(rows, Entry(0, 1)) for relation, rows in found.items()}


def bootstrap_stratum(stratum: StatefulStratum, state: State, estimate: Estimate) -> None:
    rules = [stratum.aggregate.rule()] if stratum.aggregate else stratum.rules
    pivots = {rule: delta_plans(rule, stratum.relations, estimate, existential=False) for rule in rules}
    once = [order(rule, {}, estimate, existential=False) for rule, plans in pivots.items() if not plans]
    plans = [plan for found in pivots.values() for plan in found]

    def rows(name: str, view: View) -> Iterable[Row]:
        if view is View.ALL:
            return state[name]
        return [r for r, e in state[name].items() if (e.iteration == last) == (view is View.DELTA)]

    last, heads = 0, Counter[tuple[str, Row]]()
    while last == 0 or heads:
        found = ((plan.steps[-1].relation, row) for plan in (*plans, *once) for row in emits(plan, rows))  # type: ignore[union-attr]
        heads = Counter((name, row) for name, row in found if row not in state[name])
        last, once = last + 1, []
        for (name, row), number in heads.items():
            state[name][row] = Entry(last, number)


# ---- values


def encode_row(row: Row, info: RelationInfo, types: TypeSystem) -> Row:
    return tuple(encode(v, types.types[name]) for v, name in zip(row, info.types, strict=True))


def decode_row(row: Row, info: RelationInfo, types: TypeSystem) -> Row:
    return tuple(decode(v, types.types[name]) for v, name in zip(row, info.types, strict=True))


def encode(found: Any, kind: Type) -> Any:
    if isinstance(kind, RecordType):
        return 0 if found is None else tuple(encode(v, t) for v, t in zip(found, kind.types, strict=True))
    if isinstance(kind, AdtType):
        branch = kind.branches[found[0]]
        fields = [encode(v, t) for v, t in zip(found[1:], branch.types, strict=True)]
        padding = [0] * (max(len(b.types) for b in kind.branches.values()) - len(fields))
        return branch.tag if kind.is_enum else (branch.tag, *fields, *padding)
    return found


def decode(found: Any, kind: Type) -> Any:
    if isinstance(kind, RecordType):
        return None if found == 0 else tuple(decode(v, t) for v, t in zip(found, kind.types, strict=True))
    if isinstance(kind, AdtType):
        tag, *values = (found,) if kind.is_enum else found
        branch = next(b for b in kind.branches.values() if b.tag == tag)
        return (branch.name, *(decode(v, t) for v, t in zip(values, branch.types, strict=False)))
    return found


class Shuffled:
    """An estimate that puts atoms into an arbitrary order: the n-th question gets the n-th number."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers = list(numbers) or [1]
        self.asked = count()

    def size(self, relation: str, view: View) -> float:
        return float(self.numbers[next(self.asked) % len(self.numbers)])

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        return self.size(relation, view)

    def index_work(self, relation: str, columns: tuple[int, ...]) -> float:
        return self.size(relation, View.ALL)
