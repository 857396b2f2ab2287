"""The focused proof system SELLF (Nigam and Miller 2009), one macro-rule at a time.

A macro-rule is what happens between two stable sequents: decide on a formula; the positive phase, in which focus stays
on its subformulas and choices are made; the negative phases of what is released, which make no choices. `macro_rules`
enumerates the macro-rules that end in a given stable sequent, each with the stable sequents that remain to be proved.

∃ is instantiated by what the first focused literal or equality finds; a variable that still has no value when focus
ends is outside the fragment searched (TL1091). Every rule applied counts, and a limit ends the search (TL1090).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tidelog.errors import InternalError, TidelogError, error
from tidelog.net.functions import WrongKind
from tidelog.net.linear.contexts import Contexts, Sequent, splits
from tidelog.net.linear.formulas import (
    AtomFormula,
    Bang,
    Bottom,
    Definition,
    Dual,
    Equal,
    Forall,
    Formula,
    One,
    Par,
    Plus,
    Quest,
    Tensor,
    Test,
    ThereIs,
    Top,
    With,
    Zero,
)
from tidelog.net.linear.instructions import Loop
from tidelog.net.linear.terms import PRIME, Var, match, show_term, variables

DEFAULT_LIMIT = 500_000
TOO_DEEP = "it is nested too deeply"


class RuleStep(NamedTuple):
    """One rule applied: its name and what it was applied to."""

    rule: str
    about: Formula | None = None
    values: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        if self.values:
            return f"{self.rule} {', '.join(f'{n}={show_term(v)}' for n, v in self.values)}"
        return self.rule if self.about is None else f"{self.rule} {self.about.title}"


class MacroRule(NamedTuple):
    conclusion: Sequent
    steps: tuple[RuleStep, ...]
    premises: tuple[Sequent, ...]


class _Found(NamedTuple):
    """A way through a positive phase: the values it needs, the rules applied, what is left to prove."""

    values: dict[str, Any]
    steps: tuple[RuleStep, ...]
    premises: tuple[Sequent, ...]


class Focus:
    """The macro-rules, under a limit. With `commit`, a loop takes its elements in one order (paper 004, note 5)."""

    def __init__(self, limit: int = DEFAULT_LIMIT, commit: bool = True) -> None:
        self.limit, self.commit = limit, commit
        self.applied = 0
        self._fresh = 0

    def macro_rules(self, sequent: Sequent) -> Iterator[MacroRule]:
        try:
            for formula, step, context, linear in _decisions(sequent):
                for found in self._positive(context, linear, formula):
                    yield MacroRule(sequent, (step, *found.steps), found.premises)
        except RecursionError:
            raise outside(TOO_DEEP) from None

    def _count(self) -> None:
        self.applied += 1
        if self.applied > self.limit:
            raise error(
                "TL1090", f"the search for a derivation was stopped after {self.limit} applications of rules",
                help="raise the limit, ask about a smaller program, or follow one run instead of searching all",
            )  # fmt: skip

    # ---- positive phase: ⊢ 𝒦 : Γ ⇓ F

    def _positive(self, context: Contexts, linear: tuple[Formula, ...], formula: Formula) -> Iterator[_Found]:
        self._count()
        if formula.positive is False:
            yield self._release(context, linear, formula, ())
            return
        match formula:
            case Tensor(left=left, right=right):
                yield from self._tensor(context, linear, left, right)
            case Plus(left=left, right=right):
                for step, side in ((RuleStep("⊕1"), left), (RuleStep("⊕2"), right)):
                    yield from _after((step,), self._positive(context, linear, side))
            case ThereIs(names=names, body=body):
                yield from self._exists(context, linear, names, body)
            case Bang(index=index, body=body):
                above = context.above(index)
                if above is not None and not linear:
                    yield self._release(above, (), body, (RuleStep(f"!^{{{index}}}"),))
            case Definition():
                found = _after((RuleStep("def", formula),), self._positive(context, linear, formula.unfolded))
                if isinstance(formula, Loop) and self.commit:
                    found = (first for first in (next(found, None),) if first is not None)
                yield from found
            case Zero():
                return
            case _:
                for values, left_over, rest, step in self._consume(context, linear, formula):
                    if left_over.spent and not rest:
                        yield _Found(values, (step,), ())

    def _tensor(
        self, context: Contexts, linear: tuple[Formula, ...], left: Formula, right: Formula
    ) -> Iterator[_Found]:
        """A literal or test on the left says itself what it takes; otherwise every split is tried."""
        if isinstance(left, (Dual, Test, One)):
            for values, left_over, rest, step in self._consume(context, linear, left):
                for found in self._positive(left_over, rest, right.substitute(values)):
                    yield _Found({**values, **found.values}, (RuleStep("⊗"), step, *found.steps), found.premises)
            return
        for mine, theirs in splits(context, linear):
            self._count()
            for first in self._positive(mine.context, mine.linear, left):
                then = right.substitute(first.values)
                for second in self._positive(theirs.context, theirs.linear, then):
                    steps = (RuleStep("⊗"), *first.steps, *second.steps)
                    yield _Found({**first.values, **second.values}, steps, first.premises + second.premises)

    def _exists(
        self, context: Contexts, linear: tuple[Formula, ...], names: tuple[str, ...], body: Formula
    ) -> Iterator[_Found]:
        """New names where there are outer variables without a value, so that they are not mistaken for these."""
        fresh, opened = {n: n for n in names}, body
        if not body.free.issubset(names):
            self._fresh += 1
            fresh = {n: f"{n}{PRIME}{self._fresh}" for n in names}
            opened = body.substitute({n: Var(f) for n, f in fresh.items()})
        for found in self._positive(context, linear, opened):
            chosen = tuple((n, found.values[f]) for n, f in fresh.items() if f in found.values)
            outer = {n: v for n, v in found.values.items() if n not in fresh.values()}
            yield _Found(outer, (RuleStep("∃", None, chosen), *found.steps), found.premises)

    def _consume(
        self, context: Contexts, linear: tuple[Formula, ...], formula: Formula
    ) -> Iterator[tuple[dict[str, Any], Contexts, tuple[Formula, ...], RuleStep]]:
        """The initial rule, 1 and =: the values found and the resources left over."""
        self._count()
        match formula:
            case One():
                yield {}, context, linear, RuleStep("1")
            case Test():
                if _needs(formula):
                    raise outside(f"`{formula}` is to be decided before its variables have values")
                try:
                    values = formula.solve()
                except WrongKind as problem:
                    raise error("TL1031", f"rule `{formula.label}` cannot be evaluated: {problem}") from None
                if values is not None:
                    yield values, context, linear, RuleStep("=", formula)
            case Dual(atom=AtomFormula(index=index, args=args)):
                if variables(index):
                    raise outside(f"the context of `{formula}` is not known when focus reaches it")
                for atom in list(context[index]):
                    if isinstance(atom, AtomFormula) and (values := match(args, atom.args)) is not None:
                        yield values, context.remove(index, atom), linear, RuleStep("I", atom)
                for place, atom in enumerate(linear):
                    if isinstance(atom, AtomFormula) and atom.index == index and atom not in linear[:place]:
                        values = match(args, atom.args)
                        if values is not None:
                            yield values, context, linear[:place] + linear[place + 1 :], RuleStep("I", atom)
            case _:
                raise InternalError(f"no rule for {type(formula).__name__}")

    # ---- negative phase: ⊢ 𝒦 : Γ ⇑ L

    def _release(
        self, context: Contexts, linear: tuple[Formula, ...], formula: Formula, before: tuple[RuleStep, ...]
    ) -> _Found:
        if formula.free:
            names = ", ".join(sorted(n.split(PRIME)[0] for n in formula.free))
            raise outside(f"focus ends before {names} has a value")
        steps = list(before)
        premises = tuple(self._negative(context, linear, formula, steps))
        return _Found({}, tuple(steps), premises)

    def _negative(
        self, context: Contexts, linear: tuple[Formula, ...], formula: Formula, steps: list[RuleStep]
    ) -> Iterator[Sequent]:
        branches: list[tuple[Contexts, tuple[Formula, ...], list[Formula]]] = [(context, linear, [formula])]
        while branches:
            context, linear, pending = branches.pop()
            while pending:
                self._count()
                head = pending.pop()
                match head:
                    case Definition() if head.positive is not True:
                        steps.append(RuleStep("def", head))
                        pending.append(head.unfolded)
                    case Bottom():
                        steps.append(RuleStep("⊥"))
                    case Top():
                        steps.append(RuleStep("⊤"))
                        break
                    case Par(left=left, right=right):
                        steps.append(RuleStep("⅋"))
                        pending += [right, left]
                    case With(left=left, right=right):
                        steps.append(RuleStep("&"))
                        branches.append((context, linear, [*pending, right]))
                        pending.append(left)
                    case Quest(index=index, body=body):
                        steps.append(RuleStep(f"?^{{{index}}}", body))
                        context = context.add(index, body)
                    case Forall(names=names, body=body):
                        self._fresh += 1
                        fresh = {n: f"{n}{PRIME}{self._fresh}" for n in names}
                        steps.append(RuleStep("∀", None, tuple(fresh.items())))
                        pending.append(body.substitute(fresh))
                    case _:
                        linear = (*linear, head)
            else:
                yield Sequent(context, linear)


def _decisions(sequent: Sequent) -> Iterator[tuple[Formula, RuleStep, Contexts, tuple[Formula, ...]]]:
    """D_1 on a positive formula of Γ, D_l on a formula of 𝒦[l] that is not an atom."""
    for place, formula in enumerate(sequent.linear):
        if formula.positive is not False and formula not in sequent.linear[:place]:
            rest = sequent.linear[:place] + sequent.linear[place + 1 :]
            yield formula, RuleStep("D_1", formula), sequent.context, rest
    for index in sequent.context.compound:
        for formula in sequent.context[index]:
            if not isinstance(formula, AtomFormula):
                yield formula, RuleStep(f"D_{index}", formula), sequent.context.remove(index, formula), sequent.linear


def _after(steps: tuple[RuleStep, ...], results: Iterator[_Found]) -> Iterator[_Found]:
    return (_Found(r.values, (*steps, *r.steps), r.premises) for r in results)


def _needs(formula: Test) -> frozenset[str]:
    """The variables that must have values for the test to be decided; an equality gives values to its right side."""
    return frozenset(variables(formula.left)) if isinstance(formula, Equal) else formula.free


def outside(problem: str) -> TidelogError:
    return error(
        "TL1091", f"the search does not cover this formula: {problem}",
        help="write ∃ so that the first literal under focus gives its variables their values",
    )  # fmt: skip
