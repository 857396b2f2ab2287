"""What inference found, judged: every contradiction, and every value that goes where its type is not accepted."""

from __future__ import annotations

from tidelog.analysis.types.calls import FunctorCall, possible_signatures
from tidelog.analysis.types.cells import LITERAL, Conflict, Evidence
from tidelog.analysis.types.inference import Inference
from tidelog.analysis.types.system import Column, ConstantType, RecordType, Type
from tidelog.errors import Report, Span, amount
from tidelog.functors import Signature
from tidelog.lang import tree
from tidelog.values import NUMBER_MAX, NUMBER_MIN, UNSIGNED_MAX, Kind, fits


def check_clause(inference: Inference, report: Report) -> None:
    """Report the type errors (TL0320 and up) of a clause."""
    for conflict in inference.cells.conflicts:
        _report_conflict(conflict, inference, report)
    for call in inference.calls:
        if not call.candidates and not call.wrong_arity:
            _report_call(call, report)
    for term in inference.terms:
        _check_term(term, inference, report)
    for atom, info, role in inference.atoms:
        for arg, column in zip(atom.args, inference.system.columns(info), strict=True):
            types = inference.types_of(arg)
            if types is not None and types is not column.gives:
                _check_argument(arg, types, column, role, inference, report)
    for comparison in inference.comparisons:
        _check_comparison(comparison, inference, report)


# ---- words


def text_of(term: tree.Term) -> str:
    """How the user wrote the term, if that is short."""
    if isinstance(term, tree.Variable):
        return f"`{term.name}`"
    span = term.span
    if span is not None:
        text = " ".join(span.source.text[span.start : span.end].split())
        if 0 < len(text) <= 40:
            return f"`{text}`"
    return "this value"


def a(name: str) -> str:
    """The name with its article."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def a_type(found: Type) -> str:
    if found.name in ("number", "unsigned", "float", "symbol"):
        return a(found.name)
    article = "an" if found.name[:1].lower() in "aeiou" else "a"
    return f"{article} `{found.name}`{' record' if isinstance(found, RecordType) else ''}"


def _why(evidence: Evidence) -> str:
    """The reason in words, as a clause that ends with the type."""
    is_type = f"is {a_type(evidence.type)}"
    match evidence.reason:
        case ("attribute", attribute, relation):
            return f"attribute `{attribute}` of `{relation}` {is_type}"
        case ("field", owner, number):
            return f"field {number} of `{owner}` {is_type}"
        case ("parameter", functor, number):
            return f"parameter {number} of the functor `{functor}` {is_type}"
        case ("result", functor):
            return f"the result of the functor `{functor}` {is_type}"
        case ("branch", branch, _):
            return f"the branch `{branch}` {is_type}"
        case ("functor", op):
            return f"`{op}` makes it {a_type(evidence.type)}"
        case ("cast", name):
            return f"it is cast to `{name}`"
        case _:
            return f"it {is_type}"


# ---- contradictions


def _report_conflict(conflict: Conflict, inference: Inference, report: Report) -> None:
    first, second, term = conflict.first, conflict.second, conflict.term
    if conflict.comparison is not None:
        _report_comparison(conflict.comparison, conflict, report)
        return
    if isinstance(term, tree.Variable):
        there, place = _why(first), first.span
        if first.reason == LITERAL and (literal := inference.literal_like(term)) is not None:
            there, place = f"{text_of(literal)} is {a_type(first.type)}", literal.span
        report.error(
            "TL0320",
            f"{text_of(term)} is {a_type(second.type)} here but {a_type(first.type)} there",
            second.span,
            notes=((f"here: {_why(second)}", None), (f"there: {there}", place)),
            help=_bridge(term, first.type, second.type),
        )
        return
    report.error("TL0322", f"{text_of(term)} is {a_type(first.type)}, but {_why(second)}", second.span)


def _bridge(term: tree.Term, found: Type, wanted: Type) -> str | None:
    """How to get from one type to the other."""
    if found.kind is wanted.kind and found.kind is not Kind.RECORD:
        return f"if such values are meant, write as({text_of(term).strip('`')}, {wanted.name})"
    converters = {
        Kind.NUMBER: "to_number",
        Kind.UNSIGNED: "to_unsigned",
        Kind.FLOAT: "to_float",
        Kind.SYMBOL: "to_string",
    }
    if found.kind in converters and wanted.kind in converters:
        return f"convert it with {converters[wanted.kind]}({text_of(term).strip('`')})"
    return None


def _report_comparison(comparison: tree.Comparison, conflict: Conflict, report: Report) -> None:
    first, second = conflict.first, conflict.second
    notes: list[tuple[str, Span | None]] = []
    for evidence in (first, second):
        if evidence.reason != LITERAL:
            notes.append((_why(evidence), evidence.span))
    report.error(
        "TL0331",
        f"{text_of(comparison.left)} and {text_of(comparison.right)} cannot be compared: "
        f"one is {a_type(first.type)}, the other {a_type(second.type)}",
        comparison.span,
        notes=tuple(notes),
    )


def _report_call(call: FunctorCall, report: Report) -> None:
    name = "-" if call.op == "neg" else call.op
    signatures = possible_signatures(isinstance(call.node, tree.Aggregate), call.op)
    if call.expected is not None:
        gives = a(signatures[0].result.value) if len({s.result for s in signatures}) == 1 else "something else"
        report.error("TL0328", f"`{name}` gives {gives}, but {_why(call.expected)}", call.node.span)
        return
    given: dict[str, None] = {}
    for i, (arg, kinds) in enumerate(zip(call.args, call.kinds, strict=True)):
        wanted = {s.params[min(i, len(s.params) - 1)] for s in signatures}
        if kinds is not None and len(kinds) == 1 and (len(signatures) > 1 or not kinds <= wanted):
            given[f"{text_of(arg)} is {a(next(iter(kinds)).value)}"] = None
    verb = "aggregates" if isinstance(call.node, tree.Aggregate) else "takes"
    said = f", but {' and '.join(given)}" if given else ""
    report.error("TL0328", f"`{name}` {verb} {_takes(call)}{said}", call.node.span, help=_call_help(call))


def _call_help(call: FunctorCall) -> str | None:
    if call.op == "mean":
        return "convert the values with to_float(...)"
    if call.op == "+" and any(k == frozenset((Kind.SYMBOL,)) for k in call.kinds):
        return "symbols are joined with cat(...)"
    return None


def _takes(call: FunctorCall) -> str:
    signatures = possible_signatures(isinstance(call.node, tree.Aggregate), call.op)
    if all(len(set(s.params)) == 1 for s in signatures) and len(signatures) > 1:
        kinds = [s.params[0].value for s in signatures]
        return f"{', '.join(kinds[:-1])} or {kinds[-1]} values" + (" of one kind" if len(call.args) > 1 else "")
    return _params(signatures[0], isinstance(call.node, tree.Aggregate)) if signatures else "other arguments"


def _params(signature: Signature, many: bool) -> str:
    if len(set(signature.params)) == 1:
        many = many or len(signature.params) > 1
        return f"{signature.params[0].value} values" if many else a(signature.params[0].value)
    return ", ".join(a(p.value) for p in signature.params)


# ---- terms


def _check_term(term: tree.Term, inference: Inference, report: Report) -> None:
    types = inference.types_of(term)
    if types is not None and not types:
        return
    match term:
        case tree.Number(value=value):
            kind = inference.kind_of(term)
            if not fits(kind, value) and kind is Kind.FLOAT:
                report.error("TL0323", "the number is too large for a float", term.span)
            elif not fits(kind, value):
                low, high = (0, UNSIGNED_MAX) if kind is Kind.UNSIGNED else (NUMBER_MIN, NUMBER_MAX)
                report.error(
                    "TL0323",
                    f"{value} is not {a(kind.value)}: it lies outside of {low} to {high}",
                    term.span,
                    help="write a float, such as 1.0e20" if value > UNSIGNED_MAX else None,
                )
        case tree.Unsigned(value=value):
            if not fits(Kind.UNSIGNED, value):
                report.error("TL0323", f"{value} is not an unsigned: it lies outside of 0 to {UNSIGNED_MAX}", term.span)
        case tree.Nil():
            if types is None or inference.system.untyped_record in types:
                report.error(
                    "TL0334",
                    "nothing says of which record type this `nil` is",
                    term.span,
                    help="write as(nil, T) with the record type T",
                )
            elif not all(isinstance(t, RecordType) for t in types):
                report.error("TL0334", f"`nil` is a record, but {_expected(term, inference)}", term.span)
        case tree.Record():
            _check_record(term, inference, report)
        case tree.Branch():
            _check_branch(term, inference, report)
        case tree.Cast(type=name):
            if name not in inference.system.types:
                report.error("TL0301", f"undefined type `{name}` in a cast", term.span)
        case tree.UserFunctor(name=name):
            _check_result(term, name, inference, report)


def _expected(term: tree.Term, inference: Inference) -> str:
    evidence = next(inference.cells.evidence(inference.cell_of(term)), None)
    return _why(evidence) if evidence is not None else "something else is expected here"


def _check_record(term: tree.Record, inference: Inference, report: Report) -> None:
    types = inference.types_of(term)
    if types is None or inference.system.untyped_record in types:
        if id(term) in inference.clashing:
            report.error("TL0324", f"{text_of(term)} is compared with a record of another size", term.span)
        elif types is None:
            report.error(
                "TL0324",
                "nothing says of which type this record is",
                term.span,
                help="put it into a variable that an atom or a record gives a type",
            )
        return
    found = next(iter(types))
    if not isinstance(found, RecordType) or len(types) != 1:
        report.error("TL0324", f"{text_of(term)} is a record, but {_expected(term, inference)}", term.span)
    elif len(found.types) != len(term.args):
        report.error(
            "TL0325",
            f"a record of type `{found.name}` has {amount(len(found.types), 'field')}, but {len(term.args)} are given",
            term.span,
            help=f"its fields are {', '.join(f'`{f}`' for f in found.fields)}" if found.fields else None,
        )


def _check_branch(term: tree.Branch, inference: Inference, report: Report) -> None:
    branch = inference.system.branches.get(term.name)
    if branch is None:
        report.error(
            "TL0326",
            f"there is no branch `{term.name}`",
            term.span,
            help="a branch is declared in an algebraic type: .type T = " + term.name + " {...} | ...",
        )
    elif len(branch.types) != len(term.args):
        report.error(
            "TL0327",
            f"the branch `{term.name}` has {amount(len(branch.types), 'field')}, but {len(term.args)} are given",
            term.span,
            help=f"its fields are {', '.join(f'`{f}`' for f in branch.fields)}" if branch.fields else None,
        )


def _check_result(term: tree.UserFunctor, name: str, inference: Inference, report: Report) -> None:
    functor = inference.system.functors.get(name)
    result = inference.system.get(functor.result) if functor is not None else None
    for found in inference.types_of(term) or ():
        if result is not None and not inference.system.is_subtype(result, found):
            report.error(
                "TL0330",
                f"the functor `{name}` gives {a_type(result)}, which is not always {a_type(found)}",
                term.span,
                help=f"write as(@{name}(...), {found.name}) if it is meant",
            )
            return


# ---- atoms and comparisons


def _check_argument(
    arg: tree.Term, types: frozenset[Type], column: Column, role: str, inference: Inference, report: Report
) -> None:
    """A value that goes into an attribute has a subtype of it; in a negated atom the kinds have to agree."""
    system = inference.system
    declared = column.type
    loose = role == "negated" or system.legacy
    for found in types:
        if found is declared or system.is_subtype(found, declared):
            continue
        if loose and found.kind is declared.kind and found.kind is not Kind.RECORD:
            continue
        if role != "negated" and system.is_subtype(declared, found) and isinstance(found, (ConstantType, RecordType)):
            continue
        evidence = next((e for e in inference.cells.evidence(inference.cell_of(arg)) if e.type is found), None)
        notes = ((_why(evidence), evidence.span),) if evidence is not None and evidence.span != arg.span else ()
        report.error(
            "TL0321",
            f"{text_of(arg)} is {a_type(found)}, but {_why(Evidence(declared, None, column.reason))}",
            arg.span,
            notes=notes,
            help=_bridge(arg, found, declared),
        )
        return


def _check_comparison(comparison: tree.Comparison, inference: Inference, report: Report) -> None:
    op = comparison.op.removeprefix("not_")
    if op in ("=", "!="):
        return
    for side in (comparison.left, comparison.right):
        types = inference.types_of(side)
        if not types:
            continue
        found = next(iter(types))
        if op in ("match", "contains"):
            if found.kind is not Kind.SYMBOL:
                report.error("TL0331", f"`{op}` is about symbols, but {text_of(side)} is {a_type(found)}", side.span)
                return
        elif found.kind is Kind.RECORD:
            report.error(
                "TL0331",
                f"`{op}` compares numbers and symbols, but {text_of(side)} is {a_type(found)}",
                side.span,
                help="records and algebraic types can only be compared with = and !=",
            )
            return
