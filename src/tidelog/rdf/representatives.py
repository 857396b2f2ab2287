"""Equal resources merged: each class of terms that are equal by owl:sameAs has one representative.

`Classes` says who stands for whom, as ids of terms. `Merging` keeps a graph's relations so. What is always true between
two calls of it: no triple of the graph names a term that another one stands for; given triples that name a term of a
class are in the relation ORIGINAL as they were given, and their images, each term replaced by its representative, are
the facts; the classes are in the relation EQUAL; and no two representatives are equal by owl:sameAs.

That is reached by rounds, each an epoch: what rules have found to be equal is united, facts that name it are replaced,
and rules go on from there, until nothing else is equal. A deletion may take away what made resources equal, and that is
not kept (once they are one, they are no longer found to be equal). So if it is about relations that owl:sameAs depends
on, every class is taken apart in the same epoch, and rounds begin anew with the triples as they were given. Cost: a
look at the facts per round, and work for the facts that name members of classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tidelog.analysis.checked import Checked
from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.lang import tree
from tidelog.lang.rules import RDF, TRIPLE
from tidelog.local import Epoch, LocalSession
from tidelog.plan.rewrites.specialise import Key
from tidelog.rdf.axioms import SAME_AS
from tidelog.rdf.placing import Placing
from tidelog.rdf.terms import OWL, RDFS, is_blank, is_iri
from tidelog.store.memory import Array
from tidelog.store.symbols import Symbols

EQUAL, ORIGINAL = "equal_resources", "given_of_equal_resources"
_VOCABULARY = (f"<{OWL}", f"<{RDFS}", f"<{RDF}")
_NONE = np.zeros((0, 3), np.int64)
Mask: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"
Told: TypeAlias = "Epoch[pa.Table] | None"


def declarations() -> Iterator[tree.Item]:
    """What the program of a graph with representatives has besides its triples."""
    for name, columns in ((EQUAL, ("term", "representative")), (ORIGINAL, ("s", "p", "o"))):
        yield tree.RelationDecl(name, tuple(tree.Attribute(column, "symbol") for column in columns))
        yield tree.Directive("input", name)


def renamed(program: tree.Program, names: dict[str, str]) -> tree.Program:
    """The program with representatives in the place of the terms that it names."""

    def change(node: tree.SyntaxNode) -> tree.SyntaxNode:
        if isinstance(node, tree.String):
            return tree.String(names.get(node.value, node.value), span=node.span)
        return node.with_children(change)

    if not names:
        return program
    return tree.Program(tuple(change(i) if isinstance(i, tree.Rule) else i for i in program.items))  # type: ignore[misc]


def reached_from(checked: Checked, relation: str) -> set[str]:
    """The relations that a relation depends on, itself among them. An error if one of them depends on what is not so,
    or on an aggregate: what is equal in one round must be equal in the next."""
    bodies: dict[str, list[tree.SyntaxNode]] = {}
    for clause in checked.clauses:
        bodies.setdefault(clause.head.name, []).extend(clause.body)
    found, waiting = {relation}, [relation]
    while waiting:
        for literal in bodies.get(waiting.pop(), []):
            nodes = list(literal.walk())
            if any(isinstance(n, tree.Aggregate) or (isinstance(n, tree.Negation) and _atoms(n)) for n in nodes):
                raise error(
                    "TL1419", "with representatives, owl:sameAs must not follow from NOT or AGGREGATE",
                    help="what is equal would depend on the order in which it is found out; use --same-as axioms",
                )  # fmt: skip
            new = {atom.name for atom in _atoms(literal)} - found
            found |= new
            waiting += new
    return found


def _atoms(node: tree.SyntaxNode) -> list[tree.Atom]:
    return [one for one in node.walk() if isinstance(one, tree.Atom)]


class Classes:
    """Terms that are equal to others, each with the representative of its class, which is its own."""

    def __init__(self, pairs: Words) -> None:
        order = np.argsort(pairs[:, 0])
        self.terms, self.representatives = (np.ascontiguousarray(pairs[order, i].astype(np.int64)) for i in (0, 1))

    def __len__(self) -> int:
        return len(self.terms)

    def pairs(self) -> Words:
        return np.stack([self.terms, self.representatives], 1)

    def one(self, ids: Array) -> Array:
        """The representative of each term, which is itself where it has no class."""
        if not len(self.terms):
            return ids
        places = np.minimum(np.searchsorted(self.terms, ids), len(self.terms) - 1)
        return np.where(self.terms[places] == ids, self.representatives[places], ids)

    def named_by(self, triples: Words) -> Mask:
        """Which triples name a term of a class."""
        return np.asarray(np.isin(triples, self.terms).any(axis=1), np.bool_)

    def united(self, pairs: Words, symbols: Symbols) -> Classes:
        """With pairs of representatives that are equal. Who stands for whom: vocabulary for other IRIs, these for blank
        nodes, then the first by text."""
        concerned = np.unique(pairs)
        texts = symbols.decode(concerned).to_pylist()
        rank = {number: _rank(text) for number, text in zip(concerned.tolist(), texts, strict=True)}
        above: dict[int, int] = {}

        def top(number: int) -> int:
            while (found := above.get(number, number)) != number:
                above[number] = above.get(found, found)
                number = found
            return number

        for one, other in pairs.tolist():
            first, second = sorted((top(one), top(other)), key=rank.__getitem__)
            above[second] = first
        reps = np.array([top(number) for number in concerned.tolist()], np.int64)
        moved = Classes(np.stack([concerned, reps], 1))
        added = moved.pairs()[~np.isin(concerned, self.terms)]
        return Classes(np.concatenate([np.stack([self.terms, moved.one(self.representatives)], 1), added]))


_NO_CLASSES = Classes(np.zeros((0, 2), np.int64))


def _rank(text: str) -> tuple[bool, bool, str]:
    return not text.startswith(_VOCABULARY), is_blank(text), text


class Merging:
    """The classes of a graph, kept by the epochs of its session."""

    def __init__(self, session: LocalSession, placing: Placing, checked: Checked) -> None:
        self._session, self._placing = session, placing
        self._same = placing.layout.relations[Key(SAME_AS)]
        self._same_id = placing.symbols.id(SAME_AS)
        self._above = reached_from(checked, self._same)
        self.classes = Classes(session.ready().facts(EQUAL)) if session.epoch else _NO_CLASSES

    # ---- epochs

    def breaks(self, deleted: Words) -> bool:
        """Whether a deletion may take away what made resources equal."""
        if not len(self.classes) or not len(deleted):
            return False
        there = np.concatenate([deleted, images(self.classes, deleted)])
        return not self._above.isdisjoint(name for name, _ in self._placing.split(there))

    def change(self, deleted: Words, inserted: Words, anew: bool = False, settle: bool = True) -> Told:
        """An epoch of given triples, and then rounds, unless they are to wait; with `anew` all classes are taken apart.
        None if there was nothing to do."""
        old, originals = self.classes, self._session.ready().facts(ORIGINAL).astype(np.int64)
        apart = len(old) > 0 and (anew or self.breaks(deleted))
        new = _NO_CLASSES if apart else old
        gone, come = (_split_by(triples, old.named_by(triples)) for triples in (deleted, inserted))
        kept = union(without(originals, gone[0]), come[0])  # given triples that name members, after this epoch
        now = images(new, kept)
        last: Told = None
        if len(deleted) or len(inserted) or apart:
            unknown = self._never_given(deleted, originals)
            removed, added = (
                [gone[1], without(images(old, originals), now)],
                [come[1], now if apart else self.proper(now)],
            )
            texts = originals, _NONE if apart else kept
            last = self._epoch(np.concatenate(removed), np.concatenate(added), texts, (old, new))
            last.ignored_deletes = {TRIPLE: unknown} if unknown else {}
        return (self.rounds() if settle else None) or last

    def rounds(self) -> Told:
        """Unite what is equal until nothing more is; the last epoch, if there was one."""
        last: Told = None
        while len(pairs := self._found()):
            old = self.classes
            new = old.united(pairs, self._placing.symbols)
            touched = new.terms[(new.representatives != old.one(new.terms)) | ~np.isin(new.terms, old.terms)]
            facts = self._facts_with(touched)
            originals = self._session.ready().facts(ORIGINAL).astype(np.int64)
            first = facts[~old.named_by(facts)]  # those were given as they are
            last = self._epoch(facts, self.proper(images(new, facts)), (originals, union(originals, first)), (old, new))
        return last

    def _epoch(
        self, removed: Words, added: Words, originals: tuple[Words, Words], classes: tuple[Classes, Classes]
    ) -> Epoch[pa.Table]:
        removals, additions = self._split(removed), self._split(added)
        pairs = classes[0].pairs(), classes[1].pairs()
        for name, (before, after) in ((ORIGINAL, originals), (EQUAL, pairs)):
            removals[name], additions[name] = without(before, after), without(after, before)
        done = self._session.update_words(_filled(removals), _filled(additions))
        self.classes = classes[1]
        return done

    def _never_given(self, triples: Words, originals: Words) -> int:
        """How many triples are not among those that were given."""
        engine = self._session.ready()
        named, plain = _split_by(triples, self.classes.named_by(triples))
        missing = len(without(named, originals))
        for name, rows in self._placing.split(plain) if len(plain) else ():
            missing += int((~engine.contains(name, rows)).sum())
        return missing

    # ---- facts

    def given(self) -> Iterator[Words]:
        """The triples that were given, as they were given."""
        for facts in self._facts():
            yield facts[~self.classes.named_by(facts)] if len(self.classes) else facts
        yield self._session.ready().facts(ORIGINAL).astype(np.int64)

    def said(self, triples: Words) -> Words:
        """Triples, and those given ones that say the same of members of the same classes."""
        originals = self._session.ready().facts(ORIGINAL).astype(np.int64)
        alike = _rows_in(images(self.classes, originals), images(self.classes, triples))
        return union(triples, originals[alike])

    def _facts(self) -> Iterator[Words]:
        engine = self._session.ready()
        for key, name in (*self._placing.layout.relations.items(), (None, TRIPLE)):
            yield self._placing.triples(key, engine.facts(name))

    def _facts_with(self, terms: Array) -> Words:
        return np.concatenate([facts[np.isin(facts, terms).any(axis=1)] for facts in self._facts()])

    def _found(self) -> Words:
        """Pairs of representatives that are equal and not yet one. Literals stay what they are, and so do the words of
        RDF and OWL."""
        rows = self._session.ready().rows(self._same).astype(np.int64)
        pairs = distinct(self.classes.one(rows[rows[:, 0] != rows[:, 1]]))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        ids = np.unique(pairs)
        texts = self._placing.symbols.decode(ids).to_pylist()
        resources = ids[np.array([is_iri(text) or is_blank(text) for text in texts], np.bool_)]
        fixed = ids[np.array([text.startswith(_VOCABULARY) for text in texts], np.bool_)]
        return pairs[np.isin(pairs, resources).all(axis=1) & ~np.isin(pairs, fixed).all(axis=1)]

    def proper(self, triples: Words) -> Words:
        """Without what says that a resource equals itself."""
        return triples[(triples[:, 1] != self._same_id) | (triples[:, 0] != triples[:, 2])]

    def one(self, number: int) -> int:
        """The representative of a term."""
        return int(self.classes.one(np.array([number], np.int64))[0])

    def names(self, constants: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Of terms that rules name, those that others stand for, and these."""
        known = {text: self._placing.symbols.find(text) for text in constants}
        found = ((text, self._placing.symbols.text(self.one(i))) for text, i in known.items() if i is not None)
        return tuple(sorted((text, other) for text, other in found if other != text))

    def equalities(self) -> Words:
        """The classes as triples: each member is the same as its representative."""
        pairs = self.classes.pairs()
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return np.stack([pairs[:, 0], np.full(len(pairs), self._same_id, np.int64), pairs[:, 1]], 1)

    def _split(self, triples: Words) -> dict[str, Words]:
        return dict(self._placing.split(triples)) if len(triples) else {}


def images(classes: Classes, triples: Words) -> Words:
    """The triples with representatives in the place of members."""
    return distinct(classes.one(triples))


def _filled(changes: dict[str, Words]) -> dict[str, Words]:
    return {name: rows for name, rows in changes.items() if len(rows)}


def _split_by(triples: Words, mask: Mask) -> tuple[Words, Words]:
    return triples[mask], triples[~mask]


def distinct(rows: Words) -> Words:
    """The rows, each once."""
    return rows[np.unique(_codes(rows), return_index=True)[1]] if len(rows) else rows


def _rows_in(rows: Words, others: Words) -> Mask:
    """Which rows are among others."""
    if not len(rows) or not len(others):
        return np.zeros(len(rows), np.bool_)
    codes = _codes(np.concatenate([rows, others]))
    return np.asarray(np.isin(codes[: len(rows)], codes[len(rows) :]), np.bool_)


def _codes(rows: Words) -> Array:
    """A number for each row, equal for equal rows: its columns side by side, as numbers of their values if ids are too
    large for that."""
    columns = [rows[:, i] for i in range(rows.shape[1])]
    sizes = [int(column.max()) + 1 for column in columns]
    if math.prod(sizes) >= 1 << 63:
        columns = [np.unique(column, return_inverse=True)[1] for column in columns]
        sizes = [int(column.max()) + 1 for column in columns]
    if math.prod(sizes) >= 1 << 63:
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    codes = np.zeros(len(rows), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        codes = codes * size + column
    return codes


def without(rows: Words, others: Words) -> Words:
    return rows[~_rows_in(rows, others)]


def union(rows: Words, others: Words) -> Words:
    return np.concatenate([rows, without(others, rows)])


def is_merging(same_as: str, ruleset: str | None) -> bool:
    """Whether equal resources are merged, by the name of a way to treat them."""
    if same_as not in ("axioms", "representatives"):
        raise error("TL1419", f"there is no way `{same_as}` to treat equal resources",
                    help="there are axioms and representatives")  # fmt: skip
    if same_as == "representatives" and ruleset is not None:
        raise error("TL1419", f"the rule table `{ruleset}` has rules of its own about equal resources",
                    help="representatives go with an ontology or with rules")  # fmt: skip
    return same_as == "representatives"


def constants(rules: Iterable[tree.Rule]) -> set[str]:
    """The terms that rules name."""
    return {node.value for rule in rules for node in rule.walk() if isinstance(node, tree.String)}
