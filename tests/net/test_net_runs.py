"""Lemmas 2 and 9 to 13 and Theorems 18 and 20 of paper 000, on runs whose updates carry their derivations.

`Tree` is p^Ξ: a fact with the derivation that supports it; a base fact has a number. `Traced` is Algorithm 2 over such
facts, written from the paper and independent of the engine, which must make the same updates when trees are forgotten.
"""

from __future__ import annotations

from collections import Counter
from itertools import count, product
from random import Random
from typing import NamedTuple

import pytest

from tidelog.errors import InternalError
from tidelog.net import Derivations, Fact, Meter, Update, load, materialise, parse_updates, psn, scheduler, sn_iteration
from tidelog.net.checker import check
from tidelog.net.exhibits import EXHIBITS
from tidelog.net.linear import Search, encode, partition, verify

BASE, DERIVED = "abcd", "pqrs"


class Tree(NamedTuple):
    """A fact and its derivation: the rule and the trees of its body; or the number of a base fact."""

    fact: str
    rule: int
    body: tuple

    @property
    def height(self) -> int:
        return 1 + max(t.height for t in self.body) if self.rule >= 0 else 0

    def leaves(self) -> set:
        return {self} if self.rule < 0 else {leaf for t in self.body for leaf in t.leaves()}


class Traced:
    """Algorithm 2 with derivations: `made[i]` is 𝒰[i]."""

    def __init__(self, rules: list, base: list, inserted: list, deleted: list) -> None:
        self.rules = rules
        self.start = view(rules, base)
        self.end = view(rules, [t for t in base + inserted if t not in deleted])
        self.made = [Counter([(1, t) for t in inserted] + [(-1, t) for t in deleted])]
        old = set(self.start)
        while self.made[-1]:
            new = (old | {t for s, t in self.made[-1] if s > 0}) - {t for s, t in self.made[-1] if s < 0}
            self.made.append(Counter(self.fire(old, new, self.made[-1])))
            old = new
        self.made.pop()
        self.reached = old

    def fire(self, old: set, new: set, updates: Counter):
        """The delta-rules: what stands before Δb is taken from p^ν, what stands behind it from p."""
        for (sign, tree), n in updates.items():
            for number, (head, body) in enumerate(self.rules):
                for i, name in enumerate(body):
                    if name == tree.fact:
                        sides = [[t for t in (new if j < i else old) if t.fact == b] for j, b in enumerate(body)]
                        sides[i] = [tree] * n
                        for chosen in product(*sides):
                            yield sign, Tree(head, number, tuple(chosen))


def view(rules: list, base: list) -> set:
    """All derivations from the base facts; the rules are not recursive."""
    found = set(base)
    for _ in range(len(DERIVED) + 1):
        for number, (head, body) in enumerate(rules):
            sides = [[t for t in found if t.fact == b] for b in body]
            found |= {Tree(head, number, tuple(chosen)) for chosen in product(*sides)}
    return found


def random_traced(seed: int) -> tuple[Traced, list, list, list, list] | None:
    rng, numbers = Random(seed), count(1)
    rules = []
    for i, head in enumerate(DERIVED):
        known = BASE + DERIVED[:i]
        rules += [(head, tuple(rng.choice(known) for _ in range(rng.randint(1, 2)))) for _ in range(rng.randint(1, 2))]
    base = [Tree(rng.choice(BASE), -next(numbers), ()) for _ in range(rng.randint(1, 3))]
    inserted = [Tree(rng.choice(BASE), -next(numbers), ()) for _ in range(rng.randint(0, 2))]
    deleted = rng.sample(base, rng.randint(0, len(base)))
    if len(view(rules, base + inserted)) > 150:
        return None
    return Traced(rules, base, inserted, deleted), rules, base, inserted, deleted


RUNS = [(seed, made) for seed in range(120) if (made := random_traced(seed)) is not None]


def difference(traced: Traced) -> Counter:
    """Δ: what has to change."""
    plus = [(1, t) for t in traced.end - traced.start]
    return Counter(plus + [(-1, t) for t in traced.start - traced.end])


def conflicting(update: tuple, inserted: list, deleted: list) -> bool:
    leaves = update[1].leaves()
    return bool(leaves & set(inserted)) and bool(leaves & set(deleted))


def test_lemma_9_what_has_to_change_is_not_conflicting() -> None:
    for seed, (traced, _, _, inserted, deleted) in RUNS:
        assert not any(conflicting(u, inserted, deleted) for u in difference(traced)), seed


def test_lemma_10_updates_that_are_not_conflicting_have_to_be_made() -> None:
    for seed, (traced, _, _, inserted, deleted) in RUNS:
        delta = difference(traced)
        for made in traced.made:
            calm = Counter({u: n for u, n in made.items() if not conflicting(u, inserted, deleted)})
            assert calm <= delta, seed


def test_lemma_11_conflicting_updates_come_in_pairs_the_insertion_not_later() -> None:
    conflicts = 0
    for seed, (traced, _, _, inserted, deleted) in RUNS:
        when: dict = {}
        for i, made in enumerate(traced.made):
            for (sign, tree), n in made.items():
                if conflicting((sign, tree), inserted, deleted):
                    when.setdefault((sign, tree), []).extend([i] * n)
        for _, tree in when:
            conflicts += 1
            assert len(when[1, tree]) == len(when[-1, tree]) == 1, seed
            assert when[1, tree] <= when[-1, tree], seed
    assert conflicts > 20


def test_lemma_12_what_is_supported_by_a_derivation_of_height_i_is_made_by_iteration_i() -> None:
    for seed, (traced, *_) in RUNS:
        so_far: Counter = Counter()
        by_height: dict[int, Counter] = {}
        for update in difference(traced):
            by_height.setdefault(update[1].height, Counter())[update] += 1
        for i in range(max(by_height, default=0) + 1):
            so_far += traced.made[i] if i < len(traced.made) else Counter()
            assert by_height.get(i, Counter()) <= so_far, seed


def test_theorem_13_synchronous_sn_ends_in_the_new_view() -> None:
    for seed, (traced, *_) in RUNS:
        assert traced.reached == traced.end, seed


def engine(rules: list, base: list, inserted: list, deleted: list):
    program = load(" ".join(f"{head} :- {', '.join(body)}." for head, body in rules))
    state = materialise(program, [Fact(t.fact) for t in base])
    burst = [Update(1, Fact(t.fact)) for t in inserted] + [Update(-1, Fact(t.fact)) for t in deleted]
    return state, burst


def test_the_engine_makes_the_same_updates_when_derivations_are_forgotten() -> None:
    for seed, (traced, rules, base, inserted, deleted) in RUNS:
        state, burst = engine(rules, base, inserted, deleted)
        state.insert(burst)
        for made in traced.made[1:]:
            found = Counter()
            for update, n in sn_iteration(state):
                found[str(update)] += n
            forgotten = Counter()
            for (sign, tree), n in made.items():
                forgotten[("+" if sign > 0 else "-") + tree.fact] += n
            assert found == forgotten, seed
        sn_iteration(state)
        assert state.counts() == Counter(Fact(t.fact) for t in traced.end), seed


def test_lemma_2_psn_ends_and_theorem_18_its_run_becomes_that_of_sn() -> None:
    """A run is transformed: iterations of updates of 𝒰[0] are moved to the front, then those of 𝒰[1], and so on."""
    for seed, (traced, rules, base, inserted, deleted) in RUNS:
        state, burst = engine(rules, base, inserted, deleted)
        state.meter = Meter(100_000)
        moved = state.copy()
        picked: list[Update] = []
        psn(state, burst, scheduler("random", seed), watch=lambda now, _, seen=picked: seen.extend(now))
        assert state.finished, seed
        moved.insert(burst)
        order = {u: i for i, u in reversed(list(enumerate(picked)))}
        while moved.U:
            layer = Counter(moved.U)
            while any(moved.may_pick(u) for u in layer):
                first = min((u for u in layer if moved.may_pick(u)), key=lambda u: order.get(u, len(order)))
                moved.iteration(first)
                layer[first] -= 1
                layer = +layer
        assert moved.counts() == state.counts() == Counter(Fact(t.fact) for t in traced.end), seed


def test_theorem_20_annotated_runs_of_recursive_programs_end() -> None:
    program = load("p :- a. p :- q. q :- p. q :- b. r :- p, q. p :- r.")
    for seed in range(20):
        state = materialise(program, [Fact("a"), Fact("b")], Derivations(), Meter(20_000))
        run = psn(state, parse_updates("-a, +a, -b", program), scheduler("random", seed))
        assert not run.waiting
        assert state.facts() == {Fact("a"), Fact("p"), Fact("q"), Fact("r")}


def test_semi_naive_over_sets_is_right_with_one_derivation_each_and_wrong_with_two() -> None:
    assert "set-sn" in EXHIBITS
    one = load("p :- a, b. q :- p.")
    assert check(one, [], parse_updates("+a, +b", one), "set-sn").holds
    assert check(one, [Fact("a"), Fact("b")], parse_updates("-a", one), "set-sn").holds
    two = load("p :- a. p :- b. q :- p.")
    verdict = check(two, [Fact("a"), Fact("b")], parse_updates("-a", two), "set-sn")
    assert not verdict.holds
    assert [str(step) for step in verdict.counterexample] == [
        "-a  ⟶  {b, p, q}", "-p  ⟶  {b, q}", "-q  ⟶  {b}",
    ]  # fmt: skip


def test_definition_3_a_proof_is_of_its_kind_or_refused() -> None:
    program = load("p :- a. q :- p, b.")
    state = materialise(program, [Fact("a")])
    burst = parse_updates("+b, -a", program)
    sequent = encode(program, state.counts().elements(), burst, Fact("b"))
    for kind, sizes in (("psn", {3}), ("sn", {3, 6})):
        proof = Search().prove(sequent, kind)
        assert proof is not None
        assert {len(i) for i in partition(proof, kind)} <= sizes
        assert verify(proof, kind) > 0
    anyhow = Search().prove(sequent, "any")
    assert anyhow is not None
    wrong = anyhow._replace(executions=(anyhow.executions[0], anyhow.executions[-1]))
    with pytest.raises(InternalError, match="complete iteration"):
        partition(wrong, "psn")
    with pytest.raises(InternalError, match="query"):
        partition(anyhow._replace(executions=anyhow.executions[:-1]), "psn")
    sn_proof = Search().prove(sequent, "sn")
    assert sn_proof is not None
    with pytest.raises(InternalError):
        partition(sn_proof, "psn") if len(sn_proof.executions) > 4 else partition(wrong, "sn")
