"""Derivations as text. The root comes first: each sequent, then the rules applied to it, then the sequent above it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from tidelog.net.linear.contexts import Sequent
from tidelog.net.linear.focus import MacroRule
from tidelog.net.linear.search import Execution, Proof

Detail: TypeAlias = Literal["commands", "macros"]
WIDTH, LONGEST = 118, 48
"""Of a line of rules, and of a formula in it."""


def show_proof(proof: Proof, detail: Detail = "commands") -> str:
    """The run, one line per command with the contexts after it; with `macros`, every macro-rule and its rules."""
    lines = [show_sequent(proof.first)]
    for number, execution in enumerate(proof.executions, 1):
        lines += _execution(number, execution, detail)
    lines.append("∎" if proof.closed else "(open)")
    return "\n".join(lines) + "\n"


def show_sequent(sequent: Sequent) -> str:
    linear = ", ".join(_short(f.title) for f in sequent.linear) or "·"
    return f"⊢ {sequent.context} : {linear} ⇑ ·"


def show_macros(macros: Iterable[MacroRule]) -> str:
    """A focused proof as `Search.derive` gives it: for each macro-rule its conclusion, its rules, how many premises."""
    lines: list[str] = []
    for macro in macros:
        lines += [show_sequent(macro.conclusion), f"    {' · '.join(_rules(macro))}  [{len(macro.premises)}]"]
    return "\n".join(lines) + "\n"


def _execution(number: int, execution: Execution, detail: Detail) -> Iterator[str]:
    uses = f" {execution.uses}" if execution.uses else ""
    yield f"{number:>3} {execution.command}{uses}"
    for macro in execution.macros if detail == "macros" else ():
        yield from _wrapped(_rules(macro))
        for premise in macro.premises:
            if premise.linear:
                yield f"    {show_sequent(premise)}"
    if execution.after is not None:
        yield show_sequent(execution.after)


def _rules(macro: MacroRule) -> list[str]:
    return [_short(str(step)) for step in macro.steps]


def _wrapped(rules: list[str]) -> Iterator[str]:
    """The rules in lines of at most WIDTH, broken between rules."""
    line = "      "
    for rule in rules:
        joined = f"{line} · {rule}" if line.strip() else line + rule
        if len(joined) > WIDTH:
            yield line
            joined = f"        · {rule}"
        line = joined
    yield line


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
