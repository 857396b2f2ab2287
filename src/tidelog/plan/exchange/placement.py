"""Where the tuples of a relation are, when there are several stores.

A tuple is with the homes of its values in some columns: the first of them is its owner's, those of the others have
copies. Or everywhere. Or (for what one worker evaluates: what is whole, and what makes values) with the first worker; a
relation that such a stratum reads has copies there. All who hold a tuple have its iteration and count, and settle it by
themselves.

`place` chooses, in this order of preference: a column that the recursion keeps, with what has no rules everywhere, so
that nothing travels; a column that others look it up by; a copy by another column, where the recursion looks its own
relation up by that. Users may say otherwise, relation by relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tidelog.plain import dataclass, replace
from tidelog.plan import core
from tidelog.plan.exchange.making import makes_values
from tidelog.plan.stateful import StatefulProgram, StatefulStratum
from tidelog.plan.steps import Slot

KEEPS, JOINS = 16, 1
"""What counts for a column: that the recursion keeps its value, and that another atom has it, too."""


@dataclass(frozen=True, slots=True)
class Placement:
    """See the module's docstring."""

    columns: tuple[int, ...] = ()
    everywhere: bool = False
    first: bool = False

    @property
    def alone(self) -> bool:
        """Whether each tuple is at one place that follows from one column."""
        return len(self.columns) == 1 and not self.everywhere and not self.first

    def __str__(self) -> str:
        if self.everywhere:
            return "everywhere"
        parts = [f"by column {column + 1}" for column in self.columns]
        return " and ".join((*parts, *(["at the first worker"] if self.first else [])))


EVERYWHERE = Placement(everywhere=True)
FIRST = Placement(first=True)


def place(program: StatefulProgram, said: Mapping[str, Placement] | None = None) -> dict[str, Placement]:
    """Where the tuples of each relation of a program are. What is `said` stands, but for what must be elsewhere."""
    said, arities = said or {}, program.arities
    ruled = {rule.relation for stratum in program.strata for rule in stratum.rules}
    found = {name: said.get(name) or _by_best_column(name, arities[name], program) for name in arities}
    for stratum in filter(_by_rules, program.strata):
        for rule in stratum.rules if stratum.recursive else ():
            for atom in rule.atoms():
                if atom.relation not in ruled and atom.relation not in said:
                    found[atom.relation] = EVERYWHERE
    for name, column in _looked_up(program, found):
        if name not in said and name in ruled:
            found[name] = replace(found[name], columns=(*found[name].columns, column))
    return _gathered(program, found)


def _by_rules(stratum: StatefulStratum) -> bool:
    """Whether the stratum is a sum of derivations, which many workers can add up, of values that all know."""
    return bool(stratum.rules) and not (stratum.whole or stratum.best or makes_values(stratum))


def _by_best_column(name: str, arity: int, program: StatefulProgram) -> Placement:
    if arity == 0:
        return EVERYWHERE
    votes: Counter[int] = Counter()
    for stratum in filter(_by_rules, program.strata):
        for rule in stratum.rules:
            votes += _votes(name, rule, stratum.relations)
    return Placement((max(range(arity), key=lambda column: (votes[column], -column)),))


def _votes(name: str, rule: core.CoreRule, own: Iterable[str]) -> Counter[int]:
    """What a rule says for each column of a relation."""
    votes: Counter[int] = Counter()
    atoms = list(rule.atoms())
    for place, atom in enumerate(atoms):
        if atom.relation != name:
            continue
        others = [other for n, other in enumerate(atoms) if n != place]
        for column, arg in enumerate(atom.args):
            if not isinstance(arg, Slot):
                continue
            if name in own and rule.relation == name and rule.args[column] == arg:
                votes[column] += KEEPS
            votes[column] += JOINS * sum(arg in other.args for other in others)
    return votes


def _looked_up(program: StatefulProgram, placed: Mapping[str, Placement]) -> list[tuple[str, int]]:
    """Relations that rules of their own stratum look up by a column that does not say where their tuples are."""
    found: dict[tuple[str, int], None] = {}
    for stratum in filter(_by_rules, program.strata):
        for rule in stratum.rules:
            own = [atom for atom in rule.atoms() if atom.relation in stratum.relations]
            for pivot in own:
                known = {arg for arg in pivot.args if isinstance(arg, Slot)}
                for atom in (other for other in own if other is not pivot):
                    columns, here = [c for c, arg in enumerate(atom.args) if arg in known], placed[atom.relation]
                    if columns and not here.everywhere and not set(columns) & set(here.columns):
                        found[atom.relation, columns[0]] = None
    return list(found)


def _gathered(program: StatefulProgram, placed: dict[str, Placement]) -> dict[str, Placement]:
    """What one worker evaluates is there, and what that reads as well; until nothing more has to be."""
    found = dict(placed)
    for stratum in program.strata:
        if _by_rules(stratum) or not (stratum.defined or stratum.whole):
            continue
        column = None if stratum.aggregate is None else _apart(stratum, stratum.aggregate, placed)
        for name in stratum.relations:
            found[name] = FIRST if column is None else Placement((column,))
        for name in stratum.inputs if column is None else ():
            if not found[name].everywhere:
                found[name] = replace(found[name], first=True)
    return found if found == placed else _gathered(program, found)


def _apart(stratum: StatefulStratum, aggregate: core.AggregateRelation, placed: Mapping[str, Placement]) -> int | None:
    """The column by which each worker has groups to itself; none if the first worker has to have them as well, since
    nobody sends what comes of an aggregate."""
    if makes_values(stratum) or placed[aggregate.relation].first:
        return None
    return _grouped_by(aggregate, placed)


def _grouped_by(aggregate: core.AggregateRelation, placed: Mapping[str, Placement]) -> int | None:
    """The column of the group at whose home, and nowhere else, all of the group is, if there is one."""
    domain = placed[aggregate.domain]
    if not domain.alone:
        return None
    (column,), slot = domain.columns, aggregate.groups[domain.columns[0]]
    body = [item for item in aggregate.aggregate.body if isinstance(item, core.CoreAtom | core.CoreAbsent)]
    held = ((placed[item.relation], item.args) for item in body)
    return column if all(p.everywhere or any(args[c] == slot for c in p.columns) for p, args in held) else None


def at_first(stratum: StatefulStratum, placed: Mapping[str, Placement]) -> bool:
    """Whether one worker evaluates the stratum for all: it is no sum of derivations, or makes values, and no aggregate
    whose groups each worker has to itself."""
    if stratum.aggregate is not None:
        return not placed[stratum.aggregate.relation].columns
    return bool(stratum.whole or stratum.best or stratum.equivalence or makes_values(stratum))
