"""Random programs, facts, bursts and schedules, and what to do with a case that fails: shrink it and print it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random

from tidelog.lang import tree
from tidelog.lang.ndlog_printer import print_program
from tidelog.net import Fact, Update

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
    rules = tuple(_rules(rng, recursive, negation, aggregates, constants))
    facts = [_fact(rng, constants) for _ in range(rng.randint(0, 5))]
    if recursive:
        facts = list(dict.fromkeys(facts))
    bursts = []
    base = Counter(facts)
    for _ in range(rng.randint(1, 2)):
        burst = list(_burst(rng, base, constants))
        bursts.append(tuple(burst))
    schedule = rng.choice(SCHEDULES)
    picking = rng.choice((1, 1, 1, 2, None))
    return Case(seed, rules, tuple(facts), tuple(bursts), schedule, picking, rng.random() < 0.3)


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


def _rules(rng: Random, recursive: bool, negation: bool, aggregates: bool, constants: int) -> Iterator[tree.Rule]:
    arity = dict(BASE)
    level = dict.fromkeys(BASE, 0)
    names = [f"d{i}" for i in range(rng.randint(1, 4))]
    for i, name in enumerate(names):
        arity[name], level[name] = rng.randint(1, 2), i // 2 + 1 if recursive else i + 1
    aggregated = {n for n in names if aggregates and rng.random() < 0.2}
    arity.update(dict.fromkeys(aggregated, 2))
    for name in names:
        lower = [n for n in arity if n in level and level[n] < level[name]]
        usable = [n for n in arity if n in level and level[n] <= level[name]] if recursive else lower
        if name in aggregated:
            yield _aggregate_rule(rng, name, arity, lower, constants)
            continue
        for _ in range(rng.randint(1, 2)):
            yield _rule(rng, name, arity, usable, lower if negation else [], constants)


def _atom(rng: Random, name: str, arity: dict[str, int], constants: int, variables: list[tree.Variable]) -> tree.Atom:
    def term() -> tree.Term:
        return rng.choice(variables) if rng.random() < 0.9 else tree.Number(rng.randrange(constants))

    return tree.Atom(name, tuple(term() for _ in range(arity[name])), 0)


def _rule(
    rng: Random, name: str, arity: dict[str, int], usable: list[str], lower: list[str], constants: int
) -> tree.Rule:
    body: list[tree.Literal] = [
        _atom(rng, rng.choice(usable), arity, constants, V) for _ in range(rng.choice((1, 2, 2, 3)))
    ]
    bound = list(dict.fromkeys(n for b in body for n in b.walk() if isinstance(n, tree.Variable)))
    if bound and lower and rng.random() < 0.3:
        atom = _atom(rng, rng.choice(lower), arity, constants, bound)
        body.insert(rng.randint(0, len(body)), tree.Negation(atom))
    if len(bound) > 1 and rng.random() < 0.2:
        body.insert(rng.randint(0, len(body)), tree.Comparison(rng.choice(("!=", "<", "=")), *rng.sample(bound, 2)))
    head = _atom(rng, name, arity, constants, bound or [tree.Number(0)])
    if bound and rng.random() < 0.1:
        total = tree.Functor("%", (tree.Functor("+", (rng.choice(bound), tree.Number(1))), tree.Number(constants)))
        head = replace(head, args=(*head.args[:-1], total))
    return tree.Rule((head,), body[0] if len(body) == 1 else tree.Conjunction(tuple(body)))


def _aggregate_rule(rng: Random, name: str, arity: dict[str, int], lower: list[str], constants: int) -> tree.Rule:
    body = [_atom(rng, rng.choice(lower), arity, constants, V) for _ in range(rng.randint(1, 2))]
    bound = list(dict.fromkeys(n for b in body for n in b.walk() if isinstance(n, tree.Variable)))
    if not bound:
        bound, body = [V[0]], [tree.Atom("f", (V[0],), 0)]
    op = rng.choice(("min", "max", "count", "sum"))
    head = tree.Atom(name, (rng.choice(bound), tree.HeadAggregate(op, rng.choice(bound).name)), 0)
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
