"""Which relations keep only some of what is derived, or more, and by what: decided here, for every executor."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.lang import tree
from tidelog.plain import dataclass
from tidelog.plan import core


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What stays of a relation: by `subsumptions`, what no other tuple subsumes; by `keys` (a choice domain), one tuple
    for each value of these columns; by `lubs`, the functors of its last columns, one tuple for each value of the
    others, with the least upper bounds; with none of these, all pairs of an equivalence."""

    relation: str
    subsumptions: tuple[core.CoreRule, ...] = ()
    keys: tuple[tuple[int, ...], ...] = ()
    lubs: tuple[str, ...] = ()


def gates_of(
    checked: Checked, relations: Iterable[str], rules: Iterable[core.CoreRule], implicit: Collection[str] = ()
) -> tuple[GatePlan, ...]:
    """The gates of a stratum's relations; `implicit` equivalences are known by their classes and need none."""
    found = []
    for info in (checked.relations[name] for name in relations if name in checked.relations):
        dropped = tuple(rule for rule in rules if rule.subsumes and rule.relation == info.name)
        if dropped:
            found.append(GatePlan(info.name, subsumptions=dropped))
        elif any(attribute.lattice for attribute in info.decl.attributes):
            found.append(GatePlan(info.name, lubs=lubs_of(checked.program, info.decl)))
        elif "eqrel" in info.decl.qualifiers:
            found += [GatePlan(info.name)] if info.name not in implicit else []
        elif info.decl.choice:
            found.append(GatePlan(info.name, keys=tuple(choice_keys(info))))
    return tuple(found)


def lubs_of(program: tree.Program, decl: tree.RelationDecl) -> tuple[str, ...]:
    """The functors that join values of the lattice attributes, in order."""
    lattices = {lattice.name: dict(lattice.operators)["Lub"] for lattice in program.of(tree.LatticeDecl)}
    found = (lattices[attribute.type] for attribute in decl.attributes if attribute.lattice)
    return tuple(functor.name for functor in found if isinstance(functor, tree.UserFunctor))


def choice_keys(info: RelationInfo) -> list[tuple[int, ...]]:
    """The columns of which each value stands in one tuple only."""
    return [tuple(info.attributes.index(attribute) for attribute in key) for key in info.decl.choice]
