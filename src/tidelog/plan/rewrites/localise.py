"""Rule localisation (paper 000, section 2.1): every body at one node.

A rule whose body spans nodes is split. The node where the head lives (or else that of the first atom) is the *home*;
the other nodes hang below it in a tree whose edges are links: atoms at one node that name the other. A node Z below X
joins its own atoms with what came from below, and sends the result to X:

>>> from tidelog.plan.rewrites.example import network_example
>>> print(network_example("r2 reachable(@S,D) :- link(@S,Z), reachable(@Z,D).", localise))
r2-1: reachable(@S, D) :- link(@S, Z), aux(@S, Z, D).
r2-2: aux(@S, Z, D) :- reachable(@Z, D), co_link(@Z, S).
co_link(@Z, S) :- link(@S, Z).

`co_link` tells Z who listens; it is not needed when an atom at Z names X, or X is a constant. Conditions are decided at
home. The rewritten program derives the same facts. What `co_link` is made from is read at home as well, so it matters
only whether it holds, not how often: one made from derived relations is a set (`listeners`), and then a fact has as
many derivations as in the original program, but for base facts that were inserted several times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tidelog.errors import Report, Span
from tidelog.lang import tree
from tidelog.lang.ndlog_printer import print_term
from tidelog.plain import dataclass, field, replace

Place = tree.Term
"""Where an atom is stored: the term behind its `@`."""


def localise(program: tree.Program, written: Collection[str]) -> tree.Program:
    """The program with every body at one node; a TidelogError names each rule for which there is no way. The new
    relations have other names than those that are `written`."""
    report = Report()
    rewriter = _Rewriter(written, report)
    items: list[tree.Item] = []
    for item in program.items:
        items.extend(rewriter.rewrite(item) if isinstance(item, tree.Rule) else (item,))
    report.check()
    return replace(program, items=tuple(items))


def listeners(program: tree.Program, written: Collection[str]) -> frozenset[str]:
    """The relations of a localised program by which nodes say that they listen, made from derived relations."""
    derived = {rule.heads[0].name for rule in program.rules if rule.body is not None}.intersection(written)
    found: set[str] = set()
    for rule in program.rules:
        name = rule.heads[0].name
        sources = {a.name for a in map(_atom, _literals(rule)) if a is not None}
        if name not in written and name.startswith("co_") and sources & (derived | found):
            found.add(name)
    return frozenset(found)


def is_local(rule: tree.Rule) -> bool:
    """Whether all atoms of the body have the same location."""
    return len(_places(rule)) <= 1


def _literals(rule: tree.Rule) -> tuple[tree.Literal, ...]:
    if rule.body is None:
        return ()
    return rule.body.parts if isinstance(rule.body, tree.Conjunction) else (rule.body,)


def _atom(literal: tree.Literal) -> tree.Atom | None:
    inner = literal.body if isinstance(literal, tree.Negation) else literal
    return inner if isinstance(inner, tree.Atom) else None


def _place(atom: tree.Atom) -> Place | None:
    return None if atom.at is None else atom.args[atom.at]


def _places(rule: tree.Rule) -> list[Place]:
    """The locations in the body, in textual order."""
    atoms = [a for a in map(_atom, _literals(rule)) if a is not None]
    return list(dict.fromkeys(p for p in map(_place, atoms) if p is not None))


def _variables(nodes: Iterable[tree.SyntaxNode]) -> list[str]:
    names: dict[str, None] = {}
    for node in nodes:
        for n in node.walk():
            if isinstance(n, tree.Variable):
                names[n.name] = None
            elif isinstance(n, tree.HeadAggregate) and n.variable != "*":
                names[n.variable] = None
    return list(names)


@dataclass
class _Node:
    """A location of the rule: its literals, and the locations below it."""

    place: Place
    literals: list[tree.Literal] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)

    def positive(self) -> list[tree.Atom]:
        return [b for b in self.literals if isinstance(b, tree.Atom)]

    def knows(self, place: Place) -> tree.Atom | None:
        """An atom stored here that names the place."""
        return next((a for a in self.positive() if place in a.args), None)


class _Rewriter:
    def __init__(self, written: Iterable[str], report: Report) -> None:
        self.report = report
        self.names = set(written)
        self.links: dict[tuple[tree.Atom, ...], str] = {}

    def rewrite(self, rule: tree.Rule) -> list[tree.Rule]:
        if is_local(rule):
            return [rule]
        return _Split(rule, self).rules()

    def fresh(self, base: str) -> str:
        """A name that no relation has: the base, or the base with a number."""
        name, number = base, 1
        while name in self.names:
            number += 1
            name = f"{base}{number}"
        self.names.add(name)
        return name


class _Split:
    """One rule being localised."""

    def __init__(self, rule: tree.Rule, rewriter: _Rewriter) -> None:
        self.rule, self.rewriter = rule, rewriter
        self.made: list[tree.Rule] = []
        self.links: list[tree.Rule] = []
        nodes = {place: _Node(place) for place in _places(rule)}
        self.conditions: list[tree.Literal] = []
        for literal in _literals(rule):
            atom = _atom(literal)
            place = _place(atom) if atom else None
            if place is None:
                self.conditions.append(literal)
            else:
                nodes[place].literals.append(literal)
        head = _place(rule.heads[0])
        self.home = nodes[head] if head in nodes else next(iter(nodes.values()))
        self.nodes = list(nodes.values())

    def rules(self) -> list[tree.Rule]:
        if not self._hang():
            return []
        head = self.rule.heads[0]
        body = [*self.home.literals]
        needed = _variables([self.rule if _counts(head) else head, *self.conditions])
        for child in self.home.children:
            siblings = [s for s in self.home.children if s is not child]
            body += self._send(child, self.home, {*needed, *_variables(body), *self._below(siblings)})
        main = self._rule(head, [*body, *self.conditions])
        rules = [main, *self.made]
        if self.rule.label:
            rules = [replace(r, label=f"{self.rule.label}-{i + 1}") for i, r in enumerate(rules)]
        return [*rules, *self.links]

    def _hang(self) -> bool:
        """Hangs every location below the home, nearest first; an error for those that no link reaches."""
        reached, left = [self.home], [n for n in self.nodes if n is not self.home]
        for parent in reached:
            for node in list(left):
                if _linked(parent, node):
                    parent.children.append(node)
                    reached.append(node)
                    left.remove(node)
        for node in left:
            here, there = print_term(self.home.place), print_term(node.place)
            self.rewriter.report.error(
                "TL1020",
                f"the body is at `{here}` and at `{there}`, and no atom links them: the nodes do not know each other",
                node.literals[0].span or self.rule.span,
                help=f"add an atom stored at one of them that names the other, such as `link(@{here},{there})`",
            )
        return not left

    def _below(self, nodes: Iterable[_Node]) -> Iterator[str]:
        for node in nodes:
            yield from _variables([node.place, *node.literals])
            yield from self._below(node.children)

    def _send(self, node: _Node, parent: _Node, needed: set[str]) -> list[tree.Literal]:
        """The rule by which a node sends what it knows to its parent; the atom by which the parent reads it."""
        body: list[tree.Literal] = [*node.literals]
        for child in node.children:
            siblings = [s for s in node.children if s is not child]
            body += self._send(child, node, {*needed, *_variables(body), *self._below(siblings)})
        positive = [b for b in body if isinstance(b, tree.Atom)]
        missing = [v for v in _variables(body) if v not in _variables([*positive, node.place])]
        if (node.knows(parent.place) is None and isinstance(parent.place, tree.Variable)) or missing or not positive:
            body.append(self._link(node, parent, missing))
        known = _variables(b for b in body if isinstance(b, tree.Atom))
        sent = [v for v in known if v in needed]
        name = self.rewriter.fresh("aux")
        own = [node.place] if isinstance(node.place, tree.Variable) else []
        rest = [tree.Variable(v) for v in sent]
        args = list(dict.fromkeys([parent.place, *own, *rest]))
        atom = tree.Atom(name, tuple(_bare(a) for a in args), 0)
        self.made.append(self._rule(atom, body))
        return [atom]

    def _link(self, node: _Node, parent: _Node, missing: list[str]) -> tree.Atom:
        """`co_link(@Z,X)`: the parent X tells the node Z that it listens, and what Z must know for its negations."""
        atoms = parent.positive()
        naming = parent.knows(node.place)
        source = [naming] if naming else atoms[:1]
        if set(missing) - set(_variables(source)):
            source = atoms
        if not source or set(missing) - set(_variables(source)):
            lacking = sorted(set(missing) - set(_variables(source)))
            self.rewriter.report.error(
                "TL1021",
                f"the negation at `{print_term(node.place)}` needs {', '.join(f'`{v}`' for v in lacking) or 'a link'}, "
                f"which `{print_term(parent.place)}` does not know",
                node.literals[0].span or self.rule.span,
                help="join the atoms that give the value in a rule of its own first",
            )
        if isinstance(node.place, tree.Variable) and node.place.name not in _variables(source):
            naming = node.knows(parent.place)
            source = [*source, self._tell(parent.place, node.place, [], [naming] if naming else node.positive()[:1])]
        return self._tell(node.place, parent.place, missing, source)

    def _tell(self, place: Place, other: Place, values: list[str], source: list[tree.Atom]) -> tree.Atom:
        """The atom `co_r(@place, other, values)`, and its rule unless another rule of the program made it before."""
        own = [other] if isinstance(other, tree.Variable) else []
        bare = tuple(_bare(a) for a in dict.fromkeys([place, *own, *(tree.Variable(v) for v in values)]))
        key = _canonical((tree.Atom("", bare, 0), *source))
        name = self.rewriter.links.get(key)
        if name is None:
            name = self.rewriter.links[key] = self.rewriter.fresh("co_" + (source[0].name if source else "link"))
            self.links.append(replace(self._rule(tree.Atom(name, bare, 0), [*source]), label=None))
        return tree.Atom(name, bare, 0)

    def _rule(self, head: tree.Atom, body: list[tree.Literal]) -> tree.Rule:
        whole = body[0] if len(body) == 1 else tree.Conjunction(tuple(body))
        span: Span | None = self.rule.span
        return tree.Rule((head,), whole, label=self.rule.label, span=span)


def _counts(head: tree.Atom) -> bool:
    """Whether the head counts or adds up matches, so that every variable of the body matters."""
    return any(isinstance(a, tree.HeadAggregate) and a.op not in ("min", "max") for a in head.args)


def _linked(parent: _Node, node: _Node) -> bool:
    """Whether the node can hang below the parent: one names the other, or one is a constant, which everyone knows.

    A node with negated atoms only has nothing to begin with: its parent must be able to address it.
    """
    constant = not isinstance(node.place, tree.Variable)
    if not node.positive():
        return parent.knows(node.place) is not None or (constant and bool(parent.positive()))
    if parent.knows(node.place) or node.knows(parent.place) or not isinstance(parent.place, tree.Variable):
        return True
    return constant and bool(parent.positive())


def _bare(term: tree.Term) -> tree.Term:
    """The term without its span: it stands where the user wrote nothing."""
    return replace(term, span=None)


def _canonical(atoms: tuple[tree.Atom, ...]) -> tuple[tree.Atom, ...]:
    """The same atoms with variables named by first occurrence and unused ones as `_`: equal for equal meaning."""
    used = _variables(atoms[:1])
    counts: dict[str, int] = {}
    for atom in atoms[1:]:
        for name in (n.name for n in atom.walk() if isinstance(n, tree.Variable)):
            counts[name] = counts.get(name, 0) + 1
    names = {v: f"V{i}" for i, v in enumerate(dict.fromkeys([*used, *(v for v, n in counts.items() if n > 1)]))}

    def rename(term: tree.Term) -> tree.Term:
        if isinstance(term, tree.Variable):
            return tree.Variable(names[term.name]) if term.name in names else tree.Wildcard()
        return term

    return tuple(replace(a, args=tuple(map(rename, a.args))) for a in atoms)
