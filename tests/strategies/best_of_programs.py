"""Random programs in which only the best value of a key counts, their changes, and what they mean.

Relations: a(x) and b(x, y) have values, s(x) and t(x, y) are ordinary relations of the same recursion; e(x, y, w) and
g(x, w) are edges and beginnings with weights, n(x) is negated. The oracle knows nothing of ranks while it finds values:
it goes through all bindings of a rule again and again until no value improves. Ranks and counts then follow from their
definition: of a derivation whose body's greatest rank is (v, l), the rank is (f, 0) if its value f is worse than v, and
(f, l + 1) if it is equal; a key has the least rank of its derivations, and counts those that have it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

Row = tuple[int, ...]
Fact = tuple[str, Row]
Values = dict[Fact, float]
ARITY = {"a": 1, "b": 2, "s": 1, "t": 2, "e": 2, "g": 1, "n": 1}
WITH_VALUE, WITH_WEIGHT = "ab", "eg"
LEAST = -float("inf")


@dataclass(frozen=True)
class Function:
    """What a rule computes of values and weights: for the oracle, and as text with the conditions that it needs."""

    of: Callable[[list[int], list[int]], int | None]
    text: Callable[[list[str], list[str]], tuple[str, str]]


def _sum(terms: list[str]) -> str:
    return " + ".join(terms) if terms else "0"


def _least_functions() -> list[Function]:
    def short(vs: list[int], ws: list[int]) -> int | None:
        return sum(vs) + sum(ws) if sum(vs) + sum(ws) <= 6 else None

    return [
        Function(lambda vs, ws: sum(vs) + sum(ws), lambda vs, ws: (_sum(vs + ws), "")),
        Function(lambda vs, ws: max([0, *vs, *ws]), lambda vs, ws: (f"max({', '.join(['0', '0', *vs, *ws])})", "")),
        Function(
            lambda vs, ws: max([0, *vs]) + sum(ws),
            lambda vs, ws: (f"max({', '.join(['0', '0', *vs])}) + {_sum(ws)}", ""),
        ),
        Function(short, lambda vs, ws: (_sum(vs + ws), f"{_sum(vs + ws)} <= 6")),
    ]


def _greatest_functions() -> list[Function]:
    def wide(vs: list[int], ws: list[int]) -> int | None:
        return min([9, *vs]) - sum(ws) if sum(ws) <= min([9, *vs]) else None

    def least(vs: list[str]) -> str:
        return f"min({', '.join(['9', '9', *vs])})"

    return [
        Function(lambda vs, ws: min([9, *vs, *ws]), lambda vs, ws: (least(vs + ws), "")),
        Function(
            lambda vs, ws: max(0, min([9, *vs]) - sum(ws)), lambda vs, ws: (f"max(0, {least(vs)} - ({_sum(ws)}))", "")
        ),
        Function(wide, lambda vs, ws: (f"{least(vs)} - ({_sum(ws)})", f"{_sum(ws)} <= {least(vs)}")),
    ]


@dataclass(frozen=True)
class BestRule:
    """`head(key) :- body`; variables are letters, weights are w and u, "!n" is negated."""

    head: str
    key: str
    function: Function | None
    body: tuple[tuple[str, str], ...]

    def text(self) -> str:
        values, weights, atoms = list[str](), sorted({v for _, vs in self.body for v in vs if v in "wu"}), list[str]()
        for place, (relation, letters) in enumerate(self.body):
            arguments = list(letters)
            if relation in WITH_VALUE:
                values.append(f"v{place}")
                arguments.append(values[-1] if self.function else "_")
            atoms.append(f"{relation}({', '.join(arguments)})")
        arguments = list(self.key)
        if self.function:
            value, condition = self.function.text(values, weights)
            arguments.append(value)
            atoms += [condition] if condition else []
        return f"{self.head}({', '.join(arguments)}) :- {', '.join(atoms)}."


@dataclass(frozen=True)
class BestProgram:
    """Rules; `sign` is 1 if the least is the best, -1 if the greatest is; `kind` is the type of values and weights."""

    rules: tuple[BestRule, ...]
    sign: int
    kind: str = "number"

    def together(self, one: str, other: str) -> bool:
        """Whether two relations depend on each other."""
        return one == other or (self._needs(one, other) and self._needs(other, one))

    def _needs(self, one: str, other: str) -> bool:
        reached, ahead = set[str](), {one}
        while ahead:
            ahead = {r for rule in self.rules if rule.head in ahead for r, _ in rule.body if r in "abst"} - reached
            reached |= ahead
        return other in reached

    def text(self) -> str:
        better = "d2 < d1" if self.sign > 0 else "d2 > d1"
        return "\n".join(
            [
                f".decl e(x: number, y: number, w: {self.kind})\n.input e",
                f".decl g(x: number, w: {self.kind})\n.input g",
                ".decl n(x: number)\n.input n",
                f".decl a(x: number, d: {self.kind})",
                f".decl b(x: number, y: number, d: {self.kind})",
                ".decl s(x: number)\n.decl t(x: number, y: number)",
                *(rule.text() for rule in self.rules),
                f"a(x, d1) <= a(x, d2) :- {better}.",
                f"b(x, y, d1) <= b(x, y, d2) :- {better}.",
            ]
        )


def random_rules(rnd: random.Random, functions: list[Function]) -> tuple[BestRule, ...]:
    linear = BestRule("a", "y", rnd.choice(functions), (("a", "x"), ("e", "xyw")))
    double = BestRule("b", "xz", rnd.choice(functions), (("b", "xy"), ("b", "yz")))
    rules = [BestRule("a", "x", functions[0], (("g", "xw"),))]
    rules += rnd.sample([linear, BestRule("b", "xy", functions[0], (("e", "xyw"),))], rnd.randint(1, 2))
    rules += [double] * (rnd.random() < 0.3)
    for _ in range(rnd.randint(0, 4)):
        head, weights, body = rnd.choice("aabbst"), ["u", "w"], list[tuple[str, str]]()
        for _ in range(rnd.randint(1, 3)):
            relation = rnd.choice("aabeeg" if head in WITH_VALUE and rnd.random() < 0.8 else "abstegn")
            if weights or relation not in WITH_WEIGHT:
                letters = "".join(rnd.choices("xyz", k=ARITY[relation]))
                body.append((relation, letters + (weights.pop() if relation in WITH_WEIGHT else "")))
        known = sorted({v for _, letters in body for v in letters} - set("wu"))
        body += [("!n", rnd.choice(known))] * (rnd.random() < 0.2)
        rnd.shuffle(body)
        key = "".join(rnd.choices(known, k=ARITY[head]))
        rules.append(BestRule(head, key, rnd.choice(functions) if head in WITH_VALUE else None, tuple(body)))
    return tuple(rules)


def random_program(rnd: random.Random) -> BestProgram:
    sign = rnd.choice((1, -1))
    kind = rnd.choice(("number", "number", "float", "unsigned") if sign > 0 else ("number", "number", "float"))
    return BestProgram(random_rules(rnd, _least_functions() if sign > 0 else _greatest_functions()), sign, kind)


def random_pool(rnd: random.Random, program: BestProgram) -> tuple[range, list[Fact]]:
    """A domain, and the facts that may come and go; few weights, so that many are equal."""
    domain, sign = range(rnd.randint(2, 4)), program.sign
    weights = rnd.choice([(0,), (0, 1), (0, 1, 2, 3), (1, 2, 5)] if sign > 0 else [(0, 9), (1, 5, 9), (0, 1, 2)])
    weights += (-1,) * (
        rnd.random() < 0.03 and sign > 0 and program.kind != "unsigned"
    )  # which improves along the recursion
    pool = {("e", (*rnd.choices(domain, k=2), rnd.choice(weights))) for _ in range(rnd.randint(3, 10))}
    pool |= {("g", (rnd.choice(domain), rnd.choice(weights))) for _ in range(rnd.randint(1, 3))}
    return domain, sorted(pool | {("n", (x,)) for x in domain if rnd.random() < 0.4})


# ---- the oracle


@dataclass(frozen=True)
class Instance:
    """A rule over given values of its variables: its head, what it needs of the recursion, and its weights."""

    rule: BestRule
    head: Fact
    own: tuple[Fact, ...]
    weights: tuple[int, ...]


def instances(program: BestProgram, domain: range, facts: set[Fact]) -> list[Instance]:
    return [found for rule in program.rules for found in _of_rule(rule, domain, facts)]


def _of_rule(rule: BestRule, domain: range, facts: set[Fact]) -> Iterator[Instance]:
    letters = sorted({v for _, variables in rule.body for v in variables} - set("wu"))
    body = rule.body
    for values in product(domain, repeat=len(letters)):
        named = dict(zip(letters, values, strict=True))
        rows = [(relation, variables, tuple(named[v] for v in variables if v in named)) for relation, variables in body]
        if any(relation == "!n" and ("n", row) in facts for relation, _, row in rows):
            continue
        if any(relation == "n" and ("n", row) not in facts for relation, _, row in rows):
            continue
        fits = [
            [(variables[-1], row[-1]) for name, row in facts if name == relation and row[:-1] == wanted]
            for relation, variables, wanted in rows
            if relation in WITH_WEIGHT
        ]
        own = tuple((relation, row) for relation, _, row in rows if relation in "abst")
        head = rule.head, tuple(named[v] for v in rule.key)
        for weights in product(*fits):
            yield Instance(rule, head, own, tuple(weight for _, weight in sorted(weights)))


def offers(
    program: BestProgram, found: list[Instance], known: Values
) -> Iterator[tuple[Fact, float, float, tuple[Fact, ...]]]:
    """(head, value, the worst value of what is recursive in its body, that) of what follows from known values; less is
    better."""
    sign = program.sign
    for one in found:
        if all(fact in known for fact in one.own):
            own = tuple(fact for fact in one.own if program.together(fact[0], one.rule.head))
            worst = max((known[fact] for fact in own), default=LEAST)
            offer: float | None = worst
            if one.rule.function:
                values = [int(sign * known[fact]) for fact in one.own if fact[0] in WITH_VALUE]
                value = one.rule.function.of(values, list(one.weights))
                offer = None if value is None else sign * value
            if offer is not None:
                yield one.head, offer, worst, own


def meaning(program: BestProgram, domain: range, facts: set[Fact]) -> tuple[Values | None, bool]:
    """The values of all keys, None if they never come to an end; and whether they have ranks: no derivation is better
    than its body, and no values only support each other (found by way of others that improved on them)."""
    found, cost, rounds = instances(program, domain, facts), Values(), 0
    while True:
        before, rounds = dict(cost), rounds + 1
        for head, offer, _, _ in offers(program, found, before):
            cost[head] = min(offer, cost.get(head, offer))
        if cost == before:
            break
        if rounds == 60:
            return None, False
    superior = all(offer >= worst for _, offer, worst, _ in offers(program, found, cost))
    return cost, superior and len(state(program, domain, facts, cost)) == len(cost)


def state(program: BestProgram, domain: range, facts: set[Fact], cost: Values) -> dict[Fact, tuple[int, int]]:
    """Level and count of each key."""
    tight = [
        (head, [fact for fact in own if cost[fact] == offer])
        for head, offer, _, own in offers(program, instances(program, domain, facts), cost)
        if offer == cost[head]
    ]
    level, count = dict[Fact, int](), Counter[Fact]()
    for k in range(len(cost) + 1):
        now = [h for h, equal in tight if h not in level and max((level.get(f, k) for f in equal), default=-1) < k]
        count.update(now)
        level.update(dict.fromkeys(now, k))
    return {fact: (level[fact], count[fact]) for fact in cost if fact in level}
