"""Checks a proof, rule by rule, without searching: the rules that were applied are read, not found.

Shares with the search the formulas and the order ⪯, and nothing of how contexts are kept, divided or emptied. It covers
what the encoding needs: the left of every ⊗ is a literal, a test or 1, and no rule but ⊤ and the initial ones closes a
branch. Anything else in a proof is refused, as is a rule that does not fit; both are an `InternalError`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tidelog.errors import InternalError
from tidelog.net.linear.contexts import Contexts, Sequent
from tidelog.net.linear.focus import TOO_DEEP, MacroRule, RuleStep, outside
from tidelog.net.linear.formulas import (
    AtomFormula,
    Bang,
    Bottom,
    Definition,
    Dual,
    Formula,
    One,
    Par,
    Plus,
    Quest,
    Tensor,
    Test,
    ThereIs,
    Top,
)
from tidelog.net.linear.iterations import partition
from tidelog.net.linear.search import Proof
from tidelog.net.linear.terms import UNBOUNDED, ContextIndex, below


def verify(proof: Proof, kind: str | None = None) -> int:
    """The number of rules in the proof, all right; with a kind, it is also a proof of that (Definition 3)."""
    if kind is not None:
        partition(proof, kind)
    rules, here = 0, proof.first
    for execution in proof.executions:
        _need(execution.before == here, "a command does not start where the last one ended")
        open_: tuple[Sequent, ...] = (here,)
        for macro in execution.macros:
            _need(
                len(open_) == 1 and open_[0] is macro.conclusion, "a macro-rule does not start where the last one ended"
            )
            verify_macro(macro)
            open_ = macro.premises
            rules += len(macro.steps)
        _need(open_ == ((execution.after,) if execution.after else ()), "a command does not end where it says")
        here = execution.after or here
    return rules


def verify_macro(macro: MacroRule) -> None:
    """Raises if the rules of the macro-rule do not lead from its premises to its conclusion."""
    try:
        premises = _Replay(macro.conclusion, macro.steps).premises()
        same = [p.context == q.context and p.linear == q.linear for p, q in zip(premises, macro.premises, strict=False)]
        _need(len(premises) == len(macro.premises) and all(same), "the premises are not those of the rules")
    except RecursionError:
        raise outside(TOO_DEEP) from None


def _need(holds: bool, problem: str) -> None:
    if not holds:
        raise InternalError(f"the proof is wrong: {problem}")


class _Replay:
    """The contexts as one multiset of (index, formula), and the rules still to be read."""

    def __init__(self, sequent: Sequent, steps: Iterable[RuleStep]) -> None:
        k = sequent.context
        self.stored: Counter[tuple[ContextIndex, Formula]] = Counter({(i, f): n for i in k for f, n in k[i].items()})
        self.loose: list[Formula] = list(sequent.linear)
        self.steps = list(reversed(list(steps)))

    def premises(self) -> tuple[Sequent, ...]:
        found = self._focused(self._decided())
        _need(not self.steps, "there are rules left over")
        return found

    def _read(self, rule: str) -> RuleStep:
        _need(bool(self.steps) and self.steps[-1].rule == rule, f"{rule} is missing")
        return self.steps.pop()

    def _decided(self) -> Formula:
        _need(bool(self.steps), "there are no rules")
        step = self.steps.pop()
        formula = step.about
        if formula is None or isinstance(formula, AtomFormula):
            raise InternalError("the proof is wrong: there is nothing to decide on")
        if step.rule == "D_1":
            _need(formula in self.loose and formula.positive is not False, f"D_1 on {formula.title}")
            self.loose.remove(formula)
        else:
            places = [i for i, f in self.stored if f == formula and step.rule == f"D_{i}"]
            _need(len(places) == 1, f"{step.rule} on {formula.title}")
            self._use(places[0], formula)
        return formula

    def _use(self, index: ContextIndex, formula: Formula) -> None:
        _need(self.stored[index, formula] > 0, f"{formula} is not in {index}")
        if index not in UNBOUNDED:
            self.stored[index, formula] -= 1

    def _focused(self, formula: Formula) -> tuple[Sequent, ...]:
        while formula.positive is not False:
            match formula:
                case Definition():
                    self._definition(formula)
                    formula = formula.unfolded
                case ThereIs(names=names, body=body):
                    values = dict(self._read("∃").values)
                    _need(set(values) == set(names), "∃ does not give all its variables values")
                    formula = body.substitute(values)
                case Tensor(left=left, right=right):
                    self._read("⊗")
                    self._initial(left)
                    formula = right
                case Plus(left=left, right=right):
                    first = bool(self.steps) and self.steps[-1].rule == "⊕1"
                    self._read("⊕1" if first else "⊕2")
                    formula = left if first else right
                case Bang(index=index, body=body):
                    self._read(f"!^{{{index}}}")
                    _need(not self.loose, "Γ is not empty under a bang")
                    for i, f in +self.stored:
                        _need(below(index, i) or i in UNBOUNDED, f"{i} is not empty under !^{{{index}}}")
                        if not below(index, i):
                            del self.stored[i, f]
                    return self._released(body)
                case _:
                    self._initial(formula)
                    left_over = [i for i, _ in +self.stored if i not in UNBOUNDED]
                    _need(not left_over and not self.loose, "something linear is left over")
                    return ()
        return self._released(formula)

    def _definition(self, formula: Formula) -> None:
        """The search may have unfolded it before its variables had values, so only its name is compared."""
        _need(type(self._read("def").about) is type(formula), "another definition is unfolded")

    def _initial(self, formula: Formula) -> None:
        match formula:
            case Dual(atom=atom):
                _need(self._read("I").about == atom, "the initial rule is about another atom")
                if self.stored[atom.index, atom]:
                    self._use(atom.index, atom)
                else:
                    _need(atom in self.loose, f"{atom} is nowhere")
                    self.loose.remove(atom)
            case Test():
                self._read("=")
                _need(not formula.free and formula.solve() is not None, f"{formula} does not hold")
            case One():
                self._read("1")
            case _:
                raise InternalError(f"the check does not cover ⊗ with {type(formula).__name__} on its left")

    def _released(self, formula: Formula) -> tuple[Sequent, ...]:
        pending = [formula]
        while pending:
            head = pending.pop()
            match head:
                case Definition() if head.positive is not True:
                    self._definition(head)
                    pending.append(head.unfolded)
                case Bottom():
                    self._read("⊥")
                case Top():
                    self._read("⊤")
                    return ()
                case Par(left=left, right=right):
                    self._read("⅋")
                    pending += [right, left]
                case Quest(index=index, body=body):
                    _need(self._read(f"?^{{{index}}}").about == body, "another formula is stored")
                    self.stored[index, body] = 1 if index in UNBOUNDED else self.stored[index, body] + 1
                case _ if head.positive or isinstance(head, AtomFormula):
                    self.loose.append(head)
                case _:
                    raise InternalError(f"the check does not cover {type(head).__name__}")
        stored = ((i, f, n) for (i, f), n in self.stored.items() if n)
        return (Sequent(Contexts.of(stored), self.loose),)
