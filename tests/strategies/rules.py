"""One random rule: atoms that bind variables, then literals and heads over what is bound."""

from __future__ import annotations

from itertools import count

from strategies.values import CONSTANTS, FIELDS, Chooser, Relation

COMPARED = {
    "number": ("=", "!=", "<", "<=", ">", ">="), "unsigned": ("=", "!=", "<", ">="),
    "float": ("<", ">=", "=", "!=", "<=", ">"),
    "symbol": ("=", "!=", "<", ">=", "match", "contains", "!match", "!contains"),
}  # fmt: skip

BOUNDED = {
    "number": ("({n} + {n}) % 3", "min({n}, {n})", "max({n}, {n}, 1)", "{n} band 3", "strlen({s})", "{n} / 2",
               "lnot {n}", "-({n} % 2)", "{n} land {n}", "to_number({f}) % 4"),
    "unsigned": ("({u} + 1u) % 3u", "min({u}, {u})", "{u} band 3u", "itou({n} band 3)", "{u} / 2u"),
    "float": ("min({f}, {f})", "max({f}, 1.0)", "itof({n} band 3)", "to_float(strlen({s}))", "max({f}, {f})", "-({f})",
              "{f} * 0.0", "{f} / 0.0"),
    "symbol": ("substr({s}, 0, 1)", "min({s}, {s})", "to_string({n} % 3)", "substr({s}, strlen({s}) - 1, 1)"),
}  # fmt: skip
"""Expressions with finitely many values, however often they are applied."""

GROWING = {
    "number": ("{n} + 1", "{n} - {n}", "{n} * {n}", "{n} ^ 2", "{n} % 3", "{n} / -2", "{n} bxor {n}", "{n} bshl 2",
               "{n} bshr 1", "{n} bshru 62", "bnot {n}", "utoi({u})", "as({u}, number)", "ftoi({f})", "{n} lxor 1",
               "{n} * 3037000500", "to_number(to_string({n}))"),
    "unsigned": ("{u} + {u}", "{u} - 1u", "{u} * {u}", "{u} / 3u", "{u} % 3u", "itou({n})", "as({n}, unsigned)",
                 "{u} bshr 1u", "bnot {u}", "to_unsigned({n} band 7)"),
    "float": ("{f} + {f}", "{f} * 1.5", "{f} / 2.0", "to_float({n} band 7)", "{f} + 1", "{f} - {f}", "{f} * {f}",
              "{f} / {f}", "{f} ^ {f}", "{f} * 1.0e308"),
    "symbol": ('cat({s}, "a")', "cat({s}, {s})", "to_string({n})", "to_string({f})", "to_string({u})"),
}  # fmt: skip
PATTERNS = ('".*a"', '"a?b*"', '"[ab]"')
LETTERS = {"n": "number", "u": "unsigned", "f": "float", "s": "symbol"}


class RuleWriter:
    """Writes a rule over `earlier` relations and those of its own `group`; with a group, values stay bounded."""

    def __init__(
        self,
        choose: Chooser,
        earlier: list[Relation],
        group: list[Relation],
        aggregates: bool = True,
        negation: bool = True,
        outer: RuleWriter | None = None,
    ) -> None:
        self.choose = choose
        self.earlier = earlier
        self.group = group
        self.aggregates = aggregates and (outer is None or outer.outer is None)
        self.negation = negation
        self.outer = outer
        self.bounded: bool = outer.bounded if outer else bool(group)
        self.numbers: count[int] = outer.numbers if outer else count()
        self.names: dict[str, list[str]] = {k: list(v) for k, v in outer.names.items()} if outer else {}
        self.local: dict[str, list[str]] = {}
        self.met: set[str] = set()  # variables from outside that an atom has, too
        self.atoms: list[tuple[str, list[str]]] = []  # those written so far, with their arguments

    def rule(self, heads: list[Relation]) -> str:
        body = self.body(self.choose.pick((2, 2, 2, 3)), 2)
        shown = ", ".join(f"{r.name}({', '.join(self.expression(kind) for kind in r.columns)})" for r in heads)
        return f"{shown} :- {body}."

    def body(self, atoms: int, most_extras: int) -> str:
        literals = []
        for place in self.choose.repeat(0, atoms, 9):
            relations = self.group if self.group and place == 0 else [*self.earlier, *self.group]
            literals.append(self.atom(self.choose.pick(relations)))
        literals += [self.extra() for _ in self.choose.repeat(0, most_extras)]
        return ", ".join(self.choose.shuffled([x for x in literals if x])) or "true"

    # ---- variables and terms

    def fresh(self, kind: str) -> str:
        name = f"v{next(self.numbers)}"
        self.names.setdefault(kind, []).append(name)
        self.local.setdefault(kind, []).append(name)
        return name

    def constant(self, kind: str) -> str:
        return self.choose.pick(list(CONSTANTS[kind]))

    def known(self, kind: str) -> str:
        """A bound variable, the latest most often, or a constant."""
        names = self.names.get(kind, ())
        if not names or self.choose.chance(2):
            return self.constant(kind)
        return names[-1] if self.choose.chance(3) else self.choose.pick(names)

    def expression(self, kind: str) -> str:
        """Something of this type over what is bound."""
        how = self.choose.upto(9)
        if kind in FIELDS and how >= 7 and not (kind == "List" and self.bounded):
            before, behind, fields = self.choose.pick(FIELDS[kind])
            return before + ", ".join(map(self.known, fields)) + behind
        if kind in LETTERS and how >= 7:
            if self.aggregates and kind != "symbol" and how == 9:
                return self.aggregate(kind)
            pool = BOUNDED if self.bounded else {k: BOUNDED[k] + GROWING[k] for k in BOUNDED}
            return self.filled(self.choose.pick(pool[kind]))
        return self.known(kind)

    def filled(self, template: str) -> str:
        for letter, kind in LETTERS.items():
            while f"{{{letter}}}" in template:
                template = template.replace(f"{{{letter}}}", self.known(kind), 1)
        return template

    def pattern(self, kind: str) -> str:
        """An argument of a positive atom: it may bind variables."""
        how = self.choose.weighted({"fresh": 9, "bound": 6, "_": 3, "constant": 1, "parts": 3, "computed": 1})
        if how == "bound" and self.names.get(kind):
            name = self.choose.pick(self.names[kind])
            self.met.add(name)
            return name
        if how == "parts" and kind in FIELDS:
            before, behind, fields = self.choose.pick(FIELDS[kind])
            return before + ", ".join(map(self.pattern, fields)) + behind
        if how == "computed" and kind in BOUNDED and self.names.get(kind):
            return self.filled(self.choose.pick(BOUNDED[kind]))
        if how in ("_", "constant"):
            return "_" if how == "_" else self.constant(kind)
        return self.fresh(kind)

    # ---- literals

    def atom(self, relation: Relation) -> str:
        args = [self.pattern(kind) for kind in relation.columns]
        self.atoms.append((relation.name, args))
        return f"{relation.name}({', '.join(args)})"

    def question(self) -> str:
        """Atoms whose own variables nobody else has: joined with each other, and with the rest by a variable at most;
        or an atom once more, with less in it."""
        if self.atoms and self.choose.chance(3):
            name, args = self.choose.pick(self.atoms)
            return f"{name}({', '.join('_' if self.choose.chance(5) else arg for arg in args)})"
        names, local = self.names, self.local
        kinds = [kind for kind in names if names[kind]]
        tie = self.choose.pick(kinds) if kinds and self.choose.chance(5) else None
        self.names, self.local = {} if tie is None else {tie: [self.choose.pick(names[tie])]}, {}
        relations = [*self.earlier, *self.group]
        try:
            return ", ".join(self.atom(self.choose.pick(relations)) for _ in self.choose.repeat(1, 3))
        finally:
            self.names, self.local = names, local

    def asked(self, relation: Relation) -> str:
        """An atom that binds nothing."""
        args = ("_" if self.choose.chance(3) else self.known(kind) for kind in relation.columns)
        return f"{relation.name}({', '.join(args)})"

    def extra(self) -> str:
        how = self.choose.weighted({
            "constraint": 5, "equation": 4, "negation": 4, "disjunction": 2, "aggregate": 7, "range": 1, "bounded": 1,
            "group": 1, "boolean": 1, "question": 8,
        })  # fmt: skip
        match how:
            case "equation":
                return self.equation()
            case "negation" if self.negation:
                return f"!{self.asked(self.choose.pick(self.earlier))}"
            case "disjunction" if self.outer is None:
                return self.disjunction()
            case "aggregate" if self.aggregates:
                kind = self.choose.pick(("number", "number", "unsigned", "float"))
                found = self.aggregate(kind)
                return f"{self.fresh(kind)} = {found}" if self.choose.chance(7) else f"{self.known(kind)} <= {found}"
            case "range":
                stop = self.filled(self.choose.pick(("3", "-2", "{n} band 3")))
                return f"{self.fresh('number')} = range(0, {stop})"
            case "bounded" if self.names.get("number"):
                source, limit = self.choose.pick(self.names["number"]), self.choose.pick(("2", "3", "5"))
                name = self.fresh("number")
                return f"{name} = {source} + {self.choose.pick(('1', '2'))}, {name} < {limit}"
            case "group" if self.negation:
                inner = [self.constraint(), self.asked(self.choose.pick(self.earlier))]
                return f"!({self.choose.pick((' ; ', ', ') if self.outer is None else (' ; ',)).join(inner)})"
            case "question":
                return self.question()
            case "boolean":
                return self.choose.pick(("true", "true", "!false", "false"))
        return self.constraint()

    def constraint(self) -> str:
        kinds = [kind for kind, names in self.names.items() if names]
        if not kinds:
            return "true"
        kind = self.choose.pick(kinds)
        left = self.choose.pick(self.names[kind])
        op = self.choose.pick(COMPARED.get(kind, ("=", "!=")))
        if "match" in op:
            return f"{op}({self.choose.pick(PATTERNS)}, {left})"
        if "contains" in op:
            return f"{op}({self.constant('symbol')}, {left})"
        others = [name for name in self.names[kind] if name != left]
        right = self.choose.pick(others) if others and self.choose.chance(6) else self.expression(kind)
        return f"{left} {op} {right}"

    def equation(self) -> str:
        """A new variable for a value; or a record taken apart."""
        whole = [(kind, name) for kind in FIELDS for name in self.names.get(kind, ())]
        if whole and self.choose.chance(4):
            kind, name = self.choose.pick(whole)
            before, behind, fields = self.choose.pick(FIELDS[kind])
            return f"{name} = {before}{', '.join(map(self.pattern, fields))}{behind}"
        kind = self.choose.pick(list(CONSTANTS))
        value = self.expression(kind)
        if kind in ("Pair", "List"):  # a record needs something that says its type
            value = self.choose.pick(self.names.get(kind) or [f"as(nil, {kind})"])
        name = self.fresh(kind)
        return f"{name} = {value}" if self.choose.chance(5) else f"{value} = {name}"

    def disjunction(self) -> str:
        """Two atoms that bind the same new variable, or two constraints."""
        first, second = self.choose.pick(self.earlier), self.choose.pick([*self.earlier, *self.group])
        shared = [kind for kind in first.columns if kind in second.columns]
        if not shared:
            return f"({self.constraint()} ; {self.constraint()}, {self.constraint()})"
        kind = self.choose.pick(shared)
        sides = [self.with_column(relation, kind, f"v{{{kind}}}") for relation in (first, second)]
        name = self.fresh(kind)
        return "(" + " ; ".join(side.replace(f"v{{{kind}}}", name) for side in sides) + ")"

    def with_column(self, relation: Relation, kind: str, name: str) -> str:
        """An atom that binds `name` in its first column of this type, and nothing else."""
        args = ["_" if self.choose.chance(5) else self.known(k) for k in relation.columns]
        args[relation.columns.index(kind)] = name
        return f"{relation.name}({', '.join(args)})"

    def aggregate(self, kind: str) -> str:
        """An aggregate over earlier relations; outer variables may be injected."""
        inner = RuleWriter(self.choose, self.earlier, [], self.aggregates, self.negation, outer=self)
        body = inner.body(2, 2)
        names = inner.local.get(kind, [])
        if self.choose.chance(1) and self.names.get(kind):
            names = [*names, *(n for n in self.names[kind] if n in inner.met)]  # there it is another variable
        op = self.choose.pick(
            ("count", "sum", "min", "max", "mean") if kind == "float" else ("count", "sum", "min", "max")
        )
        if kind == "number" and (op == "count" or not names):
            return f"count : {{ {body} }}"
        if not names:
            return self.constant(kind)
        target = self.choose.pick(names)
        if not self.bounded and kind == "number" and self.choose.chance(3):
            target = self.choose.pick(("{} * 2", "{} + 1", "-{}")).format(target)
        return f"{'sum' if op == 'count' else op} {target} : {{ {body} }}"
