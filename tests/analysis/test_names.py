"""Names: what is declared, how it is used, and what Soufflé would warn about."""

import pytest

from tidelog.analysis.check import check
from tidelog.analysis.clauses import clauses_of
from tidelog.analysis.components.expand import expand
from tidelog.analysis.names.check import check_names
from tidelog.analysis.names.inlining import inline_relations
from tidelog.analysis.unsupported import refuse_unsupported
from tidelog.errors import Report, TidelogError, condensed
from tidelog.lang import souffle
from tidelog.lang.load import parse_program

EDGE = ".decl edge(a: number, b: number) .input edge "


def checked(text: str) -> Report:
    report = Report()
    program = expand(souffle.parse(text), report)
    check_names(program, clauses_of(program, report), report)
    return report


def errors(text: str) -> list[str]:
    return [d.code for d in checked(text).errors]


def warnings(text: str) -> list[tuple[str, str]]:
    """Code and the marked text of each warning."""
    return [(d.code, text[d.span.start : d.span.end] if d.span else "") for d in checked(text).warnings]


def refused(text: str) -> list[str]:
    report = Report()
    program = expand(souffle.parse(text), report)
    refuse_unsupported(program, report)
    assert all(d.code == "TL0701" for d in report.errors)
    return [d.message.removeprefix("not supported yet: ") for d in report.errors]


def test_an_undeclared_relation_suggests_the_nearest_one() -> None:
    (error,) = checked(EDGE + "edge(a, b) :- egde(b, a).").errors
    assert (error.code, error.help) == ("TL0201", "did you mean `edge`?")


def test_a_redefinition_points_at_the_previous_definition() -> None:
    (error,) = checked(EDGE + ".decl edge(x: symbol)").errors
    assert error.code == "TL0204"
    assert error.notes[0][1] is not None
    assert error.notes[0][1].start == 0


def test_many_undeclared_names_stay_fast_and_are_all_reported() -> None:
    text = EDGE + " ".join(f"edge(a, b) :- unknown{i}(a, b)." for i in range(2000))
    assert errors(text) == ["TL0201"] * 2000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("edge(a, b) :- edge(b, a, a).", ["TL0202"]),
        ("edge(a, b) :- edge(a, b), !edge(a), 1 < count : { edge(b) }.", ["TL0202", "TL0202"]),
        (".decl r(x: number, x: number) r(1, 2).", ["TL0208"]),
        (".type edge <: number", ["TL0207"]),
        (".functor f(): number .functor f(): number", ["TL0206"]),
        (".decl e(a: number) eqrel e(1).", ["TL0210"]),
        ('.decl e(a: number, b: symbol) eqrel e(1, "a").', ["TL0211"]),
        (".decl c(a: number) choice-domain b c(1).", ["TL0212"]),
        (".decl d = debug_delta(edge)", []),
        (".decl d = debug_delta(nothing)", ["TL0213"]),
        (".decl d = debug_delta(edge) d(1, 2, 3).", ["TL0213"]),
    ],
)
def test_declarations_and_their_uses_fit(text: str, expected: list[str]) -> None:
    assert errors(EDGE + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("edge(1, _).", ["TL0222"]),
        ("edge(_, b) :- edge(b, _).", ["TL0222"]),
        ("edge(1, x).", ["TL0223"]),
        ("edge(1, 1 + x).", ["TL0223"]),
        ("edge(1, 2 * (3 + 4)).", []),
        ("edge(1, as(2, number)).", []),
        ("edge(1, autoinc()).", ["TL0223"]),
        ("edge(1, __ITERATION__()).", ["TL0223"]),
        ("edge(1, count : { edge(_, _) }).", []),
        ("edge(1, n) :- n = count : { edge(_, _) }.", []),
        ("edge(a, a) :- edge(a, _), a < _.", ["TL0224"]),
        ("edge(a, a) :- edge(a, _), [a, _] = [_, 1].", []),
        ("edge(a, a) :- edge(a, _), _ = [a].", []),
        ("edge(a, a) :- edge(a, _), _ = count : { edge(_, _) }.", []),
        ("edge(a, b) <= edge(a, c) :- b < c.", []),
        ("edge(_, b) <= edge(_, c) :- b < c.", []),
        (".decl f(x: number) f(1). edge(a, a) <= f(a) :- 1 < 2.", ["TL0226"]),
    ],
)
def test_heads_facts_and_constraints_have_values(text: str, expected: list[str]) -> None:
    assert errors(EDGE + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("edge(@f(1), 1).", ["TL0220"]),
        (".functor f(number): number edge(@f(1, 2), 1).", ["TL0221"]),
        ('edge(strlen("a", "b"), 1).', ["TL0221"]),
        ("edge(x, x) :- x = range(1).", ["TL0221"]),
        ("edge(x, x) :- x = range(1, 2, 3).", []),
        ("edge(x, x) :- x = range(1, 2, 3, 4).", ["TL0221"]),
        ("edge(max(1, 2, 3), min(1, 2)).", []),
        ('edge(ord(cat("a", "b", "c")), 1).', []),
    ],
)
def test_functors_exist_and_get_the_arguments_they_take(text: str, expected: list[str]) -> None:
    assert errors(EDGE + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".decl n(x: number) n(autoinc()) :- edge(_, _).", []),
        ("edge($, 1) :- edge(_, _).", ["TL0225"]),
        (".decl n(x: number) n(autoinc()) :- edge(_, _). edge(x, x) :- n(x).", ["TL0225"]),
    ],
)
def test_counters_fit_the_recursion(text: str, expected: list[str]) -> None:
    assert errors(EDGE + text) == expected


CLOSURE = "edge(a, c) :- edge(a, b), edge(b, c)."
SMALL = ".decl small(x: number) inline small(x) :- x < 10."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CLOSURE + ".plan 0:(2,1), 1:(1,2)", []),
        (CLOSURE + ".plan 0:(2)", ["the order (2) of plan 0 does not fit a body with 2 atoms"]),
        (CLOSURE + ".plan 0:(2,3)", ["the order (2, 3) of plan 0 does not fit a body with 2 atoms"]),
        (CLOSURE + ".plan 2:(2,1)", ["a plan for version 2 of a rule that has 2 recursive atoms"]),
        (".decl n(x: number) n(x) :- edge(x, _). .plan 5:(9,9)", ["a plan for a rule that is not recursive"]),
        ("edge(a, b) <= edge(a, c) :- b < c. .plan 0:(2,1)", []),
        ("edge(a, b) <= edge(a, c) :- b < c. .plan 0:(1)",
         ["the order (1) of plan 0 does not fit a body with 2 atoms"]),
        (SMALL + "edge(a, c) :- edge(a, b), small(b), edge(b, c). .plan 1:(2,1)", []),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_fit_its_rule_after_inlining_is_a_warning(text: str, expected: list[str]) -> None:
    found = check(souffle.parse(EDGE + text)).warnings
    assert [warning.message for warning in found] == expected
    assert {warning.code for warning in found} <= {"TL0284"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("edge(x, _), n = count : { edge(x, _) }", []),
        ("n = count : { edge(x, _) }", ["TL0227"]),
        ("n = sum y : { edge(x, y) }", ["TL0227"]),
        ("n = max y : { edge(x, y) }", []),
        ("n = sum z : { edge(_, y), z = max x : { edge(y, x) } }, edge(x, _)", []),
        ("edge(x, n), 0 = count : { edge(x, y), y < n }, 0 = count : { edge(y, n), y < x }", ["TL0228"]),
        ("edge(x, n), 0 = count : { edge(x, y), y < 1 }, 0 = count : { edge(y, n), y < 1 }", []),
    ],
)
def test_aggregates_export_nothing_that_they_cannot(body: str, expected: list[str]) -> None:
    assert errors(EDGE + f".decl r(x: number, n: number) r(x, n) :- {body}.") == expected


INLINE = EDGE + ".decl i(a: number, b: number) inline i(a, b) :- edge(b, a). .decl r(x: number) "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r(x) :- i(x, _).", []),
        ("r(x) :- edge(x, y), !i(x, y).", []),
        ("r(x) :- edge(x, _), !i(x, _).", ["TL0243"]),
        ("i(a, b) :- edge(a, c), edge(c, b). r(x) :- edge(x, y), !i(x, y).", ["TL0243"]),
        ("r(x) :- x = count : { i(_, _) }.", ["TL0243"]),
        ("r(x) :- i(x, autoinc()).", ["TL0242"]),
        ("i(a, autoinc()) :- edge(a, _).", ["TL0242"]),
        ("i(a, b) :- i(b, a).", ["TL0241"]),
        (".output i", ["TL0240"]),
        (".printsize i", ["TL0240"]),
    ],
)
def test_inline_relations_keep_to_their_restrictions(text: str, expected: list[str]) -> None:
    assert errors(INLINE + text) == expected


def test_no_inline_and_the_pragma_take_inlining_back() -> None:
    text = '.pragma "inline-exclude" "a" .decl a(x: number) inline .decl b(x: number) inline no_inline .decl c() inline'
    assert inline_relations(souffle.parse(text)) == {"c"}


def test_a_relation_that_nothing_fills_is_a_warning() -> None:
    text = EDGE + ".decl empty(x: number)"
    assert warnings(text) == [("TL0280", ".decl empty(x: number)")]
    assert warnings('.pragma "suppress-warnings" "empty" ' + text) == []
    assert warnings('.pragma "suppress-warnings" "*" ' + text) == []


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("r(a) :- edge(a, b).", [("TL0281", "b")]),
        ("r(a) :- edge(a, _b).", []),
        ("r(_a) :- edge(_a, _).", [("TL0282", "_a")]),
        ("r(a) :- edge(a, _x), edge(_x, a).", [("TL0282", "_x")]),
        ("r(a), r(b) :- edge(a, b).", []),
        ("r(a) :- edge(a, b) ; edge(b, a).", [("TL0281", "b")]),
        ("r(a) :- (edge(a, b) ; edge(b, a)), edge(b, b).", []),
        ("r(n) :- n = count : { edge(x, _) }.", [("TL0281", "x")]),
        ("r(n) :- n = max x : { edge(x, _) }.", []),
        ("r(n) :- n = count : { edge(x, x) }, edge(n, _).", []),
        ("r(n) :- edge(x, n), n = count : { edge(x, _) }.", []),
        ("r(n) :- n = sum x : { edge(x, _) }, n < sum x : { edge(_, x) }.", []),
    ],
)
def test_variables_that_occur_an_odd_number_of_times_are_warnings(rule: str, expected: list[tuple[str, str]]) -> None:
    assert warnings(EDGE + ".decl r(x: number) " + rule) == expected


def test_btree_delete_without_subsumption_is_a_warning() -> None:
    text = EDGE + ".decl d(x: number) btree_delete d(x) :- edge(x, _)."
    assert [code for code, _ in warnings(text)] == ["TL0283"]


def test_subsumption_needs_a_representation_that_can_delete() -> None:
    rule = " r(x) <= r(y) :- x < y. r(1)."
    assert errors(".decl r(x: number)" + rule) == []
    assert errors(".decl r(x: number) btree_delete" + rule) == []
    assert errors(".decl r(x: number) btree" + rule) == ["TL0214"]
    assert errors(".decl r(x: number) brie" + rule) == ["TL0214"]


def test_literals_shared_by_alternatives_are_reported_once() -> None:
    text = EDGE + "edge(a, b) :- edge(a, b), (edge(a, a) ; edge(b, b)), (edge(a, 1) ; edge(a, 2)), none(a)."
    assert errors(text) == ["TL0201"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (EDGE + "edge(a, b) :- edge(b, a).", []),
        (".functor f(): number stateful", []),
        (EDGE + ".decl d = debug_delta(edge)", ["`debug_delta`"]),
    ],
)
def test_what_is_not_evaluated_yet_is_refused_by_name(text: str, expected: list[str]) -> None:
    assert refused(text) == expected


def test_many_relations_without_rules_are_one_warning() -> None:
    text = " ".join(f".decl r{i}(x: number)" for i in range(27))
    (warning,) = checked(text).warnings
    assert warning.message == "no rules, facts or input for 27 relations: `r0`, `r1`, `r2`, `r3`, `r4` and 22 more"


def test_after_a_few_warnings_of_a_kind_the_others_are_counted() -> None:
    text = EDGE + "\n".join("edge(a, a) :- edge(a, b)." for _ in range(9))
    shown = condensed(checked(text).warnings)
    assert [d.message for d in shown[:-1]] == ["the variable `b` occurs only once"] * 5
    assert shown[-1].message == "4 more of this kind, at <text>:6:23, <text>:7:23, <text>:8:23, <text>:9:23"


def after_a_syntax_error(text: str) -> list[str]:
    report = Report()
    program = parse_program(text, report)
    with pytest.raises(TidelogError) as caught:
        check(program, report)
    return list(caught.value.codes)


@pytest.mark.parametrize(
    "text",
    [
        ".decl p(x: number)\n.input p\n.decl q(x: number)\nq(x) :- p(x)\n.output q\n",
        ".decl q(x: number\n.output q\nq(1).\n",
        ".type T <: number number\n.decl q(x: T)\nq(1).\n",
        ".comp C { .decl q(x: number }\n.init c = C\nc.q(1).\n",
        ".functor f(x: number number\n.decl q(x: number)\nq(@f(1)) :- true.\n",
        '.include "there is no such file"\n.output q\nq(1).\n',
    ],
)
def test_what_may_be_declared_where_the_syntax_is_wrong_is_not_said_to_be_undeclared(text: str) -> None:
    assert set(after_a_syntax_error(text)) <= {"TL0101", "TL0115"}


def test_what_is_declared_nowhere_is_reported_besides_a_syntax_error() -> None:
    assert after_a_syntax_error(".decl p(x: number)\np(1)\n.output p\n.output r\n") == ["TL0101", "TL0601"]


@pytest.mark.parametrize(
    "body", [", ".join(["edge(1, 2)"] * 1001), ", ".join(["path(1, 2)"] * 101)], ids=["long", "recursive"]
)
def test_a_rule_that_would_take_for_ever_to_order_is_refused(body: str) -> None:
    report = Report()
    program = parse_program(f"{EDGE}.decl path(a: number, b: number)\npath(1, 2) :- {body}.", report)
    with pytest.raises(TidelogError) as caught:
        check(program, report)
    assert caught.value.codes == ("TL0192",)
