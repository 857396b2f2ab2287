"""A conjunction of triple patterns over a materialised store: a compiled plan, and the answers as ids of terms.

A pattern is three texts: `?name` is a variable, anything else a term in canonical N-Triples. A pattern with a constant
predicate is about one relation; one with a variable in its place is about all of them, each with a plan of its own, and
two such patterns are about one relation of all triples, which is made when it is first needed and kept for the epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.lang import tree
from tidelog.lang.rules import TRIPLE
from tidelog.plan.rewrites.specialise import TYPE, Key, TripleLayout

EVERYTHING = "(triples)"
"""The relation of all triples of a store whose triples lie in several."""
Pattern = tuple[str, str, str]


class Matches(NamedTuple):
    """The distinct answers: a column for each name, of ids of terms. Without names, one row if the patterns hold."""

    names: tuple[str, ...]
    rows: Words


def variables(patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """The variables of patterns, without their marks, in their order."""
    return tuple(dict.fromkeys(term[1:] for pattern in patterns for term in pattern if term.startswith("?")))


def _is_spread(pattern: Pattern, layout: TripleLayout) -> bool:
    """Whether the triples that a pattern can match lie in several relations."""
    _, predicate, term = pattern
    if predicate.startswith("?"):
        return not layout.whole
    return predicate == TYPE and term.startswith("?") and not layout.whole and Key(TYPE) not in layout.relations


def is_about_several(patterns: Sequence[Pattern], layout: TripleLayout) -> bool:
    """Whether a body over EVERYTHING is needed."""
    return sum(_is_spread(pattern, layout) for pattern in patterns) > 1


def body_of(patterns: Sequence[Pattern], layout: TripleLayout, filled: Sequence[Key]) -> tree.Literal:
    """The patterns as a body over the relations of a layout, of which those in `filled` have triples."""
    for pattern in patterns:
        if len(pattern) != 3 or not all(isinstance(term, str) and term for term in pattern):
            raise error("TL1413", f"{pattern!r} is no triple pattern", help="give three texts: terms, or ?variables")
    several = is_about_several(patterns, layout)
    names = {name: f"v{number}" for number, name in enumerate(variables(patterns))}
    parts = [_literal(pattern, names, layout, filled, several) for pattern in patterns]
    return parts[0] if len(parts) == 1 else tree.Conjunction(tuple(parts))


def _literal(
    pattern: Pattern, names: dict[str, str], layout: TripleLayout, filled: Sequence[Key], several: bool
) -> tree.Literal:
    args = tuple(_term(term, names) for term in pattern)
    atom = tree.Atom(TRIPLE, args)
    if not _is_spread(pattern, layout):
        return layout.atom(atom)
    if several:
        return tree.Atom(EVERYTHING, args)
    choices = [_choice(key, args, layout) for key in filled if _may_match(pattern, key)]
    return tree.Disjunction((*choices, atom)) if choices else atom


def _term(term: str, names: dict[str, str]) -> tree.Term:
    return tree.Variable(names[term[1:]]) if term.startswith("?") else tree.String(term)


def _may_match(pattern: Pattern, key: Key) -> bool:
    return all(value in (None, term) or term.startswith("?") for term, value in zip(pattern[1:], key, strict=True))


def _choice(key: Key, args: tuple[tree.Term, ...], layout: TripleLayout) -> tree.Literal:
    """The triples of one relation that a pattern matches."""
    subject, *rest = args
    atom = tree.Atom(layout.relations[key], (subject,) if key.of is not None else (subject, rest[1]))
    given = [(side, value) for side, value in zip(rest, key, strict=True) if isinstance(side, tree.Variable) and value]
    return tree.Conjunction((atom, *(tree.Comparison("=", side, tree.String(value)) for side, value in given)))
