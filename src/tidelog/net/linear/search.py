"""The search for derivations: executions of basic commands, PSN^ν-proofs, SN-proofs and any proofs at all.

Between two commands a sequent has an empty linear context. An execution (paper 004, Definition 1) leads from one such
sequent to the next; a run is a path of executions; a proof is a run that ends with `query`. Sequents that were seen are
not searched again, and within `fire` the order of loops is fixed, so a search costs at most the number of different
states, each with the work of its commands. Sequents that are not encodings are searched by `derive`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from tidelog.errors import InternalError
from tidelog.net.linear.commands import COMMANDS, Command
from tidelog.net.linear.contexts import Sequent
from tidelog.net.linear.encoding import decode, update_of
from tidelog.net.linear.focus import DEFAULT_LIMIT, TOO_DEEP, Focus, MacroRule, outside
from tidelog.net.linear.formulas import AtomFormula, Bang, Formula
from tidelog.net.linear.terms import EXEC, PICKED, UPD
from tidelog.net.values import Update

Strategy: TypeAlias = Literal["psn", "sn", "any"]
Goals: TypeAlias = tuple[Sequent, ...]
BAGS = {"pick": UPD, "fire": PICKED, "update": EXEC}


class Execution(NamedTuple):
    """The macro-rules of one basic command; `uses` is the update that it unloads, `after` is None for query."""

    command: str
    uses: Update | None
    macros: tuple[MacroRule, ...]
    before: Sequent
    after: Sequent | None


class Proof(NamedTuple):
    """A run; with `closed`, it ends with `query` and is a proof of the first sequent."""

    executions: tuple[Execution, ...]
    first: Sequent

    @property
    def last(self) -> Sequent | None:
        return self.executions[-1].after if self.executions else self.first

    @property
    def closed(self) -> bool:
        return self.last is None


class Search:
    """Searches under one limit on the rules applied."""

    def __init__(self, limit: int = DEFAULT_LIMIT, commit: bool = True) -> None:
        self.focus = Focus(limit, commit)

    # ---- one command

    def executions(
        self, sequent: Sequent, commands: Iterable[str] = COMMANDS, uses: Update | None = None
    ) -> Iterator[Execution]:
        """Every execution that can come next; with `uses`, those that use this update."""
        if sequent.linear:
            raise InternalError("a command is being executed: no other can start")
        wanted = set(commands)
        start = (m for m in self.focus.macro_rules(sequent) if _command(m.steps[0].about) in wanted)

        def agrees(macro: MacroRule, goals: Goals) -> bool:
            return uses is None or _uses([macro]) in (None, uses)

        for path, goals in self._paths(start, lambda goals: not goals or not goals[0].linear, agrees):
            command = _command(path[0].steps[0].about) or ""
            yield Execution(command, _uses(path), tuple(path), sequent, goals[0] if goals else None)

    def execute(self, sequent: Sequent, command: str, uses: Update | None = None) -> Execution | None:
        """The first execution of a command (that uses this update), or None if there is none."""
        return next(self.executions(sequent, (command,), uses), None)

    # ---- runs

    def prove(self, sequent: Sequent, strategy: Strategy = "psn") -> Proof | None:
        """A proof of the sequent, or None if there is none of this kind (Definition 3)."""
        for proof in self.runs(sequent, strategy):
            query = self.execute(proof.last, "query") if proof.last else None
            if query is not None:
                return Proof((*proof.executions, query), sequent)
        return None

    def run(self, sequent: Sequent, strategy: Strategy = "psn") -> Proof:
        """One run until nothing but `query` can be executed."""
        done: list[Execution] = []
        here: Sequent | None = sequent
        while here is not None and (move := next(self.moves(here, strategy), None)) is not None:
            done += move
            here = move[-1].after
        return Proof(tuple(done), sequent)

    def final(self, sequent: Sequent, strategy: Strategy = "psn") -> list[Proof]:
        """A run to each different sequent in which nothing but `query` can be executed."""
        return [
            p for p in self.runs(sequent, strategy) if p.last and not any(True for _ in self.moves(p.last, strategy))
        ]

    def runs(self, sequent: Sequent, strategy: Strategy) -> Iterator[Proof]:
        """A run to every sequent that can be reached, depth first."""
        seen = {sequent}
        path: list[tuple[Execution, ...]] = []
        stack = [self.moves(sequent, strategy)]
        yield Proof((), sequent)
        while stack:
            move = next(stack[-1], None)
            if move is None:
                stack.pop()
                if path:
                    path.pop()
                continue
            after = move[-1].after
            if after is None or after in seen:
                continue
            seen.add(after)
            path.append(move)
            stack.append(self.moves(after, strategy))
            yield Proof(tuple(e for m in path for e in m), sequent)

    def moves(self, sequent: Sequent, strategy: Strategy) -> Iterator[tuple[Execution, ...]]:
        """What can come next: PSN^ν-iterations, the SN-iteration, or single commands."""
        if strategy == "any":
            return ((e,) for e in self.executions(sequent, BAGS))
        return self._psn_iterations(sequent) if strategy == "psn" else self._sn_iteration(sequent)

    def _psn_iterations(self, sequent: Sequent) -> Iterator[tuple[Execution, ...]]:
        """Complete iterations of one update."""
        for pick in self.executions(sequent, ("pick",)):
            assert pick.after is not None
            done = self.complete(pick.after, [pick.uses] if pick.uses else [], ("fire", "update"))
            if done is not None:
                yield (pick, *done)

    def _sn_iteration(self, sequent: Sequent) -> Iterator[tuple[Execution, ...]]:
        """The complete iteration of all updates; insertions first, which is an order if there is any."""
        updates = sorted(decode(sequent).U.elements(), key=lambda u: -u.sign)
        done = self.complete(sequent, updates) if updates else None
        if done:
            yield tuple(done)

    def complete(
        self, sequent: Sequent, updates: Iterable[Update], commands: tuple[str, ...] = ("pick", "fire", "update")
    ) -> list[Execution] | None:
        """A complete iteration (Definition 2): each command for all updates, in this order; None if it cannot be."""
        done: list[Execution] = []
        updates = list(updates)
        for command in commands:
            for update in updates:
                found = self.execute(sequent, command, update)
                if found is None or found.after is None:
                    return None
                done.append(found)
                sequent = found.after
        return done

    # ---- any sequent

    def derive(self, sequent: Sequent) -> list[MacroRule] | None:
        """A focused proof of any sequent, its macro-rules from the root upwards and left to right; None if none."""
        seen: set[tuple[object, ...]] = set()

        def fresh(macro: MacroRule, goals: Goals) -> bool:
            try:
                key = tuple(g.key for g in goals)
                new = key not in seen
                seen.add(key)
            except RecursionError:
                raise outside(TOO_DEEP) from None
            return new

        start = self.focus.macro_rules(sequent)
        return next((path for path, goals in self._paths(start, lambda goals: not goals, fresh)), None)

    def _paths(
        self,
        start: Iterator[MacroRule],
        stop: Callable[[Goals], bool],
        enter: Callable[[MacroRule, Goals], bool],
    ) -> Iterator[tuple[list[MacroRule], Goals]]:
        """Depth first, on an explicit stack: sequences of macro-rules for the first open goal, until `stop` holds."""
        path: list[MacroRule] = []
        rests: list[Goals] = [()]
        stack = [start]
        while stack:
            macro = next(stack[-1], None)
            if macro is None:
                stack.pop()
                rests.pop()
                if path:
                    path.pop()
                continue
            goals = macro.premises + rests[-1]
            if not goals or enter(macro, goals):
                if stop(goals):
                    yield [*path, macro], goals
                    continue
                path.append(macro)
                rests.append(goals[1:])
                stack.append(self.focus.macro_rules(goals[0]))


def _command(formula: Formula | None) -> str | None:
    return formula.body.name if isinstance(formula, Bang) and isinstance(formula.body, Command) else None


def _uses(path: Iterable[MacroRule]) -> Update | None:
    """The update that is unloaded from upd, picked or exec."""
    for macro in path:
        for step in macro.steps:
            if step.rule == "I" and isinstance(step.about, AtomFormula) and step.about.index in BAGS.values():
                return update_of(step.about)
    return None
