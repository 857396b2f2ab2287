"""Clause to CoreRule: names become slots, nested terms become definitions, equal variables become one slot.

path(x, y + 1) :- edge(x, y), x = z, p(z).
path(s0, s2) :- edge(s0, s1), p(s0), s2 := s1 + 1
"""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.analysis.clauses import Clause
from tidelog.analysis.clauses.scopes import AnyAggregate, body_of, counts_named_values
from tidelog.analysis.types import AdtType
from tidelog.analysis.types.typing import ClauseTypes
from tidelog.errors import InternalError
from tidelog.lang import tree
from tidelog.plan import core
from tidelog.plan.steps import Const, Operand, Slot
from tidelog.values import Kind, canonical

_NEVER = core.CoreFilter("=", Kind.NUMBER, Const(Kind.NUMBER, 0), Const(Kind.NUMBER, 1))


def flatten(number: int, types: ClauseTypes) -> core.CoreRule:
    return _Flattener(number, types).rule()


class _Flattener:
    def __init__(self, number: int, types: ClauseTypes) -> None:
        self.number = number
        self.types = types
        self.slots: list[tuple[str, Kind]] = []
        self.equal: dict[int, Operand] = {}  # what a slot was found to be equal to
        self.own = 0  # the first slot of the running scope: those of enclosing scopes keep their values

    def rule(self) -> core.CoreRule:
        clause: Clause = self.types.clause
        names: dict[str, int] = {}
        body = self.body(clause.literals(), names)
        args = tuple(self.operand(arg, names, body) for arg in clause.head.args)
        items = self.renamed_body(self.shared(body))
        args = tuple(self.resolve(a) for a in args)
        if _NEVER in items:
            args = tuple(map(self.anything, args))
            if clause.greater is not None:  # whoever evaluates it looks for the two atoms
                items = (*(i for i in body if isinstance(i, core.CoreAtom)), _NEVER)
        return core.CoreRule(
            self.number, clause.head.name, args, items, tuple(self.slots), clause, clause.greater is not None
        )

    # ---- bodies

    def body(self, literals: tuple[tree.Literal, ...], names: dict[str, int]) -> list[core.CoreItem]:
        items: list[core.CoreItem] = []
        for literal in literals:
            self.literal(literal, names, items)
        return core.positioned(items)

    def literal(self, literal: tree.Literal, names: dict[str, int], items: list[core.CoreItem]) -> None:
        match literal:
            case tree.Atom(name=name, args=args):
                items.append(core.CoreAtom(name, self.arguments(args, names, items)))
            case tree.Negation(body=tree.Atom(name=name, args=args)):
                items.append(core.CoreAbsent(name, self.arguments(args, names, items)))
            case tree.Comparison(op="=", left=left, right=right):
                self.equation(left, right, names, items)
            case tree.Comparison(op=op, left=left, right=right):
                a, b = self.operand(left, names, items), self.operand(right, names, items)
                items.append(core.CoreFilter(op, self.types.kind_of_comparison(literal), a, b))
            case tree.Boolean(value=value):
                if not value:
                    items.append(_NEVER)
            case _:
                raise InternalError(f"{type(literal).__name__} in a clause's body")

    def equation(self, left: tree.Term, right: tree.Term, names: dict[str, int], items: list[core.CoreItem]) -> None:
        left, right = self.uncast(left), self.uncast(right)
        if isinstance(left, tree.Wildcard) or isinstance(right, tree.Wildcard):
            return
        if isinstance(left, tree.Record) and isinstance(right, tree.Record):
            for a, b in zip(left.args, right.args, strict=True):
                self.equation(a, b, names, items)
            return
        if not isinstance(left, tree.Variable):
            left, right = right, left
        if isinstance(left, tree.Variable) and not isinstance(right, tree.Variable) and not _is_constant(right):
            slot = self.operand(left, names, items)
            if isinstance(slot, Slot):
                self.define(slot.index, right, names, items)
                return
        one, other = self.operand(left, names, items), self.operand(right, names, items)
        if not self.unify(one, other):
            items.append(core.CoreFilter("=", self.types.kind_of(left), one, other))

    def unify(self, a: Operand, b: Operand) -> bool:
        """Make the two one, if one of them is a slot of the running scope."""
        a, b = self.resolve(a), self.resolve(b)
        if a == b:
            return True
        for slot, other in ((a, b), (b, a)):
            if isinstance(slot, Slot) and slot.index >= self.own:
                self.equal[slot.index] = other
                return True
        return False

    # ---- terms

    def arguments(
        self, args: tuple[tree.Term, ...], names: dict[str, int], items: list[core.CoreItem]
    ) -> tuple[core.Argument, ...]:
        return tuple(None if isinstance(a, tree.Wildcard) else self.operand(a, names, items) for a in args)

    def operand(self, term: tree.Term, names: dict[str, int], items: list[core.CoreItem]) -> Operand:
        """The slot or constant that holds the term's value; what must be computed is added to `items`."""
        match term:
            case tree.Variable(name=name):
                if name not in names:
                    names[name] = self.new_slot(name, self.types.kind_of(term))
                return self.resolve(Slot(names[name]))
            case tree.Wildcard():
                return Slot(self.new_slot("_", self.types.kind_of(term)))
            case tree.Cast(term=inner) if not self.rereads(term):
                return self.operand(inner, names, items)
            case tree.Number(value=number):
                kind = self.types.kind_of(term)
                return Const(kind, canonical(float(number)) if kind is Kind.FLOAT else number)
            case tree.Unsigned(value=number):
                return Const(Kind.UNSIGNED, number)
            case tree.Float(value=real):
                return Const(Kind.FLOAT, canonical(real))
            case tree.String(value=text):
                return Const(Kind.SYMBOL, text)
            case tree.Nil():
                return Const(Kind.RECORD, 0)
            case tree.Branch() if self.adt(term).is_enum:
                return Const(Kind.RECORD, self.types.branch_of(term).tag)
        slot = self.new_slot(f"t{len(self.slots)}", self.types.kind_of(term))
        self.define(slot, term, names, items)
        return Slot(slot)

    def define(self, slot: int, term: tree.Term, names: dict[str, int], items: list[core.CoreItem]) -> None:
        """slot := term, for a term that is not just a variable or a constant."""
        operand = self.operand
        expression: core.Expression
        match term:
            case tree.Functor(op=op, args=args):
                kinds = self.types.signature_of(term).params
                operands = tuple(operand(a, names, items) for a in args)
                expression = core.Computed(op, self.types.kind_of(term), operands, kinds)
            case tree.Cast(term=inner):  # to a float: the word may not be one that stands for it
                expression = core.Computed("reread", Kind.FLOAT, (operand(inner, names, items),), (Kind.NUMBER,))
            case tree.UserFunctor(name=name, args=args):
                expression = core.Called(name, tuple(operand(a, names, items) for a in args))
            case tree.Record(args=args):
                expression = core.Packed(tuple(operand(a, names, items) for a in args))
            case tree.Branch(args=args):
                if self.adt(term).is_enum:
                    number = operand(term, names, items)
                    if not self.unify(Slot(slot), number):
                        items.append(core.CoreFilter("=", Kind.RECORD, Slot(slot), number))
                    return
                tag = Const(Kind.NUMBER, self.types.branch_of(term).tag)
                fields = [operand(a, names, items) for a in args]
                padding = [Const(Kind.NUMBER, 0)] * (self.adt(term).width - 1 - len(fields))
                expression = core.Packed((tag, *fields, *padding))
            case tree.Counter():
                expression = core.Counted()
            case tree.Iteration():
                expression = core.Iterated()
            case tree.Aggregate() | tree.UserAggregate():
                expression = self.aggregate(term, names, items)
            case _:
                raise InternalError(f"{type(term).__name__} as a term")
        items.append(core.CoreDefine(slot, expression))

    def aggregate(self, term: AnyAggregate, names: dict[str, int], items: list[core.CoreItem]) -> core.Aggregated:
        scope = self.types.scope_of(term)
        init = self.operand(term.init, names, items) if isinstance(term, tree.UserAggregate) else None
        for node in term.walk():
            if isinstance(node, tree.Variable) and node.name in scope.injected and node.name not in names:
                names[node.name] = self.new_slot(node.name, self.types.kind_of(node))
        inner = {name: names[name] for name in scope.injected}
        injected = frozenset(inner.values())
        literals = body_of(term)
        outer, self.own = self.own, len(self.slots)
        body = self.body(literals, inner)
        value = None if term.target is None else self.operand(term.target, inner, body)
        self.own = outer
        repeats = isinstance(term, tree.UserAggregate) or term.op not in ("min", "max")
        distinct = frozenset(inner.values()) - injected if repeats and counts_named_values(term) else None
        if isinstance(term, tree.UserAggregate):
            more = core.slots_in((init,))
            return core.Aggregated(
                f"@{term.name}", self.types.kind_of(term), value, tuple(body), injected.union(more), distinct, init
            )
        kind = self.types.kind_of(term) if term.target is None else self.types.kind_of(term.target)
        return core.Aggregated(term.op, kind, value, tuple(body), injected, distinct)

    def adt(self, branch: tree.Branch) -> AdtType:
        return self.types.branch_of(branch).adt

    def shared(self, items: list[core.CoreItem]) -> list[core.CoreItem]:
        """The items without repeated definitions.

        Equal expressions have equal values, so their slots are one; a slot that is two records has equal fields.
        """
        while True:
            seen: dict[core.Expression, int] = {}
            records: dict[int, core.Packed] = {}
            kept: list[core.CoreItem] = []
            for item in items:
                if isinstance(item, core.CoreDefine) and _has_one_value(item.expression):
                    expression = self.renamed_expression(item.expression)
                    if expression in seen:
                        self.unify(Slot(seen[expression]), Slot(item.slot))
                        continue
                    seen[expression] = item.slot
                    target = self.resolve(Slot(item.slot))
                    if isinstance(expression, core.Packed) and isinstance(target, Slot):
                        other = records.setdefault(target.index, expression)
                        if other is not expression and self.unify_fields(other, expression):
                            continue
                kept.append(item)
            if len(kept) == len(items):
                return kept
            items = kept

    def unify_fields(self, one: core.Packed, other: core.Packed) -> bool:
        """Make two records one, if that needs no comparison of constants."""
        pairs = list(zip(one.fields, other.fields, strict=False))
        if len(one.fields) != len(other.fields) or any(isinstance(a, Const) and isinstance(b, Const) for a, b in pairs):
            return False
        united = [self.unify(a, b) for a, b in pairs]  # every pair, also after one that cannot be
        return all(united)

    # ---- casts

    def rereads(self, cast: tree.Cast) -> bool:
        """Whether the cast is more than another name for the same word: the bits of something else as a float."""
        return self.types.kind_of(cast) is Kind.FLOAT and self.types.kind_of(cast.term) is not Kind.FLOAT

    def uncast(self, term: tree.Term) -> tree.Term:
        while isinstance(term, tree.Cast) and not self.rereads(term):
            term = term.term
        return term

    # ---- slots

    def new_slot(self, name: str, kind: Kind) -> int:
        self.slots.append((name, kind))
        return len(self.slots) - 1

    def resolve(self, operand: Operand) -> Operand:
        while isinstance(operand, Slot) and operand.index in self.equal:
            operand = self.equal[operand.index]
        return operand

    def renamed_body(self, items: Iterable[core.CoreItem]) -> tuple[core.CoreItem, ...]:
        """The items with every slot replaced by what it was found to be equal to; one item if they never hold."""
        found = tuple(renamed for item in items for renamed in self.renamed(item))
        return (_NEVER,) if _NEVER in found else found

    def anything(self, operand: Operand) -> Operand:
        """A constant of the operand's kind, for a place that is never reached."""
        kind = self.slots[operand.index][1] if isinstance(operand, Slot) else operand.kind
        return Const(kind, "" if kind is Kind.SYMBOL else 0.0 if kind is Kind.FLOAT else 0)

    def renamed(self, item: core.CoreItem) -> tuple[core.CoreItem, ...]:
        match item:
            case core.CoreAtom(relation=relation, args=args, position=position):
                return (core.CoreAtom(relation, self.resolve_all(args), position),)
            case core.CoreAbsent(relation=relation, args=args):
                return (core.CoreAbsent(relation, self.resolve_all(args)),)
            case core.CoreFilter(op=op, kind=kind, left=left, right=right):
                return (core.CoreFilter(op, kind, self.resolve(left), self.resolve(right)),)
        target, expression = self.resolve(Slot(item.slot)), self.renamed_expression(item.expression)
        if isinstance(target, Slot):
            return (core.CoreDefine(target.index, expression),)
        if isinstance(expression, core.Packed):  # the constant is nil, which no record is
            return (_NEVER,)
        extra = self.new_slot(f"t{len(self.slots)}", target.kind)  # the slot is a constant: compute and compare
        return core.CoreDefine(extra, expression), core.CoreFilter("=", target.kind, Slot(extra), target)

    def resolved_slots(self, slots: frozenset[int]) -> frozenset[int]:
        return frozenset(core.slots_in(tuple(self.resolve(Slot(slot)) for slot in slots)))

    def resolve_all(self, args: tuple[core.Argument, ...]) -> tuple[core.Argument, ...]:
        return tuple(None if a is None else self.resolve(a) for a in args)

    def renamed_expression(self, expression: core.Expression) -> core.Expression:
        match expression:
            case core.Computed(op=op, kind=kind, args=args, arg_kinds=kinds):
                return core.Computed(op, kind, tuple(map(self.resolve, args)), kinds)
            case core.Called(functor=functor, args=args):
                return core.Called(functor, tuple(map(self.resolve, args)))
            case core.Packed(fields=fields):
                return core.Packed(tuple(map(self.resolve, fields)))
            case core.Aggregated(op=op, kind=kind, value=value, body=body, injected=injected):
                slots = (self.resolve(Slot(s)) for s in injected)
                init = None if expression.init is None else self.resolve(expression.init)
                items = self.renamed_body(body)
                never = _NEVER in items  # then nothing is bound that could be told apart
                distinct = None if never or expression.distinct is None else self.resolved_slots(expression.distinct)
                if value is not None:
                    value = self.anything(value) if never else self.resolve(value)
                outer = frozenset(s.index for s in slots if isinstance(s, Slot))
                return core.Aggregated(op, kind, value, items, outer, distinct and distinct - outer, init)
        return expression


def _has_one_value(expression: core.Expression) -> bool:
    """Whether the value depends on the inputs and nothing else: two ranges run independently of each other."""
    return isinstance(expression, core.Packed) or (isinstance(expression, core.Computed) and expression.op != "range")


def _is_constant(term: tree.Term) -> bool:
    return isinstance(term, (tree.Number, tree.Unsigned, tree.Float, tree.String, tree.Nil))
