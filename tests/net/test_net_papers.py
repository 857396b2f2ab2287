"""Every example and figure of the papers 000 and 003, as the papers show it (where they err, see decision 0003)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tidelog.errors import TidelogError
from tidelog.net import (
    Configuration,
    Derivations,
    Fact,
    Meter,
    Update,
    check,
    load,
    materialise,
    parse_updates,
    psn,
    sn,
    sn_iteration,
)
from tidelog.net.annotated import annotated, infinite
from tidelog.net.exhibits import OriginalPsn
from tidelog.net.exhibits.dred import Dred

CORPUS = Path(__file__).parents[1] / "corpus" / "ndlog"


def corpus(name: str, local: bool = False):
    return load((CORPUS / f"{name}.ndlog").read_text(), name, local)


def shown(counts: Counter) -> list[str]:
    return sorted(str(f) for f in counts.elements())


def signed(made) -> list[str]:
    return sorted(str(u) for u, n in made for _ in range(n))


# ---- paper 000, section 2


def test_multiset_semantics_counts_derivations() -> None:
    program = load("p :- s, t, r. s :- q. t :- u. q :- . u :- .")
    assert shown(materialise(program).counts()) == ["q", "s", "t", "u"]
    program = load("p :- s, t, r. s :- q. t :- u. q :- . u :- . s :- u.")
    assert shown(materialise(program).counts()) == ["q", "s", "s", "t", "u"]


def test_an_update_multiset_is_applied_copy_by_copy() -> None:
    """Section 2.3: {q(a),q(a),q(b),q(c)} with +q(d), -q(a), -q(a) becomes {q(b),q(c),q(d)}."""
    program = load("p(X) :- q(X).")
    configuration = materialise(program, [Fact("q", (x,)) for x in "aabc"])
    psn(configuration, parse_updates("+q(d), -q(a), -q(a)", program))
    assert shown(configuration.counts()) == ["p(b)", "p(c)", "p(d)", "q(b)", "q(c)", "q(d)"]


# ---- Fig. 1 and section 3.2


def test_the_state_of_figure_1() -> None:
    assert shown(materialise(corpus("two_three_hop")).counts()) == [
        "hop(a,c)", "hop(a,c)", "hop(b,h)", "hop(d,h)",
        "link(a,b)", "link(a,d)", "link(b,c)", "link(c,h)", "link(d,c)", "link(f,g)",
        "tri_hop(a,h)", "tri_hop(a,h)",
    ]  # fmt: skip


def figure_1() -> Configuration:
    program = corpus("two_three_hop")
    configuration = materialise(program)
    configuration.insert(parse_updates("+link(@d,f), +link(@a,f), -link(@a,b)", program))
    return configuration


def test_the_execution_of_section_3_2_command_by_command() -> None:
    """Section 4.1 writes down the configuration after each command."""
    configuration = figure_1()
    u = Update(1, Fact("link", ("a", "f")))
    before = configuration.view()
    picked = configuration.pick(u)
    assert (configuration.K.count(1, u.fact, None), configuration.K.count(0, u.fact, None)) == (1, 0)
    assert sorted(map(str, configuration.U)) == ["+link(d,f)", "-link(a,b)"]
    assert list(configuration.P) == [u]
    assert signed(configuration.fire(picked)) == ["+hop(a,g)"]
    assert not configuration.P
    assert list(configuration.E) == [u]
    assert configuration.view() == before
    configuration.commit(picked)
    assert sorted(map(str, configuration.U)) == ["+hop(a,g)", "+link(d,f)", "-link(a,b)"]
    assert configuration.view() == before + Counter({(u.fact, None): 1})
    assert not configuration.E


def test_the_sn_iteration_of_section_4_2() -> None:
    """The paper also lists -hop(a,h), but no two links lead from a to h: it is tri_hop(a,h) that loses a derivation."""
    configuration = figure_1()
    assert signed(sn_iteration(configuration)) == ["+hop(a,f)", "+hop(a,g)", "+hop(d,g)", "-hop(a,c)"]
    assert signed(sn_iteration(configuration)) == ["+tri_hop(a,g)", "-tri_hop(a,h)"]
    sn(configuration)
    assert shown(configuration.counts()) == [
        "hop(a,c)", "hop(a,f)", "hop(a,g)", "hop(b,h)", "hop(d,g)", "hop(d,h)",
        "link(a,d)", "link(a,f)", "link(b,c)", "link(c,h)", "link(d,c)", "link(d,f)", "link(f,g)",
        "tri_hop(a,g)", "tri_hop(a,h)",
    ]  # fmt: skip


def test_three_psn_iterations_in_any_order_make_the_updates_of_one_sn_iteration() -> None:
    """Section 4.4, below Lemma 16."""
    from itertools import permutations

    for order in permutations(["+link(@d,f)", "+link(@a,f)", "-link(@a,b)"]):
        configuration = figure_1()
        for text in order:
            configuration.iteration(parse_updates(text, configuration.program)[0])
        assert sorted(map(str, configuration.U.elements())) == ["+hop(a,f)", "+hop(a,g)", "+hop(d,g)", "-hop(a,c)"]


def test_every_run_of_figure_1_ends_the_same() -> None:
    program = corpus("two_three_hop")
    verdict = check(program, (), parse_updates("+link(@d,f), +link(@a,f), -link(@a,b)", program), reduce=False)
    assert verdict.holds
    assert (verdict.runs, verdict.configurations) == (3780, 84)


def test_iterations_on_two_nodes_do_not_disturb_each_other() -> None:
    """Section 3.2: the two-rule example before Theorem 3."""
    program = corpus("concurrent_nodes")
    start = Configuration(program)
    start.insert(Update(1, f) for f in program.facts)
    for update in list(start.U):
        start.iteration(update)
    start.U.clear()  # the paper's initial state has no s yet: its insertion is in the burst
    start.insert(parse_updates_anywhere("+s(@n2,n1), -q(@n1)", program))
    together, one, other = start.copy(), start.copy(), start.copy()
    s, q = list(start.U)
    assert signed(together.complete_iteration([s, q])) == ["+p(n1)", "-s(n2,n1)"]
    one.iteration(s), one.iteration(q)
    other.iteration(q), other.iteration(s)
    assert together.view() == one.view() == other.view()
    assert together.U == one.U == other.U


def parse_updates_anywhere(text: str, program) -> list[Update]:
    """Updates of derived facts too, as the paper's example has them in flight."""
    from tidelog.lang import ndlog
    from tidelog.net.values import fact_of

    return [Update(1 if sign == "+" else -1, fact_of(atom)) for sign, atom in ndlog.parse_updates(text)]


# ---- section 4


def test_sn_makes_conflicting_updates_that_cancel_out() -> None:
    """Section 4.3: p :- q, r and q :- s, state {s,q}, updates +r, -s: ⟨+,p⟩ is made though it is not in Δ."""
    program = load("p :- q, r. q :- s.")
    configuration = materialise(program, [Fact("s")])
    configuration.insert(parse_updates("+r, -s", program))
    assert signed(sn_iteration(configuration)) == ["+p", "-q"]
    sn(configuration)
    assert shown(configuration.counts()) == ["r"]


@pytest.mark.parametrize(("order", "made"), [(("+r", "-q"), ["+p", "-p"]), (("-q", "+r"), [])])
def test_the_order_of_picks_decides_whether_a_conflicting_pair_is_made(order: tuple[str, str], made: list[str]) -> None:
    """Section 4.4: p :- r, q with q in the state."""
    program = load("p :- r, q.")
    configuration = materialise(program, [Fact("q")])
    updates = {str(u): u for u in configuration.insert(parse_updates("+r, -q", program))}
    assert sorted(s for text in order for s in signed(configuration.iteration(updates[text]))) == made
    together = materialise(program, [Fact("q")])
    assert signed(together.complete_iteration(together.insert(parse_updates("+r, -q", program)))) == ["+p", "-p"]


# ---- section 5


def test_neither_algorithm_ends_on_a_cycle_and_the_error_names_the_rule() -> None:
    program = load("a1 p(@1) :- a(@0).\na2 q(@2) :- p(@1).\na3 p(@1) :- q(@2).")
    for run in (lambda c: psn(c), sn):
        configuration = Configuration(program, meter=Meter(1000))
        configuration.insert(parse_updates("+a(@0)", program))
        with pytest.raises(TidelogError, match=r"TL1030.*not settled after 1000 updates; rule `a[23]` alone made"):
            run(configuration)


def test_the_annotated_state_of_a_cycle() -> None:
    """{(a,∅,∅), (p,{a},∅), (q,{p,a},∅), (p,{a,p,q},{p}), …}; the last q closes its cycle too."""
    run = annotated(corpus("cycle"))
    derivations = run.configuration.derivations

    def names(number: int) -> str:
        return "".join(sorted(x.name for x in derivations.sets.members(number)))

    state = {(f.name, names(t.support), names(t.infinite)) for f, t in run.configuration.view()}
    assert state == {("a", "", ""), ("p", "a", ""), ("q", "ap", ""), ("p", "apq", "p"), ("q", "apq", "pq")}
    assert {f.name for f in infinite(run.configuration)} == {"p", "q"}


def test_the_updates_of_figure_5() -> None:
    program = load("{p :- s; q :- p; r :- q; p :- r; q :- r}")
    configuration = Configuration(program, Derivations())
    show = configuration.derivations.show
    made_by: dict[str, list[str]] = {}
    psn(configuration, [Update(1, Fact("s"))],
        watch=lambda picked, made: made_by.update({show(picked[0]): [show(u) for u, _ in made]}))  # fmt: skip
    P = "{s,p,q,r}"
    assert made_by == {
        "⟨+,(s,∅,∅)⟩": ["⟨+,(p,{s},∅)⟩"],
        "⟨+,(p,{s},∅)⟩": ["⟨+,(q,{s,p},∅)⟩"],
        "⟨+,(q,{s,p},∅)⟩": ["⟨+,(r,{s,p,q},∅)⟩"],
        "⟨+,(r,{s,p,q},∅)⟩": [f"⟨+,(p,{P},∅)⟩", f"⟨+,(q,{P},∅)⟩"],
        f"⟨+,(p,{P},∅)⟩": [f"⟨+,(q,{P},{{p}})⟩"],  # branch 1
        f"⟨+,(q,{P},{{p}})⟩": [f"⟨+,(r,{P},{{p,q}})⟩"],
        f"⟨+,(r,{P},{{p,q}})⟩": [],
        f"⟨+,(q,{P},∅)⟩": [f"⟨+,(r,{P},{{q}})⟩"],  # branch 2
        f"⟨+,(r,{P},{{q}})⟩": [f"⟨+,(p,{P},{{q,r}})⟩"],
        f"⟨+,(p,{P},{{q,r}})⟩": [],
    }
    assert {f.name for f in infinite(configuration)} == {"p", "q", "r"}
    psn(configuration, [Update(-1, Fact("s"))])
    assert not configuration.view()


# ---- section 6 and paper 003


def test_the_unsound_run_of_figure_6() -> None:
    """Fig. 6 (Fig. 1 of paper 003): burst, dequeue +r, dequeue -q and -u, dequeue all; p stays."""
    program = corpus("four_nodes")
    burst = parse_updates("+r@2, -q@3, -u@4", program)
    system = OriginalPsn(program, materialise(program).counts(), burst, Meter())
    state = system.initial()
    run = [system.show(state)]
    for text in ("+r(2)", "-q(3)", "-u(4)", "+p(1)", "-s(2)", "-t(2)"):
        state = next(then for picked, then in system.moves(state) if str(picked[0]) == text)
        run.append(system.show(state))
    assert run == [
        "{r(2), s(2), t(2)}",
        "{p(1), r(2), s(2), t(2)}",
        "{p(1), r(2), t(2)}",
        "{p(1), r(2)}",
        "{p(1), r(2)}",
        "{p(1), r(2)}",
        "{p(1), r(2)}",
    ]
    assert not list(system.moves(state))
    verdict = check(program, (), burst, "original")
    assert not verdict.holds
    assert verdict.reached == "{p(1), r(2)}"
    assert verdict.expected == "{r(2)}"


def test_the_sound_run_of_paper_003_figure_3() -> None:
    program = corpus("four_nodes")
    configuration = materialise(program)
    configuration.insert(parse_updates("+r@2, -q@3, -u@4", program))
    states = []
    for text in ("+r(2)", "-q(3)", "-u(4)", "-s(2)", "-t(2)", "+p(1)", "-p(1)"):
        configuration.iteration(next(u for u in configuration.U if str(u) == text))
        states.append("".join(sorted(f.name for f in configuration.counts().elements())))
    assert states == ["qrstu", "rstu", "rst", "rt", "r", "pr", "r"]
    assert configuration.finished
    assert check(program, (), parse_updates("+r@2, -q@3, -u@4", program), reduce=False).runs == 140


def test_one_new_t_gives_one_new_p_but_two_in_the_original_psn() -> None:
    program = corpus("double_derivation")
    burst = parse_updates("+t@1", program)
    assert check(program, (), burst, "psn").holds
    verdict = check(program, (), burst, "original")
    assert verdict.reached == "{p(1) × 2, t(1)}"
    assert verdict.expected == "{p(1), t(1)}"
    configuration = materialise(program, [Fact("t", (1,))] * 3)
    assert configuration.counts() == Counter({Fact("t", (1,)): 3, Fact("p", (1,)): 9})


def test_p_if_p_diverges_without_annotations_and_settles_with_them() -> None:
    """Paper 003, section 3.1: queue [INS(a), DEL(a)]."""
    program = corpus("divergence")
    burst = parse_updates("+a@1, -a@1", program)
    with pytest.raises(TidelogError, match="TL1030"):
        psn(Configuration(program, meter=Meter(500)), burst)
    run = psn(Configuration(program, Derivations()), burst)
    assert run.configuration.finished
    assert not run.configuration.view()
    assert check(program, (), burst, "annotated", reduce=False).holds
    verdict = check(program, (), burst, "original")
    assert verdict.endless
    assert str(verdict).startswith("some run of original never ends")


def test_base_facts_as_annotations_lose_a_deletion_that_overtakes_its_insertion() -> None:
    program = load("p(@1) :- a(@0). q(@2) :- p(@1). p(@1) :- q(@2).")
    burst = parse_updates("-a(@0), +a(@0)", program)
    verdict = check(program, (), burst, "base-facts")
    assert not verdict.holds
    assert verdict.reached == "{a(0), p(1), q(2)}"
    assert verdict.expected == "{}"
    assert str(verdict.counterexample[0].picked[0]) == "-a(0)"
    assert check(program, (), burst, "annotated", reduce=False).holds
    assert check(corpus("cycle"), (), parse_updates("-a(@0)", corpus("cycle")), "base-facts").holds


def test_the_count_algorithm_leaves_facts_that_support_themselves() -> None:
    program = corpus("cycle")
    verdict = check(program, (), parse_updates("-a(@0)", program), "counting")
    assert verdict.reached == "{p(1), q(2)}"
    assert verdict.expected == "{}"


def test_dred_counts_bytes_and_rounds_of_each_phase() -> None:
    program = load("hop(@X,Y) :- link(@X,Z), link(@Z,Y).", local=True)
    links = [Fact("link", ends) for ends in ("ab", "bc", "ad", "dc") for ends in [tuple(ends)]]
    dred = Dred(program, links)
    cost = dred.update([Update(-1, links[1])])
    gone = [b'[-1,"co_link",["c","b"]]', b'[-1,"aux",["a","b","c"]]']  # then -hop(@a,c) at home, which d gives again
    assert (cost.deletion.messages, cost.deletion.bytes, cost.deletion.rounds) == (2, sum(map(len, gone)), 1)
    assert ([str(f) for f in cost.rederived], cost.rederivation.messages) == (["hop(a,c)"], 0)
    back = dred.update([Update(1, links[1])])
    assert (back.messages, back.bytes, back.rounds) == (2, cost.bytes - 2, 1)
    assert dred.update([Update(1, Fact("link", ("c", "e")))]).rounds == 1


def test_dred_deletes_and_sends_again_what_psn_only_counts_down() -> None:
    """Section 6, Fig. 1. The paper says reachable(a,b) is re-derived too; nothing but the deleted link leads to b."""
    program = load(
        "r1: reachable(@S,D) :- link(@S,D).\nr2: reachable(@S,D) :- link(@S,Z), reachable(@Z,D).", local=True
    )
    facts = [Fact("link", tuple(pair)) for pair in ("ab", "ad", "dc", "bc", "ch", "fg")]
    burst = parse_updates("-link(@a,b)", program)
    dred = Dred(program, facts)
    cost = dred.update(burst)
    reached = sorted(str(f) for f in cost.rederived if f.name == "reachable")
    assert reached == ["reachable(a,c)", "reachable(a,h)"]
    configuration = materialise(program, facts)
    run = psn(configuration, burst)
    assert configuration.facts() == dred.facts
    assert Fact("reachable", ("a", "b")) not in dred.facts
    assert (run.messages, cost.messages) == (3, 3)  # localised, node a still holds what d told it

    further = [*facts, Fact("link", ("x", "a"))]  # a node upstream is told twice by DRed
    run, cost = psn(materialise(program, further), burst), Dred(program, further).update(burst)
    assert (run.messages, cost.messages) == (6, 8)


def test_path_vector_is_recursive_and_settles_without_annotations() -> None:
    """Papers 003 and 004, section 2: f_inPath bounds the derivations."""
    program = corpus("path_vector", local=True)
    configuration = materialise(program, [Fact("link", (a, b, 1)) for a, b in ("ab", "ba", "bc", "cb", "ca", "ac")])
    paths = sorted(str(f) for f in configuration.facts() if f.name == "path" and f.args[0] == "a")
    assert paths == [
        "path(a,b,[a, b],1)", "path(a,b,[a, c, b],2)", "path(a,c,[a, b, c],2)", "path(a,c,[a, c],1)",
    ]  # fmt: skip
    psn(configuration, parse_updates("-link(@a,c,1), -link(@c,a,1)", program))
    paths = sorted(str(f) for f in configuration.facts() if f.name == "path" and f.args[0] == "a")
    assert paths == ["path(a,b,[a, b],1)", "path(a,c,[a, b, c],2)"]
