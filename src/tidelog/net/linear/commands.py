"""The basic commands of Fig. 3 of paper 004: pick, fire, update, query; and execRules, which the paper leaves out.

execRules goes through the delta-rules of the picked update, and through the body of each from left to right. At body
atom i over the context b it copies b to b_aux^i and loops over the copy, so that b is whole again while the rest of the
body, which may read b too, is executed. Each tuple either matches, and the rest is executed under the larger
substitution, or it does not, and the loop goes on: one of the two must be proved, so nothing is skipped.
"""

from __future__ import annotations

from typing import Any

from tidelog.net.linear.formulas import (
    Bang,
    Compared,
    Continue,
    Definition,
    Equal,
    Formula,
    NoValue,
    Plus,
    Tensor,
    ThereIs,
    Top,
    Unmatched,
)
from tidelog.net.linear.instructions import ELEMENT, End, Load, Loop, Unload, copy
from tidelog.net.linear.terms import (
    DEL,
    EXEC,
    INS,
    MINIMAL,
    PICKED,
    QUERY,
    RULES,
    TEST,
    UPD,
    Assign,
    Check,
    ContextScan,
    DeltaRule,
    Var,
    auxiliary,
    delta,
    show_term,
    substitute,
    updated,
    variables,
    view,
)
from tidelog.plain import dataclass

P, L, U, R, S = (Var(n) for n in "PLURS")
COMMANDS = ("pick", "fire", "update", "query")


@dataclass(frozen=True)
class Command(Definition):
    """pick, fire, update or query."""

    name: str

    def unfold(self) -> Formula:
        return _DEFINITIONS[self.name]

    def __str__(self) -> str:
        return self.name


def basic_commands() -> tuple[Formula, ...]:
    """𝒦_BC[∞]: under the minimal bang a command starts only when no other is under way."""
    return tuple(Bang(MINIMAL, Command(name)) for name in COMMANDS)


@dataclass(frozen=True)
class ExecRules(Definition):
    positive = None
    rules: Any
    then: Formula

    def unfold(self) -> Formula:
        if not self.rules:
            return self.then
        first, *rest = self.rules
        return ExecBody(first, 0, (), ExecRules(tuple(rest), self.then))

    @property
    def title(self) -> str:
        return f"execRules {show_term(self.rules)}"

    def __str__(self) -> str:
        return f"{self.title}; {self.then}"


@dataclass(frozen=True)
class ExecBody(Definition):
    """A rule from body element `place` on, under a substitution."""

    positive = None
    rule: DeltaRule
    place: int
    known: tuple[tuple[str, Any], ...]
    then: Formula

    def unfold(self) -> Formula:
        known = dict(self.known)
        if self.place == len(self.rule.body):
            return Load((self.rule.head, substitute(self.rule.head_args, known), self.rule.sign), UPD, self.then)
        element = self.rule.body[self.place]
        match element:
            case ContextScan(source=index, pattern=pattern):
                work = auxiliary(index.of, self.place + 1)
                wanted, tuple_ = substitute(pattern, known), Var(ELEMENT)
                new = tuple(dict.fromkeys(variables(wanted)))
                fits = Tensor(Equal(tuple_, wanted), self._next(new, Continue()))
                differs = Tensor(Unmatched(tuple_, wanted), Continue())
                body = Plus(ThereIs(new, fits) if new else fits, differs)
                return copy(index, auxiliary(index.of, 0), work, Loop(work, (ELEMENT,), body, self.then))
            case Check(op=op, left=left, right=right):
                left, right = substitute(left, known), substitute(right, known)
                holds = Tensor(Compared(op, left, right, True, self.rule.label), self._next((), self.then))
                return Plus(holds, Tensor(Compared(op, left, right, False, self.rule.label), self.then))
            case Assign(name=name, value=value):
                value = substitute(value, known)
                given = Tensor(Equal(value, Var(name), self.rule.label), self._next((name,), self.then))
                return Plus(ThereIs((name,), given), Tensor(NoValue(value, self.rule.label), self.then))

    def _next(self, new: tuple[str, ...], then: Formula) -> Formula:
        return ExecBody(self.rule, self.place + 1, (*self.known, *((n, Var(n)) for n in new)), then)

    @property
    def title(self) -> str:
        return (
            f"exec {self.rule.name} at {self.place + 1}"
            if self.place < len(self.rule.body)
            else f"emit {self.rule.name}"
        )

    def __str__(self) -> str:
        return f"{self.title}; {self.then}"


def _either(on_insertion: Formula, on_deletion: Formula) -> Formula:
    return Plus(Tensor(Equal(INS, U), on_insertion), Tensor(Equal(DEL, U), on_deletion))


_UPDATE = (P, L, U)
_DEFINITIONS: dict[str, Formula] = {
    "pick": ThereIs(
        ("P", "L", "U"),
        Unload(
            UPD, _UPDATE,
            Load(_UPDATE, PICKED, _either(Load((L,), updated(P), End()), Unload(updated(P), (L,), End()))),
        ),
    ),
    "fire": ThereIs(
        ("P", "L", "U", "R"),
        Unload(
            PICKED, _UPDATE,
            Unload(
                RULES, (P, R, U),
                Load(_UPDATE, EXEC, Load((L,), delta(P), ExecRules(R, Unload(delta(P), (L,), End())))),
            ),
        ),
    ),
    "update": ThereIs(
        ("P", "L", "U"),
        Unload(EXEC, _UPDATE, _either(Load((L,), view(P), End()), Unload(view(P), (L,), End()))),
    ),
    "query": Bang(TEST, ThereIs(("S", "L"), Unload(QUERY, (S, L), Unload(view(S), (L,), Top())))),
}  # fmt: skip
