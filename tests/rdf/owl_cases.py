"""A case for each rule of OWL 2 RL/RDF: an ontology, data, and what the rule derives from them.

`derived` is Turtle: what follows, or a triple that is a violation. Cases in GENERIC are about the ontology itself or
need it as data; the others hold for ontologies that have become rules as well.
"""

from __future__ import annotations

from typing import NamedTuple

PREFIXES = """
@prefix : <x:> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


class Case(NamedTuple):
    ontology: str
    data: str
    derived: str
    violation: bool = False


DERIVED = {
    # table 4
    "eq-sym": Case("", ":a owl:sameAs :b .", ":b owl:sameAs :a ."),
    "eq-trans": Case("", ":a owl:sameAs :b . :b owl:sameAs :c .", ":a owl:sameAs :c ."),
    "eq-rep-s": Case(":p a owl:ObjectProperty .", ":a owl:sameAs :b ; :p :c .", ":b :p :c ."),
    "eq-rep-o": Case(":p a owl:ObjectProperty .", ":a owl:sameAs :b . :c :p :a .", ":c :p :b ."),
    "eq-diff1": Case("", ":a owl:sameAs :b ; owl:differentFrom :b .", ":a owl:sameAs :b", True),
    "eq-diff2": Case("[] a owl:AllDifferent ; owl:members (:a :b) .", ":a owl:sameAs :b .", ":a owl:sameAs :b", True),
    "eq-diff3": Case(
        "[] a owl:AllDifferent ; owl:distinctMembers (:a :b) .", ":a owl:sameAs :b .", ":a owl:sameAs :b", True
    ),
    # table 5
    "prp-dom": Case(":p rdfs:domain :C .", ":a :p :b .", ":a a :C ."),
    "prp-rng": Case(":p rdfs:range :C .", ":a :p :b .", ":b a :C ."),
    "prp-fp": Case(":p a owl:FunctionalProperty .", ":a :p :b, :c .", ":b owl:sameAs :c ."),
    "prp-ifp": Case(":p a owl:InverseFunctionalProperty .", ":a :p :c . :b :p :c .", ":a owl:sameAs :b ."),
    "prp-irp": Case(":p a owl:IrreflexiveProperty .", ":a :p :a .", ":a :p :a", True),
    "prp-symp": Case(":p a owl:SymmetricProperty .", ":a :p :b .", ":b :p :a ."),
    "prp-asyp": Case(":p a owl:AsymmetricProperty .", ":a :p :b . :b :p :a .", ":a :p :b", True),
    "prp-trp": Case(":p a owl:TransitiveProperty .", ":a :p :b . :b :p :c .", ":a :p :c ."),
    "prp-spo1": Case(":p rdfs:subPropertyOf :q .", ":a :p :b .", ":a :q :b ."),
    "prp-spo2": Case(":q owl:propertyChainAxiom (:p :r :p) .", ":a :p :b . :b :r :c . :c :p :d .", ":a :q :d ."),
    "prp-eqp1": Case(":p owl:equivalentProperty :q .", ":a :p :b .", ":a :q :b ."),
    "prp-eqp2": Case(":p owl:equivalentProperty :q .", ":a :q :b .", ":a :p :b ."),
    "prp-pdw": Case(":p owl:propertyDisjointWith :q .", ":a :p :b ; :q :b .", ":a :p :b", True),
    "prp-adp": Case(
        "[] a owl:AllDisjointProperties ; owl:members (:r :p :q) .", ":a :p :b ; :q :b .", ":a :p :b", True
    ),
    "prp-inv1": Case(":p owl:inverseOf :q .", ":a :p :b .", ":b :q :a ."),
    "prp-inv2": Case(":p owl:inverseOf :q .", ":a :q :b .", ":b :p :a ."),
    "prp-key": Case(
        ":C owl:hasKey (:p :q) .", ":a a :C ; :p :x ; :q 1 . :b a :C ; :p :x ; :q 1 .", ":a owl:sameAs :b ."
    ),
    "prp-npa1": Case(
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a ; owl:assertionProperty :p ; "
        "owl:targetIndividual :b .",
        ":a :p :b .", ":a :p :b", True,
    ),
    "prp-npa2": Case(
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a ; owl:assertionProperty :p ; "
        'owl:targetValue "v" .',
        ':a :p "v" .', ':a :p "v"', True,
    ),
    # table 6
    "cls-nothing2": Case(":C rdfs:subClassOf owl:Nothing .", ":a a :C .", ":a a owl:Nothing", True),
    "cls-int1": Case(":C owl:equivalentClass [ owl:intersectionOf (:D :E) ] .", ":a a :D, :E .", ":a a :C ."),
    "cls-int2": Case(":C owl:intersectionOf (:D :E) .", ":a a :C .", ":a a :D, :E ."),
    "cls-uni": Case(":C owl:unionOf (:D :E) .", ":a a :E .", ":a a :C ."),
    "cls-com": Case(":C owl:complementOf :D .", ":a a :C, :D .", ":a a :D", True),
    "cls-svf1": Case(
        "[ owl:onProperty :p ; owl:someValuesFrom :D ] rdfs:subClassOf :C .", ":a :p :b . :b a :D .", ":a a :C ."
    ),
    "cls-svf2": Case(
        "[ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :C .", ":a :p :b .", ":a a :C ."
    ),
    "cls-avf": Case(
        ":C rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :D ] .", ":a a :C ; :p :b .", ":b a :D ."
    ),
    "cls-hv1": Case(":C rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :v ] .", ":a a :C .", ":a :p :v ."),
    "cls-hv2": Case("[ owl:onProperty :p ; owl:hasValue :v ] rdfs:subClassOf :C .", ":a :p :v .", ":a a :C ."),
    "cls-maxc1": Case(
        ":C rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 0 ] .", ":a a :C ; :p :b .", ":a :p :b", True
    ),
    "cls-maxc2": Case(
        ':C rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality "1"^^xsd:nonNegativeInteger ] .',
        ":a a :C ; :p :b, :c .", ":b owl:sameAs :c .",
    ),
    "cls-maxqc1": Case(
        ":C rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 0 ; owl:onClass :D ] .",
        ":a a :C ; :p :b . :b a :D .", ":a :p :b", True,
    ),
    "cls-maxqc2": Case(
        ":C rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 0 ; owl:onClass owl:Thing ] .",
        ":a a :C ; :p :b .", ":a :p :b", True,
    ),
    "cls-maxqc3": Case(
        ":C rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 1 ; owl:onClass :D ] .",
        ":a a :C ; :p :b, :c . :b a :D . :c a :D .", ":b owl:sameAs :c .",
    ),
    "cls-maxqc4": Case(
        ":C rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 1 ; owl:onClass owl:Thing ] .",
        ":a a :C ; :p :b, :c .", ":b owl:sameAs :c .",
    ),
    "cls-oo": Case(":C owl:oneOf (:a :b) .", "", ":b a :C ."),
    # table 7
    "cax-sco": Case(":C rdfs:subClassOf :D .", ":a a :C .", ":a a :D ."),
    "cax-eqc1": Case(":C owl:equivalentClass :D .", ":a a :C .", ":a a :D ."),
    "cax-eqc2": Case(":C owl:equivalentClass :D .", ":a a :D .", ":a a :C ."),
    "cax-dw": Case(":C owl:disjointWith :D .", ":a a :C, :D .", ":a a :C", True),
    "cax-adc": Case("[] a owl:AllDisjointClasses ; owl:members (:E :C :D) .", ":a a :C, :D .", ":a a :C", True),
}  # fmt: skip

GENERIC = {
    "eq-rep-p": Case(":p owl:sameAs :q .", ":a :p :b .", ":a :q :b ."),
    "prp-ap": Case("", "", "rdfs:label a owl:AnnotationProperty . owl:incompatibleWith a owl:AnnotationProperty ."),
    "cls-thing": Case("", "", "owl:Thing a owl:Class ."),
    "cls-nothing1": Case("", "", "owl:Nothing a owl:Class ."),
    "dt-type1": Case("", "", "xsd:integer a rdfs:Datatype . xsd:dateTimeStamp a rdfs:Datatype ."),
    "scm-cls": Case(
        ":C a owl:Class .", "",
        ":C rdfs:subClassOf :C, owl:Thing ; owl:equivalentClass :C . owl:Nothing rdfs:subClassOf :C .",
    ),
    "scm-sco": Case(":C rdfs:subClassOf :D . :D rdfs:subClassOf :E .", "", ":C rdfs:subClassOf :E ."),
    "scm-eqc1": Case(":C owl:equivalentClass :D .", "", ":C rdfs:subClassOf :D . :D rdfs:subClassOf :C ."),
    "scm-eqc2": Case(":C rdfs:subClassOf :D . :D rdfs:subClassOf :C .", "", ":C owl:equivalentClass :D ."),
    "scm-op": Case(":p a owl:ObjectProperty .", "", ":p rdfs:subPropertyOf :p ; owl:equivalentProperty :p ."),
    "scm-dp": Case(":p a owl:DatatypeProperty .", "", ":p rdfs:subPropertyOf :p ; owl:equivalentProperty :p ."),
    "scm-spo": Case(":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r .", "", ":p rdfs:subPropertyOf :r ."),
    "scm-eqp1": Case(":p owl:equivalentProperty :q .", "", ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p ."),
    "scm-eqp2": Case(":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p .", "", ":p owl:equivalentProperty :q ."),
    "scm-dom1": Case(":p rdfs:domain :C . :C rdfs:subClassOf :D .", "", ":p rdfs:domain :D ."),
    "scm-dom2": Case(":q rdfs:domain :C . :p rdfs:subPropertyOf :q .", "", ":p rdfs:domain :C ."),
    "scm-rng1": Case(":p rdfs:range :C . :C rdfs:subClassOf :D .", "", ":p rdfs:range :D ."),
    "scm-rng2": Case(":q rdfs:range :C . :p rdfs:subPropertyOf :q .", "", ":p rdfs:range :C ."),
    "scm-hv": Case(
        ":R owl:hasValue :v ; owl:onProperty :p . :S owl:hasValue :v ; owl:onProperty :q . :p rdfs:subPropertyOf :q .",
        "", ":R rdfs:subClassOf :S .",
    ),
    "scm-svf1": Case(
        ":R owl:someValuesFrom :C ; owl:onProperty :p . :S owl:someValuesFrom :D ; owl:onProperty :p . "
        ":C rdfs:subClassOf :D .",
        "", ":R rdfs:subClassOf :S .",
    ),
    "scm-svf2": Case(
        ":R owl:someValuesFrom :C ; owl:onProperty :p . :S owl:someValuesFrom :C ; owl:onProperty :q . "
        ":p rdfs:subPropertyOf :q .",
        "", ":R rdfs:subClassOf :S .",
    ),
    "scm-avf1": Case(
        ":R owl:allValuesFrom :C ; owl:onProperty :p . :S owl:allValuesFrom :D ; owl:onProperty :p . "
        ":C rdfs:subClassOf :D .",
        "", ":R rdfs:subClassOf :S .",
    ),
    "scm-avf2": Case(
        ":R owl:allValuesFrom :C ; owl:onProperty :p . :S owl:allValuesFrom :C ; owl:onProperty :q . "
        ":p rdfs:subPropertyOf :q .",
        "", ":S rdfs:subClassOf :R .",
    ),
    "scm-int": Case(":C owl:intersectionOf (:D :E) .", "", ":C rdfs:subClassOf :D, :E ."),
    "scm-uni": Case(":C owl:unionOf (:D :E) .", "", ":D rdfs:subClassOf :C . :E rdfs:subClassOf :C ."),
}  # fmt: skip

TERMS = {
    "eq-ref": ([("<x:a>", "<x:p>", "<x:b>")], ("<x:p>", "<http://www.w3.org/2002/07/owl#sameAs>", "<x:p>")),
    "dt-type2": (
        [("<x:a>", "<x:p>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')],
        ('"1"^^<http://www.w3.org/2001/XMLSchema#integer>', "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
         "<http://www.w3.org/2001/XMLSchema#integer>"),
    ),
    "dt-eq": (
        [("<x:a>", "<x:p>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
         ("<x:a>", "<x:p>", '"01"^^<http://www.w3.org/2001/XMLSchema#integer>')],
        ('"1"^^<http://www.w3.org/2001/XMLSchema#integer>', "<http://www.w3.org/2002/07/owl#sameAs>",
         '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ),
    "dt-diff": (
        [("<x:a>", "<x:p>", '"a"'), ("<x:a>", "<x:p>", '"b"')],
        ('"a"', "<http://www.w3.org/2002/07/owl#differentFrom>", '"b"'),
    ),
}  # fmt: skip
