'''Magic sets: of a relation that is asked with some columns known, only what is asked for is derived.

>>> from tidelog.plan.rewrites.example import magic_example
>>> print(magic_example("""
... path(x, y) :- edge(x, y).
... path(x, y) :- edge(x, z), path(z, y).
... from_one(y) :- path(1, y).
... """, asked=["from_one"]))
from_one(y) :- path@bf(1, y).
path@bf(x, y) :- path@asked_bf(x), edge(x, y).
path@bf(x, y) :- path@asked_bf(x), edge(x, z), path@bf(z, y).
path@asked_bf(1).
path@asked_bf(z) :- path@asked_bf(x), edge(x, z).

`path@bf` has the tuples of `path` whose first column (b, bound) is in `path@asked_bf`; its second is free. The atoms of
a body are taken in an order in which as much as possible is known of each; what an atom is asked for is the join of
those before it, with what the head was asked for.

What is always true: the relations that are asked for are as before. Values that are asked for come from columns and
constants, never from a functor or a record that is put together, so that there are finitely many. What is negated or
aggregated, and all that it needs, is derived in full by the rules as they are written (so no cycle goes through a
negation that did not before), and so are inputs, what an atom asks for with nothing known, and relations that are no
sum of their rules (`eqrel`, choice domains, subsumption, lattices, `.limitsize`, counters).
'''

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy

from tidelog.analysis.checked import Checked
from tidelog.analysis.clauses import Clause
from tidelog.analysis.clauses.scopes import pattern_names
from tidelog.analysis.safety import CONSTANT
from tidelog.analysis.strata import DependencyGraph, dependencies_of
from tidelog.analysis.types import RelationInfo
from tidelog.analysis.types.typing import infer
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.plain import dataclass, replace

Adornment = str
"""Of each column, `b` if it is known and `f` if it is free."""

PRAGMA, EXCEPT = "magic-transform", "magic-transform-exclude"


def magic_sets(checked: Checked, asked: Collection[str], chosen: Callable[[str], bool] | None = None) -> Checked:
    """The program in which these relations are as before, and the `chosen` ones among the others (by what the program
    says, unless it is told) are derived as far as they are asked for."""
    chosen = chosen or choice_of(checked.program)
    eligible = {name for name in _ordinary(checked, asked) if chosen(name)}
    while eligible:
        demand = _Demand(checked, asked, eligible)
        demand.follow()
        if not demand.in_full & eligible:
            return demand.program() if demand.adorned else checked
        eligible -= demand.in_full
    return checked


def choice_of(program: tree.Program) -> Callable[[str], bool]:
    """Which relations a program wants to be transformed: by pragmas (`*` for all) and qualifiers."""
    wanted = set((program.pragma(PRAGMA) or "").split(","))
    left_out = set((program.pragma(EXCEPT) or "").split(","))
    for decl in program.of(tree.RelationDecl):
        (wanted if "magic" in decl.qualifiers else set()).add(decl.name)
        (left_out if "no_magic" in decl.qualifiers else set()).add(decl.name)
    everything = "*" in wanted and "*" not in left_out
    return lambda name: (everything or name in wanted) and name not in left_out


def _ordinary(checked: Checked, asked: Collection[str]) -> Iterator[str]:
    """The relations that are the sums of their rules, and that nothing needs in full for what it is."""
    strict = [d.relation for n, clause in enumerate(checked.clauses) for d in dependencies_of(n, clause) if d.how]
    given = {directive.relation for directive in checked.directives("input")}
    counting = {c.head.name for c in checked.clauses if c.greater is not None or _counts(c)}
    full = {*_cone(strict, checked), *asked, *given, *counting, *checked.size_limits.relations}
    for name in dict.fromkeys(clause.head.name for clause in checked.clauses):
        decl = checked.relations[name].decl
        special = "eqrel" in decl.qualifiers or decl.choice or any(a.lattice for a in decl.attributes)
        if name not in full and not special and decl.attributes:
            yield name


def _cone(names: Iterable[str], checked: Checked) -> set[str]:
    """The relations and all that they depend on."""
    reads: dict[str, set[str]] = {}
    for number, clause in enumerate(checked.clauses):
        reads.setdefault(clause.head.name, set()).update(d.relation for d in dependencies_of(number, clause))
    found, pending = set(names), list(names)
    while pending:
        for name in reads.get(pending.pop(), ()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return found


def _counts(clause: Clause) -> bool:
    parts = (clause.head, *clause.body)
    return any(isinstance(node, (tree.Counter, tree.Iteration)) for part in parts for node in part.walk())


@dataclass(frozen=True, slots=True)
class _Adorned:
    """A relation as it is asked for."""

    relation: str
    adornment: Adornment

    @property
    def name(self) -> str:
        return f"{self.relation}@{self.adornment}"

    @property
    def asked(self) -> str:
        """The relation of the values of the bound columns."""
        return f"{self.relation}@asked_{self.adornment}"

    def bound(self, args: Iterable[tree.Term]) -> tuple[tree.Term, ...]:
        return tuple(arg for arg, letter in zip(args, self.adornment, strict=True) if letter == "b")


class _Demand:
    """The rules of a program from what is asked for downwards. `in_full` are the relations that are met with nothing
    known; `adorned` those met with something known, in order."""

    def __init__(self, checked: Checked, asked: Collection[str], eligible: Collection[str]) -> None:
        self.checked, self.eligible = checked, eligible
        self.rules: dict[str, list[Clause]] = {}
        for clause in checked.clauses:
            self.rules.setdefault(clause.head.name, []).append(clause)
        self.in_full = set(asked)
        self.pending: list[str | _Adorned] = list(asked)
        self.adorned: dict[_Adorned, None] = {}
        self.clauses: list[tuple[str, Clause]] = []

    def follow(self) -> None:
        """Rewrite the rules of all that is reached, until nothing new is."""
        while self.pending:
            what = self.pending.pop()
            name = what if isinstance(what, str) else what.relation
            for clause in self.rules.get(name, ()):
                self.rewrite(clause, None if isinstance(what, str) else what)

    def need(self, name: str) -> str:
        if name not in self.in_full:
            self.in_full.add(name)
            self.pending.append(name)
        return name

    def ask(self, what: _Adorned) -> str:
        if what not in self.adorned:
            self.adorned[what] = None
            self.pending.append(what)
        return what.name

    def rewrite(self, clause: Clause, what: _Adorned | None) -> None:
        head, body = (clause.head, list(clause.body)) if what is None else _named_head(clause, what)
        known: list[tree.Literal] = []
        if what is not None:
            known.append(tree.Atom(what.asked, what.bound(head.args)))
            head = replace(head, name=what.name)
        taken: dict[int, tree.Atom] = {}
        questions: list[Clause] = []
        for place in _order(known, body, self.eligible):
            atom = body[place]
            assert isinstance(atom, tree.Atom)
            before = _bound([*known, *taken.values()], body)
            adornment = "".join("b" if _is_known(arg, before) else "f" for arg in atom.args)
            if atom.name not in self.eligible or "b" not in adornment:
                taken[place] = replace(atom, name=self.need(atom.name))
                continue
            called = _Adorned(atom.name, adornment)
            question = tree.Atom(called.asked, called.bound(atom.args))
            reasons = (*known, *map(_matched, taken.values()), *_decided(body, before))
            if question not in known:
                questions.append(Clause(question, reasons, clause.origin))
            taken[place] = replace(atom, name=self.ask(called))
        for dependency in dependencies_of(0, clause):
            if dependency.how:
                self.need(dependency.relation)
        rest = tuple(taken.get(place, literal) for place, literal in enumerate(body))
        made = replace(clause, head=head, body=(*known, *rest))
        self.clauses += [(head.name, made), *((question.head.name, question) for question in questions)]

    def program(self) -> Checked:
        """What has become of the program."""
        checked = self.checked
        infos = {name: info for name, info in checked.relations.items() if name in self.in_full}
        for what in self.adorned:
            info = checked.relations[what.relation]
            infos[what.name] = _declared(info, what.name, range(info.arity))
            columns = [column for column, letter in enumerate(what.adornment) if letter == "b"]
            infos[what.asked] = _declared(info, what.asked, columns)
        types = copy(checked.types)
        types.relations = infos
        position = {name: number for number, name in enumerate(infos)}
        clauses = [clause for _, clause in sorted(self.clauses, key=lambda found: position[found[0]])]
        gone = checked.relations.keys() - infos.keys()
        items = tuple(item for item in checked.program.items if not _is_about(item, gone))
        strata = DependencyGraph(infos, clauses).strata(Report())
        typed = infer(clauses, types, Report())
        return Checked(replace(checked.program, items=items), types, clauses, typed, strata, checked.warnings)


def _is_about(item: tree.Item, names: Collection[str]) -> bool:
    match item:
        case tree.RelationDecl(name=name) | tree.Directive(relation=name):
            return name in names
    return False


def _declared(info: RelationInfo, name: str, columns: Iterable[int]) -> RelationInfo:
    columns = list(columns)
    decl = tree.RelationDecl(name, tuple(info.decl.attributes[c] for c in columns), span=info.decl.span)
    return replace(
        info,
        name=name,
        attributes=tuple(info.attributes[c] for c in columns),
        types=tuple(info.types[c] for c in columns),
        kinds=tuple(info.kinds[c] for c in columns),
        decl=decl,
    )


def _named_head(clause: Clause, what: _Adorned) -> tuple[tree.Atom, list[tree.Literal]]:
    """The head and body with a variable for each bound column that holds more than a variable, constant or record."""
    args, more = list(clause.head.args), list[tree.Literal]()
    for column, (arg, letter) in enumerate(zip(args, what.adornment, strict=True)):
        if letter == "b" and not _is_pattern(arg):
            args[column] = tree.Variable(f"{clause.head.name}^{column}", span=arg.span)
            more.append(tree.Comparison("=", args[column], arg, span=arg.span))
    return replace(clause.head, args=tuple(args)), [*clause.body, *more]


def _is_pattern(term: tree.Term) -> bool:
    """Whether a term can be matched without computing anything."""
    if isinstance(term, (tree.Record, tree.Branch)):
        return all(map(_is_pattern, term.args))
    return isinstance(term, (tree.Variable, tree.Wildcard, *CONSTANT))


def _is_known(term: tree.Term, bound: Collection[str]) -> bool:
    return term.name in bound if isinstance(term, tree.Variable) else isinstance(term, CONSTANT)


def _order(known: list[tree.Literal], body: list[tree.Literal], eligible: Collection[str]) -> Iterator[int]:
    """The places of the positive atoms: next comes the one of which most is known (all of it, best of all); among
    equals one that is not derived on demand, and the first."""
    waiting = [place for place, literal in enumerate(body) if isinstance(literal, tree.Atom)]
    placed: list[tree.Literal] = list(known)
    while waiting:
        bound = _bound(placed, body)

        def merit(place: int, bound: Collection[str] = bound) -> tuple[bool, int, bool, int]:
            atom = body[place]
            assert isinstance(atom, tree.Atom)
            count = sum(_is_known(arg, bound) for arg in atom.args)
            return count == len(atom.args), count, atom.name not in eligible, -place

        best = max(waiting, key=merit)
        waiting.remove(best)
        placed.append(body[best])
        yield best


def _bound(placed: Iterable[tree.Literal], body: Iterable[tree.Literal]) -> set[str]:
    """The variables that have values of columns once these atoms are matched: theirs, and what equals them or is part
    of a record that does."""
    args = [arg for atom in placed if isinstance(atom, tree.Atom) for arg in atom.args]
    bound = {name for arg in args if _is_pattern(arg) for name in pattern_names(arg)}
    pairs = [(c.left, c.right) for c in body if isinstance(c, tree.Comparison) and c.op == "="]
    pairs += [(right, left) for left, right in pairs]
    size = -1
    while size != len(bound):
        size = len(bound)
        for source, target in pairs:
            if _is_known(source, bound) and _is_pattern(target):
                bound.update(pattern_names(target))
    return bound


def _matched(atom: tree.Atom) -> tree.Atom:
    """The atom without what must be computed first: atoms behind it may have a part in that."""
    return replace(atom, args=tuple(arg if _is_pattern(arg) else tree.Wildcard(span=arg.span) for arg in atom.args))


def _decided(body: Iterable[tree.Literal], bound: Collection[str]) -> Iterator[tree.Literal]:
    """The comparisons among values that are known and need not be computed."""
    for literal in body:
        if isinstance(literal, tree.Comparison) and _is_pattern(literal.left) and _is_pattern(literal.right):
            names = {*pattern_names(literal.left), *pattern_names(literal.right)}
            if names <= set(bound):
                yield literal
