"""Ad-hoc queries: a body, answered by the relations as they are.

A query becomes the one rule of a small program: the declarations of the user's program, the rules of its `inline`
relations (which have no tuples to look at), and a relation whose attributes are the query's variables. That program
is checked and planned like any other, so that a query means what it would mean in a rule.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.analysis.names.inlining import inline_relations
from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.analysis.types.typing import ClauseTypes
from tidelog.errors import Diagnostic, Source, TidelogError, TidelogWarning, error, listed
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.statistics import Statistics
from tidelog.lang import tree
from tidelog.lang.souffle import parse_query
from tidelog.plain import dataclass, replace
from tidelog.plan.program import plan_stratum
from tidelog.plan.rewrites.read_classes import rules_by_classes
from tidelog.plan.stateful import flat_rules
from tidelog.store import Database
from tidelog.values import Kind

HEAD = "(query)"
"""The relation of the answers: no program can declare one of this name."""


@dataclass(frozen=True)
class Answer:
    """The distinct values of the query's variables. Without variables there is one row if it holds, or none."""

    info: RelationInfo
    rows: Words


def answer(
    query: Source | tree.Literal, checked: Checked, database: Database, functors: Mapping[str, Callable[..., Any]]
) -> Answer:
    """What holds in the database; it must have the program's relations, settled. Its own relations stay as they are."""
    prepared = Prepared(query_program(query, checked), functors)
    info = prepared.checked.relations[HEAD]
    stratum = next(s for s in prepared.checked.strata if HEAD in s.relations)
    rules = rules_by_classes(flat_rules(prepared.checked, stratum), database.equivalences)
    plans = plan_stratum(stratum, rules, Statistics(database)).once
    try:
        found = database.create(HEAD, info.arity)
        context = prepared.context(database)
        for plan in plans:
            PlanRun(context, plan).run()
        return Answer(info, found.rows().astype(np.int64))
    finally:
        if HEAD in database:
            database.drop(HEAD)


def query_program(query: Source | tree.Literal, checked: Checked) -> Checked:
    """The query, a text or the body that it says, with the declarations it may use, checked; its variables typed as
    their places in the body say. The answers are those of its relation HEAD."""
    body = parse_query(query) if isinstance(query, Source) else query
    surroundings = _surroundings(body, checked.program)
    try:
        untyped = check(tree.Program((*surroundings, *_clause(body, ()))))
    except TidelogError as wrong:
        raise TidelogError([_advised(d, checked) for d in wrong.diagnostics]) from None
    typed = next(t for t in untyped.clause_types if t.clause.head.name == HEAD)
    columns = tuple(tree.Attribute(name, _type_name(name, typed, untyped.types)) for name in _columns(body, typed))
    for problem in (d for d in untyped.warnings if d.code == "TL0870"):
        warnings.warn(problem.message, TidelogWarning, stacklevel=2)
    return check(tree.Program((*surroundings, *_clause(body, columns))))


def _advised(problem: Diagnostic, checked: Checked) -> Diagnostic:
    """A query cannot declare a relation that it misses: it may be told which there are."""
    if problem.code != "TL0201" or (problem.help or "").startswith("did you mean"):
        return problem
    return replace(problem, help=f"the program has {listed(list(checked.relations)) or 'no relations'}")


def _columns(body: tree.Literal, typed: ClauseTypes) -> list[str]:
    """The variables to be answered, in the order of the text: those of an aggregate are its own, and a name that
    begins with an underscore asks for nothing."""
    named = dict.fromkeys(node.name for node in body.walk() if isinstance(node, tree.Variable))
    return [name for name in named if name in typed.variables and not name.startswith("_")]


def _type_name(name: str, typed: ClauseTypes, types: TypeSystem) -> str:
    """The type that a variable's column is declared with."""
    places = [
        node
        for literal in typed.clause.body
        for node in literal.walk()
        if isinstance(node, tree.Variable) and node.name == name
    ]
    for node in places:
        found = typed.type_of(node)
        if found is not None and found.name in types.types:
            return found.name
    kind = typed.variables[name]
    if kind is Kind.RECORD:
        raise error(
            "TL1120", f"it is not clear which record type `{name}` has", places[0].span,
            help=f"let it stand in an atom as well, or call it `_{name}` if its value is not wanted",
        )  # fmt: skip
    return kind.value


def _surroundings(body: tree.Literal, program: tree.Program) -> list[tree.Item]:
    """What a query needs: types, functors, and the relations that it mentions; all of them if one is inline or unknown
    (the error then offers a known one). How a relation is filled does not matter to those who read it."""
    inlined = inline_relations(program)
    mentioned = {node.name for node in body.walk() if isinstance(node, tree.Atom)}
    relations = {decl.name: decl for decl in program.of(tree.RelationDecl)}
    if not mentioned & inlined and mentioned <= relations.keys():
        relations = {name: decl for name, decl in relations.items() if name in mentioned}
    kept: list[tree.Item] = [item for item in program.items if isinstance(item, (tree.TypeDecl, tree.FunctorDecl))]
    for name, decl in relations.items():
        kept.append(replace(decl, qualifiers=("inline",) if name in inlined else (), choice=()))
    kept += [rule for rule in program.rules if any(h.name in inlined and h.name in relations for h in rule.heads)]
    return kept


def _clause(body: tree.Literal, columns: tuple[tree.Attribute, ...]) -> tuple[tree.RelationDecl, tree.Rule]:
    head = tree.Atom(HEAD, tuple(tree.Variable(column.name) for column in columns))
    return tree.RelationDecl(HEAD, columns), tree.Rule((head,), body, span=body.span)
