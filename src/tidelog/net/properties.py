"""Properties of a network's state: a conjunction in NDlog that holds or not, over the facts of all nodes together.

`path(@a,d,_,_), !violation(@N)` holds if there is a match: the atoms are facts somewhere in the network, the conditions
hold, and of a negated atom there is no fact that agrees with it; variables that only stand there may have any value.
A rule may derive `violation` from whatever a user can say in NDlog, and then `!violation(@N)` is asked for.

Deciding costs the number of partial matches; what was decided for the facts of the relations that it names is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from tidelog.errors import Report, error
from tidelog.lang import ndlog, tree
from tidelog.net.checks import atoms_of, literals_of
from tidelog.net.functions import COMPARISONS, FUNCTIONS, Undefined, WrongKind
from tidelog.net.terms import variables_of
from tidelog.net.values import Fact, Value, value_of
from tidelog.plain import dataclass, field

Found: TypeAlias = dict[str, Value]
WHEN = ("always", "eventually", "finally")


@dataclass(frozen=True, eq=False)
class Property:
    """`when`: always (in every state), eventually (in some state of every run), finally (where a run ends)."""

    when: str
    text: str
    literals: tuple[tree.Literal, ...]
    names: frozenset[str]
    _known: dict[frozenset[Fact], bool] = field(default_factory=dict, repr=False)

    def holds(self, facts: Iterable[Fact]) -> bool:
        relevant = frozenset(f for f in facts if f.name in self.names)
        known = self._known.get(relevant)
        if known is None:
            by_name: dict[str, list[Fact]] = {}
            for fact in relevant:
                by_name.setdefault(fact.name, []).append(fact)
            try:
                known = any(True for _ in _matches(list(self.literals), by_name, {}))
            except WrongKind as problem:
                raise error("TL1067", f"`{self.text}` cannot be decided: {problem}") from None
            self._known[relevant] = known
        return known

    def __str__(self) -> str:
        return f"{self.when} {self.text}"


def parse_property(when: str, text: str, arity: Mapping[str, int]) -> Property:
    """The property that a text says of the relations of a program."""
    rule = ndlog.parse(f"property :- {text.strip().rstrip('.')}.", f"--{when}").rules[0]
    report = Report()
    for atom, _ in atoms_of(rule):
        if atom.name not in arity:
            report.error("TL1040", f"the program has no relation `{atom.name}`", atom.name_span)
        elif len(atom.args) != arity[atom.name]:
            report.error("TL1001", f"`{atom.name}` has {arity[atom.name]} arguments, here {len(atom.args)}", atom.span)
    for node in rule.walk():
        if isinstance(node, tree.Functor) and node.op not in FUNCTIONS:
            report.error("TL1004", f"unknown function `{node.op}`", node.span)
    bound = {v for a, negated in atoms_of(rule) if not negated for v in variables_of(a)}
    for literal in literals_of(rule):
        if isinstance(literal, tree.Comparison) and literal.op != "=" and not bound.issuperset(variables_of(literal)):
            report.error("TL1003", "a variable of this condition has no value", literal.span)
    report.check()
    return Property(when, text, literals_of(rule), frozenset(a.name for a, _ in atoms_of(rule)))


def _matches(literals: list[tree.Literal], facts: Mapping[str, list[Fact]], found: Found) -> Iterator[Found]:
    """Every way to satisfy the literals: conditions as soon as they can be decided, negated atoms last."""
    if not literals:
        yield found
        return
    chosen = min(literals, key=lambda b: _urgency(b, found))
    rest = [b for b in literals if b is not chosen]
    match chosen:
        case tree.Boolean(value=holds):
            if holds:
                yield from _matches(rest, facts, found)
        case tree.Comparison():
            for extended in _compare(chosen, found):
                yield from _matches(rest, facts, extended)
        case tree.Atom():
            for fact in facts.get(chosen.name, ()):
                unified = _unify(chosen, fact, found)
                if unified is not None:
                    yield from _matches(rest, facts, unified)
        case tree.Negation(body=tree.Atom() as atom):
            if all(_unify(atom, fact, found) is None for fact in facts.get(atom.name, ())):
                yield from _matches(rest, facts, found)


def _urgency(literal: tree.Literal, found: Found) -> int:
    if isinstance(literal, tree.Negation):
        return 4
    if isinstance(literal, tree.Atom):
        return 2
    unknown = [side for side in _sides(literal) if not found.keys() >= set(variables_of(side))]
    assigns = isinstance(literal, tree.Comparison) and literal.op == "="
    return 0 if not unknown else 1 if assigns and len(unknown) == 1 and isinstance(unknown[0], tree.Variable) else 3


def _sides(literal: tree.Literal) -> tuple[tree.Term, ...]:
    return (literal.left, literal.right) if isinstance(literal, tree.Comparison) else ()


def _compare(condition: tree.Comparison, found: Found) -> Iterator[Found]:
    sides = [None if not found.keys() >= set(variables_of(s)) else s for s in _sides(condition)]
    try:
        values = [None if side is None else _value(side, found) for side in sides]
    except Undefined:
        return
    if None not in values:
        if COMPARISONS[condition.op](values[0], values[1]):  # type: ignore[arg-type]
            yield found
        return
    target = condition.left if values[0] is None else condition.right
    value = values[1] if values[0] is None else values[0]
    if value is None or not isinstance(target, tree.Variable) or condition.op != "=":
        raise WrongKind("a variable of a condition has no value")
    yield {**found, target.name: value}


def _unify(atom: tree.Atom, fact: Fact, found: Found) -> Found | None:
    extended = dict(found)
    for term, value in zip(atom.args, fact.args, strict=True):
        if isinstance(term, tree.Wildcard):
            continue
        if isinstance(term, tree.Variable) and term.name not in extended:
            extended[term.name] = value
        elif _value(term, extended) != value:
            return None
    return extended


def _value(term: tree.Term, found: Found) -> Value:
    constant = value_of(term)
    if constant is not None:
        return constant
    match term:
        case tree.Variable(name=name):
            return found[name]
        case tree.Record(args=args):
            return tuple(_value(a, found) for a in args)
        case tree.Functor(op=op, args=args):
            return FUNCTIONS[op].apply(*(_value(a, found) for a in args))
    raise WrongKind(f"{type(term).__name__} has no value")
