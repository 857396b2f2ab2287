"""The program of a graph: rules, an ontology and a rule table, made into what a session evaluates.

The evaluated program says in its pragmas which relation holds which triples, and what it was made from (the rules as
they were written, the triples of the ontology), so that whoever opens a state directory knows all of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.analysis.suggest import did_you_mean
from tidelog.errors import Diagnostic, Report, TidelogError, error
from tidelog.lang import rules, tree
from tidelog.lang.load import load_program
from tidelog.lang.rules import TRIPLE
from tidelog.lang.rules_printer import print_program
from tidelog.plain import dataclass, field, replace
from tidelog.plan.rewrites.specialise import Key, TripleLayout, specialise
from tidelog.rdf.axioms import SAME_AS, VIOLATION, Triple, with_stable_labels
from tidelog.rdf.files import format_of, opened
from tidelog.rdf.functions import functors_of
from tidelog.rdf.grammar import Malformed, parse
from tidelog.rdf.load import files_of
from tidelog.rdf.ontology import Ontology
from tidelog.rdf.representatives import constants, declarations, renamed
from tidelog.rdf.rules import ordinary_program, relation_name
from tidelog.rdf.same_as import replacement_rules
from tidelog.rdf.terms import constant

RULESETS = {
    "rdfs": ("rdfs.rules",),
    "owl2rl": ("owl2rl.rules",),
    "owl2rl-terms": ("owl2rl.rules", "owl2rl_terms.rules"),
}
"""The rule tables that read an ontology as data, by their names."""
VIOLATIONS = relation_name(VIOLATION)
_RULES, _ONTOLOGY, _RULESET, _SAME_AS = "triple rules", "ontology", "ruleset", "equal resources"
_MERGED = "representatives of"
_NO_RULES = tree.Program((), "rules")


@dataclass(frozen=True)
class GraphProgram:
    """What a graph's triples follow from. `also` has relations of its own besides those that rules name."""

    rules: tree.Program = _NO_RULES
    axioms: tuple[Triple, ...] = ()
    ruleset: str | None = None
    also: tuple[Key, ...] = ()
    same_as: bool = False  # whether equal resources share their triples, by rules: only where some may be equal
    merged: bool = False  # whether equal resources are one (`representatives.py`)
    renamed: tuple[tuple[str, str], ...] = ()  # terms that rules name, and their representatives
    apart: bool = False  # see `TripleLayout`
    stored: Checked | None = field(default=None, compare=False)  # as a state directory has it

    @cached_property
    def ontology(self) -> Ontology | None:
        return Ontology(self.axioms, self.merged) if self.axioms else None

    @cached_property
    def checked(self) -> Checked:
        if self.stored is not None:
            return self.stored
        items, also = self._items(), (*self.also, Key(SAME_AS)) if self.merged else self.also
        ordinary = renamed(ordinary_program(tree.Program(items, "rules")), dict(self.renamed))
        program = specialise(ordinary, also, self.apart)
        layout = TripleLayout.of(program)
        equalities = tuple(replacement_rules(layout)) if self.same_as and not layout.whole else ()
        if self.same_as and layout.whole and self.ruleset is None:
            program = specialise(ordinary_program(tree.Program((*items, *_EQUAL), "rules")), self.also, self.apart)
        try:
            others = declarations() if self.merged else ()
            checked = check(tree.Program((*program.items, *equalities, *others, *self._said())))
        except TidelogError as problem:
            raise TidelogError([_shown(d, layout) for d in problem.diagnostics]) from None
        return replace(checked, warnings=())  # a variable that occurs once is nothing odd in a triple

    def _items(self) -> tuple[tree.Item, ...]:
        return (*self.rules.items, *_table(self.ruleset), *(self.ontology.rules if self.ontology else ()))

    @cached_property
    def constants(self) -> set[str]:
        """The terms that rules name, as they were written."""
        return constants(ordinary_program(tree.Program(self._items(), "rules")).rules)

    def _said(self) -> Iterable[tree.Pragma]:
        if self.rules.items:
            yield tree.Pragma(_RULES, print_program(self.rules))
        if self.axioms:
            yield tree.Pragma(_ONTOLOGY, "".join(f"{' '.join(axiom)} .\n" for axiom in self.axioms))
        if self.ruleset is not None:
            yield tree.Pragma(_RULESET, self.ruleset)
        if self.same_as:
            yield tree.Pragma(_SAME_AS, "share their triples")
        if self.merged:
            yield tree.Pragma(_MERGED, "".join(f"{one} {other}\n" for one, other in self.renamed))

    @cached_property
    def layout(self) -> TripleLayout:
        return TripleLayout.of(self.checked.program)

    @cached_property
    def functors(self) -> dict[str, Callable[..., Any]]:
        return functors_of(self.checked.program)

    @property
    def has_violations(self) -> bool:
        return VIOLATIONS in self.checked.relations

    @classmethod
    def of(cls, checked: Checked) -> GraphProgram:
        """The program that a state directory has."""
        said = {pragma.key: pragma.value for pragma in checked.program.of(tree.Pragma)}
        parsed = rules.parse(said[_RULES], "<state>") if _RULES in said else _NO_RULES
        axioms = tuple(_triples(parse(said.get(_ONTOLOGY, "").encode(), "nt"), "<state>"))
        layout = TripleLayout.of(checked.program)
        also = tuple(layout.relations)
        names = tuple((one, other) for one, _, other in (n.partition(" ") for n in said.get(_MERGED, "").splitlines()))
        return cls(
            parsed, axioms, said.get(_RULESET), also, _SAME_AS in said, _MERGED in said, names, layout.apart, checked
        )

    def with_equality(self, given: bool = False) -> GraphProgram:
        """The program, with the rules about equal resources if there is an ontology and some may be equal: because
        owl:sameAs is among the given triples, or something derives it."""
        heads = (head.args[1] for rule in self.rules.rules for head in rule.heads if head.name == TRIPLE)
        derived = any(isinstance(p, tree.Variable) or constant(p) == SAME_AS for p in heads)
        if self.merged or self.ontology is None or self.same_as or not (given or derived or self.ontology.equates):
            return self
        return replace(self, same_as=True, also=self.also, stored=None)

    @property
    def equality(self) -> str | None:
        """The relation of owl:sameAs, if facts of it need rules that the program does not have."""
        return None if self.ontology is None or self.same_as or self.merged else self.layout.relations.get(Key(SAME_AS))

    def changed(self, rules: tree.Program | None, gone: Iterable[Triple], come: Iterable[Triple]) -> GraphProgram:
        """The program with other rules, if there are any, without some axioms, and with others."""
        removed = set(gone)
        axioms = dict.fromkeys((*(a for a in self.axioms if a not in removed), *come))
        also = tuple(self.layout.relations)
        changed = replace(self, rules=rules or self.rules, axioms=tuple(axioms), also=also, renamed=(), stored=None)
        return replace(changed, same_as=self.same_as and bool(axioms)).with_equality()


def parsed_rules(given: str | os.PathLike[str] | tree.Program | Iterable[object] | None) -> tree.Program:
    """Rules however they are given: a file's name, a text, a program, or several of these."""
    match given:
        case None:
            return _NO_RULES
        case tree.Program():
            return given
        case str() if "\n" in given or ":-" in given:
            return rules.parse(given)
        case str() | os.PathLike():
            report = Report()
            program = load_program(Path(given), report)
            report.check()
            return program
    parts = [parsed_rules(one) for one in given]  # type: ignore[arg-type]
    return tree.Program(tuple(item for part in parts for item in part.items), "rules")


def read_axioms(given: str | os.PathLike[str] | Iterable[Any] | None) -> tuple[Triple, ...]:
    """The triples of ontologies, in files of any format; blank nodes are named by what is said of them."""
    if given is None:
        return ()
    found: list[Triple] = []
    for source in [given] if isinstance(given, (str, os.PathLike)) else given:
        for path in files_of(source):
            with opened(path) as stream:
                parsed = parse(stream, format_of(path), base=path.resolve().as_uri())
                found += with_stable_labels(_triples(parsed, str(path)))
    return tuple(dict.fromkeys(found))


def _triples(parsed: Iterable[Any], shown: str) -> Iterable[Triple]:
    for one in parsed:
        if isinstance(one, Malformed):
            raise error("TL1402", f"{shown}, line {one.line}: {one.message}")
        yield one[:3]


def check_ruleset(name: str | None) -> None:
    if name is not None and name not in RULESETS:
        raise error("TL1414", f"there is no ruleset `{name}`",
                    help=did_you_mean(name, RULESETS) or f"there are {', '.join(RULESETS)}")  # fmt: skip


def _table(ruleset: str | None) -> Iterable[tree.Item]:
    for name in RULESETS[ruleset] if ruleset is not None else ():
        text = (resources.files("tidelog.rdf") / "tables" / name).read_text(encoding="utf-8")
        yield from rules.parse(text, name).rules


_EQUAL = rules.parse(
    "[?z, ?p, ?o] :- [?s, owl:sameAs, ?z], [?s, ?p, ?o] .\n[?s, ?p, ?z] :- [?o, owl:sameAs, ?z], [?s, ?p, ?o] .\n"
).rules
"""The same as `same_as.py`, where `triple` holds everything."""


def _shown(diagnostic: Diagnostic, layout: TripleLayout) -> Diagnostic:
    """A message with the terms that its relations stand for."""
    message = diagnostic.message
    for key, name in layout.relations.items():
        message = message.replace(name, key.of or key.predicate)
    return replace(diagnostic, message=message)
