"""One rule joined with the store, from a changed atom outwards.

A `Join` belongs to a rule and a position i of its body, the pivot: given a fact for Δb_i it finds every match of the
rest of the body, reading b_j^ν for j < i and b_j for j > i (paper 000, section 2.3). The atom with the most bound
columns comes next; conditions are decided as soon as their variables are known. The result is a list of the head's
arguments with the facts that matched the positive atoms, in the order of the body; multiplicities are the caller's.
A `GroundJoin` finds rule instances instead: it reads everything ever known and notes what must be absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from tidelog.errors import InternalError
from tidelog.lang import tree
from tidelog.net.functions import COMPARISONS, Undefined, WrongKind
from tidelog.net.program import NetLiteral, NetRule, error_in
from tidelog.net.store import NEW, OLD, Store
from tidelog.net.terms import Binding, Evaluate, compile_term, compile_terms, variables_of
from tidelog.net.values import Fact, Value, value_of

Match: TypeAlias = tuple[tuple[Value, ...], tuple["Fact | None", ...]]
Step: TypeAlias = Callable[[Store, Binding, "list[Fact | None]", "list[Match]"], None]


class ConditionStep(NamedTuple):
    """A comparison to test, or (with a slot) an assignment of the right side."""

    op: str
    left: Evaluate
    right: Evaluate
    slot: int | None


class Join:
    """Finds the matches of a rule around a fact for the atom at `pivot`."""

    tests_absence = True

    def __init__(self, rule: NetRule, pivot: int) -> None:
        self.rule, self.pivot = rule, pivot
        self._views = self._read(len(rule.body))
        self._unify = _unifier(rule.body[pivot], rule.slots, set())
        self._first = self._plan()

    def _read(self, length: int) -> tuple[int, ...]:
        return tuple(NEW if j < self.pivot else OLD for j in range(length))

    def matches(self, store: Store, fact: Fact) -> list[Match]:
        binding: Binding = [None] * len(self.rule.slots)
        if not self._unify(fact.args, binding):
            return []
        matched: list[Fact | None] = [None] * len(self.rule.body)
        matched[self.pivot] = fact
        found: list[Match] = []
        try:
            self._first(store, binding, matched, found)
        except WrongKind as problem:
            raise error_in(self.rule, str(problem)) from None
        return found

    def _plan(self) -> Step:
        """The steps, built from the last to the first."""
        rule, makers = self.rule, list[Callable[[Step], Step]]()
        bound = set(_variables(rule.body[self.pivot]))
        waiting = list(rule.conditions)
        left = [j for j in range(len(rule.body)) if j != self.pivot]
        while True:
            for condition in _ready(rule, waiting, bound):
                makers.append(_condition_step(condition))
            absent = [j for j in left if rule.body[j].negated and bound.issuperset(_variables(rule.body[j]))]
            for j in absent:
                left.remove(j)
                makers.append(_absent_step(rule.body[j], j, rule.slots, self._views[j] if self.tests_absence else None))
            positive = [j for j in left if not rule.body[j].negated]
            if not positive:
                break
            best = max(positive, key=lambda j: (_bound_columns(rule.body[j], bound), -j))
            left.remove(best)
            makers.append(_probe_step(rule.body[best], best, rule.slots, bound, self._views[best]))
            bound.update(_variables(rule.body[best]))
        if left or waiting:
            raise InternalError(f"rule {rule.label} is not safe")
        step = _emit_step(rule)
        for make in reversed(makers):
            step = make(step)
        return step


class GroundJoin(Join):
    """Finds the instances of a rule over all facts ever known, with the facts that its negated atoms speak of."""

    tests_absence = False

    def _read(self, length: int) -> tuple[int, ...]:
        return (OLD,) * length


def order_conditions(rule: NetRule, bound: set[str]) -> list[ConditionStep]:
    """The conditions of a rule in an order in which each can be decided."""
    return list(_ready(rule, list(rule.conditions), bound))


def _ready(rule: NetRule, waiting: list[tree.Comparison], bound: set[str]) -> Iterator[ConditionStep]:
    """Takes out of `waiting` what can be decided or computed now; adds to `bound` what that computes."""
    progress = True
    while progress:
        progress = False
        for condition in list(waiting):
            step = _condition(condition, rule.slots, bound)
            if step is not None:
                waiting.remove(condition)
                progress = True
                yield step


def _condition(condition: tree.Comparison, slots: dict[str, int], bound: set[str]) -> ConditionStep | None:
    sides = condition.left, condition.right
    known = [bound.issuperset(variables_of(side)) for side in sides]
    left, right = (compile_term(side, slots) for side in sides)
    if all(known):
        return ConditionStep(condition.op, left, right, None)
    if condition.op == "=" and any(known):
        unknown, value = (condition.left, right) if known[1] else (condition.right, left)
        if isinstance(unknown, tree.Variable):
            bound.add(unknown.name)
            return ConditionStep("=", value, value, slots[unknown.name])
    return None


def _variables(literal: NetLiteral) -> Iterator[str]:
    return (v for arg in literal.args for v in variables_of(arg))


def _bound_columns(literal: NetLiteral, bound: set[str]) -> int:
    return sum(value_of(a) is not None or (isinstance(a, tree.Variable) and a.name in bound) for a in literal.args)


def _unifier(
    literal: NetLiteral, slots: dict[str, int], bound: set[str], skip: tuple[int, ...] = ()
) -> Callable[[tuple[Value, ...], Binding], bool]:
    """Compares a fact's arguments with the atom's and binds its new variables. `skip`: columns known to agree."""
    outputs: list[tuple[int, int]] = []
    equal: list[tuple[int, Evaluate]] = []
    seen = set(bound)
    for column, arg in enumerate(literal.args):
        if column in skip or isinstance(arg, tree.Wildcard):
            continue
        if isinstance(arg, tree.Variable) and arg.name not in seen:
            seen.add(arg.name)
            outputs.append((column, slots[arg.name]))
        else:
            equal.append((column, compile_term(arg, slots)))

    def unify(args: tuple[Value, ...], binding: Binding) -> bool:
        for column, slot in outputs:
            binding[slot] = args[column]
        return not equal or all(args[column] == value(binding) for column, value in equal)

    return unify


def _probe_step(
    literal: NetLiteral, place: int, slots: dict[str, int], bound: set[str], view: int
) -> Callable[[Step], Step]:
    name = literal.name
    columns = tuple(i for i, a in enumerate(literal.args) if _bound_columns(NetLiteral("", (a,)), bound))
    sought = [literal.args[i] for i in columns]
    key = compile_term(sought[0], slots) if len(sought) == 1 else compile_terms(sought, slots)
    unify = _unifier(literal, slots, bound, columns)

    def make(then: Step) -> Step:
        def step(store: Store, binding: Binding, matched: list[Fact | None], found: list[Match]) -> None:
            for fact in store.find(name, columns, key(binding), view):
                if unify(fact.args, binding):
                    matched[place] = fact
                    then(store, binding, matched, found)

        return step

    return make


def _absent_step(literal: NetLiteral, place: int, slots: dict[str, int], view: int | None) -> Callable[[Step], Step]:
    """Goes on if the fact is not in the view; without a view, notes the fact and goes on."""
    args = compile_terms(literal.args, slots)

    def make(then: Step) -> Step:
        def step(store: Store, binding: Binding, matched: list[Fact | None], found: list[Match]) -> None:
            fact = Fact(literal.name, args(binding))
            if view is None:
                matched[place] = fact
            if view is None or fact not in store.views[view]:
                then(store, binding, matched, found)

        return step

    return make


def _condition_step(condition: ConditionStep) -> Callable[[Step], Step]:
    compare, left, right, slot = COMPARISONS[condition.op], condition.left, condition.right, condition.slot

    def make(then: Step) -> Step:
        def step(store: Store, binding: Binding, matched: list[Fact | None], found: list[Match]) -> None:
            try:
                if slot is not None:
                    binding[slot] = right(binding)
                elif not compare(left(binding), right(binding)):
                    return
            except Undefined:
                return
            then(store, binding, matched, found)

        return step

    return make


def _emit_step(rule: NetRule) -> Step:
    head = compile_terms(rule.head_args, rule.slots)

    def emit(store: Store, binding: Binding, matched: list[Fact | None], found: list[Match]) -> None:
        try:
            found.append((head(binding), tuple(matched)))
        except Undefined:
            return

    return emit
