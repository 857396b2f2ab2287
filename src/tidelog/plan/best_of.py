"""Which strata are recursion for the best: of each key only the best value counts, and updates can follow it.

    dist(y, d + w) :- dist(x, d), edge(x, y, w).        dist(x, d1) <= dist(x, d2) :- d2 < d1.

Shown from the text of the rules, never guessed:

1. one total order for the stratum: each relation with subsumption has one column, its *value*, of which the least (or,
   in all of them, the greatest) is kept for each value of the others, its *key*;
2. monotone: with a better value in the body a rule gives its head a better value or the same, and never none. So values
   flow through sums, minima, maxima and other functors that keep the order, and tests let better values pass;
3. values flow into values only, not into keys, negations, aggregates or functors of users.

That no derivation is better than a value in its body (no negative weight) is checked while the stratum runs, on every
derivation (`store/kernels/ranks.py`). What is not shown here is evaluated anew on a change, with the reason given here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from tidelog.plain import dataclass
from tidelog.plan import core
from tidelog.plan.steps import Const, Operand, Slot
from tidelog.values import Kind

ORDERED = (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT)
_FLIPPED = {">": "<", ">=": "<="}
_WIDENING = {"itof", "utof", "ftoi", "to_float", "ord"}
"""Conversions that keep the order, of the kinds of values."""


@dataclass(frozen=True, slots=True)
class BestOf:
    """The order of a stratum: by relation, the column of its value; whether the greatest is the best; their kind."""

    columns: Mapping[str, int]
    descending: bool
    kind: Kind

    @property
    def word(self) -> str:
        return "greatest" if self.descending else "least"

    def key_columns(self, relation: str, arity: int) -> tuple[int, ...]:
        """The columns of a relation's key: all of an ordinary one."""
        return tuple(column for column in range(arity) if column != self.columns.get(relation))


class NotShown(Exception):
    """Why a stratum is not known to be recursion for the best."""


class Flow(Enum):
    """How a slot depends on the values of the body."""

    NONE = "not"
    WITH = "it grows with them"
    AGAINST = "it falls as they grow"
    UNKNOWN = "unknown"


def best_of(rules: Iterable[core.CoreRule], own: Collection[str]) -> BestOf:
    """The order of a stratum with these relations; NotShown if it has none that updates can follow."""
    rules = list(rules)
    order = _order([rule for rule in rules if rule.subsumes])
    for rule in rules:
        if not rule.subsumes:
            _RuleCheck(rule, order, own).check()
    return order


def value_column(rules: Iterable[core.CoreRule], relation: str) -> int:
    """The column of a relation's value, of which the best is kept; NotShown if it has none."""
    orders = [_of_subsumption(rule) for rule in rules if rule.subsumes and rule.relation == relation]
    if len(set(orders)) != 1:
        raise NotShown("a partial order" if orders else "all of its tuples are kept")
    return orders[0][0]


def _order(subsumptions: list[core.CoreRule]) -> BestOf:
    """One order for all of them."""
    found: dict[str, tuple[int, bool, Kind]] = {}
    for rule in subsumptions:
        order = _of_subsumption(rule)
        if found.setdefault(rule.relation, order) != order:
            raise NotShown(f"a partial order: {rule.relation} has subsumptions of several kinds")
    if len({descending for _, descending, _ in found.values()}) > 1:
        raise NotShown("min and max in one recursion")
    if len({kind for _, _, kind in found.values()}) > 1:
        raise NotShown("values of several types in one recursion")
    (descending, kind), *_ = ((descending, kind) for _, descending, kind in found.values())
    return BestOf({name: column for name, (column, _, _) in found.items()}, descending, kind)


def _of_subsumption(rule: core.CoreRule) -> tuple[int, bool, Kind]:
    """The column of the value, whether the greatest is the best, and the kind, of `p(x, a) <= p(x, b) :- b < a`."""
    partial = NotShown(f"a partial order: the subsumption of {rule.relation} is more than a comparison of one column")
    atoms = rule.atoms()
    rest = [item for item in rule.body if item not in atoms]
    if len(atoms) != 2 or len(rest) != 1 or not isinstance(rest[0], core.CoreFilter):
        raise partial
    less, greater = (atom.args for atom in atoms)
    differing = [column for column, pair in enumerate(zip(less, greater, strict=True)) if pair[0] != pair[1]]
    slots = [arg for arg in less if arg is not None]
    if len(differing) != 1 or not all(isinstance(arg, Slot) for arg in (*less, *greater)) or len({*slots}) < len(less):
        raise partial
    (column,) = differing
    comparison = _ascending(rest[0])
    if comparison is None or comparison[1:] not in (
        (greater[column], less[column]), (less[column], greater[column])
    ):  # fmt: skip
        raise partial
    if rest[0].kind not in ORDERED:
        raise NotShown(f"the values of {rule.relation} are no numbers")
    return column, comparison[1:] == (less[column], greater[column]), rest[0].kind


def _ascending(test: core.CoreFilter) -> tuple[str, Operand, Operand] | None:
    """An inequality as (< or <=, the lesser side, the greater side)."""
    if test.op in ("<", "<="):
        return test.op, test.left, test.right
    if test.op in _FLIPPED:
        return _FLIPPED[test.op], test.right, test.left
    return None


class _RuleCheck:
    """Whether values flow through one rule as they should."""

    def __init__(self, rule: core.CoreRule, order: BestOf, own: Collection[str]) -> None:
        self.rule, self.order, self.own = rule, order, own
        self.flows: dict[int, Flow] = {}
        self.literals: dict[int, float] = {}
        tests = [item for item in rule.body if isinstance(item, core.CoreFilter)]
        self.not_negative = {slot for test in tests for slot in _not_negative(test)}

    def check(self) -> None:
        if not self.rule.atoms() and self.rule.body:
            raise NotShown(f"a rule of {self.rule.relation} without atoms")
        self._find_values()
        self._follow_definitions()
        for item in self.rule.body:
            self._check_item(item)
        self._check_head()

    def flow(self, operand: core.Argument) -> Flow:
        return self.flows.get(operand.index, Flow.NONE) if isinstance(operand, Slot) else Flow.NONE

    def _find_values(self) -> None:
        uses = Counter(slot for atom in self.rule.atoms() for slot in core.slots_in(atom.args))
        for atom in self.rule.atoms():
            column = self.order.columns.get(atom.relation)
            value = None if column is None else atom.args[column]
            if isinstance(value, Const):
                raise NotShown(f"the value of {atom.relation} is used in a test that worse values pass")
            if isinstance(value, Slot):
                if uses[value.index] > 1:
                    raise NotShown(f"the value of {atom.relation} is used as a key")
                self.flows[value.index] = Flow.WITH

    def _follow_definitions(self) -> None:
        """The flow into each slot that is computed; those that are bound by an atom are tests."""
        bound = {slot for atom in self.rule.atoms() for slot in core.slots_in(atom.args)}
        pending = [item for item in self.rule.body if isinstance(item, core.CoreDefine)]
        defined = Counter(item.slot for item in pending)
        while pending:
            slots = {item.slot for item in pending} - bound
            ready = [item for item in pending if slots.isdisjoint(core.inputs_of(item.expression))]
            if not ready:
                raise NotShown(f"not shown to be monotone: a rule of {self.rule.relation}")
            for item in ready:
                pending.remove(item)
                flow = self._of_expression(item.expression)
                tested = item.slot in bound or defined[item.slot] > 1
                if tested and (flow is not Flow.NONE or self.flows.get(item.slot, Flow.NONE) is not Flow.NONE):
                    raise NotShown(
                        f"the value is used in a test that worse values pass, in a rule of {self.rule.relation}"
                    )
                self.flows.setdefault(item.slot, flow)

    def _of_expression(self, expression: core.Expression) -> Flow:
        flows = {self.flows.get(slot, Flow.NONE) for slot in core.inputs_of(expression)}
        if flows <= {Flow.NONE}:
            return Flow.NONE
        if isinstance(expression, core.Computed):
            found = self._of_functor(expression, [self.flow(arg) for arg in expression.args])
            if found is not Flow.UNKNOWN:
                return found
            raise NotShown(f"not shown to be monotone: {expression.op} of a value, in a rule of {self.rule.relation}")
        what = "a functor of the user's" if isinstance(expression, core.Called) else "a record or an aggregate"
        raise NotShown(f"not shown to be monotone: {what} of a value, in a rule of {self.rule.relation}")

    def _of_functor(self, expression: core.Computed, flows: list[Flow]) -> Flow:
        args = expression.args
        match expression.op:
            case "+" if expression.kind in ORDERED:
                return _together(flows)
            case "min" | "max" if expression.kind in ORDERED:
                return _together(flows)
            case "-" if expression.kind in ORDERED:
                return _together([flows[0], _reversed(flows[1])])
            case "neg":
                return _reversed(flows[0])
            case "*" if expression.kind is Kind.FLOAT:
                factors = [arg for arg, flow in zip(args, flows, strict=True) if flow is Flow.NONE]
                return _together(flows) if len(factors) == 1 and self._never_negative(factors[0]) else Flow.UNKNOWN
            case "/" if expression.kind is Kind.FLOAT and flows[1] is Flow.NONE:
                return flows[0] if isinstance(args[1], Const) and float(args[1].value) > 0 else Flow.UNKNOWN
            case op if op in _WIDENING and all(kind in (Kind.NUMBER, Kind.FLOAT) for kind in expression.arg_kinds):
                return flows[0] if op != "ord" else Flow.UNKNOWN
        return Flow.UNKNOWN

    def _never_negative(self, operand: Operand) -> bool:
        if isinstance(operand, Const):
            return not isinstance(operand.value, str) and operand.value >= 0
        return operand.index in self.not_negative

    def _check_item(self, item: core.CoreItem) -> None:
        match item:
            case core.CoreAtom(relation=relation, args=args):
                column = self.order.columns.get(relation)
                keys = [arg for place, arg in enumerate(args) if place != column]
                self._no_keys(keys, f"as a key of {relation}")
            case core.CoreAbsent(relation=relation, args=args):
                self._no_keys(args, f"in a negation of {relation}")
            case core.CoreFilter():
                self._check_test(item)

    def _check_test(self, test: core.CoreFilter) -> None:
        """As values get better, what passed must still pass."""
        flows = {self.flow(test.left), self.flow(test.right)}
        if flows == {Flow.NONE}:
            return
        sides = _ascending(test)
        if sides is not None:
            less, greater = self.flow(sides[1]), self.flow(sides[2])
            if self.order.descending:
                less, greater = greater, less
            if less in (Flow.NONE, Flow.WITH) and greater in (Flow.NONE, Flow.AGAINST):
                return
        raise NotShown(f"the value is used in a test that worse values pass, in a rule of {self.rule.relation}")

    def _check_head(self) -> None:
        column = self.order.columns.get(self.rule.relation)
        keys = [arg for place, arg in enumerate(self.rule.args) if place != column]
        self._no_keys(keys, f"as a key of {self.rule.relation}")
        if column is not None and self.flow(self.rule.args[column]) is Flow.AGAINST:
            raise NotShown(f"not shown to be monotone: a better value makes that of {self.rule.relation} worse")

    def _no_keys(self, args: Iterable[core.Argument], where: str) -> None:
        if any(self.flow(arg) is not Flow.NONE for arg in args):
            raise NotShown(f"the value is used {where}")


def _together(flows: Iterable[Flow]) -> Flow:
    found = {flow for flow in flows if flow is not Flow.NONE}
    return found.pop() if len(found) == 1 else Flow.UNKNOWN if found else Flow.NONE


def _reversed(flow: Flow) -> Flow:
    return {Flow.WITH: Flow.AGAINST, Flow.AGAINST: Flow.WITH}.get(flow, flow)


def _not_negative(test: core.CoreFilter) -> Iterable[int]:
    """The slots that a test says are not below zero."""
    sides = _ascending(test)
    if sides is None or not isinstance(sides[1], Const) or isinstance(sides[1].value, str):
        return ()
    return core.slots_in((sides[2],)) if sides[1].value >= 0 else ()
