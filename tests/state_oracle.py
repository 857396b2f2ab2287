"""The oracle of states: the iteration and the count of every tuple, straight from their definition.

Facts given by the user have iteration 0 and count 1. Within a stratum a *derivation* is a clause, the tuple that each
positive atom of its body matches, and the values it computes; its *level* is the greatest iteration of those tuples
that belong to the stratum, 0 if there are none. Any other tuple has the iteration 1 + the least level of its
derivations, and as its count the number of derivations of that level. Values are those of `oracle`.

An eqrel has tuples without derivations: all tuples of its stratum are taken for facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from hypothesis import reject

import oracle
from strategies.budget import TOTAL
from tidelog.analysis.checked import Checked
from tidelog.analysis.strata import Stratum
from tidelog.lang import tree

PATIENCE = 200_000 if TOTAL else 10_000
"""Rows that a clause may look at, more of them in long runs. A body of a dozen atoms, as inlining makes them, may take
the oracle hours; it is rejected. Three programs of a hundred took half of its time, and showed no more."""

Row = tuple[Any, ...]
Fact = tuple[str, Row]
"""A relation's name and a tuple of it."""


class Entry(NamedTuple):
    iteration: int
    count: int


State = dict[str, dict[Row, Entry]]


class Derivation(NamedTuple):
    head: Fact
    body: tuple[Fact, ...]


def state(checked: Checked, facts: oracle.Relations) -> State:
    """Iteration and count of every tuple of every relation."""
    relations = oracle.evaluate(checked, facts, Patient)
    result: State = {name: {row: Entry(0, 1) for row in facts.get(name, ())} for name in checked.relations}
    for stratum in checked.strata:
        if any("eqrel" in checked.relations[name].decl.qualifiers for name in stratum.relations):
            result |= {name: {row: Entry(0, 1) for row in relations[name]} for name in stratum.relations}
        else:
            add_derived(result, stratum, list(derivations(checked, stratum, relations)))
    return result


def add_derived(result: State, stratum: Stratum, found: list[Derivation]) -> None:
    """Iteration by iteration: what is first derived from earlier tuples, and in how many ways."""
    iteration = 0
    heads = None
    while heads is None or heads:
        iteration += 1
        heads = Counter(
            derivation.head
            for derivation in found
            if all(row in result[name] for name, row in derivation.body if name in stratum.relations)
            and derivation.head[1] not in result[derivation.head[0]]
        )
        for (name, row), count in heads.items():
            result[name][row] = Entry(iteration, count)


def derivations(checked: Checked, stratum: Stratum, relations: oracle.Relations) -> Iterator[Derivation]:
    """Every derivation of the stratum once all relations are complete."""
    for number in stratum.clauses:
        types = checked.clause_types[number]
        matcher = Matcher(types, relations)
        name = types.clause.head.name
        for env in matcher.solve(oracle.constraints_first(types.clause.body), {}):
            matched = tuple((atom.name, env[matched_by(atom)]) for atom in types.clause.atoms())
            for row in product(*(matcher.values(arg, env) for arg in types.clause.head.args)):
                yield Derivation((name, row), matched)


class Patient(oracle.Evaluator):
    """The oracle's evaluator, with an end to its patience: hypothesis then takes another program."""

    steps = 0

    def unify(self, terms: Iterable[tree.Term], values: Iterable[Any], env: oracle.Env) -> list[oracle.Way]:
        self.steps += 1
        if self.steps > PATIENCE:
            reject()
        return super().unify(terms, values, env)


class Matcher(Patient):
    """Matches a body as the oracle does, and remembers the tuple that each atom has matched."""

    def ways(self, literal: tree.Literal, env: oracle.Env) -> list[oracle.Way]:
        if not isinstance(literal, tree.Atom):
            return super().ways(literal, env)
        return [
            ({**extended, matched_by(literal): row}, equations)
            for row in self.relations[literal.name]
            for extended, equations in self.unify(literal.args, row, env)
        ]

    def aggregate(self, term: tree.Aggregate, env: oracle.Env) -> list[Any]:
        """The tuples that its atoms match are not told apart by it, so they are not remembered."""
        plain = Patient(self.types, self.relations)
        plain.steps = self.steps
        try:
            return plain.aggregate(term, env)
        finally:
            self.steps = plain.steps


def matched_by(atom: tree.Atom) -> str:
    """Under which name, one that no variable has, the environment holds the atom's tuple."""
    return f"tuple of {id(atom)}"
