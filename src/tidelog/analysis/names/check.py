"""Names: everything that a clause mentions is declared, and used where and as often as it may be.

Each head and literal is looked at once, however many clauses share it. Checks of one idea stand in files of their
own: `relations` (declarations), `aggregates`, `variables`, `inlining`, `orders`, `patterns`.
"""

from __future__ import annotations

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.uses import ClauseUses, ProgramUses, Uses, collect
from tidelog.analysis.names.aggregates import check_aggregates
from tidelog.analysis.names.directives import directives_of
from tidelog.analysis.names.inlining import check_inlining
from tidelog.analysis.names.lattices import check_lattices
from tidelog.analysis.names.orders import check_counters
from tidelog.analysis.names.patterns import warn_of_patterns
from tidelog.analysis.names.relations import Declared, check_relations, declared_names
from tidelog.analysis.names.variables import warn_of_variables
from tidelog.analysis.suggest import Suggestions
from tidelog.errors import Report, amount, listed
from tidelog.functors import FUNCTORS
from tidelog.lang import tree

_MOST_ARGUMENTS = {"range": 3}


def check_names(program: tree.Program, clauses: list[Clause], report: Report) -> None:
    """All errors and warnings (TL02xx) about names in a program whose components are expanded."""
    declared = declared_names(program, report)
    heads = {clause.head.name for clause in clauses if clause.greater is None}
    subsuming = {clause.head.name for clause in clauses if clause.greater is not None}
    inputs = {directive.relation for directive in directives_of(program) if directive.kind == "input"}
    check_relations(declared, heads | inputs, subsuming, report)
    check_lattices(declared, subsuming, report)
    _warn_of_empty_relations(program, declared, heads | subsuming | inputs, report)
    mentions = _Mentions(declared, report)
    uses = ProgramUses(clauses)
    for literal in uses.distinct:
        for level in literal.levels():
            mentions.check(level)
    for clause in uses.clauses:
        _check_clause(clause, report)
        check_aggregates(clause, report)
    warn_of_variables(uses, report)
    warn_of_patterns(uses, report)
    check_counters(uses, report)
    check_inlining(program, declared, uses, report)


class _Mentions:
    """Checks that the relations and functors of a clause exist and have as many arguments as they need."""

    def __init__(self, declared: Declared, report: Report) -> None:
        self._declared = declared
        self._report = report
        self._near_relations = Suggestions(declared.relations)
        self._near_functors = Suggestions(declared.functors)

    def check(self, level: Uses) -> None:
        for atom in level.atoms:
            self._check_atom(atom)
        for functor in level.functors:
            if isinstance(functor, tree.UserFunctor):
                self._check_user_functor(functor)
            else:
                self._check_functor(functor)
        for aggregate in level.aggregates:
            node = aggregate.node
            if isinstance(node, tree.UserAggregate) and node.name not in self._declared.functors:
                self._undeclared_functor(node)
        if level.wildcards:
            for comparison in level.comparisons:
                self._check_wildcards(comparison)

    def _check_atom(self, atom: tree.Atom) -> None:
        relation = self._declared.relations.get(atom.name)
        if relation is None:
            if self._report.may_be_declared(atom.name):
                return
            self._report.error(
                "TL0201",
                f"relation `{atom.name}` is not declared",
                atom.name_span or atom.span,
                help=self._near_relations.near(atom.name) or f"declare it with `.decl {atom.name}(...)`",
            )
        elif len(relation.attributes) != len(atom.args) and relation.delta_of is None:
            self._report.error(
                "TL0202",
                f"relation `{atom.name}` has {amount(len(relation.attributes), 'attribute')}, "
                f"but is used with {amount(len(atom.args), 'argument')}",
                atom.span,
                notes=(("it is declared here", relation.span),),
            )

    def _check_user_functor(self, functor: tree.UserFunctor) -> None:
        declaration = self._declared.functors.get(functor.name)
        if declaration is None:
            self._undeclared_functor(functor)
        elif len(declaration.params) != len(functor.args):
            self._report.error(
                "TL0221",
                f"functor `@{functor.name}` takes {amount(len(declaration.params), 'argument')}, "
                f"but is given {len(functor.args)}",
                functor.span,
                notes=(("it is declared here", declaration.span),),
            )

    def _undeclared_functor(self, functor: tree.UserFunctor | tree.UserAggregate) -> None:
        if self._report.may_be_declared(functor.name):
            return
        self._report.error(
            "TL0220",
            f"functor `{functor.name}` is not declared",
            functor.span,
            help=self._near_functors.near(functor.name) or f"declare it with `.functor {functor.name}(...): type`",
        )

    def _check_functor(self, functor: tree.Functor) -> None:
        info = FUNCTORS.get(functor.op)
        if info is None:
            return
        got = len(functor.args)
        most = _MOST_ARGUMENTS.get(functor.op, got)
        if got <= most and any(len(s.params) == got or (s.variadic and len(s.params) < got) for s in info.signatures):
            return
        fewest = min(len(signature.params) for signature in info.signatures)
        more = any(signature.variadic for signature in info.signatures)
        wanted = (
            f"{fewest} to {most}" if functor.op in _MOST_ARGUMENTS else f"at least {fewest}" if more else str(fewest)
        )
        self._report.error(
            "TL0221",
            f"functor `{functor.op}` takes {wanted} argument{'' if wanted == '1' else 's'}, but is given {got}",
            functor.span,
        )

    def _check_wildcards(self, comparison: tree.Comparison) -> None:
        """`_` has no value to compare; only an aggregate or a record beside it or a record around it makes sense."""
        sides: tuple[tree.Term, ...] = (comparison.left, comparison.right)
        if any(isinstance(side, (tree.Aggregate, tree.UserAggregate)) for side in sides):
            return
        if comparison.op == "=" and any(isinstance(side, tree.Record) for side in sides):
            sides = tuple(side for side in sides if not isinstance(side, tree.Wildcard))
        for wildcard in collect(sides).wildcards:
            self._report.error(
                "TL0224", "`_` in a constraint", wildcard.span, help="name the variable and bind it in an atom"
            )


def _check_clause(uses: ClauseUses, report: Report) -> None:
    clause = uses.clause
    greater = clause.greater
    if greater is not None:
        if greater.name != clause.head.name:
            report.error(
                "TL0226",
                f"a subsumption compares tuples of one relation, not of `{clause.head.name}` and `{greater.name}`",
                clause.head.span.to(greater.span) if clause.head.span else clause.span,
            )
        return
    for wildcard in (*uses.head.wildcards, *uses.head.field_wildcards):
        report.error("TL0222", "`_` in the head of a clause", wildcard.span, help="a head needs a value in every place")
    if clause.is_fact and clause.origin.body is None:
        for argument in clause.head.args:
            _check_constant(argument, report)


def _check_constant(argument: tree.Term, report: Report) -> None:
    for node in argument.walk():
        match node:
            case tree.Variable(name=name):
                what, help = f"the variable `{name}`", f'a symbol is written in double quotes: "{name}"'
            case tree.Counter():
                what, help = "a counter", "give the clause a body"
            case tree.Iteration():
                what, help = "the iteration number", "give the clause a body"
            case tree.Aggregate() | tree.UserAggregate():
                return  # the clause is a rule whose body is empty; what the aggregate may use is checked elsewhere
            case _:
                continue
        report.error("TL0223", f"{what} in a fact: its arguments must be constant", node.span, help=help)
        return


def _warn_of_empty_relations(program: tree.Program, declared: Declared, defined: set[str], report: Report) -> None:
    silenced: set[str] = set()
    for pragma in program.of(tree.Pragma):
        if pragma.key == "suppress-warnings":
            silenced.update(pragma.value.split(","))
    if "*" in silenced:
        return
    empty = [
        relation
        for name, relation in declared.relations.items()
        if name not in defined
        and name not in silenced
        and relation.delta_of is None
        and not report.may_be_declared(name)
    ]
    if len(empty) == 1:
        report.warn("TL0280", f"no rules, facts or input for relation `{empty[0].name}`", empty[0].span)
    elif empty:
        names = listed([f"`{relation.name}`" for relation in empty])
        report.warn("TL0280", f"no rules, facts or input for {len(empty):,} relations: {names}", empty[0].span)
