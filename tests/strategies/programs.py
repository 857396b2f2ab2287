"""Random programs in Soufflé's language that are well-formed, safe, stratified and finite, with facts.

`programs()` gives an `Example`. Its relations form groups: the first group has facts only; the rules of a later group
use earlier groups as they like (negated and inside aggregates too) and their own group positively, so that every
program is stratified. Values stay finite because rules that use their own group compute only what is bounded.
Domains are small, so that joins find partners.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis.strategies import SearchStrategy

from strategies.rules import RuleWriter
from strategies.values import CONSTANTS, DECLARATIONS, Chooser, Relation, Written


@dataclass(frozen=True)
class Example:
    """A program and the facts of its input relations. `inlined` says which relations have no content of their own."""

    text: str
    facts: dict[str, set[tuple[Any, ...]]]
    inlined: frozenset[str] = frozenset()

    def __str__(self) -> str:
        facts = "".join(f"// {name}: {sorted(rows, key=repr)}\n" for name, rows in self.facts.items())
        return f"{self.text}{facts}"


@dataclass(frozen=True)
class Features:
    """What the programs may contain."""

    types: tuple[str, ...] = ("number", "symbol", "unsigned", "float", "Pair", "Shape", "Colour")
    aggregates: bool = True
    negation: bool = True
    special: bool = True  # eqrel, inline, lists
    equivalences: int = 1  # how many groups have an eqrel, where eight have nothing special; from 2 on, inputs too
    most_groups: int = 4
    derived_inputs: bool = False  # relations with rules that have facts given by the user, too


def programs(features: Features = Features()) -> SearchStrategy[Example]:  # noqa: B008
    """Programs with facts. A simpler example has fewer relations, rules and facts."""
    return Written(lambda choose: ProgramWriter(choose, features).write())


@dataclass
class ProgramWriter:
    """Writes one program; afterwards `inputs` are the relations whose facts the user gives."""

    choose: Chooser
    features: Features
    lines: list[str] = field(default_factory=list)
    earlier: list[Relation] = field(default_factory=list)
    inputs: list[Relation] = field(default_factory=list)
    facts: dict[str, set[tuple[Any, ...]]] = field(default_factory=dict)
    inlined: set[str] = field(default_factory=set)
    palette: list[str] = field(default_factory=list)  # the types of this program: few, so that columns meet

    def write(self) -> Example:
        self.palette = ["number", *(self.choose.pick(self.features.types) for _ in range(2))]
        for number in self.choose.repeat(1, 3):
            if self.features.equivalences > 1 and self.choose.chance(2):
                relation = self.equivalence(f"e{number}")
            else:
                relation = self.declare(f"e{number}", self.columns(3))
            self.give_facts(relation, 10)
            self.earlier.append(relation)
        for number in self.choose.repeat(1, self.features.most_groups):
            self.group(number)
        used = "\n".join(self.lines)
        types = [line for words, line in DECLARATIONS.items() if any(word in used for word in words)]
        return Example("\n".join([*types, used, ""]), self.facts, frozenset(self.inlined))

    # ---- relations

    def declare(self, name: str, columns: tuple[str, ...], qualifier: str = "") -> Relation:
        attributes = ", ".join(f"{letter}: {kind}" for letter, kind in zip("abcd", columns, strict=False))
        self.lines.append(f".decl {name}({attributes}){qualifier}")
        return Relation(name, columns)

    def equivalence(self, name: str) -> Relation:
        return self.declare(name, (self.choose.pick(("number", "symbol")),) * 2, " eqrel")

    def columns(self, most: int) -> tuple[str, ...]:
        arity = self.choose.weighted({2: 5, 1: 3, 3: 2, 0: 1})
        return tuple(self.choose.pick(self.palette) for _ in range(min(arity, most)))

    def give_facts(self, relation: Relation, most: int) -> None:
        self.lines.append(f".input {relation.name}")
        self.inputs.append(relation)
        values = [list(CONSTANTS[kind].values()) for kind in relation.columns]
        rows = self.choose.repeat(0, most, 9)
        self.facts[relation.name] = {tuple(self.choose.pick(column) for column in values) for _ in rows}

    # ---- groups of relations that may depend on each other

    def group(self, number: int) -> None:
        kinds = {"": 8, "eqrel": self.features.equivalences, "inline": 1, "list": 1}
        special = self.choose.weighted(kinds) if self.features.special else ""
        if special == "list":
            self.list_relation(number)
        elif special == "inline":
            self.inline_relation(number)
        else:
            self.rules_group(number, special)

    def rules_group(self, number: int, special: str) -> None:
        group = []
        for place in self.choose.repeat(1, 2, 3):
            columns = self.columns(2 if number else 3)
            if special == "eqrel" and place == 0:
                group.append(self.equivalence(f"p{number}{place}"))
            else:
                group.append(self.declare(f"p{number}{place}", columns))
                if self.features.derived_inputs and self.choose.chance(3):
                    self.give_facts(group[-1], 4)
        for relation in group:
            self.text_facts(relation)
            for _ in self.choose.repeat(1, 3):
                self.rule(relation, group)
        self.earlier += group

    def text_facts(self, relation: Relation) -> None:
        for _ in self.choose.repeat(0, 3, 4):
            values = (self.choose.pick(list(CONSTANTS[kind])) for kind in relation.columns)
            self.lines.append(f"{relation.name}({', '.join(values)}).")

    def rule(self, relation: Relation, group: list[Relation]) -> None:
        recursive = self.choose.chance(5)
        heads = [relation]
        if len(group) > 1 and self.choose.chance(2):
            heads.append(self.choose.pick(group))
        writer = RuleWriter(
            self.choose, self.earlier, group if recursive else [], self.features.aggregates, self.features.negation
        )
        self.lines.append(writer.rule(heads))

    def inline_relation(self, number: int) -> None:
        """A relation whose rules are put in place of its atoms; they would be safe as rules of their own, too."""
        relation = self.declare(f"p{number}0", self.columns(2), " inline")
        for _ in self.choose.repeat(1, 2):
            writer = RuleWriter(self.choose, self.earlier, [], aggregates=False, negation=self.features.negation)
            self.lines.append(writer.rule([relation]))
        self.inlined.add(relation.name)
        user = self.declare(f"p{number}1", relation.columns)
        for _ in self.choose.repeat(1, 2):
            writer = RuleWriter(self.choose, [*self.earlier], [relation, user], self.features.aggregates)
            self.lines.append(writer.rule([user]))
        self.earlier.append(user)

    def list_relation(self, number: int) -> None:
        """Lists of bounded length, as records that contain themselves."""
        numbers = [r for r in self.earlier if "number" in r.columns]
        source = self.choose.pick(numbers) if numbers else None
        lists = self.declare(f"p{number}0", ("List", "number"))
        self.lines.append(f"{lists.name}(nil, 0).")
        if source is not None:
            place = source.columns.index("number")
            args = ", ".join("h" if i == place else "_" for i in range(len(source.columns)))
            bound = 1 + self.choose.upto(1)
            self.lines.append(f"{lists.name}([h, t], n + 1) :- {lists.name}(t, n), {source.name}({args}), n < {bound}.")
        sums = self.declare(f"p{number}1", ("List", "number"))
        self.lines.append(f"{sums.name}(l, 0) :- {lists.name}(l, _), l = nil.")
        self.lines.append(f"{sums.name}([h, t], s + h) :- {lists.name}([h, t], _), {sums.name}(t, s).")
        self.earlier += [lists, sums]
