"""Random triples and random SPARQL queries over them, from a seed."""

from __future__ import annotations

from random import Random

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIX = f"PREFIX : <http://e/>\nPREFIX xsd: <{XSD}>\n"
NODES = [":a", ":b", ":c", ":d"]
LINKS = [":p", ":q", ":r"]
NUMBERS = ["1", "2", "3", "-1", "0", "2.5", "0.5", "1.5E0", "-2.0E0", "1.0E0"]
TEXTS = ['"x"', '"xy"', '""', '"abc"', '"x"@en', '"Abc"@en', '"xy"@fr']
OTHERS = ['"2020-01-01T00:00:00Z"^^xsd:dateTime', '"2021-05-05T12:00:00Z"^^xsd:dateTime']
VARIABLES = ["?a", "?b", "?c", "?d"]


def random_turtle(chance: Random) -> str:
    """Some twenty triples: links, numbers, texts and others."""
    lines = [PREFIX.replace("PREFIX", "@prefix").replace(">\n", "> .\n")]
    for _ in range(chance.randint(10, 40)):
        node = chance.choice([*NODES, "_:x", "_:y"])
        kind = chance.random()
        if kind < 0.5:
            lines.append(f"{node} {chance.choice(LINKS)} {chance.choice([*NODES, '_:x'])} .")
        elif kind < 0.75:
            lines.append(f"{node} :n {chance.choice(NUMBERS)} .")
        elif kind < 0.92:
            lines.append(f"{node} :t {chance.choice(TEXTS)} .")
        else:
            lines.append(f"{node} :v {chance.choice(OTHERS)} .")
    return "\n".join(lines)


def random_expressions(chance: Random, rows: int = 12, expressions: int = 4) -> str:
    """A query that computes some expressions of rows of terms of all kinds."""
    terms = [*NODES[:2], *NUMBERS, *TEXTS, *OTHERS, "UNDEF"]
    values = "\n".join(f"({i} {' '.join(chance.choice(terms) for _ in VARIABLES)})" for i in range(rows))
    query = RandomQuery(chance)
    made = " ".join(f"({query.expression(chance.choice([1, 2, 3]))} AS ?x{i})" for i in range(expressions))
    return f"{PREFIX}SELECT ?row {made} WHERE {{ VALUES (?row {' '.join(VARIABLES)}) {{ {values} }} }}"


def random_update(chance: Random) -> str:
    """One that deletes, inserts, or both, by a pattern or by itself."""
    query = RandomQuery(chance, with_paths=False)
    triple = f":{chance.choice('abcd')} {chance.choice(LINKS)} :{chance.choice('abcd')}"
    return PREFIX + chance.choice([
        f"INSERT DATA {{ {triple} }}",
        f"DELETE DATA {{ {triple} }}",
        f"DELETE WHERE {{ ?a {chance.choice(LINKS)} ?b . ?b {chance.choice(LINKS)} ?c }}",
        f"INSERT {{ ?a :p ?b . ?b :q ?c . ?d :r ?a }} WHERE {query.group(1)}",
        f"DELETE {{ ?a {chance.choice(LINKS)} ?b . ?a :n ?c }} WHERE {query.group(1)}",
        f"DELETE {{ ?a :p ?b }} INSERT {{ ?b :p ?a . ?a :r ?c }} WHERE {query.group(1)}",
    ])  # fmt: skip


class RandomQuery:
    """A query of any form and depth, as `text`."""

    def __init__(self, chance: Random, with_paths: bool = True) -> None:
        self.chance, self.with_paths = chance, with_paths
        self.fresh = 0
        self.has_path = False
        self.text = PREFIX + self._query()

    def _query(self) -> str:
        body = self.group(2)
        kind = self.chance.random()
        if kind < 0.1:
            return f"ASK {body}"
        if kind < 0.35:
            return self._aggregated(body)
        names = self.chance.sample(VARIABLES, self.chance.randint(1, 4))
        extra = f" ({self.expression(2)} AS ?made)" if self.chance.random() < 0.3 else ""
        distinct = "DISTINCT " if self.has_path or self.chance.random() < 0.3 else ""
        return f"SELECT {distinct}{' '.join(names)}{extra} WHERE {body}"

    def _aggregated(self, body: str) -> str:
        keys = self.chance.sample(VARIABLES, self.chance.randint(0, 2))
        over = self.chance.choice(VARIABLES)
        distinct = "DISTINCT " if self.has_path or self.chance.random() < 0.4 else ""
        name = self.chance.choice(["COUNT", "SUM", "AVG", "MIN", "MAX"])
        inner = f"{distinct}{over}"
        if name in ("MIN", "MAX"):
            inner = f"{distinct}xsd:double({over})"
        if name == "COUNT" and not distinct and self.chance.random() < 0.3:
            inner = "*"
        having = f" HAVING (COUNT(DISTINCT {over}) > {self.chance.randint(0, 2)})" if self.chance.random() < 0.3 else ""
        group = f" GROUP BY {' '.join(keys)}" if keys else ""
        return f"SELECT {' '.join(keys)} ({name}({inner}) AS ?sum) WHERE {body}{group}{having}"

    def group(self, depth: int) -> str:
        parts = [self._triples()]
        for _ in range(self.chance.choice([0, 0, 1, 1, 2, 3])):
            parts.append(self._part(depth))
        filters = [f"FILTER({self.expression(2)})" for _ in range(self.chance.choice([0, 0, 0, 1]))]
        return "{ " + " ".join(parts + filters) + " }"

    def _part(self, depth: int) -> str:
        kind = self.chance.random()
        if depth <= 0 or kind < 0.15:
            return self._triples()
        if kind < 0.35:
            return f"OPTIONAL {self.group(depth - 1)}"
        if kind < 0.5:
            return f"{self.group(depth - 1)} UNION {self.group(depth - 1)}"
        if kind < 0.6:
            return f"MINUS {self.group(depth - 1)}"
        if kind < 0.7:
            self.fresh += 1
            return f"BIND({self.expression(2)} AS ?f{self.fresh})"
        if kind < 0.8:
            names = self.chance.sample(VARIABLES, 2)
            rows = " ".join(f"({self._value()} {self._value()})" for _ in range(self.chance.randint(0, 3)))
            return f"VALUES ({' '.join(names)}) {{ {rows} }}"
        if kind < 0.9:
            word = self.chance.choice(["EXISTS", "NOT EXISTS"])
            return f"FILTER {word} {{ {self._triples()} {self._simple_filter()} }}"
        names = self.chance.sample(VARIABLES, 2)
        distinct = "DISTINCT " if self.chance.random() < 0.5 else ""
        return f"{{ SELECT {distinct}{' '.join(names)} WHERE {self.group(depth - 1)} }}"

    def _simple_filter(self) -> str:
        return f"FILTER({self.expression(1)})" if self.chance.random() < 0.3 else ""

    def _value(self) -> str:
        return self.chance.choice([*NODES, *NUMBERS[:4], TEXTS[0], "UNDEF", "UNDEF"])

    def _triples(self) -> str:
        return " ".join(self._triple() for _ in range(self.chance.choice([1, 1, 2])))

    def _triple(self) -> str:
        subject = self.chance.choice([*["?a"] * 6, *["?b"] * 3, *VARIABLES, self.chance.choice(NODES)])
        if self.with_paths and self.chance.random() < 0.2:
            self.has_path = True
            end = self.chance.choice([*VARIABLES[:2] * 3, *VARIABLES, self.chance.choice(NODES)])
            return f"{subject} {self._path(2)} {end} ."
        predicate = self.chance.choice([*LINKS, ":n", ":n", ":t", ":v", "?p"])
        others = {":n": NUMBERS, ":t": TEXTS, ":v": OTHERS}.get(predicate, NODES)
        usual = {":n": "?c", ":t": "?d"}.get(predicate, "?b")
        return f"{subject} {predicate} {self.chance.choice([*[usual] * 12, *VARIABLES, self.chance.choice(others)])} ."

    def _path(self, depth: int) -> str:
        kind = self.chance.random()
        link = self.chance.choice([*LINKS, ":n"])
        if depth == 0 or kind < 0.25:
            return link
        if kind < 0.4:
            return f"({self._path(depth - 1)}/{self._path(depth - 1)})"
        if kind < 0.55:
            return f"({self._path(depth - 1)}|{self._path(depth - 1)})"
        if kind < 0.65:
            return f"^({self._path(depth - 1)})"
        if kind < 0.9:
            return f"({self._path(depth - 1)}){self.chance.choice('*+?')}"
        return f"!({link}|^{self.chance.choice(LINKS)})" if kind < 0.95 else f"!({link}|{self.chance.choice(LINKS)})"

    def expression(self, depth: int) -> str:
        """Not asked for is what pyoxigraph does in its own way: the spelling of doubles (STR), an order of false and
        true, zero divided by a decimal, truth of malformed literals."""
        pick = self.chance.choice
        if depth == 0:
            return pick([*VARIABLES, *VARIABLES, *NUMBERS, *TEXTS, *OTHERS, ":a", "true", "false"])
        one, two = (self.expression(depth - 1) for _ in range(2))
        variable = pick(VARIABLES)
        return pick([
            f"({one} {pick(['=', '!='])} {two})",
            f"({variable} {pick(['<', '>', '<=', '>='])} {pick([*VARIABLES, *TEXTS, *OTHERS])})",
            f"({variable} {pick(['=', '!=', '<', '>', '<=', '>='])} {pick(NUMBERS)})",
            f"({one} {pick(['&&', '||'])} {two})",
            f"(!{one})",
            f"({one} {pick('+-*')} {two})",
            f"(({variable} * {variable} + 1) / {pick(NUMBERS)})",
            f"(-{variable})",
            f"BOUND({variable})",
            f"({one} {pick(['IN', 'NOT IN'])} ({two}, {variable}))",
            f"IF({one}, {two}, {variable})",
            f"COALESCE({variable}, {one})",
            f"{pick(['LANG', 'DATATYPE', 'isIRI', 'isBLANK', 'isLITERAL', 'isNUMERIC'])}({variable})",
            f"{pick(['UCASE', 'LCASE', 'STRLEN'])}({variable})",
            f"{pick(['ABS', 'CEIL', 'FLOOR', 'ROUND'])}({variable})",
            f"{pick(['CONTAINS', 'STRSTARTS', 'STRENDS', 'STRBEFORE', 'STRAFTER'])}({variable}, {pick(TEXTS)})",
            f"SUBSTR({variable}, {pick('0123')}, {pick('123')})",
            f"CONCAT({variable}, {pick(TEXTS)})",
            f"REGEX({variable}, '{pick(['x', '^A', 'b.$'])}', '{pick(['', 'i'])}')",
            f"REPLACE({variable}, \"(x|b)\", \"<$1>\")",
            f"sameTerm({one}, {two})",
            f"langMatches(LANG({variable}), '{pick(['en', '*'])}')",
            f"{pick(['YEAR', 'MONTH', 'HOURS', 'TZ'])}({variable})",
            f"xsd:{pick(['integer', 'decimal', 'double', 'boolean'])}({variable})",
        ])  # fmt: skip
