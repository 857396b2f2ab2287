"""Checks of `.lattice` declarations and of attributes that are lattices (`Interval<>`).

A lattice is a type with functors: `Lub`, which it must have, `Glb`, and the terms `Bottom` and `Top`. Of a relation
whose last attributes are lattices there is one tuple for each value of the others, with the least upper bound of all
that is derived. Without `Glb` and `Bottom`, lattice attributes are compared as they are, which is a warning.
"""

from __future__ import annotations

from tidelog.analysis.names.relations import Declared
from tidelog.errors import Report
from tidelog.lang import tree


def check_lattices(declared: Declared, subsuming: set[str], report: Report) -> None:
    for lattice in declared.lattices.values():
        _check_lattice(lattice, declared, report)
    for relation in declared.relations.values():
        if any(attribute.lattice for attribute in relation.attributes):
            _check_relation(relation, declared, relation.name in subsuming, report)


def _check_lattice(lattice: tree.LatticeDecl, declared: Declared, report: Report) -> None:
    operators = dict(lattice.operators)
    if lattice.name not in declared.types:
        report.error(
            "TL0231", f"the lattice `{lattice.name}<>` is of a type `{lattice.name}` that is not declared", lattice.span
        )
    for name in ("Lub", "Glb"):
        operator = operators.get(name)
        if operator is None:
            continue
        functor = declared.functors.get(operator.name) if isinstance(operator, tree.UserFunctor) else None
        if not isinstance(operator, tree.UserFunctor):
            report.error(
                "TL0232", f"{name} is a functor of two arguments", operator.span, help=f"write `{name} -> @f(_, _)`"
            )
        elif functor is None:
            report.error(
                "TL0220",
                f"functor `{operator.name}` is not declared",
                operator.span,
                help=f"declare it: `.functor {operator.name}(a: {lattice.name}, b: {lattice.name}): {lattice.name}`",
            )
        elif [p.type for p in functor.params] != [lattice.name] * 2 or functor.result != lattice.name:
            report.error(
                "TL0232",
                f"{name} of the lattice `{lattice.name}<>` takes two values of type `{lattice.name}` and gives one",
                operator.span,
                notes=(("the functor is declared here", functor.span),),
            )
    if "Lub" not in operators:
        report.error("TL0232", f"the lattice `{lattice.name}<>` has no Lub", lattice.span, help="add `Lub -> @f(_, _)`")
    for name in ("Glb", "Bottom"):
        if name not in operators:
            report.warn("TL0285", f"the lattice `{lattice.name}<>` has no {name}: values are compared as they are",
                        lattice.span)  # fmt: skip


def _check_relation(relation: tree.RelationDecl, declared: Declared, subsuming: bool, report: Report) -> None:
    seen = False
    for attribute in relation.attributes:
        if attribute.lattice and attribute.type not in declared.lattices:
            report.error(
                "TL0233",
                f"there is no lattice `{attribute.type}<>`",
                attribute.span,
                help=f"declare it with `.lattice {attribute.type}<> {{ ... }}`",
            )
        if seen and not attribute.lattice:
            report.error(
                "TL0234", f"`{attribute.name}` stands behind a lattice: these are the last attributes", attribute.span
            )
        seen = seen or attribute.lattice
    others = {
        "subsumption rules": subsuming,
        "a choice-domain": bool(relation.choice),
        "the qualifier eqrel": "eqrel" in relation.qualifiers,
        "the qualifier inline": "inline" in relation.qualifiers,
    }
    for what in (what for what, has in others.items() if has):
        report.error("TL0235", f"relation `{relation.name}` has lattice attributes and {what}", relation.span)
