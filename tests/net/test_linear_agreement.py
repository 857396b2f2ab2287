"""The encoding of paper 004 and the transition system agree: command by command and run by run, on random programs."""

from __future__ import annotations

import os
from collections import Counter

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tidelog.errors import TidelogError
from tidelog.net import Configuration, Fact, NetProgram, Update, load, materialise, sn
from tidelog.net.linear import Search, Sequent, decode, encode, verify
from tidelog.net.linear.search import BAGS
from tidelog.net.store import NEW, OLD

EXAMPLES = int(os.environ.get("TIDELOG_LINEAR", "25"))


def same(sequent: Sequent, configuration: Configuration) -> None:
    """The contexts are the configuration."""
    state = decode(sequent)
    old, new = (Counter({f: n for (f, _), n in configuration.K.multiset(v).items()}) for v in (OLD, NEW))
    assert (state.old, state.new) == (old, new)
    assert (state.U, state.P, state.E) == (configuration.U, configuration.P, configuration.E)


def allowed(configuration: Configuration) -> set[tuple[str, Update]]:
    """The commands of Fig. 2; a deletion is committed when its fact is there."""
    commits = {u for u in configuration.E if u.sign > 0 or configuration.K.count(OLD, u.fact, None)}
    return (
        {("pick", u) for u in configuration.pickable()}
        | {("fire", u) for u in configuration.P}
        | {("update", u) for u in commits}
    )


def agree_at_the_end(program: NetProgram, facts: list[Fact], updates: list[Update]) -> None:
    """The SN-run, and the PSN^ν-run that picks as it comes, end in the state of SN."""
    configuration = materialise(program, facts)
    sequent = encode(program, configuration.counts().elements(), updates, updates[0].fact)
    configuration.insert(updates)
    sn(configuration)
    search = Search()
    [end] = search.final(sequent, "sn")
    assert end.last is not None
    same(end.last, configuration)
    while move := next(search.moves(sequent, "psn"), None):
        sequent = move[-1].after or sequent
    same(sequent, configuration)


PROPOSITIONS = ("a", "b", "c"), ("p", "q", "r")


@st.composite
def propositional(draw: st.DrawFn) -> str:
    """A non-recursive propositional program: bodies use what comes before their head."""
    base, derived = PROPOSITIONS
    rules = [
        f"{head} :- {', '.join(draw(st.lists(st.sampled_from(base + derived[:i]), min_size=1, max_size=3)))}."
        for i, head in enumerate(derived)
        for _ in range(draw(st.integers(1, 2)))
    ]
    return " ".join([*rules, "used :- a, b, c."])


ARITY = {"e": 2, "f": 1, "g": 2, "p": 1, "q": 2, "r": 2}


@st.composite
def first_order(draw: st.DrawFn) -> str:
    """A non-recursive program over 0, 1, 2 with constants, wildcards, comparisons and a function in the head."""
    lines = ["used(X) :- e(X,Y), f(Y), g(Y,X)."]
    for i, head in enumerate("pqr"):
        usable = ["e", "f", "g", *"pqr"[:i]]
        atoms = draw(st.lists(st.sampled_from(usable), min_size=1, max_size=3))
        terms = st.sampled_from(["X", "X", "Y", "Y", "Z", "0", "1", "_"])
        body = [f"{name}({','.join(draw(terms) for _ in range(ARITY[name]))})" for name in atoms]
        bound = sorted({c for c in "XYZ" if c in "".join(body)})
        outputs = st.sampled_from([*bound, "2", *(f"({v} + 1) % 3" for v in bound)])
        if len(bound) > 1 and draw(st.booleans()):
            body.insert(
                draw(st.integers(0, len(body))), f"{bound[0]} {draw(st.sampled_from(['!=', '<', '=']))} {bound[1]}"
            )
        lines.append(f"{head}({','.join(draw(outputs) for _ in range(ARITY[head]))}) :- {', '.join(body)}.")
    return " ".join(lines)


def facts_of(program: NetProgram) -> st.SearchStrategy[Fact]:
    names = [n for n in ("a", "b", "c", "e", "f", "g") if n in program.arity]
    value = st.integers(0, 2)
    return st.sampled_from(names).flatmap(
        lambda n: st.tuples(*[value] * program.arity[n]).map(lambda args: Fact(n, args))
    )


def burst(draw: st.DrawFn, program: NetProgram, facts: list[Fact], size: int) -> list[Update]:
    """Updates of base facts that delete no more than there is, in any order."""
    updates, present = [], Counter(facts)
    for _ in range(draw(st.integers(1, size))):
        there = sorted(f for f, n in present.items() if n > 0)
        delete = bool(there) and draw(st.booleans())
        fact = draw(st.sampled_from(there)) if delete else draw(facts_of(program))
        updates.append(Update(-1 if delete else 1, fact))
        present[fact] += updates[-1].sign
    return draw(st.permutations(updates))


@st.composite
def cases(draw: st.DrawFn, programs: st.SearchStrategy[str], size: int) -> tuple[str, list[Fact], list[Update]]:
    text = draw(programs)
    program = load(text)
    facts = draw(st.lists(facts_of(program), max_size=3))
    return text, facts, burst(draw, program, facts, size)


quick = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(st.data(), st.sampled_from([propositional(), first_order()]))
def test_random_runs_are_those_of_the_transition_system_command_by_command(
    data: st.DataObject, programs: st.SearchStrategy[str]
) -> None:
    """At every step the same commands can be executed, with the same contexts after each; deletions may wait."""
    text, facts, updates = data.draw(cases(programs, 3))
    program = load(text)
    updates = updates + data.draw(st.lists(facts_of(program).map(lambda f: Update(-1, f)), max_size=1))
    configuration = materialise(program, facts)
    sequent = encode(program, configuration.counts().elements(), updates, Fact("used", (0,) * program.arity["used"]))
    configuration.insert(updates)
    search = Search()
    for _ in range(25):
        same(sequent, configuration)
        found = {(e.command, e.uses): e for e in search.executions(sequent, BAGS)}
        assert set(found) == allowed(configuration)
        if not found:
            break
        command, update = data.draw(st.sampled_from(sorted(found, key=str)))
        assert update is not None
        getattr(configuration, {"update": "commit"}.get(command, command))(update)
        sequent = found[command, update].after or sequent


@quick
@given(st.sampled_from([propositional(), first_order()]).flatmap(lambda programs: cases(programs, 3)), st.randoms())
def test_random_programs_prove_exactly_the_facts_of_the_final_state(case, random) -> None:
    """Theorem 1 and its corollary: a PSN^ν-run in random order and the SN-run end as SN does, and prove the same."""
    text, facts, updates = case
    program = load(text)
    before = materialise(program, facts)
    view = before.counts()
    before.insert(updates)
    sn(before)
    search = Search()
    sequent = encode(program, view.elements(), updates, Fact("used", (0,) * program.arity["used"]))
    [end] = search.final(sequent, "sn")
    assert end.last is not None
    same(end.last, before)
    while waiting := list(decode(sequent).U):
        random.shuffle(waiting)
        done = next(filter(None, (search.complete(sequent, [u]) for u in waiting)))
        sequent = done[-1].after or sequent
    same(sequent, before)
    for fact in sorted(before.counts())[:2]:
        for strategy in ("sn", "psn"):
            proof = search.prove(encode(program, view.elements(), updates, fact), strategy)
            assert proof is not None
            assert verify(proof)


@settings(deadline=None, max_examples=EXAMPLES // 2, suppress_health_check=list(HealthCheck))
@given(cases(propositional(), 2))
def test_random_programs_have_all_psn_runs_end_alike(case) -> None:
    """All of them, and without a proof for what is not in the final state."""
    text, facts, updates = case
    program = load(text)
    configuration = materialise(program, facts)
    view = configuration.counts()
    configuration.insert(updates)
    sn(configuration)
    absent = next((Fact(n) for n in ("p", "q", "r", "used") if Fact(n) not in configuration.counts()), None)
    sequent = encode(program, view.elements(), updates, absent or Fact("p"))
    try:
        ends, proof = Search(20_000).final(sequent), Search(20_000).prove(sequent, "psn")
    except TidelogError as problem:
        assume(problem.codes != ("TL1090",))  # too many runs to see them all
        raise
    for end in ends:
        assert end.last is not None
        same(end.last, configuration)
    assert absent is None or proof is None


@settings(deadline=None, max_examples=EXAMPLES // 2, suppress_health_check=[HealthCheck.too_slow])
@given(cases(propositional(), 2), st.data())
def test_random_conflicting_updates_change_nothing(case, data: st.DataObject) -> None:
    """Lemma 1: with and without a pair that inserts and deletes one fact, the same is proved."""
    text, facts, updates = case
    program = load(text)
    view = materialise(program, facts).counts()
    fact = data.draw(facts_of(program))
    query = Fact(data.draw(st.sampled_from(["p", "q", "r", "a"])))
    pair = [Update(1, fact), Update(-1, fact)]
    without, with_pair = (
        Search().prove(encode(program, view.elements(), burst, query), "sn") is not None
        for burst in (updates, updates + pair)
    )
    assert without == with_pair
