"""A tiny centralised evaluator, independent of the engine: naive iteration over sets, component by component."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator

from tidelog.lang import tree

Facts = set[tuple[str, tuple]]

FUNCTIONS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod, "neg": operator.neg,
    "f_init": lambda a, b: (a, b), "f_concat": lambda a, p: (a, *p), "f_concatPath": lambda a, p: (a, *p),
    "f_member": lambda p, a: "true" if a in p else "false", "f_inPath": lambda p, a: "true" if a in p else "false",
    "f_size": len, "f_first": lambda p: p[0], "f_last": lambda p: p[-1],
    "f_inRange": lambda k, a, b: "true" if (a < k <= b if a < b else k > a or k <= b) else "false",
}  # fmt: skip
COMPARE = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


def value(term: tree.Term, env: dict):
    match term:
        case tree.Variable(name=name):
            return env[name]
        case tree.Record(args=args):
            return tuple(value(a, env) for a in args)
        case tree.Functor(op=op, args=args):
            return FUNCTIONS[op](*(value(a, env) for a in args))
    return term.value


def known(term: tree.Term, env: dict) -> bool:
    return all(n.name in env for n in term.walk() if isinstance(n, tree.Variable))


def unify(atom: tree.Atom, args: tuple, env: dict) -> dict | None:
    env = dict(env)
    for term, found in zip(atom.args, args, strict=True):
        if isinstance(term, tree.Wildcard):
            continue
        if isinstance(term, tree.Variable) and term.name not in env:
            env[term.name] = found
        elif value(term, env) != found:
            return None
    return env


def solve(literals: list[tree.Literal], facts: dict[str, set[tuple]], env: dict) -> Iterator[dict]:
    """Every way to satisfy the literals; the first that can be decided comes first."""
    if not literals:
        yield env
        return
    for i, literal in enumerate(literals):
        rest = literals[:i] + literals[i + 1 :]
        if isinstance(literal, tree.Boolean):
            if literal.value:
                yield from solve(rest, facts, env)
            return
        if isinstance(literal, tree.Comparison):
            left, right = known(literal.left, env), known(literal.right, env)
            if left and right:
                if COMPARE[literal.op](value(literal.left, env), value(literal.right, env)):
                    yield from solve(rest, facts, env)
                return
            if literal.op == "=" and right and isinstance(literal.left, tree.Variable):
                yield from solve(rest, facts, {**env, literal.left.name: value(literal.right, env)})
                return
            continue
        if isinstance(literal, tree.Negation):
            if known(literal.body, env):
                if tuple(value(a, env) for a in literal.body.args) not in facts.get(literal.body.name, ()):
                    yield from solve(rest, facts, env)
                return
            continue
        for args in facts.get(literal.name, ()):
            extended = unify(literal, args, env)
            if extended is not None:
                yield from solve(rest, facts, extended)
        return
    raise AssertionError("not safe")


def consequences(rule: tree.Rule, facts: dict[str, set[tuple]]) -> Facts:
    head = rule.heads[0]
    body = list(rule.body.parts) if isinstance(rule.body, tree.Conjunction) else [rule.body] if rule.body else []
    found = list(solve(body, facts, {}))
    if not any(isinstance(a, tree.HeadAggregate) for a in head.args):
        return {(head.name, tuple(value(a, env) for a in head.args)) for env in found}
    groups: dict[tuple, list[dict]] = {}
    for env in {tuple(sorted(e.items())): e for e in found}.values():
        key = tuple(value(a, env) for a in head.args if not isinstance(a, tree.HeadAggregate))
        groups.setdefault(key, []).append(env)
    result: Facts = set()
    for key, members in groups.items():
        plain = iter(key)
        result.add((head.name, tuple(
            total(a, members) if isinstance(a, tree.HeadAggregate) else next(plain) for a in head.args
        )))  # fmt: skip
    return result


def total(aggregate: tree.HeadAggregate, members: list[dict]):
    values = [1 if aggregate.variable == "*" else env[aggregate.variable] for env in members]
    return {"min": min, "max": max, "sum": sum, "count": len, "mean": lambda v: sum(v) / len(v)}[aggregate.op](values)


def components(program: tree.Program) -> list[set[str]]:
    """Relations that depend on each other, the independent ones first."""
    needs: dict[str, set[str]] = {}
    for rule in program.rules:
        atoms = {n.name for n in rule.body.walk() if isinstance(n, tree.Atom)} if rule.body else set()
        needs.setdefault(rule.heads[0].name, set()).update(atoms)
        for atom in atoms:
            needs.setdefault(atom, set())
    reach = {name: set(direct) for name, direct in needs.items()}
    changed = True
    while changed:
        changed = False
        for name in reach:
            wider = reach[name].union(*(reach[n] for n in reach[name])) if reach[name] else reach[name]
            changed |= wider != reach[name]
            reach[name] = wider
    groups = {frozenset({n, *(m for m in reach[n] if n in reach[m])}) for n in reach}
    return [set(g) for g in sorted(groups, key=lambda g: (max(len(reach[n] | {n}) for n in g), sorted(g)))]


def evaluate(program: tree.Program, given: Facts, choose: Callable[[Facts], Facts] = set) -> Facts:
    """All facts of the program: each component iterated from nothing until it no longer changes.

    Of what a round gives, `choose` says which facts stay.
    """
    done: Facts = set(given)
    for component in components(program):
        rules = [r for r in program.rules if r.heads[0].name in component]
        start = {f for f in done if f[0] in component}
        state = set(start)
        for _ in range(1000):
            facts: dict[str, set[tuple]] = {}
            for name, args in done | state:
                facts.setdefault(name, set()).add(args)
            new = choose(start.union(*(consequences(r, facts) for r in rules)))
            if new == state:
                break
            state = new
        else:
            raise AssertionError("no fixpoint")
        done |= state
    return done
