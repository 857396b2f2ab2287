'''Triples by predicate: a rewrite of programs over one relation `triple(s, p, o)`, rules to rules.

A predicate that some rule names has a relation of its own, of subject and object; so has a class that some rule names
as the object of rdf:type, of its members. Two columns or one are read instead of three, no index begins with the
predicate, and rules whose predicates differ are in strata of their own. `triple` keeps the triples of all others.

>>> print(specialised("""
... [?x, :uncle, ?z] :- [?x, :parent, ?y], [?y, :brother, ?z] .
... [?x, a, :Nephew] :- [?x, :uncle, ?y] .
... """))
p_uncle(x,z) :- p_parent(x,y), p_brother(y,z).
c_Nephew(x) :- p_uncle(x,y).

An atom whose predicate is a variable is about all triples. Then `triple` has all of them: those of every relation are
derived into it, and if a head has such a variable, also the other way. In the same way an atom of rdf:type whose class
is a variable is about the members of all classes, and the relation of rdf:type has all of them.

>>> print(specialised("""
... [?x, :knows, ?y] :- [?x, ?p, ?y] .
... [?x, ?q, ?y] :- [?p, :implies, ?q], [?x, ?p, ?y] .
... """))
triple(s,"p_knows",o) :- p_knows(s,o).
p_knows(s,o) :- triple(s,"p_knows",o).
triple(s,"p_implies",o) :- p_implies(s,o).
p_implies(s,o) :- triple(s,"p_implies",o).
p_knows(x,y) :- triple(x,p,y).
triple(x,q,y) :- p_implies(p,q), triple(x,p,y).

What is always true: every triple is a fact of one relation, which its predicate and class decide (`home` of
`TripleLayout`), and the triples of all relations are those that the program derives as it is written. The pragmas of
the rewritten program say which relation is whose. (In the examples, names are shortened.)
'''

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar, cast

from tidelog.lang import tree
from tidelog.lang.rules import RDF_TYPE, TRIPLE
from tidelog.plain import dataclass, field, replace

N = TypeVar("N", bound=tree.SyntaxNode)

TYPE = f"<{RDF_TYPE}>"
WHOLE = "all triples are in"
GIVEN, APART = "given", "given triples are in"
NAMED = "named"
_PREDICATE, _CLASS = "triples of", "members of"


class Key(NamedTuple):
    """What has a relation of its own: a predicate, or the class `of` of rdf:type. Terms are their N-Triples texts."""

    predicate: str
    of: str | None = None

    @property
    def name(self) -> str:
        """The relation's name: something to read, and a hash of the whole term, since IRIs may end alike."""
        kind, term = ("p", self.predicate) if self.of is None else ("c", self.of)
        return f"{kind}_{_readable(term)}_{hashlib.blake2s(term.encode(), digest_size=5).hexdigest()}"


def _readable(term: str) -> str:
    """The end of an IRI, as a part of a name."""
    found = re.findall(r"[A-Za-z][A-Za-z0-9]*", term)
    return str(found[-1]) if found else "x"


@dataclass
class TripleLayout:
    """Which relation holds which triples. `triple` has those of all others as well if it is `whole`; that of rdf:type,
    if there is one, those of all classes. With `apart`, facts are those of one relation more, `given`, from which the
    others are derived: for whoever cannot split triples beforehand."""

    relations: dict[Key, str] = field(default_factory=dict)
    whole: bool = False
    apart: bool = False

    @classmethod
    def of(cls, program: tree.Program) -> TripleLayout:
        """The layout of a program that was rewritten."""
        layout = cls()
        for pragma in program.of(tree.Pragma):
            what, _, term = pragma.value.partition(" ")
            if pragma.key == WHOLE:
                layout.whole = True
            elif pragma.key == APART:
                layout.apart = True
            elif what == "predicate":
                layout.relations[Key(term)] = pragma.key.removeprefix(f"{_PREDICATE} ")
            elif what == "class":
                layout.relations[Key(TYPE, term)] = pragma.key.removeprefix(f"{_CLASS} ")
        return layout

    def add(self, key: Key) -> None:
        self.relations.setdefault(key, key.name)

    def home(self, predicate: str, term: str) -> Key | None:
        """What holds the triples of this predicate with this object; None for `triple` itself."""
        for key in (Key(predicate, term) if predicate == TYPE else None, Key(predicate)):
            if key is not None and key in self.relations:
                return key
        return None

    def distinct(self) -> list[tuple[Key | None, str]]:
        """Relations that hold every triple once, together; None stands for `triple`."""
        if self.whole:
            return [(None, TRIPLE)]
        typed = Key(TYPE) in self.relations
        return [*(entry for entry in self.relations.items() if entry[0].of is None or not typed), (None, TRIPLE)]

    def items(self) -> Iterator[tree.Item]:
        """The declarations: relations that may have facts, and whose triples they hold."""
        for key, name in self.relations.items():
            columns = ("s",) if key.of is not None else ("s", "o")
            yield from self._declared(name, columns, not self.apart)
            said = f"predicate {key.predicate}" if key.of is None else f"class {key.of}"
            yield tree.Pragma(f"{_PREDICATE if key.of is None else _CLASS} {name}", said)
        yield from self._declared(TRIPLE, ("s", "p", "o"), not self.apart)
        if self.whole:
            yield tree.Pragma(WHOLE, TRIPLE)
        if self.apart:
            yield from self._declared(GIVEN, ("s", "p", "o"), True)
            yield from self._declared(NAMED, ("p", "o"), False)
            yield tree.Pragma(APART, GIVEN)

    def _declared(self, name: str, columns: tuple[str, ...], has_facts: bool) -> Iterator[tree.Item]:
        yield tree.RelationDecl(name, tuple(tree.Attribute(column, "symbol") for column in columns))
        if has_facts:
            yield tree.Directive("input", name)

    def atom(self, atom: tree.Atom) -> tree.Atom:
        """An atom over `triple` as one over the relation that it is about."""
        subject, predicate, term = atom.args
        if not isinstance(predicate, tree.String):
            return atom
        key = self.home(predicate.value, term.value if isinstance(term, tree.String) else "")
        if key is None:
            return atom
        args = (subject,) if key.of is not None else (subject, term)
        return replace(atom, name=self.relations[key], args=args)


def specialise(program: tree.Program, also: Iterable[Key] = (), apart: bool = False) -> tree.Program:
    """The program with a relation for each predicate and class that its rules name, or that is in `also`."""
    layout = TripleLayout(apart=apart)
    atoms = [n for rule in program.rules for n in rule.walk() if isinstance(n, tree.Atom) and n.name == TRIPLE]
    for atom in atoms:
        if (key := _key(atom)) is not None:
            layout.add(key)
    for key in also:
        layout.add(key)
    layout.whole = any(_key(atom) is None for atom in atoms)
    heads = {_key(head) for rule in program.rules for head in rule.heads if head.name == TRIPLE}
    declared = (item for item in program.items if not isinstance(item, tree.Rule))
    rules = (_rewritten(rule, layout) for rule in program.rules)
    links = (*_links(layout, heads), *(_splitting(layout) if apart else ()))
    return tree.Program((*layout.items(), *declared, *links, *rules))


def _key(atom: tree.Atom) -> Key | None:
    _, predicate, term = atom.args
    if not isinstance(predicate, tree.String):
        return None
    return Key(TYPE, term.value) if predicate.value == TYPE and isinstance(term, tree.String) else Key(predicate.value)


def _links(layout: TripleLayout, heads: set[Key | None]) -> Iterator[tree.Rule]:
    """Between the relations that have all triples, or the members of all classes, and the others."""
    subject, term = tree.Variable("s"), tree.Variable("o")
    for key, name in layout.relations.items():
        value = term if key.of is None else tree.String(key.of)
        one = tree.Atom(name, (subject,) if key.of is not None else (subject, term))
        if key.of is not None and Key(TYPE) in layout.relations:
            several = tree.Atom(layout.relations[Key(TYPE)], (subject, value))
        elif layout.whole:
            several = tree.Atom(TRIPLE, (subject, tree.String(key.predicate), value))
        else:
            continue
        yield tree.Rule((several,), one)
        if None in heads or (key.of is not None and Key(TYPE) in heads):
            yield tree.Rule((one,), several)


def _splitting(layout: TripleLayout) -> Iterator[tree.Rule]:
    """From `given` to the relation that each triple belongs to; `named` are those that `triple` does not get."""
    s, p, o = (tree.Variable(name) for name in ("s", "p", "o"))
    nothing = tree.String("")
    for key, name in layout.relations.items():
        value = o if key.of is None else tree.String(key.of)
        head = tree.Atom(name, (s,) if key.of is not None else (s, o))
        other = tree.Negation(tree.Atom(NAMED, (tree.String(TYPE), o))) if key == Key(TYPE) else None
        body = tree.Atom(GIVEN, (s, tree.String(key.predicate), value))
        yield tree.Rule((head,), body if other is None else tree.Conjunction((body, other)))
        yield tree.Rule((tree.Atom(NAMED, (tree.String(key.predicate), tree.String(key.of or ""))),))
    everything = tree.Atom(GIVEN, (s, p, o))
    others = (tree.Negation(tree.Atom(NAMED, (p, what))) for what in (nothing, o))
    yield tree.Rule((tree.Atom(TRIPLE, (s, p, o)),), tree.Conjunction((everything, *others)))


def _rewritten(node: N, layout: TripleLayout) -> N:
    """The node with its atoms rewritten, however deep they are."""
    if isinstance(node, tree.Atom):
        return cast(N, layout.atom(node)) if node.name == TRIPLE else node
    return node.with_children(lambda child: _rewritten(child, layout))
