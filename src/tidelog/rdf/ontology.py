"""OWL 2 RL to rules: an ontology becomes a program over its own classes and properties.

Axioms are translated one by one, as in the direct reading of the profile: a class expression on the left of an
inclusion becomes bodies (`_left`), one on the right becomes heads (`_right`). What the profile calls `false` derives
tuples of VIOLATION, which name the rule of the W3C tables and the triples. Individuals that the ontology describes
become facts. What lies outside of OWL 2 RL is listed in `outside`, each with its reason, and all else is translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, product
from typing import Any

from tidelog.lang import tree
from tidelog.lang.rules import RDF
from tidelog.rdf.axioms import (
    NOTHING,
    SAME_AS,
    THING,
    TYPE,
    Axioms,
    Outside,
    PropertyExpression,
    Triple,
    differ,
    is_datatype,
    member,
    owl,
    rdfs,
    related,
    term_node,
    triple,
    violation,
)  # fmt: skip
from tidelog.rdf.terms import OWL, RDFS, is_blank, is_iri

Body = list[tree.Literal]
X, Y, Z = tree.Variable("x"), tree.Variable("y"), tree.Variable("z")

_VOCABULARY = (f"<{OWL}", f"<{RDFS}", f"<{RDF}")
_DECLARED = {
    owl(name)
    for name in (
        "Class", "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "OntologyProperty", "Ontology",
        "Restriction", "NamedIndividual", "DeprecatedClass", "DeprecatedProperty", "DataRange", "Axiom", "Annotation",
    )
} | {rdfs("Class"), rdfs("Datatype"), f"<{RDF}Property>", f"<{RDF}List>"}  # fmt: skip
_SAID_ELSEWHERE = {
    owl(name)
    for name in (
        "onProperty", "onClass", "onDataRange", "someValuesFrom", "allValuesFrom", "hasValue", "cardinality",
        "minCardinality", "maxCardinality", "qualifiedCardinality", "minQualifiedCardinality",
        "maxQualifiedCardinality", "members", "distinctMembers", "sourceIndividual", "assertionProperty",
        "targetIndividual", "targetValue", "versionInfo", "imports", "priorVersion", "versionIRI", "deprecated",
        "backwardCompatibleWith", "incompatibleWith", "annotatedSource", "annotatedProperty", "annotatedTarget",
        "hasSelf", "onDatatype", "withRestrictions", "datatypeComplementOf", "onProperties",
    )
} | {f"<{RDF}first>", f"<{RDF}rest>", *map(rdfs, ("label", "comment", "seeAlso", "isDefinedBy"))}  # fmt: skip


class Ontology:
    """The rules of an ontology, and what it says that no rule of OWL 2 RL can. It `equates` if some axiom can make
    resources equal; if these are `merged`, no rule has to say what that means."""

    def __init__(self, triples: Iterable[Triple], merged: bool = False) -> None:
        self.axioms = Axioms(triples)
        self.rules: list[tree.Rule] = []
        self.outside: list[str] = []
        self._fresh = 0
        self._now: Triple = ("", "", "")  # the triple that is looked at
        for axiom in self.axioms.triples:
            self._now = axiom
            self._attempt(self._axiom, *axiom)
        self.equates = any(rule.heads[0].args[1] == term_node(SAME_AS) for rule in self.rules)
        if merged:
            different = triple(X, owl("differentFrom"), X)
            self._add(violation("eq-diff1", different), [different])
        else:
            self._about_equality()
        self.rules, self.outside = list(dict.fromkeys(self.rules)), list(dict.fromkeys(self.outside))

    def program(self) -> tree.Program:
        return tree.Program(tuple(self.rules), "rules")

    def _attempt(self, translate: Callable[..., None], *args: Any) -> None:
        """Translate something; if it is outside of the profile, that is listed, and all around it is translated."""
        try:
            translate(*args)
        except Outside as problem:
            self._list(problem)
        except RecursionError:
            self._list("an expression that contains itself")

    def _list(self, problem: object) -> None:
        self.outside.append(f"{' '.join(self._now)}: {problem}")

    def _add(self, head: tree.Atom, body: Iterable[tree.Literal]) -> None:
        parts = tuple(dict.fromkeys(body))
        if head in parts:
            return
        self.rules.append(
            tree.Rule((head,), None if not parts else parts[0] if len(parts) == 1 else tree.Conjunction(parts))
        )

    def _variable(self) -> tree.Variable:
        self._fresh += 1
        return tree.Variable(f"v{self._fresh}")

    # ---- axioms

    def _axiom(self, subject: str, predicate: str, term: str) -> None:
        self._fresh = 0
        name = predicate.removeprefix(f"<{OWL}").rstrip(">") if predicate.startswith(f"<{OWL}") else predicate
        match name:
            case _ if predicate == TYPE:
                self._typed(subject, term)
            case _ if predicate == rdfs("subClassOf"):
                self._subclass(subject, term)
            case _ if predicate == rdfs("subPropertyOf"):
                self._subproperty(subject, term)
            case _ if predicate == rdfs("domain"):
                self._implied([related(self.axioms.role(subject), X, Y)], term, X)
            case _ if predicate == rdfs("range"):
                self._implied([related(self.axioms.role(subject), X, Y)], term, Y)
            case "equivalentClass":
                self._attempt(self._subclass, subject, term)
                self._attempt(self._subclass, term, subject)
            case "intersectionOf" | "unionOf" | "oneOf" | "complementOf" if is_iri(subject):
                self._defined(subject)
            case "disjointWith":
                self._disjoint_classes("cax-dw", subject, term)
            case "disjointUnionOf":
                for one, other in combinations(self.axioms.items(term), 2):
                    self._disjoint_classes("cax-adc", one, other)
                for one in self.axioms.items(term):
                    self._attempt(self._subclass, one, subject)
                raise Outside("a union on the right: members of the class are not known to be in one of the others")
            case "equivalentProperty":
                self._subproperty(subject, term)
                self._subproperty(term, subject)
            case "inverseOf" if is_iri(subject):
                here, back = self.axioms.role(subject), self.axioms.role(term)
                self._add(related(back, Y, X), [related(here, X, Y)])
                self._add(related(here, Y, X), [related(back, X, Y)])
            case "propertyDisjointWith":
                self._disjoint_properties("prp-pdw", subject, term)
            case "propertyChainAxiom":
                self._chain(self.axioms.role(subject), [self.axioms.role(p) for p in self.axioms.items(term)])
            case "hasKey":
                self._key(subject, [self.axioms.role(p) for p in self.axioms.items(term)])
            case "sameAs" | "differentFrom":
                self._add(triple(term_node(subject), predicate, term_node(term)), ())
            case "annotatedSource" | "annotatedTarget" | "inverseOf" | "members" | "distinctMembers":
                pass
            case "intersectionOf" | "unionOf" | "oneOf" | "complementOf":
                pass  # of an expression, which is looked at where it is used
            case _ if predicate in _SAID_ELSEWHERE:
                pass
            case _ if predicate.startswith(_VOCABULARY):
                raise Outside("nothing in OWL 2 RL")
            case _ if not self.axioms.is_a(predicate, owl("AnnotationProperty")):
                self._add(triple(term_node(subject), predicate, term_node(term)), ())

    def _typed(self, subject: str, kind: str) -> None:
        if kind in _DECLARED:
            return
        name = kind.removeprefix(f"<{OWL}").rstrip(">")
        match name:
            case "AllDisjointClasses" | "AllDisjointProperties" | "AllDifferent":
                self._all(subject, name)
            case "NegativePropertyAssertion":
                self._negative(subject)
            case _ if kind.startswith(f"<{OWL}") and name.endswith("Property"):
                self._characteristic(self.axioms.role(subject), name)
            case _ if kind == THING and is_iri(subject):
                pass
            case _ if kind.startswith(_VOCABULARY) and kind not in (THING, NOTHING):
                raise Outside("nothing in OWL 2 RL")
            case _:
                self._implied([], kind, term_node(subject))

    def _defined(self, name: str) -> None:
        """A class that is said to be an expression itself, as older ontologies do."""
        self._attempt(self._subclass, name, name, True, False)
        self._attempt(self._subclass, name, name, False, True)

    def _subclass(self, one: str, other: str, of_expression: bool = False, to_expression: bool = False) -> None:
        """A class is in another; `…_expression`: by the expression that its name stands for."""
        for body in self._left(one, X, expanded=of_expression):
            self._implied(body, other, X, expanded=to_expression)

    def _implied(self, body: Body, expression: str, x: tree.Term, expanded: bool = False) -> None:
        """Whoever the body holds for is in a class."""
        fresh = self._fresh
        for more, head in self._right(expression, x, expanded):
            self._add(head, [*body, *more])
        self._fresh = fresh

    def _subproperty(self, one: str, other: str) -> None:
        self._add(related(self.axioms.role(other), X, Y), [related(self.axioms.role(one), X, Y)])

    def _disjoint_classes(self, rule: str, one: str, other: str) -> None:
        for left, right in product(self._left(one, X), self._left(other, X)):
            self._add(violation(rule, *_witnesses([*left, *right])), [*left, *right])

    def _disjoint_properties(self, rule: str, one: str, other: str) -> None:
        atoms = [related(self.axioms.role(name), X, Y) for name in (one, other)]
        self._add(violation(rule, atoms[0], atoms[1]), atoms)

    def _chain(self, role: PropertyExpression, chain: list[PropertyExpression]) -> None:
        places = [X, *(self._variable() for _ in chain[1:]), Y]
        self._add(related(role, X, Y), [related(r, *places[i : i + 2]) for i, r in enumerate(chain)])

    def _key(self, expression: str, roles: list[PropertyExpression]) -> None:
        for left, right in product(self._left(expression, X), self._left(expression, Y)):
            shared: Body = []
            for role in roles:
                value = self._variable()
                shared += [related(role, X, value), related(role, Y, value)]
            self._add(triple(X, SAME_AS, Y), [*left, *right, *shared, differ(X, Y)])

    def _characteristic(self, role: PropertyExpression, name: str) -> None:
        here, back = related(role, X, Y), related(role, Y, X)
        match name:
            case "SymmetricProperty":
                self._add(back, [here])
            case "TransitiveProperty":
                self._add(related(role, X, Z), [here, related(role, Y, Z)])
            case "FunctionalProperty":
                self._at_most_one(role, X, Y, Z, [], "prp-fp")
            case "InverseFunctionalProperty":
                self._at_most_one(PropertyExpression(role.name, not role.inverse), X, Y, Z, [], "prp-ifp")
            case "AsymmetricProperty":
                self._add(violation("prp-asyp", here, back), [here, back])
            case "IrreflexiveProperty":
                self._add(violation("prp-irp", related(role, X, X)), [related(role, X, X)])
            case _:
                raise Outside(f"owl:{name} is not in OWL 2 RL")

    def _at_most_one(
        self, role: PropertyExpression, x: tree.Term, y: tree.Variable, z: tree.Variable, body: Body, rule: str
    ) -> None:
        """Two values of a property are equal; two literals that are not are a violation."""
        for more, head in self._one_value(role, x, y, z, [], rule):
            self._add(head, [*body, *more])

    def _one_value(
        self, role: PropertyExpression, x: tree.Term, y: tree.Variable, z: tree.Variable, filler: Body, rule: str
    ) -> Iterator[tuple[Body, tree.Atom]]:
        atoms: Body = [related(role, x, y), related(role, x, z)]
        if self.axioms.is_data_property(role) and not role.inverse:
            yield [*atoms, *filler, tree.Comparison("!=", y, z)], violation(rule, *_witnesses(atoms))
        else:
            yield [*atoms, *filler, differ(y, z)], triple(y, SAME_AS, z)

    def _all(self, subject: str, name: str) -> None:
        lists = [*self.axioms.values(subject, owl("members")), *self.axioms.values(subject, owl("distinctMembers"))]
        for one, other in (pair for node in lists for pair in combinations(self.axioms.items(node), 2)):
            match name:
                case "AllDisjointClasses":
                    self._disjoint_classes("cax-adc", one, other)
                case "AllDisjointProperties":
                    self._disjoint_properties("prp-adp", one, other)
                case _:
                    self._add(triple(term_node(one), owl("differentFrom"), term_node(other)), ())

    def _negative(self, subject: str) -> None:
        source, role = (self.axioms.value(subject, owl(n)) for n in ("sourceIndividual", "assertionProperty"))
        for rule, target in (("prp-npa1", "targetIndividual"), ("prp-npa2", "targetValue")):
            value = self.axioms.value(subject, owl(target))
            if source and role and value:
                said = related(self.axioms.role(role), term_node(source), term_node(value))
                self._add(violation(rule, said), [said])

    def _about_equality(self) -> None:
        """eq-sym, eq-trans and eq-diff1; that equal resources have the same triples is said for all relations at once
        (`same_as.py`)."""
        same = [triple(X, SAME_AS, Y), triple(Y, SAME_AS, Z)]
        self._add(triple(Y, SAME_AS, X), same[:1])
        self._add(triple(X, SAME_AS, Z), [*same, differ(X, Z)])
        for other in (triple(X, owl("differentFrom"), Y), triple(Y, owl("differentFrom"), X)):
            self._add(violation("eq-diff1", same[0], other), [same[0], other])

    # ---- class expressions

    def _left(self, node: str, x: tree.Term, expanded: bool = False) -> list[Body]:
        """The bodies that say that x is in a class; with `expanded`, by the expression that the name stands for."""
        if is_iri(node) and not expanded:
            if node == THING:
                raise Outside("owl:Thing on the left, of which everything is a member")
            return [] if node == NOTHING else [[member(x, node)]]
        get = self.axioms.value
        if parts := get(node, owl("intersectionOf")):
            choices = [self._left(part, x) for part in self.axioms.items(parts)]
            return [[literal for body in chosen for literal in body] for chosen in product(*choices)]
        if parts := get(node, owl("unionOf")):
            return [body for part in self.axioms.items(parts) for body in self._left(part, x)]
        if parts := get(node, owl("oneOf")):
            return [[tree.Comparison("=", x, term_node(part))] for part in self.axioms.items(parts)]
        role = self._restricted(node)
        if (value := get(node, owl("hasValue"))) is not None:
            return [[related(role, x, term_node(value))]]
        filler = get(node, owl("someValuesFrom"))
        if filler is None and self.axioms.number(node, owl("minCardinality")) == 1:
            filler = THING
        if filler is None and self.axioms.number(node, owl("minQualifiedCardinality")) == 1:
            filler = get(node, owl("onClass"))
        if filler is None:
            raise Outside(f"{self._shown(node)} on the left")
        y = self._variable()
        return [[related(role, x, y), *body] for body in self._filler(filler, y)]

    def _filler(self, node: str, y: tree.Variable) -> list[Body]:
        """The bodies that say that a value is in a class or of a datatype."""
        if node in (THING, rdfs("Literal")):
            return [[]]
        if is_datatype(node):
            return [[tree.Comparison("=", tree.Functor("DATATYPE", (y,)), term_node(node))]]
        return self._left(node, y)

    def _right(self, node: str, x: tree.Term, expanded: bool = False) -> Iterator[tuple[Body, tree.Atom]]:
        """What follows for a member x of a class: heads, each with what must hold besides."""
        if is_iri(node) and not expanded:
            if node == NOTHING:
                yield [], violation("cls-nothing2", member(x, NOTHING))
            elif is_datatype(node) or self.axioms.is_a(node, rdfs("Datatype")):
                raise Outside("datatypes of values are not checked")
            elif node != THING:
                yield [], member(x, node)
            return
        get, number = self.axioms.value, self.axioms.number
        if parts := get(node, owl("intersectionOf")):
            for part in self.axioms.items(parts):
                try:
                    yield from self._right(part, x)
                except Outside as problem:
                    self._list(problem)
            return
        if (complement := get(node, owl("complementOf"))) is not None:
            for body in self._left(complement, x):
                yield body, violation("cls-com", *_witnesses(body))
            return
        if any(get(node, owl(name)) for name in ("unionOf", "oneOf")):
            raise Outside(f"{self._shown(node)} on the right")
        role = self._restricted(node)
        if value := get(node, owl("hasValue")):
            yield [], related(role, x, term_node(value))
            return
        y, z = self._variable(), self._variable()
        if filler := get(node, owl("allValuesFrom")):
            for body, head in self._right(filler, y):
                yield [related(role, x, y), *body], head
            return
        exact = [number(node, owl(name)) for name in ("cardinality", "qualifiedCardinality")]
        most = [number(node, owl(name)) for name in ("maxCardinality", "maxQualifiedCardinality")]
        limit = next((n for n in (*most, *exact) if n is not None), None)
        if limit is None or limit > 1:
            raise Outside(f"{self._shown(node)} on the right")
        qualified = get(node, owl("onClass")) or get(node, owl("onDataRange")) or THING
        if limit == 0:
            for body in self._filler(qualified, y):
                rule = "cls-maxc1" if qualified == THING else "cls-maxqc1"
                yield [related(role, x, y), *body], violation(rule, related(role, x, y))
        else:
            for one, other in product(self._filler(qualified, y), self._filler(qualified, z)):
                yield from self._one_value(role, x, y, z, [*one, *other], "cls-maxc2")
        if any(n is not None for n in exact) and limit == 1:
            self._list(f"{self._shown(node)} on the right: that there is a value at all follows from no rule")

    def _restricted(self, node: str) -> PropertyExpression:
        found = self.axioms.value(node, owl("onProperty"))
        if found is None:
            raise Outside(f"{self._shown(node)}")
        return self.axioms.role(found)

    def _shown(self, node: str) -> str:
        """The kind of an expression, as it is called."""
        for predicate, _ in ((p, t) for s, p, t in self.axioms.triples if s == node):
            name = predicate.removeprefix(f"<{OWL}").rstrip(">")
            if predicate.startswith(f"<{OWL}") and name not in ("onProperty", "onClass", "onDataRange"):
                return f"owl:{name}"
        return "a blank node that is no class expression" if is_blank(node) else node


def _witnesses(body: Body) -> tuple[tree.Atom, tree.Atom]:
    """The first and the last triple of a body, which a violation shows."""
    found = [literal for literal in body if isinstance(literal, tree.Atom)]
    if not found:
        raise Outside("what cannot be is said of individuals, and not of triples")
    return found[0], found[-1]
