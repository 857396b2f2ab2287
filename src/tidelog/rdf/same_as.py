"""Equal resources have the same triples (eq-rep-s and eq-rep-o of OWL 2 RL), said once for each relation of triples.

As rules over `triple` these have a variable in the place of the predicate, and would make `triple` hold everything.
Said for each relation they need no such thing: what equals a subject or an object takes its place, the predicate stays.
The rules are there only if some resources may be equal, since they need indexes of every relation. Classes are left
alone: that two of them are the same is said by owl:equivalentClass.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.lang import tree
from tidelog.lang.rules import TRIPLE
from tidelog.plan.rewrites.specialise import TYPE, Key, TripleLayout
from tidelog.rdf.axioms import SAME_AS


def replacement_rules(layout: TripleLayout) -> Iterator[tree.Rule]:
    """The rules for a layout, which has a relation of owl:sameAs."""
    s, p, o, other = (tree.Variable(name) for name in ("s", "p", "o", "other"))
    same = layout.relations[Key(SAME_AS)]
    relations: list[tuple[str, tuple[tree.Term, ...]]] = [
        (name, (s,) if key.of is not None else (s, o))
        for key, name in layout.relations.items()
        if key not in (Key(SAME_AS), Key(TYPE))
    ]
    for name, args in (*relations, (TRIPLE, (s, p, o))):
        atom = tree.Atom(name, args)
        for place in (s, o):
            if place not in args:
                continue
            head = tree.Atom(name, tuple(other if arg == place else arg for arg in args))
            body: list[tree.Literal] = [tree.Atom(same, (place, other)), atom]
            if name == TRIPLE and place == o:
                body.append(tree.Comparison("!=", p, tree.String(TYPE)))
            yield tree.Rule((head,), tree.Conjunction(tuple(body)))
