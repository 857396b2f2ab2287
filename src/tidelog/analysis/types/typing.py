"""The types of every term of every clause, by Soufflé's rules.

`infer(clauses, types, report)` gives one `ClauseTypes` per clause, in the same order, and reports what does not
fit (codes TL03xx). Its answers are complete and consistent only if it reported no error.

What a planner asks a `ClauseTypes` (call it `ct`; every `term` must be a node of `ct.clause`, the very object):

    ct.kind_of(term)          Kind of any term: variables, literals (a tree.Number is NUMBER, UNSIGNED or FLOAT by its
                              context), functors (their result), casts (their target), aggregates, records, wildcards
    ct.type_of(term)          the Type behind that, or None if nothing constrains the term (a lone wildcard) or if
                              several types remain
    ct.variables              name -> Kind of the variables of the clause itself, without those local to aggregates
    ct.signature_of(functor)  the chosen Signature of a built-in tree.Functor, `params` as long as its arguments
    ct.functor_of(call)       the tree.FunctorDecl of a tree.UserFunctor or tree.UserAggregate
    ct.branch_of(branch)      BranchInfo of a tree.Branch: ADT, tag, kinds of its fields
    ct.record_of(record)      RecordType of a tree.Record; None for a record without a type that is only compared
                              with another one ("[a, b] = [c, d]"): use kind_of on its arguments
    ct.kind_of_comparison(c)  Kind in which a tree.Comparison compares
    ct.scope_of(aggregate)    scopes.Scope of a tree.Aggregate or UserAggregate: `injected` variables come from the
                              enclosing scope, `local` ones live only inside (even if the enclosing scope, or another
                              aggregate, has a variable of the same name)

`kind_of(cast.term)` may differ from `kind_of(cast)`: as(x, T) reads the same 64 bits as another kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.scopes import VariableScope
from tidelog.analysis.types.checks import check_clause
from tidelog.analysis.types.inference import Inference, kind_of
from tidelog.analysis.types.system import BranchInfo, RecordType, Type, TypeSystem
from tidelog.errors import Report
from tidelog.functors import Signature
from tidelog.lang import tree
from tidelog.values import Kind


class ClauseTypes:
    """The types of one clause. It keeps the clause alive, because terms are looked up by identity."""

    __slots__ = ("_choices", "_scopes", "_signatures", "_system", "clause", "variables")

    def __init__(self, inference: Inference) -> None:
        self.clause: Clause = inference.clause
        self.variables: dict[str, Kind] = inference.clause_variables()
        self._system = inference.system
        self._choices = inference.choices()
        self._signatures = inference.signatures
        self._scopes = inference.known_scopes()

    @property
    def has_functors(self) -> bool:
        return bool(self._signatures)

    def kind_of(self, term: tree.Term) -> Kind:
        return kind_of(term, self._choices.get(id(term)))

    def type_of(self, term: tree.Term) -> Type | None:
        found = self._choices.get(id(term))
        return next(iter(found)) if found is not None and len(found) == 1 else None

    def signature_of(self, functor: tree.Functor) -> Signature:
        return self._signatures[id(functor)]

    def functor_of(self, call: tree.UserFunctor | tree.UserAggregate) -> tree.FunctorDecl:
        return self._system.functors[call.name]

    def branch_of(self, branch: tree.Branch) -> BranchInfo:
        return self._system.branches[branch.name]

    def record_of(self, record: tree.Record) -> RecordType | None:
        found = self.type_of(record)
        return found if isinstance(found, RecordType) else None

    def kind_of_comparison(self, comparison: tree.Comparison) -> Kind:
        return self.kind_of(comparison.left)

    def scope_of(self, aggregate: tree.Aggregate | tree.UserAggregate) -> VariableScope:
        return self._scopes[id(aggregate)]


def infer(clauses: Iterable[Clause], types: TypeSystem, report: Report) -> list[ClauseTypes]:
    """The types of all clauses; nothing at all if the type declarations themselves are wrong."""
    if not types.sound:
        return []
    result = []
    for clause in clauses:
        inference = Inference(clause, types)
        check_clause(inference, report)
        result.append(ClauseTypes(inference))
    return result
