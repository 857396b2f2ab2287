"""Type inference of one clause.

Every term has a cell (`cells`). Reading the clause once puts into the cells what stands fixed: positive atoms give
their arguments the declared types, heads and negated atoms only the kind (a head is checked afterwards, see
`checks`), equal terms share a cell. What remains are functors, aggregates and records, whose parts depend on
each other; each is worked on again when one of its cells changes. Then overloads that are still open are decided as
Soufflé does: number before unsigned before float.

Cost: linear in the size of the clause, because a cell can change only a few times.
"""

from __future__ import annotations

from collections import deque

from tidelog.analysis.clauses.flat import Clause
from tidelog.analysis.clauses.scopes import VariableScope, body_of, scopes_of
from tidelog.analysis.types.calls import FunctorCall, fixed_result
from tidelog.analysis.types.cells import Cells, Choice
from tidelog.analysis.types.system import RecordType, RelationInfo, Type, TypeSystem
from tidelog.functors import Signature
from tidelog.lang import tree
from tidelog.values import Kind

LITERALS = (tree.String, tree.Number, tree.Unsigned, tree.Float, tree.Nil)
PREFERENCE = (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT)


def kind_of(term: tree.Term, types: Choice) -> Kind:
    """The kind of a term that may have these types; NUMBER where nothing constrains it, as in Soufflé."""
    if types:
        return next(iter(types)).kind
    return Kind.RECORD if isinstance(term, (tree.Record, tree.Nil, tree.Branch)) else Kind.NUMBER


class Inference:
    """A clause, its cells, and the lists of what `checks` judges afterwards."""

    def __init__(self, clause: Clause, system: TypeSystem) -> None:
        self.clause = clause
        self.system = system
        self.cells = Cells(system)
        self.signatures: dict[int, Signature] = {}
        self.atoms: list[tuple[tree.Atom, RelationInfo, str]] = []  # with their role: head, body or negated
        self.comparisons: list[tree.Comparison] = []
        self.terms: list[tree.Term] = []  # everything but variables and wildcards
        self.anonymous: set[int] = set()  # records that may do without a type, because they are only compared
        self.clashing: set[int] = set()  # those of them that equal one of another size
        self.calls: list[FunctorCall] = []
        self.records: list[tree.Record] = []
        self._scopes: dict[int, VariableScope] | None = None
        self._users: dict[int, list[FunctorCall | tree.Record]] | None = None
        self._cell: dict[int, int] = {}
        self._names: dict[str, int] = {}
        self._pending: list[tuple[tree.Term, dict[str, int]]] = []
        self._read()
        self._settle()

    @property
    def scopes(self) -> dict[int, VariableScope]:
        if self._scopes is None:
            info = self.system.relations.get(self.clause.head.name)
            self._scopes = scopes_of(self.clause, info is not None and "inline" in info.decl.qualifiers)
        return self._scopes

    # ---- answers

    def types_of(self, term: tree.Term) -> Choice:
        cell = self._cell.get(id(term))
        return None if cell is None else self.cells.choice(cell)

    def kind_of(self, term: tree.Term) -> Kind:
        return kind_of(term, self.types_of(term))

    def literal_like(self, term: tree.Term) -> tree.Term | None:
        """A literal, or another term of a fixed kind, that a variable was said to equal."""
        root = self.cells.root(self.cell_of(term))
        same = (t for t in self.terms if self.cells.root(self.cell_of(t)) == root and self._initial(t) is not None)
        return next(same, None)

    def choices(self) -> dict[int, frozenset[Type]]:
        """The types of every term that has any, by the term's id."""
        result = {}
        for term, cell in self._cell.items():
            found = self.cells.choice(cell)
            if found is not None:
                result[term] = found
        return result

    def clause_variables(self) -> dict[str, Kind]:
        result = {}
        for name, cell in self._names.items():
            types = self.cells.choice(cell)
            result[name] = next(iter(types)).kind if types else Kind.NUMBER
        return result

    def known_scopes(self) -> dict[int, VariableScope]:
        return self._scopes or {}

    def cell_of(self, term: tree.Term) -> int:
        return self._cell[id(term)]

    # ---- reading the clause

    def _read(self) -> None:
        clause = self.clause
        self._literals(clause.literals(), self._names)
        self._read_terms()
        if clause.greater is None:
            if self._scopes:  # what is wrong inside an aggregate shall not be blamed on the head
                self._propagate([*self.calls, *self.records])
                self._users = None
            self._atom(clause.head, "head", self._names)
            self._read_terms()

    def _read_terms(self) -> None:
        while self._pending:
            self._term(*self._pending.pop())

    def _literals(self, literals: tuple[tree.Literal, ...], names: dict[str, int]) -> None:
        for literal in literals:
            if isinstance(literal, tree.Atom):
                self._atom(literal, "body", names)
            elif isinstance(literal, tree.Negation):
                if isinstance(literal.body, tree.Atom):
                    self._atom(literal.body, "negated", names)
            elif isinstance(literal, tree.Comparison):
                self._comparison(literal, names)

    def _atom(self, atom: tree.Atom, role: str, names: dict[str, int]) -> None:
        info = self.system.relations.get(atom.name)
        if info is None or info.arity != len(atom.args):  # reported by names
            for arg in atom.args:
                self._enter(arg, names)
            return
        self.atoms.append((atom, info, role))
        learn = self.cells.learn
        for arg, column in zip(atom.args, self.system.columns(info), strict=True):
            cell = self._enter(arg, names)
            types = column.gives if role == "body" else column.asks
            if types is not None:
                learn(cell, types, arg, column.reason)

    def _comparison(self, literal: tree.Comparison, names: dict[str, int]) -> None:
        self.comparisons.append(literal)
        left, right = self._enter(literal.left, names), self._enter(literal.right, names)
        pending = [(literal.left, literal.right, left, right)]
        while pending:
            a, b, left, right = pending.pop()
            if literal.op in ("=", "!=") and isinstance(a, tree.Record) and isinstance(b, tree.Record):
                if len(a.args) == len(b.args):
                    self.anonymous.update((id(a), id(b)))
                    for x, y in zip(a.args, b.args, strict=True):
                        pending.append((x, y, self._enter(x, names), self._enter(y, names)))
                    continue
                self.clashing.update((id(a), id(b)))
            elif literal.op == "=":
                self.anonymous.update(id(x) for x in (a, b) if isinstance(x, tree.Record))
            self.cells.merge(left, right, a, literal)

    def _enter(self, term: tree.Term, names: dict[str, int]) -> int:
        """The cell of a term; what it is made of is read later."""
        if isinstance(term, tree.Variable):
            cell = names.get(term.name)
            if cell is None:
                cell = names[term.name] = self.cells.new()
            self._cell[id(term)] = cell
            return cell
        cell = self._cell.get(id(term))
        if cell is None:
            cell = self._cell[id(term)] = self.cells.new(self._initial(term))
            if isinstance(term, tree.String):
                self.terms.append(term)
            elif not isinstance(term, tree.Wildcard):
                self._pending.append((term, names))
        return cell

    def _initial(self, term: tree.Term) -> Choice:
        constants = self.system.constants
        match term:
            case tree.String() | tree.Iri() | tree.RdfLiteral():
                return self.system.just(constants[Kind.SYMBOL])
            case tree.Number():
                return self.system.numeric
            case tree.Unsigned() | tree.Iteration():
                return self.system.just(constants[Kind.UNSIGNED])
            case tree.Float():
                return self.system.just(constants[Kind.FLOAT])
            case tree.Counter() | tree.Aggregate(op="count"):
                return self.system.just(constants[Kind.NUMBER])
            case tree.Functor(op=op):
                kind = fixed_result(op)
                return self.system.just(constants[kind]) if kind is not None else None
            case _:
                return None

    def _term(self, term: tree.Term, names: dict[str, int]) -> None:
        self.terms.append(term)
        cell = self._cell[id(term)]
        match term:
            case tree.Functor(args=args):
                cells = [self._enter(arg, names) for arg in args]
                self.calls.append(FunctorCall(term, args, cell, cells))
            case tree.Record(args=args):
                for arg in args:
                    self._enter(arg, names)
                self.records.append(term)
            case tree.Branch(name=name, args=args):
                branch = self.system.branches.get(name)
                types = branch.types if branch is not None and len(branch.types) == len(args) else ()
                if branch is not None:
                    self.cells.learn(cell, self.system.just(branch.adt), term, ("branch", name, branch.adt.name))
                self._arguments(args, types, names, ("field", name))
            case tree.UserFunctor(name=name, args=args):
                functor = self.system.functors.get(name)
                params: tuple[Type, ...] = ()
                if functor is not None:
                    params = tuple(self.system.types[p.type] for p in functor.params)
                    self._learn(term, functor.result, ("result", name))
                self._arguments(args, params if len(params) == len(args) else (), names, ("parameter", name))
            case tree.Cast(term=inner, type=name):
                self._enter(inner, names)
                self._learn(term, name, ("cast", name))
                if isinstance(inner, LITERALS):
                    self._learn(inner, name, ("cast", name))
            case tree.Aggregate() | tree.UserAggregate():
                self._aggregate(term, cell, names)
            case tree.HeadAggregate(variable=name):
                self._cell[id(term)] = names.setdefault(name, cell)

    def _learn(self, term: tree.Term, type_name: str, reason: tuple[str, ...]) -> None:
        found = self.system.types.get(type_name)
        if found is not None:
            self.cells.learn(self._cell[id(term)], self.system.just(found), term, reason)

    def _arguments(
        self, args: tuple[tree.Term, ...], types: tuple[Type, ...], names: dict[str, int], reason: tuple[str, ...]
    ) -> None:
        for i, arg in enumerate(args):
            cell = self._enter(arg, names)
            if types:
                self.cells.learn(cell, self.system.just(types[i]), arg, (*reason, str(i + 1)))

    def _aggregate(self, term: tree.Aggregate | tree.UserAggregate, cell: int, names: dict[str, int]) -> None:
        scope = self.scopes[id(term)]
        inner: dict[str, int] = {}
        for name in (*scope.injected, *scope.witnesses):
            if name not in names:
                names[name] = self.cells.new()
            inner[name] = names[name]
        self._literals(body_of(term), inner)
        target = None if term.target is None else self._enter(term.target, inner)
        if isinstance(term, tree.UserAggregate):
            self._enter(term.init, names)
            functor = self.system.functors.get(term.name)
            if functor is not None and len(functor.params) == 2:
                self._learn(term, functor.result, ("result", term.name))
                self._learn(term.init, functor.result, ("result", term.name))
                if term.target is not None:
                    self._learn(term.target, functor.params[1].type, ("parameter", term.name, "2"))
        elif target is not None and term.target is not None and term.op != "count":
            self.cells.merge(cell, target, term.target, None)
            self.calls.append(FunctorCall(term, (term.target,), cell, [target]))

    # ---- settling what depends on each other

    def _settle(self) -> None:
        if self.calls or self.records:
            self._propagate([*self.calls, *self.records])
            if self.anonymous and self._link_anonymous():
                self._propagate([*self.calls, *self.records])
            for call in self.calls:
                if call.is_open:
                    call.decide(self.cells)
                    self._propagate(self._woken())
                if isinstance(call.node, tree.Functor) and len(call.candidates) == 1:
                    self.signatures[id(call.node)] = call.signature()
        for term in self.terms:
            if isinstance(term, tree.Number):
                self._decide_literal(term)
            elif id(term) in self.anonymous:
                self.cells.settle(self._cell[id(term)], self.system.just(self.system.untyped_record))

    def _propagate(self, seed: list[FunctorCall | tree.Record]) -> None:
        """Work on calls and records, and on those whose cells that changes, until nothing changes any more."""
        queue = deque(seed)
        queued = {id(item) for item in seed}
        self.cells.changed.clear()
        while queue:
            item = queue.popleft()
            queued.discard(id(item))
            if isinstance(item, FunctorCall):
                item.narrow(self.cells)
            else:
                self._narrow_record(item)
            for user in self._woken():
                if id(user) not in queued:
                    queued.add(id(user))
                    queue.append(user)

    def _woken(self) -> list[FunctorCall | tree.Record]:
        """The calls and records that depend on the cells that have just changed."""
        if not self.cells.changed:
            return []
        if self._users is None:
            self._users = self._find_users()
        woken = [user for root in self.cells.changed for user in self._users.get(root, ())]
        self.cells.changed.clear()
        return woken

    def _find_users(self) -> dict[int, list[FunctorCall | tree.Record]]:
        users: dict[int, list[FunctorCall | tree.Record]] = {}
        for call in self.calls:
            for cell in {self.cells.root(c) for c in (call.result, *call.cells)}:
                users.setdefault(cell, []).append(call)
        for record in self.records:
            users.setdefault(self.cells.root(self._cell[id(record)]), []).append(record)
        return users

    def _narrow_record(self, record: tree.Record) -> None:
        """The fields of the record type go to the record's arguments."""
        types = self.cells.choice(self._cell[id(record)])
        if not types or len(types) != 1:
            return
        found = next(iter(types))
        if not isinstance(found, RecordType) or len(found.types) != len(record.args):
            return
        for i, (arg, declared) in enumerate(zip(record.args, found.types, strict=True)):
            reason = ("field", found.name, str(i + 1))
            self.cells.learn(self._cell[id(arg)], self.system.just(declared), arg, reason)

    def _link_anonymous(self) -> bool:
        """Records without a type that equal the same variable equal each other, field by field; and so do the records
        inside them."""
        linked = False
        again = True
        while again:
            again = False
            groups: dict[int, list[tree.Record]] = {}
            for record in self.records:
                root = self.cells.root(self._cell[id(record)])
                if self.cells.choice(root) is None:
                    groups.setdefault(root, []).append(record)
            for group in groups.values():
                if any(id(record) in self.anonymous for record in group):
                    again |= self._link_group(group)
            linked |= again
        self._users = None  # cells were merged
        return linked

    def _link_group(self, group: list[tree.Record]) -> bool:
        changed = False
        first = group[0]
        for record in group:
            for known in (record, *record.args):
                if isinstance(known, tree.Record) and id(known) not in self.anonymous:
                    self.anonymous.add(id(known))
                    changed = True
            if len(record.args) != len(first.args):
                self.clashing.add(id(record))
                continue
            for a, b in zip(first.args, record.args, strict=True):
                left, right = self._cell[id(a)], self._cell[id(b)]
                if self.cells.root(left) != self.cells.root(right):
                    self.cells.merge(left, right, a, None)
                    changed = True
        return changed

    def _decide_literal(self, term: tree.Number) -> None:
        kinds = self.cells.kinds(self._cell[id(term)])
        if kinds and len(kinds) > 1:
            chosen = next(k for k in PREFERENCE if k in kinds)
            self.cells.restrict(self._cell[id(term)], {chosen}, term, ("literal",))
