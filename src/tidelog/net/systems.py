"""Transition systems: what the checker explores.

A system has an initial state, the moves from a state, and, for states without moves, an outcome to compare with the one
expected. States are hashable. `GroundPsn` is PSN (with or without annotations) made fast: a state is a byte string of
three counts per numbered copy of a fact, namely copies in 𝒦, insertions in 𝒰, deletions in 𝒰; identical updates are one
move. A count that does not fit raises `TooNarrow`: wider cells do. Picking n copies together, as the network does with
a message of n copies, is the same as picking them one after the other, so single copies stand for all. `CommandPsn`
runs the commands themselves and can pick several updates in one iteration.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import combinations, product
from math import prod
from typing import Any, Protocol, TypeAlias

from tidelog.net.aggregates import result
from tidelog.net.configuration import Configuration, NotAllowed, View
from tidelog.net.dependence import Dependence, dependence
from tidelog.net.ground import Grounding, Instance
from tidelog.net.program import Aggregation, NetProgram
from tidelog.net.store import OLD, Tag
from tidelog.net.supports import SupportedPart, Supports
from tidelog.net.values import Fact, Update, show_counts

Cells: TypeAlias = "array[int]"
CELLS = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""The codes of cells of so many bytes."""


class System(Protocol):
    """What can be explored. `moves` may leave out moves when asked to reduce, if `reduces` says that it can."""

    reduces: bool

    def initial(self) -> Any: ...

    def moves(self, state: Any, reduce: bool) -> Iterator[tuple[tuple[Update, ...], Any]]: ...

    def outcome(self, state: Any) -> Hashable: ...

    def facts(self, state: Any) -> Counter[Fact]:
        """The facts that users see, and how often they are there."""

    def waiting(self, state: Any) -> list[tuple[Update, int]]:
        """What is still to be picked; in a state without moves, deletions that wait for ever."""

    def show(self, state: Any) -> str: ...


class TooNarrow(Exception):
    """A count does not fit in a cell of the states."""


class GroundPsn:
    reduces = True

    def __init__(self, start: Configuration, width: int = 1) -> None:
        self.start = start
        self._code, self._width = CELLS[width], width
        self.program: NetProgram = start.program
        self.derivations = start.derivations
        self.grounding = Grounding(self.program)
        self.copies: list[tuple[int, Tag]] = []
        self._numbers: dict[tuple[int, Tag], int] = {}
        self._picked: list[int] = []
        self._of_fact: dict[int, list[int]] = {}
        self._place: dict[int, int] = {}  # of a fact's last copy; of its only one without annotations
        self._heads: dict[tuple[Any, ...], int | None] = {}
        self._dependence: Dependence | None = None
        self._analysed = False

    def initial(self) -> bytes:
        state = self._cells(b"")
        for (fact, tag), count in self.start.view().items():
            _put(state, 3 * self._copy(self._know(fact), tag), count)
        for update, count in self.start.U.items():
            _put(state, 3 * self._copy(self._know(update.fact), update.tag) + (1 if update.sign > 0 else 2), count)
        return _state(state)

    def moves(self, state: bytes, reduce: bool = False) -> Iterator[tuple[tuple[Update, ...], bytes]]:
        cells = self._cells(state)
        pending = self._pending(cells)
        ready = [(i, s) for i, s in pending if s > 0 or _get(cells, 3 * self._picked[i])]
        if reduce and len(ready) > 1:
            ready = self._alone(ready, pending) or ready
        for i, s in ready:
            yield (self._update(i, s),), self.step(cells, i, s)

    def step(self, state: Cells, copy: int, sign: int) -> bytes:
        """One PSN-iteration."""
        picked = self._picked[copy]
        new = state[:]
        new[3 * copy + (1 if sign > 0 else 2)] -= 1
        _put(new, 3 * picked, sign)
        after = new[:]
        fact = self.copies[copy][0]
        for head, weight, direction in self._fire(fact, picked, sign, state, after):
            _put(new, 3 * head + (1 if direction > 0 else 2), weight)
        return _state(new)

    def outcome(self, state: bytes) -> Hashable:
        return frozenset(self._view(state).items())

    def facts(self, state: bytes) -> Counter[Fact]:
        facts = Counter[Fact]()
        for (fact, _), n in self._view(state).items():
            facts[fact] += n
        return Counter({f: facts[f] for f in self.program.visible(facts)})

    def waiting(self, state: bytes) -> list[tuple[Update, int]]:
        cells = self._cells(state)
        return [(self._update(i, s), cells[3 * i + (1 if s > 0 else 2)]) for i, s in self._pending(cells)]

    def show(self, state: bytes) -> str:
        return show_counts(self.facts(state))

    def _cells(self, state: bytes) -> Cells:
        return array(self._code, state)

    def _pending(self, cells: Cells) -> list[tuple[int, int]]:
        return [(i, 1) for i, n in enumerate(cells[1::3]) if n] + [(i, -1) for i, n in enumerate(cells[2::3]) if n]

    def _view(self, state: bytes) -> View:
        copies = enumerate(self._cells(state)[::3])
        return Counter({(self.grounding.facts[self.copies[i][0]], self.copies[i][1]): n for i, n in copies if n})

    def _fire(self, fact: int, picked: int, sign: int, before: Cells, after: Cells) -> Iterator[tuple[int, int, int]]:
        """The updates made: copy, how often, sign."""
        appears: int | None = None
        uses = self.grounding.uses[fact]
        for instance, i in tuple(uses):
            direction = sign
            if instance.negated[i] or self._is_set_for(instance, fact):
                if appears is None:
                    appears = self._present(fact, after) - self._present(fact, before)
                direction = -appears if instance.negated[i] else appears
            if direction and self.derivations is None:
                weight = self._weight(instance, i, before, after)
                if weight:
                    yield self._head(instance, ()), weight, direction  # type: ignore[misc]
            elif direction:
                choices = self._choices(instance, i, picked, before, after)
                for choice in product(*choices) if choices is not None else ():
                    head = self._head(instance, tuple(c for c, _ in choice))
                    if head is not None:
                        yield head, prod(n for _, n in choice), direction
        if self.grounding.facts[fact].name in self.program.aggregations:
            yield from self._aggregate(fact, before, after)

    def _weight(self, instance: Instance, pivot: int, before: Cells, after: Cells) -> int:
        """Without annotations a fact has one copy: the product of the counts of the rest of the body."""
        weight = 1
        for j, number in enumerate(instance.body):
            if j != pivot:
                place = self._place.get(number, -1)
                state = after if j < pivot else before
                count = state[place] if 0 <= place < len(state) else 0
                if instance.negated[j]:
                    count = not count
                if not count:
                    return 0
                weight *= count
        return weight

    def _choices(
        self, instance: Instance, pivot: int, picked: int, before: Cells, after: Cells
    ) -> list[list[tuple[int, int]]] | None:
        """For each positive body atom its copies and their counts; None if some atom does not hold."""
        choices: list[list[tuple[int, int]]] = []
        for j, number in enumerate(instance.body):
            as_set = instance.negated[j] or self._is_set_for(instance, number)
            if j == pivot:
                if not as_set:
                    choices.append([(picked, 1)])
                continue
            state = after if j < pivot else before
            found = [(c, n) for c in self._of_fact.get(number, ()) if (n := _get(state, 3 * c))]
            if bool(found) == instance.negated[j]:
                return None
            if not as_set:
                choices.append(found)
        return choices

    def _is_set_for(self, instance: Instance, fact: int) -> bool:
        derivations = self.derivations
        return derivations is not None and derivations.is_set_for(instance.rule.head, self.grounding.facts[fact].name)

    def _head(self, instance: Instance, chosen: tuple[int, ...]) -> int | None:
        """The copy that the instance gives from these copies of its body; None if it is not made (p ∈ H)."""
        if self.derivations is None:
            known = self._place.get(instance.head)
            return known // 3 if known is not None else self._copy(self._know_number(instance.head), None)
        key = (id(instance), chosen)
        if key not in self._heads:
            facts = self.grounding.facts
            body = [(facts[self.copies[c][0]], self.copies[c][1]) for c in chosen]
            self._heads[key] = None
            if all(self.derivations.admits(facts[instance.head], fact, tag) for fact, tag in body):
                head = instance.rule.head
                used = self.derivations.used(head, [fact for fact, _ in body])
                tag = self.derivations.annotation(head, used, (tag for _, tag in body))
                self._heads[key] = self._copy(self._know_number(instance.head), tag)
        return self._heads[key]

    def _aggregate(self, fact: int, before: Cells, after: Cells) -> Iterator[tuple[int, int, int]]:
        found = self.grounding.group_of(fact)
        if found is None:
            return
        aggregation, members = found
        part = self.derivations.part_of(aggregation.head) if isinstance(self.derivations, Supports) else None
        if part is None and self._present(fact, before) == self._present(fact, after):
            return
        heads = [self._group_head(aggregation, part, members, state) for state in (before, after)]
        if heads[0] != heads[1]:
            for head, sign in ((heads[1], 1), (heads[0], -1)):
                if head is not None:
                    yield self._copy(self._know(head.fact), head.tag), 1, sign

    def _group_head(
        self, aggregation: Aggregation, part: SupportedPart | None, members: list[int], state: Cells
    ) -> Update | None:
        """The head fact that the contributions of a group give in a state."""
        if part is not None and isinstance(self.derivations, Supports):
            copies = [c for m in members for c in self._of_fact.get(m, ()) if _get(state, 3 * c)]
            facts = self.grounding.facts
            chosen = [(facts[self.copies[c][0]], self.copies[c][1]) for c in copies]
            return self.derivations.choose(aggregation, part, chosen)
        head = result(aggregation, [self.grounding.facts[m] for m in members if self._present(m, state)])
        return None if head is None else Update(1, head, self.derivations.base if self.derivations else None)

    def _present(self, fact: int, state: Cells) -> bool:
        return any(_get(state, 3 * c) for c in self._of_fact.get(fact, ()))

    def _alone(self, ready: list[tuple[int, int]], pending: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
        if not self._analysed:
            self._analysed = True
            known = [*self.start.K.facts(OLD), *(u.fact for u in self.start.U)]
            sets = self.derivations.sets_for_others if self.derivations else frozenset()
            self._dependence = dependence(self.program, known, sets)
        if self._dependence is None:
            return None
        key = self._dependence.key
        keys = {(i, s): key(self.grounding.facts[self.copies[i][0]], s) for i, s in pending}
        for move in ready:
            if self._dependence.alone(keys[move], (k for other, k in keys.items() if other != move)):
                return [move]
        return None

    def _update(self, copy: int, sign: int) -> Update:
        fact, tag = self.copies[copy]
        return Update(sign, self.grounding.facts[fact], tag)  # type: ignore[arg-type]

    def _know(self, fact: Fact) -> int:
        self.grounding.know(fact)
        return self.grounding.numbers[fact]

    def _know_number(self, number: int) -> int:
        self.grounding.know(self.grounding.facts[number])
        return number

    def _copy(self, fact: int, tag: Tag) -> int:
        number = self._numbers.get((fact, tag))
        if number is None:
            number = self._numbers[fact, tag] = len(self.copies)
            self.copies.append((fact, tag))
            self._of_fact.setdefault(fact, []).append(number)
            self._place[fact] = 3 * number
            self._picked.append(number)
            if self.derivations is not None:
                update = self.derivations.picked(Update(1, self.grounding.facts[fact], tag))
                self._picked[number] = self._copy(fact, update.tag)
        return number


class CommandPsn:
    """PSN by the commands of Fig. 2 and 3, with up to `picking` updates in a complete-iteration (None: any number)."""

    reduces = False

    def __init__(self, start: Configuration, picking: int | None = None) -> None:
        self.start, self.picking = start, picking

    def initial(self) -> tuple[Any, Any]:
        return frozenset(self.start.view().items()), frozenset(self.start.U.items())

    def moves(self, state: tuple[Any, Any], reduce: bool = False) -> Iterator[tuple[tuple[Update, ...], Any]]:
        here = self._configuration(state)
        pending = list(here.U.elements())
        seen = set[tuple[Update, ...]]()
        for size in range(1, 1 + (len(pending) if self.picking is None else min(self.picking, len(pending)))):
            for chosen in combinations(sorted(pending, key=lambda u: -u.sign), size):
                if chosen in seen:
                    continue
                seen.add(chosen)
                then = here.copy()
                try:
                    then.complete_iteration(chosen)
                except NotAllowed:
                    continue
                yield chosen, (frozenset(then.view().items()), frozenset(then.U.items()))

    def outcome(self, state: tuple[Any, Any]) -> Hashable:
        return state[0]

    def facts(self, state: tuple[Any, Any]) -> Counter[Fact]:
        found = Counter[Fact]()
        for (fact, _), n in state[0]:
            if not self.start.program.is_hidden(fact.name):
                found[fact] += n
        return found

    def waiting(self, state: tuple[Any, Any]) -> list[tuple[Update, int]]:
        return sorted(state[1], key=str)

    def show(self, state: tuple[Any, Any]) -> str:
        return show_counts(self.facts(state))

    def _configuration(self, state: tuple[Any, Any]) -> Configuration:
        here = Configuration(self.start.program, self.start.derivations, self.start.meter, self.start.rules)
        here.restore(Counter(dict(state[0])))
        here.U = Counter(dict(state[1]))
        return here


def _get(state: Cells, place: int) -> int:
    return state[place] if place < len(state) else 0


def _put(state: Cells, place: int, change: int) -> None:
    if place >= len(state):
        state.extend([0] * (place + 1 - len(state)))
    try:
        state[place] += change
    except OverflowError:
        raise TooNarrow from None


def _state(cells: Cells) -> bytes:
    """The cells as a key: without zeros at the end, so that equal states are equal."""
    while cells and not cells[-1]:
        cells.pop()
    return cells.tobytes()
