"""Triple rules evaluated naively, over a set of triples of texts: what a graph is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

Triple = tuple[str, str, str]
Rule = tuple[list[Triple], list[Triple], list[Triple]]
"""Heads, body, and what must not hold; a term that begins with `?` is a variable."""

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def matches(patterns: Sequence[Triple], triples: set[Triple], known: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Every way to bind the variables of the patterns."""
    if not patterns:
        yield dict(known)
        return
    for triple in triples:
        bound = dict(known)
        if all(
            bound.setdefault(a, b) == b if a.startswith("?") else a == b
            for a, b in zip(patterns[0], triple, strict=True)
        ):
            yield from matches(patterns[1:], triples, bound)


def closure(rules: Sequence[Rule], given: set[Triple]) -> set[Triple]:
    """All that follows. What rules negate must not be derived by any."""
    triples = set(given)
    while True:
        found = {
            tuple(bound.get(term, term) for term in head)
            for heads, body, absent in rules
            for bound in matches(body, triples, {})
            if not any(True for _ in matches(absent, triples, bound)) or not absent
            for head in heads
        }
        if found <= triples:
            return triples
        triples |= found  # type: ignore[arg-type]


def text_of(rules: Sequence[Rule]) -> str:
    lines = []
    for heads, body, absent in rules:
        known = {term for pattern in body for term in pattern}
        own = [term for pattern in absent for term in pattern if term.startswith("?") and term not in known]
        tail = [_shown(p) for p in body]
        if absent:
            inside = ", ".join(map(_shown, absent))
            tail.append(f"NOT EXISTS {', '.join(dict.fromkeys(own))} IN ({inside})" if own else f"NOT ({inside})")
        lines.append(f"{', '.join(map(_shown, heads))} :- {', '.join(tail)} .\n")
    return "".join(lines)


def _shown(pattern: Triple) -> str:
    return f"[{', '.join(pattern)}]"


class Generator:
    """Random rules and triples over a few names; classes and predicates may stand for resources too."""

    def __init__(self, random: Random, variable_predicates: bool) -> None:
        self.random, self.variable_predicates = random, variable_predicates
        self.predicates = [f"<x:p{i}>" for i in range(4)]
        self.classes = [f"<x:C{i}>" for i in range(3)]
        self.resources = [f"<x:r{i}>" for i in range(5)] + self.predicates[:2]

    def triples(self, count: int) -> set[Triple]:
        return {self.triple() for _ in range(count)}

    def triple(self) -> Triple:
        pick = self.random.choice
        if self.random.random() < 0.3:
            return pick(self.resources), TYPE, pick([*self.classes, "<x:Other>"])
        return pick(self.resources), pick([*self.predicates, "<x:only_given>", "<x:unnamed>"]), pick(self.resources)

    def rule(self) -> Rule:
        body = [self.pattern(self.variable_predicates) for _ in range(self.random.randint(1, 3))]
        known = sorted({term for pattern in body for term in pattern if term.startswith("?")})
        head = self.pattern(self.variable_predicates and self.random.random() < 0.3)
        bound = tuple(
            term if not term.startswith("?") or term in known else self.random.choice(self.resources) for term in head
        )
        absent: list[Triple] = []
        if not self.variable_predicates and known and self.random.random() < 0.4:
            absent = [(self.random.choice(known), "<x:only_given>", self.random.choice([*known, "?free"]))]
        return [bound], body, absent  # type: ignore[list-item]

    def pattern(self, variable: bool) -> Triple:
        pick, chance = self.random.choice, self.random.random
        names = ["?x", "?y", "?z"]
        subject = pick(names) if chance() < 0.85 else pick(self.resources)
        if variable and chance() < 0.4:
            return subject, pick(["?p", "?x", "?q"]), pick(names)
        if chance() < 0.35:
            return subject, TYPE, pick(names) if variable and chance() < 0.3 else pick(self.classes)
        return subject, pick(self.predicates), pick(names) if chance() < 0.85 else pick(self.resources)
