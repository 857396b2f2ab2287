"""What this executor cannot do, refused before anything runs, all at once.

Its values have no common 64-bit word: a symbol is its text and a float a double. So what looks at the word of a value
(`ord` of a symbol, `as` between kinds that are held in different ways) has no meaning here.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.analysis.checked import Checked
from tidelog.analysis.types.typing import ClauseTypes
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.spark.dataframe.values import SPARK_TYPES
from tidelog.values import Kind

HELP = "evaluate this program with executor='columnar'"


def refuse_unsupported(checked: Checked) -> None:
    """An error for each use of such a construct."""
    report = Report()
    for info in checked.relations.values():
        if any(attribute.lattice for attribute in info.decl.attributes):
            report.error("TL1255", f"relation `{info.name}` has lattice attributes, whose values the DataFrame "
                         "executor cannot join", info.decl.span, help=HELP)  # fmt: skip
    for types in checked.clause_types:
        for node in _nodes(types):
            _check(node, types, report)
    called = {n.name for types in checked.clause_types for n in _nodes(types) if isinstance(n, tree.UserFunctor)}
    for decl in (decl for decl in checked.program.of(tree.FunctorDecl) if decl.name in called):
        names = (*(param.type for param in decl.params), decl.result)
        if any(found is not None and found.kind is Kind.RECORD for found in map(checked.types.get, names)):
            report.error("TL1253", f"functor `{decl.name}` takes or gives a record, which the DataFrame executor "
                         "cannot hand over", decl.span, help=HELP)  # fmt: skip
    report.check()


def _nodes(types: ClauseTypes) -> Iterator[tree.SyntaxNode]:
    for literal in (types.clause.head, *types.clause.body):
        yield from literal.walk()


def _check(node: tree.SyntaxNode, types: ClauseTypes, report: Report) -> None:
    match node:
        case tree.Functor(op="ord", args=(arg,)) if types.kind_of(arg) in (Kind.SYMBOL, Kind.RECORD):
            report.error("TL1251", f"`ord` of a {types.kind_of(arg).value}: the DataFrame executor does not number "
                         "its values", node.span, help=HELP)  # fmt: skip
        case tree.UserAggregate(name=name):
            report.error("TL1254", f"the DataFrame executor cannot aggregate with `@@{name}`", node.span, help=HELP)
        case tree.Cast(term=inner):
            before, after = types.kind_of(inner), types.kind_of(node)
            if before is not after and not (SPARK_TYPES[before] == SPARK_TYPES[after] == "bigint"):
                report.error("TL1252", f"`as` takes a {before.value} for a {after.value}, which the DataFrame "
                             "executor holds in another way", node.span, help=HELP)  # fmt: skip
