"""Conditions decided where the data comes from: less is sent (a rewrite of localised programs).

Localisation leaves the conditions of a rule at home (`localise`). A condition on nothing but the arguments of `aux` can
be decided at Z, before anything is sent:

>>> from tidelog.plan.rewrites.example import network_example
>>> from tidelog.plan.rewrites.localise import localise
>>> rule = "r2 path(@S,D,P) :- link(@S,Z), path(@Z,D,P2), f_inPath(P2,S) = false, P = f_concat(S,P2)."
>>> print(network_example(rule, localise))
r2-1: path(@S, D, P) :- link(@S, Z), aux(@S, Z, D, P2), f_inPath(P2, S) = false, P = f_concat(S, P2).
r2-2: aux(@S, Z, D, P2) :- path(@Z, D, P2), co_link(@Z, S).
co_link(@Z, S) :- link(@S, Z).
>>> print(network_example(rule, localise, push_conditions))
r2-1: path(@S, D, P) :- link(@S, Z), aux(@S, Z, D, P2), P = f_concat(S, P2).
r2-2: aux(@S, Z, D, P2) :- path(@Z, D, P2), co_link(@Z, S), f_inPath(P2, S) = false.
co_link(@Z, S) :- link(@S, Z).

The relations of the original program are the same; `aux` holds only what can be of use. An `aux` has one rule and one
reader, whose atom is the same as its head, so moving a condition from the reader to the rule changes nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tidelog.lang import tree
from tidelog.plain import replace


def push_conditions(program: tree.Program, written: Collection[str]) -> tree.Program:
    """The localised program with conditions moved to the rules of its auxiliary relations: those that are not among the
    `written`."""
    items = list(program.items)
    rules = [i for i, item in enumerate(items) if isinstance(item, tree.Rule)]
    reads = Counter(a.name for i in rules for a in _body(items[i]) if isinstance(a, tree.Atom))
    heads = Counter(_rule(items[i]).heads[0].name for i in rules)
    makers = {_rule(items[i]).heads[0].name: i for i in rules}
    pending = list(rules)
    while pending:
        reader = pending.pop(0)
        for atom in [a for a in _body(items[reader]) if isinstance(a, tree.Atom)]:
            maker = makers.get(atom.name)
            if maker is None or atom.name in written or (reads[atom.name], heads[atom.name]) != (1, 1):
                continue
            moved = [c for c in _body(items[reader]) if _decided_by(c, atom)]
            if moved and _rule(items[maker]).heads[0].args == atom.args:
                items[reader] = _with(items[reader], [c for c in _body(items[reader]) if c not in moved])
                items[maker] = _with(items[maker], [*_body(items[maker]), *moved])
                pending.append(maker)
    return replace(program, items=tuple(items))


def _decided_by(literal: tree.Literal, atom: tree.Atom) -> bool:
    """Whether it is a condition on variables of the atom alone."""
    if not isinstance(literal, tree.Comparison):
        return False
    known = {a.name for a in atom.args if isinstance(a, tree.Variable)}
    used = {n.name for n in literal.walk() if isinstance(n, tree.Variable)}
    return bool(used) and used <= known


def _rule(item: tree.Item) -> tree.Rule:
    assert isinstance(item, tree.Rule)
    return item


def _body(item: tree.Item) -> tuple[tree.Literal, ...]:
    body = _rule(item).body
    if body is None:
        return ()
    return body.parts if isinstance(body, tree.Conjunction) else (body,)


def _with(item: tree.Item, body: list[tree.Literal]) -> tree.Rule:
    return replace(_rule(item), body=body[0] if len(body) == 1 else tree.Conjunction(tuple(body)))
