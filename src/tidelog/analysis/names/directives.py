"""Checks of `.input`, `.output`, `.printsize` and `.limitsize`: their relations, kinds of IO and parameters.

What Soufflé finds out when it opens the files is found here before anything runs. A parameter that nothing reads is
only a warning, because Soufflé passes over it in silence and programs have such leftovers.
"""

from __future__ import annotations

from tidelog.analysis.suggest import Suggestions, did_you_mean
from tidelog.errors import Report
from tidelog.formats import FORMATS, TEXT, format_of_io
from tidelog.lang import tree

_ANY = {"IO", "name", "operation", "attributeNames", "params", "types", "auxArity"}
_NOT_OF_STREAMS = {"stdin": {"filename", "compress"}, "stdout": {"filename", "compress", "columns"},
                   "json": {"filename"}}  # fmt: skip
_FLAGS = ("headers", "rfc4180")
_MODES = ("overwrite", "append", "ignore", "error", "errorifexists")


def directives_of(program: tree.Program) -> list[tree.Directive]:
    """All directives, those included that old programs write as a qualifier: `.decl r(x: number) output`."""
    found: list[tree.Directive] = []
    for item in program.items:
        if isinstance(item, tree.Directive):
            found.append(item)
        elif isinstance(item, tree.RelationDecl):
            found.extend(
                tree.Directive(kind, item.name, span=item.span)
                for kind in item.qualifiers
                if kind in ("input", "output", "printsize")
            )
    return found


def kinds_of_io(kind: str) -> tuple[str, ...]:
    """What `IO=` may be in an `.input` or `.output`."""
    able = [f for f in FORMATS.values() if (f.reads if kind == "input" else f.writes)]
    formats = (io for f in able for io in (f.io, f.stream_io) if io)
    return ("file", "stdin" if kind == "input" else "stdout", *formats, "spark")


def _parameters(io: str) -> set[str]:
    """Those of a kind of IO. What IO=spark does not know itself is an option of the format, which Spark checks."""
    of_format = FORMATS[format_of_io(io) or TEXT].parameters
    return {*_ANY, *of_format} - _NOT_OF_STREAMS.get(io, set())


def check_directives(program: tree.Program, report: Report) -> None:
    """All errors and warnings (TL06xx) about directives in a program whose components are expanded."""
    relations: dict[str, tree.RelationDecl] = {}
    for relation in program.of(tree.RelationDecl):
        relations.setdefault(relation.name, relation)
    near = Suggestions(relations)
    once: dict[tuple[str, str], tree.Directive] = {}
    for directive in directives_of(program):
        declared = relations.get(directive.relation)
        if declared is None and not report.may_be_declared(directive.relation):
            report.error(
                "TL0601",
                f"`.{directive.kind}` of relation `{directive.relation}`, which is not declared",
                directive.span,
                help=near.near(directive.relation),
            )
        if directive.kind in ("printsize", "limitsize"):
            _check_single(directive, once, report)
        if directive.kind == "limitsize":
            _check_limit(directive, report)
        elif directive.kind in ("input", "output"):
            _check_io(directive, report)
            if declared is not None:
                _check_columns(directive, declared, report)


def _check_single(directive: tree.Directive, once: dict[tuple[str, str], tree.Directive], report: Report) -> None:
    previous = once.setdefault((directive.kind, directive.relation), directive)
    if previous is not directive:
        report.error(
            "TL0602",
            f"a second `.{directive.kind}` of relation `{directive.relation}`",
            directive.span,
            notes=(("the first one is here", previous.span),),
        )


def _check_limit(directive: tree.Directive, report: Report) -> None:
    limit = directive.param("n")
    if limit is None:
        report.error(
            "TL0603",
            f"`.limitsize` of relation `{directive.relation}` does not say how many tuples",
            directive.span,
            help=f"write `.limitsize {directive.relation}(n=1000)`",
        )
    elif not limit.isascii() or not limit.isdigit():
        report.error("TL0603", f"the limit n of `.limitsize` is a whole number, not `{limit}`", directive.span)
    for key in dict(directive.params).keys() - {"n"}:
        report.warn("TL0605", f"`.limitsize` has no parameter `{key}`", directive.span, help="it has no effect")


def _check_io(directive: tree.Directive, report: Report) -> None:
    params = dict(directive.params)
    for key in ("filename", "dbname", "name"):
        if "\0" in params.get(key, ""):
            report.error("TL0193", f"the {key} has a zero byte in it, which no name can have", directive.span)
    kinds = kinds_of_io(directive.kind)
    io = params.get("IO", "file")
    if io not in kinds:
        report.error(
            "TL0604",
            f"unknown kind of {directive.kind} `{io}`",
            directive.span,
            help=did_you_mean(io, kinds) or f"IO is one of {', '.join(kinds)}",
        )
        return
    if io == "spark":
        if directive.kind == "output":
            _check_spark_output(directive, params, report)
        return
    known = _parameters(io)
    for key in sorted(params.keys() - known):
        report.warn(
            "TL0605",
            f"IO={io} has no parameter `{key}`",
            directive.span,
            help=did_you_mean(key, sorted(known)) or "it has no effect",
        )
    for key in _FLAGS:
        if params.get(key, "true") not in ("true", "false"):
            report.warn(
                "TL0606", f"the parameter `{key}` is true or false; `{params[key]}` counts as false", directive.span
            )
    delimiter = params.get("delimiter")
    if delimiter == "":
        report.error("TL0607", "the delimiter is empty", directive.span)
    elif delimiter is not None and params.get("rfc4180") == "true" and '"' in delimiter:
        report.error("TL0607", "a delimiter with a double quote cannot be used with rfc4180", directive.span)
    if io in ("json", "jsonfile") and params.get("format", "list") not in ("list", "object"):
        report.error("TL0608", f"the format of JSON is list or object, not `{params['format']}`", directive.span)


def _check_spark_output(directive: tree.Directive, params: dict[str, str], report: Report) -> None:
    if not params.keys() & {"path", "table", "format"}:
        report.error(
            "TL0610",
            f"IO=spark of relation `{directive.relation}` does not say where to write",
            directive.span,
            help='give a table, or a format and a path, as in format="parquet", path="paths"',
        )
    mode = params.get("mode", "overwrite")
    if mode not in _MODES:
        report.error(
            "TL0610",
            f"Spark has no mode `{mode}` of writing",
            directive.span,
            help=did_you_mean(mode, _MODES) or f"it is one of {', '.join(_MODES)}",
        )


def _check_columns(directive: tree.Directive, relation: tree.RelationDecl, report: Report) -> None:
    """`columns="2:0"`: which columns of the file, counted from 0, are the relation's attributes in turn."""
    columns = directive.param("columns")
    if directive.kind != "input" or not columns or relation.delta_of is not None:
        return
    numbers = columns.split(":")
    if not all(number.strip().isascii() and number.strip().isdigit() for number in numbers):
        report.error(
            "TL0609",
            f'columns="{columns}" is not a list of column numbers',
            directive.span,
            help='write the numbers, counted from 0, with colons between: columns="2:0"',
        )
    elif len(set(map(int, numbers))) < len(relation.attributes):
        report.error(
            "TL0609",
            f'columns="{columns}" does not give each of the {len(relation.attributes)} attributes a column',
            directive.span,
            notes=(("the relation is declared here", relation.span),),
        )
