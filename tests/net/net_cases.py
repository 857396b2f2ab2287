"""Random programs, facts, bursts and schedules, and what to do with a case that fails: shrink it and print it.

`random_case` draws any program over a few constants. `random_network` draws programs that can be localised, on random
topologies (ring, grid, line, random, Barabási–Albert; links both ways or one way) where links fail and return.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random

from tidelog.lang import tree
from tidelog.lang.ndlog_printer import print_program
from tidelog.net import Fact, Update
from tidelog.net.runtime.topologies import topology

V = [tree.Variable(n) for n in "XYZ"]
SCHEDULES = ("fifo", "lifo", "random", "deletions-first", "insertions-first", "starve", "delays")


@dataclass(frozen=True)
class Case:
    seed: int
    rules: tuple[tree.Rule, ...]
    facts: tuple[Fact, ...]
    bursts: tuple[tuple[Update, ...], ...]
    schedule: str
    picking: int | None
    cancel: bool

    @property
    def program(self) -> tree.Program:
        return tree.Program(self.rules, "ndlog")

    def __str__(self) -> str:
        lines = [print_program(self.program), "facts: " + ", ".join(map(str, self.facts))]
        lines += ["burst: " + ", ".join(map(str, b)) for b in self.bursts]
        return "\n".join([*lines, f"seed {self.seed}, {self.schedule}, picking {self.picking}, cancel {self.cancel}"])


def final_base(case: Case) -> Counter[Fact]:
    """The base facts, with multiplicities, after all bursts."""
    base = Counter(case.facts)
    for burst in case.bursts:
        for update in burst:
            base[update.fact] += update.sign
    return +base


BASE = {"e": 2, "f": 1, "g": 2}


def random_case(
    seed: int,
    recursive: bool,
    negation: bool = True,
    aggregates: bool = True,
    constants: int = 3,
    rng: Random | None = None,
) -> Case:
    """The case of a seed; or, with `rng`, one drawn from it."""
    rng = rng or Random(seed)
    rules = tuple(_Rules(rng, recursive, negation, aggregates, constants).all())
    facts = [_fact(rng, constants) for _ in range(rng.randint(0, 5))]
    return _case(rng, seed, rules, list(dict.fromkeys(facts)) if recursive else facts, constants)


def random_network(seed: int, recursive: bool, negation: bool = True, aggregates: bool = True) -> Case:
    """The case of a seed on a network of three to eight nodes; three or four if it needs annotations."""
    rng = Random(seed)
    nodes, links = _links(rng, 4 if recursive else 8)
    rules = tuple(_Rules(rng, recursive, negation, aggregates, nodes, linked=True).all())
    others = [_fact(rng, nodes) for _ in range(rng.randint(0, 4))]
    facts = [*links, *others]
    return _case(rng, seed, rules, list(dict.fromkeys(facts)) if recursive else facts, nodes)


def _links(rng: Random, most: int) -> tuple[int, list[Fact]]:
    """The number of nodes and the links `e` of a topology."""
    nodes = rng.randint(3, most)
    shape = rng.choice((f"ring:{nodes}", f"grid:{nodes}x1", "grid:2x2", f"random:{nodes}:0.4", f"ba:{nodes}:1"))
    made = topology(shape, rng.randrange(1000))
    one_way = rng.random() < 0.4
    number = {name: i for i, name in enumerate(made.nodes)}
    links = [(number[a], number[b]) for a, b, _ in (made.links if one_way else made.both_ways())]
    return len(made.nodes), [Fact("e", link) for link in links]


def _case(rng: Random, seed: int, rules: tuple[tree.Rule, ...], facts: list[Fact], constants: int) -> Case:
    base = Counter(facts)
    bursts = tuple(tuple(_burst(rng, base, constants)) for _ in range(rng.randint(1, 2)))
    schedule, picking = rng.choice(SCHEDULES), rng.choice((1, 1, 1, 2, None))
    return Case(seed, rules, tuple(facts), bursts, schedule, picking, rng.random() < 0.3)


def _fact(rng: Random, constants: int) -> Fact:
    name = rng.choice(list(BASE))
    return Fact(name, tuple(rng.randrange(constants) for _ in range(BASE[name])))


def _burst(rng: Random, base: Counter[Fact], constants: int) -> Iterator[Update]:
    """Insertions and deletions in any order; all in all no more is deleted than exists."""
    updates = []
    for _ in range(rng.randint(1, 5)):
        present = [f for f, n in base.items() if n > 0]
        if present and rng.random() < 0.55:
            fact, sign = rng.choice(present), -1
        else:
            fact, sign = _fact(rng, constants), 1
        base[fact] += sign
        updates.append(Update(sign, fact))
    rng.shuffle(updates)
    return iter(updates)


class _Rules:
    """Draws the rules of a program. With `linked`, each atom is at a node that an atom before it names."""

    def __init__(
        self, rng: Random, recursive: bool, negation: bool, aggregates: bool, constants: int, linked: bool = False
    ) -> None:
        self.rng, self.constants, self.linked = rng, constants, linked
        self.recursive, self.negation, self.aggregates = recursive, negation, aggregates
        self.arity = dict(BASE)
        self.level = dict.fromkeys(BASE, 0)

    def all(self) -> Iterator[tree.Rule]:
        rng = self.rng
        if self.linked and rng.random() < 0.3:
            yield from self._hops()
        names = [f"d{i}" for i in range(rng.randint(1, 4))]
        for i, name in enumerate(names):
            self.arity[name], self.level[name] = rng.randint(1, 2), i // 2 + 1 if self.recursive else i + 1
        aggregated = {n for n in names if self.aggregates and rng.random() < 0.2}
        self.arity.update(dict.fromkeys(aggregated, 2))
        for name in names:
            lower = [n for n in self.arity if self.level[n] < self.level[name]]
            usable = [n for n in self.arity if self.level[n] <= self.level[name]] if self.recursive else lower
            if name in aggregated:
                yield self._aggregate(name, lower)
                continue
            for _ in range(rng.randint(1, 2)):
                yield self._rule(name, usable, lower if self.negation else [])

    def _hops(self) -> Iterator[tree.Rule]:
        """Recursion that computes something: the nodes within some hops, as every node along the way passes them on."""
        S, Z, D, H, G = (tree.Variable(n) for n in "SZDHG")
        self.arity["h"], self.level["h"] = 3, 0
        yield tree.Rule((tree.Atom("h", (S, D, tree.Number(1)), 0),), tree.Atom("e", (S, D), 0))
        body: list[tree.Literal] = [tree.Atom("e", (S, Z), 0), tree.Atom("h", (Z, D, G), 0)]
        body.append(tree.Comparison("<", G, tree.Number(self.rng.randint(2, 3))))
        body.append(tree.Comparison("=", H, tree.Functor("+", (G, tree.Number(1)))))
        yield tree.Rule((tree.Atom("h", (S, D, H), 0),), tree.Conjunction(tuple(body)))

    def _atom(self, name: str, variables: list[tree.Variable], places: list[tree.Variable] | None = None) -> tree.Atom:
        def term(among: list[tree.Variable]) -> tree.Term:
            return (
                self.rng.choice(among) if self.rng.random() < 0.9 else tree.Number(self.rng.randrange(self.constants))
            )

        first = self.rng.choice(places) if places else term(variables)
        return tree.Atom(name, (first, *(term(variables) for _ in range(self.arity[name] - 1))), 0)

    def _body(self, names: list[str], length: int) -> list[tree.Literal]:
        body: list[tree.Literal] = []
        for _ in range(length):
            body.append(self._atom(self.rng.choice(names), V, _bound(body) if self.linked else None))
        return body

    def _rule(self, name: str, usable: list[str], lower: list[str]) -> tree.Rule:
        rng = self.rng
        body = self._body(usable, rng.choice((1, 2, 2, 3)))
        bound = _bound(body)
        if bound and lower and rng.random() < 0.3:
            atom = self._atom(rng.choice(lower), bound)
            body.insert(rng.randint(0, len(body)), tree.Negation(atom))
        if len(bound) > 1 and rng.random() < 0.2:
            body.insert(rng.randint(0, len(body)), tree.Comparison(rng.choice(("!=", "<", "=")), *rng.sample(bound, 2)))
        head = self._atom(name, bound or [tree.Number(0)])
        if bound and rng.random() < 0.1:
            one_more = tree.Functor("+", (rng.choice(bound), tree.Number(1)))
            head = replace(head, args=(*head.args[:-1], tree.Functor("%", (one_more, tree.Number(self.constants)))))
        return _made(head, body)

    def _aggregate(self, name: str, lower: list[str]) -> tree.Rule:
        rng = self.rng
        body = self._body(lower, rng.randint(1, 2))
        bound = _bound(body)
        if not bound:
            bound, body = [V[0]], [tree.Atom("f", (V[0],), 0)]
        op = rng.choice(("min", "max", "count", "sum"))
        head = tree.Atom(name, (rng.choice(bound), tree.HeadAggregate(op, rng.choice(bound).name)), 0)
        return _made(head, body)


def _bound(body: list[tree.Literal]) -> list[tree.Variable]:
    return list(dict.fromkeys(n for b in body for n in b.walk() if isinstance(n, tree.Variable)))


def _made(head: tree.Atom, body: list[tree.Literal]) -> tree.Rule:
    return tree.Rule((head,), body[0] if len(body) == 1 else tree.Conjunction(tuple(body)))


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A smaller case that fails too: rules, facts, bursts and updates left out as long as it still fails."""
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(case):
            try:
                still = fails(smaller)
            except Exception:
                still = False
            if still:
                case, progress = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for i in range(len(case.rules)):
        yield replace(case, rules=case.rules[:i] + case.rules[i + 1 :])
    for i in range(len(case.facts)):
        yield replace(case, facts=case.facts[:i] + case.facts[i + 1 :])
    for i in range(len(case.bursts)):
        yield replace(case, bursts=case.bursts[:i] + case.bursts[i + 1 :])
        burst = case.bursts[i]
        for j in range(len(burst)):
            yield replace(case, bursts=(*case.bursts[:i], burst[:j] + burst[j + 1 :], *case.bursts[i + 1 :]))
