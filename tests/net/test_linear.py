"""The encoding of paper 004: the papers' examples, and where it is silent or wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from test_linear_agreement import agree_at_the_end

from tidelog.errors import InternalError, TidelogError
from tidelog.net import Fact, NetProgram, Update, check, load, materialise, parse_updates, sn
from tidelog.net.linear import Proof, Search, Sequent, decode, encode, show_proof, verify
from tidelog.net.linear.search import BAGS, Strategy

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus" / "ndlog"
FIGURE_1 = "p :- s, t, r. s :- q. t :- u. q :- . u :- ."


def start(program: NetProgram, updates: str | list[Update], query: Fact, facts: list[Fact] | None = None) -> Sequent:
    """𝒮(𝒟,𝒫,𝒰,s) with the program's own view as 𝒟."""
    view = materialise(program, facts or ()).counts()
    given = parse_updates(updates, program) if isinstance(updates, str) else updates
    return encode(program, view.elements(), given, query)


def proved(program: NetProgram, updates: str, query: str, strategy: Strategy = "psn") -> bool:
    proof = Search().prove(start(program, updates, Fact(query)), strategy)
    assert proof is None or (proof.closed and verify(proof))
    return proof is not None


def steps(proof: Proof | None) -> list[str]:
    assert proof is not None
    return [f"{e.command} {e.uses}" if e.uses else e.command for e in proof.executions]


def final_view(program: NetProgram, updates: str) -> list[str]:
    """The facts that all PSN^ν-runs end with."""
    ends = {frozenset(decode(p.last).old.items()) for p in Search().final(start(program, updates, Fact("q"))) if p.last}
    [end] = ends
    return sorted(str(f) for f, n in end for _ in range(n))


# ---- the papers' examples


def test_the_sequent_of_figure_1() -> None:
    program = load(FIGURE_1)
    state = decode(start(program, "+r, -q, -u", Fact("p")))
    assert sorted(f.name for f in state.old.elements()) == ["q", "s", "t", "u"]
    assert state.old == state.new
    assert sorted(map(str, state.U)) == ["+r", "-q", "-u"]
    assert not state.P
    assert not state.E


@pytest.mark.parametrize("strategy", ["psn", "sn"])
def test_figure_1_has_no_proof_of_p(strategy: Strategy) -> None:
    """PSN ends with p in its view (003 and 004, Fig. 1); neither PSN^ν nor SN does."""
    program = load(FIGURE_1)
    assert not proved(program, "+r, -q, -u", "p", strategy)
    assert proved(program, "+r, -q, -u", "r", strategy)
    assert final_view(program, "+r, -q, -u") == ["r"]


def test_the_run_of_paper_003_figure_3() -> None:
    program = load(FIGURE_1)
    search, sequent = Search(), start(program, "+r, -q, -u", Fact("r"))
    shown = []
    for text in ("+r", "-q", "-u", "-s", "-t", "+p", "-p"):
        [u] = [u for u in decode(sequent).U if str(u) == text]
        done = search.complete(sequent, [u])
        assert done is not None
        assert done[-1].after is not None
        sequent = done[-1].after
        state = decode(sequent)
        shown.append(("".join(sorted(str(f) for f in state.old)), " ".join(sorted(map(str, state.U)))))
    assert shown == [
        ("qrstu", "+p -q -u"), ("rstu", "+p -s -u"), ("rst", "+p -s -t"),
        ("rt", "+p -p -t"), ("r", "+p -p"), ("pr", "-p"), ("r", ""),
    ]  # fmt: skip
    assert search.execute(sequent, "query") is not None


def test_a_rule_with_the_same_atom_twice_derives_once() -> None:
    """003, section 3.1: `p :- t, t` with PSN's delta-rules makes two insertions, with t and t^ν one."""
    program = load("p :- t, t.")
    [end] = Search().final(start(program, "+t", Fact("p")))
    assert end.last is not None
    assert decode(end.last).old == Counter({Fact("t"): 1, Fact("p"): 1})


def test_the_divergence_of_section_3_ends_with_the_limit() -> None:
    program = load("p :- a. p :- p.")
    sequent = encode(program, (), parse_updates("+a, -a", program), Fact("a"))
    with pytest.raises(TidelogError, match="TL1090"):
        Search(20_000).prove(sequent)


def test_a_deletion_waits_for_its_fact() -> None:
    program = load("p :- a.")
    search = Search()
    sequent = encode(program, (), parse_updates("-a, +a", program), Fact("p"))
    assert [str(e.uses) for e in search.executions(sequent)] == ["+a"]
    assert search.prove(sequent) is None
    [end] = search.final(sequent)
    assert [str(e.uses) for e in end.executions if e.command == "pick"] == ["+a", "-a", "+p", "-p"]
    assert end.last is not None
    assert decode(end.last).finished
    assert not decode(end.last).old
    assert search.complete(sequent, [Update(-1, Fact("a"))]) is None  # so Lemma 2 cannot permute the two iterations
    stuck = encode(program, (), parse_updates("-a", program), Fact("p"))
    assert list(search.executions(stuck)) == []
    assert search.prove(stuck) is None


def test_query_waits_until_upd_picked_and_exec_are_empty() -> None:
    program = load("p :- a.")
    search = Search()
    sequent = encode(program, [Fact("a"), Fact("p")], parse_updates("+a", program), Fact("p"))
    while not decode(sequent).finished:
        assert search.execute(sequent, "query") is None
        sequent = next(search.executions(sequent, BAGS)).after or sequent
    assert search.execute(sequent, "query") is not None


def test_the_network_of_paper_000_has_the_runs_that_the_checker_counts() -> None:
    """3,780 PSN^ν-runs over 84 configurations; all end in the state of SN."""
    program = load((CORPUS / "two_three_hop.ndlog").read_text())
    updates = parse_updates("+link(@d,f), +link(@a,f), -link(@a,b)", program)
    verdict = check(program, (), updates, reduce=False)
    sequent = start(program, updates, Fact("tri_hop", ("a", "g")))
    search, runs, pending = Search(), dict[Sequent, int](), [sequent]
    after: dict[Sequent, list[Sequent]] = {}
    while pending:
        here = pending.pop()
        if here not in after:
            after[here] = [move[-1].after for move in search.moves(here, "psn") if move[-1].after]
            pending += after[here]

    def count(here: Sequent) -> int:
        if here not in runs:
            runs[here] = sum(map(count, after[here])) if after[here] else 1
        return runs[here]

    assert (count(sequent), len(after)) == (verdict.runs, verdict.configurations) == (3780, 84)
    [end] = [s for s in after if not after[s]]
    configuration = materialise(program)
    configuration.insert(updates)
    sn(configuration)
    assert decode(end).old == configuration.counts()


def test_path_vector_of_section_2_on_a_small_network() -> None:
    """The localised program r1, r2-1, r2-2 of 003 with its function relations, on a triangle that loses a link."""
    text = (CORPUS / "path_vector.ndlog").read_text().replace("keys(1,2,3)", "keys(1,2,3,4)")  # no choice among paths
    program = load(text, local=True)
    links = [Fact("link", link) for link in (("a", "b", 1), ("b", "a", 1), ("b", "c", 2), ("c", "b", 2))]
    wanted = Fact("path", ("a", "c", ("a", "b", "c"), 3))
    assert Search().prove(start(program, [], wanted, links), "sn") is not None
    updates = [Update(-1, links[2])]
    assert Search().prove(start(program, updates, wanted, links), "sn") is None
    proof = Search().prove(start(program, updates, Fact("path", ("c", "a", ("c", "b", "a"), 3)), links), "psn")
    assert proof is not None


# ---- where the paper is silent or wrong (docs/net/linear-logic.md)


def test_a_proof_that_is_neither_psn_nor_sn_may_prove_what_does_not_follow() -> None:
    """Definition 3 is needed: picks, fires and updates that interleave freely derive p twice from one a and one b."""
    program = load("p :- a, b.")
    updates = "+a, +b, -a"
    assert not proved(program, updates, "p", "psn")
    assert not proved(program, updates, "p", "sn")
    assert proved(program, updates, "p", "any")


def test_theorem_1_needs_updates_that_delete_only_what_is_there() -> None:
    """-q waits for the q that +a brings: PSN^ν can wait, an SN-iteration must pick all of upd at once."""
    program = load("q :- a. r :- b.")
    updates = [Update(1, Fact("a")), Update(-1, Fact("q"))]
    sequent = encode(program, (), updates, Fact("a"))
    assert Search().prove(sequent, "psn") is not None
    assert Search().prove(sequent, "sn") is None


def test_a_body_that_reads_a_relation_three_times_sees_all_of_it_each_time() -> None:
    """A loop that only marks the tuples it has passed would hide them from the loops inside it."""
    program = load("p(X,W) :- e(X,Y), e(Y,Z), e(Z,W).")
    facts = [Fact("e", e) for e in ((1, 2), (2, 1), (1, 1))]
    agree_at_the_end(program, facts, [Update(1, Fact("e", (2, 2))), Update(-1, facts[2])])


def test_the_order_of_loops_does_not_matter() -> None:
    """Note 5: without fixing it, every execution of fire ends in the same sequent."""
    program = load("p(X,Z) :- e(X,Y), f(Y,Z).")
    facts = [Fact("f", f) for f in ((1, 1), (1, 2), (2, 2))]
    sequent = start(program, [Update(1, Fact("e", (0, 1)))], Fact("p", (0, 1)), facts)
    free = Search(commit=False)
    pick = free.execute(sequent, "pick")
    assert pick is not None
    assert pick.after is not None
    fires = list(free.executions(pick.after, ("fire",)))
    assert len(fires) > 100
    fixed = Search().execute(pick.after, "fire")
    assert fixed is not None
    assert {e.after for e in fires} == {fixed.after}


@pytest.mark.parametrize(
    ("text", "code"),
    [("p(X) :- q(X), !r(X).", "TL1092"), ("p(X,min<Y>) :- e(X,Y).", "TL1092")],
)
def test_what_the_paper_does_not_encode_is_refused(text: str, code: str) -> None:
    with pytest.raises(TidelogError) as raised:
        encode(load(text), (), (), Fact("p", (1,) if "min" not in text else (1, 2)))
    assert raised.value.codes == (code,)


def test_facts_that_do_not_fit_the_program_are_all_reported() -> None:
    with pytest.raises(TidelogError) as raised:
        encode(load("p(X) :- q(X)."), [Fact("z")], [Update(1, Fact("q"))], Fact("p", (1, 2)))
    assert raised.value.codes == ("TL1093",) * 3


def test_a_function_of_the_wrong_kind_names_its_rule() -> None:
    program = load("r7 p(Y) :- q(X), Y = X + 1.")
    sequent = start(program, [Update(1, Fact("q", ("a",)))], Fact("p", (1,)))
    with pytest.raises(TidelogError, match="rule `r7` cannot be evaluated: a is not a number") as raised:
        Search().prove(sequent)
    assert raised.value.codes == ("TL1031",)


def test_a_function_outside_its_domain_makes_no_tuple() -> None:
    program = load("p(Y) :- q(X), Y = 6 / X. r(X) :- q(X), 6 / X > 1.")
    agree_at_the_end(program, [], [Update(1, Fact("q", (x,))) for x in (0, 2, 3)])


def test_the_update_of_a_deletion_waits_for_that_of_its_insertion() -> None:
    program = load("p :- b.")
    insert, delete = Update(1, Fact("b")), Update(-1, Fact("b"))
    sequent = encode(program, (), [insert, delete], Fact("b"))
    done = Search().complete(sequent, [insert, delete], ("pick", "fire"))
    assert done is not None
    assert done[-1].after is not None
    assert [e.uses for e in Search().executions(done[-1].after, ("update",))] == [insert]


def test_merging_iterations_may_make_more_updates_than_lemma_3_says() -> None:
    """-b then +a makes nothing; both in one complete iteration make +p and -p, which Lemma 1 then cancels."""
    program = load("p :- a, b.")
    insert, delete = Update(1, Fact("a")), Update(-1, Fact("b"))
    sequent = encode(program, [Fact("b")], [insert, delete], Fact("a"))
    search = Search()
    first = search.complete(sequent, [delete])
    assert first is not None
    assert first[-1].after is not None
    apart = search.complete(first[-1].after, [insert])
    together = search.complete(sequent, [insert, delete])
    assert [sorted(map(str, decode(r[-1].after).U)) for r in (apart, together) if r and r[-1].after] == [
        [],
        ["+p", "-p"],
    ]


def test_long_bodies_and_many_rules_do_not_exhaust_the_stack() -> None:
    body = ", ".join(f"a{i}" for i in range(50))
    program = load(f"p :- {body}. " + " ".join(f"q{i} :- a0." for i in range(60)))
    facts = [Fact(f"a{i}") for i in range(1, 50)]
    agree_at_the_end(program, facts, [Update(1, Fact("a0"))])


# ---- printing


def test_the_documented_derivations_are_what_is_printed() -> None:
    page = (ROOT / "docs" / "net" / "linear-logic.md").read_text(encoding="utf-8")
    program = load("p :- t, t.")
    proof = Search().prove(encode(program, (), parse_updates("+t", program), Fact("p")))
    assert steps(proof) == ["pick +t", "fire +t", "update +t", "pick +p", "fire +p", "update +p", "query"]
    assert proof is not None
    assert show_proof(proof) in page
    program = load("p(X) :- e(X,Y), Y > 1.")
    proof = Search().prove(encode(program, (), parse_updates("+e(a,2)", program), Fact("p", ("a",))), "sn")
    assert proof is not None
    assert show_proof(proof, "macros") in page


def test_a_proof_with_a_wrong_rule_is_found_out() -> None:
    program = load("p(X) :- e(X,Y), Y > 1.")
    proof = Search().prove(encode(program, (), parse_updates("+e(a,2)", program), Fact("p", ("a",))))
    assert proof is not None
    assert verify(proof) == sum(len(m.steps) for e in proof.executions for m in e.macros)
    for e, execution in enumerate(proof.executions):
        for m, macro in enumerate(execution.macros):
            for i in range(len(macro.steps)):
                wrong = macro._replace(steps=macro.steps[:i] + macro.steps[i + 1 :])
                macros = (*execution.macros[:m], wrong, *execution.macros[m + 1 :])
                executions = list(proof.executions)
                executions[e] = execution._replace(macros=macros)
                with pytest.raises(InternalError):
                    verify(proof._replace(executions=tuple(executions)))
    with pytest.raises(InternalError, match="does not start where"):
        verify(proof._replace(executions=proof.executions[1:]))


def test_a_run_without_query_is_printed_as_open() -> None:
    program = load("p :- a.")
    [end] = Search().final(encode(program, (), parse_updates("+a", program), Fact("p")))
    assert show_proof(end).endswith("⊢ a{·}  p{·}  a^ν{·}  p^ν{·} : · ⇑ ·\n(open)\n")
