"""Strata whose content is no sum of derivations, or depends on the order in which they are found: why they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tidelog.analysis.checked import Checked
from tidelog.analysis.strata import Stratum
from tidelog.plan import core

SUBSUMPTION = "subsumption"


def reasons_to_be_whole(
    checked: Checked,
    stratum: Stratum,
    rules: Iterable[core.CoreRule],
    implicit: Collection[str] = (),
) -> list[str]:
    """What makes a stratum such a one; nothing, for an ordinary one. The `implicit` equivalences hold the pairs that
    were given and derived, which are ordinary."""
    rules = list(rules)
    declared = [checked.relations[name].decl for name in stratum.relations]
    expressions = {type(e) for rule in rules for e in _expressions(rule.body)}
    reasons = {
        "an eqrel": any("eqrel" in decl.qualifiers and decl.name not in implicit for decl in declared),
        "a choice-domain": any(decl.choice for decl in declared),
        "a lattice": any(attribute.lattice for decl in declared for attribute in decl.attributes),
        SUBSUMPTION: any(rule.subsumes for rule in rules),
        "a .limitsize": not checked.size_limits.relations.isdisjoint(stratum.relations),
        "autoinc()": core.Counted in expressions,
        "the number of the iteration": core.Iterated in expressions,
    }
    return [reason for reason, holds in reasons.items() if holds]


def _expressions(body: Iterable[core.CoreItem]) -> Iterator[core.Expression]:
    for item in body:
        if isinstance(item, core.CoreDefine):
            yield item.expression
            if isinstance(item.expression, core.Aggregated):
                yield from _expressions(item.expression.body)
