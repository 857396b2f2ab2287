"""Equivalence relations by their classes: rules that read an `eqrel` read who is in which class instead.

A class of n elements has n² pairs. Once an `eqrel` is complete, two relations of n tuples say all of it: `E@classes`
(element, class) and `E@sizes` (class, elements in it), and every rule is rewritten, one for one in its derivations:

>>> from tidelog.plan.rewrites.example import example
>>> same = ".decl same(x: number, y: number) eqrel" + chr(10)
>>> print(example(same + "p(x, y) :- e(x), same(x, y).", read_classes))
p(x, y) :- e(x), same@classes(x, c2), same@classes(y, c2).

>>> print(example(same + "p(x, y) :- e(x, y), !same(x, y).", read_classes))
p(x, y) :- e(x, y), !same@classes(x, _).
p(x, y) :- e(x, y), same@classes(x, c2), !same@classes(y, c2).

>>> print(example(same + "p(x, n) :- e(x), n = count : { same(x, _) }.", read_classes))
p(x, n) :- e(x), n := sum s3 : { same@classes(x, c2), same@sizes(c2, s3) }.

An `eqrel` that its own stratum reads, directly or in a circle, needs each new pair as a change and is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count
from typing import TypeGuard

from tidelog.analysis.checked import Checked
from tidelog.plain import replace
from tidelog.plan import core
from tidelog.plan.rewrites.rewrite import Rewritten, RuleScope
from tidelog.plan.steps import Const, Slot
from tidelog.values import Kind


def classes_of(name: str) -> str:
    return f"{name}@classes"


def sizes_of(name: str) -> str:
    return f"{name}@sizes"


def implicit_equivalences(checked: Checked) -> frozenset[str]:
    """The relations that are held as classes."""
    subsumed = {clause.head.name for clause in checked.clauses if clause.greater is not None}
    return frozenset(
        name
        for stratum in checked.strata
        for name in stratum.relations
        if "eqrel" in checked.relations[name].decl.qualifiers and not stratum.recursive and name not in subsumed
    )


def read_classes(rule: core.CoreRule, scope: RuleScope) -> Rewritten:
    """Rules that say the same without a pair of an implicit equivalence."""
    if scope.implicit.isdisjoint(core.relations_in(rule.body)):
        return Rewritten((rule,))
    return Rewritten(tuple(_Rewriter(rule, scope.implicit).rules()))


def rules_by_classes(rules: Iterable[core.CoreRule], implicit: frozenset[str]) -> tuple[core.CoreRule, ...]:
    """The same for several rules, such as those of a query."""
    scope = RuleScope((), implicit=implicit)
    return tuple(found for rule in rules for found in read_classes(rule, scope).rules)


class _Rewriter:
    def __init__(self, rule: core.CoreRule, implicit: frozenset[str]) -> None:
        self.rule = rule
        self.implicit = implicit
        self.slots = list(rule.slots)
        self.positions = count(len(rule.atoms()))

    def rules(self) -> list[core.CoreRule]:
        bodies: list[tuple[core.CoreItem, ...]] = [()]
        for item in self.rule.body:
            match item:
                case core.CoreAbsent(relation=name, args=(x, y)) if name in self.implicit and _are_two(x, y):
                    c, classes = self.new_slot("c"), classes_of(name)
                    unknown = (core.CoreAbsent(classes, (x, None)),)
                    elsewhere = (core.CoreAtom(classes, (x, c), next(self.positions)), core.CoreAbsent(classes, (y, c)))
                    bodies = [(*body, *way) for body in bodies for way in (unknown, elsewhere)]
                case _:
                    rewritten = self.item(item)
                    bodies = [(*body, *rewritten) for body in bodies]
        slots = tuple(self.slots)
        return [replace(self.rule, body=body, slots=slots, variant=number) for number, body in enumerate(bodies)]

    def item(self, item: core.CoreItem) -> tuple[core.CoreItem, ...]:
        match item:
            case core.CoreAtom(relation=name, args=(x, y), position=position) if name in self.implicit:
                if x == y and x is not None:
                    return (core.CoreAtom(classes_of(name), (x, None), position),)
                c = self.new_slot("c")
                return tuple(core.CoreAtom(classes_of(name), (element, c), position) for element in (x, y))
            case core.CoreAbsent(relation=name, args=(x, y)) if name in self.implicit:
                if _are_two(x, y):
                    return self.absent_inside(name, (x, y))
                return (core.CoreAbsent(classes_of(name), (y if x is None else x, None)),)
            case core.CoreDefine(slot=slot, expression=core.Aggregated() as aggregate):
                return (core.CoreDefine(slot, self.aggregate(aggregate)),)
        return (item,)

    def absent_inside(self, name: str, pair: tuple[core.Argument, ...]) -> tuple[core.CoreItem, ...]:
        """An aggregate's body cannot become two; there, the number of classes that have both is 0."""
        shared = core.Aggregated(
            "count", Kind.NUMBER, None, self.item(core.CoreAtom(name, pair)), frozenset(core.slots_in(pair))
        )
        number = self.new_slot("n")
        none = core.CoreFilter("=", Kind.NUMBER, number, Const(Kind.NUMBER, 0))
        return core.CoreDefine(number.index, shared), none

    def aggregate(self, aggregate: core.Aggregated) -> core.Aggregated:
        free = _Free(aggregate)
        weighed = None
        if aggregate.op == "count" and aggregate.distinct is None:
            weighed = next((i for i in aggregate.body if self.is_implicit(i) and any(map(free, i.args))), None)
        rest = [inner for item in aggregate.body if item is not weighed for inner in self.item(item)]
        if weighed is None:
            return replace(aggregate, body=tuple(rest))
        c, size = self.new_slot("c"), self.new_slot("s")
        element = next((arg for arg in weighed.args if not free(arg)), None)
        members = core.CoreAtom(classes_of(weighed.relation), (element, c))
        partners = core.CoreAtom(sizes_of(weighed.relation), (c, size))
        return replace(aggregate, op="sum", value=size, body=(members, partners, *rest))

    def is_implicit(self, item: core.CoreItem) -> TypeGuard[core.CoreAtom]:
        return isinstance(item, core.CoreAtom) and item.relation in self.implicit

    def new_slot(self, name: str) -> Slot:
        self.slots.append((f"{name}{len(self.slots)}", Kind.NUMBER))
        return Slot(len(self.slots) - 1)


class _Free:
    """Whether an argument inside an aggregate could be anything: nothing else, inside or outside, has it."""

    def __init__(self, aggregate: core.Aggregated) -> None:
        self.injected = aggregate.injected
        self.uses = Counter(slot for item in aggregate.body for slot in core.mentions(item))

    def __call__(self, arg: core.Argument) -> bool:
        if isinstance(arg, Slot):
            return arg.index not in self.injected and self.uses[arg.index] == 1
        return arg is None


def _are_two(x: core.Argument, y: core.Argument) -> bool:
    """Whether both are given and need not be the same."""
    return x is not None and y is not None and x != y
