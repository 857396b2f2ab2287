"""A program as the manifest has it: its text, what it is known by, and what each relation's tuples depend on.

The *normal* text leaves out what changes no tuple: comments, layout, where facts are read from, and what is printed.
Two programs with the same normal text have the same state. The *fingerprint* of a relation covers its declaration, the
rules of its stratum, and the fingerprints of the relations that these read.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterator

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.analysis.clauses import Clause
from tidelog.analysis.strata import Stratum, dependencies_of
from tidelog.analysis.types import AdtType, Type
from tidelog.analysis.types.typing import ClauseTypes
from tidelog.errors import Report
from tidelog.io.record_text import base_type
from tidelog.lang import tree
from tidelog.lang.load import parse_program
from tidelog.lang.souffle_printer import print_program, show
from tidelog.state import problems
from tidelog.state.files import Files
from tidelog.state.manifest import read_manifest
from tidelog.values import Kind

_IRRELEVANT = ("output", "printsize")
_COUNTED = "derivations that differ in what a rule looks at"
"""What the counts of a state count, as part of the fingerprint of whatever has derivations; another text makes states
that were counted in another way be evaluated anew."""


def full_text(checked: Checked) -> str:
    """All of the program, with its components expanded."""
    return print_program(checked.program)


def program_of(text: str) -> Checked:
    """The program of a manifest."""
    report = Report()
    return check(parse_program(text, report, "<state>"), report)


def stored_program(place: str | os.PathLike[str]) -> Checked:
    """The program of a state directory."""
    files = Files.at(place)
    manifest = read_manifest(files)
    if manifest is None:
        raise problems.no_state(files.where)
    return program_of(manifest.program)


def normal_text(checked: Checked) -> str:
    return "".join(show(item) + "\n" for item in _relevant(checked))


def _relevant(checked: Checked) -> Iterator[tree.Item]:
    for item in checked.program.items:
        match item:
            case tree.Directive(kind=kind) if kind in _IRRELEVANT:
                continue
            case tree.Directive(kind="input", relation=relation):
                yield tree.Directive("input", relation)
            case _:
                yield item


def digest(checked: Checked) -> str:
    return _hash(normal_text(checked))


def difference(stored: Checked, given: Checked) -> str:
    """What to change in the stored program to get the one that was given, as a unified diff."""
    lines = difflib.unified_diff(
        normal_text(stored).splitlines(), normal_text(given).splitlines(), "stored", "given", lineterm="", n=1
    )
    return "\n".join(lines)


def numbers_texts(checked: Checked) -> bool:
    """Whether some rule asks for the number of a symbol or record, which differs from process to process."""
    for types in checked.clause_types:
        for literal in (types.clause.head, *types.clause.literals()):
            for node in literal.walk():
                if isinstance(node, tree.Functor) and node.op == "ord":
                    kind = types.signature_of(node).params[0]
                    if kind in (Kind.SYMBOL, Kind.RECORD):
                        return True
    return False


def relations_with_floats(checked: Checked) -> set[str]:
    """The relations of strata that hold floats, or compute with them."""
    return {
        name
        for stratum in checked.strata
        if any(_holds_floats(checked, name) for name in stratum.relations)
        or any(_computes_floats(checked.clause_types[number]) for number in stratum.clauses)
        for name in stratum.relations
    }


def _holds_floats(checked: Checked, name: str) -> bool:
    """Whether a column is of floats, or of records with floats somewhere in them."""
    waiting = [base_type(checked.types.types[declared]) for declared in checked.relations[name].types]
    known: set[Type] = set()
    while waiting:
        found = waiting.pop()
        if found.kind is Kind.FLOAT:
            return True
        if found not in known:
            known.add(found)
            branches = found.branches.values() if isinstance(found, AdtType) else (found,)
            waiting += [base_type(inner) for branch in branches for inner in getattr(branch, "types", ())]
    return False


def _computes_floats(types: ClauseTypes) -> bool:
    computed = (tree.Float, tree.Functor, tree.UserFunctor, tree.Aggregate, tree.Cast)
    nodes = (n for literal in (types.clause.head, *types.clause.literals()) for n in literal.walk())
    return any(isinstance(node, computed) and types.kind_of(node) is Kind.FLOAT for node in nodes)


def fingerprints(checked: Checked) -> dict[str, str]:
    """Of every relation: equal in two programs only if, for equal facts, its tuples and their states are equal too."""
    found: dict[str, str] = {}
    inputs = {directive.relation for directive in checked.directives("input")}
    types = "".join(show(item) for item in checked.program.of(tree.TypeDecl))
    for stratum in checked.strata:
        parts = [_declared(checked, name, name in inputs, types) for name in stratum.relations]
        parts += [_clause(checked.clauses[number]) for number in stratum.clauses]
        parts += [_COUNTED] if stratum.clauses else []
        parts += [show(d) for d in checked.directives("limitsize") if d.relation in stratum.relations]
        parts += [found[name] for name in sorted(_read(checked, stratum)) if name in found]
        for name in stratum.relations:
            found[name] = _hash("\n".join((name, *parts)))
    return found


def _declared(checked: Checked, name: str, given: bool, types: str) -> str:
    info = checked.relations[name]
    plain = all(declared in {kind.value for kind in Kind} for declared in info.types)
    columns = [f"{attribute}:{kind}" for attribute, kind in zip(info.attributes, info.types, strict=True)]
    qualifiers = [q for q in info.decl.qualifiers if q not in ("input", *_IRRELEVANT)]
    return repr((name, columns, qualifiers, info.decl.choice, given, "" if plain else types))


def _clause(clause: Clause) -> str:
    parts = (clause.head, *clause.body) if clause.greater is None else (clause.head, clause.greater, *clause.body)
    return f"{'<=' if clause.greater else ':-'} {', '.join(map(show, parts))}"


def _read(checked: Checked, stratum: Stratum) -> set[str]:
    needed = (d.relation for number in stratum.clauses for d in dependencies_of(number, checked.clauses[number]))
    return {name for name in needed if name not in stratum.relations}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
