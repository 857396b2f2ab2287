"""Which algorithm a program needs, and why; and the refusal to run one that could end in a wrong state.

`psn` counts derivations: right where recursion is measured (`recursion`). `supported` is right for every recursion that
has one result (`supports`). `annotated` and `cut` are those of section 5 of paper 000: right for recursion without min
and max. `auto` counts where that is right and shown to end, and takes supports for the other components.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from tidelog.errors import error
from tidelog.net.derivations import Derivations
from tidelog.net.program import NetProgram
from tidelog.net.recursion import RecursiveComponent
from tidelog.net.supports import Supports, refused, supported
from tidelog.net.values import Fact
from tidelog.plain import dataclass

START_OVER = 1 / 3
"""A burst that changes more of the base facts costs supports more than starting over (docs/net/benchmarks.md)."""

ALGORITHMS = ("auto", "psn", "supported", "annotated", "cut")
_HELP = "use --algorithm supported (or auto, which does so where it is needed)"
_KEY_HELP = "leave out the key, choose with min or max, or let a column grow around every cycle, up to a bound"
_NAMES = {
    "psn": "PSN", "supported": "PSN with supports", "annotated": "annotated PSN", "cut": "annotated PSN, cycles cut"
}  # fmt: skip


@dataclass(frozen=True)
class Method:
    """An algorithm chosen for a program: `supporting` are the components that it supports, `reasons` say why."""

    algorithm: str
    supporting: tuple[RecursiveComponent, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        return _NAMES[self.algorithm]

    def start(self, program: NetProgram) -> tuple[NetProgram, Derivations | None]:
        """The program as a run executes it, and the annotations of that run."""
        if self.algorithm == "supported":
            return supported(program, self.supporting)
        return program, None if self.algorithm == "psn" else Derivations(cut=self.algorithm == "cut")

    def packed(self) -> tuple[str, list[list[str]]]:
        """The method as JSON has it."""
        return self.algorithm, [sorted(c.relations) for c in self.supporting]

    @staticmethod
    def unpack(packed: tuple[str, list[list[str]]], program: NetProgram) -> Method:
        algorithm, names = packed
        return Method(algorithm, tuple(c for c in program.components if sorted(c.relations) in names))


def choose(algorithm: str, program: NetProgram, facts: Iterable[Fact] | None = None) -> Method:
    """The method of a run, as asked or as the program needs it with these base facts (None: with any)."""
    if algorithm not in ALGORITHMS:
        raise error("TL1044", f"there is no algorithm `{algorithm}`", help=f"there are {', '.join(ALGORITHMS)}")
    known = None if facts is None else list(facts)
    if algorithm == "supported":
        for component in program.components:
            _check_keys(component, "supports choose by what a fact rests on")
        return Method("supported", program.components)
    if algorithm == "auto":
        needing = [(c, _why(c, known)) for c in program.components]
        chosen = [(c, why) for c, why in needing if why]
        for component, why in chosen:
            _check_keys(component, why)
        if not chosen:
            return Method("psn", reasons=tuple(_endless(program)))
        return Method("supported", tuple(c for c, _ in chosen), tuple(why for _, why in chosen))
    method = Method(algorithm, reasons=tuple(_endless(program)))
    check_program(program, None)
    check_facts(program, None, known or ())
    return method


def check_program(program: NetProgram, derivations: Derivations | None, cancel: bool = False) -> None:
    """Refuses to run a recursive min or max, or to cancel, in a way that is not shown to end in the right state."""
    for component in _unsupported(program, derivations):
        if component.aggregations and component.measure is None:
            raise refused(
                component.aggregations[0],
                "no column moves on around every cycle of rules, so facts that support each other would stay",
                _help(component),
            )
        if cancel and derivations is None and component.measure is None:
            raise error(
                "TL1048", f"{component.visible} may depend on itself in a cycle, and pairs that are cancelled on it "
                "leave facts behind that nothing supports", help="do not cancel, or use --algorithm supported",
            )  # fmt: skip


def check_facts(program: NetProgram, derivations: Derivations | None, facts: Iterable[Fact]) -> None:
    """Refuses base facts that are not what the soundness of counting supposes."""
    for component in _unsupported(program, derivations):
        if component.aggregations and component.measure and component.measure.supposing:
            for fact in islice(component.against(facts), 1):
                raise refused(component.aggregations[0], _odd(component, fact), _help(component))


def _help(component: RecursiveComponent) -> str:
    return _KEY_HELP if any(a.chooses for a in component.aggregations) else _HELP


def _check_keys(component: RecursiveComponent, why: str) -> None:
    """Refuses supports for a recursion with a key: whether a fact is chosen would be part of what it rests on."""
    for keyed in islice((a for a in component.aggregations if a.chooses), 1):
        raise error(
            "TL1060", f"which fact of `{keyed.head}` stays of those with one key would depend on the order of events: "
            f"`{keyed.head}` depends on itself, and counting cannot be used: {why}",
            keyed.span, help=_KEY_HELP,
        )  # fmt: skip


def _unsupported(program: NetProgram, derivations: Derivations | None) -> list[RecursiveComponent]:
    parts = derivations.parts if isinstance(derivations, Supports) else ()
    return [c for c in program.components if not any(p.relations & c.relations for p in parts)]


def _why(component: RecursiveComponent, facts: list[Fact] | None) -> str | None:
    """Why a component needs supports; None if counting does."""
    if component.measure is None:
        return f"the recursion of {component.visible}: no column is shown to move on around every cycle of rules"
    if facts is None and any(a.chooses for a in component.aggregations):
        return None  # supports cannot choose by a key: facts that the measure does not suppose are refused
    if not component.measured(facts):
        odd = next(component.against(facts or ()), None)
        told = f"{_odd(component, odd)}, so " if odd else ""
        return f"{told}it is not shown that {component.measure}"
    if component.aggregations and not component.finite and component.growing:
        return f"rule `{component.growing.label}` makes ever new values of {component.visible}, and nothing bounds them"
    return None


def _endless(program: NetProgram) -> list[str]:
    return [
        f"rule `{c.growing.label}` makes ever new values, and nothing is seen that bounds them: the run may not end"
        for c in program.components if c.growing
    ]  # fmt: skip


def _odd(component: RecursiveComponent, fact: Fact) -> str:
    assert component.measure is not None
    columns = [i + 1 for name, i in sorted(component.measure.supposing) if name == fact.name]
    return f"argument {', '.join(map(str, columns))} of {fact} is not a positive integer"
