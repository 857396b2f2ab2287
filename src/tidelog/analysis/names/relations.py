"""Checks of declarations by themselves: names declared twice, and qualifiers that do not fit their relation."""

from __future__ import annotations

from typing import TypeVar

from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.plain import dataclass, field

D = TypeVar("D", tree.RelationDecl, tree.TypeDecl, tree.FunctorDecl, tree.LatticeDecl)


@dataclass
class Declared:
    """The first declaration of every name, by kind."""

    relations: dict[str, tree.RelationDecl] = field(default_factory=dict)
    types: dict[str, tree.TypeDecl] = field(default_factory=dict)
    functors: dict[str, tree.FunctorDecl] = field(default_factory=dict)
    lattices: dict[str, tree.LatticeDecl] = field(default_factory=dict)


def declared_names(program: tree.Program, report: Report) -> Declared:
    """The declarations of a program whose components are expanded; declaring a name twice is an error."""
    declared = Declared()
    for item in program.items:
        match item:
            case tree.RelationDecl():
                _declare("TL0204", "relation", declared.relations, item, report)
            case tree.TypeDecl():
                _declare("TL0205", "type", declared.types, item, report)
            case tree.FunctorDecl():
                _declare("TL0206", "functor", declared.functors, item, report)
            case tree.LatticeDecl():
                _declare("TL0206", "lattice", declared.lattices, item, report)
    for name in declared.relations.keys() & declared.types.keys():
        report.error(
            "TL0207",
            f"`{name}` is the name of both a relation and a type",
            declared.relations[name].span,
            notes=(("the type is declared here", declared.types[name].span),),
        )
    return declared


def _declare(code: str, what: str, known: dict[str, D], item: D, report: Report) -> None:
    previous = known.setdefault(item.name, item)
    if previous is not item:
        report.error(
            code,
            f"redefinition of {what} `{item.name}`",
            item.span,
            notes=(("the previous definition is here", previous.span),),
        )


def check_relations(declared: Declared, defined: set[str], subsuming: set[str], report: Report) -> None:
    """Every relation's declaration; `defined` have rules or input, `subsuming` have subsumption rules."""
    for relation in declared.relations.values():
        _check_attributes(relation, report)
        _check_equivalence(relation, report)
        _check_subsumption(relation, relation.name in subsuming, report)
        if relation.delta_of is not None:
            _check_delta(relation, declared, relation.name in defined, report)


def _check_attributes(relation: tree.RelationDecl, report: Report) -> None:
    names: dict[str, tree.Attribute] = {}
    for attribute in relation.attributes:
        previous = names.setdefault(attribute.name, attribute)
        if previous is not attribute:
            report.error(
                "TL0208",
                f"relation `{relation.name}` has two attributes named `{attribute.name}`",
                attribute.span,
                notes=(("the first one is here", previous.span),),
            )
    for key in relation.choice:
        for name in key:
            if name not in names:
                report.error(
                    "TL0212",
                    f"the choice-domain of `{relation.name}` names `{name}`, which is not an attribute of it",
                    relation.span,
                    help=f"the attributes are {', '.join(names)}" if names else "the relation has no attributes",
                )


def _check_equivalence(relation: tree.RelationDecl, report: Report) -> None:
    if "eqrel" not in relation.qualifiers:
        return
    types = [attribute.type for attribute in relation.attributes]
    if len(types) != 2:
        report.error(
            "TL0210",
            f"equivalence relation `{relation.name}` has {len(types)} attribute{'' if len(types) == 1 else 's'}, not 2",
            relation.span,
        )
    elif types[0] != types[1]:
        report.error(
            "TL0211",
            f"equivalence relation `{relation.name}` relates two different types, `{types[0]}` and `{types[1]}`",
            relation.span,
            help="both attributes of an `eqrel` relation have the same type",
        )


def _check_subsumption(relation: tree.RelationDecl, subsuming: bool, report: Report) -> None:
    representation = next((q for q in relation.qualifiers if q in tree.REPRESENTATIONS), None)
    deletes = representation == "btree_delete" or (subsuming and representation is None)
    if subsuming and not deletes:
        report.error(
            "TL0214",
            f"relation `{relation.name}` has subsumption rules, but is declared `{representation}`",
            relation.span,
            help=f"replace `{representation}` by `btree_delete`, or leave it out",
        )
    if deletes and not relation.attributes:
        report.error(
            "TL0214", f"relation `{relation.name}` has no attributes, so nothing can be subsumed", relation.span
        )
    if representation == "btree_delete" and not subsuming:
        report.warn("TL0283", f"no subsumption rule for `btree_delete` relation `{relation.name}`", relation.span)


def _check_delta(relation: tree.RelationDecl, declared: Declared, defined: bool, report: Report) -> None:
    if relation.delta_of not in declared.relations:
        report.error("TL0213", f"`debug_delta` of relation `{relation.delta_of}`, which is not declared", relation.span)
    if defined:
        report.error(
            "TL0213", f"`debug_delta` relation `{relation.name}` cannot have rules, facts or input", relation.span
        )
