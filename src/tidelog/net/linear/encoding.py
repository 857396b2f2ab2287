"""The sequent 𝒮(𝒟,𝒫,𝒰,s) of paper 004, section 4.3, and back: the transition system's ⟨𝒦,𝒰,𝒫,ℰ⟩ of a sequent.

𝒟 may be a multiset (papers 000 and 003, section 7). For every relation p and both signs 𝒦[rules] holds one atom with
the list of p's delta-rules, empty if there are none, so that `fire` can always unload it; `rules` is unbounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tidelog.errors import InternalError, Report, TidelogError, error
from tidelog.lang import tree
from tidelog.net.linear.commands import basic_commands
from tidelog.net.linear.contexts import Contexts, Sequent
from tidelog.net.linear.formulas import AtomFormula, Formula
from tidelog.net.linear.terms import (
    DEL,
    EXEC,
    INS,
    MAXIMAL,
    PICKED,
    QUERY,
    RULES,
    UPD,
    Apply,
    Assign,
    Check,
    ContextIndex,
    ContextScan,
    DeltaRule,
    Var,
    delta,
    is_value,
    updated,
    variables,
    view,
)
from tidelog.net.program import NetLiteral, NetProgram, NetRule
from tidelog.net.values import Fact, Update, value_of


def encode(program: NetProgram, facts: Iterable[Fact], updates: Iterable[Update], query: Fact) -> Sequent:
    """𝒮(𝒟,𝒫,𝒰,s): the view `facts` (with its derived facts), the program, the updates, and the fact asked for."""
    report = Report()
    facts, updates = list(facts), list(updates)
    for fact in (*facts, *(u.fact for u in updates), query):
        _check(fact, program, report)
    report.check()
    formulas: list[tuple[ContextIndex, Formula, int]] = [(MAXIMAL, command, 1) for command in basic_commands()]
    formulas += [(RULES, atom, 1) for atom in _rules(program)]
    for fact, count in Counter(facts).items():
        formulas += [(i, AtomFormula(i, (fact.args,)), count) for i in (view(fact.name), updated(fact.name))]
    formulas += [(UPD, update_atom(UPD, update), count) for update, count in Counter(updates).items()]
    formulas.append((QUERY, AtomFormula(QUERY, (query.name, query.args)), 1))
    return Sequent(Contexts.of(formulas))


def update_atom(index: ContextIndex, update: Update) -> AtomFormula:
    return AtomFormula(index, (update.fact.name, update.fact.args, INS if update.sign > 0 else DEL))


def update_of(atom: AtomFormula) -> Update:
    name, args, sign = atom.args
    return Update(1 if sign == INS else -1, Fact(name, args))


class EncodedState(NamedTuple):
    """⟨𝒦,𝒰,𝒫,ℰ⟩, with 𝒦 as the facts without and with ν."""

    old: Counter[Fact]
    new: Counter[Fact]
    U: Counter[Update]
    P: Counter[Update]
    E: Counter[Update]

    @property
    def finished(self) -> bool:
        return not (self.U or self.P or self.E)


def decode(sequent: Sequent) -> EncodedState:
    """The state of the transition system that the sequent stands for. It must not be in the middle of a command."""
    state = EncodedState(Counter(), Counter(), Counter(), Counter(), Counter())
    bags = {UPD: state.U, PICKED: state.P, EXEC: state.E}
    if sequent.linear:
        raise InternalError("a command is being executed")
    for index in sequent.context:
        for atom, count in sequent.context[index].items():
            if not isinstance(atom, AtomFormula) or index in (RULES, QUERY):
                continue
            if index in bags:
                bags[index][update_of(atom)] += count
            elif index.kind in ("view", "ν"):
                (state.old if index.kind == "view" else state.new)[Fact(index.of, atom.args[0])] += count
            else:
                raise InternalError(f"{index} is not empty between commands")
    return state


def _check(fact: Fact, program: NetProgram, report: Report) -> None:
    arity = program.arity.get(fact.name)
    if arity is None or program.is_hidden(fact.name):
        report.error("TL1093", f"`{fact}`: the program has no relation `{fact.name}`")
    elif arity != len(fact.args):
        report.error("TL1093", f"`{fact}`: `{fact.name}` has {arity} arguments in the program")


def _rules(program: NetProgram) -> Iterator[AtomFormula]:
    """𝒦_𝒫[rules]."""
    if program.aggregations:
        raise _beyond("an aggregate", next(iter(program.aggregations.values())).span)
    lists: dict[tuple[str, str], list[DeltaRule]] = {(p, u): [] for p in program.arity for u in (INS, DEL)}
    for rule in program.rules:
        for pivot, literal in enumerate(rule.body):
            if literal.negated:
                raise _beyond("negation", rule.span)
            for sign in (INS, DEL):
                lists[literal.name, sign].append(_delta_rule(rule, pivot, sign))
    for (name, sign), rules in lists.items():
        yield AtomFormula(RULES, (name, tuple(rules), sign))


def _beyond(what: str, span: Any) -> TidelogError:
    return error(
        "TL1092", f"the encoding in linear logic does not cover {what}", span,
        help="paper 004 encodes rules over atoms and function relations; `tidelog net check` covers the rest",
    )  # fmt: skip


def _delta_rule(rule: NetRule, pivot: int, sign: str) -> DeltaRule:
    """The delta-rule with Δ at `pivot`; a function relation stands where its variables are first known."""
    body: list[ContextScan | Check | Assign] = []
    bound: set[str] = set()
    waiting = list(rule.conditions)
    for place, literal in enumerate(rule.body):
        index = delta(literal.name) if place == pivot else (updated if place < pivot else view)(literal.name)
        pattern = _pattern(literal, place)
        body.append(ContextScan(index, pattern))
        bound.update(variables(pattern))
        body.extend(_ready(waiting, bound))
    if waiting:
        raise InternalError(f"rule {rule.label} is not safe")
    head_args = []
    for place, arg in enumerate(map(_term, rule.head_args)):
        if is_value(arg) or isinstance(arg, Var):
            head_args.append(arg)
        else:
            body.append(Assign(f"head{place + 1}", arg))
            head_args.append(Var(f"head{place + 1}"))
    return DeltaRule(f"{rule.label}Δ{pivot + 1}", rule.label, sign, rule.head, tuple(head_args), tuple(body))


def _pattern(literal: NetLiteral, place: int) -> tuple[Any, ...]:
    return tuple(
        Var(f"any{place + 1}_{i + 1}") if isinstance(arg, tree.Wildcard) else _term(arg)
        for i, arg in enumerate(literal.args)
    )


def _ready(waiting: list[tree.Comparison], bound: set[str]) -> Iterator[Check | Assign]:
    """Takes out of `waiting` what can be decided now; `bound` gains what that assigns."""
    progress = True
    while progress:
        progress = False
        for condition in list(waiting):
            left, right = _term(condition.left), _term(condition.right)
            missing = [t for t in (left, right) if not bound.issuperset(variables(t))]
            if not missing:
                found: Check | Assign = Check(condition.op, left, right)
            elif condition.op == "=" and len(missing) == 1 and isinstance(missing[0], Var):
                found = Assign(missing[0].name, right if missing[0] is left else left)
                bound.add(missing[0].name)
            else:
                continue
            waiting.remove(condition)
            progress = True
            yield found


def _term(term: tree.Term) -> Any:
    value = value_of(term)
    if value is not None:
        return value
    match term:
        case tree.Variable(name=name):
            return Var(name)
        case tree.Record(args=args):
            return tuple(map(_term, args))
        case tree.Functor(op=op, args=args):
            return Apply(op, tuple(map(_term, args)))
    raise InternalError(f"no term for {type(term).__name__}")
