"""The relations of a program as a session's user may name them, and what to say about a name that cannot be used."""

from __future__ import annotations

from tidelog.analysis.checked import Checked
from tidelog.analysis.names.inlining import inline_relations
from tidelog.analysis.suggest import did_you_mean
from tidelog.analysis.types.system import RelationInfo
from tidelog.errors import Diagnostic, Report, TidelogError, error


class Vocabulary:
    """See the module's docstring. All names are in the order of their declarations."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.directives = {d.relation: d for d in reversed(checked.directives("input"))}
        inlined = inline_relations(checked.program)
        written = {d.relation for d in checked.directives("output")}
        self.relations = tuple(name for name in checked.relations if name not in inlined)
        self.inputs = tuple(name for name in checked.relations if name in self.directives)
        self.outputs = tuple(name for name in checked.relations if name in written)

    def __contains__(self, name: object) -> bool:
        return name in self.relations

    def info(self, name: str) -> RelationInfo:
        """A relation that has tuples."""
        if name not in self.checked.relations:
            raise TidelogError(self._unknown(name))
        if name not in self.relations:
            raise error("TL1107", f"relation `{name}` is inline and has no tuples of its own",
                        help=f"ask a query, such as `{name}(…)`")  # fmt: skip
        return self.checked.relations[name]

    def is_input(self, name: str, report: Report) -> bool:
        """Whether facts may be given for a relation; if not, the report says why."""
        if name in self.inputs:
            return True
        if name not in self.checked.relations:
            report.diagnostics.append(self._unknown(name))
        else:
            report.error(
                "TL1104", f"relation `{name}` is not an input: its tuples follow from rules",
                help=f"only facts of `.input` relations can be given; to make it one, write `.input {name}`",
            )  # fmt: skip
        return False

    def _unknown(self, name: str) -> Diagnostic:
        known = ", ".join(self.relations[:10]) + (", …" if len(self.relations) > 10 else "")
        help = did_you_mean(str(name), self.relations) or f"the program has {known or 'no relations'}"
        return Diagnostic("TL1103", f"there is no relation `{name}`", help=help)
