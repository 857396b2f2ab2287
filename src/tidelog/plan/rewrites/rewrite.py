"""What a rewrite is: a rule in, rules out that say the same, and what defines the relations that they now read.

All rewrites of rules have one signature, so that they can stand in a list (`__init__.py`). A rewrite leaves alone what
it has nothing to do with, and gives back unchanged what it has rewritten before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from tidelog.analysis.checked import Checked
from tidelog.lang import tree
from tidelog.plain import dataclass, field
from tidelog.plan import core
from tidelog.plan.rewrites.parts import Keys, PartRelations
from tidelog.values import Kind

Made = core.CoreRule | core.AggregateRelation
"""What defines a relation that a rewrite has made."""


@dataclass(frozen=True)
class RuleScope:
    """What a rewrite may know of the program around a rule.

    `own` are the relations of the rule's stratum, `kinds` has the columns of every relation, `keys` columns that
    determine others, `implicit` the equivalences that are known by their classes, `parts` what parts of bodies have
    become. A rewrite that could do without making a relation asks whether it is `allowed`.
    """

    own: Collection[str]
    kinds: Mapping[str, tuple[Kind, ...]] = field(default_factory=dict)
    keys: Keys = field(default_factory=dict)
    implicit: frozenset[str] = frozenset()
    parts: PartRelations = field(default_factory=PartRelations)
    allowed: Callable[[core.CoreRule], bool] = lambda made: True


class Rewritten(NamedTuple):
    """The rules in the place of one, and what they read that was not there before, in order of evaluation."""

    rules: tuple[core.CoreRule, ...]
    made: tuple[Made, ...] = ()


Rewrite = Callable[[core.CoreRule, RuleScope], Rewritten]

DemandRewrite = Callable[[Checked, Collection[str]], Checked]
"""A checked program in, and the relations that are asked for, which it must leave as they are."""

ProgramRewrite = Callable[[tree.Program, Collection[str]], tree.Program]
"""A program in, and the relations of the program as written, whose contents it must leave as they are."""


def applied(rewrites: Collection[Rewrite], rule: core.CoreRule, scope: RuleScope) -> tuple[core.CoreRule, ...]:
    """The rules after these rewrites, which make no relations."""
    rules: tuple[core.CoreRule, ...] = (rule,)
    for rewrite in rewrites:
        rules = tuple(found for one in rules for found in rewrite(one, scope).rules)
    return rules


def relations_of(program: tree.Program) -> frozenset[str]:
    """The relations that a program mentions."""
    return frozenset(n.name for item in program.items for n in item.walk() if isinstance(n, tree.Atom))


def rewritten(program: tree.Program, *rewrites: ProgramRewrite) -> tree.Program:
    """The program after these rewrites."""
    written = relations_of(program)
    for rewrite in rewrites:
        program = rewrite(program, written)
    return program
