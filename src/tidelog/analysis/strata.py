"""Which relation depends on which, strongly connected components, and strata.

A relation depends on those in the bodies of its clauses; the dependency is *strict* through negation or an
aggregate, because the other relation must then be complete before this one begins. A stratum is a strongly
connected component; strata come in topological order. A strict dependency inside a component is an error: the
program has no stratified meaning.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from tidelog.analysis.clauses.flat import Clause, too_long
from tidelog.analysis.recursion import component_numbers
from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.plain import dataclass

MOST_RECURSIVE = 100
"""Each of them takes an order of the whole body."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """The head of clause number `clause` needs `relation`; `how` says in which way when that is strict."""

    relation: str
    clause: int
    how: str | None
    span: Span | None


@dataclass(frozen=True, slots=True)
class Stratum:
    """Relations that depend on each other, and the numbers of their clauses."""

    relations: tuple[str, ...]
    clauses: tuple[int, ...]
    recursive: bool


def dependencies_of(number: int, clause: Clause) -> Iterator[Dependency]:
    """What a clause's head depends on."""
    for literal in clause.body:
        if isinstance(literal, tree.Atom):
            yield Dependency(literal.name, number, None, literal.span)
            yield from _inside(number, literal.args)
        elif isinstance(literal, tree.Negation) and isinstance(literal.body, tree.Atom):
            yield Dependency(literal.body.name, number, "negation", literal.span)
            yield from _inside(number, literal.body.args)
        else:
            yield from _inside(number, tuple(literal.children()))
    yield from _inside(number, clause.head.args)


def _inside(number: int, nodes: Iterable[tree.SyntaxNode]) -> Iterator[Dependency]:
    """Atoms inside aggregates, however deep."""
    for node in nodes:
        if isinstance(node, (tree.Variable, tree.Wildcard)):
            continue
        for inner in node.walk():
            if isinstance(inner, tree.Atom):
                yield Dependency(inner.name, number, "an aggregate", inner.span)


class DependencyGraph:
    """relation -> its dependencies."""

    def __init__(self, relations: Iterable[str], clauses: list[Clause]) -> None:
        self.clauses = clauses
        self.needs: dict[str, list[Dependency]] = {name: [] for name in relations}
        for number, clause in enumerate(clauses):
            self.needs.setdefault(clause.head.name, []).extend(dependencies_of(number, clause))

    def components(self) -> list[list[str]]:
        """Strongly connected components, each before those that depend on it."""
        graph = {name: [d.relation for d in found if d.relation in self.needs] for name, found in self.needs.items()}
        members: dict[int, list[str]] = {}
        for name, number in component_numbers(graph).items():
            members.setdefault(number, []).append(name)
        return [members[number] for number in sorted(members)]

    def strata(self, report: Report) -> list[Stratum]:
        """The strata in topological order; cycles through negation or aggregates go to the report."""
        position = {name: i for i, name in enumerate(self.needs)}
        by_head: dict[str, list[int]] = {}
        for number, clause in enumerate(self.clauses):
            by_head.setdefault(clause.head.name, []).append(number)
        result = []
        for component in self.components():
            members = set(component)
            names = tuple(sorted(component, key=position.__getitem__))
            inner = [d for name in names for d in self.needs[name] if d.relation in members]
            for dependency in inner:
                if dependency.how:
                    self._report_cycle(dependency, members, report)
            for number, times in Counter(dependency.clause for dependency in inner).items():
                if times > MOST_RECURSIVE:
                    what = f"this rule has more than {MOST_RECURSIVE} atoms of relations that depend on its head"
                    too_long(what, self.clauses[number].span, report)
            clauses = tuple(sorted(n for name in names for n in by_head.get(name, ())))
            result.append(Stratum(names, clauses, bool(inner)))
        return result

    def _report_cycle(self, strict: Dependency, members: set[str], report: Report) -> None:
        head = self.clauses[strict.clause].head.name
        notes = []
        for dependency in self._path(strict.relation, head, members):
            clause = self.clauses[dependency.clause]
            through = f" through {dependency.how}" if dependency.how else ""
            notes.append((f"and `{clause.head.name}` depends on `{dependency.relation}`{through}", clause.span))
        report.error(
            "TL0401",
            f"`{head}` depends on `{strict.relation}` through {strict.how}, and `{strict.relation}` on `{head}`",
            strict.span,
            notes=tuple(notes),
            help=f"a relation must be complete before {strict.how} can use it: break this cycle",
        )

    def _path(self, start: str, goal: str, members: set[str]) -> list[Dependency]:
        """A shortest chain of dependencies from one relation of a component to another."""
        if start == goal:
            return []
        came: dict[str, tuple[str, Dependency]] = {}
        queue = deque([start])
        while queue and goal not in came:
            name = queue.popleft()
            for dependency in self.needs[name]:
                other = dependency.relation
                if other in members and other not in came and other != start:
                    came[other] = (name, dependency)
                    queue.append(other)
        path: list[Dependency] = []
        while goal != start:
            goal, dependency = came[goal]
            path.append(dependency)
        return path[::-1]
