"""Random programs whose recursion runs through min or max, put together rule by rule: hardly two are the same.

One or two components, the second on top of the first. In each, values come from links and seeds, and are passed on by
one to three rules: pulled or pushed along a link, from the best value, from any value or by way of another relation, as
they are, made worse by a cost, or limited by one, under conditions that need not be monotone. Never is a value better
than what it comes from, so there is one result: `perfect` settles the best values first. It shares nothing with the
engine but the syntax tree.
"""

from __future__ import annotations

from random import Random

from net_best import come_and_go
from net_cases import SCHEDULES, Case
from net_central import Facts, components, consequences

from tidelog.lang import ndlog, tree
from tidelog.net import Fact

BASES = {
    True: (
        "w(@S,D,V)", "w(@S,D,V), V != 2", "e(@S,D), seed(@S,V)", "seed(@S,V), D = S", "w(@D,S,V)", "w(@S,D,V), !e(@S,D)"
    ),
    False: ("seed(@S,V)", "seed(@S,V)", "w(@S,Z,V)", "w(@Z,S,V)", "seed(@S,V), e(@S,Z)", "seed(@S,V), !e(@S,S)"),
}  # fmt: skip
LINKS = ("w(@S,Z,C)", "w(@S,Z,C)", "w(@Z,S,C)", "e(@S,Z)", "e(@Z,S)")
WORSE = {
    "min": ("V = U", "V = U + 1", "V = U + C", "V = U + C", "U >= C, V = U", "U < C, V = C"),
    "max": ("V = U", "V = U - 1", "V = U - C", "V = U - C", "U <= C, V = U", "U > C, V = C"),
}
BOUND = {"min": "V < 6", "max": "V > -3"}
ON_TOP = (
    "many(@S,count<V>) :- {best}.",
    "all(@S,sum<V>) :- {best}.",
    "none(@S,V) :- seed(@S,V), !met(@S,V). met(@S,V) :- {best}.",
    "seen(@Z,V) :- e(@S,Z), {best}.",
    "two(@S,V) :- {best}, seed(@S,V), w(@S,Z,V).",
    "",
)


def random_wide(seed: int) -> Case:
    """The case of a seed: three to five nodes, costs from 0 or 1 to 3, facts that may be there twice, some bursts."""
    rng = Random(seed)
    made = _Component(rng, "a", None)
    text = made.text
    if rng.random() < 0.3:
        made = _Component(rng, "b", made)
        text += made.text
    text += rng.choice(ON_TOP).replace("{best}", made.best("S"))
    nodes, least = rng.randint(3, 5), rng.choice((0, 0, 1))

    def draw() -> Fact:
        kind = rng.random()
        if kind < 0.2:
            return Fact("seed", (rng.randrange(nodes), rng.randint(1, 4)))
        a, b = rng.sample(range(nodes), 2)
        return Fact("e", (a, b)) if kind < 0.45 else Fact("w", (a, b, rng.randint(least, 3)))

    facts = [draw() for _ in range(rng.randint(nodes, 2 * nodes + 3))]
    bursts = come_and_go(rng, facts, draw)
    schedule, picking = rng.choice(SCHEDULES), rng.choice((1, 1, 1, 2, None))
    return Case(seed, tuple(ndlog.parse(text).rules), tuple(facts), bursts, schedule, picking, rng.random() < 0.3)


class _Component:
    """Values `v`, their best `b`; perhaps `m`, some of them, and `c`, the best of all groups of a node."""

    def __init__(self, rng: Random, name: str, below: _Component | None) -> None:
        self.rng, self.name, self.first = rng, name, below is None
        self.op = rng.choice(("min", "max"))
        self.grouped = rng.random() < 0.6
        rules = []
        if below is not None:
            rules.append(f"{self._value('S')} :- {below.best('S')}" + (", D = S" if self._needs_group(below) else ""))
        for base in rng.sample(BASES[self.grouped], rng.randint(0 if below else 1, 2)):
            rules.append(f"{self._value('S')} :- {base}")
        for _ in range(rng.choice((1, 1, 2, 3))):
            rules.append(self._passed_on())
        condition = rng.choice(("", "", "", ", V != 3", ", V < 5"))
        rules.append(f"{self._atom('b', 'S', f'{self.op}<V>')} :- {self._value('S')}{condition}")
        text = ". ".join(rules)
        if f"{name}m(" in text:
            condition = rng.choice(("", "", ", V != 1"))
            rules.append(f"{self._atom('m', 'S', 'V')} :- {self.best('S')}{condition}")
        if f"{name}c(" in text:
            rules.append(f"{name}c(@S,{self.op}<V>) :- {self.best('S')}")
        self.text = "".join(f"{r}.\n" for r in rules)

    def _needs_group(self, below: _Component) -> bool:
        return self.grouped and not below.grouped

    def _atom(self, kind: str, place: str, value: str) -> str:
        return f"{self.name}{kind}(@{place},{'D,' if self.grouped else ''}{value})"

    def _value(self, place: str) -> str:
        return self._atom("v", place, "V")

    def best(self, place: str) -> str:
        return self._atom("b", place, "V")

    def _passed_on(self) -> str:
        rng = self.rng
        if self.grouped and self.first and self.op == "min" and rng.random() < 0.08:
            a, b = (f"{self.name}b(@{place})" for place in ("S,Z,U", "Z,D,C"))
            return f"{self._value('S')} :- {a}, {b}, V = U + C"
        link = rng.choice(LINKS)
        kind = rng.choice(("b", "b", "b", "b", "v", "m", "c" if self.grouped else "b"))
        source = f"{self.name}c(@Z,U)" if kind == "c" else self._atom(kind, "Z", "U")
        worse = rng.choice([w for w in WORSE[self.op] if "C" in link or "C" not in w])
        conditions = [worse]
        if (kind == "v" and any(sign in worse for sign in "+-")) or rng.random() < 0.25:
            conditions.append(BOUND[self.op])
        if kind == "c":
            conditions.append(rng.choice(("D = Z", "D = S")))
        elif self.grouped and rng.random() < 0.2:
            conditions.append("S != D")
        if rng.random() < 0.2:
            conditions.append(rng.choice(("U != 2", "U > 1", "U < 3", "S < Z", "V != 4")))
        if "@S" in link and rng.random() < 0.1:
            conditions.append("!seed(@S,2)")
        return f"{self._value('S')} :- {', '.join((link, source, *conditions))}"


def perfect(program: tree.Program, given: Facts) -> Facts:
    """All facts: component by component; in each everything that follows, then the best of the open groups, and again.

    What is settled later is no better, and that is checked.
    """
    done: Facts = set(given)
    for component in components(program):
        rules = [r for r in program.rules if r.heads[0].name in component]
        aggregates = {r: i for r in rules for i, a in enumerate(r.heads[0].args) if isinstance(a, tree.HeadAggregate)}
        settled: dict[tuple, tuple] = {}
        while True:
            facts: dict[str, set[tuple]] = {}
            for name, args in done:
                facts.setdefault(name, set()).add(args)
            new = {f for r in rules if r not in aggregates for f in consequences(r, facts)} - done
            if new:
                done |= new
                continue
            open_ = []
            for rule, column in aggregates.items():
                for name, args in consequences(rule, facts):
                    group = (name, *args[:column], *args[column + 1 :])
                    if group not in settled:
                        open_.append((args[column], group, (name, args)))
                    else:
                        assert settled[group] == (name, args), f"{name}{args} came after {settled[group]}"
            if not open_:
                break
            ops = {rule.heads[0].args[column].op for rule, column in aggregates.items()}
            values = [value for value, _, _ in open_]
            best = max(values) if ops == {"max"} else min(values)
            for value, group, fact in open_:
                if value == best or ops & {"count", "sum"}:
                    settled[group] = fact
                    done.add(fact)
    return done
