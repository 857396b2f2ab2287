"""What recursion does to a program: is counting right, does it end, and why (docs/net/recursion.md).

*Measured*: each relation of a recursive component has a column such that along every rule the value never falls back,
and around every cycle of rules it grows (or falls, or the list gets longer). Then no fact depends on itself, whatever
the facts are, so there is exactly one state in which each fact is there as often as it is derived, and counting
derivations ends in it. A recursive min is measured if its column grows (a max: falls), or if a column of its group
does: then a value depends only on the absence of better ones, which come before it.

*Finite*: no cycle of rules makes ever new values, or what carries the values around is measured by a column that a
condition bounds. Otherwise a run may go on for ever.

A component that is not measured is evaluated with `supports`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product

from tidelog.analysis.recursion import component_numbers
from tidelog.lang import tree
from tidelog.net.bounds import ZERO, Bounds, Column, ColumnBounds, head_name, measured, variables_of_all
from tidelog.net.program import CHOICE, Aggregation, NetProgram, NetRule
from tidelog.net.values import Fact
from tidelog.plain import dataclass

MOST_TRIES = 20_000
_MOST_CARRIERS = 200
_KINDS = ("grows", "falls", "gets longer")
_FROM_FINITELY_MANY = {"%", "f_inPath", "f_member", "f_inRange", "f_first", "f_last", "f_size"}


@dataclass(frozen=True)
class Measure:
    """The column of each relation that `how` (grows, falls, gets longer) around every cycle.

    It does so if the columns `supposing`, of base relations, hold positive integers.
    """

    columns: tuple[Column, ...]
    how: str
    supposing: frozenset[Column]

    def __str__(self) -> str:
        shown = ", ".join(f"{name}[{i + 1}]" for name, i in self.columns if not name.endswith("*"))
        return f"{shown} {self.how} around every cycle"


@dataclass(frozen=True)
class Edge:
    """The head of a rule depends on an atom of its body (of an aggregation: on its contributions)."""

    rule: NetRule | Aggregation
    head: str
    body: str
    position: int


@dataclass(frozen=True)
class RecursiveComponent:
    """Relations that depend on each other."""

    relations: frozenset[str]
    aggregations: tuple[Aggregation, ...]
    measure: Measure | None
    finite: bool
    growing: NetRule | None

    def measured(self, facts: Iterable[Fact] | None) -> bool:
        """Whether counting is right for these base facts; without any, whether it is for all there can be."""
        if self.measure is None:
            return False
        if not self.measure.supposing:
            return True
        return facts is not None and not any(True for _ in self.against(facts))

    def against(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """The facts that are not what the measure supposes."""
        supposing = self.measure.supposing if self.measure else frozenset()
        return (f for f in facts for name, i in supposing if f.name == name and not _positive(f.args[i]))

    @property
    def visible(self) -> str:
        return ", ".join(f"`{name}`" for name in sorted(self.relations) if not name.endswith("*"))


def components(program: NetProgram) -> tuple[RecursiveComponent, ...]:
    """The recursive components of a program."""
    return tuple(_Analysis(program).components())


class _Analysis:
    def __init__(self, program: NetProgram) -> None:
        self.program = program
        self.edges = list(program_edges(program))
        self.recursive = list(recursive_sets(self.edges))
        base = frozenset(program.arity) - program.derived
        known: dict[str, ColumnBounds] = {}
        alone = [r for r in program.rules if sum(other.head == r.head for other in program.rules) == 1]
        for rule in alone:
            if rule.head not in {f.name for f in program.facts}:
                known[rule.head] = Bounds(rule, program.at, base, {}).columns()
        for aggregation in program.aggregations.values():
            if aggregation.source in known and all(op in (None, "min", "max", CHOICE) for op in aggregation.operators):
                known[aggregation.head] = _of_results(known[aggregation.source], aggregation)
        self.bounds = {rule: Bounds(rule, program.at, base, known) for rule in program.rules}

    def components(self) -> Iterator[RecursiveComponent]:
        for relations in self.recursive:
            edges = [e for e in self.edges if e.head in relations and e.body in relations]
            aggregations = tuple(a for a in self.program.aggregations.values() if a.head in relations)
            measure = self._measure(edges, aggregations, bounded=False)
            growing = self._growing(edges)
            finite = growing is None or self._carried(edges, aggregations)
            yield RecursiveComponent(relations, aggregations, measure, finite, None if finite else growing)

    def _measure(self, edges: list[Edge], aggregations: tuple[Aggregation, ...], bounded: bool) -> Measure | None:
        """A column for each relation, found by trying; None if there is none or too many were tried.

        One that supposes nothing of the facts is better than one that does.
        """
        found = [m for how in _KINDS for m in islice(self._measures(edges, aggregations, how, bounded), 1)]
        return min(found, key=lambda m: len(m.supposing), default=None)

    def _measures(
        self, edges: list[Edge], aggregations: tuple[Aggregation, ...], how: str, bounded: bool
    ) -> Iterator[Measure]:
        relations = list(dict.fromkeys(name for e in edges for name in (e.head, e.body)))
        twin = {a.source: a for a in aggregations}
        free = [r for r in relations if r not in twin or twin[r].head not in relations]
        tried = 0
        stack: list[dict[str, int]] = [{}]
        while stack and tried < MOST_TRIES:
            tried += 1
            columns = stack.pop()
            if len(columns) == len(relations):
                measure = self._judge(edges, columns, how, bounded)
                if measure:
                    yield measure
                continue
            name = next(r for r in free if r not in columns)
            twins = [a for a in aggregations if a.head == name]
            for column in reversed(range(self.program.arity[name])):
                if twins and _wrong_way(twins[0].operators[column], how):
                    continue
                more = {**columns, name: column, **{a.source: column for a in twins if a.source in relations}}
                if all(self._step(e, more, how) is not None for e in edges if e.head in more and e.body in more):
                    stack.append(more)

    def _judge(self, edges: list[Edge], columns: dict[str, int], how: str, bounded: bool) -> Measure | None:
        """Whether the columns, which never go back, move on around every cycle (to a bound, if asked)."""
        supposing: set[Column] = set()
        weak: list[Edge] = []
        unbounded: list[Edge] = []
        for edge in edges:
            step = self._step(edge, columns, how)
            assert step is not None
            strict, ends, needed = step
            supposing |= needed
            if not strict:
                weak.append(edge)
            if not ends:
                unbounded.append(edge)
        if any(True for _ in recursive_sets(weak)) or (bounded and any(True for _ in recursive_sets(unbounded))):
            return None
        return Measure(tuple(sorted(columns.items())), how, frozenset(supposing))

    def _step(self, edge: Edge, columns: dict[str, int], how: str) -> tuple[bool, bool, frozenset[Column]] | None:
        """Along an edge: whether the measure moves on, whether a condition bounds it; None if it may fall back."""
        if isinstance(edge.rule, Aggregation):
            return False, False, frozenset()
        bounds = self.bounds[edge.rule]
        name = bounds.name(edge.position, columns[edge.body])
        if name is None:
            return None
        lists = how == "gets longer"
        head = measured(head_name(columns[edge.head]), lists)
        body = measured(name, lists)
        far, near = (body, head) if how == "falls" else (head, body)
        bound = bounds.between(far, near)
        if bound is None or bound.least < 0:
            return None
        limit = bounds.between(head, ZERO) if how == "falls" else bounds.between(ZERO, head)
        ends = (limit is not None and not limit.supposing) or (
            lists and self._never_again(edge, name, columns[edge.head])
        )
        return bound.positive, ends, bound.supposing

    def _never_again(self, edge: Edge, path: str, column: int) -> bool:
        """Whether the list grows by a node that is not on it, out of finitely many."""
        rule = edge.rule
        assert isinstance(rule, NetRule)
        made, arg = _origins(rule), rule.head_args[column]
        match made.get(arg.name) if isinstance(arg, tree.Variable) else arg:
            case tree.Functor(op="f_concat" | "f_concatPath", args=(tree.Variable(name=node), rest)):
                pass
            case tree.Functor(op="f_append", args=(rest, tree.Variable(name=node))):
                pass
            case _:
                return False
        together = next(part for part in self.recursive if edge.head in part)
        outside = {v for b in rule.body if b.name not in together for v in variables_of_all(b.args)}
        return rest == tree.Variable(path) and (path, node) in self.bounds[rule].repeats_not and node in outside

    def _growing(self, edges: list[Edge]) -> NetRule | None:
        """A rule that computes a value of a column from itself, directly or not."""
        flows: dict[str, set[str]] = {}
        grown: list[tuple[str, str, NetRule]] = []
        for edge in edges:
            if isinstance(edge.rule, Aggregation):
                for i in range(self.program.arity[edge.head]):
                    flows.setdefault(f"{edge.head}/{i}", set()).add(f"{edge.body}/{i}")
                continue
            made = _origins(edge.rule)
            for i, arg in enumerate(edge.rule.head_args):
                names, computed = _follow(arg, made)
                for j, source in enumerate(edge.rule.body[edge.position].args):
                    if isinstance(source, tree.Variable) and source.name in names:
                        flows.setdefault(f"{edge.head}/{i}", set()).add(f"{edge.body}/{j}")
                        if computed:
                            grown.append((f"{edge.head}/{i}", f"{edge.body}/{j}", edge.rule))
        for found in list(flows.values()):
            for name in found:
                flows.setdefault(name, set())
        numbers = component_numbers(flows)
        return next((rule for head, body, rule in grown if numbers[head] == numbers[body]), None)

    def _carried(self, edges: list[Edge], aggregations: tuple[Aggregation, ...]) -> bool:
        """Whether in each rule one atom of the component carries all values, in a measure that is bounded."""
        choices: list[list[Edge]] = []
        for rule in dict.fromkeys(e.rule for e in edges):
            same = [e for e in edges if e.rule is rule]
            choices.append([e for e in same if self._carries(e, same)])
        for chosen in islice(product(*choices), _MOST_CARRIERS):
            if all(
                self._measure([e for e in chosen if e.head in part and e.body in part], aggregations, bounded=True)
                for part in recursive_sets(chosen)
            ):
                return True
        return False

    def _carries(self, edge: Edge, same: list[Edge]) -> bool:
        """Whether the head's values come from this atom and from atoms outside of the component."""
        if isinstance(edge.rule, Aggregation):
            return True
        others = {e.position for e in same if e is not edge}
        bound = variables_of_all(a for i, b in enumerate(edge.rule.body) if i not in others for a in b.args)
        made = _origins(edge.rule)
        return all(_follow(arg, made, bound)[0] <= bound for arg in edge.rule.head_args)


def program_edges(program: NetProgram) -> Iterator[Edge]:
    """What depends on what; but not through listeners, for who listens is read at home as well."""
    for rule in program.rules:
        for i, literal in enumerate(rule.body):
            if literal.name not in program.listeners:
                yield Edge(rule, rule.head, literal.name, i)
    for aggregation in program.aggregations.values():
        yield Edge(aggregation, aggregation.head, aggregation.source, 0)


def recursive_sets(edges: Iterable[Edge]) -> Iterator[frozenset[str]]:
    """The sets of relations that depend on each other by these edges."""
    graph: dict[str, set[str]] = {}
    for edge in edges:
        graph.setdefault(edge.head, set()).add(edge.body)
        graph.setdefault(edge.body, set())
    found: dict[int, list[str]] = {}
    for name, number in component_numbers(graph).items():
        found.setdefault(number, []).append(name)
    for names in found.values():
        if len(names) > 1 or names[0] in graph[names[0]]:
            yield frozenset(names)


def _of_results(bounds: ColumnBounds, aggregation: Aggregation) -> ColumnBounds:
    """What holds of every contribution, as it holds of a head fact: a min and a max may come from different ones."""
    operators = (*aggregation.operators, None)  # the last, -1, is zero
    return {(i, j): bound for (i, j), bound in bounds.items() if (operators[i], operators[j]) != ("min", "max")}


def _wrong_way(operator: str | None, how: str) -> bool:
    """Whether the column is an aggregate that prefers what the measure leads to; a choice prefers what comes first."""
    return operator != CHOICE and (operator, how) not in ((None, how), ("min", "grows"), ("max", "falls"))


def _positive(value: object) -> bool:
    return isinstance(value, int) and value > 0


def _origins(rule: NetRule) -> dict[str, tree.Term]:
    """The variables of a rule that an equation computes, with what computes them."""
    bound = variables_of_all(a for b in rule.body if not b.negated for a in b.args)
    made: dict[str, tree.Term] = {}
    for condition in rule.conditions:
        if condition.op == "=":
            for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
                if isinstance(one, tree.Variable) and one.name not in bound and one.name not in made:
                    made[one.name] = other
                    break
    return made


def _follow(
    term: tree.Term, made: dict[str, tree.Term], stop: set[str] | frozenset[str] = frozenset()
) -> tuple[set[str], bool]:
    """The variables of atoms that a term comes from, and whether it may be a value that was not there before."""
    names: set[str] = set()
    computed = False
    pending: list[tuple[tree.Term, int]] = [(term, 0)]
    while pending:
        part, depth = pending.pop()
        match part:
            case tree.Variable(name=name) if name in made and name not in stop and depth < len(made) + 1:
                pending.append((made[name], depth + 1))
            case tree.Variable(name=name):
                names.add(name)
            case tree.Functor(op=op, args=args):
                bounded = op in _FROM_FINITELY_MANY and (op != "%" or isinstance(args[1], tree.Number))
                computed |= not bounded
                inner = [(a, depth) for a in args]
                if bounded:
                    names |= {n for a in args for n in _follow(a, made, stop)[0]}
                else:
                    pending += inner
            case tree.Record(args=args):
                computed |= bool(variables_of_all(args))
                pending += [(a, depth) for a in args]
    return names, computed
